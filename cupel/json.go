package cupel

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
)

// The wire format (R38). Names are camelCase in items and budgets, and
// snake_case in everything of the diagnostics chapters.
//
// Writing omits absent values and never writes null. Reading takes null as
// absent and compares names exactly; 128.0 and 1.28e2 are the integer 128.
// Reading fails rather than lose anything: on a name that is given twice, and
// on strings that are not UTF-8. Unknown fields keep their text, and are
// written back after the known ones in their original order.

// extraFields keeps the fields that a reader of JSON did not know, so that
// writing them back loses nothing (R38).
type extraFields []jsonwire.Member

// wireExtra reads or writes the unknown fields of an object. It does not write
// those named in known: a caller may have changed the code of a reason to one
// that has such a field.
func wireExtra(c *jsonwire.Codec, x **extraFields, known ...string) {
	if c.R != nil {
		*x = (*x).with(c.Unknown())
		return
	}
	if *x == nil {
		return
	}
	for _, f := range **x {
		if !slices.Contains(known, f.Name) {
			c.Required(f.Name).Raw(f.Value)
		}
	}
}

// with adds copies of more members to x.
func (x *extraFields) with(members []jsonwire.Member) *extraFields {
	for _, m := range members {
		if x == nil {
			x = new(extraFields)
		}
		*x = append(*x, jsonwire.Member{Name: m.Name, Value: jsonwire.Compact(m.Value)})
	}
	return x
}

// has reports whether there is a field of that name.
func (x *extraFields) has(name string) bool {
	return x != nil && slices.ContainsFunc(*x, func(f jsonwire.Member) bool { return f.Name == name })
}

// equal reports whether both have the same fields with the same text, in any
// order.
func (x *extraFields) equal(other *extraFields) bool {
	return maps.EqualFunc(x.byName(), other.byName(), bytes.Equal)
}

func (x *extraFields) byName() map[string][]byte {
	if x == nil {
		return nil
	}
	fields := make(map[string][]byte)
	for _, f := range *x {
		fields[f.Name] = f.Value
	}
	return fields
}

// marshal returns what wire writes.
func marshal(wire func(*jsonwire.Codec)) ([]byte, error) {
	text, fault := jsonwire.Write(wire)
	if fault != nil {
		return nil, (*EncodeError)(fault)
	}
	return text, nil
}

// unmarshal reads data into target. On an error and on null, target stays as it
// is, as [json.Unmarshaler] asks.
func unmarshal[T any](data []byte, target *T, wire func(*T, *jsonwire.Codec)) error {
	if target == nil {
		return &DecodeError{Reason: "cannot be read into a nil pointer"}
	}
	fault := jsonwire.Check(data)
	v, null := new(T), false
	if fault == nil {
		fault = jsonwire.Read(data, func(r *jsonwire.Reader) {
			if null = r.Null(); !null {
				wire(v, &jsonwire.Codec{R: r})
			}
		})
	}
	if fault != nil {
		return (*DecodeError)(fault)
	}
	if !null {
		*target = *v
	}
	return nil
}

// wireKind reads or writes a kind. Well-known kinds that are read get their
// canonical spelling (R2).
func wireKind(kind *ContextKind, c *jsonwire.Codec) {
	jsonwire.Text(kind, c)
	if c.R != nil {
		*kind = kind.Canonical()
	}
}

// wireTime reads or writes an RFC 3339 date-time. It reads any offset, and drops
// digits beyond nanoseconds.
func wireTime(t *time.Time, c *jsonwire.Codec) {
	const years = "must be in the years 0 to 9999 in UTC"
	if c.W != nil {
		if !hasRFC3339(*t) {
			c.W.Fail(years, nil)
		}
		c.W.String(t.Format(time.RFC3339Nano))
	}
	if c.R == nil {
		return
	}
	s := strings.ToUpper(c.R.String()) // RFC 3339 allows t and z in lower case
	read, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || !strictRFC3339(s) {
		c.R.Fail("", "must be an RFC 3339 date-time such as 2025-01-31T12:00:00Z")
		return
	}
	if *t = read.UTC(); !hasRFC3339(*t) {
		c.R.Fail("", years)
	}
}

// hasRFC3339 reports whether t, in UTC, lies in the years that RFC 3339 can
// express.
func hasRFC3339(t time.Time) bool { return t.Year() >= 0 && t.Year() <= 9999 }

// strictRFC3339 rejects what [time.Parse] accepts beyond RFC 3339: hours of one
// digit, a comma before the fraction, offsets of 24 hours or 60 minutes.
func strictRFC3339(s string) bool {
	if len(s) < len("2006-01-02T15:04:05Z") || s[len("2006-01-02T15")] != ':' || s[len("2006-01-02T15:04:05")] == ',' {
		return false
	}
	hours, minutes := s[len(s)-len("07:00"):len(s)-len(":00")], s[len(s)-len("00"):]
	return strings.HasSuffix(s, "Z") || hours < "24" && minutes < "60"
}

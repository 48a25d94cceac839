package cupel

import (
	"bytes"
	"encoding/json"
	"errors"
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

// Sentinels for [errors.Is], matched by the errors of reading and writing JSON.
var (
	// ErrInvalidJSON is matched by [DecodeError].
	ErrInvalidJSON = errors.New("cupel: invalid JSON")
	// ErrUnencodable is matched by [EncodeError].
	ErrUnencodable = errors.New("cupel: cannot write JSON")
)

// DecodeError reports JSON that does not hold a value of the wanted type. The
// value to be read is unchanged.
//
// If a field of an item or a budget is wrong, Err is an [InvalidItemError] or
// [InvalidBudgetError], so that [errors.Is] matches [ErrInvalidItem] or
// [ErrInvalidBudget] too. For text that is not JSON at all, [json.Unmarshal]
// returns its own [json.SyntaxError] instead.
type DecodeError struct {
	Path   string // where, such as "included[3].item.tokens"; "" for the value as a whole
	Reason string // what is wrong, and what would be right
	Err    error  // the cause, or nil
}

func (e *DecodeError) Error() string { return wireError("cupel: invalid JSON", e.Path, e.Reason) }

// Is reports whether target is [ErrInvalidJSON].
func (e *DecodeError) Is(target error) bool { return target == ErrInvalidJSON }

// Unwrap returns the cause.
func (e *DecodeError) Unwrap() error { return e.Err }

// EncodeError reports a value that JSON cannot express: text that is not UTF-8,
// metadata such as a channel or NaN, a timestamp outside the years 0 to 9999,
// or an item that is nil or empty.
type EncodeError struct {
	Path   string // where, such as `included[3].item.metadata["key"]`; "" for the value as a whole; a long one ends in "…"
	Reason string // what is wrong
	Err    error  // the cause, or nil
}

func (e *EncodeError) Error() string { return wireError("cupel: cannot write JSON", e.Path, e.Reason) }

// Is reports whether target is [ErrUnencodable].
func (e *EncodeError) Is(target error) bool { return target == ErrUnencodable }

// Unwrap returns the cause.
func (e *EncodeError) Unwrap() error { return e.Err }

func wireError(what, path, reason string) string {
	if path == "" {
		path = "value"
	}
	return what + ": " + path + " " + reason
}

// extraFields keeps the fields that a reader of JSON did not know, so that
// writing them back loses nothing (R38).
type extraFields []extraField

type extraField struct {
	name  string
	value json.RawMessage
}

// includedExtra keeps the unknown fields of an included item and of its
// reason's envelope.
type includedExtra struct {
	item, reason *extraFields
}

// write writes the unknown fields except those named in known: a caller may
// have changed the code of a reason to one that has such a field.
func (x *extraFields) write(w *jsonwire.Writer, known ...string) {
	if x == nil {
		return
	}
	for _, f := range *x {
		if !slices.Contains(known, f.name) {
			w.Key(f.name).Raw(f.value)
		}
	}
}

// has reports whether there is a field of that name.
func (x *extraFields) has(name string) bool {
	return x != nil && slices.ContainsFunc(*x, func(f extraField) bool { return f.name == name })
}

// insert returns a copy of x with one more field at a position.
func (x *extraFields) insert(at int, f extraField) *extraFields {
	var fields extraFields
	if x != nil {
		fields = *x
	}
	fields = slices.Insert(slices.Clone(fields), at, f)
	return &fields
}

// equal reports whether both have the same fields with the same text, in any
// order.
func (x *extraFields) equal(other *extraFields) bool {
	if x == nil || other == nil {
		return x == other
	}
	compare := func(a, b extraField) int { return strings.Compare(a.name, b.name) }
	return slices.EqualFunc(slices.SortedFunc(slices.Values(*x), compare), slices.SortedFunc(slices.Values(*other), compare),
		func(a, b extraField) bool { return a.name == b.name && bytes.Equal(a.value, b.value) })
}

// marshal returns what write writes.
func marshal(write func(w *jsonwire.Writer)) ([]byte, error) { return marshalSized(0, write) }

// marshalSized is marshal with an expected size in bytes.
func marshalSized(size int, write func(w *jsonwire.Writer)) ([]byte, error) {
	text, err := jsonwire.Write(size, write)
	if err != nil {
		return nil, &EncodeError{err.Path, err.Reason, err.Err}
	}
	return text, nil
}

// unmarshal reads data into target. On an error and on null, target stays as it
// is, as [json.Unmarshaler] asks.
func unmarshal[T any](data []byte, target *T, read func(*jsonwire.Reader, *T)) error {
	if target == nil {
		return &DecodeError{Reason: "cannot be read into a nil pointer"}
	}
	r := jsonwire.NewReader(data)
	v, null := new(T), r.Null()
	if !null {
		read(r, v)
	}
	if err := r.Close(); err != nil {
		return &DecodeError{err.Path, err.Reason, err.Err}
	}
	if !null {
		*target = *v
	}
	return nil
}

// extraOf returns the members of an object that are unknown.
func extraOf(o *jsonwire.Object) *extraFields {
	members := o.Extra()
	if len(members) == 0 {
		return nil
	}
	x := make(extraFields, len(members))
	for i, m := range members {
		x[i] = extraField{m.Name, m.Value}
	}
	return &x
}

// readList reads an array. An empty one is read as nil.
func readList[T any](r *jsonwire.Reader, read func(*jsonwire.Reader, *T)) []T {
	var list []T
	for a := r.Array(); a.Next(); {
		var zero T
		list = append(list, zero)
		read(r, &list[len(list)-1])
	}
	return list
}

// readKind reads a kind and gives well-known kinds their canonical spelling
// (R2).
func readKind(r *jsonwire.Reader) ContextKind { return ContextKind(r.String()).Canonical() }

// hasRFC3339 reports whether t, in UTC, lies in the years that RFC 3339 can
// express.
func hasRFC3339(t time.Time) bool { return t.Year() >= 0 && t.Year() <= 9999 }

// readTime reads an RFC 3339 date-time with any offset. Digits beyond
// nanoseconds are dropped.
func readTime(r *jsonwire.Reader) time.Time {
	s := strings.ToUpper(r.Word()) // RFC 3339 allows t and z in lower case
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || !strictRFC3339(s) {
		r.Fail("", "must be an RFC 3339 date-time such as 2025-01-31T12:00:00Z", nil)
		return time.Time{}
	}
	if t = t.UTC(); !hasRFC3339(t) {
		r.Fail("", "must be in the years 0 to 9999 in UTC", nil)
	}
	return t
}

// strictRFC3339 rejects what [time.Parse] accepts beyond RFC 3339: hours of one
// digit, a comma before the fraction, offsets of 24 hours or 60 minutes.
func strictRFC3339(s string) bool {
	if len(s) < len("2006-01-02T15:04:05Z") || s[len("2006-01-02T15")] != ':' || s[len("2006-01-02T15:04:05")] == ',' {
		return false
	}
	hours, minutes := s[len(s)-len("07:00"):len(s)-len(":00")], s[len(s)-len("00"):]
	return strings.HasSuffix(s, "Z") || hours < "24" && minutes < "60"
}

package cupel

import (
	"bytes"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
)

// MarshalJSON returns the reason as the envelope of the Exclusion Reasons
// chapter: the code under "reason", with the fields of that code next to it. It
// fails with an [EncodeError].
func (r ExclusionReason) MarshalJSON() ([]byte, error) { return marshal(r.wire) }

// UnmarshalJSON reads a reason. Every field that its code names must be there.
// It keeps all other fields, and those of an unknown code, to be written back.
// It fails with a [DecodeError].
func (r *ExclusionReason) UnmarshalJSON(data []byte) error {
	return unmarshal(data, r, (*ExclusionReason).wire)
}

func (r *ExclusionReason) wire(c *jsonwire.Codec) {
	var members []jsonwire.Member // all but the code
	c.Object(func() {
		jsonwire.Text(&r.Code, c.Required("reason"))
		if c.W != nil {
			r.writeData(c)
			return
		}
		for _, i := range r.Code.fields() { // of a code that comes first, as it is written
			name := reasonFields[i].name
			if field := c.Optional(name, false); field.R != nil {
				members = append(members, jsonwire.Member{Name: name, Value: field.R.Value()})
			}
		}
		members = append(members, c.Unknown()...)
	})
	if c.R != nil && c.R.Fault == nil {
		*r = NewExclusionReason(r.Code, readData(c.R, r.Code, members))
	}
}

func (r *ExclusionReason) writeData(c *jsonwire.Codec) {
	d := r.Data()
	named := len(r.Code.fields())
	for n, i := range d.fields(r.Code) {
		f := &reasonFields[i]
		if n >= named && d.extra.has(f.name) {
			continue // it was read, and is written as it was spelled
		}
		c.W.Field(f.name)
		f.wire(&d, c)
	}
	if d.extra != nil {
		wireExtra(c, &d.extra, r.Code.Fields()...)
	}
}

// readData reads the data of a reason from all members but the code.
func readData(r *jsonwire.Reader, code ExclusionCode, members []jsonwire.Member) (d ReasonData) {
	named := code.fields()
	for _, i := range named {
		f := &reasonFields[i]
		at := slices.IndexFunc(members, func(m jsonwire.Member) bool { return m.Name == f.name })
		if at < 0 || string(members[at].Value) == "null" {
			r.Fail(f.name, "is required")
			return d
		}
		if err := f.read(&d, members[at].Value); err != nil {
			r.Fail(f.name, err.Error())
			return d
		}
	}
	unknown := slices.DeleteFunc(members, func(m jsonwire.Member) bool {
		for i := range reasonFields {
			if reasonFields[i].name == m.Name {
				return slices.Contains(named, i) || d.readOther(i, m.Value)
			}
		}
		return false
	})
	d.extra = d.extra.with(unknown)
	return d
}

// readOther reads a field that the code does not name, whose value may be
// anything. It reports whether the field says all: the spelling of a number is
// to be kept.
func (d *ReasonData) readOther(i int, raw []byte) bool {
	f := &reasonFields[i]
	if f.read(d, raw) != nil {
		return false
	}
	if f.isZero(d) {
		d.present |= 1 << i
	}
	text, _ := jsonwire.Write(func(c *jsonwire.Codec) { f.wire(d, c) })
	return raw[0] == '"' || bytes.Equal(text, raw)
}

// read reads the field from JSON. On an error the field is zero.
func (f *reasonField) read(d *ReasonData, raw []byte) error {
	_, err := jsonwire.Read(raw, func(r *jsonwire.Reader) bool {
		f.wire(d, &jsonwire.Codec{R: r})
		return true
	})
	return err
}

func (f *reasonField) wire(d *ReasonData, c *jsonwire.Codec) {
	switch v := f.in(d).(type) {
	case *int:
		c.Int(v)
	case *float64:
		c.Float(v)
	case *string:
		jsonwire.Text(v, c)
	case *ContextKind:
		wireKind(v, c)
	}
}

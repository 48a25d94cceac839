package cupel

import (
	"bytes"

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
	c.Object(func() {
		jsonwire.Text(&r.Code, c.Required("reason"))
		d, named := r.Data(), r.Code.Fields()
		for _, name := range named {
			reasonFieldOf(name).wire(&d, c.Required(name))
		}
		if c.W != nil {
			d.writeOthers(c, named)
			return
		}
		var unknown []jsonwire.Member
		for _, m := range c.Unknown() {
			if !d.readOther(m) {
				unknown = append(unknown, m)
			}
		}
		d.extra = d.extra.with(unknown)
		*r = NewExclusionReason(r.Code, d)
	})
}

// writeOthers writes the fields that the code does not name.
func (d *ReasonData) writeOthers(c *jsonwire.Codec, named []string) {
	for _, name := range d.others(named) {
		if !d.extra.has(name) { // one that was read is written as it was spelled
			reasonFieldOf(name).wire(d, c.Required(name))
		}
	}
	wireExtra(c, &d.extra, named...)
}

// readOther reads a field that the code does not name, whose value may be
// anything. It reports whether the field says all: the spelling of a number is
// to be kept.
func (d *ReasonData) readOther(m jsonwire.Member) bool {
	f := reasonFieldOf(m.Name)
	if f == nil {
		return false
	}
	if jsonwire.Read(m.Value, func(r *jsonwire.Reader) { f.wire(d, &jsonwire.Codec{R: r}) }) != nil {
		return false
	}
	if f.of(d).IsZero() {
		d.present |= 1 << f.position
	}
	text, _ := jsonwire.Write(func(c *jsonwire.Codec) { f.wire(d, c) })
	return m.Value[0] == '"' || bytes.Equal(text, m.Value)
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

package cupel

import (
	"bytes"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
)

// MarshalJSON returns the reason as the envelope of the Exclusion Reasons
// chapter: the code under "reason", with the fields of that code next to it. It
// fails with an [EncodeError].
func (r ExclusionReason) MarshalJSON() ([]byte, error) {
	return marshal(r.write)
}

func (r ExclusionReason) write(w *jsonwire.Writer) {
	w.Object(func() {
		w.Field("reason").String(string(r.Code))
		d := r.Data()
		fields := d.fields(r.Code)
		for n, i := range fields {
			f := &reasonFields[i]
			if n >= len(r.Code.fields()) && d.extra.has(f.name) {
				continue // it was read, and is written as it was spelled
			}
			w.Field(f.name)
			f.write(w, &d)
		}
		if d.extra == nil {
			return
		}
		names := []string{"reason"}
		for _, i := range r.Code.fields() {
			names = append(names, reasonFields[i].name)
		}
		d.extra.write(w, names...)
	})
}

// UnmarshalJSON reads a reason. Every field that its code names must be there.
// It keeps all other fields, and those of an unknown code, to be written back.
// It fails with a [DecodeError].
func (r *ExclusionReason) UnmarshalJSON(data []byte) error {
	return unmarshal(data, r, readReason)
}

// reasonShape is the code followed by the names of reasonFields.
var reasonShape = func() *jsonwire.Shape {
	names := []string{"reason"}
	for i := range reasonFields {
		names = append(names, reasonFields[i].name)
	}
	return jsonwire.NewShape(0, names...)
}()

// metField is a field of reasonFields that was read, with the number of unknown
// fields before it.
type metField struct{ field, unknown int }

func readReason(r *jsonwire.Reader, to *ExclusionReason) {
	var code ExclusionCode
	hasCode := false
	var raw [len(reasonFields)][]byte // the code may come last
	var met []metField
	o := r.Object(reasonShape)
	o.KeepNull = true
	for o.Next() {
		switch {
		case o.Field > 0:
			raw[o.Field-1] = r.Value()
			met = append(met, metField{o.Field - 1, len(o.Extra())})
		case !r.Null():
			code, hasCode = ExclusionCode(r.Word()), true
		}
	}
	if r.Err() == nil && !hasCode {
		r.Fail("reason", "is required", nil)
	}
	if r.Err() != nil {
		return
	}
	var d ReasonData
	named := code.fields()
	for _, i := range named {
		f := &reasonFields[i]
		if raw[i] == nil || jsonwire.IsNull(raw[i]) {
			r.Fail(f.name, "is required", nil)
			return
		}
		if err := f.read(&d, raw[i]); err != nil {
			r.Fail(f.name, err.Error(), nil)
			return
		}
	}
	unknown := extraOf(&o)
	inserted := 0
	for _, m := range met {
		i := m.field
		if slices.Contains(named, i) {
			continue
		}
		// The code does not use this name: its value may be anything, and a
		// number keeps its spelling.
		f := &reasonFields[i]
		err := f.read(&d, raw[i])
		if err == nil && f.isZero(&d) {
			d.present |= 1 << i
		}
		if err != nil || raw[i][0] != '"' && !bytes.Equal(f.text(&d), raw[i]) {
			unknown = unknown.insert(m.unknown+inserted, extraField{f.name, jsonwire.Compact(raw[i])})
			inserted++
		}
	}
	d.extra = unknown
	*to = NewExclusionReason(code, d)
}

func (f *reasonField) write(w *jsonwire.Writer, d *ReasonData) {
	switch v := f.in(d).(type) {
	case *int:
		w.Int(*v)
	case *float64:
		w.Float(*v)
	case *string:
		w.String(*v)
	case *ContextKind:
		w.String(string(*v))
	}
}

// text returns the field as JSON.
func (f *reasonField) text(d *ReasonData) []byte {
	var w jsonwire.Writer
	f.write(&w, d)
	text, _ := w.Result()
	return text
}

// read reads the field from JSON. On an error, d stays as it is.
func (f *reasonField) read(d *ReasonData, raw []byte) (err error) {
	switch to := f.in(d).(type) {
	case *int:
		err = readInto(to, raw, (*jsonwire.Reader).Int)
	case *float64:
		err = readInto(to, raw, (*jsonwire.Reader).Float)
	case *string:
		err = readInto(to, raw, (*jsonwire.Reader).String)
	case *ContextKind:
		err = readInto(to, raw, readKind)
	}
	return err
}

func readInto[T any](to *T, raw []byte, value func(*jsonwire.Reader) T) error {
	v, err := jsonwire.Read(raw, value)
	if err == nil {
		*to = v
	}
	return err
}

// inclusion is the envelope of an [InclusionReason].
type inclusion struct {
	reason InclusionReason
	extra  *extraFields
}

func (r inclusion) write(w *jsonwire.Writer) {
	w.Object(func() {
		w.Field("reason").String(string(r.reason))
		r.extra.write(w)
	})
}

var inclusionShape = jsonwire.NewShape(1, "reason")

func readInclusion(r *jsonwire.Reader, to *inclusion) {
	o := r.Object(inclusionShape)
	for o.Next() {
		to.reason = InclusionReason(r.Word())
	}
	to.extra = extraOf(&o)
}

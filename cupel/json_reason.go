package cupel

import "github.com/wollax/cupel-go/cupel/internal/jsonwire"

// dataField is one field of the data that goes with an exclusion code.
type dataField struct {
	name  string
	value any // *int, *float64, *string or *ContextKind
}

// fields returns those of the data that go with a code, under their wire names:
// the one table that reading and writing share. A code that is not known has
// none.
func (d *ReasonData) fields(code ExclusionCode) []dataField {
	switch code {
	case BudgetExceeded:
		return []dataField{{"item_tokens", &d.ItemTokens}, {"available_tokens", &d.AvailableTokens}}
	case ScoredTooLow:
		return []dataField{{"score", &d.Score}, {"threshold", &d.Threshold}}
	case Deduplicated:
		return []dataField{{"deduplicated_against", &d.DeduplicatedAgainst}}
	case QuotaCapExceeded:
		return []dataField{{"kind", &d.Kind}, {"cap", &d.Cap}, {"actual", &d.Actual}}
	case QuotaRequireDisplaced:
		return []dataField{{"displaced_by_kind", &d.DisplacedByKind}}
	case NegativeTokens:
		return []dataField{{"tokens", &d.Tokens}}
	case PinnedOverride:
		return []dataField{{"displaced_by", &d.DisplacedBy}}
	case Filtered:
		return []dataField{{"filter_name", &d.FilterName}}
	case CountCapExceeded:
		return []dataField{{"kind", &d.Kind}, {"cap", &d.Cap}, {"count", &d.Count}}
	case CountRequireCandidatesExhausted:
		return []dataField{{"kind", &d.Kind}, {"required", &d.Required}, {"available", &d.Available}}
	}
	return nil
}

// MarshalJSON returns the reason as the envelope of the Exclusion Reasons
// chapter: the code under "reason", the fields of that code beside it. It fails
// with an [EncodeError].
func (r ExclusionReason) MarshalJSON() ([]byte, error) {
	return marshal(r.write)
}

func (r ExclusionReason) write(w *jsonwire.Writer) {
	w.Object(func() {
		names := []string{"reason"}
		w.Field("reason").String(string(r.Code))
		d := r.Data()
		for _, f := range d.fields(r.Code) {
			names = append(names, f.name)
			w.Field(f.name)
			switch v := f.value.(type) {
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
		d.extra.write(w, names...)
	})
}

// UnmarshalJSON reads a reason. Every field of its code must be there; of a
// code that is not known, all fields are kept and written back. It fails with a
// [DecodeError].
func (r *ExclusionReason) UnmarshalJSON(data []byte) error {
	return unmarshal(data, r, readReasonFrom)
}

func readReason(raw []byte) (ExclusionReason, error) {
	o := readObject(raw)
	code := required(o, "reason", readName[ExclusionCode])
	var d ReasonData
	for _, f := range d.fields(code) {
		switch v := f.value.(type) {
		case *int:
			*v = required(o, f.name, jsonwire.Int)
		case *float64:
			*v = required(o, f.name, jsonwire.Float)
		case *string:
			*v = required(o, f.name, jsonwire.String)
		case *ContextKind:
			*v = required(o, f.name, readKind)
		}
	}
	d.extra = o.extra()
	return NewExclusionReason(code, d), o.done()
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

func readReasonFrom(r *jsonwire.Reader, to *ExclusionReason) {
	raw := r.Value()
	if r.Err() != nil {
		return
	}
	reason, err := readReason(raw)
	if err != nil {
		e := within("", err)
		r.Fail(e.Path, e.Reason, e.Err)
		return
	}
	*to = reason
}

package cupel

import "github.com/wollax/cupel-go/cupel/internal/jsonwire"

// dataField is one field of the data that goes with an exclusion code.
type dataField struct {
	name  string
	value any // *int, *float64, *string or *ContextKind
}

// data returns the fields of r's code under their wire names: the one table
// that reading and writing share. A code that is not known has none.
func (r *ExclusionReason) data() []dataField {
	switch r.Code {
	case BudgetExceeded:
		return []dataField{{"item_tokens", &r.ItemTokens}, {"available_tokens", &r.AvailableTokens}}
	case ScoredTooLow:
		return []dataField{{"score", &r.Score}, {"threshold", &r.Threshold}}
	case Deduplicated:
		return []dataField{{"deduplicated_against", &r.DeduplicatedAgainst}}
	case QuotaCapExceeded:
		return []dataField{{"kind", &r.Kind}, {"cap", &r.Cap}, {"actual", &r.Actual}}
	case QuotaRequireDisplaced:
		return []dataField{{"displaced_by_kind", &r.DisplacedByKind}}
	case NegativeTokens:
		return []dataField{{"tokens", &r.Tokens}}
	case PinnedOverride:
		return []dataField{{"displaced_by", &r.DisplacedBy}}
	case Filtered:
		return []dataField{{"filter_name", &r.FilterName}}
	case CountCapExceeded:
		return []dataField{{"kind", &r.Kind}, {"cap", &r.Cap}, {"count", &r.Count}}
	case CountRequireCandidatesExhausted:
		return []dataField{{"kind", &r.Kind}, {"required", &r.Required}, {"available", &r.Available}}
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
		for _, f := range r.data() {
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
		r.extra.write(w, names...)
	})
}

// UnmarshalJSON reads a reason. Every field of its code must be there; of a
// code that is not known, all fields are kept and written back. It fails with a
// [DecodeError].
func (r *ExclusionReason) UnmarshalJSON(data []byte) error {
	return unmarshal(data, r, readReason)
}

func readReason(raw []byte) (ExclusionReason, error) {
	o := readObject(raw)
	r := ExclusionReason{Code: required(o, "reason", readName[ExclusionCode])}
	for _, f := range r.data() {
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
	r.extra = o.extra()
	return r, o.done()
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

func readInclusion(raw []byte) (inclusion, error) {
	o := readObject(raw)
	r := inclusion{reason: required(o, "reason", readName[InclusionReason])}
	r.extra = o.extra()
	return r, o.done()
}

package cupel

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
)

// reasonField is a field of ReasonData.
type reasonField struct {
	name    string                 // in JSON
	content bool                   // the value is the content of an item, which text and logs leave out
	in      func(*ReasonData) any  // *int, *float64, *string or *ContextKind
	value   func(*ReasonData) any  // what that points to
	isZero  func(*ReasonData) bool // whether a reason whose code does not name the field omits it
}

func fieldOf[T int | float64 | string | ContextKind](name string, in func(*ReasonData) *T) reasonField {
	var zero T
	return reasonField{name: name, in: func(d *ReasonData) any { return in(d) }, value: func(d *ReasonData) any { return *in(d) }, isZero: func(d *ReasonData) bool { return *in(d) == zero }}
}

// reasonFields lists every field that a reason can have, once.
var reasonFields = [...]reasonField{
	itemTokensField:      fieldOf("item_tokens", func(d *ReasonData) *int { return &d.ItemTokens }),
	availableTokensField: fieldOf("available_tokens", func(d *ReasonData) *int { return &d.AvailableTokens }),
	scoreField:           fieldOf("score", func(d *ReasonData) *float64 { return &d.Score }),
	thresholdField:       fieldOf("threshold", func(d *ReasonData) *float64 { return &d.Threshold }),
	duplicateField:       contentOf("deduplicated_against", func(d *ReasonData) *string { return &d.DeduplicatedAgainst }),
	kindField:            fieldOf("kind", func(d *ReasonData) *ContextKind { return &d.Kind }),
	capField:             fieldOf("cap", func(d *ReasonData) *int { return &d.Cap }),
	actualField:          fieldOf("actual", func(d *ReasonData) *int { return &d.Actual }),
	displacedByKindField: fieldOf("displaced_by_kind", func(d *ReasonData) *ContextKind { return &d.DisplacedByKind }),
	tokensField:          fieldOf("tokens", func(d *ReasonData) *int { return &d.Tokens }),
	displacedByField:     contentOf("displaced_by", func(d *ReasonData) *string { return &d.DisplacedBy }),
	filterNameField:      fieldOf("filter_name", func(d *ReasonData) *string { return &d.FilterName }),
	countField:           fieldOf("count", func(d *ReasonData) *int { return &d.Count }),
	requiredField:        fieldOf("required", func(d *ReasonData) *int { return &d.Required }),
	availableField:       fieldOf("available", func(d *ReasonData) *int { return &d.Available }),
	groupTokensField:     fieldOf("group_tokens", func(d *ReasonData) *int { return &d.GroupTokens }),
	supersededByField:    contentOf("superseded_by", func(d *ReasonData) *string { return &d.SupersededBy }),
	ofField:              contentOf("of", func(d *ReasonData) *string { return &d.Of }),
	similarityField:      fieldOf("similarity", func(d *ReasonData) *float64 { return &d.Similarity }),
}

const (
	itemTokensField = iota
	availableTokensField
	scoreField
	thresholdField
	duplicateField
	kindField
	capField
	actualField
	displacedByKindField
	tokensField
	displacedByField
	filterNameField
	countField
	requiredField
	availableField
	groupTokensField
	supersededByField
	ofField
	similarityField
)

func contentOf(name string, in func(*ReasonData) *string) reasonField {
	f := fieldOf(name, in)
	f.content = true
	return f
}

// reasonSpec describes a code. To add a reason, add a reasonSpec here, and the
// code that gives the reason.
type reasonSpec struct {
	code   ExclusionCode
	fields []int // in the order of JSON
	// sentence appends what follows the code and a colon; nil appends nothing.
	// It never includes the content of an item.
	sentence func(b []byte, d ReasonData) []byte
	meaning  string // for readers who do not know the specification
}

// reasonTable lists the codes in the order of logs.
var reasonTable = [...]reasonSpec{
	{
		ExcludeBudgetExceeded, []int{itemTokensField, availableTokensField},
		func(b []byte, d ReasonData) []byte {
			b = appendInt(b, d.ItemTokens, " tokens requested, ")
			return appendInt(b, d.AvailableTokens, " available")
		},
		"it did not fit the budget",
	},
	{
		ExcludeScoredTooLow, []int{scoreField, thresholdField},
		func(b []byte, d ReasonData) []byte {
			b = strconv.AppendFloat(append(b, "score "...), d.Score, 'g', -1, 64)
			return strconv.AppendFloat(append(b, " below "...), d.Threshold, 'g', -1, 64)
		},
		"its score is below the threshold",
	},
	{
		ExcludeDeduplicated, []int{duplicateField},
		func(b []byte, _ ReasonData) []byte { return append(b, "the same content is in as another item"...) },
		"another item with the same content is in",
	},
	{
		ExcludeQuotaCapExceeded, []int{kindField, capField, actualField},
		func(b []byte, d ReasonData) []byte {
			b = appendInt(append(append(b, d.Kind...), " has "...), d.Actual, ", cap ")
			return appendInt(b, d.Cap, "")
		},
		"its kind has used up its share of the budget",
	},
	{
		ExcludeQuotaRequireDisplaced, []int{displacedByKindField},
		func(b []byte, d ReasonData) []byte {
			return append(append(b, "displaced by "...), d.DisplacedByKind...)
		},
		"the required share of another kind took its place",
	},
	{
		ExcludeNegativeTokens, []int{tokensField},
		func(b []byte, d ReasonData) []byte { return appendInt(b, d.Tokens, " tokens") },
		"its token count is negative",
	},
	{
		ExcludePinnedOverride, []int{displacedByField},
		func(b []byte, _ ReasonData) []byte { return append(b, "pinned items took its place"...) },
		"it would fit if nothing were pinned",
	},
	{
		ExcludeFiltered, []int{filterNameField},
		func(b []byte, d ReasonData) []byte { return append(b, d.FilterName...) },
		"a filter dropped it",
	},
	{
		ExcludeCountCapExceeded, []int{kindField, capField, countField},
		func(b []byte, d ReasonData) []byte {
			b = appendInt(append(append(b, d.Kind...), " has "...), d.Count, " items, cap ")
			return appendInt(b, d.Cap, "")
		},
		"its kind has reached its cap",
	},
	{
		ExcludeCountRequireCandidatesExhausted, []int{kindField, requiredField, availableField},
		func(b []byte, d ReasonData) []byte {
			b = appendInt(append(append(b, d.Kind...), " requires "...), d.Required, ", available ")
			return appendInt(b, d.Available, "")
		},
		"its kind has fewer items than are required",
	},
	{
		ExcludeSuperseded, []int{supersededByField},
		func(b []byte, _ ReasonData) []byte { return append(b, "a newer version is among the candidates"...) },
		"a newer version of it is there",
	},
	{
		ExcludeNearDuplicate, []int{ofField, similarityField},
		func(b []byte, d ReasonData) []byte {
			return append(strconv.AppendFloat(b, d.Similarity, 'f', 3, 64), " of it is in a newer item"...)
		},
		"a newer item has nearly the same text",
	},
}

func appendInt(b []byte, n int, text string) []byte {
	return append(strconv.AppendInt(b, int64(n), 10), text...)
}

// specOf returns the table's entry for a code, or nil.
func specOf(code ExclusionCode) *reasonSpec {
	for i := range reasonTable {
		if reasonTable[i].code == code {
			return &reasonTable[i]
		}
	}
	return nil
}

// ExclusionCodes returns the codes that this module knows, reserved ones
// included. Reports may have others.
func ExclusionCodes() []ExclusionCode {
	codes := make([]ExclusionCode, len(reasonTable))
	for i := range reasonTable {
		codes[i] = reasonTable[i].code
	}
	return codes
}

// Meaning says in a few words what happened to an item with this code, such as
// "it did not fit the budget". It is empty for a code that [ExclusionCodes]
// does not list.
func (c ExclusionCode) Meaning() string {
	if spec := specOf(c); spec != nil {
		return spec.meaning
	}
	return ""
}

// Fields returns the JSON names of the data of a code, in their order. It
// returns none for a code that [ExclusionCodes] does not list, whose reasons
// may have any data.
func (c ExclusionCode) Fields() []string {
	var names []string
	for _, f := range c.fields() {
		names = append(names, reasonFields[f].name)
	}
	return names
}

// fields returns the data of a code, as positions in reasonFields.
func (c ExclusionCode) fields() []int {
	if spec := specOf(c); spec != nil {
		return spec.fields
	}
	return nil
}

// A ReasonField is one field of the data of an [ExclusionReason].
type ReasonField struct {
	Name    string // as in JSON
	Value   any    // an int, a float64, a string or a [ContextKind]
	Content bool   // the value is the content of an item
}

// Fields returns an iterator over the data of the reason: first those of its
// code, zero or not, then all others that it has. It allocates.
func (r ExclusionReason) Fields() iter.Seq[ReasonField] {
	return func(yield func(ReasonField) bool) {
		d := r.Data()
		for _, i := range d.fields(r.Code) {
			f := &reasonFields[i]
			if !yield(ReasonField{Name: f.name, Value: f.value(&d), Content: f.content}) {
				return
			}
		}
	}
}

// fields returns the fields that a reason with this code and these data has.
func (d *ReasonData) fields(code ExclusionCode) []int {
	named := code.fields()
	if others := d.others(named); len(others) > 0 {
		return append(slices.Clip(named), others...)
	}
	return named
}

// others returns the fields that d has although they are not in named.
func (d *ReasonData) others(named []int) []int {
	var others []int
	for i := range reasonFields {
		if (d.present&(1<<i) != 0 || !reasonFields[i].isZero(d)) && !slices.Contains(named, i) {
			others = append(others, i)
		}
	}
	return others
}

// append appends the code and the data without the content of any item. It does
// not allocate for the reasons of the pipeline: functions stored as values get
// a copy of the data, not a pointer to them.
func (r *ExclusionReason) append(b []byte) []byte {
	b = append(b, r.Code...)
	spec := specOf(r.Code)
	if spec == nil {
		return r.appendOthers(b, nil, ": ", "")
	}
	b = spec.sentence(append(b, ": "...), r.Data())
	if r.all == nil && (r.Code != ExcludeBudgetExceeded || r.other == nil) {
		return b // reasons in the short form have nothing else
	}
	return r.appendOthers(b, spec.fields, " (", ")")
}

// appendOthers appends the data that are not in named, between two texts.
func (r *ExclusionReason) appendOthers(b []byte, named []int, before, after string) []byte {
	d := r.Data()
	none := len(b)
	for _, i := range d.others(named) {
		f := &reasonFields[i]
		if f.content {
			continue
		}
		b = fmt.Append(append(append(append(b, before...), f.name...), '='), f.value(&d))
		before = ", "
	}
	if len(b) > none {
		b = append(b, after...)
	}
	return b
}

// Equal reports whether the reasons have the same code and equal data, as
// [ReasonData.Equal] compares them.
func (r ExclusionReason) Equal(other ExclusionReason) bool {
	return r.Code == other.Code && r.Data().Equal(other.Data())
}

// Equal reports whether the data are the same in JSON: numbers compare by
// value, and NaN equals NaN. It ignores Survivor, which is not in JSON.
func (d ReasonData) Equal(other ReasonData) bool {
	if !d.extra.equal(other.extra) {
		return false
	}
	for i := range reasonFields {
		f := &reasonFields[i]
		a, b := f.value(&d), f.value(&other)
		if x, ok := a.(float64); a != b && !(ok && sameFloat(x, b.(float64))) {
			return false
		}
	}
	return true
}

package cupel

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// reasonField is a field of ReasonData, as its tags describe it.
type reasonField struct {
	position int    // in ReasonData
	name     string // in JSON
	content  bool   // the value is the content of an item, which text and logs leave out
}

// reasonFields are the fields of ReasonData that JSON has. The tag holds says which
// of them are contents.
var reasonFields = func() (fields []reasonField) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[ReasonData]()) {
		if name := f.Tag.Get("json"); f.IsExported() && name != "-" {
			fields = append(fields, reasonField{f.Index[0], name, f.Tag.Get("holds") == "content"})
		}
	}
	return fields
}()

// reasonFieldOf returns the field with a name in JSON, or nil.
func reasonFieldOf(name string) *reasonField {
	for i := range reasonFields {
		if reasonFields[i].name == name {
			return &reasonFields[i]
		}
	}
	return nil
}

func (f *reasonField) of(d *ReasonData) reflect.Value {
	return reflect.ValueOf(d).Elem().Field(f.position)
}

// value returns an int, a float64, a string or a ContextKind.
func (f *reasonField) value(d *ReasonData) any { return f.of(d).Interface() }

// in returns a pointer to what value returns.
func (f *reasonField) in(d *ReasonData) any { return f.of(d).Addr().Interface() }

// reasonSpec describes a code. To add a reason, add a reasonSpec here, and the
// code that gives the reason.
type reasonSpec struct {
	code   ExclusionCode
	fields []string // in the order of JSON
	// sentence appends what follows the code and a colon. It never includes the
	// content of an item.
	sentence func(b []byte, d ReasonData) []byte
	meaning  string // for readers who do not know the specification
}

// reasonTable lists the codes in the order of logs.
var reasonTable = [...]reasonSpec{
	{
		ExcludeBudgetExceeded, []string{"item_tokens", "available_tokens"},
		func(b []byte, d ReasonData) []byte { // by far the most common: it must not allocate
			b = append(strconv.AppendInt(b, int64(d.ItemTokens), 10), " tokens requested, "...)
			return append(strconv.AppendInt(b, int64(d.AvailableTokens), 10), " available"...)
		},
		"it did not fit the budget",
	},
	{
		ExcludeScoredTooLow, []string{"score", "threshold"},
		func(b []byte, d ReasonData) []byte { return fmt.Appendf(b, "score %v below %v", d.Score, d.Threshold) },
		"its score is below the threshold",
	},
	{
		ExcludeDeduplicated, []string{"deduplicated_against"},
		func(b []byte, _ ReasonData) []byte { return append(b, "the same content is in as another item"...) },
		"another item with the same content is in",
	},
	{
		ExcludeQuotaCapExceeded, []string{"kind", "cap", "actual"},
		func(b []byte, d ReasonData) []byte {
			return fmt.Appendf(b, "%s has %d, cap %d", d.Kind, d.Actual, d.Cap)
		},
		"its kind has used up its share of the budget",
	},
	{
		ExcludeQuotaRequireDisplaced, []string{"displaced_by_kind"},
		func(b []byte, d ReasonData) []byte {
			return append(append(b, "displaced by "...), d.DisplacedByKind...)
		},
		"the required share of another kind took its place",
	},
	{
		ExcludeNegativeTokens, []string{"tokens"},
		func(b []byte, d ReasonData) []byte { return fmt.Appendf(b, "%d tokens", d.Tokens) },
		"its token count is negative",
	},
	{
		ExcludePinnedOverride, []string{"displaced_by"},
		func(b []byte, _ ReasonData) []byte { return append(b, "pinned items took its place"...) },
		"it would fit if nothing were pinned",
	},
	{
		ExcludeFiltered, []string{"filter_name"},
		func(b []byte, d ReasonData) []byte { return append(b, d.FilterName...) },
		"a filter dropped it",
	},
	{
		ExcludeCountCapExceeded, []string{"kind", "cap", "count"},
		func(b []byte, d ReasonData) []byte {
			return fmt.Appendf(b, "%s has %d items, cap %d", d.Kind, d.Count, d.Cap)
		},
		"its kind has reached its cap",
	},
	{
		ExcludeCountRequireCandidatesExhausted, []string{"kind", "required", "available"},
		func(b []byte, d ReasonData) []byte {
			return fmt.Appendf(b, "%s requires %d, available %d", d.Kind, d.Required, d.Available)
		},
		"its kind has fewer items than are required",
	},
	{
		ExcludeSuperseded, []string{"superseded_by"},
		func(b []byte, _ ReasonData) []byte { return append(b, "a newer version is among the candidates"...) },
		"a newer version of it is there",
	},
	{
		ExcludeNearDuplicate, []string{"of", "similarity"},
		func(b []byte, d ReasonData) []byte {
			return fmt.Appendf(b, "%.3f of it is in a newer item", d.Similarity)
		},
		"a newer item has nearly the same text",
	},
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

// Meaning describes in a few words what happened to an item with this code, such as
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
	if spec := specOf(c); spec != nil {
		return slices.Clone(spec.fields)
	}
	return nil
}

// A ReasonField is one field of the data of an [ExclusionReason].
type ReasonField struct {
	Name    string // as in JSON
	Value   any    // an int, a float64, a string or a [ContextKind]
	Content bool   // the value is the content of an item
}

// Fields returns an iterator over the data of the reason: first the fields of its
// code, zero or not, then all others that it has. It allocates.
func (r ExclusionReason) Fields() iter.Seq[ReasonField] {
	return func(yield func(ReasonField) bool) {
		d := r.Data()
		named := r.Code.Fields()
		for _, name := range append(named, d.others(named)...) {
			f := reasonFieldOf(name)
			if !yield(ReasonField{Name: name, Value: f.value(&d), Content: f.content}) {
				return
			}
		}
	}
}

// others returns the names of the fields that d has although they are not in named.
func (d *ReasonData) others(named []string) (others []string) {
	for i := range reasonFields {
		f := &reasonFields[i]
		if (d.present&(1<<f.position) != 0 || !f.of(d).IsZero()) && !slices.Contains(named, f.name) {
			others = append(others, f.name)
		}
	}
	return others
}

// String returns the code and its data as one line without the content of any
// item, such as "BudgetExceeded: 2048 tokens requested, 512 available".
func (r ExclusionReason) String() string { return string(r.append(nil)) }

func (r *ExclusionReason) append(b []byte) []byte {
	b = append(b, r.Code...)
	spec := specOf(r.Code)
	if spec == nil {
		return append(b, r.othersText(nil, ": ", "")...)
	}
	b = spec.sentence(append(b, ": "...), r.Data())
	if r.all == nil && (r.Code != ExcludeBudgetExceeded || r.other == nil) {
		return b // reasons in the short form have nothing else
	}
	return append(b, r.othersText(spec.fields, " (", ")")...)
}

// othersText returns the data that are not in named, between two texts.
func (r *ExclusionReason) othersText(named []string, before, after string) string {
	d := r.Data()
	var others []string
	for _, name := range d.others(named) {
		if f := reasonFieldOf(name); !f.content {
			others = append(others, fmt.Sprintf("%s=%v", name, f.value(&d)))
		}
	}
	if len(others) == 0 {
		return ""
	}
	return before + strings.Join(others, ", ") + after
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

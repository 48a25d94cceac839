package cupel

import (
	"reflect"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
)

// Equal reports whether the items have the same content and the same values in
// every field, unknown fields of JSON included. Metadata are equal if JSON has
// the same values for them, so that an item that was written and read is equal
// to the original; those that JSON cannot hold are compared with
// [reflect.DeepEqual]. The pipeline tells items apart by their pointers, never
// by Equal.
func (it *ContextItem) Equal(other *ContextItem) bool {
	if it == nil || other == nil {
		return it == other
	}
	return it.content == other.content &&
		it.tokens == other.tokens &&
		it.kind == other.kind &&
		it.source == other.source &&
		it.has == other.has &&
		it.priority == other.priority &&
		it.originalTokens == other.originalTokens &&
		sameFloat(it.hint, other.hint) &&
		it.timestamp.Equal(other.timestamp) &&
		it.pinned == other.pinned &&
		slices.Equal(it.tags, other.tags) &&
		sameMetadata(it.metadata, other.metadata) &&
		it.units.equal(other.units) &&
		it.extra.equal(other.extra)
}

func sameMetadata(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) == 0 || reflect.DeepEqual(a, b) {
		return true
	}
	x, ok := throughJSON(a)
	if !ok {
		return false
	}
	y, ok := throughJSON(b)
	return ok && reflect.DeepEqual(x, y)
}

// throughJSON returns metadata as they come back from JSON, where an int is a
// [json.Number] and a struct is a map.
func throughJSON(metadata map[string]any) (any, bool) {
	text, failed := jsonwire.Write(func(c *jsonwire.Codec) { c.W.AnyMap(metadata) })
	if failed != nil {
		return nil, false
	}
	var value any
	failed = jsonwire.Read(text, func(r *jsonwire.Reader) { value = r.Any() })
	return value, failed == nil
}

// sameFloat reports whether a and b are equal, or both NaN.
func sameFloat(a, b float64) bool { return a == b || a != a && b != b }

// Equal reports whether the entries have equal items, the same score (NaN
// equals NaN), and the same reason, form and staleness. It ignores positions
// among the candidates, which a report that was read does not know.
func (i IncludedItem) Equal(other IncludedItem) bool {
	return i.Item.Equal(other.Item) && sameFloat(i.Score, other.Score) && i.Reason == other.Reason &&
		i.Form == other.Form && i.Stale == other.Stale &&
		i.extra.equal(other.extra) && i.reasonExtra.equal(other.reasonExtra)
}

// Equal reports whether the entries have equal items, the same score (NaN
// equals NaN) and equal reasons, as [IncludedItem.Equal] does.
func (e ExcludedItem) Equal(other ExcludedItem) bool {
	return e.Item.Equal(other.Item) && sameFloat(e.Score, other.Score) && e.Reason.Equal(other.Reason) && e.Stale == other.Stale && e.extra.equal(other.extra)
}

// Equal reports whether the budgets have the same limits, slots and margin.
func (b ContextBudget) Equal(other ContextBudget) bool {
	return b.maxTokens == other.maxTokens &&
		b.targetTokens == other.targetTokens &&
		b.outputReserve == other.outputReserve &&
		b.marginPercent == other.marginPercent &&
		slices.Equal(b.slots, other.slots) &&
		b.extra.equal(other.extra)
}

// Equal reports whether the events are about the same items and budget.
func (e OverflowEvent) Equal(other OverflowEvent) bool {
	return e.TokensOverBudget == other.TokensOverBudget &&
		slices.EqualFunc(e.OverflowingItems, other.OverflowingItems, (*ContextItem).Equal) &&
		e.Budget.Equal(other.Budget) && e.extra.equal(other.extra)
}

// Equal reports whether the reports are equal apart from the durations of events, so
// that two runs over equal candidates have equal reports.
func (r SelectionReport) Equal(other SelectionReport) bool {
	return slices.EqualFunc(r.Events, other.Events, TraceEvent.Equal) &&
		slices.EqualFunc(r.Included, other.Included, IncludedItem.Equal) &&
		slices.EqualFunc(r.Excluded, other.Excluded, ExcludedItem.Equal) &&
		r.TotalCandidates == other.TotalCandidates &&
		r.TotalTokensConsidered == other.TotalTokensConsidered &&
		slices.EqualFunc(r.CountRequirementShortfalls, other.CountRequirementShortfalls, CountRequirementShortfall.Equal) &&
		(r.Overflow == nil) == (other.Overflow == nil) &&
		(r.Overflow == nil || r.Overflow.Equal(*other.Overflow)) &&
		r.extra.equal(other.extra)
}

// Equal reports whether the events are equal apart from their durations.
func (e TraceEvent) Equal(other TraceEvent) bool {
	return e.Stage == other.Stage && e.ItemCount == other.ItemCount && e.Message == other.Message && e.extra.equal(other.extra)
}

// Equal reports whether the shortfalls have the same kind, counts and unknown JSON
// fields.
func (s CountRequirementShortfall) Equal(other CountRequirementShortfall) bool {
	return s.Kind == other.Kind && s.RequiredCount == other.RequiredCount && s.SatisfiedCount == other.SatisfiedCount && s.extra.equal(other.extra)
}

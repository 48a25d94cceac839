package cupel

import (
	"slices"
	"strconv"
)

// SelectionReport explains a run: what is in, what is out, and why.
//
// It implements the SelectionReport chapter of the specification.
type SelectionReport struct {
	// Events are the recorded events, in the order in which they happened.
	Events []TraceEvent
	// Included are the items of the window, in placed order.
	Included []IncludedItem
	// Excluded are all other candidates, highest score first; equal scores by
	// stage, then by position among the candidates. NaN comes last.
	Excluded []ExcludedItem
	// TotalCandidates is the number of candidates. It equals the lengths of
	// Included and Excluded together, except after a run that failed.
	TotalCandidates int
	// TotalTokensConsidered is the sum of the tokens of all candidates,
	// negative counts included, clamped to the range of int.
	TotalTokensConsidered int
	// CountRequirementShortfalls are the requirements of count slicers that
	// the candidates could not meet, in the order found.
	CountRequirementShortfalls []CountRequirementShortfall
	// Overflow is set when the selection exceeded the target under
	// [OverflowProceed].
	Overflow *OverflowEvent

	extra *extraFields
}

// Window returns the items that are in, in placed order: what the run itself
// returned. It is nil when the report is nil or its run failed, since nothing
// is placed then.
func (r *SelectionReport) Window() []*ContextItem {
	if r == nil || len(r.Included) == 0 {
		return nil
	}
	window := make([]*ContextItem, len(r.Included))
	for i := range r.Included {
		window[i] = r.Included[i].Item
	}
	return window
}

// clone returns a report that shares nothing that can change with r.
func (r *SelectionReport) clone() *SelectionReport {
	c := *r
	c.Events = slices.Clone(r.Events)
	c.Included = slices.Clone(r.Included)
	c.Excluded = slices.Clone(r.Excluded)
	c.CountRequirementShortfalls = slices.Clone(r.CountRequirementShortfalls)
	if r.Overflow != nil {
		c.Overflow = r.Overflow.clone()
	}
	return &c
}

// IncludedItem is an item of the window, with its score and why it is in.
//
// It implements the SelectionReport chapter of the specification.
type IncludedItem struct {
	Item   *ContextItem
	Score  float64 // as computed; 1.0 for pinned items
	Reason InclusionReason
	at     origin
	extra  *includedExtra
}

// origin says in one word where an entry comes from: the position among the
// candidates, from 1, or 0 when it is not known; and what runs with units add.
type origin uint64

const (
	originForm  = 40 // bits of the position
	maxForm     = 1<<20 - 1
	originStale = origin(1) << 60
	// Whether JSON has these fields.
	originHasAt    = origin(1) << 61
	originHasForm  = origin(1) << 62
	originHasStale = origin(1) << 63
)

func originOf(candidate int) origin { return origin(candidate+1) & (1<<originForm - 1) }

func (o origin) candidate() int { return int(o&(1<<originForm-1)) - 1 }

func (o origin) form() int { return int(o>>originForm) & maxForm }

// in returns the same origin at another position.
func (o origin) in(candidate int) origin { return o&^(1<<originForm-1) | originOf(candidate) }

// withForm returns the origin with a form; forms beyond 2^20 count as that.
func (o origin) withForm(form int) origin {
	return o | originHasForm | origin(min(form, maxForm))<<originForm
}

func (o origin) withStale(stale bool) origin {
	if stale {
		o |= originStale
	}
	return o | originHasStale
}

// Candidate returns the position of the item among the candidates of the run,
// from 0, and -1 when it is not known, as in most reports that were read from
// JSON: they have it only when the run had groups, variants or version keys.
// In a streaming run it is the place among all items pulled. A pointer may occur
// twice among the candidates; the position tells which of them this is.
func (i IncludedItem) Candidate() int { return i.at.candidate() }

// Form returns the form in which the item is in the window: 0 for the full one,
// n for the n-th of its variants, largest first ([ContextItem.Variants]). Variants
// of its group are counted behind its own: such an item is in the window once
// for all members of the group, and in the entries of all but the first it has 0
// tokens.
func (i IncludedItem) Form() int { return i.at.form() }

// Stale reports whether a newer version of the item was among the candidates.
func (i IncludedItem) Stale() bool { return i.at&originStale != 0 }

// ExcludedItem is an item that was left out, with its score and why.
//
// It implements the SelectionReport chapter of the specification.
type ExcludedItem struct {
	Item   *ContextItem
	Score  float64 // as computed; 0.0 when left out before scoring
	Reason ExclusionReason
	at     origin
	extra  *extraFields
}

// Candidate returns the position of the item among the candidates of the run,
// from 0, and -1 when it is not known, as [IncludedItem.Candidate] does.
func (e ExcludedItem) Candidate() int { return e.at.candidate() }

// Stale reports whether a newer version of the item was among the candidates.
func (e ExcludedItem) Stale() bool { return e.at&originStale != 0 }

// OverflowEvent tells of a selection that exceeds the target and was kept
// under [OverflowProceed].
//
// It implements the Events chapter of the specification.
type OverflowEvent struct {
	TokensOverBudget int            // tokens above the target, clamped to the range of int
	OverflowingItems []*ContextItem // all items at that moment, pinned ones first
	Budget           ContextBudget  // the budget that was exceeded
	extra            *extraFields
}

// clone returns an event that shares nothing that can change with e.
func (e OverflowEvent) clone() *OverflowEvent {
	e.OverflowingItems = slices.Clone(e.OverflowingItems)
	return &e
}

// String returns the reason and the score as one line without the content of
// the item, such as "Scored: score 0.5, 120 tokens".
func (i IncludedItem) String() string { return string(i.append(nil)) }

func (i *IncludedItem) append(b []byte) []byte {
	b = append(append(b, i.Reason...), ": score "...)
	b = strconv.AppendFloat(b, i.Score, 'g', -1, 64)
	b = strconv.AppendInt(append(b, ", "...), int64(i.Item.Tokens()), 10)
	return append(b, " tokens"...)
}

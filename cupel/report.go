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
	at     int // position among the candidates, from 1; 0 when it is not known
	extra  *includedExtra
}

// Candidate returns the position of the item among the candidates of the run,
// from 0, and -1 when it is not known, as in reports that were read from JSON.
// In a streaming run it is the place among all items pulled. A pointer may occur
// twice among the candidates; the position tells which of them this is.
func (i IncludedItem) Candidate() int { return i.at - 1 }

// ExcludedItem is an item that was left out, with its score and why.
//
// It implements the SelectionReport chapter of the specification.
type ExcludedItem struct {
	Item   *ContextItem
	Score  float64 // as computed; 0.0 when left out before scoring
	Reason ExclusionReason
	at     int // as in IncludedItem
	extra  *extraFields
}

// Candidate returns the position of the item among the candidates of the run,
// from 0, and -1 when it is not known, as [IncludedItem.Candidate] does.
func (e ExcludedItem) Candidate() int { return e.at - 1 }

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

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

// Window returns the included items in placed order, as the run itself returned
// them. It returns nil if the report is nil or if the run failed, since a
// failed run places nothing.
func (r *SelectionReport) Window() []*ContextItem {
	if r == nil || len(r.Included) == 0 {
		return nil
	}
	window := make([]*ContextItem, 0, len(r.Included))
	for i := range r.Included {
		if r.Included[i].at&originShared == 0 {
			window = append(window, r.Included[i].Item)
		}
	}
	return window
}

// clone returns a report that shares nothing mutable with r.
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

// IncludedItem is an item of the window, with its score and the reason it is
// in.
//
// It implements the SelectionReport chapter of the specification.
type IncludedItem struct {
	Item   *ContextItem
	Score  float64 // as computed; 1.0 for pinned items
	Reason InclusionReason
	at     origin
	extra  *includedExtra
}

// origin packs into one word where an entry comes from: the position among the
// candidates, from 1, or 0 if it is not known, and what runs with units add.
type origin uint64

const (
	originForm = 39 // bits of the position
	maxForm    = 1<<20 - 1
	// Whether the entry is of a member that a group variant in the entry before
	// it stands for.
	originShared = origin(1) << 59
	originStale  = origin(1) << 60
	// Whether JSON has these fields.
	originHasAt    = origin(1) << 61
	originHasForm  = origin(1) << 62
	originHasStale = origin(1) << 63
)

// Origin says which candidate an entry of a report is about. Runs know; it is for
// packages that make a report of several runs, such as cupelsession.
type Origin struct {
	Candidate int  // position among the candidates, from 0; a negative number if it is none of them
	Form      int  // as [IncludedItem.Form] counts
	Stale     bool // a newer version of the item was among the candidates
	// Shared is for a member of a group after the first one: the group variant in
	// the entry before it stands for it too, and its own item has 0 tokens.
	Shared bool
}

func (o Origin) pack() origin {
	packed := originOf(max(o.Candidate, -1)).withForm(max(o.Form, 0)).withStale(o.Stale)
	if o.Candidate >= 0 {
		packed |= originHasAt
	}
	if o.Shared {
		packed |= originShared
	}
	return packed
}

// WithOrigin returns the entry with another origin.
func (i IncludedItem) WithOrigin(o Origin) IncludedItem {
	i.at = o.pack()
	return i
}

// WithOrigin returns the entry with another origin, whose form is ignored.
func (e ExcludedItem) WithOrigin(o Origin) ExcludedItem {
	e.at = Origin{Candidate: o.Candidate, Stale: o.Stale}.pack() &^ originHasForm
	return e
}

func originOf(candidate int) origin { return origin(candidate+1) & (1<<originForm - 1) }

func (o origin) candidate() int { return int(o&(1<<originForm-1)) - 1 }

func (o origin) form() int { return int(o>>originForm) & maxForm }

// in returns the same origin at another position.
func (o origin) in(candidate int) origin { return o&^(1<<originForm-1) | originOf(candidate) }

// withForm returns the origin with a form, at most 2^20.
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
// from 0, or -1 if it is not known. In a streaming run it is the position among
// all items pulled. A report that was read from JSON has positions only if its
// run had groups, variants or version keys. The position tells candidates apart
// when the same pointer occurs twice.
func (i IncludedItem) Candidate() int { return i.at.candidate() }

// Form returns the form of the item in the window: 0 for the full one, n for
// the n-th of its variants, largest first ([ContextItem.Variants]). Variants of
// its group have the numbers after those. A group variant is in the window once
// for all members of the group; in the entries of all members but the first it
// has 0 tokens.
func (i IncludedItem) Form() int { return i.at.form() }

// Stale reports whether a newer version of the item was among the candidates.
func (i IncludedItem) Stale() bool { return i.at&originStale != 0 }

// ExcludedItem is an item that was left out, with its score and the reason.
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
// from 0, or -1 if it is not known, as [IncludedItem.Candidate] does.
func (e ExcludedItem) Candidate() int { return e.at.candidate() }

// Stale reports whether a newer version of the item was among the candidates.
func (e ExcludedItem) Stale() bool { return e.at&originStale != 0 }

// OverflowEvent describes a selection that exceeds the target and was kept
// under [OverflowProceed].
//
// It implements the Events chapter of the specification.
type OverflowEvent struct {
	TokensOverBudget int            // tokens above the target, clamped to the range of int
	OverflowingItems []*ContextItem // all items at that moment, pinned ones first
	Budget           ContextBudget  // the budget that was exceeded
	extra            *extraFields
}

// clone returns an event that shares nothing mutable with e.
func (e OverflowEvent) clone() *OverflowEvent {
	e.OverflowingItems = slices.Clone(e.OverflowingItems)
	return &e
}

// String returns the reason and the score as one line, such as "Scored: score
// 0.5, 120 tokens". It leaves out the content of the item.
func (i IncludedItem) String() string { return string(i.append(nil)) }

func (i *IncludedItem) append(b []byte) []byte {
	b = append(append(b, i.Reason...), ": score "...)
	b = strconv.AppendFloat(b, i.Score, 'g', -1, 64)
	b = strconv.AppendInt(append(b, ", "...), int64(i.Item.Tokens()), 10)
	return append(b, " tokens"...)
}

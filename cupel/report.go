package cupel

import (
	"fmt"
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
	// the overflow strategy Proceed.
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
		if !r.Included[i].Shared {
			window = append(window, r.Included[i].Item)
		}
	}
	return window
}

// Clone returns a report that shares nothing mutable with r.
func (r *SelectionReport) Clone() *SelectionReport {
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

	// Candidate is the position of the item among the candidates of the run, from 0,
	// or -1 if it is not known; in a streaming run, the position among all items
	// pulled. It tells candidates apart when the same pointer occurs twice. Reports
	// from JSON know it only if Units is set.
	Candidate int
	// Form is the form of the item in the window: 0 for the full one, n for the n-th
	// of its variants, largest first ([ContextItem.Variants]). Variants of its group
	// have the numbers after those.
	Form int
	// Stale reports whether a newer version of the item was among the candidates.
	Stale bool
	// Shared reports whether the item is a later member of a group that a group variant
	// replaces. The first member's entry has the variant; this item has 0 tokens.
	Shared bool
	// Units reports whether a candidate of the run had a group, variants or a version
	// key, or near copies were looked for. JSON includes Candidate, Form and Stale only
	// then.
	Units bool

	extra, reasonExtra *extraFields
}

// ExcludedItem is an item that was left out, with its score and the reason.
//
// It implements the SelectionReport chapter of the specification.
type ExcludedItem struct {
	Item   *ContextItem
	Score  float64 // as computed; 0.0 when left out before scoring
	Reason ExclusionReason

	Candidate int  // position among the candidates, as in [IncludedItem]
	Stale     bool // a newer version of the item was among the candidates
	Units     bool // as in [IncludedItem]

	extra *extraFields
}

// CountRequirementShortfall reports that there were fewer candidates of a kind than a
// count slicer requires.
//
// It implements the Scarcity Reporting section of the CountQuotaSlice chapter.
type CountRequirementShortfall struct {
	Kind           ContextKind // spelled as the slicer's entry does
	RequiredCount  int         // items required
	SatisfiedCount int         // items committed
	extra          *extraFields
}

// String returns the shortfall as one line: "CountRequirementShortfall: Memory
// has 1 of 3 required items".
func (s CountRequirementShortfall) String() string {
	return fmt.Sprintf("CountRequirementShortfall: %s has %d of %d required items", s.Kind, s.SatisfiedCount, s.RequiredCount)
}

// OverflowEvent describes a selection that exceeds the target and was kept
// under the overflow strategy Proceed.
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

// PipelineStage names a stage that emits diagnostics. [StageSlice] includes
// sorting. Reports of other implementations may have stages that are not listed
// here.
//
// It implements the Events chapter of the specification.
type PipelineStage string

// The stages, in the order in which they run.
const (
	StageClassify    PipelineStage = "Classify"
	StageScore       PipelineStage = "Score"
	StageDeduplicate PipelineStage = "Deduplicate"
	StageSlice       PipelineStage = "Slice"
	StagePlace       PipelineStage = "Place"
)

// TraceEvent describes a completed stage, or one item.
//
// It implements the Events chapter of the specification.
type TraceEvent struct {
	Stage      PipelineStage
	DurationMS float64 // wall-clock duration of the stage in milliseconds; 0 for an item
	ItemCount  int     // items leaving the stage; 1 for an item
	Message    string  // "" when there is none; for an item it starts with the reason's name
	extra      *extraFields
}

// StreamResult is the selection of a streaming run, with counts of all
// candidates. It holds only the items of the window.
type StreamResult struct {
	// Window holds the selected items, in prompt order. It is nil after an
	// error.
	Window []*ContextItem
	// Included holds the items of the window with their scores and reasons, in
	// the same order. It is nil after an error.
	Included []IncludedItem
	// Excluded is the number of dropped items, by reason. Together with
	// Included it accounts for all candidates, except after an error.
	Excluded map[ExclusionCode]int
	// TotalCandidates is the number of items that the source yielded.
	TotalCandidates int
	// TotalTokensConsidered is the sum of the tokens of all candidates,
	// negative counts included, clamped to the range of int.
	TotalTokensConsidered int
	// SourceEnded is true if the source ended, and false if the run stopped
	// earlier because the budget was full or there was an error.
	SourceEnded bool
}

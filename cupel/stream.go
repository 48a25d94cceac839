package cupel

import (
	"context"
	"iter"
	"strconv"
)

// DefaultBatchSize is the number of items that [Pipeline.RunStream] scores at
// a time, unless [WithBatchSize] says otherwise.
const DefaultBatchSize = 32

// StreamOption is a setting of one streaming run: a [RunOption] or what
// [WithBatchSize] returns.
type StreamOption interface {
	applyStream(*streamSettings)
}

type streamSettings struct {
	collector TraceCollector
	batchSize int
}

func (o RunOption) applyStream(s *streamSettings) {
	if !isNil(o.trace) {
		s.collector = o.trace
	}
}

type batchSize int

func (n batchSize) applyStream(s *streamSettings) { s.batchSize = int(n) }

// WithBatchSize sets the number of items that are scored at a time; at least 1,
// [DefaultBatchSize] by default. Larger batches choose better, smaller ones
// stop earlier. Pinned items and items that are left out before scoring take no
// room in a batch.
func WithBatchSize(items int) StreamOption { return batchSize(items) }

// StreamResult is what a streaming run selected, and what it counted on the
// way. It holds no item that is not in the window.
type StreamResult struct {
	// Window are the selected items, in prompt order. nil after an error.
	Window []*ContextItem
	// Included are the items of the window with their scores and why they are
	// in, in the same order. nil after an error.
	Included []IncludedItem
	// Excluded is the number of items left out, by reason. Together with
	// Included they are all candidates, except after an error.
	Excluded map[ExclusionCode]int
	// TotalCandidates is the number of items that the source gave.
	TotalCandidates int
	// TotalTokensConsidered is the sum of the tokens of all candidates,
	// negative counts included, clamped to the range of int.
	TotalTokensConsidered int
	// SourceEnded is true when the source came to its end, and false when the
	// run stopped before it: the budget was full, or there was an error.
	SourceEnded bool
}

// RunStream selects from items that arrive one after the other, without ever
// holding more of them than one batch and what is selected. It pulls from
// source until that ends or the budget is full. source yields an item, or an
// error that ends the run. It is called in the goroutine of the run, which
// cannot interrupt it: a source that waits must stop waiting when ctx is done.
//
// Items are dealt with in batches, in order of arrival. Each goes through
// Classify, Score, Deduplicate and Slice before the next one is pulled; at the
// end, Place runs once over all that was selected. The pipeline's scorer and
// placer, its clock, its handling of duplicates and of overflow are used; its
// slicer is not: the StreamSlice described below takes its place.
//
//	left = effective target for the pinned tokens so far - tokens selected so far
//	of each batch, when left > 0:
//	    sort by score, highest first, ties by arrival
//	    sort by score / tokens, highest first, ties as they are; no tokens first of all
//	    select each item in this order whose tokens <= left; left -= tokens
//	the budget is full when left <= 0
//
// That is GreedySlice on every batch, with what the batches before have left
// over. Nothing that was selected is given up for a later item. When the source
// ends before the first batch is complete the result is that of [Pipeline.Run]
// with a GreedySlice. In general it differs in these ways:
//
//   - Scorers see the items of one batch. Those that compare items with each
//     other, such as scorer.Recency, rank within the batch; scores of different
//     batches are compared as they are.
//   - Of duplicates in a batch the best scored goes on. An item whose copy was
//     selected from an earlier batch is left out, whatever its score. A copy of
//     an item that was not selected is a new candidate.
//   - What comes after the budget is full is not seen: no zero-token items, no
//     duplicates, and no pinned items either, even when it was pinned items that
//     filled it. Yield pinned items first. A budget with nothing to spend pulls
//     nothing.
//   - A pinned item that comes late finds others in its place. Both are merged,
//     and the overflow strategy decides.
//   - The reasons of exclusions are those of their moment: AvailableTokens is
//     what was left after the item's batch.
//
// Time is O(log B) for each item beside the scorer, for batches of B items.
// Memory is bounded by the batch and by what is selected, of which zero-token
// items are unlimited. That holds for runs that nobody observes, and for
// observers of stages and item events; one that wants all exclusions at the end
// ([TraceDetail] Items or Report, as a [DiagnosticTraceCollector] does) has
// them kept for it.
//
// Observers are told of each stage once. The first four overlap: each starts
// with the first batch and ends after the last one, and [StageEnd] Duration is
// the time spent in it. Waiting for the source belongs to Classify.
//
// It fails as [Pipeline.Run] does, and with a [SourceError] when the source
// yields an error or panics. The result is never nil; that of a failed run has
// what was counted until then, and no window. Whoever prefers the window of
// what came before an error lets the source end there.
//
// It implements the StreamSlice section of the Slicers chapter of the
// specification.
func (p *Pipeline) RunStream(ctx context.Context, source iter.Seq2[*ContextItem, error], budget ContextBudget, opts ...StreamOption) (*StreamResult, error) {
	settings := streamSettings{batchSize: DefaultBatchSize}
	for _, opt := range opts {
		if opt != nil {
			opt.applyStream(&settings)
		}
	}
	if err := p.ready(); err != nil {
		return &StreamResult{}, err
	}
	switch {
	case source == nil:
		return &StreamResult{}, &InvalidConfigError{Component: "StreamSlice", Field: "source", Reason: "source must not be nil"}
	case settings.batchSize < 1:
		return &StreamResult{}, &InvalidConfigError{Component: "StreamSlice", Field: "batchSize", Value: strconv.Itoa(settings.batchSize), Reason: "batch size must be at least 1"}
	}
	s := newStream(p, budget, settings)
	ctx = s.observe(contextOr(ctx), settings.collector)
	defer s.abandonAll(ctx) // does nothing once the end was told
	err := s.flow(ctx, source)
	s.end(ctx, err)
	return s.result(err), err
}

package cupel

import (
	"context"
	"iter"
	"strconv"
)

// defaultBatchSize is the number of items that [Pipeline.RunStream] scores at a
// time unless [WithBatchSize] sets another.
const defaultBatchSize = 32

// StreamOption is a setting of one streaming run: a [RunOption], or the result
// of [WithBatchSize].
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

// WithBatchSize sets the number of items scored at a time; it must be at least 1,
// and is 32 by default. Larger batches choose better, smaller ones
// stop earlier. Pinned items and items dropped before scoring do not count toward
// a batch.
func WithBatchSize(items int) StreamOption { return batchSize(items) }

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

// RunStream selects from items as they arrive, and never holds more than one
// batch and the selected items. It pulls from source until the source ends or
// the budget is full. source yields items, or an error that ends the run. It
// runs in the goroutine of the run, which cannot interrupt it: a source that
// blocks must return when ctx is done.
//
// Items are processed in batches, in order of arrival. Each batch goes through
// Classify, Score, Deduplicate and Slice before the next one is pulled; at the end,
// Place runs once over all selected items. The run uses the pipeline's scorer,
// placer, clock, and handling of duplicates and overflow. It does not use the
// pipeline's slicer, but StreamSlice as described below.
//
//	left = effective target for the pinned tokens so far - tokens selected so far
//	of each batch, when left > 0:
//	    sort by score, highest first, ties by arrival
//	    sort by score / tokens, highest first, ties as they are; no tokens first of all
//	    select each item in this order whose tokens <= left; left -= tokens
//	the budget is full when left <= 0
//
// That is GreedySlice on every batch, with the budget that the earlier batches
// left. A selected item is never dropped for a later one. If the source ends
// before the first batch is complete, the result is that of [Pipeline.Run] with
// a GreedySlice. Otherwise it differs in these ways:
//
//   - Scorers see the items of one batch. Those that compare items with each
//     other, such as scorer.Recency, rank within the batch; scores of different
//     batches are compared as they are.
//   - Of duplicates in a batch the best scored goes on. An item whose copy was
//     selected from an earlier batch is dropped, regardless of its score. A copy of
//     an item that was not selected is a new candidate.
//   - Items after the budget is full are not pulled: neither zero-token items,
//     duplicates nor pinned items, even if pinned items filled the budget. Yield
//     pinned items first. With a budget of 0 nothing is pulled.
//   - A late pinned item may find its tokens already spent. All items are merged,
//     and the overflow strategy decides.
//   - The reason of an exclusion describes the moment of the decision:
//     AvailableTokens is what was left after the item's batch.
//
// Time is O(log B) per item plus the scorer's, for batches of B items. Memory is
// bounded by the batch and the selection, whose zero-token items are unlimited.
// That holds without observers, and with observers of stages and item events. For
// an observer that needs all exclusions at the end ([TraceDetail] Items or Report,
// such as a [DiagnosticTraceCollector]), the run keeps them.
//
// Observers see each stage once. The first four overlap: each starts with the
// first batch and ends after the last one, and [StageEnd] Duration is the time
// spent in it. Time spent waiting for the source belongs to Classify.
//
// It fails as [Pipeline.Run] does, and with a [SourceError] if the source
// yields an error or panics. The result is never nil; after an error it has the
// counts up to the error, and no window. To get the window of the items before
// an error, end the source there instead of yielding the error.
//
// It implements the StreamSlice section of the Slicers chapter of the
// specification.
func (p *Pipeline) RunStream(ctx context.Context, source iter.Seq2[*ContextItem, error], budget ContextBudget, opts ...StreamOption) (*StreamResult, error) {
	settings := streamSettings{batchSize: defaultBatchSize}
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
	defer s.abandonAll(ctx) // does nothing once the end was reported
	err := s.flow(ctx, source)
	s.end(ctx, err)
	return s.result(err), err
}

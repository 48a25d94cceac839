package pipeline

import (
	"cmp"
	"context"
	"iter"
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/engine"
	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/order"
	"github.com/wollax/cupel-go/cupel/internal/value"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// defaultBatchSize is the number of items that [Pipeline.RunStream] scores at a
// time unless [WithBatchSize] sets another.
const defaultBatchSize = 32

// WithBatchSize sets the number of items that [Pipeline.RunStream] scores at a time;
// it must be at least 1, and is 32 by default. Larger batches choose better, smaller
// ones stop earlier. Pinned items and items dropped before scoring do not count
// toward a batch. Other runs ignore it.
func WithBatchSize(items int) RunOption {
	return func(s *runSettings) { s.batchSize = items }
}

// stream is the state of a streaming run. It passes one batch at a time through the
// stages of a run, whose candidates are the items of the batch. Its run does not
// come from the pool: its lists are filled many times.
type stream struct {
	*run
	batchSize int

	ended    bool // the source has ended
	batches  int
	always   []kept    // pinned items, in order of arrival
	kept     []kept    // selected items
	pins     exact.Sum // tokens of pinned
	spent    exact.Sum // tokens of kept
	contents map[string]*cupel.ContextItem
}

// insteadOfStream says what to do with items that streams do not take.
const insteadOfStream = "collect the items and pass them to Pipeline.Run"

// kept is an item that is in the window unless an overflow drops it.
type kept struct {
	item    *cupel.ContextItem
	score   float64
	arrival int // its position among all items pulled
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
// before the first batch is complete, [Pipeline.Run] with a GreedySlice gives the
// same result. Otherwise it differs in these ways:
//
//   - Scorers see the items of one batch. Those that compare items with each
//     other, such as scorer.Recency, rank within the batch; scores of different
//     batches are compared as they are.
//   - Of duplicates in a batch the one with the best score goes on. An item whose copy was
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
// an observer that needs all exclusions at the end ([observe.TraceDetail] Items or
// Report, such as an [observe.DiagnosticTraceCollector]), the run keeps them.
//
// Observers see each stage once. The first four overlap: each starts with the
// first batch and ends after the last one, and the Duration of [observe.StageEnd] is the time
// spent in it. Time spent waiting for the source belongs to Classify.
//
// Streams take no groups, smaller forms or versions, and do not look for near
// duplicates: an item with any of these is a [cupel.InvalidItemError], and a pipeline
// with NearDuplicates a [cupel.InvalidConfigError]. Collect such items and use
// [Pipeline.Run].
//
// It fails as [Pipeline.Run] does, and with a [SourceError] if the source
// yields an error or panics. The result is never nil; after an error it has the
// counts up to the error, and no window. To get the window of the items before
// an error, end the source there instead of yielding the error.
//
// It implements the StreamSlice section of the Slicers chapter of the
// specification.
func (p *Pipeline) RunStream(ctx context.Context, source iter.Seq2[*cupel.ContextItem, error], budget cupel.ContextBudget, opts ...RunOption) (*cupel.StreamResult, error) {
	settings := settingsOf(opts)
	if err := p.ready(); err != nil {
		return &cupel.StreamResult{}, err
	}
	invalid := func(field, setting, reason string) (*cupel.StreamResult, error) {
		return &cupel.StreamResult{}, &cupel.InvalidConfigError{Component: "StreamSlice", Field: field, Value: setting, Reason: reason}
	}
	switch near := p.config.NearDuplicates; {
	case near != 0:
		return invalid("nearDuplicates", strconv.FormatFloat(near, 'g', -1, 64), "streams do not look for near duplicates: "+insteadOfStream)
	case source == nil:
		return invalid("source", "", "source must not be nil")
	case settings.batchSize < 1:
		return invalid("batchSize", strconv.Itoa(settings.batchSize), "batch size must be at least 1")
	}
	s := &stream{
		run:       &run{config: &p.config, budget: budget, ranked: new(ranked), streaming: true, tally: make(map[cupel.ExclusionCode]int)},
		batchSize: settings.batchSize,
		contents:  make(map[string]*cupel.ContextItem),
	}
	err := s.observed(ctx, settings.collector, observe.RunInfo{Streaming: true}, func(ctx context.Context) error { return s.flow(ctx, source) })
	return s.result(err), err
}

// flow runs the stages.
func (s *stream) flow(ctx context.Context, source iter.Seq2[*cupel.ContextItem, error]) error {
	inClassify := s.enter(ctx, classify, 0)
	var err error
	if s.left() > 0 {
		err = s.pull(ctx, inClassify, source)
	}
	s.leave()
	if err == nil && (len(s.items) > 0 || s.batches == 0) { // each stage runs, even on no items
		err = s.process(ctx)
	}
	st := &s.observer.stages[classify]
	st.in, st.out = s.total, s.total-s.tally[cupel.ExcludeNegativeTokens]
	if stages := s.observer.stages[:]; !slices.ContainsFunc(stages, func(st stageState) bool { return st.err != nil }) {
		st.err = err // it is no other stage's
	}
	for stage := range place {
		if err == nil {
			s.endStage(stage)
		} else {
			s.tellStageEnd(stage) // none of them is complete, so there are no stage events
		}
	}
	if err != nil {
		return err
	}
	return s.whole(ctx, place, len(s.always)+len(s.kept), s.placeKept)
}

// pull takes items from the source until the source ends or fails, or the budget is
// full.
func (s *stream) pull(ctx, inClassify context.Context, source iter.Seq2[*cupel.ContextItem, error]) (err error) {
	// A panic while the source runs is the source's. Others, such as those of
	// an observer, pass through the source and are not recovered.
	inSource := true
	defer func() {
		if !inSource {
			return
		}
		if v := recover(); v != nil && err == nil {
			err = &SourceError{Index: s.total, Err: &cupel.PanicError{Value: v, Stack: debug.Stack()}}
		}
	}()
	full := false
	for item, problem := range source {
		switch {
		case problem != nil && value.IsContextError(ctx, problem):
			err = canceled(ctx, classify, problem)
		case problem != nil:
			err = &SourceError{Index: s.total, Err: problem}
		default:
			inSource = false
			err = s.take(ctx, inClassify, item)
			inSource = true
		}
		if full = s.left() <= 0; err != nil || full {
			break
		}
	}
	if err == nil && !full {
		// A source that watches the context may have ended because of it.
		err = canceled(ctx, classify, ctx.Err())
		s.ended = err == nil
	}
	return err
}

// take classifies one item, and processes the batch once it is complete.
func (s *stream) take(ctx, inClassify context.Context, item *cupel.ContextItem) error {
	if err := inClassify.Err(); err != nil {
		return canceled(inClassify, classify, err)
	}
	arrival := s.total
	if err := checkStreamed(item, arrival); err != nil {
		return err
	}
	s.total++
	s.tokens.Add(item.Tokens())
	switch {
	case item.Tokens() < 0:
		s.exclude(cupel.ExcludedItem{Item: item, Reason: data.Reason(cupel.ExcludeNegativeTokens, item.Tokens(), 0, nil), Candidate: arrival})
		s.tellItems(classify, nil)
	case item.Pinned():
		if s.always = append(s.always, kept{item, engine.PinnedScore, arrival}); s.pinned == nil {
			s.pinned = item
		}
		s.pins.Add(item.Tokens())
		if err := checkPinned(s.budget, s.pins); err != nil {
			return err
		}
	default:
		s.items, s.arrivals = append(s.items, item), append(s.arrivals, arrival)
	}
	if len(s.items) < s.batchSize {
		return nil
	}
	s.leave()
	err := s.process(ctx)
	if err == nil {
		s.enter(ctx, classify, 0)
	}
	return err
}

// checkStreamed refuses an item that a stream does not take.
func checkStreamed(item *cupel.ContextItem, arrival int) error {
	if item.Content() == "" {
		return &cupel.InvalidItemError{Index: arrival, Reason: notMade}
	}
	if field := data.UnitField(item); field != "" {
		return &cupel.InvalidItemError{Index: arrival, Field: field, Reason: "cannot be used in a stream: " + insteadOfStream}
	}
	return nil
}

// process takes the batch through the stages between Classify and Place.
func (s *stream) process(ctx context.Context) error {
	s.batches++
	_ = s.makeUnits(ctx) // its items were checked one by one
	err := s.stage(ctx, score, len(s.items), s.score)
	if err == nil {
		err = s.stage(ctx, deduplicate, len(s.items), s.deduplicateBatch)
	}
	if err == nil {
		err = s.stage(ctx, slice, s.ranking.Unique, s.sliceBatch)
	}
	s.items, s.arrivals = s.items[:0], s.arrivals[:0]
	return err
}

// deduplicateBatch leaves out copies of selected items, then deduplicates the rest
// as a run does.
func (s *stream) deduplicateBatch(ctx context.Context) (int, error) {
	if !s.config.KeepDuplicates && len(s.kept) > 0 {
		n := 0
		for i, item := range s.items {
			if survivor, ok := s.contents[item.Content()]; ok {
				s.exclude(cupel.ExcludedItem{
					Item: item, Score: s.scores[i], Reason: data.Reason(cupel.ExcludeDeduplicated, 0, 0, survivor), Candidate: s.arrivals[i],
				})
				continue
			}
			s.items[n], s.arrivals[n], s.scores[n] = item, s.arrivals[i], s.scores[i]
			n++
		}
		s.items, s.arrivals, s.scores = s.items[:n], s.arrivals[:n], s.scores[:n]
		_ = s.makeUnits(ctx)
		s.ranking.Score(s.scores)
	}
	return s.deduplicate(ctx)
}

// left returns what the budget leaves after the pinned items so far and the
// selected items. Late pinned items may make it negative.
func (s *stream) left() int {
	return exact.Of(s.budget.Effective(s.pins.Int()).TargetTokens).Minus(s.spent).Int()
}

// sliceBatch selects what fits from the batch, densest items first.
func (s *stream) sliceBatch(ctx context.Context) (_ int, err error) {
	s.sort()
	left := s.left()
	room := max(0, left)
	if s.selection, err = (slicer.Greedy{}).Slice(ctx, s.sorted, cupel.SliceBudget{MaxTokens: room, TargetTokens: room}); err != nil {
		return 0, err
	}
	s.choice.Ranking, s.choice.PinnedTokens = &s.ranking, s.pins
	n, err := s.choose(engine.Limits{Left: left, Target: s.budget.Effective(s.pins.Int()).TargetTokens})
	for _, c := range s.choice.Chosen() {
		place := s.set.Place(c.Unit)
		item := s.items[place]
		s.kept = append(s.kept, kept{item, c.Score, s.arrivals[place]})
		s.spent.Add(item.Tokens())
		s.contents[item.Content()] = item
	}
	return n, err
}

// placeKept is stage 6 for everything kept: a run in which the slicer takes all.
func (s *stream) placeKept(ctx context.Context) (int, error) {
	slices.SortFunc(s.kept, func(a, b kept) int {
		return cmp.Or(cmp.Compare(order.Key(b.score), order.Key(a.score)), cmp.Compare(a.arrival, b.arrival))
	})
	s.items, s.arrivals, s.scores = nil, nil, nil
	for _, k := range slices.Concat(s.always, s.kept) {
		s.items, s.arrivals = append(s.items, k.item), append(s.arrivals, k.arrival)
	}
	for _, k := range s.kept {
		s.scores = append(s.scores, k.score)
	}
	_ = s.makeUnits(ctx)
	s.ranking.Score(s.scores)
	s.ranking.Deduplicate(true)
	s.ranking.Sort()
	if err := s.fitPinned(); err != nil {
		return 0, err
	}
	s.selection.Indices = nil
	for at := range s.ranking.Sorted() {
		s.selection.Indices = append(s.selection.Indices, at)
	}
	_, _ = s.choose(engine.Limits{}) // there are no forms, so it cannot fail
	return s.place(ctx)
}

func (s *stream) result(err error) *cupel.StreamResult {
	r := &cupel.StreamResult{
		Excluded: s.tally, TotalCandidates: s.total, TotalTokensConsidered: s.tokens.Int(), SourceEnded: s.ended,
	}
	if err == nil {
		r.Window = s.window
		r.Included = s.listIncluded()
	}
	return r
}

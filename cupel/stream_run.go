package cupel

import (
	"cmp"
	"context"
	"iter"
	"math"
	"runtime/debug"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/order"
)

// stream is the state of a streaming run. It passes one batch at a time through
// the stages of a run, whose candidates are the items of the batch. Its run
// does not come from the pool: its lists are filled many times and keep items
// of larger batches behind their ends.
type stream struct {
	*run
	ctx       context.Context // the run's
	batchSize int

	total     int       // items pulled
	tokens    exact.Sum // of all of them
	ended     bool      // the source has ended
	full      bool      // the budget is full
	batches   int
	batch     []*ContextItem // scoreable items
	arrivals  []int          // their positions among all items pulled
	always    []kept         // pinned items, in order of arrival
	kept      []kept         // selected items
	spent     exact.Sum      // tokens of kept
	contents  map[string]*ContextItem
	densities []order.Pair
	groups    *streamUnits // from the first item with a group, variants or a key on
	chosen    []bool

	stages  [len(stageOrder)]streamStage
	current PipelineStage // the current one
	telling PipelineStage // the stage whose items are being reported
}

// kept is an item that is in the window unless an overflow drops it.
type kept struct {
	item    *ContextItem
	score   float64
	arrival int // its position among all items pulled
}

func newStream(p *Pipeline, budget ContextBudget, settings streamSettings) *stream {
	s := &stream{
		run:       &run{pipeline: p, budget: budget},
		batchSize: settings.batchSize,
		contents:  make(map[string]*ContextItem),
	}
	s.stream = s
	s.full = s.left() <= 0
	return s
}

// flow runs the stages in order.
func (s *stream) flow(ctx context.Context, source iter.Seq2[*ContextItem, error]) error {
	s.ctx = ctx
	s.enter(StageClassify)
	var err error
	if !s.full {
		err = s.pull(source)
	}
	if err == nil {
		err = s.closeGroup()
	}
	s.leave()
	if err == nil && (len(s.batch) > 0 || s.batches == 0) { // each stage runs, even on no items
		err = s.process()
	}
	s.endStages(err, StageClassify, StageScore, StageDeduplicate, StageSlice)
	if err == nil {
		err = s.step(StagePlace, s.numKept(), s.placeKept)
		s.endStages(err, StagePlace)
	}
	return err
}

// pull takes items from the source until the source ends or fails, or the
// budget is full.
func (s *stream) pull(source iter.Seq2[*ContextItem, error]) (err error) {
	// A panic while the source runs is the source's. Others, such as those of
	// an observer, pass through the source and are not recovered.
	inSource := true
	defer func() {
		if !inSource {
			return
		}
		if v := recover(); v != nil && err == nil {
			err = s.fail(StageClassify, &SourceError{Index: s.total, Err: &PanicError{Value: v, Stack: debug.Stack()}})
		}
	}()
	for item, problem := range source {
		if problem != nil {
			err = s.fail(StageClassify, s.sourceError(problem))
			break
		}
		inSource = false
		err = s.take(item)
		inSource = true
		if err != nil || s.full {
			break
		}
	}
	if err == nil && !s.full {
		// A source that watches the context may have ended because of it.
		err = s.fail(StageClassify, s.canceled(s.ctx, StageClassify, s.ctx.Err()))
		s.ended = err == nil
	}
	return err
}

func (s *stream) sourceError(err error) error {
	if isContextError(s.ctx, err) {
		return s.canceled(s.ctx, StageClassify, err)
	}
	return &SourceError{Index: s.total, Err: err}
}

// take classifies one item, and processes the batch once it is complete.
func (s *stream) take(item *ContextItem) error {
	ctx := s.stageOf(StageClassify).ctx
	if ctx.Err() != nil {
		return s.fail(StageClassify, s.canceled(ctx, StageClassify, ctx.Err()))
	}
	arrival := s.total
	if item == nil || item.content == "" {
		return s.fail(StageClassify, &InvalidItemError{arrival, "", "must come from NewContextItem, got nil or an empty item"})
	}
	s.total++
	s.tokens.Add(item.tokens)
	if s.groups == nil && (item.units != nil || s.pipeline.config.looksForCopies()) {
		s.newGroups()
	}
	if s.groups != nil {
		return s.takeUnit(item, arrival)
	}
	switch {
	case item.tokens < 0:
		s.excludeNegative(item, item.tokens, arrival)
	case item.pinned:
		s.always = append(s.always, kept{item, pinnedScore, arrival})
		s.pinnedTokens.Add(item.tokens)
		if err := s.budget.checkPinned(s.pinnedTokens); err != nil {
			return s.fail(StageClassify, err)
		}
		s.full = s.left() <= 0
	default:
		s.batch = append(s.batch, item)
		s.arrivals = append(s.arrivals, arrival)
	}
	return s.processIfComplete()
}

func (s *stream) processIfComplete() error {
	if len(s.batch) < s.batchSize {
		return nil
	}
	s.leave()
	err := s.process()
	if err == nil && !s.full {
		s.enter(StageClassify)
	}
	return err
}

// process takes the batch through the stages between Classify and Place.
func (s *stream) process() error {
	s.batches++
	s.items = s.batch
	s.scoreable = resize(s.scoreable, len(s.batch))
	for i := range s.scoreable {
		s.scoreable[i] = i
	}
	if s.groups != nil {
		if err := s.beginUnits(); err != nil {
			return err
		}
	}
	err := s.step(StageScore, len(s.batch), s.score)
	if err == nil {
		err = s.step(StageDeduplicate, len(s.batch), s.deduplicateBatch)
	}
	if err == nil {
		err = s.step(StageSlice, len(s.unique), s.sliceBatch)
	}
	s.batch, s.arrivals = s.batch[:0], s.arrivals[:0]
	s.units = nil
	s.full = s.left() <= 0
	return err
}

// deduplicateBatch leaves out copies of selected items, then deduplicates the
// rest as a run does.
func (s *stream) deduplicateBatch(ctx context.Context) error {
	if s.units != nil {
		s.leaveOutKept()
		return s.deduplicate(ctx)
	}
	if !s.pipeline.config.KeepDuplicates && len(s.kept) > 0 {
		n := 0
		for i, candidate := range s.scoreable {
			if survivor, ok := s.contents[s.items[candidate].content]; ok {
				s.exclude(candidate, s.scores[i], deduplicated(survivor))
				continue
			}
			s.scoreable[n], s.all[n], s.scores[n] = candidate, s.all[i], s.scores[i]
			n++
		}
		s.scoreable, s.all, s.scores = s.scoreable[:n], s.all[:n], s.scores[:n]
	}
	return s.deduplicate(ctx)
}

// left returns what the budget leaves after the pinned items so far and the
// selected items. Late pinned items may make it negative.
func (s *stream) left() int {
	return exact.Of(s.budget.effective(s.pinnedTokens).TargetTokens).Minus(s.spent).Int()
}

// sliceBatch selects what fits from the batch, densest items first.
func (s *stream) sliceBatch(context.Context) error {
	if s.units != nil {
		return s.sliceUnitsOfBatch()
	}
	s.sort()
	s.chosen = resize(s.chosen, len(s.sorted))
	clear(s.chosen)
	s.trace.count = 0
	if left := s.left(); left > 0 {
		for _, d := range s.byDensity() {
			at := s.sorted[d.Index]
			if at.Item.tokens > left {
				continue
			}
			left -= at.Item.tokens
			s.chosen[d.Index] = true
			s.keep(at, s.arrivals[s.scoreable[s.keys[d.Index].Index]])
		}
	}
	s.excludeUnchosen()
	return nil
}

// byDensity orders the sorted items by score per token, as GreedySlice does.
func (s *stream) byDensity() []order.Pair {
	s.densities = resize(s.densities, len(s.sorted))
	for i, it := range s.sorted {
		density := math.MaxFloat64
		if it.Item.tokens != 0 {
			density = it.Score / float64(it.Item.tokens)
		}
		s.densities[i] = order.Pair{Key: order.Key(density), Index: i}
	}
	order.SortDescending(s.densities)
	return s.densities
}

func (s *stream) keep(it ScoredItem, arrival int) {
	s.kept = append(s.kept, kept{it.Item, it.Score, arrival})
	s.spent.Add(it.Item.tokens)
	s.contents[it.Item.content] = it.Item
	s.trace.count++
}

func (s *stream) excludeUnchosen() {
	available := s.left()
	target := s.budget.effective(s.pinnedTokens).TargetTokens
	withoutPinned := s.budget.effective(exact.Sum{}).TargetTokens
	for at, it := range s.sorted {
		if s.chosen[at] {
			continue
		}
		tokens := it.Item.tokens
		reason := budgetExceeded(tokens, available)
		if s.pinnedTokens.Greater(0) && tokens > target && tokens <= withoutPinned {
			reason = pinnedOverride(s.always[0].item)
		}
		s.exclude(s.scoreable[s.keys[at].Index], it.Score, reason)
	}
}

// placeKept is stage 6 for everything kept, pinned items first.
func (s *stream) placeKept(ctx context.Context) error {
	if s.groups != nil {
		return s.placeKeptUnits(ctx)
	}
	slices.SortFunc(s.kept, func(a, b kept) int {
		return cmp.Or(cmp.Compare(order.Key(b.score), order.Key(a.score)), cmp.Compare(a.arrival, b.arrival))
	})
	n := len(s.always) + len(s.kept)
	s.items, s.arrivals = make([]*ContextItem, 0, n), make([]int, 0, n)
	add := func(k kept) int {
		s.items, s.arrivals = append(s.items, k.item), append(s.arrivals, k.arrival)
		return len(s.items) - 1
	}
	s.pinned, s.scoreable, s.scores, s.selected = nil, nil, nil, nil
	for _, k := range s.always {
		s.pinned = append(s.pinned, add(k))
	}
	for i, k := range s.kept {
		s.scoreable = append(s.scoreable, add(k))
		s.scores = append(s.scores, k.score)
		s.selected = append(s.selected, i)
	}
	if err := s.place(ctx); err != nil {
		return err
	}
	s.explainIncluded()
	for i := range s.trace.included { // until here these are positions in s.items
		e := &s.trace.included[i]
		e.at = e.at.in(s.arrivals[e.Candidate()])
	}
	return nil
}

// numKept returns the number of items that enter Place.
func (s *stream) numKept() int {
	if s.groups == nil {
		return len(s.always) + len(s.kept)
	}
	n := 0
	for _, list := range [][]keptUnit{s.groups.always, s.groups.kept} {
		for _, k := range list {
			n += len(k.members)
		}
	}
	return n
}

func (s *stream) result(err error) *StreamResult {
	excluded := make(map[ExclusionCode]int)
	for i := range s.stages {
		for _, c := range s.stages[i].reasons.list {
			excluded[c.Code] += c.Items
		}
	}
	r := &StreamResult{
		Excluded:              excluded,
		TotalCandidates:       s.total,
		TotalTokensConsidered: s.tokens.Int(),
		SourceEnded:           s.ended,
	}
	if err == nil {
		r.Window, r.Included = s.window, slices.Clone(s.trace.included)
	}
	return r
}

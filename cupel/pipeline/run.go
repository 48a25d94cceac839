package pipeline

import (
	"context"
	"slices"
	"sync"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/engine"
	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/value"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// run is the state of one run: what the engine knows, and the items that belong to
// its numbers. Its lists are reused by later runs, so none of them may leave it;
// strategies see them for the length of a call.
type run struct {
	config   *Config
	items    []*cupel.ContextItem // by candidate
	budget   cupel.ContextBudget
	dry      bool
	failed   error     // before it began
	prepared *Prepared // which has lent ranked, or nil
	*ranked

	choice     engine.Choice
	effective  cupel.SliceBudget
	chosen     int // candidates that Slice chose
	selection  strategy.Selection
	merged     []cupel.ScoredItem // what the placer sees
	windowed   []*windowed        // parallel to merged; nil for a lone candidate as it came
	order      []int              // of merged, as the placer wants it
	window     []*cupel.ContextItem
	overflow   *cupel.OverflowEvent
	overflowed bool               // what was merged exceeded the target
	over       int                // tokens over the target, under OverflowProceed
	candidates []cupel.ScoredItem // what the slicer sees: a copy of sorted, since it may change it

	own       ranked // memory for a run that ranks itself
	preparing bool   // it ends before Slice
	observer  observer

	// Of streams alone:
	streaming bool
	pinned    *cupel.ContextItem          // the first one, of an earlier batch
	arrivals  []int                       // by candidate: its position among all items
	tally     map[cupel.ExclusionCode]int // what is left out
	total     int                         // items so far
	tokens    exact.Sum                   // of all of them
}

// ranked is what does not depend on a budget. A [Prepared] shares it between runs.
type ranked struct {
	set      engine.Set
	ranking  engine.Ranking
	columns  engine.Columns
	standIns []*cupel.ContextItem // by unit: of groups; empty where there are none
	list     []*cupel.ContextItem // scoreable items, for the scorer
	scores   []float64            // parallel to list
	sorted   []cupel.ScoredItem   // by rank
}

var runPool = sync.Pool{New: func() any { return new(run) }}

func newRun(p *Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget, dry bool) *run {
	r := runPool.Get().(*run)
	r.config, r.items, r.budget, r.dry, r.ranked = &p.config, items, budget, dry, &r.own
	return r
}

// free gives the memory back, without what belongs to the caller. A run that failed
// is left to the collector: a strategy that panicked may still hold a list.
func (r *run) free() {
	own, choice := r.own, r.choice
	own.free()
	clear(r.merged)
	clear(r.windowed)
	clear(r.candidates)
	choice.Ranking = nil
	*r = run{
		own: own, choice: choice, merged: r.merged[:0], windowed: r.windowed[:0], candidates: r.candidates[:0], order: r.order[:0],
		observer: observer{message: r.observer.message},
	}
	runPool.Put(r)
}

func (k *ranked) free() {
	clear(k.columns.Contents)
	clear(k.standIns)
	clear(k.list)
	clear(k.sorted)
	k.columns.Links = nil
	k.set.Free()
	k.standIns, k.list, k.sorted = k.standIns[:0], k.list[:0], k.sorted[:0]
}

// classify is stage 1: it leaves out items with a negative token count, parts
// pinned from scoreable items, and refuses pinned items that cannot fit.
//
// It implements the Classify chapter of the specification.
func (r *run) classify(ctx context.Context) (int, error) {
	if r.prepared == nil {
		if err := r.makeUnits(ctx); err != nil {
			return 0, err
		}
	}
	r.leftOut(r.set.Left)
	n := r.set.NumPinned() + len(r.set.Scoreable)
	if r.preparing {
		return n, nil
	}
	return n, r.fitPinned()
}

const notMade = "must come from NewContextItem, got nil or an empty item"

// makeUnits makes units of the items, and stand-ins of groups.
func (r *run) makeUnits(ctx context.Context) error {
	c := &r.columns
	c.Tokens, c.Pinned, c.Contents = c.Tokens[:0], c.Pinned[:0], c.Contents[:0]
	near := r.config.NearDuplicates
	if at := data.Columns(r.items, c, near > 0); at >= 0 {
		return &cupel.InvalidItemError{Index: at, Reason: notMade}
	}
	r.ranking.Set = &r.set
	if err := r.set.Classify(ctx, *c, near); err != nil {
		return err
	}
	if c.Links != nil {
		r.makeStandIns()
	}
	return nil
}

// fitPinned shrinks pinned units and refuses those that do not fit.
func (r *run) fitPinned() error {
	available := r.budget.MaxTokens() - r.budget.OutputReserve() // without reserved slots (R4)
	r.choice.Ranking = &r.ranking
	r.choice.FitPinned(min(available, r.budget.TargetTokens()))
	return checkPinned(r.budget, r.choice.PinnedTokens)
}

func checkPinned(b cupel.ContextBudget, pinned exact.Sum) error {
	available := b.MaxTokens() - b.OutputReserve()
	if pinned.Greater(available) {
		return &PinnedExceedsBudgetError{PinnedTokens: pinned.Int(), AvailableTokens: available}
	}
	return nil
}

// score is stage 2: one pass of the scorer over all scoreable items. The scorer is
// not called when there are none.
//
// It implements the Score chapter of the specification.
func (r *run) score(ctx context.Context) (int, error) {
	n := len(r.set.Scoreable)
	if r.prepared != nil {
		return n, nil
	}
	list := engine.Resize(r.list, n)
	for i, c := range r.set.Scoreable {
		list[i] = r.items[c]
	}
	r.list, r.scores = list, engine.Resize(r.scores, n)
	if n > 0 {
		if err := strategy.CallScorer(ctx, r.config.Scorer, r.list, r.scores); err != nil {
			return 0, err
		}
	}
	r.ranking.Score(r.scores)
	return n, nil
}

// deduplicate is stage 3: among items with the same bytes, only the one with the
// best score stays, or the first of those.
//
// It implements the Deduplicate chapter of the specification.
func (r *run) deduplicate(context.Context) (int, error) {
	if r.prepared == nil {
		r.ranking.Deduplicate(r.config.KeepDuplicates)
	}
	r.leftOut(r.ranking.Left)
	return r.ranking.Unique, nil
}

// slice is stages 4 and 5: the slicer selects, from the sorted items, what fits the
// effective budget.
//
// It implements the Sort and Slice chapters of the specification.
func (r *run) slice(ctx context.Context) (_ int, err error) {
	if r.prepared == nil {
		r.sort()
	}
	list := r.sorted
	if r.prepared != nil {
		r.candidates = append(r.candidates[:0], list...)
		list = r.candidates
	}
	r.effective = r.budget.Effective(r.choice.PinnedTokens.Int())
	if r.selection, err = strategy.CallSlicer(ctx, r.config.Slicer, list, r.effective); err != nil {
		return 0, err
	}
	target := r.effective.TargetTokens
	return r.choose(engine.Limits{Left: target, Target: target})
}

// sort makes the list that slicers see.
func (r *run) sort() {
	r.ranking.Sort()
	units := r.ranking.Sorted()
	sorted := engine.Resize(r.sorted, len(units))
	for i, u := range units {
		item := r.items[r.set.Place(u)]
		if r.columns.Links != nil {
			item = r.seenAs(u)
		}
		sorted[i] = cupel.ScoredItem{Item: item, Score: r.ranking.ScoreOf(u)}
	}
	r.sorted = sorted
}

// choose takes what the slicer selected.
func (r *run) choose(limits engine.Limits) (int, error) {
	r.choice.Start()
	for _, at := range r.selection.Indices {
		r.choice.Take(engine.Rank(at), 0)
	}
	for _, s := range r.selection.Smaller {
		r.choice.Take(engine.Rank(s.Index), s.Form)
	}
	for _, d := range r.selection.Drops {
		r.choice.Drop(engine.Rank(d.Index))
	}
	limits.WithoutPinned = r.budget.Effective(0).TargetTokens
	r.choice.Why = r.observer.why() || r.tally != nil
	n, ok := r.choice.Choose(limits)
	if !ok {
		return 0, &cupel.ContractError{StrategyError: cupel.StrategyError{
			Role: "slicer", Strategy: value.TypeName(r.config.Slicer), Reason: "changed the list that it was given",
		}}
	}
	r.chosen = n
	r.takeBack()
	r.leftOut(r.choice.Decisions)
	return n, nil
}

// merge decides what will be in the window, and fails if that overflows.
func (r *run) merge() error {
	tokens, target := r.choice.MergedTokens(), r.budget.TargetTokens()
	r.over, r.overflowed = 0, tokens.Greater(target)
	if !r.overflowed {
		return nil
	}
	switch r.config.Overflow {
	case OverflowTruncate:
		r.choice.Truncate(target)
		r.leftOut(r.choice.Decisions[r.choice.Truncated:])
	case OverflowProceed:
		tokens.Sub(target)
		r.over = tokens.Int()
	default:
		return &OverflowError{MergedTokens: tokens.Int(), TargetTokens: target}
	}
	return nil
}

// place is stage 6: it merges pinned and sliced items, handles overflow, and lets
// the placer order the rest.
//
// It implements the Place chapter of the specification.
func (r *run) place(ctx context.Context) (int, error) {
	if err := r.merge(); err != nil {
		return 0, err
	}
	candidates, err := r.makeWindowItems(ctx)
	if err != nil {
		return 0, err
	}
	if r.over > 0 {
		r.reportOverflow()
	}
	r.order = engine.Resize(r.order, len(r.merged))
	if err := strategy.CallPlacer(ctx, r.config.Placer, r.merged, r.order); err != nil {
		return 0, err
	}
	r.window = make([]*cupel.ContextItem, 0, len(r.order))
	for _, at := range r.order {
		r.window = r.appendWindow(r.window, at)
	}
	return candidates, nil
}

// reportOverflow makes the event if the function of real runs, or the report, wants
// it (R36).
func (r *run) reportOverflow() {
	tell := r.config.OnOverflow
	if r.dry {
		tell = nil
	}
	if tell == nil && !r.observer.detail.Report {
		return
	}
	event := cupel.OverflowEvent{TokensOverBudget: r.over, Budget: r.budget}
	for i := range r.merged {
		event.OverflowingItems = r.appendWindow(event.OverflowingItems, i)
	}
	kept := event
	kept.OverflowingItems = slices.Clone(event.OverflowingItems) // the function may change its own
	r.overflow = &kept
	if tell != nil {
		tell(event)
	}
}

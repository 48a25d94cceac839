package cupel

import (
	"context"
	"sync"

	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/order"
)

// run is the state of one run. Its lists are reused by later runs, so none of
// them may leave it; strategies see them for the length of a call.
//
// A candidate goes by three numbers: its place among the candidates, among the
// scoreable items, and in sorted order. The lists below say which one they
// hold; identity is always the place, never the pointer, since a pointer may
// occur twice (R1).
type run struct {
	pipeline    *Pipeline
	items       []*ContextItem // the candidates, as given
	budget      ContextBudget
	dry         bool
	prepared    *Prepared       // whose lists the first stages have lent, or nil
	preparing   bool            // the run makes a Prepared
	preparation context.Context //nolint:containedctx // as in RunInfo
	stream      *stream         // that this run deals with the batches of, or nil
	units       *unitRun        // of candidates with groups, variants or version keys, or nil

	// Classify
	pinned       []int          // candidates
	scoreable    []int          // candidates
	all          []*ContextItem // scoreable items, for the scorer
	pinnedTokens exact.Sum

	scores []float64 // Score: by scoreable
	unique []int     // Deduplicate: scoreable, ascending

	// Sort and Slice
	keys       []order.Pair
	sorted     []ScoredItem // what the slicer sees
	effective  SliceBudget
	selected   []int // scoreable, in sorted order
	shortfalls []CountRequirementShortfall

	// Place
	merged     []ScoredItem // what the placer sees
	mergedFrom []mergedItem // parallel to merged
	order      []int        // of merged, as the placer wants it
	window     []*ContextItem
	overflow   *OverflowEvent
	over       int // tokens over the target, under OverflowProceed

	hashes contentTable
	trace  tracing
}

// mergedItem is what the engine itself remembers of a merged item: what a
// placer was given it may have changed.
type mergedItem struct {
	candidate int
	score     float64
}

// Prepared runs have a pool of their own: theirs lack the lists that are lent.
var (
	runPool         = sync.Pool{New: func() any { return new(run) }}
	preparedRunPool = sync.Pool{New: func() any { return new(run) }}
)

func newRun(p *Pipeline, items []*ContextItem, budget ContextBudget, dry bool) *run {
	r := runPool.Get().(*run)
	r.pipeline, r.items, r.budget, r.dry = p, items, budget, dry
	return r
}

// free gives the memory back. A run that failed is left to the collector: a
// strategy that panicked may still hold a list.
func (r *run) free() {
	pool := &runPool
	if r.prepared != nil {
		pool = &preparedRunPool
		r.pinned, r.scoreable, r.scores, r.unique, r.keys = nil, nil, nil, nil, nil
	}
	// Pooled memory must not keep the caller's items alive.
	clear(r.all)
	clear(r.sorted)
	clear(r.merged)
	if r.units != nil {
		r.units.free()
	}
	r.trace.forget()
	*r = run{
		pinned: r.pinned[:0], scoreable: r.scoreable[:0], all: r.all[:0], scores: r.scores[:0], unique: r.unique[:0],
		keys: r.keys[:0], sorted: r.sorted[:0], selected: r.selected[:0], merged: r.merged[:0], mergedFrom: r.mergedFrom[:0],
		order:  r.order[:0],
		hashes: r.hashes, trace: r.trace,
	}
	pool.Put(r)
}

// stage runs one stage and reports its start and end to the observers.
func (r *run) stage(ctx context.Context, stage PipelineStage, do func(ctx context.Context) error) error {
	if !r.trace.on {
		return r.canceled(ctx, stage, r.attempt(ctx, do))
	}
	stageCtx := r.startStage(ctx, stage)
	defer r.abandonStage(stageCtx, stage)
	// The observer may have given the stage a deadline of its own.
	err := r.canceled(stageCtx, stage, r.attempt(r.trace.times.context(stageCtx), do))
	r.endStage(stageCtx, stage, err)
	return err
}

func (r *run) attempt(ctx context.Context, do func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return do(ctx)
}

// canceled names the stage when err is the end of the run's context.
func (r *run) canceled(ctx context.Context, stage PipelineStage, err error) error {
	if err == nil || !isContextError(ctx, err) {
		return err
	}
	return &CanceledError{Stage: stage, Err: ctx.Err(), Cause: context.Cause(ctx)}
}

// resize returns s with length n and undefined content, reusing its memory.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

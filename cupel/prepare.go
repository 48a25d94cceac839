package cupel

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/order"
)

// Prepared is a pipeline that has classified, scored, deduplicated and sorted
// its candidates already, for runs with many budgets: none of that depends on
// the budget. It is immutable and safe for concurrent use. Build it with
// [Pipeline.Prepare].
//
// A run of a Prepared costs Slice, Place and what observers ask for. It gives
// exactly what the pipeline gives at the time of Prepare: window, report,
// partial report of a failure, error. Observers see every stage, with the same
// counts, items and events; the stages that were prepared merely take no time.
type Prepared struct {
	pipeline *Pipeline
	pass     *scoredPass
	passes   []*scoredPass // pass, and all others that [Prepared.For] may share

	unique     []int // as in run
	keys       []order.Pair
	sorted     []ScoredItem
	sortedOf   []sorted // of candidates with units, parallel to sorted
	duplicates []exclusionOf
}

// scoredPass is what pipelines with the same scorer have in common.
type scoredPass struct {
	scorer       Scorer
	items        []*ContextItem
	pinned       []int
	scoreable    []int
	all          []*ContextItem
	pinnedTokens exact.Sum
	scores       []float64
	negative     []exclusionOf
	units        *unitSet // or nil
}

// exclusionOf is a candidate that was left out while preparing.
type exclusionOf struct {
	candidate int
	score     float64
	reason    ExclusionReason
}

// Prepare does for the candidates what does not depend on a budget. items is
// copied. The cost is that of the scorer plus O(N log N) for sorting.
//
// It fails as [Pipeline.Run] does in these stages: with an [InvalidItemError]
// for a nil item, a [StrategyError] of the scorer, or a [CanceledError].
// Whether pinned items fit is for each run to say.
func (p *Pipeline) Prepare(ctx context.Context, items []*ContextItem) (*Prepared, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	pass, err := p.newPass(ctx, slices.Clone(items))
	if err != nil {
		return nil, err
	}
	return p.prepare(ctx, pass, []*scoredPass{pass})
}

// For returns what pipeline.Prepare returns for the candidates of p. A scorer
// that p, or a Prepared that p was made of in this way, has asked already is
// not asked again. Scorers are the same when they are equal as Go values:
// pointers by identity.
func (p *Prepared) For(ctx context.Context, pipeline *Pipeline) (*Prepared, error) {
	if err := cmp.Or(p.ready(), pipeline.ready()); err != nil {
		return nil, err
	}
	passes := p.passes
	i := slices.IndexFunc(passes, func(pass *scoredPass) bool {
		return sameScorer(pass.scorer, pipeline.config.Scorer) && (pass.units == nil || pass.units.fullOnly == pipeline.config.FullOnly)
	})
	if i < 0 {
		pass, err := pipeline.newPass(ctx, p.pass.items)
		if err != nil {
			return nil, err
		}
		i, passes = len(passes), append(slices.Clip(passes), pass)
	}
	return pipeline.prepare(ctx, passes[i], passes)
}

func sameScorer(a, b Scorer) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// newPass classifies and scores. It keeps items.
func (p *Pipeline) newPass(ctx context.Context, items []*ContextItem) (*scoredPass, error) {
	ctx = contextOr(ctx)
	r := p.preparing(items)
	if err := r.stage(ctx, StageClassify, r.partition); err != nil {
		return nil, err
	}
	if err := r.stage(ctx, StageScore, r.score); err != nil {
		return nil, err
	}
	var units *unitSet
	if r.units != nil {
		units = r.units.unitSet
	}
	return &scoredPass{p.config.Scorer, items, r.pinned, r.scoreable, r.all, r.pinnedTokens, r.scores, r.excluded(), units}, nil
}

// prepare deduplicates and sorts.
func (p *Pipeline) prepare(ctx context.Context, pass *scoredPass, passes []*scoredPass) (*Prepared, error) {
	r := p.preparing(pass.items)
	r.scoreable, r.all, r.scores = pass.scoreable, pass.all, pass.scores
	if pass.units != nil {
		r.units = &unitRun{unitSet: pass.units}
	}
	if err := r.stage(contextOr(ctx), StageDeduplicate, r.deduplicate); err != nil {
		return nil, err
	}
	duplicates := r.excluded()
	r.sort()
	prepared := &Prepared{p, pass, passes, r.unique, r.keys, r.sorted, nil, duplicates}
	if r.units != nil {
		prepared.sortedOf = r.units.sorted
	}
	return prepared, nil
}

// preparing returns a run whose lists are its own: they go into a Prepared and
// never into the pool.
func (p *Pipeline) preparing(items []*ContextItem) *run {
	r := &run{pipeline: p, items: items}
	r.trace.items = true
	return r
}

// excluded returns what the stages that ran left out, in that order.
func (r *run) excluded() []exclusionOf {
	excluded := make([]exclusionOf, len(r.trace.excluded))
	for i := range excluded {
		e := &r.trace.excluded[i]
		excluded[i] = exclusionOf{e.Candidate(), e.Score, e.Reason}
	}
	return excluded
}

// Run selects as [Pipeline.Run] does.
func (p *Prepared) Run(ctx context.Context, budget ContextBudget, opts ...RunOption) ([]*ContextItem, error) {
	return p.run(ctx, budget, collectorOf(opts), false)
}

// DryRun reports as [Pipeline.DryRun] does.
func (p *Prepared) DryRun(ctx context.Context, budget ContextBudget, opts ...RunOption) (*SelectionReport, error) {
	_, report, err := runReport(opts, func(collector TraceCollector) ([]*ContextItem, error) {
		return p.run(ctx, budget, collector, true)
	})
	return report, err
}

// RunReport selects and reports as [Pipeline.RunReport] does.
func (p *Prepared) RunReport(ctx context.Context, budget ContextBudget, opts ...RunOption) ([]*ContextItem, *SelectionReport, error) {
	return runReport(opts, func(collector TraceCollector) ([]*ContextItem, error) {
		return p.run(ctx, budget, collector, false)
	})
}

// Select returns only the positions of those candidates that are in the
// window: pinned ones first, then the others by score. It is the cheapest
// question: it builds neither window nor report, calls no observer, and does not
// ask the placer, whose failure it therefore cannot know.
func (p *Prepared) Select(ctx context.Context, budget ContextBudget) (positions []int, err error) {
	err = p.selectWith(ctx, budget, func(r *run) { positions = r.mergedCandidates() })
	return positions, err
}

// selectWith runs the stages of Select, and hands the run that knows what will be
// in the window to use, which must not keep it.
func (p *Prepared) selectWith(ctx context.Context, budget ContextBudget, use func(r *run)) error {
	if err := p.ready(); err != nil {
		return err
	}
	ctx = contextOr(ctx)
	r := p.newRun(budget, true)
	err := r.stage(ctx, StageClassify, r.recallClassified)
	if err == nil {
		err = r.stage(ctx, StageSlice, r.slice)
	}
	if err == nil {
		err = r.stage(ctx, StagePlace, r.mergeWithinTarget)
	}
	if err != nil {
		return err
	}
	use(r)
	r.free()
	return nil
}

// mergedCandidates returns what will be in the window, in the order of merging.
func (r *run) mergedCandidates() []int {
	if r.units != nil {
		return r.units.mergedCandidates()
	}
	positions := make([]int, len(r.mergedFrom))
	for i, m := range r.mergedFrom {
		positions[i] = m.candidate
	}
	return positions
}

func (p *Prepared) run(ctx context.Context, budget ContextBudget, collector TraceCollector, dry bool) ([]*ContextItem, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	r := p.newRun(budget, dry)
	return r.stages(contextOr(ctx), collector, r.recallClassified, r.recallScored, r.recallUnique, r.slice)
}

func (p *Prepared) ready() error {
	if p == nil || p.pass == nil {
		return &InvalidConfigError{Component: "Prepared", Reason: "nothing is prepared: build it with Pipeline.Prepare"}
	}
	return nil
}

// newRun returns a run that begins with what was prepared. All but the list
// that the slicer is given is shared; free knows.
func (p *Prepared) newRun(budget ContextBudget, dry bool) *run {
	r := preparedRunPool.Get().(*run)
	r.pipeline, r.prepared, r.items, r.budget, r.dry = p.pipeline, p, p.pass.items, budget, dry
	r.pinned, r.scoreable, r.pinnedTokens, r.scores = p.pass.pinned, p.pass.scoreable, p.pass.pinnedTokens, p.pass.scores
	r.unique, r.keys = p.unique, p.keys
	if p.pass.units != nil {
		r.units = unitRunPool.Get().(*unitRun)
		r.units.unitSet, r.units.sorted = p.pass.units, append(r.units.sorted[:0], p.sortedOf...)
	}
	r.sorted = append(r.sorted[:0], p.sorted...)
	return r
}

func (r *run) recallClassified(context.Context) error {
	r.recall(r.prepared.pass.negative)
	r.trace.count = len(r.pinned) + len(r.scoreable)
	return r.fitPinned()
}

func (r *run) recallScored(context.Context) error {
	r.trace.count = len(r.scoreable)
	return nil
}

func (r *run) recallUnique(context.Context) error {
	r.recall(r.prepared.duplicates)
	r.trace.count = len(r.unique)
	return nil
}

func (r *run) recall(excluded []exclusionOf) {
	if r.trace.why() {
		for _, e := range excluded {
			r.exclude(e.candidate, e.score, e.reason)
		}
	}
}

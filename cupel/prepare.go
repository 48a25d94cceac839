package cupel

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/order"
)

// Prepared is a pipeline that has already classified, scored, deduplicated and
// sorted its candidates. None of that depends on the budget, so a Prepared can
// run with many budgets. It is immutable and safe for concurrent use. Build it
// with [Pipeline.Prepare].
//
// A run of a Prepared costs only Slice, Place and what observers ask for. It
// returns exactly what the pipeline would have returned at the time of Prepare:
// window, report, partial report of a failure, error. Observers see every stage
// with the same counts, items and events, but the prepared stages take no time
// and call no strategy.
type Prepared struct {
	pipeline *Pipeline
	pass     *scoredPass
	passes   []*scoredPass // pass, and all others that [Prepared.For] may share

	unique     []int // as in run
	keys       []order.Pair
	sorted     []ScoredItem
	sortedOf   []sorted // of candidates with units, parallel to sorted
	duplicates []exclusionOf

	observed context.Context //nolint:containedctx // of the run that prepared, if that was observed
}

// scoredPass is what pipelines with the same scorer share.
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

	nearDuplicates float64 // as in Config
	anyNumbers     bool

	observed context.Context //nolint:containedctx // of the run that made the pass, if that was observed
}

// exclusionOf is a candidate that was left out during preparation.
type exclusionOf struct {
	candidate int
	score     float64
	reason    ExclusionReason
}

// Prepare runs the stages that do not depend on a budget. It copies items. The
// cost is that of the scorer plus O(N log N) for sorting.
//
// Observers see a run of its own, which ends after Deduplicate and has no budget,
// and find its context in the [RunInfo] of each run of the Prepared.
//
// It fails as [Pipeline.Run] does in these stages: with an [InvalidItemError]
// for a nil item, a [StrategyError] of the scorer, or a [CanceledError]. It
// does not check whether pinned items fit; each run does.
func (p *Pipeline) Prepare(ctx context.Context, items []*ContextItem, opts ...RunOption) (*Prepared, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	return p.prepare(ctx, slices.Clone(items), nil, nil, collectorOf(opts))
}

// For returns what pipeline.Prepare returns for the candidates of p. It does
// not call a scorer again that has scored them for p, or for a Prepared from
// which For made p; observers then see no stage before Deduplicate. Scorers are the
// same if they are equal as Go values; pointers compare by identity.
func (p *Prepared) For(ctx context.Context, pipeline *Pipeline, opts ...RunOption) (*Prepared, error) {
	if err := cmp.Or(p.ready(), pipeline.ready()); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(p.passes, func(pass *scoredPass) bool {
		return sameScorer(pass.scorer, pipeline.config.Scorer) && pass.nearDuplicates == pipeline.config.NearDuplicates && pass.anyNumbers == pipeline.config.AnyNumbers &&
			(pass.units == nil || pass.units.fullOnly == pipeline.config.FullOnly)
	})
	var pass *scoredPass
	if i >= 0 {
		pass = p.passes[i]
	}
	return pipeline.prepare(ctx, p.pass.items, pass, p.passes, collectorOf(opts))
}

func sameScorer(a, b Scorer) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// prepare prepares items, which it keeps. Without a pass it makes one.
func (p *Pipeline) prepare(ctx context.Context, items []*ContextItem, pass *scoredPass, passes []*scoredPass, collector TraceCollector) (*Prepared, error) {
	// The run owns its lists: they go into the Prepared and never into the pool.
	r := &run{pipeline: p, items: items, preparing: true}
	if pass != nil {
		r.preparation = pass.observed
	}
	r.trace.items = true
	ctx = r.observe(contextOr(ctx), collector)
	observed := r.trace.state != nil
	returning := false
	defer func() {
		if !returning {
			r.abandon(ctx)
		}
	}()
	prepared, err := r.prepare(ctx, pass, passes)
	if observed && err == nil {
		prepared.observed = ctx
		if pass == nil {
			prepared.pass.observed = ctx
		}
	}
	r.end(ctx, err)
	returning = true
	return prepared, err
}

func (r *run) prepare(ctx context.Context, pass *scoredPass, passes []*scoredPass) (*Prepared, error) {
	if pass == nil {
		var err error
		if pass, err = r.pass(ctx); err != nil {
			return nil, err
		}
		passes = append(slices.Clip(passes), pass)
	}
	r.scoreable, r.all, r.scores = pass.scoreable, pass.all, pass.scores
	if pass.units != nil {
		r.units = &unitRun{unitSet: pass.units}
	}
	earlier := len(r.trace.excluded)
	if err := r.stage(ctx, StageDeduplicate, r.deduplicate); err != nil {
		return nil, err
	}
	duplicates := r.excluded(earlier)
	r.sort()
	prepared := &Prepared{r.pipeline, pass, passes, r.unique, r.keys, r.sorted, nil, duplicates, pass.observed}
	if r.units != nil {
		prepared.sortedOf = r.units.sorted
	}
	return prepared, nil
}

// pass classifies and scores.
func (r *run) pass(ctx context.Context) (*scoredPass, error) {
	if err := r.stage(ctx, StageClassify, r.partition); err != nil {
		return nil, err
	}
	if err := r.stage(ctx, StageScore, r.score); err != nil {
		return nil, err
	}
	c := &r.pipeline.config
	pass := &scoredPass{
		scorer: c.Scorer, items: r.items, pinned: r.pinned, scoreable: r.scoreable, all: r.all, pinnedTokens: r.pinnedTokens, scores: r.scores,
		negative: r.excluded(0), nearDuplicates: c.NearDuplicates, anyNumbers: c.AnyNumbers,
	}
	if r.units != nil {
		pass.units = r.units.unitSet
	}
	return pass, nil
}

// excluded returns what the completed stages left out, in that order, except the
// first ones.
func (r *run) excluded(from int) []exclusionOf {
	list := r.trace.excluded[from:]
	excluded := make([]exclusionOf, len(list))
	for i := range excluded {
		e := &list[i]
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

// Select returns only the positions of the candidates in the window: pinned
// ones first, then the others by score. It is the cheapest query: it builds
// neither window nor report, and calls neither observers nor the placer. It
// therefore cannot report a failure of the placer.
func (p *Prepared) Select(ctx context.Context, budget ContextBudget) (positions []int, err error) {
	err = p.selectWith(ctx, budget, func(r *run) { positions = r.mergedCandidates() })
	return positions, err
}

// selectWith runs the stages of Select and calls use with the run, which knows
// what will be in the window. use must not keep the run.
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

// newRun returns a run that starts from what was prepared. It shares everything
// but the list that the slicer gets; free takes that into account.
func (p *Prepared) newRun(budget ContextBudget, dry bool) *run {
	r := preparedRunPool.Get().(*run)
	r.pipeline, r.prepared, r.items, r.budget, r.dry, r.preparation = p.pipeline, p, p.pass.items, budget, dry, p.observed
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

package pipeline

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/strategy"
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
	items    []*cupel.ContextItem
	ranked   *ranked
	passes   []pass          // that [Prepared.For] may share
	observed context.Context //nolint:containedctx // of the run that prepared, if that was observed
}

// pass is the scores of one scorer.
type pass struct {
	scorer   strategy.Scorer
	scores   []float64
	observed context.Context //nolint:containedctx // of the run that scored, if that was observed
}

// Prepare runs the stages that do not depend on a budget. It copies items. The
// cost is that of the scorer plus O(N log N) for sorting.
//
// Observers see a run of its own, which ends after Deduplicate and has no budget,
// and find its context in the [observe.RunInfo] of each run of the Prepared.
//
// It fails as [Pipeline.Run] does in these stages: with a [cupel.InvalidItemError]
// for a nil item, a [cupel.StrategyError] of the scorer, or a [CanceledError]. It
// does not check whether pinned items fit; each run does.
func (p *Pipeline) Prepare(ctx context.Context, items []*cupel.ContextItem, opts ...RunOption) (*Prepared, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	return p.prepare(ctx, slices.Clone(items), nil, settingsOf(opts).collector)
}

// For returns what pipeline.Prepare returns for the candidates of p. It does
// not call a scorer again that has scored them for p, or for a Prepared from
// which For made p; observers then see no Score. Scorers are the same if they are
// equal as Go values; pointers compare by identity.
func (p *Prepared) For(ctx context.Context, pipeline *Pipeline, opts ...RunOption) (*Prepared, error) {
	if err := cmp.Or(p.ready(), pipeline.ready()); err != nil {
		return nil, err
	}
	return pipeline.prepare(ctx, p.items, p.passes, settingsOf(opts).collector)
}

func sameScorer(a, b strategy.Scorer) bool {
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// prepare prepares items, which it keeps.
func (p *Pipeline) prepare(ctx context.Context, items []*cupel.ContextItem, passes []pass, collector observe.TraceCollector) (*Prepared, error) {
	// The run owns its lists: they go into the Prepared and never into the pool.
	r := &run{config: &p.config, items: items, ranked: new(ranked), preparing: true}
	info := observe.RunInfo{Candidates: len(items), Items: items, Preparing: true}
	if at := slices.IndexFunc(passes, func(done pass) bool { return sameScorer(done.scorer, p.config.Scorer) }); at >= 0 {
		r.scored = &passes[at]
		info.Preparation = r.scored.observed
	}
	prepared := &Prepared{pipeline: p, items: items, ranked: r.ranked, passes: slices.Clip(passes)}
	err := r.observed(ctx, collector, info, func(ctx context.Context) error {
		if r.observer.state != nil {
			prepared.observed = ctx
		}
		if err := r.rank(ctx); err != nil {
			return err
		}
		if r.scored == nil {
			prepared.passes = append(prepared.passes, pass{p.config.Scorer, r.scores, prepared.observed})
		}
		r.sort()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return prepared, nil
}

// Run selects as [Pipeline.Run] does.
func (p *Prepared) Run(ctx context.Context, budget cupel.ContextBudget, opts ...RunOption) ([]*cupel.ContextItem, error) {
	return p.start(budget, false).do(ctx, settingsOf(opts).collector)
}

// DryRun reports as [Pipeline.DryRun] does.
func (p *Prepared) DryRun(ctx context.Context, budget cupel.ContextBudget, opts ...RunOption) (*cupel.SelectionReport, error) {
	_, report, err := p.start(budget, true).withReport(ctx, opts)
	return report, err
}

// RunReport selects and reports as [Pipeline.RunReport] does.
func (p *Prepared) RunReport(ctx context.Context, budget cupel.ContextBudget, opts ...RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error) {
	return p.start(budget, false).withReport(ctx, opts)
}

// start returns a run that starts from what was prepared, and fails if nothing was.
func (p *Prepared) start(budget cupel.ContextBudget, dry bool) *run {
	if err := p.ready(); err != nil {
		return &run{failed: err}
	}
	r := newRun(p.pipeline, p.items, budget, dry)
	r.prepared, r.ranked = p, p.ranked
	return r
}

func (p *Prepared) ready() error {
	if p == nil || p.ranked == nil {
		return &cupel.InvalidConfigError{Component: "Prepared", Reason: "nothing is prepared: build it with Pipeline.Prepare"}
	}
	return nil
}

package pipeline

import (
	"context"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
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
	observed context.Context //nolint:containedctx // of the run that prepared, if that was observed
}

// Prepare runs the stages that do not depend on a budget. It copies items. It costs
// one call of the scorer plus O(N log N) for sorting.
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
	// The run owns its lists: they go into the Prepared and never into the pool.
	items = slices.Clone(items)
	r := &run{config: &p.config, items: items, ranked: new(ranked), preparing: true}
	info := observe.RunInfo{Candidates: len(items), Items: items, Preparing: true}
	prepared := &Prepared{pipeline: p, items: items, ranked: r.ranked}
	err := r.observed(ctx, settingsOf(opts).collector, info, func(ctx context.Context) error {
		if r.observer.state != nil {
			prepared.observed = ctx
		}
		if err := r.rank(ctx); err != nil {
			return err
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

package cupelinspect

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

// Selection is what a page shows of one run: the candidates, what was decided
// about each of them and why. It never changes. Get it from [Inspect] or
// [FromReport].
type Selection struct {
	items        []*cupel.ContextItem // the candidates
	contentLimit int
	err          error
	wire         wireSelection // without Candidates
}

// Err returns why the run failed, or nil when it did not. The page shows what
// the stages before had found.
func (s *Selection) Err() error {
	if s == nil {
		return nil
	}
	return s.err
}

// Inspect runs a pipeline as [cupel.Pipeline.DryRun] does and looks at it from
// all sides: the report, the time of each stage, the score of each part when
// the scorer is a [scorer.Composite] or a wrapper around one, and the selection
// at the budgets of [WithSweep]. items is neither changed nor kept.
//
// A run that fails because of what the pipeline is given, with a
// [cupel.PinnedExceedsBudgetError], a [cupel.OverflowError], a
// [cupel.ScarcityError] or a [cupel.StrategyError], is a selection too: its
// page shows the error and what was found before, and Err returns it. Inspect
// itself fails with a [cupel.InvalidConfigError] for a pipeline that was not
// built or an option, with a [cupel.InvalidItemError] for a nil item, and with
// a [cupel.CanceledError] when ctx is done.
//
// The scorer is asked up to three times: in the run, for its parts, and for
// the sweep. Composites are asked about an empty list as well, which tells the
// weights.
func Inspect(ctx context.Context, pipeline *cupel.Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget, opts ...Option) (*Selection, error) {
	settings, err := apply(opts)
	if err != nil {
		return nil, err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	watch := &runWatch{stages: []wireStage{}}
	report, err := pipeline.DryRun(ctx, items, budget, cupel.WithTrace(watch))
	if report == nil || fatal(err) != nil {
		return nil, err
	}
	config := pipeline.Config()
	l := newInspector(slices.Clone(items))
	l.prepare = sync.OnceValues(func() (*cupel.Prepared, error) { return pipeline.Prepare(ctx, l.items) })

	s := &Selection{items: l.items, contentLimit: contentLimit(l.items, settings.contentLimit), err: err}
	w := &s.wire
	w.Name = shorten(settings.name, maxDescription)
	w.Scorer = describeScorer(ctx, config.Scorer)
	w.Slicer = describeSlicer(config.Slicer)
	w.Placer = typeName(config.Placer)
	w.Deduplicate = !config.KeepDuplicates
	w.Overflow = config.Overflow.String()
	w.Budget = newBudget(budget, pinnedTokens(items))
	w.Stages, w.Total = watch.stages, watch.total
	s.explain(l, report, analysis.NewLedger(report, l.items))
	w.Parts = l.parts(ctx, config.Scorer)
	if w.Sweep, err = l.sweep(ctx, budget, settings.sweep); err != nil {
		return nil, err
	}
	w.Codes = l.codes
	if ctx.Err() != nil { // what was asked last may have given up and said nothing
		return nil, &cupel.CanceledError{Stage: cupel.StagePlace, Err: ctx.Err(), Cause: context.Cause(ctx)}
	}
	return s, nil
}

// fatal returns the error of a run that failed for a reason that is not the
// run's, and nil for any other.
func fatal(err error) error {
	_, config := errors.AsType[*cupel.InvalidConfigError](err)
	_, item := errors.AsType[*cupel.InvalidItemError](err)
	_, canceled := errors.AsType[*cupel.CanceledError](err)
	if config || item || canceled {
		return err
	}
	return nil
}

// runWatch is told of the stages of a run.
type runWatch struct {
	cupel.NoTrace
	start  time.Time
	stages []wireStage
	total  int64
}

// IsEnabled implements cupel.TraceCollector.
func (*runWatch) IsEnabled() bool { return true }

// RecordStageEvent implements cupel.TraceCollector.
func (*runWatch) RecordStageEvent(cupel.TraceEvent) {}

// RecordItemEvent implements cupel.TraceCollector.
func (*runWatch) RecordItemEvent(cupel.TraceEvent) {}

// StartRun implements cupel.RunObserver.
func (w *runWatch) StartRun(ctx context.Context, info cupel.RunInfo) (context.Context, cupel.RunTrace) {
	w.start = info.Start
	return ctx, w
}

// EndStage implements cupel.RunTrace.
func (w *runWatch) EndStage(_ context.Context, e cupel.StageEnd) {
	w.stages = append(w.stages, wireStage{
		Name: string(e.Stage), Start: nanoseconds(e.Start.Sub(w.start)), Duration: nanoseconds(e.Duration), In: e.CountIn, Out: e.CountOut,
	})
}

// EndRun implements cupel.RunTrace.
func (w *runWatch) EndRun(_ context.Context, e cupel.RunEnd) {
	w.total = nanoseconds(e.End.Sub(e.Start))
}

// nanoseconds are at least 0: a clock that goes back took no time.
func nanoseconds(d time.Duration) int64 { return max(0, d.Nanoseconds()) }

func newBudget(b cupel.ContextBudget, pinned int) wireBudget {
	w := wireBudget{
		Max:           b.MaxTokens(),
		Target:        b.TargetTokens(),
		OutputReserve: b.OutputReserve(),
		Margin:        b.EstimationSafetyMarginPercent(),
		Effective:     b.Effective(pinned).TargetTokens,
	}
	slots := b.ReservedSlots()
	if len(slots) > 0 {
		w.ReservedSlots = make(map[string]int)
	}
	for _, kind := range slices.Sorted(maps.Keys(slots)) { // long kinds may look the same when they are cut
		label := shorten(string(kind), maxLabel)
		w.ReservedSlots[label] = add(w.ReservedSlots[label], slots[kind])
	}
	return w
}

// pinnedTokens is what pinned items take before the slicer gets anything.
func pinnedTokens(items []*cupel.ContextItem) int {
	sum := 0
	for _, item := range items {
		if item.Pinned() {
			sum = add(sum, max(0, item.Tokens()))
		}
	}
	return sum
}

// add returns the sum of two numbers that are at least 0, which ends at the
// largest int.
func add(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

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
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// Selection is the part of one run that a page shows: the candidates, and the
// decision and reason for each. It is immutable. Get one from [Inspect] or
// [FromReport].
type Selection struct {
	items []*cupel.ContextItem // the candidates
	forms [][]form             // by candidate
	err   error
	wire  wireSelection // without Candidates and Forms
}

// Err returns the error of the run, or nil. The page of a failed run shows the
// results of the stages before the failure.
func (s *Selection) Err() error {
	if s == nil {
		return nil
	}
	return s.err
}

// Inspect runs a pipeline like [pipeline.Pipeline.DryRun] and records the report,
// the time of each stage, the score of each part if the scorer is a
// [scorer.Composite] or wraps one, and the selection at the budgets of
// [WithSweep]. It neither modifies nor keeps items.
//
// If the run fails with a [pipeline.PinnedExceedsBudgetError], a
// [pipeline.OverflowError], a [cupel.ScarcityError] or a [cupel.StrategyError],
// Inspect still returns a Selection: its page shows the error and the results
// so far, and Err returns the error. Inspect itself fails with a
// [cupel.InvalidConfigError] for an empty pipeline or a wrong option, with a
// [cupel.InvalidItemError] for a nil item, and with a [pipeline.CanceledError] if
// ctx is done.
//
// Inspect calls the scorer up to three times: in the run, for its parts, and
// for the sweep. It also calls a composite with an empty list, to learn the
// weights.
func Inspect(ctx context.Context, p *pipeline.Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget, opts ...Option) (*Selection, error) {
	settings, err := apply(opts)
	if err != nil {
		return nil, err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	watch := &runWatch{stages: []wireStage{}}
	report, err := p.DryRun(ctx, items, budget, pipeline.WithTrace(watch))
	if report == nil || fatal(err) != nil {
		return nil, err
	}
	l := newInspector(slices.Clone(items))
	l.swept = withoutFunctions(l.items)
	l.choose = chooserOf(ctx, p, l.swept)

	s := &Selection{items: l.items, err: err}
	w := &s.wire
	w.Name = shorten(settings.name, maxDescription)
	w.Stages, w.Total = watch.stages, watch.total
	ledger := analysis.NewLedger(report, l.items)
	s.explain(l, report, ledger)
	w.Budget = newBudget(budget, l.pinnedTokens(w.Pinned))
	s.describe(ctx, l, p)
	if err := s.finish(l, ledger, budget, settings); err != nil {
		return nil, err
	}
	if ctx.Err() != nil { // the last call may have stopped without an error
		return nil, &pipeline.CanceledError{Stage: cupel.StagePlace, Err: ctx.Err(), Cause: context.Cause(ctx)}
	}
	return s, nil
}

// describe describes the strategies of a pipeline.
func (s *Selection) describe(ctx context.Context, l *inspector, p *pipeline.Pipeline) {
	config := p.Config()
	s.wire.Scorer = describeScorer(ctx, config.Scorer)
	s.wire.Slicer = describeSlicer(config.Slicer)
	s.wire.Placer = typeName(config.Placer)
	s.wire.Deduplicate = !config.KeepDuplicates
	s.wire.Overflow = config.Overflow.String()
	s.wire.Parts = l.parts(ctx, config.Scorer)
}

// chooserOf runs a pipeline at other budgets, and with a candidate pinned.
func chooserOf(ctx context.Context, p *pipeline.Pipeline, items []*cupel.ContextItem) Choose {
	prepared := sync.OnceValues(func() (*pipeline.Prepared, error) { return p.Prepare(ctx, items) })
	return func(budget cupel.ContextBudget, pinned int) (*cupel.SelectionReport, error) {
		if pinned < 0 {
			run, err := prepared()
			if err != nil {
				return nil, err
			}
			return run.DryRun(ctx, budget)
		}
		with := slices.Clone(items)
		var err error
		if with[pinned], err = items[pinned].With(cupel.WithPinned()); err != nil {
			return nil, err
		}
		return p.DryRun(ctx, with, budget)
	}
}

// finish adds the results of the runs at other budgets and with other pins.
func (s *Selection) finish(l *inspector, ledger *analysis.Ledger, budget cupel.ContextBudget, settings settings) (err error) {
	if s.wire.Sweep, err = s.sweep(l, budget, settings.sweep); err != nil {
		return err
	}
	if err := s.rivals(l, ledger, budget); err != nil {
		return err
	}
	s.forms, s.wire.Codes, s.wire.Meanings = l.forms, l.codes, l.meanings()
	return nil
}

// fatal returns err if Inspect must return it, and nil if the page can show it.
func fatal(err error) error {
	_, config := errors.AsType[*cupel.InvalidConfigError](err)
	_, item := errors.AsType[*cupel.InvalidItemError](err)
	_, canceled := errors.AsType[*pipeline.CanceledError](err)
	if config || item || canceled {
		return err
	}
	return nil
}

// runWatch records the stages of a run.
type runWatch struct {
	observe.NoTrace
	start  time.Time
	stages []wireStage
	total  int64
}

// IsEnabled implements observe.TraceCollector.
func (*runWatch) IsEnabled() bool { return true }

// RecordStageEvent implements observe.TraceCollector.
func (*runWatch) RecordStageEvent(cupel.TraceEvent) {}

// RecordItemEvent implements observe.TraceCollector.
func (*runWatch) RecordItemEvent(cupel.TraceEvent) {}

// StartRun implements observe.RunObserver.
func (w *runWatch) StartRun(ctx context.Context, info observe.RunInfo) (context.Context, observe.RunTrace) {
	w.start = info.Start
	return ctx, w
}

// EndStage implements observe.RunTrace.
func (w *runWatch) EndStage(_ context.Context, e observe.StageEnd) {
	w.stages = append(w.stages, wireStage{
		Name: string(e.Stage), Start: nanoseconds(e.Start.Sub(w.start)), Duration: nanoseconds(e.Duration), In: e.CountIn, Out: e.CountOut,
	})
}

// EndRun implements observe.RunTrace.
func (w *runWatch) EndRun(_ context.Context, e observe.RunEnd) {
	w.total = nanoseconds(e.End.Sub(e.Start))
}

// nanoseconds are at least 0, even if the clock went back.
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
	for _, kind := range slices.Sorted(maps.Keys(slots)) { // long kinds may be equal after cutting
		label := shorten(string(kind), maxLabel)
		w.ReservedSlots[label] = add(w.ReservedSlots[label], slots[kind])
	}
	return w
}

// pinnedTokens is the number of tokens that pinned items take before the slicer
// runs. inForms is what they have in a window with units, or nil.
func (l *inspector) pinnedTokens(inForms *int) int {
	if inForms != nil {
		return *inForms
	}
	sum := 0
	for _, item := range l.items {
		if item.Pinned() {
			sum = add(sum, max(0, item.Tokens()))
		}
	}
	return sum
}

// add returns the sum of two numbers that are at least 0, capped at the largest
// int.
func add(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

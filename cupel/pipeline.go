package cupel

import (
	"context"
	"slices"
	"strconv"
	"time"
)

// Config says how a [Pipeline] selects. Scorer, Slicer and Placer are
// required; the zero value of every other field is the specification's
// default.
type Config struct {
	// Scorer ranks the candidates. Required.
	Scorer Scorer
	// Slicer selects what fits the budget. Required.
	Slicer Slicer
	// Placer orders the selected items. Required.
	Placer Placer
	// KeepDuplicates keeps all items with equal content. By default only the
	// best scored of them is kept.
	KeepDuplicates bool
	// NearDuplicates, in (0,1], drops near copies of newer items: items at least
	// this share of whose runs of four words a newer item has. 0 disables it, and
	// 0.8 is a good value. Only texts of at least 50 words are compared, and pinned
	// items never leave. A near copy in a group stays, stale. docs/units.md has the
	// rules. The cost is linear in the words of the candidates.
	NearDuplicates float64
	// AnyNumbers allows numbers to differ between near copies. By default, "total
	// 120" is no copy of "total 210".
	AnyNumbers bool
	// FullOnly ignores smaller forms: every item is in the window as it is or not
	// at all, and no older version comes back. Groups stay together all the same,
	// and of versions the newest counts.
	FullOnly bool
	// Overflow says what happens if pinned and sliced items together exceed
	// the target. The default is [OverflowThrow].
	Overflow OverflowStrategy
	// OnOverflow is called with each overflow under [OverflowProceed], by Run, in
	// the goroutine of the run, and never by DryRun. It may keep and change the
	// event; its panics are not caught. nil disables it.
	OnOverflow func(OverflowEvent)
	// Name names the pipeline for observers, such as by its purpose. A policy's
	// configuration has the policy's. It has no effect on what is selected.
	Name string
	// PolicyHash identifies, for observers, the policy that the configuration was made
	// from. It is empty for others, and has no effect on what is selected.
	PolicyHash string
	// Clock tells the time to reports and observers; a run without an observer does
	// not call it. It is called from several goroutines at once. nil means
	// [time.Now]. Observers may ask for the real time instead, see [TraceDetail].
	Clock func() time.Time
}

// validate returns everything that is wrong, in the order of the fields.
func (c Config) validate() error {
	var problems []error
	check := func(field, example string, strategy any, validate func() error) {
		if isNil(strategy) {
			problems = append(problems, &InvalidConfigError{Component: "Config", Field: field, Reason: "a strategy is required here, for example " + example})
		} else if err := validate(); err != nil {
			problems = append(problems, err)
		}
	}
	check("Scorer", "scorer.Recency{}", c.Scorer, func() error { return ValidateScorer(c.Scorer) })
	check("Slicer", "slicer.Greedy{}", c.Slicer, func() error { return ValidateSlicer(c.Slicer) })
	check("Placer", "placer.Chronological{}", c.Placer, func() error { return validateOne("placer", c.Placer) })
	if !(c.NearDuplicates >= 0 && c.NearDuplicates <= 1) {
		problems = append(problems, &InvalidConfigError{Component: "Config", Field: "NearDuplicates", Value: strconv.FormatFloat(c.NearDuplicates, 'g', -1, 64), Reason: "must be at least 0 and at most 1"})
	}
	if c.Overflow > OverflowProceed {
		problems = append(problems, &InvalidConfigError{Component: "Config", Field: "Overflow", Value: c.Overflow.String(), Reason: "overflow strategy is unknown"})
	}
	return join(problems)
}

// Pipeline selects context. It always runs the same stages in the same order:
// classify, score, deduplicate, sort, slice, place. A pipeline never changes
// and is safe for concurrent use.
//
// It implements the Pipeline chapter of the specification.
type Pipeline struct {
	config    Config
	realClock bool // Config.Clock is the default
}

// New returns a pipeline, or everything that is wrong with config: an
// [InvalidConfigError] for each setting, joined when there are several. It asks
// every strategy to validate itself, through its wrappers.
func New(config Config) (*Pipeline, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	realClock := config.Clock == nil
	if realClock {
		config.Clock = time.Now
	}
	return &Pipeline{config, realClock}, nil
}

// RunOption is a setting of one run. It is a plain value: passing one does not
// allocate.
type RunOption struct {
	trace TraceCollector
}

// WithTrace sends the events of the run to collector. nil and a disabled collector
// cost nothing. If it is given several times, the last one wins;
// [MultiTraceCollector] combines collectors.
func WithTrace(collector TraceCollector) RunOption { return RunOption{trace: collector} }

// Run selects the items that fit the budget and returns them in prompt order. It
// neither changes nor retains items, which must not change during the run. The
// cost is that of the strategies plus O(N log N) for sorting.
//
// It fails with an [InvalidItemError] for a nil item, a
// [PinnedExceedsBudgetError], an [OverflowError] under [OverflowThrow], a
// [ScarcityError] of a count slicer, a [StrategyError] of a strategy that
// misbehaves, or a [CanceledError] if ctx is done.
func (p *Pipeline) Run(ctx context.Context, items []*ContextItem, budget ContextBudget, opts ...RunOption) ([]*ContextItem, error) {
	return p.run(ctx, items, budget, collectorOf(opts), false)
}

// DryRun selects as [Pipeline.Run] does and returns the report instead of the
// items. It does not call the overflow observer. If the run fails, DryRun returns
// the error and a report with the results of the earlier stages.
func (p *Pipeline) DryRun(ctx context.Context, items []*ContextItem, budget ContextBudget, opts ...RunOption) (*SelectionReport, error) {
	_, report, err := runReport(opts, func(collector TraceCollector) ([]*ContextItem, error) {
		return p.run(ctx, items, budget, collector, true)
	})
	return report, err
}

// RunReport is [Pipeline.Run] and also returns the report of the run. If the run
// fails, the window is nil and the report has the results of the earlier stages.
func (p *Pipeline) RunReport(ctx context.Context, items []*ContextItem, budget ContextBudget, opts ...RunOption) ([]*ContextItem, *SelectionReport, error) {
	return runReport(opts, func(collector TraceCollector) ([]*ContextItem, error) {
		return p.run(ctx, items, budget, collector, false)
	})
}

// runReport returns what run does, with its report.
func runReport(opts []RunOption, run func(TraceCollector) ([]*ContextItem, error)) ([]*ContextItem, *SelectionReport, error) {
	diagnostic := NewDiagnosticTraceCollector()
	var collector TraceCollector = diagnostic
	if other := collectorOf(opts); other != nil {
		collector = MultiTraceCollector(diagnostic, other)
	}
	window, err := run(collector)
	return window, diagnostic.takeReport(), err
}

// collectorOf returns the last collector given, or nil.
func collectorOf(opts []RunOption) TraceCollector {
	for _, opt := range slices.Backward(opts) {
		if !isNil(opt.trace) {
			return opt.trace
		}
	}
	return nil
}

// Config returns the settings that the pipeline was made with.
func (p *Pipeline) Config() Config {
	if p == nil {
		return Config{}
	}
	return p.config
}

func (p *Pipeline) run(ctx context.Context, items []*ContextItem, budget ContextBudget, collector TraceCollector, dry bool) ([]*ContextItem, error) {
	if err := p.ready(); err != nil {
		return nil, err
	}
	r := newRun(p, items, budget, dry)
	return r.stages(contextOr(ctx), collector, r.classify, r.score, r.deduplicate, r.sortAndSlice)
}

func (p *Pipeline) ready() error {
	if p == nil || p.config.Clock == nil {
		return &InvalidConfigError{Component: "Pipeline", Reason: "the pipeline is empty: build it with New"}
	}
	return nil
}

func contextOr(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// stages runs the stages in order. Those that a [Prepared] has already run are
// parameters.
func (r *run) stages(ctx context.Context, collector TraceCollector, classify, score, deduplicate, slice func(context.Context) error) ([]*ContextItem, error) {
	ctx = r.observe(ctx, collector)
	returning := false
	defer func() {
		if !returning { // r may be in use by another run otherwise
			r.abandon(ctx)
		}
	}()

	err := r.stage(ctx, StageClassify, classify)
	if err == nil {
		err = r.stage(ctx, StageScore, score)
	}
	if err == nil {
		err = r.stage(ctx, StageDeduplicate, deduplicate)
	}
	if err == nil {
		err = r.stage(ctx, StageSlice, slice)
	}
	if err == nil {
		err = r.stage(ctx, StagePlace, r.place)
	}

	r.end(ctx, err)
	returning = true
	if err != nil {
		return nil, err
	}
	window := r.window
	r.free()
	return window, nil
}

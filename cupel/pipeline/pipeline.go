// Package pipeline selects the context for a language model: it scores candidate
// items, drops those that do not fit a budget, and orders the rest for the prompt.
//
//	selector, err := pipeline.New(pipeline.Config{
//		Scorer: scorer.Recency{},       // what is relevant
//		Slicer: slicer.Greedy{},        // what fits
//		Placer: placer.Chronological{}, // in which order
//	})
//	window, report, err := selector.RunReport(ctx, items, budget)
//	for _, out := range report.Excluded {
//		fmt.Println(out.Item, out.Reason)
//	}
//
// A [Config] holds the settings, a [Pipeline] runs them, and a [Prepared] has scored
// its candidates already, for runs with many budgets. A [Choice] of a Prepared names
// the budgets that give the same selection. [Pipeline.RunStream] selects from items as
// they arrive, in bounded memory.
//
// Each run has the same stages:
//
//  1. Classify. Items with a negative token count leave. Pinned items skip everything
//     up to Place; together they must fit the ceiling.
//  2. Score. The scorer rates each item.
//  3. Deduplicate. Of items with equal content, the one with the best score stays.
//  4. Sort. Highest score first, ties in the order of the candidates.
//  5. Slice. The slicer selects items that fit the budget.
//  6. Place. Pinned and selected items are merged, an overflow is handled, and the
//     placer orders them for the prompt.
//
// A run fails with a typed error: [PinnedExceedsBudgetError], [OverflowError],
// [CanceledError], [ContentError] of a smaller form, [SourceError] of a stream, or an
// error of a strategy, which names it.
package pipeline

import (
	"context"
	"strconv"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/value"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Config holds the settings of a [Pipeline]. Scorer, Slicer and Placer are
// required; the zero value of every other field is the specification's default.
type Config struct {
	// Scorer ranks the candidates. Required.
	Scorer strategy.Scorer
	// Slicer selects what fits the budget. Required.
	Slicer strategy.Slicer
	// Placer orders the selected items. Required.
	Placer strategy.Placer
	// KeepDuplicates keeps all items with equal content. By default only the one with
	// the best score is kept.
	KeepDuplicates bool
	// NearDuplicates, in (0,1], drops an item when a newer item contains at least this
	// share of its four-word sequences. 0 disables it, and 0.8 is a good value. Only
	// texts of at least 50 words are compared, and pinned items never leave. A near copy
	// in a group stays, stale. docs/spec/units.md has the rules. The cost is linear in
	// the words of the candidates.
	NearDuplicates float64
	// Overflow decides what happens if pinned and sliced items together exceed
	// the target. The default is [OverflowThrow].
	Overflow OverflowStrategy
	// OnOverflow is called with each overflow under [OverflowProceed], by Run, in
	// the goroutine of the run, and never by DryRun. It may keep and change the
	// event; its panics are not caught. nil disables it.
	OnOverflow func(cupel.OverflowEvent)
	// Name names the pipeline for observers, for example after its purpose. A Config
	// built from a policy carries the policy's name. It has no effect on what is
	// selected.
	Name string
	// PolicyHash identifies, for observers, the policy that the configuration was made
	// from. It is empty for others, and has no effect on what is selected.
	PolicyHash string
	// Clock tells the time to reports and observers; a run without an observer does
	// not call it. It is called from several goroutines at once. nil means
	// [time.Now].
	Clock func() time.Time
}

// validate returns everything that is wrong, in the order of the fields.
func (c Config) validate() error {
	problems := strategy.Problems{Component: "Config"}
	check := func(field, example string, s any, invalid error) {
		if value.IsNil(s) {
			problems.Add(field, "", "a strategy is required here, for example "+example)
		} else {
			problems.AddError(invalid)
		}
	}
	check("Scorer", "scorer.Recency{}", c.Scorer, strategy.ValidateScorer(c.Scorer))
	check("Slicer", "slicer.Greedy{}", c.Slicer, strategy.ValidateSlicer(c.Slicer))
	check("Placer", "placer.Chronological{}", c.Placer, strategy.ValidatePlacer(c.Placer))
	if !(c.NearDuplicates >= 0 && c.NearDuplicates <= 1) { // written so that NaN fails
		problems.Add("NearDuplicates", strconv.FormatFloat(c.NearDuplicates, 'g', -1, 64), "must be at least 0 and at most 1")
	}
	if c.Overflow > OverflowProceed {
		problems.Add("Overflow", c.Overflow.String(), "overflow strategy is unknown")
	}
	return problems.Err()
}

// Pipeline selects context. It always runs the same stages in the same order:
// classify, score, deduplicate, sort, slice, place. A pipeline never changes
// and is safe for concurrent use.
//
// It implements the Pipeline chapter of the specification.
type Pipeline struct {
	config Config
}

// New returns a pipeline, or everything that is wrong with config: a
// [cupel.InvalidConfigError] for each setting, joined when there are several. It
// asks every strategy to validate itself, through its wrappers.
func New(config Config) (*Pipeline, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	if config.Clock == nil {
		config.Clock = time.Now
	}
	return &Pipeline{config}, nil
}

// RunOption is a setting of one run.
type RunOption func(*runSettings)

type runSettings struct {
	collector observe.TraceCollector
	batchSize int
}

// WithTrace sends the events of the run to collector. nil and a disabled collector
// cost nothing. If it is given several times, the last one that is not nil wins;
// [observe.Multi] combines collectors.
func WithTrace(collector observe.TraceCollector) RunOption {
	return func(s *runSettings) {
		if !value.IsNil(collector) {
			s.collector = collector
		}
	}
}

func settingsOf(opts []RunOption) runSettings {
	s := runSettings{batchSize: defaultBatchSize}
	for _, opt := range opts {
		if opt != nil {
			opt(&s)
		}
	}
	return s
}

// Run selects the items that fit the budget and returns them in prompt order. It
// neither changes nor retains items, which must not change during the run. It costs
// one call of each strategy plus O(N log N) for sorting.
//
// It fails with a [cupel.InvalidItemError] for a nil item, a
// [PinnedExceedsBudgetError], an [OverflowError] under [OverflowThrow], a
// [cupel.ScarcityError] of a count slicer, a [cupel.StrategyError] of a strategy
// that misbehaves, or a [CanceledError] if ctx is done.
func (p *Pipeline) Run(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, opts ...RunOption) ([]*cupel.ContextItem, error) {
	return p.start(items, budget, false).do(ctx, settingsOf(opts).collector)
}

// DryRun selects as [Pipeline.Run] does and returns the report instead of the
// items. It does not call the overflow observer. If the run fails, DryRun returns
// the error and a report with the results of the earlier stages.
func (p *Pipeline) DryRun(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, opts ...RunOption) (*cupel.SelectionReport, error) {
	_, report, err := p.start(items, budget, true).withReport(ctx, opts)
	return report, err
}

// RunReport is [Pipeline.Run] and also returns the report of the run. If the run
// fails, the window is nil and the report has the results of the earlier stages.
func (p *Pipeline) RunReport(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, opts ...RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error) {
	return p.start(items, budget, false).withReport(ctx, opts)
}

// start returns a run of items, which fails if the pipeline is empty.
func (p *Pipeline) start(items []*cupel.ContextItem, budget cupel.ContextBudget, dry bool) *run {
	if err := p.ready(); err != nil {
		return &run{failed: err}
	}
	return newRun(p, items, budget, dry)
}

// withReport runs, and returns what do returns and the report.
func (r *run) withReport(ctx context.Context, opts []RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error) {
	diagnostic := observe.NewDiagnosticTraceCollector()
	var collector observe.TraceCollector = diagnostic
	if other := settingsOf(opts).collector; other != nil {
		collector = observe.Multi(diagnostic, other)
	}
	window, err := r.do(ctx, collector)
	return window, diagnostic.BuildReport(), err
}

// Config returns the settings that the pipeline was made with.
func (p *Pipeline) Config() Config {
	if p == nil {
		return Config{}
	}
	return p.config
}

func (p *Pipeline) ready() error {
	if p == nil || p.config.Clock == nil {
		return &cupel.InvalidConfigError{Component: "Pipeline", Reason: "the pipeline is empty: build it with New"}
	}
	return nil
}

func contextOr(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// do runs the stages in order and returns the window.
func (r *run) do(ctx context.Context, collector observe.TraceCollector) ([]*cupel.ContextItem, error) {
	if r.failed != nil {
		return nil, r.failed
	}
	info := observe.RunInfo{Candidates: len(r.items), Items: r.items, DryRun: r.dry}
	if r.prepared != nil {
		info.Prepared, info.Preparation = true, r.prepared.observed
	}
	if err := r.observed(ctx, collector, info, r.runStages); err != nil {
		return nil, err
	}
	window := r.window
	r.free()
	return window, nil
}

// observed tells the collector of the start and of the end of what do does, even if a
// panic or runtime.Goexit unwinds it.
func (r *run) observed(ctx context.Context, collector observe.TraceCollector, info observe.RunInfo, do func(ctx context.Context) error) error {
	ctx = r.observe(contextOr(ctx), collector, info)
	returning := false
	defer func() {
		if !returning { // r may be in use by another run otherwise
			r.abandon(ctx)
		}
	}()
	err := do(ctx)
	r.end(ctx, err)
	returning = true
	return err
}

func (r *run) runStages(ctx context.Context) error {
	err := r.rank(ctx)
	if err == nil {
		err = r.whole(ctx, slice, r.ranking.Unique, r.slice)
	}
	if err == nil {
		err = r.whole(ctx, place, r.set.NumPinned()+r.chosen, r.place)
	}
	return err
}

// rank runs the stages before Slice.
func (r *run) rank(ctx context.Context) error {
	err := r.whole(ctx, classify, len(r.items), r.classify)
	if err == nil {
		err = r.whole(ctx, score, len(r.set.Scoreable), r.score)
	}
	if err == nil {
		err = r.whole(ctx, deduplicate, len(r.set.Scoreable), r.deduplicate)
	}
	return err
}

// whole runs a stage that is entered once.
func (r *run) whole(ctx context.Context, stage stageNumber, in int, do func(ctx context.Context) (int, error)) error {
	err := r.stage(ctx, stage, in, do)
	r.endStage(stage)
	return err
}

// OverflowStrategy decides what happens if pinned and sliced items together
// exceed the target.
//
// It implements the Enumerations chapter of the specification.
type OverflowStrategy uint8

// The overflow strategies. The zero value is the specification's default.
const (
	OverflowThrow    OverflowStrategy = iota // fail with an [OverflowError]
	OverflowTruncate                         // drop the lowest scored items that are not pinned
	OverflowProceed                          // keep everything and notify the observer
)

// String returns the specification's name: "Throw", "Truncate" or "Proceed".
func (s OverflowStrategy) String() string {
	names := []string{"Throw", "Truncate", "Proceed"}
	if int(s) < len(names) {
		return names[s]
	}
	return "OverflowStrategy(" + strconv.Itoa(int(s)) + ")"
}

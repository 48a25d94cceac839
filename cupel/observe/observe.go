// Package observe defines the interfaces of observers of runs, and collectors that
// implement them.
//
//	collector := observe.NewDiagnosticTraceCollector(observe.WithDetailLevel(observe.TraceDetailItem))
//	window, err := selector.Run(ctx, items, budget, pipeline.WithTrace(collector))
//	fmt.Print(collector.BuildReport())
//
// A [TraceCollector] receives the events of a run. A [RunObserver], such as the
// collectors of the module cupelotel, also receives contexts and times: it gets a
// [RunInfo] and returns a [RunTrace], which embeds [NoTrace], asks for its
// [TraceDetail], and gets [StageStart], [StageEnd] with each [ReasonCount], and [RunEnd]
// with each [Decision]. A [Redaction] states which [Part] of a run an observer shows.
//
// A [DiagnosticTraceCollector], with its [DiagnosticOption] settings, records events at
// a [TraceDetailLevel] and builds a report. [Multi] makes one collector of several, and
// [NullTraceCollector] is disabled. Package turn observes the turns of a session.
package observe

import (
	"context"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// TraceCollector receives the events of one run. A collector that also
// implements [RunObserver] receives starts, real times and contexts as well.
//
// The pipeline calls it from the goroutine of the run, and does not recover its
// panics.
//
// It implements the TraceCollector chapter of the specification.
type TraceCollector interface {
	// IsEnabled reports whether the collector wants events. It is called at the
	// start of a run; if it returns false, no event is built and nothing else
	// is called.
	IsEnabled() bool
	// RecordStageEvent is called once for each completed stage.
	RecordStageEvent(event cupel.TraceEvent)
	// RecordItemEvent is called for each item included or left out, and for each
	// shortfall, before the event of the stage that decided.
	RecordItemEvent(event cupel.TraceEvent)
}

// NullTraceCollector is a collector that is never enabled. A run with it costs
// the same as a run without a collector.
type NullTraceCollector struct{}

// IsEnabled returns false.
func (NullTraceCollector) IsEnabled() bool { return false }

// RecordStageEvent does nothing.
func (NullTraceCollector) RecordStageEvent(cupel.TraceEvent) {}

// RecordItemEvent does nothing.
func (NullTraceCollector) RecordItemEvent(cupel.TraceEvent) {}

// RunObserver is an optional interface of a [TraceCollector], found by type
// assertion. It follows runs with their contexts, real start and end times,
// counts in and out, and failures.
type RunObserver interface {
	// StartRun is called before the first stage. It returns the context for the
	// rest of the run (nil for the same one) and the state that follows this
	// run. If the state is nil, the run is not observed: nothing more is built,
	// and the methods of TraceCollector are not called either. A state that is
	// itself a TraceCollector receives the events in place of the collector.
	StartRun(ctx context.Context, info RunInfo) (context.Context, RunTrace)
}

// RunInfo describes a run at its start.
type RunInfo struct {
	Start      time.Time // by the pipeline's clock
	Candidates int       // number of candidates; 0 for a streaming run, which cannot know
	// Items lists the candidates in their order. It is for StartRun alone, which must
	// not change it; nil for a streaming run.
	Items     []*cupel.ContextItem
	Budget    cupel.ContextBudget
	DryRun    bool // true for a dry run, which returns the report alone
	Streaming bool // true for a streaming run
	Prepared  bool // true for a run that uses prepared stages
	Preparing bool // true for a run that only prepares, which ends after Deduplicate and has no budget
	// Preparation is the context that StartRun returned for the run that prepared this
	// one, with the values that observers put there. It is nil if that run was not
	// observed, and for runs that were not prepared.
	Preparation context.Context //nolint:containedctx // of another run
	Pipeline    string          // the name in the pipeline's Config; may be empty
	PolicyHash  string          // as in the pipeline's Config; may be empty
}

// RunTrace follows one run. Implementations embed [NoTrace], so that methods
// can be added to this interface.
type RunTrace interface {
	// Detail returns the detail to build for this run. It is asked once, after StartRun.
	Detail() TraceDetail
	// StartStage is called when a stage starts. It returns the context for the
	// stage's strategy (nil for the run's), which EndStage receives too. Stages
	// run one after another, except in a streaming run, where the first four
	// overlap: all of them start before the first one ends.
	StartStage(ctx context.Context, s StageStart) context.Context
	// EndStage is called when a started stage has ended, or has failed with
	// e.Err. If e.Err is an [AbandonedError], runtime.Goexit or a panic that
	// the pipeline does not catch is unwinding the run; a panic of EndStage is
	// then dropped.
	EndStage(ctx context.Context, e StageEnd)
	// EndRun is called last, even if the run failed or is being unwound.
	EndRun(ctx context.Context, e RunEnd)

	embedNoTrace()
}

// NoTrace is a [RunTrace] that asks for nothing and does nothing, for
// embedding.
type NoTrace struct{}

// Detail asks for nothing beyond times and counts.
func (NoTrace) Detail() TraceDetail { return TraceDetail{} }

// StartStage returns ctx.
func (NoTrace) StartStage(ctx context.Context, _ StageStart) context.Context { return ctx }

// EndStage does nothing.
func (NoTrace) EndStage(context.Context, StageEnd) {}

// EndRun does nothing.
func (NoTrace) EndRun(context.Context, RunEnd) {}

func (NoTrace) embedNoTrace() {}

// TraceDetail selects the details to build for an observer. The zero value asks
// only for times and counts, which cost almost nothing.
type TraceDetail struct {
	Reasons    bool // StageEnd.Reasons; these cost almost nothing
	Exclusions bool // StageEnd.Excluded
	Items      bool // StageEnd.Excluded and StageEnd.Included
	ItemEvents bool // an item event for each item, through RecordItemEvent
	Report     bool // RunEnd.Report
	Decisions  bool // RunEnd.Decisions, at a fraction of the cost of Items
}

// StageStart describes a stage that starts.
type StageStart struct {
	Stage   cupel.PipelineStage
	Start   time.Time // by the pipeline's clock
	CountIn int       // items entering the stage; 0 where a streaming run does not know yet
}

// StageEnd describes a stage that has ended or failed. Observers share its lists: they
// must not change them, and must copy what they keep beyond EndStage.
type StageEnd struct {
	Stage cupel.PipelineStage
	Start time.Time // the same reading as in [StageStart]
	End   time.Time // by the same clock
	// Duration is the time spent in the stage. It is End - Start, except in a
	// streaming run, which goes through the stages once for each batch.
	Duration time.Duration
	CountIn  int // items entering the stage
	CountOut int // items leaving the stage; 0 when it failed
	// Reasons counts the items that this stage left out, by the code of their
	// reason, in the order in which the codes first occurred. It is nil unless
	// [TraceDetail.Reasons] is set.
	Reasons []ReasonCount
	// Excluded lists the items that this stage left out, in the order in which
	// the stage considered them. That is the order of the candidates, except at
	// [cupel.StageSlice], which lists what the slicer itself dropped and then the
	// others by score, and at [cupel.StagePlace], which lists them by score. It is nil
	// unless [TraceDetail.Items] or Exclusions is set.
	Excluded []cupel.ExcludedItem
	// Included lists the items of the window, in placed order, at the end of
	// [cupel.StagePlace]. It is nil unless [TraceDetail.Items] is set.
	Included []cupel.IncludedItem
	Err      error // why the stage failed, or nil
}

// ReasonCount is the number of items that a stage left out for one reason.
type ReasonCount struct {
	Code  cupel.ExclusionCode // any string if a custom slicer gave it
	Items int                 // at least 1
}

// RunEnd describes a run that has ended or failed.
type RunEnd struct {
	Start          time.Time // the same moment as in [RunInfo]
	End            time.Time // by the clock of the stages
	Selected       int       // items in the window; 0 when the run failed
	SelectedTokens int       // their tokens, clamped to the range of int
	// Shortfalls lists the kinds with too few candidates; nil when the run failed. It
	// must not be changed.
	Shortfalls []cupel.CountRequirementShortfall
	// Overflow is the number of tokens by which the window exceeds the target, which
	// only the overflow strategy Proceed allows; 0 when the run failed.
	Overflow int
	// Report is nil unless [TraceDetail.Report] is set. The observer owns it.
	// If the run failed, it holds what the earlier stages found. Its Events are
	// empty: they went to the collector.
	Report *cupel.SelectionReport
	// Decisions has one entry for each candidate, in their order. Observers may keep it
	// but must not change it. It is nil unless [TraceDetail.Decisions] is set, when the
	// run failed, and for streaming runs.
	Decisions []Decision
	Err       error // why the run failed, or nil
}

// Decision is a run's decision about a candidate.
type Decision struct {
	Score float64 // its own, even in a group; 1 for pinned items, 0 for items that were not scored
	Place int32   // in the window, from 1; 0 for an item that was left out
	Form  int32   // in the window, as [cupel.IncludedItem.Form] counts
}

// AbandonedError reports to observers that a run never returned: either something
// in it called [runtime.Goexit], or another collector or a function of the
// pipeline's Config panicked, which the pipeline does not catch. A
// run itself cannot return it.
type AbandonedError struct {
	Stage cupel.PipelineStage // the stage that ran, or "" between two of them
}

func (e *AbandonedError) Error() string {
	if e.Stage == "" {
		return "cupel: the run was abandoned"
	}
	return "cupel: the run was abandoned in stage " + string(e.Stage)
}

package cupel

import (
	"context"
	"time"
)

// PipelineStage names a stage that emits diagnostics. Sorting belongs to
// [StageSlice]. Reports of other implementations may carry stages that are not
// listed here.
//
// It implements the Events chapter of the specification.
type PipelineStage string

// The stages, in the order in which they run.
const (
	StageClassify    PipelineStage = "Classify"
	StageScore       PipelineStage = "Score"
	StageDeduplicate PipelineStage = "Deduplicate"
	StageSlice       PipelineStage = "Slice"
	StagePlace       PipelineStage = "Place"
)

// TraceEvent is what a pipeline tells about a stage or about one item.
//
// It implements the Events chapter of the specification.
type TraceEvent struct {
	Stage      PipelineStage
	DurationMS float64 // wall-clock duration of the stage in milliseconds; 0 for an item
	ItemCount  int     // items leaving the stage; 1 for an item
	Message    string  // "" when there is none; for an item it starts with the reason's name
	extra      *extraFields
}

// TraceCollector receives the events of one run. A collector that also is a
// [RunObserver] also receives starts, real times and contexts.
//
// Calls come from the goroutine of the run. A panic of a collector is not
// caught.
//
// It implements the TraceCollector chapter of the specification.
type TraceCollector interface {
	// IsEnabled reports whether anybody listens. It is asked at the start of a
	// run; when it says no, no event is built and nothing else is called.
	IsEnabled() bool
	// RecordStageEvent is called once for each stage that was completed.
	RecordStageEvent(event TraceEvent)
	// RecordItemEvent is called for each item included or left out, and for each
	// shortfall, before the event of the stage that decided.
	RecordItemEvent(event TraceEvent)
}

// NullTraceCollector is the collector that is not enabled. A run with it costs
// the same as a run without any.
type NullTraceCollector struct{}

// IsEnabled returns false.
func (NullTraceCollector) IsEnabled() bool { return false }

// RecordStageEvent does nothing.
func (NullTraceCollector) RecordStageEvent(TraceEvent) {}

// RecordItemEvent does nothing.
func (NullTraceCollector) RecordItemEvent(TraceEvent) {}

// RunObserver is an optional interface of a [TraceCollector], found by type
// assertion: it observes runs with their contexts, real start and end times,
// counts in and out, and failures.
type RunObserver interface {
	// StartRun is called before the first stage. It returns the context that
	// the run goes on with (nil: the same), and the state that follows this
	// run. When that is nil the run is not observed: nothing more is built, and
	// not even the methods of TraceCollector are called. A state that is a
	// TraceCollector itself receives the events in place of the collector.
	StartRun(ctx context.Context, info RunInfo) (context.Context, RunTrace)
}

// RunInfo describes a run that starts.
type RunInfo struct {
	Start      time.Time // by the pipeline's clock
	Candidates int       // number of candidates; 0 for a streaming run, which cannot know
	Budget     ContextBudget
	DryRun     bool // true for [Pipeline.DryRun]
	Streaming  bool // true for [Pipeline.RunStream]
}

// RunTrace follows one run. Implementations embed [NoTrace], so that methods
// can be added to this interface.
type RunTrace interface {
	// Detail says what to build for this run. It is asked once, after StartRun.
	Detail() TraceDetail
	// StartStage is called when a stage starts and returns the context that
	// the stage's strategy is given (nil: the run's). EndStage gets it as well.
	// Stages follow each other, but in a streaming run the first four overlap:
	// all of them start before the first one ends.
	StartStage(ctx context.Context, s StageStart) context.Context
	// EndStage is called for each stage that was started, when it has ended or
	// failed with e.Err. An [AbandonedError] there means that a panic which is
	// not caught, or runtime.Goexit, is unwinding the run: a panic of EndStage
	// is dropped then.
	EndStage(ctx context.Context, e StageEnd)
	// EndRun is called last, also for a run that failed or is unwound.
	EndRun(ctx context.Context, e RunEnd)

	embedNoTrace()
}

// NoTrace is a [RunTrace] that wants nothing and does nothing, for embedding.
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

// TraceDetail says what an observer wants built. The zero value asks for times
// and counts only, which cost next to nothing.
type TraceDetail struct {
	Reasons    bool // StageEnd.Reasons, which cost next to nothing too
	Items      bool // StageEnd.Excluded and StageEnd.Included
	ItemEvents bool // an item event for each item, through RecordItemEvent
	Report     bool // RunEnd.Report
}

// StageStart describes a stage that starts.
type StageStart struct {
	Stage   PipelineStage
	Start   time.Time // by the pipeline's clock
	CountIn int       // items entering the stage; 0 where a streaming run does not know yet
}

// StageEnd describes a stage that has ended or failed.
type StageEnd struct {
	Stage PipelineStage
	Start time.Time // the same reading as in [StageStart]
	End   time.Time // by the pipeline's clock
	// Duration is the time spent in the stage. It is End - Start, but for a
	// streaming run: that goes through the stages with one batch after the other
	// (see [Pipeline.RunStream]).
	Duration time.Duration
	CountIn  int // items entering the stage
	CountOut int // items leaving the stage; 0 when it failed
	// Reasons counts the items that this stage left out by the code of their
	// reason, in the order in which the codes first occurred. It is the
	// observer's own, and nil unless [TraceDetail.Reasons] asked for it.
	Reasons []ReasonCount
	// Excluded are the items that this stage left out, in the order in which it
	// looked at them: that of the candidates, at [StageSlice] first those that
	// the slicer itself dropped and then the others by score, and at
	// [StagePlace] by score. It is the observer's own, and nil unless
	// [TraceDetail.Items] asked for it.
	Excluded []ExcludedItem
	// Included are the items of the window, in placed order, at the end of
	// [StagePlace]. It is the observer's own, and nil unless
	// [TraceDetail.Items] asked for it.
	Included []IncludedItem
	Err      error // why the stage failed, or nil
}

// ReasonCount is the number of items that a stage left out for one reason.
type ReasonCount struct {
	Code  ExclusionCode // of a custom slicer, any string
	Items int           // at least 1
}

// RunEnd describes a run that has ended or failed.
type RunEnd struct {
	Start          time.Time // the same reading as in [RunInfo]
	End            time.Time // by the pipeline's clock
	Selected       int       // items in the window; 0 when the run failed
	SelectedTokens int       // their tokens, clamped to the range of int
	// Report is the observer's own, and nil unless [TraceDetail.Report] asked
	// for it. That of a run that failed holds what the stages before had found.
	// Its Events are empty: they went to the collector.
	Report *SelectionReport
	Err    error // why the run failed, or nil
}

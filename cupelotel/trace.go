package cupelotel

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/trace"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
)

var (
	_ observe.TraceCollector = (*TraceCollector)(nil)
	_ observe.RunObserver    = (*TraceCollector)(nil)
	_ observe.RunTrace       = (*traceRun)(nil)
)

// TraceCollector makes a tree of spans for each run it is passed to. Create it
// with [NewTraceCollector]. It stores nothing about a run; one collector serves
// any number of concurrent runs.
//
// If the root span does not record, because it was sampled out or tracing is
// not set up, the run continues as if it had no collector. Spans that its
// strategies start still find the sampling decision in their context.
//
// It implements the OpenTelemetry Integration chapter of the specification.
type TraceCollector struct {
	provider  trace.TracerProvider // nil: the global one
	verbosity Verbosity
	limit     int // negative: none
	redact    Redactor
	which     which
	itemAttrs []func(*cupel.ContextItem) []attribute.KeyValue

	pipelineClock bool

	logs         bool               // make log records
	loggers      log.LoggerProvider // nil: the global one
	noSpanEvents bool
	recording    *recordingConfig // nil for none

	tracers  memo[trace.TracerProvider, trace.Tracer]
	loggerOf memo[log.LoggerProvider, log.Logger]
}

// NewTraceCollector returns a collector. By default it makes spans with the
// global TracerProvider at [VerbosityStageOnly].
func NewTraceCollector(opts ...TraceOption) *TraceCollector {
	c := &TraceCollector{limit: DefaultEventLimit}
	for _, opt := range opts {
		if opt != nil {
			opt.applyTrace(c)
		}
	}
	return c
}

// IsEnabled returns true, except for a nil collector. Whether a run is recorded
// is only known once its root span has started.
func (c *TraceCollector) IsEnabled() bool { return c != nil }

// RecordStageEvent does nothing: the observer that StartRun returns makes the
// spans.
func (*TraceCollector) RecordStageEvent(cupel.TraceEvent) {}

// RecordItemEvent does nothing.
func (*TraceCollector) RecordItemEvent(cupel.TraceEvent) {}

// tracer returns the tracer of the provider.
func (c *TraceCollector) tracer() trace.Tracer {
	provider := c.provider
	if provider == nil {
		provider = otel.GetTracerProvider()
	}
	return c.tracers.get(provider, func(p trace.TracerProvider) trace.Tracer {
		return p.Tracer(ScopeName, trace.WithInstrumentationVersion(Version), trace.WithSchemaURL(schemaURL))
	})
}

// StartRun implements [observe.RunObserver].
func (c *TraceCollector) StartRun(ctx context.Context, info observe.RunInfo) (context.Context, observe.RunTrace) {
	if !c.which.observes(ctx, info) {
		return ctx, nil
	}
	tracer := c.tracer()
	parent := c.inTurn(callerContext(ctx, c, info))
	caller := trace.SpanFromContext(parent)
	// Attributes known now are set at the start, where samplers see them.
	attrs := c.which.attributes(ctx, 11)
	if !info.Preparing {
		attrs = append(attrs, budgetMaxTokensKey.Int(info.Budget.MaxTokens()))
	}
	attrs = append(attrs, verbosityKey.String(c.verbosity.String()), runModeKey.String(modeOf(info, ctx.Value(turnContextKey{}) != nil)))
	attrs = c.appendName(attrs, info.Pipeline)
	if !info.Preparing {
		attrs = append(attrs, budgetTargetTokensKey.Int(info.Budget.TargetTokens()), budgetOutputReserveKey.Int(info.Budget.OutputReserve()))
	}
	if !info.Streaming {
		attrs = append(attrs, candidatesKey.Int(info.Candidates))
	}
	if info.PolicyHash != "" {
		if info.Pipeline != "" {
			attrs = append(attrs, policyNameKey.String(c.text(TextPipeline, info.Pipeline)))
		}
		attrs = append(attrs, policyHashKey.String(c.text(TextPipeline, info.PolicyHash)))
	}
	attrs = c.appendConversation(ctx, attrs)
	ctx, span := tracer.Start(parent, rootSpanName, c.rootOptions(info, attrs)...)
	if root := span.SpanContext(); !root.Equal(caller.SpanContext()) { // equal: a no-op span
		ctx = &runContext{Context: ctx, collector: c, start: info.Start, root: root, caller: caller}
	}
	var records *runLog
	if info.Preparing {
		if c.recording != nil {
			ctx = context.WithValue(ctx, scoredKey{}, scoredAt(info))
		}
		if span.IsRecording() {
			ctx = context.WithValue(ctx, preparationKey{c}, span.SpanContext())
		}
	} else {
		records = c.startLog(ctx, info, attrs)
	}
	if !span.IsRecording() {
		span.End()
		if records == nil && (!info.Preparing || c.recording == nil) {
			return ctx, nil
		}
	}
	return ctx, &traceRun{collector: c, tracer: tracer, root: span, log: records, budget: info.Budget, streaming: info.Streaming, preparing: info.Preparing}
}

// preparationKey is where the context of a run that prepared has its span.
type preparationKey struct{ collector *TraceCollector }

// rootOptions returns what the root span is started with.
func (c *TraceCollector) rootOptions(info observe.RunInfo, attrs []attribute.KeyValue) []trace.SpanStartOption {
	start := info.Start
	if !c.pipelineClock {
		start = time.Now() //nolint:forbidigo // the clock of spans
	}
	options := append(make([]trace.SpanStartOption, 0, 3), trace.WithTimestamp(start), trace.WithAttributes(attrs...))
	if info.Preparation != nil {
		if prepared, ok := info.Preparation.Value(preparationKey{c}).(trace.SpanContext); ok {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: prepared}))
		}
	}
	return options
}

// appendName appends the name of the pipeline, if it has one.
func (c *TraceCollector) appendName(attrs []attribute.KeyValue, configured string) []attribute.KeyValue {
	if configured != "" {
		attrs = append(attrs, pipelineNameKey.String(c.text(TextPipeline, configured)))
	}
	return attrs
}

// runContext is the context of a run. It lets other collectors of the same run
// find the caller's span.
type runContext struct {
	context.Context //nolint:containedctx // it is one
	collector       *TraceCollector
	start           time.Time
	root            trace.SpanContext
	caller          trace.Span
}

type runContextKey struct{}

func (c *runContext) Value(key any) any {
	if key == (runContextKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// callerContext returns the context to start the root span from. Another collector of the same run may have put its root span
// into ctx; both trees must be children of the caller's span. A run inside a
// strategy is different: it starts later, below a stage.
func callerContext(ctx context.Context, c *TraceCollector, info observe.RunInfo) context.Context {
	span := trace.SpanFromContext(ctx)
	other, ok := ctx.Value(runContextKey{}).(*runContext)
	if !ok || other.collector == c || !other.start.Equal(info.Start) || !other.root.Equal(span.SpanContext()) {
		return ctx
	}
	return trace.ContextWithSpan(ctx, other.caller)
}

// traceRun follows one run.
type traceRun struct {
	observe.NoTrace
	collector *TraceCollector
	tracer    trace.Tracer
	root      trace.Span
	log       *runLog // nil for none; without it root is recording
	budget    cupel.ContextBudget
	streaming bool
	preparing bool
	read      int                        // candidates of a streaming run
	said      string                     // about the failure of a stage
	stages    [len(stages) + 1]stageSpan // the last one is for an unknown stage
}

// stageSpan is the span of a started stage. Several may be open at once,
// because the stages of a streaming run overlap.
type stageSpan struct {
	trace.Span
	countIn int // as announced at the start
}

func (r *traceRun) spanOf(stage cupel.PipelineStage) *stageSpan {
	at := slices.Index(stages[:], stage)
	if at < 0 {
		at = len(stages)
	}
	return &r.stages[at]
}

// Detail asks for items and reasons only at verbosities that show their events.
func (r *traceRun) Detail() observe.TraceDetail {
	events := r.collector.verbosity >= VerbosityStageAndExclusions
	return observe.TraceDetail{
		Items: r.collector.verbosity >= VerbosityFull || r.log != nil && (r.log.run || r.log.recording != nil), Exclusions: events, Reasons: events,
		Strategies: r.root.IsRecording(),
	}
}

// StartStage starts the span of a stage.
func (r *traceRun) StartStage(ctx context.Context, s observe.StageStart) context.Context {
	if !r.root.IsRecording() { // there are log records only
		return ctx
	}
	name := stageSpanName(s.Stage)
	stage := r.spanOf(s.Stage)
	stage.countIn = s.CountIn
	if root := r.root.SpanContext(); !root.Equal(trace.SpanContextFromContext(ctx)) {
		ctx = trace.ContextWithSpan(ctx, r.root) // another collector's span is there
	}
	//nolint:spancheck // EndStage ends it: the pipeline calls that for each stage that has started
	ctx, stage.Span = r.tracer.Start(ctx, name, trace.WithTimestamp(r.collector.moment(s.Start)), trace.WithAttributes(
		stageNameKey.String(name[len(stageSpanPrefix):]),
		stageItemCountInKey.Int(s.CountIn),
	))
	return ctx
}

// EndStage ends the span of a stage.
func (r *traceRun) EndStage(ctx context.Context, e observe.StageEnd) {
	if r.streaming && e.Stage == cupel.StageClassify {
		r.read = e.CountIn
	}
	if r.log != nil {
		r.log.stage(e)
	}
	if e.Err != nil {
		r.said = r.collector.description(e.Err, e.Strategies)
	}
	stage := r.spanOf(e.Stage)
	if stage.Span == nil {
		r.describe(ctx, r.root, e)
		return
	}
	if stage.IsRecording() && e.CountIn != stage.countIn { // a streaming run did not know it at the start
		stage.SetAttributes(stageItemCountInKey.Int(e.CountIn))
	}
	if stage.IsRecording() || r.log != nil { // a sampler may leave out stages and keep the run
		r.describe(ctx, stage.Span, e)
	}
	stage.End(trace.WithTimestamp(r.collector.moment(e.End)))
}

// describe sets the attributes that are known at the end of a stage, and makes its
// events.
func (r *traceRun) describe(ctx context.Context, span trace.Span, e observe.StageEnd) {
	attrs := append(make([]attribute.KeyValue, 0, 6+len(e.Strategies)), stageItemCountOutKey.Int(e.CountOut))
	if r.streaming {
		attrs = append(attrs, stageBusyTimeKey.Float64(e.Duration.Seconds()))
	}
	if !r.collector.pipelineClock {
		attrs = appendStrategies(attrs, e.Strategies)
	}
	if r.collector.verbosity >= VerbosityStageAndExclusions {
		included := e.Included
		if r.collector.verbosity < VerbosityFull {
			included = nil
		}
		var kept selection
		events := r.sinkOf(ctx, span, r.collector.moment(e.End), r.log != nil && r.log.items)
		if events.span != nil || events.log != nil {
			kept = choose(e.Excluded, included, r.collector.limit)
		}
		dropped := droppedEvents(span)
		r.collector.addEvents(&events, kept)
		dropped = droppedEvents(span) - dropped // the oldest ones: exclusions, then inclusions
		exclusions := min(dropped, len(kept.excluded))
		inclusions := min(dropped-exclusions, len(kept.included))
		attrs = append(attrs, exclusionCountKey.Int(len(e.Excluded)))
		if n := len(e.Excluded) - len(kept.excluded) + exclusions; n > 0 {
			attrs = append(attrs, exclusionDroppedCountKey.Int(n))
		}
		if n := len(included) - len(kept.included) + inclusions; n > 0 {
			attrs = append(attrs, itemDroppedCountKey.Int(n))
		}
		if reasons := reasonCounts(e.Reasons); reasons != "" {
			attrs = append(attrs, exclusionReasonsKey.String(reasons))
		}
	}
	if e.Err != nil {
		attrs = append(attrs, errorTypeKey.String(errorType(e.Err)))
		span.SetStatus(codes.Error, r.said)
	}
	span.SetAttributes(attrs...)
}

// EndRun ends the root span.
func (r *traceRun) EndRun(ctx context.Context, e observe.RunEnd) {
	attrs := make([]attribute.KeyValue, 0, 7)
	if r.streaming {
		attrs = append(attrs, candidatesKey.Int(r.read))
	}
	if e.Err == nil && !r.preparing {
		attrs = append(attrs,
			includedKey.Int(e.Selected),
			selectedTokensKey.Int(e.SelectedTokens),
			utilizationKey.Float64(fraction(e.SelectedTokens, r.budget.MaxTokens())),
			targetUtilizationKey.Float64(fraction(e.SelectedTokens, r.budget.TargetTokens())),
		)
		if n := len(e.Shortfalls); n > 0 {
			attrs = append(attrs, shortfallCountKey.Int(n))
		}
		if e.Overflow > 0 {
			attrs = append(attrs, overflowTokensKey.Int(e.Overflow))
		}
		if r.collector.verbosity >= VerbosityStageAndExclusions {
			r.alert(ctx, e)
		}
	}
	if e.Err != nil {
		attrs = append(attrs, errorTypeKey.String(errorType(e.Err)))
		if r.said == "" { // no stage failed
			r.said = r.collector.description(e.Err, nil)
		}
		r.root.SetStatus(codes.Error, r.said)
	}
	r.root.SetAttributes(attrs...)
	if r.log != nil {
		r.log.end(trace.ContextWithSpan(ctx, r.root), e, attrs)
	}
	r.root.End(trace.WithTimestamp(r.collector.moment(e.End)))
}

// alert adds the events of the root span: the overflow and shortfalls, up to the limit.
func (r *traceRun) alert(ctx context.Context, e observe.RunEnd) {
	events, limit := r.sinkOf(ctx, r.root, r.collector.moment(e.End), r.log != nil), r.collector.limit
	if e.Overflow > 0 && limit != 0 {
		events.event(alertSeverity, overflowEventName, overflowTokensKey.Int(e.Overflow))
		limit--
	}
	for i, s := range e.Shortfalls {
		if limit >= 0 && i >= limit {
			return
		}
		events.event(alertSeverity, shortfallEventName,
			shortfallKindKey.String(r.collector.text(TextKind, string(s.Kind))),
			shortfallRequiredKey.Int(s.RequiredCount),
			shortfallSatisfiedKey.Int(s.SatisfiedCount),
		)
	}
}

package cupelotel

import (
	"context"
	"slices"

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
// Pass one TraceCollector to a run. To send its spans to two backends, give the
// TracerProvider two span processors.
//
// It implements the OpenTelemetry Integration chapter of the specification.
type TraceCollector struct {
	tracer    trace.Tracer
	logger    log.Logger // nil for no log records
	verbosity Verbosity
	limit     int // negative: none
	redaction redaction

	conventions Convention
	reportAttrs []func(*cupel.SelectionReport) []attribute.KeyValue
}

// NewTraceCollector returns a collector. By default it makes spans with the
// global TracerProvider at [VerbosityStageOnly].
func NewTraceCollector(opts ...TraceOption) *TraceCollector {
	c := &TraceCollector{limit: DefaultEventLimit}
	for _, opt := range opts {
		if opt != nil {
			opt(c)
		}
	}
	if c.tracer == nil {
		WithTracerProvider(otel.GetTracerProvider())(c)
	}
	return c
}

// IsEnabled returns true, except for a collector without [NewTraceCollector]. Whether
// a run is recorded is only known once its root span has started.
func (c *TraceCollector) IsEnabled() bool { return c != nil && c.tracer != nil }

// RecordStageEvent does nothing: the observer that StartRun returns makes the
// spans.
func (*TraceCollector) RecordStageEvent(cupel.TraceEvent) {}

// RecordItemEvent does nothing.
func (*TraceCollector) RecordItemEvent(cupel.TraceEvent) {}

// StartRun implements [observe.RunObserver].
func (c *TraceCollector) StartRun(ctx context.Context, info observe.RunInfo) (context.Context, observe.RunTrace) {
	// Attributes known now are set at the start, where samplers see them.
	attrs := c.rootAttributes(ctx, info)
	options := []trace.SpanStartOption{trace.WithAttributes(attrs...)}
	if info.Preparation != nil {
		if prepared, ok := info.Preparation.Value(preparationKey{c}).(trace.SpanContext); ok {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: prepared}))
		}
	}
	ctx, span := c.tracer.Start(ctx, rootSpanName, options...)
	var records *runLog
	if info.Preparing {
		if span.IsRecording() {
			ctx = context.WithValue(ctx, preparationKey{c}, span.SpanContext())
		}
	} else {
		records = c.startLog(ctx, attrs)
	}
	if !span.IsRecording() {
		span.End()
		if records == nil {
			return ctx, nil
		}
	}
	r := &traceRun{collector: c, root: span, log: records, budget: info.Budget, streaming: info.Streaming, preparing: info.Preparing}
	if c.conventions != 0 && span.IsRecording() {
		r.items = slices.Clone(info.Items)
	}
	return ctx, r
}

// preparationKey is the context key of the span of a run that prepared.
type preparationKey struct{ collector *TraceCollector }

// rootAttributes returns the attributes of a run that are known at its start.
func (c *TraceCollector) rootAttributes(ctx context.Context, info observe.RunInfo) []attribute.KeyValue {
	attrs := make([]attribute.KeyValue, 0, 9)
	if !info.Preparing {
		attrs = append(attrs, budgetMaxTokensKey.Int(info.Budget.MaxTokens()))
	}
	attrs = append(attrs, verbosityKey.String(c.verbosity.String()), runModeKey.String(modeOf(info, ctx.Value(turnKey{}) != nil)))
	attrs = c.appendNames(ctx, attrs, info.Pipeline)
	if !info.Preparing {
		attrs = append(attrs, budgetTargetTokensKey.Int(info.Budget.TargetTokens()), budgetOutputReserveKey.Int(info.Budget.OutputReserve()))
	}
	if !info.Streaming {
		attrs = append(attrs, candidatesKey.Int(info.Candidates))
	}
	if info.PolicyHash != "" {
		attrs = append(attrs, policyHashKey.String(c.redaction.text(observe.PartPipeline, info.PolicyHash)))
	}
	if !info.Preparing {
		attrs = c.appendKinds(ctx, attrs)
	}
	return attrs
}

// modeOf returns the value of cupel.run.mode.
func modeOf(info observe.RunInfo, inTurn bool) string {
	switch {
	case info.Preparing:
		return modePrepare
	case info.DryRun && info.Prepared:
		return modeSimulation
	case info.DryRun:
		return modeDryRun
	case inTurn:
		return modeSession
	case info.Streaming:
		return modeStream
	case info.Prepared:
		return modePrepared
	}
	return modeRun
}

type conversationKey struct{}

// ContextWithConversationID returns a context in which the spans of runs and turns
// have gen_ai.conversation.id, so that all spans of a conversation can be found
// together.
func ContextWithConversationID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, conversationKey{}, id)
}

// appendNames appends the name of the pipeline and the id of the conversation, if
// they have one.
func (c *TraceCollector) appendNames(ctx context.Context, attrs []attribute.KeyValue, pipeline string) []attribute.KeyValue {
	if pipeline != "" {
		attrs = append(attrs, pipelineNameKey.String(c.redaction.text(observe.PartPipeline, pipeline)))
	}
	if id, _ := ctx.Value(conversationKey{}).(string); id != "" {
		attrs = append(attrs, conversationIDKey.String(c.redaction.text(observe.PartConversation, id)))
	}
	return attrs
}

// traceRun follows one run.
type traceRun struct {
	observe.NoTrace
	collector *TraceCollector
	root      trace.Span
	log       *runLog // nil for none; without it root is recording
	budget    cupel.ContextBudget
	streaming bool
	preparing bool
	read      int                    // candidates of a streaming run
	said      string                 // about the failure of a stage
	items     []*cupel.ContextItem   // only for conventions
	reasons   []observe.ReasonCount  // only for conventions
	stages    [len(stages)]stageSpan // several are open at once in a streaming run
}

// stageSpan is the span of a started stage.
type stageSpan struct {
	trace.Span
	countIn int // as announced at the start
}

// Detail asks for items and reasons only at verbosities that show them.
func (r *traceRun) Detail() observe.TraceDetail {
	events := r.collector.verbosity >= VerbosityStageAndExclusions
	return observe.TraceDetail{
		Items:      r.collector.verbosity >= VerbosityFull,
		Exclusions: events,
		Reasons:    events || r.log != nil || r.collector.conventions != 0,
		Decisions:  r.collector.conventions != 0,
		Report:     len(r.collector.reportAttrs) > 0,
	}
}

// StartStage starts the span of a stage.
func (r *traceRun) StartStage(ctx context.Context, s observe.StageStart) context.Context {
	at := slices.Index(stages[:], s.Stage)
	if at < 0 || !r.root.IsRecording() { // there are log records only
		return ctx
	}
	attrs := r.collector.appendChain([]attribute.KeyValue{stageNameKey.String(stageNames[at]), stageItemCountInKey.Int(s.CountIn)})
	if trace.SpanContextFromContext(ctx).SpanID() != r.root.SpanContext().SpanID() { // another observer has put its own there
		ctx = trace.ContextWithSpan(ctx, r.root)
	}
	//nolint:spancheck // EndStage ends it: the pipeline calls that for each stage that has started
	ctx, span := r.collector.tracer.Start(ctx, stageSpanNames[at], trace.WithAttributes(attrs...))
	r.stages[at] = stageSpan{span, s.CountIn}
	return ctx //nolint:spancheck // see above
}

// EndStage ends the span of a stage.
func (r *traceRun) EndStage(_ context.Context, e observe.StageEnd) {
	if r.streaming && e.Stage == cupel.StageClassify {
		r.read = e.CountIn
	}
	if r.log != nil {
		r.log.stage(e)
	}
	if r.collector.conventions != 0 {
		r.reasons = append(r.reasons, e.Reasons...)
	}
	if e.Err != nil {
		r.said = r.collector.description(e.Err)
	}
	at := slices.Index(stages[:], e.Stage)
	if at < 0 || r.stages[at].Span == nil {
		return
	}
	span := r.stages[at]
	if span.IsRecording() { // a sampler may leave out stages and keep the run
		if e.CountIn != span.countIn { // a streaming run did not know it at the start
			span.SetAttributes(stageItemCountInKey.Int(e.CountIn))
		}
		r.describe(span, e)
	}
	span.End()
}

// describe sets the attributes that are known at the end of a stage, and makes its
// events.
func (r *traceRun) describe(span trace.Span, e observe.StageEnd) {
	attrs := []attribute.KeyValue{stageItemCountOutKey.Int(e.CountOut)}
	if r.streaming {
		attrs = append(attrs, stageBusyTimeKey.Float64(e.Duration.Seconds()))
	}
	if r.collector.verbosity >= VerbosityStageAndExclusions {
		included := e.Included
		if r.collector.verbosity < VerbosityFull {
			included = nil
		}
		kept := choose(e.Excluded, included, r.collector.limit)
		r.collector.addEvents(span, kept)
		attrs = append(attrs, exclusionCountKey.Int(len(e.Excluded)))
		if n := len(e.Excluded) - len(kept.excluded); n > 0 {
			attrs = append(attrs, exclusionDroppedCountKey.Int(n))
		}
		if n := len(included) - len(kept.included); n > 0 {
			attrs = append(attrs, itemDroppedCountKey.Int(n))
		}
		attrs = appendReasons(attrs, e.Reasons)
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
		r.addShortfalls(e.Shortfalls)
	}
	if e.Err != nil {
		attrs = append(attrs, errorTypeKey.String(errorType(e.Err)))
		if r.said == "" { // no stage failed
			r.said = r.collector.description(e.Err)
		}
		r.root.SetStatus(codes.Error, r.said)
	}
	r.root.SetAttributes(attrs...)
	if r.root.IsRecording() && e.Decisions != nil {
		r.root.SetAttributes(r.appendDocuments(nil, e.Decisions)...)
	}
	if r.root.IsRecording() && e.Report != nil {
		r.root.SetAttributes(r.collector.appendReport(nil, e.Report)...)
	}
	if r.log != nil {
		r.log.end(trace.ContextWithSpan(ctx, r.root), e, attrs)
	}
	r.root.End()
}

// addShortfalls adds events of the root span, up to the limit.
func (r *traceRun) addShortfalls(shortfalls []cupel.CountRequirementShortfall) {
	if r.collector.verbosity < VerbosityStageAndExclusions {
		return
	}
	for i, s := range shortfalls {
		if r.collector.limit >= 0 && i >= r.collector.limit {
			return
		}
		r.root.AddEvent(shortfallEventName, trace.WithAttributes(
			shortfallKindKey.String(r.collector.redaction.text(observe.PartKind, string(s.Kind))),
			shortfallRequiredKey.Int(s.RequiredCount),
			shortfallSatisfiedKey.Int(s.SatisfiedCount),
		))
	}
}

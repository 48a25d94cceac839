package cupelotel

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/turn"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

var (
	_ turn.Observer = (*TraceCollector)(nil)
	_ turn.Observer = (*MetricCollector)(nil)
)

// StartTurn implements [turn.Observer]: it starts the span of a turn.
func (c *TraceCollector) StartTurn(ctx context.Context, info turn.Info) (context.Context, turn.Trace) {
	if !c.which.observes(ctx, asRun(info)) {
		return ctx, nil
	}
	tracer := c.tracer()
	caller := trace.SpanFromContext(ctx)
	outer, _ := ctx.Value(turnContextKey{}).(*turnContext)
	if outer != nil && outer.collector != c && outer.start.Equal(info.Start) && outer.root.SpanContext().Equal(caller.SpanContext()) {
		caller = outer.caller // another collector of the same turn: both are below the caller's span
	}
	which := c.appendConversation(ctx, c.appendName(c.which.attributes(ctx, 5), info.Pipeline))
	ctx, span := tracer.Start(trace.ContextWithSpan(ctx, caller), turnSpanName, trace.WithAttributes(append(slices.Clip(which),
		sessionTurnKey.Int(info.Number),
		sessionCandidatesKey.Int(info.Candidates),
		budgetMaxTokensKey.Int(info.Budget.MaxTokens()),
	)...))
	ctx = &turnContext{Context: ctx, outer: outer, collector: c, start: info.Start, root: span, caller: caller}
	if !span.IsRecording() {
		span.End()
		return ctx, nil
	}
	return ctx, &traceTurn{collector: c, tracer: tracer, span: span, caller: caller, number: info.Number, which: which}
}

// asRun describes a turn to a filter.
func asRun(info turn.Info) observe.RunInfo {
	return observe.RunInfo{Start: info.Start, Candidates: info.Candidates, Budget: info.Budget, Pipeline: info.Pipeline}
}

// turnContext is the context of a turn. It lets the runs of a turn find the span
// of their own collector.
type turnContext struct {
	context.Context //nolint:containedctx // it is one
	outer           *turnContext
	collector       *TraceCollector
	start           time.Time
	root, caller    trace.Span
}

type turnContextKey struct{}

func (c *turnContext) Value(key any) any {
	if key == (turnContextKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// inTurn returns ctx with the span of the collector's own turn, if that of any
// collector of the same turn is current.
func (c *TraceCollector) inTurn(ctx context.Context) context.Context {
	innermost, _ := ctx.Value(turnContextKey{}).(*turnContext)
	current := trace.SpanContextFromContext(ctx)
	var own trace.Span
	below := false
	for turn := innermost; turn != nil && turn.start.Equal(innermost.start); turn = turn.outer {
		below = below || turn.root.SpanContext().Equal(current)
		if turn.collector == c && own == nil {
			own = turn.root
		}
	}
	if own == nil || !below {
		return ctx
	}
	return trace.ContextWithSpan(ctx, own)
}

// traceTurn follows one turn.
type traceTurn struct {
	turn.NoTrace
	collector *TraceCollector
	tracer    trace.Tracer
	span      trace.Span
	caller    trace.Span
	number    int
	which     []attribute.KeyValue // the pipeline, the conversation and the caller's attributes
	proposed  []attribute.KeyValue
}

// EndTurn ends the span of the turn.
func (t *traceTurn) EndTurn(_ context.Context, e turn.End) {
	defer t.span.End()
	if e.Err != nil {
		t.span.SetAttributes(errorTypeKey.String(errorType(e.Err)))
		t.span.SetStatus(codes.Error, t.collector.description(e.Err, nil))
		return
	}
	t.proposed = append(make([]attribute.KeyValue, 0, 16),
		sessionItemsKey.Int(e.Items),
		sessionTokensKey.Int(e.Tokens),
		sessionKeptItemsKey.Int(e.KeptItems),
		sessionKeptTokensKey.Int(e.KeptTokens),
		sessionDroppedItemsKey.Int(e.DroppedItems),
		sessionDroppedTokensKey.Int(e.DroppedTokens),
		sessionQuotedItemsKey.Int(e.Quoted),
		sessionSummarizedItemsKey.Int(e.Summarized),
		sessionCostKey.Float64(e.Cost),
		sessionCostWithoutKey.Float64(e.CostWithout),
		sessionReadPredictedKey.Int(e.CacheRead),
		sessionWrittenPredictedKey.Int(e.CacheWritten),
	)
	if e.Break != "" {
		t.proposed = append(t.proposed, sessionBreakReasonKey.String(t.collector.breakReason(e.Break)), sessionBreakPositionKey.Int(e.KeptItems))
	}
	t.span.SetAttributes(t.proposed...)
	t.span.SetAttributes(sessionCommittedKey.Bool(false))
}

// breakReason returns a reason as spans show it: those that a session of another
// package gives are text from outside Cupel.
func (c *TraceCollector) breakReason(reason string) string {
	if known := breakReason(reason); known != other {
		return known
	}
	return c.text(TextReason, reason)
}

// CommitTurn makes the span of the commit, with a link to that of the turn. It says
// again what was proposed, so that one span has both. The span is below the
// caller's, since that of the turn has ended: tracing backends take a child that
// starts after its parent has ended for one with another clock.
func (t *traceTurn) CommitTurn(ctx context.Context, c turn.Commit) {
	parent := t.caller
	if !parent.SpanContext().IsValid() {
		parent = t.span // no other span of the trace is there
	}
	_, span := t.tracer.Start(trace.ContextWithSpan(ctx, parent), commitSpanName,
		trace.WithLinks(trace.Link{SpanContext: t.span.SpanContext()}),
		trace.WithAttributes(append(slices.Clip(t.which), sessionTurnKey.Int(t.number), sessionCommittedKey.Bool(true))...))
	defer span.End()
	span.SetAttributes(t.proposed...)
	if c.Input > 0 {
		span.SetAttributes(sessionInputReportedKey.Int(c.Input), sessionOutputReportedKey.Int(c.Output))
	}
	if c.Cached {
		span.SetAttributes(sessionReadReportedKey.Int(c.CacheRead), sessionWrittenReportedKey.Int(c.CacheWritten))
	}
}

// breakReasons are those of package cupelsession.
var breakReasons = [...]string{"changed", "forced", "free", "worth it"}

// breakReason returns a known reason, or "_OTHER".
func breakReason(reason string) string {
	for _, known := range breakReasons {
		if reason == known {
			return known
		}
	}
	return other
}

// StartTurn implements [turn.Observer]. What the runs of the turn measure is
// recorded when it is committed, or has failed.
func (c *MetricCollector) StartTurn(ctx context.Context, info turn.Info) (context.Context, turn.Trace) {
	in := c.current()
	if !in.enabled(ctx) || !c.which.observes(ctx, asRun(info)) {
		return ctx, nil
	}
	attrs := c.attributes(ctx)
	start := time.Now() //nolint:forbidigo // nothing depends on it, and the session's clock may be moved
	turn := &metricTurn{
		instruments: in, collector: c, maxTokens: info.Budget.MaxTokens(), target: info.Budget.TargetTokens(), start: start,
		turns: c.seriesIn(in, info.Pipeline, "", attrs), windows: c.seriesIn(in, info.Pipeline, modeSession, attrs),
	}
	return context.WithValue(ctx, metricTurnKey{}, turn), turn
}

type metricTurnKey struct{}

// turnOf returns the turn that a run chooses for, or nil.
func (c *MetricCollector) turnOf(ctx context.Context) *metricTurn {
	turn, _ := ctx.Value(metricTurnKey{}).(*metricTurn)
	if turn == nil || turn.collector != c {
		return nil
	}
	return turn
}

// metricTurn follows one turn.
type metricTurn struct {
	turn.NoTrace
	*instruments
	collector *MetricCollector
	maxTokens int
	target    int
	turns     *series // of the session's instruments
	windows   *series // of the window
	start     time.Time
	took      time.Duration
	end       turn.End

	mu    sync.Mutex // strategies may start runs of their own
	later []func()
}

// record keeps a measurement for the commit.
func (t *metricTurn) record(measure func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.later = append(t.later, measure)
}

// measure records what was kept.
func (t *metricTurn) measure() {
	t.mu.Lock()
	later := t.later
	t.later = nil
	t.mu.Unlock()
	for _, measure := range later {
		measure()
	}
}

// EndTurn keeps what was proposed for the commit. A turn that failed has none.
func (t *metricTurn) EndTurn(ctx context.Context, e turn.End) {
	t.took, t.end = time.Since(t.start), e //nolint:forbidigo // see StartTurn
	if e.Err != nil {
		t.measure()
		t.sessionDuration.Record(ctx, t.took.Seconds(), t.turns.with(errorTypeKey.String(errorType(e.Err))))
	}
}

// CommitTurn records the measurements of the turn.
func (t *metricTurn) CommitTurn(ctx context.Context, c turn.Commit) {
	t.measure()
	e := &t.end
	record, add := t.turns.record, t.turns.add
	t.sessionDuration.Record(ctx, t.took.Seconds(), record...)
	t.window(ctx, t.windows, e.Tokens, t.maxTokens, t.target)
	t.sessionTurns.Add(ctx, 1, add...)
	t.sessionKept.Record(ctx, int64(e.KeptTokens), record...)
	t.sessionDropped.Add(ctx, int64(e.DroppedItems), add...)
	if e.Break != "" {
		t.sessionBreaks.Add(ctx, 1, t.turns.with(sessionBreakReasonKey.String(breakReason(e.Break))))
	}
	if e.CostWithout > 0 {
		t.sessionCostRatio.Record(ctx, e.Cost/e.CostWithout, record...)
	}
	if c.Cached { // both, so that they can be compared
		t.sessionReadPredicted.Add(ctx, int64(e.CacheRead), add...)
		t.sessionReadReported.Add(ctx, int64(c.CacheRead), add...)
	}
}

// window records the size of a window.
func (in *instruments) window(ctx context.Context, s *series, tokens, maxTokens, target int) {
	in.selectedTokens.Record(ctx, int64(tokens), s.record...)
	in.utilization.Record(ctx, fraction(tokens, maxTokens), s.record...)
	in.targetUtilization.Record(ctx, fraction(tokens, target), s.record...)
}

// fraction returns tokens as a fraction of all, or 0 of nothing.
func fraction(tokens, all int) float64 {
	if all <= 0 {
		return 0
	}
	return float64(tokens) / float64(all)
}

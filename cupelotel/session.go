package cupelotel

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/wollax/cupel-go/cupel"
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
	caller, names := trace.SpanFromContext(ctx), c.appendChain(c.appendNames(ctx, nil, info.Pipeline))
	ctx, span := c.tracer.Start(ctx, turnSpanName, trace.WithAttributes(append(slices.Clip(names),
		sessionTurnKey.Int(info.Number),
		sessionCandidatesKey.Int(info.Candidates),
		budgetMaxTokensKey.Int(info.Budget.MaxTokens()),
	)...))
	ctx = context.WithValue(ctx, turnKey{}, true)
	if !span.IsRecording() {
		span.End()
		return ctx, nil
	}
	return ctx, &traceTurn{collector: c, span: span, caller: caller, number: info.Number, names: names}
}

// turnKey marks the context of a turn.
type turnKey struct{}

// traceTurn follows one turn.
type traceTurn struct {
	turn.NoTrace
	collector *TraceCollector
	span      trace.Span
	caller    trace.Span
	number    int
	names     []attribute.KeyValue // the pipeline and the conversation
	proposed  []attribute.KeyValue
}

// EndTurn ends the span of the turn.
func (t *traceTurn) EndTurn(_ context.Context, e turn.End) {
	defer t.span.End()
	if e.Err != nil {
		t.span.SetAttributes(errorTypeKey.String(errorType(e.Err)))
		t.span.SetStatus(codes.Error, t.collector.description(e.Err))
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

// breakReason returns a reason as spans show it. Reasons from a session of
// another package are text from outside Cupel.
func (c *TraceCollector) breakReason(reason string) string {
	if slices.Contains(breakReasons, reason) {
		return reason
	}
	return c.redaction.text(observe.PartReason, reason)
}

// CommitTurn makes the span of the commit, with a link to the turn's span. It
// repeats the attributes of the proposal, so that one span has both. Its parent is
// the caller's span, since the turn's has ended: if a child starts after its parent
// has ended, tracing backends assume another clock.
func (t *traceTurn) CommitTurn(ctx context.Context, c turn.Commit) {
	parent := t.caller
	if !parent.SpanContext().IsValid() {
		parent = t.span // no other span of the trace is there
	}
	_, span := t.collector.tracer.Start(trace.ContextWithSpan(ctx, parent), commitSpanName,
		trace.WithLinks(trace.Link{SpanContext: t.span.SpanContext()}),
		trace.WithAttributes(append(slices.Clip(t.names), sessionTurnKey.Int(t.number), sessionCommittedKey.Bool(true))...))
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
var breakReasons = []string{"changed", "forced", "free", "worth it"}

// StartTurn implements [turn.Observer]. The measurements of the turn's runs
// are recorded when the turn is committed, or has failed.
func (c *MetricCollector) StartTurn(ctx context.Context, info turn.Info) (context.Context, turn.Trace) {
	if !c.enabled(ctx) {
		return ctx, nil
	}
	start := time.Now() //nolint:forbidigo // nothing depends on it, and the session's clock may be moved
	turn := &metricTurn{
		instruments: c.instruments, budget: info.Budget, start: start,
		turns: c.seriesOf(info.Pipeline, ""), windows: c.seriesOf(info.Pipeline, modeSession),
	}
	return context.WithValue(ctx, metricTurnKey{c}, turn), turn
}

// metricTurnKey is the context key of the measurements of a turn's runs.
type metricTurnKey struct{ collector *MetricCollector }

// metricTurn follows one turn.
type metricTurn struct {
	turn.NoTrace
	*instruments
	budget  cupel.ContextBudget
	turns   *series // of the session's instruments
	windows *series // of the window
	start   time.Time
	took    time.Duration
	end     turn.End

	mu    sync.Mutex // strategies may start runs of their own
	later []func()
}

// record keeps a measurement for the commit.
func (t *metricTurn) record(measure func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.later = append(t.later, measure)
}

// measure records the kept measurements.
func (t *metricTurn) measure() {
	t.mu.Lock()
	later := t.later
	t.later = nil
	t.mu.Unlock()
	for _, measure := range later {
		measure()
	}
}

// EndTurn keeps the proposal for the commit. A failed turn has none.
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
	e, turns := &t.end, t.turns.run
	t.sessionDuration.Record(ctx, t.took.Seconds(), turns)
	t.window(ctx, t.windows, e.Tokens, t.budget)
	t.sessionTurns.Add(ctx, 1, turns)
	t.sessionKept.Add(ctx, int64(e.KeptTokens), turns)
	t.sessionDropped.Add(ctx, int64(e.DroppedItems), turns)
	if e.Break != "" {
		reason := other
		if slices.Contains(breakReasons, e.Break) {
			reason = e.Break
		}
		t.sessionBreaks.Add(ctx, 1, t.turns.with(sessionBreakReasonKey.String(reason)))
	}
	if e.CostWithout > 0 {
		t.sessionCostRatio.Record(ctx, e.Cost/e.CostWithout, turns)
	}
	if c.Cached { // both, so that they can be compared
		t.sessionReadPredicted.Add(ctx, int64(e.CacheRead), turns)
		t.sessionReadReported.Add(ctx, int64(c.CacheRead), turns)
	}
}

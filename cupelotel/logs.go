package cupelotel

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/trace"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
)

// Severities of the log records.
const (
	itemSeverity   = log.SeverityDebug // an event of an item
	runSeverity    = log.SeverityInfo  // a run
	alertSeverity  = log.SeverityWarn  // a shortfall or an overflow
	failedSeverity = log.SeverityError // a run that failed
)

// WithLoggerProvider makes log records too: one for each run, cupel.selection, at every
// verbosity, and one for each event that spans get, with the same name and attributes.
// Records belong to the span that has the event. nil selects the global provider at the
// time of each run; without this option there are no records.
//
// Records do not follow the sampling decision. If the trace is sampled out, or there is
// no tracing, runs still have the records that the logger is enabled for.
func WithLoggerProvider(provider log.LoggerProvider) TraceOption {
	if isNil(provider) {
		provider = nil
	}
	return traceOption(func(c *TraceCollector) { c.logs, c.loggers = true, provider })
}

// WithoutSpanEvents leaves the events of spans to the log records of
// [WithLoggerProvider]. Spans keep their counts.
func WithoutSpanEvents() TraceOption {
	return traceOption(func(c *TraceCollector) { c.noSpanEvents = true })
}

// runLog makes the log records of one run.
type runLog struct {
	log.Logger
	run, items bool // which records the logger is enabled for
	attrs      []attribute.KeyValue

	excluded  count
	reasons   map[cupel.ExclusionCode]*count
	kindsOut  map[cupel.ContextKind]*count
	kindsIn   map[cupel.ContextKind]*count
	collector *TraceCollector

	recording *recordedRun // nil for none
}

// startLog returns nil if the logger is enabled for no records of the run.
func (c *TraceCollector) startLog(ctx context.Context, info observe.RunInfo, attrs []attribute.KeyValue) *runLog {
	if !c.logs {
		return nil
	}
	provider := c.loggers
	if provider == nil {
		provider = otel.GetLoggerProvider()
	}
	logger := c.loggerOf.get(provider, func(p log.LoggerProvider) log.Logger {
		return p.Logger(ScopeName, log.WithInstrumentationVersion(Version), log.WithSchemaURL(schemaURL))
	})
	enabled := func(severity log.Severity, event string) bool {
		return logger.Enabled(ctx, log.EnabledParameters{Severity: severity, EventName: event})
	}
	run := enabled(runSeverity, selectionEventName) || enabled(failedSeverity, selectionEventName)
	items, alerts := false, false
	if c.verbosity >= VerbosityStageAndExclusions {
		items = enabled(itemSeverity, exclusionEventName) || enabled(itemSeverity, includedEventName)
		alerts = enabled(alertSeverity, shortfallEventName) || enabled(alertSeverity, overflowEventName)
	}
	var recording *recordedRun
	if c.recording != nil && !info.Streaming && enabled(runSeverity, recordingEventName) {
		recording = &recordedRun{info: info, items: slices.Clone(info.Items)}
	}
	if !run && !items && !alerts && recording == nil {
		return nil
	}
	return &runLog{Logger: logger, run: run, items: items, attrs: slices.Clip(attrs), collector: c, recording: recording}
}

// emit makes a record that belongs to the span in ctx.
func (l *runLog) emit(ctx context.Context, severity log.Severity, event string, at time.Time, attrs ...attribute.KeyValue) {
	if !l.Enabled(ctx, log.EnabledParameters{Severity: severity, EventName: event}) {
		return
	}
	var r log.Record
	r.SetEventName(event)
	r.SetTimestamp(at)
	r.SetSeverity(severity)
	r.AddAttributes(attrs...)
	l.Emit(ctx, r)
}

// emitBody makes a record that has a text.
func (l *runLog) emitBody(ctx context.Context, severity log.Severity, event string, at time.Time, text string) {
	var r log.Record
	r.SetEventName(event)
	r.SetTimestamp(at)
	r.SetSeverity(severity)
	r.SetBody(attribute.StringValue(text))
	l.Emit(ctx, r)
}

// stage counts what a stage left out and put in.
func (l *runLog) stage(e observe.StageEnd) {
	if l.recording != nil {
		for i := range e.Included {
			l.recording.selected = append(l.recording.selected, recordedChoice{e.Included[i].Candidate, e.Included[i].Form})
		}
	}
	if !l.run {
		return
	}
	for i := range e.Excluded {
		x := &e.Excluded[i]
		code := x.Reason.Code
		if !slices.Contains(reasons, code) {
			code = other
		}
		tokens := x.Item.Tokens()
		l.excluded.add(1, tokens)
		countIn(&l.reasons, code, tokens)
		countIn(&l.kindsOut, x.Item.Kind(), tokens)
	}
	for i := range e.Included {
		countIn(&l.kindsIn, e.Included[i].Item.Kind(), e.Included[i].Item.Tokens())
	}
}

// end makes the record of the run, with the attributes that the root span got at its
// end.
func (l *runLog) end(ctx context.Context, e observe.RunEnd, attrs []attribute.KeyValue) {
	if l.recording != nil {
		l.recording.end(ctx, l, e)
	}
	if !l.run {
		return
	}
	severity := runSeverity
	if e.Err != nil {
		severity = failedSeverity
	}
	all := append(append(l.attrs, attrs...), excludedKey.Int(l.excluded.items))
	if len(l.reasons) > 0 {
		all = append(all, countsOf(selectionExcludedByReasonKey, l.reasons, func(c cupel.ExclusionCode) string { return string(c) }))
	}
	kind := func(k cupel.ContextKind) string { return l.collector.text(TextKind, string(k)) }
	if len(l.kindsOut) > 0 {
		all = append(all, countsOf(selectionExcludedByKindKey, l.kindsOut, kind))
	}
	if len(l.kindsIn) > 0 {
		all = append(all, countsOf(selectionIncludedByKindKey, l.kindsIn, kind))
	}
	l.emit(ctx, severity, selectionEventName, e.End, all...)
}

// count is a number of items and their tokens, which stay within the range of int.
type count struct{ items, tokens int }

func (c *count) add(items, tokens int) {
	c.items += items
	switch sum := c.tokens + tokens; {
	case tokens > 0 && sum < c.tokens:
		c.tokens = math.MaxInt
	case tokens < 0 && sum > c.tokens:
		c.tokens = math.MinInt
	default:
		c.tokens = sum
	}
}

func countIn[K comparable](counts *map[K]*count, key K, tokens int) {
	c := (*counts)[key]
	if c == nil {
		if *counts == nil {
			*counts = make(map[K]*count)
		}
		c = new(count)
		(*counts)[key] = c
	}
	c.add(1, tokens)
}

// maxKinds is how many kinds one record names.
const maxKinds = 32

// countsOf returns counts as a map attribute, by name.
func countsOf[K ~string](key attribute.Key, counts map[K]*count, nameOf func(K) string) attribute.KeyValue {
	type entry struct {
		name string
		count
	}
	entries := make([]entry, 0, len(counts))
	for k, c := range counts {
		entries = append(entries, entry{string(k), *c})
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(cmp.Compare(b.items, a.items), cmp.Compare(a.name, b.name)) })
	named := make(map[string]*count, len(entries)) // a Redactor may give several keys one name
	for i, e := range entries {
		name := other
		if i < maxKinds {
			name = nameOf(K(e.name))
		}
		if named[name] == nil {
			named[name] = new(count)
		}
		named[name].add(e.items, e.tokens)
	}
	attrs := make([]attribute.KeyValue, 0, len(named))
	for name, c := range named {
		attrs = append(attrs, attribute.Map(name, attribute.Int("items", c.items), attribute.Int("tokens", c.tokens)))
	}
	slices.SortFunc(attrs, func(a, b attribute.KeyValue) int { return cmp.Compare(a.Key, b.Key) })
	return key.Map(attrs...)
}

// sink is where the events of one span go.
type sink struct {
	span trace.Span      // nil for none
	log  *runLog         // nil for none
	ctx  context.Context //nolint:containedctx // of the span, for log
	at   time.Time

	stamp trace.EventOption // at, for span
}

// sinkOf returns where the events of span go. The span may be one that does not record.
func (r *traceRun) sinkOf(ctx context.Context, span trace.Span, at time.Time, records bool) sink {
	s := sink{at: at, stamp: trace.WithTimestamp(at)}
	if span.IsRecording() && !r.collector.noSpanEvents {
		s.span = span
	}
	if records {
		s.log, s.ctx = r.log, trace.ContextWithSpan(ctx, span)
	}
	return s
}

func (s *sink) event(severity log.Severity, name string, attrs ...attribute.KeyValue) {
	if s.span != nil {
		s.span.AddEvent(name, s.stamp, trace.WithAttributes(attrs...))
	}
	if s.log != nil {
		s.log.emit(s.ctx, severity, name, s.at, attrs...)
	}
}

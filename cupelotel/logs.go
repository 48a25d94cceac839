package cupelotel

import (
	"context"
	"slices"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"

	"github.com/wollax/cupel-go/cupel/observe"
)

// Severities of the log records.
const (
	runSeverity    = log.SeverityInfo  // a run
	failedSeverity = log.SeverityError // a run that failed
)

// WithLoggerProvider also makes a log record of each run, cupel.selection, at
// every verbosity. It belongs to the span of the run. nil selects the global
// provider; without this option there are no records.
//
// Records do not follow the sampling decision. If the trace is sampled out, or there is
// no tracing, runs still get the records that the logger is enabled for.
func WithLoggerProvider(provider log.LoggerProvider) TraceOption {
	if isNil(provider) {
		provider = otel.GetLoggerProvider()
	}
	logger := provider.Logger(ScopeName, log.WithInstrumentationVersion(Version), log.WithSchemaURL(schemaURL))
	return func(c *TraceCollector) { c.logger = logger }
}

// runLog makes the log records of one run.
type runLog struct {
	collector *TraceCollector
	attrs     []attribute.KeyValue
	excluded  int
	reasons   []observe.ReasonCount
}

// startLog returns nil if the logger is enabled for no record of the run.
func (c *TraceCollector) startLog(ctx context.Context, attrs []attribute.KeyValue) *runLog {
	if c.logger == nil || !c.logger.Enabled(ctx, log.EnabledParameters{Severity: failedSeverity, EventName: selectionEventName}) {
		return nil
	}
	return &runLog{collector: c, attrs: slices.Clip(attrs)}
}

// stage counts what a stage left out.
func (l *runLog) stage(e observe.StageEnd) {
	for _, c := range e.Reasons {
		l.excluded += c.Items
	}
	l.reasons = append(l.reasons, e.Reasons...)
}

// end makes the record of the run in the context of its span, with the attributes that
// the root span got at its end.
func (l *runLog) end(ctx context.Context, e observe.RunEnd, attrs []attribute.KeyValue) {
	severity := runSeverity
	if e.Err != nil {
		severity = failedSeverity
	}
	if !l.collector.logger.Enabled(ctx, log.EnabledParameters{Severity: severity, EventName: selectionEventName}) {
		return
	}
	var r log.Record
	r.SetEventName(selectionEventName)
	r.SetTimestamp(e.End)
	r.SetSeverity(severity)
	r.AddAttributes(l.attrs...)
	r.AddAttributes(attrs...)
	r.AddAttributes(excludedKey.Int(l.excluded))
	r.AddAttributes(appendReasons(nil, l.reasons)...)
	l.collector.logger.Emit(ctx, r)
}

package cupelotel

import (
	"context"
	"slices"
	"time"

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

// WithLoggerProvider makes a log record of each run too, cupel.selection, at every
// verbosity. It belongs to the span of the run. nil selects the global provider;
// without this option there are no records.
//
// Records do not follow the sampling decision. If the trace is sampled out, or there is
// no tracing, runs still have the records that the logger is enabled for.
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
	recording *recordedRun // nil for none
}

// startLog returns nil if the logger is enabled for no records of the run.
func (c *TraceCollector) startLog(ctx context.Context, info observe.RunInfo, attrs []attribute.KeyValue) *runLog {
	if c.logger == nil {
		return nil
	}
	l := &runLog{collector: c, attrs: slices.Clip(attrs)}
	if c.recording != nil && !info.Streaming && l.enabled(ctx, runSeverity, recordingEventName) {
		l.recording = &recordedRun{info: info, items: slices.Clone(info.Items)}
	}
	if l.recording == nil && !l.enabled(ctx, failedSeverity, selectionEventName) {
		return nil
	}
	return l
}

func (l *runLog) enabled(ctx context.Context, severity log.Severity, event string) bool {
	return l.collector.logger.Enabled(ctx, log.EnabledParameters{Severity: severity, EventName: event})
}

// emit makes a record that belongs to the span in ctx.
func (l *runLog) emit(ctx context.Context, severity log.Severity, event string, at time.Time, text string, attrs ...attribute.KeyValue) {
	if !l.enabled(ctx, severity, event) {
		return
	}
	var r log.Record
	r.SetEventName(event)
	r.SetTimestamp(at)
	r.SetSeverity(severity)
	if text != "" {
		r.SetBody(attribute.StringValue(text))
	}
	r.AddAttributes(attrs...)
	l.collector.logger.Emit(ctx, r)
}

// stage counts what a stage left out and put in.
func (l *runLog) stage(e observe.StageEnd) {
	if l.recording != nil {
		for i := range e.Included {
			l.recording.selected = append(l.recording.selected, recordedChoice{e.Included[i].Candidate, e.Included[i].Form})
		}
	}
	for _, c := range e.Reasons {
		l.excluded += c.Items
	}
	l.reasons = append(l.reasons, e.Reasons...)
}

// end makes the record of the run, with the attributes that the root span got at its
// end.
func (l *runLog) end(ctx context.Context, e observe.RunEnd, attrs []attribute.KeyValue) {
	if l.recording != nil {
		l.recording.end(ctx, l, e)
	}
	severity := runSeverity
	if e.Err != nil {
		severity = failedSeverity
	}
	all := append(append(l.attrs, attrs...), excludedKey.Int(l.excluded))
	if reasons := reasonCounts(l.reasons); reasons != "" {
		all = append(all, exclusionReasonsKey.String(reasons))
	}
	l.emit(ctx, severity, selectionEventName, e.End, "", all...)
}

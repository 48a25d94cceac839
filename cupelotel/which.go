package cupelotel

import (
	"context"
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel/observe"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
)

// An Option configures a [TraceCollector] or a [MetricCollector].
type Option interface {
	TraceOption
	MetricOption
}

type option func(*which)

func (o option) applyTrace(c *TraceCollector)   { o(&c.which) }
func (o option) applyMetric(c *MetricCollector) { o(&c.which) }

// WithAttributes adds attributes to the root span of each run and to the spans of
// turns, or to every measurement. Given several times, all are added. Cupel's own
// attributes win over attributes of the same name.
//
// Each combination of values makes time series of their own: about 100 for one
// pipeline.
func WithAttributes(attrs ...attribute.KeyValue) Option {
	attrs = slices.Clone(attrs)
	return option(func(w *which) { w.attrs = append(w.attrs, attrs...) })
}

// WithAttributesFunc adds the attributes that get returns for the context of a run
// or a turn, as [WithAttributes] does, over which they win. It is called once for
// each run and each turn that is observed; concurrent runs call it concurrently. If
// it panics, its attributes are left out and the OpenTelemetry error handler
// receives an error. nil adds none. The last one given counts.
//
// For metrics return one of a few values, such as a tenant's plan.
// An id of a user or a conversation makes time series without bound; such ids
// belong on spans.
func WithAttributesFunc(get func(ctx context.Context) []attribute.KeyValue) Option {
	return option(func(w *which) { w.attrsOf = get })
}

// WithFilter observes only the runs for which observe returns true. It is also asked
// about the turns of a session, with what a turn knows of the fields of info.
// Concurrent runs call it concurrently. If it panics, the run is not observed and the
// OpenTelemetry error handler receives an error. nil observes all. The last one given
// counts.
func WithFilter(observe func(ctx context.Context, info observe.RunInfo) bool) Option {
	return option(func(w *which) { w.filter = observe })
}

// which says what a collector observes, and as what.
type which struct {
	attrs   []attribute.KeyValue
	attrsOf func(ctx context.Context) []attribute.KeyValue
	filter  func(ctx context.Context, info observe.RunInfo) bool
}

// observes reports whether the filter lets a run through.
func (w *which) observes(ctx context.Context, info observe.RunInfo) (yes bool) {
	if w.filter == nil {
		return true
	}
	defer recovered("a run", "filter")
	return w.filter(ctx, info)
}

// attributes returns those of the caller, with room for more.
func (w *which) attributes(ctx context.Context, more int) []attribute.KeyValue {
	var dynamic []attribute.KeyValue
	if w.attrsOf != nil {
		dynamic = w.dynamic(ctx)
	}
	attrs := make([]attribute.KeyValue, 0, len(w.attrs)+len(dynamic)+more)
	return append(append(attrs, w.attrs...), dynamic...)
}

func (w *which) dynamic(ctx context.Context) []attribute.KeyValue {
	defer recovered("attributes", "function of WithAttributesFunc")
	return w.attrsOf(ctx)
}

// recovered, when deferred, reports a panic of a function of the caller's.
func recovered(what, who string) {
	if v := recover(); v != nil {
		// Not the value: it may quote an item.
		otel.Handle(fmt.Errorf("cupelotel: left out %s: the %s panicked with a %T", what, who, v))
	}
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

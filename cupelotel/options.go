package cupelotel

import (
	"strconv"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/wollax/cupel-go/cupel/observe"
)

// Verbosity is how much of each run a [TraceCollector] shows. A higher
// verbosity includes everything a lower one shows.
//
// It implements the Verbosity Tiers section of the OpenTelemetry chapter.
type Verbosity uint8

// The verbosities, in ascending order. The zero value is the default.
const (
	// VerbosityStageOnly shows the run and its stages, with the number of items
	// entering and leaving each. For production.
	VerbosityStageOnly Verbosity = iota
	// VerbosityStageAndExclusions adds the number of items that each stage left
	// out, and an event with the reason for each item. For staging.
	VerbosityStageAndExclusions
	// VerbosityFull adds an event for each item of the window. For development:
	// large sets of items make traces of high cardinality. Do not enable it in
	// production without a sampling strategy that caps the volume.
	VerbosityFull
)

// String returns the specification's name, such as "StageOnly". It is the
// value of cupel.verbosity.
func (v Verbosity) String() string {
	switch v {
	case VerbosityStageOnly:
		return "StageOnly"
	case VerbosityStageAndExclusions:
		return "StageAndExclusions"
	case VerbosityFull:
		return "Full"
	}
	return "Verbosity(" + strconv.Itoa(int(v)) + ")"
}

// DefaultEventLimit is the maximum number of events per span that a
// [TraceCollector] records by default. It equals the SDK's default.
const DefaultEventLimit = 128

// TraceOption configures a [TraceCollector].
type TraceOption func(*TraceCollector)

// WithTracerProvider sets the provider of the spans. The default, and nil, is
// the global provider, which may be set up later.
func WithTracerProvider(provider trace.TracerProvider) TraceOption {
	if isNil(provider) {
		provider = otel.GetTracerProvider()
	}
	tracer := provider.Tracer(ScopeName, trace.WithInstrumentationVersion(Version), trace.WithSchemaURL(schemaURL))
	return func(c *TraceCollector) { c.tracer = tracer }
}

// WithVerbosity sets how much the spans show. The default is
// [VerbosityStageOnly]; unknown values count as VerbosityStageOnly too.
func WithVerbosity(verbosity Verbosity) TraceOption {
	if verbosity > VerbosityFull {
		verbosity = VerbosityStageOnly // an unknown value must not show more
	}
	return func(c *TraceCollector) { c.verbosity = verbosity }
}

// WithEventLimit sets the maximum number of events per span, exclusions and
// inclusions together. The default is [DefaultEventLimit]. As with the SDK's
// limit, 0 means no events and a negative number means no limit.
//
// When the limit is exceeded, the item with the highest score of each exclusion
// reason keeps its event, and then those with the highest scores of all. Among equal
// scores, exclusions come before inclusions and earlier items before later ones. NaN
// is the lowest score.
//
// The SDK drops the oldest events beyond its own limit, so raising this limit
// also requires raising the SDK's EventCountLimit.
func WithEventLimit(limit int) TraceOption {
	return func(c *TraceCollector) { c.limit = limit }
}

// WithRedaction sets which texts of items, and which other texts from outside Cupel,
// spans and log records show. By default they show only the kind of an item, and a
// summary of errors in Cupel's own words, numbers and kinds; [observe.PartError] shows
// the errors' text instead. The policy's ID is in the events of items, as cupel.item.id.
//
// If Rewrite panics, the text is left out and the OpenTelemetry error handler receives
// an error.
func WithRedaction(policy observe.Redaction) TraceOption {
	return func(c *TraceCollector) { c.redaction = redaction{policy} }
}

// WithMetricRedaction sets the policy for metrics, which show the names of pipelines and
// the kinds of shortfalls.
func WithMetricRedaction(policy observe.Redaction) MetricOption {
	return func(c *MetricCollector) { c.redaction = redaction{policy} }
}

// redaction selects the texts that a collector shows.
type redaction struct{ observe.Redaction }

// text returns the shown part of a text, or "".
func (r *redaction) text(from observe.Part, text string) string {
	if text == "" {
		return ""
	}
	defer recovered("a text", "function of the redaction")
	shown, _ := r.Text(from, text)
	return shown
}

// MetricOption configures a [MetricCollector].
type MetricOption func(*MetricCollector)

// WithMeterProvider sets the provider of the instruments. The default, and nil,
// is the global provider, which may be set up later.
func WithMeterProvider(provider metric.MeterProvider) MetricOption {
	if isNil(provider) {
		provider = otel.GetMeterProvider()
	}
	instruments := newInstruments(provider)
	return func(c *MetricCollector) { c.instruments = instruments }
}

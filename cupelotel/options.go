package cupelotel

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
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

// WithRedaction sets the function that rewrites text from outside Cupel before
// a span shows it. nil means the default described at [TextSource].
func WithRedaction(redact Redactor) TraceOption {
	return func(c *TraceCollector) { c.redact = redact }
}

// TextSource is the origin of a text that a span may show.
type TextSource uint8

// The sources of text, and what spans show of each without a [Redactor].
const (
	// TextKind is a kind, as the item or the configuration spells it, in an
	// exclusion or inclusion event or in the description of a scarcity error.
	// Shown by default.
	TextKind TextSource = iota + 1
	// TextReason is the name of a custom slicer's own exclusion reason, or of a
	// reason for a break that package cupelsession does not have. Shown by default. Cupel's reasons are always shown.
	TextReason
	// TextError is the text of the error that a run failed with. It may quote
	// anything: what a strategy panicked with or returned, or the cause of a
	// cancellation. Not shown by default; the status description is a summary
	// made of Cupel's own words, numbers and kinds.
	TextError
	// TextGroup is the group of an item, in an exclusion or inclusion event. Shown
	// by default.
	TextGroup
	// TextPipeline is the name of a pipeline, or the hash of its policy.
	// Shown by default. Metrics, which have no Redactor, show the pipeline's too.
	TextPipeline
	// TextConversation is the id of a conversation. Shown by default.
	TextConversation
)

// A Redactor returns the text that a span or a log record shows in place of a text
// from the given source. An empty result for a TextError selects the summary.
// Concurrent runs call it concurrently. If it panics, the text is left out and the
// OpenTelemetry error handler receives an error.
//
// Apart from [WithItemAttributes], no other text from outside Cupel reaches a span or
// a log record: item contents, tags, metadata and sources never do. Invalid UTF-8, which
// exporters reject, is replaced after the Redactor has run.
type Redactor func(source TextSource, text string) string

// text returns the redacted form of a text from source.
func (c *TraceCollector) text(source TextSource, text string) string {
	if c.redact != nil {
		text = c.redacted(source, text)
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

func (c *TraceCollector) redacted(source TextSource, text string) string {
	defer recovered("the text of a span", "Redactor")
	return c.redact(source, text)
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

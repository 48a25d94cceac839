package cupelotel

import (
	"fmt"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Verbosity says how much a [TraceCollector] shows of each run. A higher one
// includes everything of the lower ones.
//
// It implements the Verbosity Tiers section of the OpenTelemetry chapter.
type Verbosity uint8

// The verbosities, in ascending order. The zero value is the default.
const (
	// VerbosityStageOnly shows the run and its stages, with the numbers of items that
	// enter and leave them. For production.
	VerbosityStageOnly Verbosity = iota
	// VerbosityStageAndExclusions adds the number of items that each stage left out,
	// and an event with the reason for each. For staging.
	VerbosityStageAndExclusions
	// VerbosityFull adds an event for each item of the window. For development only: it
	// makes traces of high cardinality from large sets of items. Do not enable
	// it in production without a sampling strategy that caps the volume.
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

// DefaultEventLimit is the number of events a span that a [TraceCollector]
// records by default. It is that of the SDK.
const DefaultEventLimit = 128

// TraceOption is an optional setting of a [TraceCollector].
type TraceOption interface{ applyTrace(*TraceCollector) }

type traceOption func(*TraceCollector)

func (o traceOption) applyTrace(c *TraceCollector) { o(c) }

// WithTracerProvider has the collector make its spans with provider. By
// default, and for nil, it is the global one at the time of each run.
func WithTracerProvider(provider trace.TracerProvider) TraceOption {
	if isNil(provider) {
		provider = nil
	}
	return traceOption(func(c *TraceCollector) { c.provider = provider })
}

// WithVerbosity sets how much the spans show. The default is [VerbosityStageOnly], and
// so is every value that is not one of the three.
func WithVerbosity(verbosity Verbosity) TraceOption {
	return traceOption(func(c *TraceCollector) {
		if verbosity > VerbosityFull {
			verbosity = VerbosityStageOnly // an unknown value must not show more
		}
		c.verbosity = verbosity
	})
}

// WithEventLimit sets the most events that a span gets, exclusions and
// inclusions together; the default is [DefaultEventLimit]. As with the SDK's
// own limit, 0 means no events and a negative number no limit.
//
// Beyond the limit the items of the highest scores keep their events. Among
// equal scores exclusions come before inclusions, and then the earlier item.
// NaN is the lowest score.
//
// The SDK has a limit too, and drops the oldest events beyond it: a higher
// limit here needs a higher EventCountLimit there.
func WithEventLimit(limit int) TraceOption {
	return traceOption(func(c *TraceCollector) { c.limit = limit })
}

// WithRedaction has redact decide what spans show of texts that are not
// Cupel's own. nil means the default that [Redactor] describes.
func WithRedaction(redact Redactor) TraceOption {
	return traceOption(func(c *TraceCollector) { c.redact = redact })
}

// TextSource says where a text comes from that a span may show.
type TextSource uint8

// The sources of text, and what spans show of each without a [Redactor].
const (
	// TextKind is a kind, as the item or the configuration spells it: that of
	// an exclusion or inclusion event, or in the description of a scarcity
	// error. Shown by default.
	TextKind TextSource = iota + 1
	// TextReason is the name of a reason for an exclusion that a custom slicer
	// made up; Cupel's own are always shown. Shown by default.
	TextReason
	// TextError is the text of the error that a run failed with, which may
	// quote anything: what a strategy panicked with, what it returned, the
	// cause of a cancellation. Not shown by default; the description of the
	// status is a summary instead, of Cupel's words, numbers, kinds and the Go
	// type of the strategy.
	TextError
)

// A Redactor returns what a span is to show of a text from the given source. An
// empty result for a TextError means the summary. It is called in the
// goroutines of the runs, several at once. When it panics the text is left out
// and the OpenTelemetry error handler is told.
//
// Nothing else that is written by others gets to a span: the content of items
// never does, nor do their tags, metadata and sources. Invalid UTF-8, on which
// exporters fail, is replaced after the Redactor has seen the text.
type Redactor func(source TextSource, text string) string

// text returns what is to be shown of a text from source.
func (c *TraceCollector) text(source TextSource, text string) string {
	if c.redact != nil {
		text = c.redacted(source, text)
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

func (c *TraceCollector) redacted(source TextSource, text string) (shown string) {
	defer func() {
		if v := recover(); v != nil {
			// Not the value: it may quote the text.
			otel.Handle(fmt.Errorf("cupelotel: the text of a span was left out: its redaction panicked with a %T", v))
			shown = ""
		}
	}()
	return c.redact(source, text)
}

// MetricOption is an optional setting of a [MetricCollector].
type MetricOption interface{ applyMetric(*MetricCollector) }

type metricOption func(*MetricCollector)

func (o metricOption) applyMetric(c *MetricCollector) { o(c) }

// WithMeterProvider has the collector record with provider. By default, and for
// nil, it is the global one at the time of each run.
func WithMeterProvider(provider metric.MeterProvider) MetricOption {
	if isNil(provider) {
		provider = nil
	}
	return metricOption(func(c *MetricCollector) { c.provider = provider })
}

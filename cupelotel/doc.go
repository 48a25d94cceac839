// Package cupelotel reports the runs of a Cupel pipeline to OpenTelemetry, as
// spans, as log records and as metrics.
//
// A [TraceCollector] turns each run into a tree of spans below the span in the
// run's context:
//
//	cupel.pipeline
//	├── cupel.stage.classify
//	├── cupel.stage.score
//	├── cupel.stage.deduplicate
//	├── cupel.stage.slice
//	└── cupel.stage.place
//
// Spans start and end when the run and its stages do, in real time. If a
// strategy starts a span from the context it receives, that span appears below
// its stage. A [MetricCollector] measures the same runs. Pass both like any
// other collector:
//
//	tracing := cupelotel.NewTraceCollector(cupelotel.WithVerbosity(cupelotel.VerbosityStageAndExclusions))
//	metrics := cupelotel.NewMetricCollector()
//	window, err := selector.Run(ctx, items, budget,
//		pipeline.WithTrace(observe.Multi(tracing, metrics)))
//
// One collector serves any number of concurrent runs. List the TraceCollector
// first so that exemplars link to its spans.
//
// The turns of a session, such as those of package cupelsession, are spans of
// their own, with the runs that chose for them below:
//
//	cupel.session.turn
//	└── cupel.pipeline
//	cupel.session.commit
//
// # How much to show
//
// [VerbosityStageOnly] is for production: six spans per run and no events.
// [VerbosityStageAndExclusions], for staging, adds an event for each item left
// out, typically up to 300 per run. [VerbosityFull] adds one for each item of
// the window, up to 1000 per run. Its traces have high cardinality: use it only
// in development, or with a sampling strategy that caps the volume.
//
// # Attribute names may change
//
// All cupel.* attribute names are pre-stable: they may be renamed, merged or
// removed while OpenTelemetry's conventions for language models settle. Do not
// build alerts, dashboards or automation on them; the names of metrics are stable.
// The values of cupel.exclusion.reason are open-ended: never rely on a fixed set.
//
// # Limits
//
// By default the SDK keeps 128 events per span and silently drops the oldest
// ones. The collector therefore applies the same limit itself. It keeps one event
// of each exclusion reason and then those with the highest scores, and records on
// the span how many it dropped. To see more events, raise both limits:
// [WithEventLimit] and the SDK's [go.opentelemetry.io/otel/sdk/trace.SpanLimits].
//
// # Logs
//
// [WithLoggerProvider] adds a log record for each run, cupel.selection, even if the
// trace is not sampled.
//
// # What leaves the process
//
// The kind is the only text of an item that leaves, unless [WithRedaction] shows others
// or [WithReportAttributes] adds them. Reasons and a summary of errors leave too.
//
// # Failures
//
// When a run fails, the span of the failed stage and the root span get status
// Error, a description and error.type. Earlier stages are complete; later
// stages have no span. This covers panics of strategies, the end of the
// context, and runs that never return: if another collector or the overflow
// observer panics, which the pipeline does not catch, or if something calls
// runtime.Goexit, the open spans end with an [observe.AbandonedError].
//
// The package implements the OpenTelemetry Integration chapter of the specification.
package cupelotel

import semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

// ScopeName is the name of the instrumentation scope of all spans and metrics.
// The specification fixes it.
const ScopeName = "Wollax.Cupel"

// Version is the version of this module, and of its instrumentation scope.
const Version = "0.1.0"

// schemaURL names the release of OpenTelemetry's conventions that defines
// error.type.
const schemaURL = semconv.SchemaURL

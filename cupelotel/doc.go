// Package cupelotel shows runs of a Cupel pipeline in OpenTelemetry: as a tree
// of spans, and as metrics.
//
// A [TraceCollector] turns each run into the specification's tree, below the
// span in the context that the run is given:
//
//	cupel.pipeline
//	├── cupel.stage.classify
//	├── cupel.stage.score
//	├── cupel.stage.deduplicate
//	├── cupel.stage.slice
//	└── cupel.stage.place
//
// Spans start and end when the run and its stages did, by the pipeline's clock.
// A strategy that starts a span from the context that it is given appears below
// its stage. A [MetricCollector] measures the same runs. Both are collectors
// like any other:
//
//	tracing := cupelotel.NewTraceCollector(cupelotel.WithVerbosity(cupelotel.VerbosityStageAndExclusions))
//	metrics := cupelotel.NewMetricCollector()
//	window, err := pipeline.Run(ctx, items, budget,
//		cupel.WithTrace(cupel.MultiTraceCollector(tracing, metrics)))
//
// One collector serves any number of runs at once. List the TraceCollector
// first, so that the exemplars of the metrics point at its spans.
//
// # How much to show
//
// [VerbosityStageOnly] is for production: six spans a run and nothing for each item.
// [VerbosityStageAndExclusions] adds an event for every item left out, typically up to
// 300 a run, and is for staging. [VerbosityFull] adds one for every item of the window,
// up to 1000 a run: high cardinality, for development only, unless a sampling
// strategy caps the volume of traces.
//
// # Attribute names may change
//
// All cupel.* attribute names are pre-stable, as the specification calls them:
// they may be renamed, merged or removed while OpenTelemetry's conventions for
// language models settle. Do not build alerts, dashboards or automation on
// them. The values of cupel.exclusion.reason are open-ended: never rely on a
// fixed set of them.
//
// # Limits
//
// The SDK keeps 128 events a span unless told otherwise, and throws away the
// oldest beyond that without a word. The collector therefore limits events
// itself, to the same number, keeps those of the highest scores, and says on
// the span how many it left out. To see more, raise both: [WithEventLimit] here
// and [go.opentelemetry.io/otel/sdk/trace.SpanLimits] there.
//
// # What leaves the process
//
// The content of items, their tags, metadata and sources, never. Kinds, reasons
// and a summary of errors do; see [Redactor].
//
// # Failures
//
// A run that fails ends its spans with the error: the stage that failed and the
// root have status Error, a description and error.type. Stages before it are
// complete, later ones have no span. That covers panics of strategies, the end
// of the context, and runs that never return: a panic that the pipeline does not
// catch, of another collector or of the overflow observer, ends the open spans
// with a [cupel.AbandonedError] on its way up, and so does runtime.Goexit.
//
// It implements the OpenTelemetry Integration chapter of the specification.
package cupelotel

// ScopeName is the name of the instrumentation scope of all spans and metrics,
// fixed by the specification (R44).
const ScopeName = "Wollax.Cupel"

// Version is the version of this module, and of its instrumentation scope.
const Version = "0.1.0"

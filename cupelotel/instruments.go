package cupelotel

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// Histogram boundaries, given as hints: an SDK view overrides them.
var (
	// A run takes a few microseconds, or seconds if a scorer calls a model.
	durationBoundaries = []float64{
		1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
	}
	tokenBoundaries = []float64{
		0, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152,
	}
	// Writing to a cache may cost more than plain input, and a break much more than
	// reading everything.
	costBoundaries = []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 2, 4, 8}
	// Only required items or Proceed can select more than the budget, and so
	// exceed 1.
	utilizationBoundaries = []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1, 1.25, 1.5, 2}
)

// instruments holds the instruments of one MeterProvider.
type instruments struct {
	pipelineDuration, stageDuration metric.Float64Histogram
	selectedTokens                  metric.Int64Histogram
	utilization, targetUtilization  metric.Float64Histogram
	items, exclusions               metric.Int64Counter
	shortfalls, overflow            metric.Int64Counter

	sessionDuration, sessionCostRatio           metric.Float64Histogram
	sessionKept                                 metric.Int64Histogram
	sessionTurns, sessionBreaks, sessionDropped metric.Int64Counter
	sessionReadPredicted, sessionReadReported   metric.Int64Counter

	all    []interface{ Enabled(context.Context) bool }
	series sync.Map // of *series by seriesKey
}

func newInstruments(provider metric.MeterProvider) *instruments {
	meter := provider.Meter(ScopeName, metric.WithInstrumentationVersion(Version), metric.WithSchemaURL(schemaURL))
	in := &instruments{}
	histogram := func(name, unit, description string, boundaries []float64) metric.Float64Histogram {
		h, err := meter.Float64Histogram(name, metric.WithUnit(unit), metric.WithDescription(description),
			metric.WithExplicitBucketBoundaries(boundaries...))
		return usable[metric.Float64Histogram](in, h, err, noop.Float64Histogram{})
	}
	counter := func(name, unit, description string) metric.Int64Counter {
		c, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		return usable[metric.Int64Counter](in, c, err, noop.Int64Counter{})
	}
	histogramOfTokens := func(name, description string) metric.Int64Histogram {
		h, err := meter.Int64Histogram(name, metric.WithUnit("{token}"), metric.WithDescription(description),
			metric.WithExplicitBucketBoundaries(tokenBoundaries...))
		return usable[metric.Int64Histogram](in, h, err, noop.Int64Histogram{})
	}
	in.pipelineDuration = histogram("cupel.pipeline.duration", "s", "Duration of runs of the pipeline.", durationBoundaries)
	in.stageDuration = histogram("cupel.stage.duration", "s", "Duration of the stages of the pipeline.", durationBoundaries)
	in.selectedTokens = histogramOfTokens("cupel.pipeline.selected_tokens", "Tokens of the items in the window.")
	in.utilization = histogram("cupel.budget.utilization", "1", "Tokens of the items in the window, as a fraction of the budget's maximum.",
		utilizationBoundaries)
	in.targetUtilization = histogram("cupel.budget.target_utilization", "1", "Tokens of the items in the window, as a fraction of the budget's target.",
		utilizationBoundaries)
	in.shortfalls = counter("cupel.shortfalls", "{shortfall}", "Kinds with too few candidates in a run.")
	in.overflow = counter("cupel.overflow.tokens", "{token}", "Tokens over the target of windows that were allowed to exceed it.")
	in.items = counter("cupel.items", "{item}", "Items that entered a stage of the pipeline.")
	in.exclusions = counter("cupel.exclusions", "{item}", "Items that a stage of the pipeline left out.")

	in.sessionDuration = histogram("cupel.session.duration", "s", "Duration of proposing a turn of a session.", durationBoundaries)
	in.sessionCostRatio = histogram("cupel.session.cost_ratio", "1", "Cost of a turn, as a fraction of sending everything.", costBoundaries)
	in.sessionKept = histogramOfTokens("cupel.session.kept_tokens", "Tokens at the beginning of the window that were sent as before.")
	in.sessionTurns = counter("cupel.session.turns", "{turn}", "Committed turns.")
	in.sessionBreaks = counter("cupel.session.breaks", "{break}", "Committed turns whose window differs from what was sent before.")
	in.sessionDropped = counter("cupel.session.dropped", "{item}", "Items that left the window of a session.")
	in.sessionReadPredicted = counter("cupel.session.read_predicted", "{token}", "Tokens that the provider's cache was expected to have.")
	in.sessionReadReported = counter("cupel.session.read_reported", "{token}", "Tokens that the provider read from its cache.")
	return in
}

// usable returns the instrument, or a no-op if it could not be created. The
// error goes to OpenTelemetry's error handler: metrics never fail a run.
func usable[T interface{ Enabled(context.Context) bool }](in *instruments, instrument T, err error, fallback T) T {
	if err != nil {
		otel.Handle(err)
		return fallback
	}
	in.all = append(in.all, instrument)
	return instrument
}

// enabled reports whether any of the instruments is read.
func (in *instruments) enabled(ctx context.Context) bool {
	for _, instrument := range in.all {
		if instrument.Enabled(ctx) {
			return true
		}
	}
	return false
}

package cupelotel

import (
	"context"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// Histogram boundaries, given as hints: an SDK view overrides them. Each boundary
// makes a series for each pipeline. The boundaries are few, so that a pipeline has at
// most 100 series in Prometheus.
var (
	// A run takes a few microseconds, or seconds if a scorer calls a model.
	durationBoundaries = []float64{1e-5, 1e-4, 2.5e-4, 1e-3, 2.5e-3, 0.01, 0.025, 0.1, 0.25, 1, 2.5, 10}
	tokenBoundaries    = []float64{1 << 10, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 17, 1 << 18, 1 << 20}
	// Writing to a cache may cost more than plain input, and a break much more than
	// reading everything.
	costBoundaries = []float64{0.1, 0.25, 0.5, 0.75, 1, 1.25, 2}
	// Only required items or Proceed can select more than the budget, and so
	// exceed 1.
	utilizationBoundaries = []float64{0.25, 0.5, 0.75, 0.9, 0.95, 1, 1.25}
)

// instruments holds the instruments of one MeterProvider.
type instruments struct {
	pipelineDuration               metric.Float64Histogram
	stageTime                      metric.Float64Counter
	selectedTokens                 metric.Int64Histogram
	utilization, targetUtilization metric.Float64Histogram
	items, exclusions              metric.Int64Counter
	shortfalls, overflow           metric.Int64Counter

	sessionDuration, sessionCostRatio                        metric.Float64Histogram
	sessionTurns, sessionBreaks, sessionDropped, sessionKept metric.Int64Counter
	sessionReadPredicted, sessionReadReported                metric.Int64Counter

	all    []interface{ Enabled(context.Context) bool }
	series sync.Map     // of *series by seriesKey
	known  atomic.Int64 // how many series has
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
	in.pipelineDuration = histogram("cupel.pipeline.duration", "s", "Duration of runs of the pipeline.", durationBoundaries)
	stageTime, err := meter.Float64Counter("cupel.stage.time", metric.WithUnit("s"), metric.WithDescription("Time that runs spent in a stage of the pipeline."))
	in.stageTime = usable[metric.Float64Counter](in, stageTime, err, noop.Float64Counter{})
	selected, err := meter.Int64Histogram("cupel.pipeline.selected_tokens", metric.WithUnit("{token}"),
		metric.WithDescription("Tokens of the items in the window."), metric.WithExplicitBucketBoundaries(tokenBoundaries...))
	in.selectedTokens = usable[metric.Int64Histogram](in, selected, err, noop.Int64Histogram{})
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
	in.sessionKept = counter("cupel.session.kept_tokens", "{token}", "Tokens at the beginning of the window that were sent as before.")
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

// enabled reports whether any of the instruments has a reader.
func (in *instruments) enabled(ctx context.Context) bool {
	for _, instrument := range in.all {
		if instrument.Enabled(ctx) {
			return true
		}
	}
	return false
}

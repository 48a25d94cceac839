package cupelotel_test

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelotel"
)

// workload is a run of n items, where about half fit.
func workload(tb testing.TB, n int) (*pipeline.Pipeline, []*cupel.ContextItem, cupel.ContextBudget) {
	tb.Helper()
	items := make([]*cupel.ContextItem, n)
	kinds := []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput}
	tokens := 0
	for i := range items {
		size := 50 + i*37%200
		tokens += size
		items[i] = newItem(tb, "item "+strconv.Itoa(i), size, kind(kinds[i%3]), hint(float64(i*7919%n)/float64(n)))
	}
	p := newPipeline(tb, pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}})
	return p, items, newBudget(tb, tokens, tokens/2)
}

// discard is a span processor that does nothing, so that the measurement covers
// the collector and the SDK's spans but no exporter.
type discard struct{}

func (discard) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (discard) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (discard) Shutdown(context.Context) error                  { return nil }
func (discard) ForceFlush(context.Context) error                { return nil }

func recording() trace.TracerProvider {
	return sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(discard{}))
}

func metering() metric.MeterProvider {
	return sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
}

func sampledOut() trace.TracerProvider {
	return sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(discard{}), sdktrace.WithSampler(sdktrace.NeverSample()))
}

func TestCosts(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector drops pooled memory at random, and so adds allocations")
	}
	allocs := func(n int, collector observe.TraceCollector) int {
		p, items, budget := workload(t, n)
		return int(testing.AllocsPerRun(20, func() {
			_, err := p.Run(t.Context(), items, budget, pipeline.WithTrace(collector))
			require.NoError(t, err)
		}))
	}
	noTracing, unread := cupelotel.WithTracerProvider(noop.NewTracerProvider()), sdkmetric.NewMeterProvider()
	silent, _ := newRecords(log.SeverityFatal)
	for _, tt := range []struct {
		name      string
		collector observe.TraceCollector
		most      int // allocations above those of an untraced run
		why       string
	}{
		{"no-op provider", cupelotel.NewTraceCollector(noTracing, cupelotel.WithVerbosity(cupelotel.VerbosityFull)), 5, "the attributes that the root span is started with"},
		{"sampled out", cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(sampledOut()), cupelotel.WithVerbosity(cupelotel.VerbosityFull)), 8, "also the SDK's sampling parameters"},
		{"no log records", cupelotel.NewTraceCollector(noTracing, cupelotel.WithLoggerProvider(silent)), 6, "the logger wants none"},
		{"no reader", cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(unread)), 0, "nothing is enabled"},
		{"StageOnly", cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(recording())), 100, "the spans"},
		{"metrics", cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(metering())), 60, "the measurements"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var above [2]int
			for i, n := range []int{10, 1000} {
				above[i] = allocs(n, tt.collector) - allocs(n, nil)
				assert.LessOrEqual(t, above[i], tt.most, tt.why)
			}
			assert.Equal(t, above[0], above[1], "nothing is built for each item")
		})
	}
}

// TestBenchGuard fails if a collector costs more than docs/benchmarks.md says,
// compared with the same run without one in the same process, and a tenth more,
// which a busy machine may add. Only make bench-guard runs it, since it measures
// time.
func TestBenchGuard(t *testing.T) {
	if os.Getenv("CUPEL_BENCH_GUARD") == "" {
		t.Skip("make bench-guard runs this: it measures time")
	}
	// A heap of a few MB, as in this test, is collected every few runs, which no
	// application's is: whether a collection falls into a measurement would decide.
	defer debug.SetGCPercent(debug.SetGCPercent(1600))
	p, items, budget := workload(t, 1000)
	timed := func(do func()) time.Duration {
		start := time.Now()
		for range 10 {
			do()
		}
		return time.Since(start)
	}
	run := func(c observe.TraceCollector) func() {
		return func() {
			_, err := p.Run(t.Context(), items, budget, pipeline.WithTrace(c))
			require.NoError(t, err)
		}
	}
	at := func(verbosity cupelotel.Verbosity) (observe.TraceCollector, func()) {
		return cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(recording()), cupelotel.WithVerbosity(verbosity)),
			writtenByHand(t, p, items, budget, verbosity, recording())
	}
	exclusions, exclusionsByHand := at(cupelotel.VerbosityStageAndExclusions)
	full, fullByHand := at(cupelotel.VerbosityFull)
	const busy = 1.1
	for _, tt := range []struct {
		name      string
		collector observe.TraceCollector
		hand      func()  // what is added to the run without a collector; nil for nothing
		most      float64 // times that
	}{
		{"metrics", cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(metering())), nil, 1.2},
		{"sampled out", cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(sampledOut()), cupelotel.WithVerbosity(cupelotel.VerbosityFull)), nil, 1.15},
		{"StageOnly", cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(recording())), nil, 1.3},
		{"StageAndExclusions", exclusions, exclusionsByHand, 1.4},
		{"Full", full, fullByHand, 1.5},
	} {
		ratio := math.Inf(1)
		for range 12 { // a machine may be busy for a while, and the least is what is left of that
			without, with, hand := timed(run(nil)), timed(run(tt.collector)), time.Duration(math.MaxInt64)
			if tt.hand == nil {
				hand = 0
			}
			for range 300 { // interleaved, so that a disturbance affects all
				without, with = min(without, timed(run(nil))), min(with, timed(run(tt.collector)))
				if tt.hand != nil {
					hand = min(hand, timed(tt.hand))
				}
			}
			ratio = min(ratio, with.Seconds()/(without+hand).Seconds())
			t.Logf("%s %v, no collector %v, spans by hand %v: %.3g times, at most %.3g", tt.name, with/10, without/10, hand/10, ratio, tt.most)
			if ratio <= tt.most*busy {
				break
			}
		}
		assert.LessOrEqual(t, ratio, tt.most*busy, "%s: times the run without a collector and the same spans by hand", tt.name)
	}
}

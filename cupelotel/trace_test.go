package cupelotel_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelotel"
)

var update = flag.Bool("update", false, "rewrite the golden files; read the difference before you commit it")

// golden compares got with a file under testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "go test -update rewrites %s", file)
}

func TestWholeTree(t *testing.T) {
	for verbosity, why := range map[cupelotel.Verbosity]string{
		cupelotel.VerbosityStageOnly:          "six spans with counts and no events",
		cupelotel.VerbosityStageAndExclusions: "each exclusion is an event of the stage that made it (R46), a custom reason keeps its name, and every stage has a count, 0 included (R45)",
		cupelotel.VerbosityFull:               "the window's items are events of the place stage, in placed order, after its exclusions",
	} {
		t.Run(verbosity.String(), func(t *testing.T) {
			collector, recorder := traced(t, verbosity)
			run(t, config(), collector)
			golden(t, verbosity.String()+".txt", tree(recorder.Ended()))
			if t.Failed() {
				t.Log("why:", why)
			}
		})
	}
}

// The spans of a stream have the counts and the events of all batches.
//
//	20 pinned, 80 left; a: 70 left; b: 40 left; huge 5000, note 60, c 50
func TestStream(t *testing.T) {
	collector, recorder := traced(t, cupelotel.VerbosityFull)
	p := newPipeline(t, config())
	_, err := p.RunStream(t.Context(), source(t, nil), newBudget(t, 1000, 100), pipeline.WithTrace(collector), pipeline.WithBatchSize(2))
	require.NoError(t, err)
	golden(t, "StreamFull.txt", tree(recorder.Ended()))
}

func TestStreamFailures(t *testing.T) {
	for want, failing := range map[string]iter.Seq2[*cupel.ContextItem, error]{
		"*pipeline.SourceError cupel: the source failed at item 8": source(t, errors.New("secret")),
		"*cupel.PanicError cupel: the source panicked at item 8": func(yield func(*cupel.ContextItem, error) bool) {
			source(t, nil)(yield)
			panic("secret")
		},
	} {
		collector, recorder := traced(t, cupelotel.VerbosityStageOnly)
		_, err := newPipeline(t, config()).RunStream(t.Context(), failing, newBudget(t, 1000, 100), pipeline.WithTrace(collector), pipeline.WithBatchSize(2))
		require.Error(t, err)
		assert.Len(t, recorder.Ended(), 5, "all but place")
		for _, span := range recorder.Ended() {
			failed := span.Name() == "cupel.stage.classify" || span.Name() == "cupel.pipeline"
			assert.Equal(t, failed, span.Status().Code == codes.Error, span.Name())
			said := " "
			if failed {
				said = want
			}
			assert.Equal(t, said, attr(span.Attributes(), "error.type")+" "+span.Status().Description, span.Name())
		}
	}
}

// Spans have the real time, not that of the pipeline's clock, and lie within their parents.
// The time that a stream spends in a stage is by the pipeline's clock.
func TestTimes(t *testing.T) {
	spans, recorder := traced(t, cupelotel.VerbosityStageOnly)
	metrics, reader := measured(t)
	started := time.Now()
	c := config()
	c.Clock = ticking()
	trace := pipeline.WithTrace(observe.Multi(spans, metrics))
	_, err := newPipeline(t, c).RunStream(t.Context(), source(t, nil), newBudget(t, 1000, 100), trace, pipeline.WithBatchSize(4))
	require.NoError(t, err)
	root := spanNamed(t, recorder, "cupel.pipeline")
	for _, span := range recorder.Ended() {
		assert.False(t, span.StartTime().Before(started), "%s starts in the past", span.Name())
		assert.False(t, span.StartTime().Before(root.StartTime()) || span.EndTime().After(root.EndTime()), "%s is not within its parent", span.Name())
	}
	durations := map[string]string{}
	for _, m := range collect(t, reader) {
		if m.Name == "cupel.stage.time" {
			durations = points(m)
		}
	}
	for stage, want := range map[string]string{"classify": "0.5", "score": "0.5", "deduplicate": "0.5", "slice": "0.5", "place": "0.25"} {
		busy := attr(spanNamed(t, recorder, "cupel.stage."+stage).Attributes(), "cupel.stage.busy_time")
		assert.Equal(t, want, busy, "%s: a quarter of a second for each batch, without the time between them", stage)
		assert.Equal(t, want, durations["cupel.run.mode=stream cupel.stage.name="+stage], stage)
	}
}

// Spans of strategies are below their stage, and so is a run of a pipeline inside of
// one.
func TestSpansHangBelowTheCallers(t *testing.T) {
	provider, recorder := newRecorder(t)
	collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider))
	tracer := provider.Tracer("test")
	own := func(ctx context.Context, name string) {
		_, span := tracer.Start(ctx, name)
		span.End()
	}
	c := config()
	c.Scorer = batchFunc(func(ctx context.Context, _ []*cupel.ContextItem, _ []float64) error {
		own(ctx, "own scorer")
		return nil
	})
	c.Slicer = sliceFunc(func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
		_, err := newPipeline(t, config()).Prepare(ctx, candidates(t), pipeline.WithTrace(collector))
		require.NoError(t, err)
		return byTags(ctx, items, budget)
	})
	c.Placer = placeFunc(func(ctx context.Context, _ []cupel.ScoredItem, _ []int) error {
		own(ctx, "own placer")
		return nil
	})
	ctx, caller := tracer.Start(t.Context(), "caller")
	_, err := newPipeline(t, c).Run(ctx, candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector))
	caller.End()
	require.NoError(t, err)

	names := map[trace.SpanID]string{}
	for _, span := range recorder.Ended() {
		names[span.SpanContext().SpanID()] = span.Name()
	}
	var got []string
	for _, span := range recorder.Ended() {
		got = append(got, span.Name()+" below "+names[span.Parent().SpanID()])
	}
	assert.ElementsMatch(t, []string{
		"caller below ", "cupel.pipeline below caller",
		"cupel.stage.classify below cupel.pipeline", "cupel.stage.score below cupel.pipeline", "cupel.stage.deduplicate below cupel.pipeline",
		"cupel.stage.slice below cupel.pipeline", "cupel.stage.place below cupel.pipeline",
		"own scorer below cupel.stage.score", "own placer below cupel.stage.place", "cupel.pipeline below cupel.stage.slice",
		"cupel.stage.classify below cupel.pipeline", "cupel.stage.score below cupel.pipeline", "cupel.stage.deduplicate below cupel.pipeline",
	}, got)
}

func TestRunsThatAreNotRecorded(t *testing.T) {
	sampledOut := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))
	for _, tt := range []struct {
		name     string
		provider trace.TracerProvider
		traced   bool // the context has a trace, which is not sampled
		why      string
	}{
		{"sampled out", sampledOut, true, "strategies that start spans must find the decision"},
		{"no-op", noop.NewTracerProvider(), false, "tracing is off"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(tt.provider), cupelotel.WithVerbosity(cupelotel.VerbosityFull))
			_, state := collector.StartRun(t.Context(), observe.RunInfo{Start: base})
			assert.Nil(t, state, "nothing follows the run")
			var seen trace.SpanContext
			c := config()
			c.Scorer = batchFunc(func(ctx context.Context, _ []*cupel.ContextItem, _ []float64) error {
				seen = trace.SpanContextFromContext(ctx)
				return nil
			})
			run(t, c, collector)
			assert.Equal(t, tt.traced, seen.IsValid(), tt.why)
			assert.False(t, seen.IsSampled(), tt.why)
		})
	}
}

// sampler samples what its function allows.
type sampler func(sdktrace.SamplingParameters) bool

func (sampler) Description() string { return "sampler" }

func (f sampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	if f(p) {
		return sdktrace.SamplingResult{Decision: sdktrace.RecordAndSample}
	}
	return sdktrace.SamplingResult{Decision: sdktrace.Drop}
}

func TestSamplersMayLeaveOutStages(t *testing.T) {
	provider, recorder := newRecorder(t, sdktrace.WithSampler(sampler(func(p sdktrace.SamplingParameters) bool {
		return !strings.HasPrefix(p.Name, "cupel.stage.")
	})))
	run(t, config(), cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(cupelotel.VerbosityFull),
		cupelotel.WithRedaction(observe.Redaction{Rewrite: func(_ observe.Part, text string) string {
			t.Errorf("an event was built from %q for a span that does not record", text)
			return text
		}})))
	spanNamed(t, recorder, "cupel.pipeline")
	assert.Len(t, recorder.Ended(), 1)
}

// The chapter allows Full only with a sampling strategy, so the sampler must see the
// verbosity.
func TestSamplersSeeTheVerbosity(t *testing.T) {
	provider, recorder := newRecorder(t, sdktrace.WithSampler(sdktrace.ParentBased(sampler(func(p sdktrace.SamplingParameters) bool {
		return attr(p.Attributes, "cupel.verbosity") != "Full"
	}))))
	for _, verbosity := range []cupelotel.Verbosity{cupelotel.VerbosityFull, cupelotel.VerbosityStageOnly} {
		run(t, config(), cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(verbosity)))
	}
	assert.Equal(t, "StageOnly", attr(spanNamed(t, recorder, "cupel.pipeline").Attributes(), "cupel.verbosity"))
	assert.Len(t, recorder.Ended(), 6)
}

// early are collectors that are made before telemetry is set up. Variables of the SDK's
// types that are not set are as nil.
var early = observe.Multi(
	cupelotel.NewTraceCollector(nil, cupelotel.WithLoggerProvider((*sdklog.LoggerProvider)(nil))), cupelotel.NewMetricCollector(nil),
	cupelotel.NewTraceCollector(cupelotel.WithTracerProvider((*sdktrace.TracerProvider)(nil))),
	cupelotel.NewMetricCollector(cupelotel.WithMeterProvider((*sdkmetric.MeterProvider)(nil))))

// setUp sets the global providers, which OpenTelemetry hands on to what was made before
// only once in a process.
var setUp = sync.OnceValues(func() (*tracetest.SpanRecorder, *records) {
	recorder := tracetest.NewSpanRecorder()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)))
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(globalReader)))
	loggers, kept := newRecords(log.SeverityInfo)
	otel.SetLoggerProvider(loggers)
	return recorder, kept
})

var globalReader = sdkmetric.NewManualReader(sdkmetric.WithTemporalitySelector(sdkmetric.DeltaTemporalitySelector))

func TestGlobalProviders(t *testing.T) {
	run(t, config(), early)
	recorder, kept := setUp()
	collect(t, globalReader)
	spans, logged := len(recorder.Ended()), len(kept.all)
	run(t, config(), early)
	assert.Len(t, recorder.Ended(), spans+12, "two trees")
	assert.Len(t, kept.all, logged+1, "without the option there is no record")
	classified := ""
	for _, m := range collect(t, globalReader) {
		if m.Name == "cupel.items" {
			classified = points(m)["cupel.run.mode=run cupel.stage.name=classify"]
		}
	}
	assert.Equal(t, "16", classified, "candidates, twice")
}

func TestConcurrentRuns(t *testing.T) {
	provider, recorder := newRecorder(t)
	tracer := provider.Tracer("test")
	collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(cupelotel.VerbosityFull))
	good, bad := newPipeline(t, config()), config()
	bad.Scorer = scoreFunc(func(*cupel.ContextItem) float64 { panic("no") })
	failing := newPipeline(t, bad)
	items, budget := candidates(t), newBudget(t, 1000, 100)

	const callers, runs = 8, 20
	var wait sync.WaitGroup
	for caller := range callers {
		wait.Go(func() {
			for i := range runs {
				ctx, span := tracer.Start(t.Context(), "caller")
				p := good
				if (caller+i)%4 == 0 {
					p = failing
				}
				_, err := p.Run(ctx, items, budget, pipeline.WithTrace(collector))
				assert.Equal(t, p == failing, err != nil)
				span.End()
			}
		})
	}
	wait.Wait()

	traces := make(map[trace.TraceID][]sdktrace.ReadOnlySpan)
	for _, span := range recorder.Ended() {
		id := span.SpanContext().TraceID()
		traces[id] = append(traces[id], span)
	}
	shapes := make(map[string]int) // traces by number of spans and failed spans
	for _, spans := range traces {
		var failed []string
		for _, span := range spans {
			if span.Status().Code == codes.Error {
				failed = append(failed, span.Name())
			}
		}
		shapes[fmt.Sprint(len(spans), failed)]++
	}
	assert.Equal(t, map[string]int{
		"7 []":                                 callers * runs * 3 / 4,
		"4 [cupel.stage.score cupel.pipeline]": callers * runs / 4,
	}, shapes)
}

// A collector shares a run with others, and its lists: it does not change them. Stages
// are below the collector's own root, although another one started last.
func TestOneOfSeveralCollectors(t *testing.T) {
	full, recorder := traced(t, cupelotel.VerbosityFull, cupelotel.WithEventLimit(-1))
	diagnostic := observe.NewDiagnosticTraceCollector(observe.WithDetailLevel(observe.TraceDetailItem))
	alone := observe.NewDiagnosticTraceCollector(observe.WithDetailLevel(observe.TraceDetailItem))
	off := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))))
	run(t, config(), alone)
	run(t, config(), observe.Multi(full, diagnostic, off))
	golden(t, "Full.txt", tree(recorder.Ended()))
	for i, excluded := range alone.BuildReport().Excluded {
		assert.Equal(t, excluded.Item.Content(), diagnostic.BuildReport().Excluded[i].Item.Content())
	}
}

func TestCollectorsWithoutConstructor(t *testing.T) {
	var trace *cupelotel.TraceCollector
	var metric *cupelotel.MetricCollector
	for _, collector := range []observe.TraceCollector{trace, metric, &cupelotel.TraceCollector{}, &cupelotel.MetricCollector{}} {
		assert.False(t, collector.IsEnabled())
		run(t, config(), collector)
		// Called by hand they do nothing.
		collector.RecordStageEvent(cupel.TraceEvent{})
		collector.RecordItemEvent(cupel.TraceEvent{})
	}
}

func TestVerbosity(t *testing.T) {
	unknown := cupelotel.VerbosityFull + 1
	assert.Equal(t, "Verbosity(3)", unknown.String())
	collector, recorder := traced(t, unknown)
	run(t, config(), collector)
	root := spanNamed(t, recorder, "cupel.pipeline")
	assert.Equal(t, "StageOnly", attr(root.Attributes(), "cupel.verbosity"), "an unknown value must not show more than was asked for")
}

// Prepare has a trace of its own, to which the runs of the Prepared link.
func TestPrepared(t *testing.T) {
	spans, recorder := traced(t, cupelotel.VerbosityStageAndExclusions)
	metrics, reader := measured(t)
	collector := pipeline.WithTrace(observe.Multi(spans, metrics))
	prepared, err := newPipeline(t, config()).Prepare(t.Context(), candidates(t), collector)
	require.NoError(t, err)
	golden(t, "Prepare.txt", tree(recorder.Ended()))
	change := config()
	change.Scorer = scorer.Recency{}
	again, err := newPipeline(t, change).Prepare(t.Context(), candidates(t), collector)
	require.NoError(t, err)
	unrecorded, err := newPipeline(t, config()).Prepare(t.Context(), candidates(t), pipeline.WithTrace(cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(sampledOut()))))
	require.NoError(t, err)
	for _, p := range []*pipeline.Prepared{prepared, again, prepared, unrecorded} {
		_, err := p.Run(t.Context(), newBudget(t, 1000, 100), collector)
		require.NoError(t, err)
	}

	var got []string
	known := map[trace.SpanID]string{}
	for _, span := range recorder.Ended() {
		if span.Name() != "cupel.pipeline" {
			continue
		}
		mode := attr(span.Attributes(), "cupel.run.mode")
		known[span.SpanContext().SpanID()] = fmt.Sprint(mode, len(known))
		for _, link := range span.Links() {
			mode += " of " + known[link.SpanContext.SpanID()]
		}
		got = append(got, mode)
	}
	assert.Equal(t, []string{"prepare", "prepare", "prepared of prepare0", "prepared of prepare1", "prepared of prepare0", "prepared"}, got)
	for _, m := range collect(t, reader) {
		if m.Name == "cupel.pipeline.selected_tokens" {
			assert.Equal(t, map[string]string{"cupel.run.mode=prepared": "4 240"}, points(m), "a preparation has no window")
		}
	}
}

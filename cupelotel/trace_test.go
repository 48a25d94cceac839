package cupelotel_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelotel"
)

var update = flag.Bool("update", false, "rewrite the golden files; read the difference before you commit it")

// golden compares got with a file under testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the spans differ from %s (go test -update rewrites it):\n%s\nwant:\n%s", file, got, want)
	}
}

func TestWholeTree(t *testing.T) {
	tests := []struct {
		verbosity cupelotel.Verbosity
		why       string
	}{
		{cupelotel.VerbosityStageOnly, "six spans with counts and no events"},
		{cupelotel.VerbosityStageAndExclusions, "each exclusion is an event of the stage that made it (R46), a custom reason keeps its name, and every stage has a count, 0 included (R45)"},
		{cupelotel.VerbosityFull, "the window's items are events of the place stage, in placed order, after its exclusions"},
	}
	for _, tt := range tests {
		t.Run(tt.verbosity.String(), func(t *testing.T) {
			provider, recorder := newRecorder(t)
			c := config()
			c.Clock = ticking(step)
			collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(tt.verbosity))
			window, err := newPipeline(t, c).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector))
			if err != nil || len(window) != 3 {
				t.Fatalf("Run: %d items, %v", len(window), err)
			}
			golden(t, tt.verbosity.String()+".txt", tree(recorder.Ended()))
			if t.Failed() {
				t.Log("why:", tt.why)
			}
		})
	}
}

func TestTimesAreThoseOfTheRun(t *testing.T) {
	provider, recorder := newRecorder(t)
	c := config()
	c.Clock = ticking(step)
	collector := cupelotel.NewTraceCollector(cupelotel.WithPipelineClock(), cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(cupelotel.VerbosityFull))
	if _, err := newPipeline(t, c).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
		t.Fatal(err)
	}
	// The clock is read once at each edge: the start of the run, start and end
	// of each stage, the end of the run.
	for _, want := range []struct {
		span       string
		start, end int // readings
	}{
		{"cupel.pipeline", 0, 11},
		{"cupel.stage.classify", 1, 2},
		{"cupel.stage.score", 3, 4},
		{"cupel.stage.deduplicate", 5, 6},
		{"cupel.stage.slice", 7, 8},
		{"cupel.stage.place", 9, 10},
	} {
		span := spanNamed(t, recorder, want.span)
		start, end := base.Add(time.Duration(want.start)*step), base.Add(time.Duration(want.end)*step)
		if !span.StartTime().Equal(start) || !span.EndTime().Equal(end) {
			t.Errorf("%s lasts from %s to %s, want %s to %s", want.span, span.StartTime(), span.EndTime(), start, end)
		}
		for _, event := range span.Events() {
			if !event.Time.Equal(end) {
				t.Errorf("%s: the event %s happened at %s, want the end of the stage, %s", want.span, event.Name, event.Time, end)
			}
		}
	}
}

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
		own(ctx, "own slicer")
		return byTags(ctx, items, budget)
	})
	c.Placer = placeFunc(func(ctx context.Context, items []cupel.ScoredItem) ([]int, error) {
		own(ctx, "own placer")
		return asMerged(ctx, items)
	})
	ctx, caller := tracer.Start(t.Context(), "caller")
	_, err := newPipeline(t, c).Run(ctx, candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector))
	caller.End()
	if err != nil {
		t.Fatal(err)
	}
	for child, parent := range map[string]string{
		"cupel.pipeline":          "caller",
		"cupel.stage.classify":    "cupel.pipeline",
		"cupel.stage.score":       "cupel.pipeline",
		"cupel.stage.deduplicate": "cupel.pipeline",
		"cupel.stage.slice":       "cupel.pipeline",
		"cupel.stage.place":       "cupel.pipeline",
		"own scorer":              "cupel.stage.score",
		"own slicer":              "cupel.stage.slice",
		"own placer":              "cupel.stage.place",
	} {
		c, p := spanNamed(t, recorder, child), spanNamed(t, recorder, parent)
		if c.Parent().SpanID() != p.SpanContext().SpanID() || c.SpanContext().TraceID() != p.SpanContext().TraceID() {
			t.Errorf("%s is not a child of %s:\n%s", child, parent, tree(recorder.Ended()))
		}
	}
}

func TestDryRunIsTracedToo(t *testing.T) {
	provider, recorder := newRecorder(t)
	collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(cupelotel.VerbosityStageAndExclusions))
	report, err := newPipeline(t, config()).DryRun(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector))
	if err != nil {
		t.Fatal(err)
	}
	events := 0
	for _, span := range recorder.Ended() {
		events += len(span.Events())
	}
	if len(recorder.Ended()) != 6 || events != len(report.Excluded) || events == 0 {
		t.Errorf("%d spans with %d events, want 6 with %d", len(recorder.Ended()), events, len(report.Excluded))
	}
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
			ctx, state := collector.StartRun(t.Context(), observe.RunInfo{Start: base})
			if span := trace.SpanContextFromContext(ctx); state != nil || span.IsValid() != tt.traced || span.IsSampled() {
				t.Errorf("StartRun returned the state %v and the span %+v; %s", state, span, tt.why)
			}
			var seen trace.SpanContext
			c := config()
			c.Scorer = batchFunc(func(ctx context.Context, _ []*cupel.ContextItem, _ []float64) error {
				seen = trace.SpanContextFromContext(ctx)
				return nil
			})
			readings := 0
			c.Clock = func() time.Time { readings++; return base }
			if _, err := newPipeline(t, c).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
				t.Fatal(err)
			}
			if seen.IsValid() != tt.traced || seen.IsSampled() || readings != 1 {
				t.Errorf("the scorer saw the span %+v and the clock was read %d times, want 1; %s", seen, readings, tt.why)
			}
		})
	}
}

// onlyRoots samples no stage.
type onlyRoots struct{}

func (onlyRoots) Description() string { return "onlyRoots" }

func (onlyRoots) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	if strings.HasPrefix(p.Name, "cupel.stage.") {
		return sdktrace.SamplingResult{Decision: sdktrace.Drop}
	}
	return sdktrace.SamplingResult{Decision: sdktrace.RecordAndSample}
}

func TestSamplersMayLeaveOutStages(t *testing.T) {
	provider, recorder := newRecorder(t, sdktrace.WithSampler(onlyRoots{}))
	collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(cupelotel.VerbosityFull),
		cupelotel.WithRedaction(func(_ cupelotel.TextSource, text string) string {
			t.Errorf("an event was built from %q for a span that does not record", text)
			return text
		}))
	if _, err := newPipeline(t, config()).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
		t.Fatal(err)
	}
	if spans := recorder.Ended(); len(spans) != 1 || spans[0].Name() != "cupel.pipeline" {
		t.Errorf("recorded:\n%s\nwant the root alone", tree(spans))
	}
}

// byAttributes samples what its function allows.
type byAttributes func(sdktrace.SamplingParameters) bool

func (byAttributes) Description() string { return "byAttributes" }

func (f byAttributes) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	if f(p) {
		return sdktrace.SamplingResult{Decision: sdktrace.RecordAndSample}
	}
	return sdktrace.SamplingResult{Decision: sdktrace.Drop}
}

func TestSamplersSeeTheVerbosity(t *testing.T) {
	// The chapter allows Full only with a sampling strategy, so the sampler
	// must see the verbosity.
	provider, recorder := newRecorder(t, sdktrace.WithSampler(sdktrace.ParentBased(byAttributes(func(p sdktrace.SamplingParameters) bool {
		return attr(p.Attributes, "cupel.verbosity") != "Full"
	}))))
	for _, verbosity := range []cupelotel.Verbosity{cupelotel.VerbosityFull, cupelotel.VerbosityStageOnly} {
		collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(verbosity))
		if _, err := newPipeline(t, config()).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
			t.Fatal(err)
		}
	}
	root := spanNamed(t, recorder, "cupel.pipeline")
	if got := attr(root.Attributes(), "cupel.verbosity"); got != "StageOnly" || len(recorder.Ended()) != 6 {
		t.Errorf("%d spans of a run at %s, want 6 at StageOnly", len(recorder.Ended()), got)
	}
}

func TestGlobalProviderIsLookedUpAtTheRun(t *testing.T) {
	collector := cupelotel.NewTraceCollector(nil, cupelotel.WithTracerProvider(nil))
	p := newPipeline(t, config())
	run := func() {
		t.Helper()
		if _, err := p.Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
			t.Fatal(err)
		}
	}
	run() // before tracing is set up
	t.Cleanup(func() { otel.SetTracerProvider(noop.NewTracerProvider()) })
	for range 2 { // the second provider replaces the first
		provider, recorder := newRecorder(t)
		otel.SetTracerProvider(provider)
		run()
		run()
		if n := len(recorder.Ended()); n != 12 {
			t.Errorf("the global provider got %d spans, want 12 of two runs", n)
		}
	}
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
				if (err != nil) != (p == failing) {
					t.Error(err)
				}
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
	shapes := make(map[string]int)
	for _, spans := range traces {
		var failed []string
		for _, span := range spans {
			if span.Status().Code == codes.Error {
				failed = append(failed, span.Name())
			}
		}
		shapes[fmt.Sprint(len(spans), failed)]++
	}
	want := map[string]int{
		"7 []":                                 callers * runs * 3 / 4,
		"4 [cupel.stage.score cupel.pipeline]": callers * runs / 4,
	}
	if fmt.Sprint(shapes) != fmt.Sprint(want) {
		t.Errorf("traces by number of spans and failed spans: %v, want %v", shapes, want)
	}
}

func TestOneOfSeveralCollectors(t *testing.T) {
	provider, recorder := newRecorder(t)
	full := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(cupelotel.VerbosityFull))
	diagnostic := observe.NewDiagnosticTraceCollector(observe.WithDetailLevel(observe.TraceDetailItem))
	off := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(noop.NewTracerProvider()))
	c := config()
	c.Clock = ticking(step)
	_, err := newPipeline(t, c).Run(t.Context(), candidates(t), newBudget(t, 1000, 100),
		pipeline.WithTrace(observe.Multi(diagnostic, full, off)))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "Full.txt", tree(recorder.Ended()))
	if report := diagnostic.BuildReport(); len(report.Included) != 3 || len(report.Excluded) != 5 || len(report.Events) != 13 {
		t.Errorf("the report has %d included, %d excluded and %d events, want 3, 5 and 13", len(report.Included), len(report.Excluded), len(report.Events))
	}
}

// Two trees side by side; each may go to a backend of its own.
func TestTracesSideBySide(t *testing.T) {
	always, never := sdktrace.AlwaysSample(), sdktrace.NeverSample()
	asCaller := sdktrace.ParentBased(never) // the caller is sampled
	for _, tt := range []struct {
		name     string
		samplers [3]sdktrace.Sampler
		spans    [3]int
		below    int // the collector below whose stage the strategies are
		why      string
	}{
		{"all", [...]sdktrace.Sampler{always, always, always}, [...]int{6, 6, 6}, 2, "strategies find the last collector's stage"},
		{"last sampled out", [...]sdktrace.Sampler{always, always, never}, [...]int{6, 6, 0}, 1, "stages are below their own root, not below the last one's"},
		{"first sampled out", [...]sdktrace.Sampler{never, asCaller, asCaller}, [...]int{0, 6, 6}, 2, "samplers go by the caller's decision, not by the first one's"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			callers, _ := newRecorder(t)
			ctx, caller := callers.Tracer("test").Start(t.Context(), "caller")
			defer caller.End()
			var collectors []observe.TraceCollector
			var recorders []*tracetest.SpanRecorder
			for _, sampler := range tt.samplers {
				provider, recorder := newRecorder(t, sdktrace.WithSampler(sampler))
				collectors = append(collectors, cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider)))
				recorders = append(recorders, recorder)
			}
			var inside trace.SpanContext
			c := config()
			c.Scorer = batchFunc(func(ctx context.Context, _ []*cupel.ContextItem, _ []float64) error {
				inside = trace.SpanContextFromContext(ctx)
				return nil
			})
			if _, err := newPipeline(t, c).Run(ctx, candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(observe.Multi(collectors...))); err != nil {
				t.Fatal(err)
			}
			for i, recorder := range recorders {
				if n := len(recorder.Ended()); n != tt.spans[i] {
					t.Errorf("collector %d made %d spans, want %d: %s", i, n, tt.spans[i], tt.why)
				}
				if tt.spans[i] == 0 {
					continue
				}
				root := spanNamed(t, recorder, "cupel.pipeline")
				for _, span := range recorder.Ended() {
					want := root.SpanContext().SpanID()
					if span.Name() == root.Name() {
						want = caller.SpanContext().SpanID()
					}
					if span.Parent().SpanID() != want {
						t.Errorf("collector %d: %s is the child of %s, want %s: %s", i, span.Name(), span.Parent().SpanID(), want, tt.why)
					}
				}
				if i == tt.below && inside.SpanID() != spanNamed(t, recorder, "cupel.stage.score").SpanContext().SpanID() {
					t.Errorf("the scorer is below %s, want the stage of collector %d: %s", inside.SpanID(), i, tt.why)
				}
			}
		})
	}
}

// A strategy may run a pipeline of its own, with the same collector or another.
func TestRunsInsideOfRuns(t *testing.T) {
	provider, recorder := newRecorder(t)
	inner, outer := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider)), cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider))
	for _, tt := range []struct {
		name      string
		collector *cupelotel.TraceCollector
		why       string
	}{
		{"the same collector", outer, "it stores nothing about a run"},
		{"another collector", inner, "it is below the other run, though no time passes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			recorder.Reset()
			c := config()
			c.Clock = func() time.Time { return base }
			p := newPipeline(t, c)
			c.Slicer = sliceFunc(func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
				if _, err := p.Run(ctx, candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(tt.collector)); err != nil {
					return strategy.Selection{}, err
				}
				return byTags(ctx, items, budget)
			})
			if _, err := newPipeline(t, c).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(outer)); err != nil {
				t.Fatal(err)
			}
			names := make(map[trace.SpanID]string)
			for _, span := range recorder.Ended() {
				names[span.SpanContext().SpanID()] = span.Name()
			}
			pairs := make(map[string]int)
			for _, span := range recorder.Ended() {
				parent := names[span.Parent().SpanID()]
				if span.Name() != "cupel.pipeline" {
					pairs["stage below "+parent]++
				} else {
					pairs["root below "+parent]++
				}
			}
			if pairs["stage below cupel.pipeline"] != 10 || pairs["root below "] != 1 || pairs["root below cupel.stage.slice"] != 1 {
				t.Errorf("%v, want 10 stages below their roots, and one root below a slice stage: %s", pairs, tt.why)
			}
		})
	}
}

func TestRunsInsideOfRunsThatAreSampledOut(t *testing.T) {
	// The context then holds the root span itself, as it does for a second
	// collector of the same run.
	var parents []trace.SpanContext
	provider := sdktrace.NewTracerProvider(sdktrace.WithSampler(byAttributes(func(p sdktrace.SamplingParameters) bool {
		parents = append(parents, trace.SpanContextFromContext(p.ParentContext))
		return false
	})))
	one, two := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider)), cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider))
	for _, tt := range []struct {
		name  string
		inner *cupelotel.TraceCollector
		clock func() time.Time
		why   string
	}{
		{"the same collector", one, func() time.Time { return base }, "a collector does not follow one run twice, though no time passes"},
		{"another collector", two, ticking(step), "it starts later"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			parents = nil
			var around trace.SpanContext
			c := config()
			c.Clock = tt.clock
			inner := newPipeline(t, c)
			c.Placer = placeFunc(func(ctx context.Context, items []cupel.ScoredItem) ([]int, error) {
				around = trace.SpanContextFromContext(ctx)
				if _, err := inner.Run(ctx, candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(tt.inner)); err != nil {
					return nil, err
				}
				return asMerged(ctx, items)
			})
			if _, err := newPipeline(t, c).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(one)); err != nil {
				t.Fatal(err)
			}
			if len(parents) != 2 || !around.IsValid() || !parents[1].Equal(around) {
				t.Errorf("the sampler saw the parents %v, want %v for the second run: %s", parents, around, tt.why)
			}
		})
	}
}

func TestNilProviderOfTheSDK(t *testing.T) {
	var tracers *sdktrace.TracerProvider
	var meters *sdkmetric.MeterProvider
	_, err := newPipeline(t, config()).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(observe.Multi(
		cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(tracers)), // an unset variable
		cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(meters)))))
	if err != nil {
		t.Error(err)
	}
}

func TestCollectorsWithoutConstructor(t *testing.T) {
	var none *cupelotel.TraceCollector
	if none.IsEnabled() {
		t.Error("a nil collector is enabled")
	}
	var zero cupelotel.TraceCollector
	if _, err := newPipeline(t, config()).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(&zero)); err != nil {
		t.Error(err)
	}
	// Called by hand they do nothing.
	zero.RecordStageEvent(cupel.TraceEvent{})
	zero.RecordItemEvent(cupel.TraceEvent{})
}

func TestVerbosity(t *testing.T) {
	for _, tt := range []struct {
		verbosity cupelotel.Verbosity
		name      string
		shown     string
		why       string
	}{
		{cupelotel.VerbosityStageOnly, "StageOnly", "StageOnly", "the default"},
		{cupelotel.VerbosityStageAndExclusions, "StageAndExclusions", "StageAndExclusions", "the chapter's name"},
		{cupelotel.VerbosityFull, "Full", "Full", "the chapter's name"},
		{cupelotel.VerbosityFull + 1, "Verbosity(3)", "StageOnly", "an unknown value must not show more than was asked for"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.verbosity.String(); got != tt.name {
				t.Errorf("String() = %q, want %q", got, tt.name)
			}
			provider, recorder := newRecorder(t)
			collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(tt.verbosity))
			if _, err := newPipeline(t, config()).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
				t.Fatal(err)
			}
			if got := attr(spanNamed(t, recorder, "cupel.pipeline").Attributes(), "cupel.verbosity"); got != tt.shown {
				t.Errorf("cupel.verbosity = %q, want %q: %s", got, tt.shown, tt.why)
			}
		})
	}
}

package cupelotel_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/embedded"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelotel"
)

// schemaURL says which release of the conventions error.type is from.
const schemaURL = "https://opentelemetry.io/schemas/1.43.0"

func newReader(t *testing.T, opts ...sdkmetric.Option) (*sdkmetric.MeterProvider, *sdkmetric.ManualReader) {
	t.Helper()
	reader := sdkmetric.NewManualReader()
	return sdkmetric.NewMeterProvider(append(opts, sdkmetric.WithReader(reader))...), reader
}

// collect returns the metrics of the one scope that has any.
func collect(t *testing.T, reader *sdkmetric.ManualReader) []metricdata.Metrics {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	if len(data.ScopeMetrics) == 0 {
		return nil
	}
	if scope := data.ScopeMetrics[0].Scope; len(data.ScopeMetrics) != 1 || scope.Name != "Wollax.Cupel" || scope.Version != cupelotel.Version || scope.SchemaURL != schemaURL {
		t.Errorf("the metrics are of %d scopes, the first is %q %q %q", len(data.ScopeMetrics), scope.Name, scope.Version, scope.SchemaURL)
	}
	return data.ScopeMetrics[0].Metrics
}

// points returns the value of every time series under a text of its attributes:
// sums, and of histograms the count and the sum.
func points(m metricdata.Metrics) map[string]string {
	points := make(map[string]string)
	series := func(set attribute.Set, value string) {
		var key []string
		for _, kv := range set.ToSlice() { // sorted by key
			key = append(key, string(kv.Key)+"="+kv.Value.String())
		}
		points[strings.Join(key, " ")] = value
	}
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			series(p.Attributes, fmt.Sprint(p.Value))
		}
	case metricdata.Histogram[int64]:
		for _, p := range data.DataPoints {
			series(p.Attributes, fmt.Sprint(p.Count, " ", p.Sum))
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			series(p.Attributes, fmt.Sprint(p.Count, " ", p.Sum))
		}
	}
	return points
}

func TestMetrics(t *testing.T) {
	provider, reader := newReader(t)
	collector := cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(provider))

	// Two runs that succeed and two that fail. A quarter of a second between
	// readings of the clock adds up exactly: each stage takes 0.25 s, a run of
	// five stages 11 readings.
	for range 2 {
		c := config()
		c.Clock = ticking(250 * time.Millisecond)
		if _, err := newPipeline(t, c).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"scorer panics", "overflow under Throw"} {
		var f failing
		_ = f.run(t, func(t *testing.T, f *failing) {
			t.Helper()
			failureNamed(t, name)(t, f)
			f.config.Clock = ticking(250 * time.Millisecond)
		}, collector)
	}

	want := map[string]struct {
		unit   string
		points map[string]string
	}{
		"cupel.pipeline.duration": {"s", map[string]string{
			"cupel.run.mode=run":                                    "2 5.5",
			"cupel.run.mode=run error.type=*cupel.PanicError":       "1 1.25", // two stages: five steps
			"cupel.run.mode=run error.type=*pipeline.OverflowError": "1 2.75",
		}},
		"cupel.stage.duration": {"s", map[string]string{
			"cupel.run.mode=run cupel.stage.name=classify":                                 "4 1",
			"cupel.run.mode=run cupel.stage.name=score":                                    "3 0.75",
			"cupel.run.mode=run cupel.stage.name=score error.type=*cupel.PanicError":       "1 0.25",
			"cupel.run.mode=run cupel.stage.name=deduplicate":                              "3 0.75",
			"cupel.run.mode=run cupel.stage.name=slice":                                    "3 0.75",
			"cupel.run.mode=run cupel.stage.name=place":                                    "2 0.5",
			"cupel.run.mode=run cupel.stage.name=place error.type=*pipeline.OverflowError": "1 0.25",
		}},
		"cupel.pipeline.selected_tokens":  {"{token}", map[string]string{"cupel.run.mode=run": "2 120"}}, // 20 + 10 + 30, twice
		"cupel.budget.utilization":        {"1", map[string]string{"cupel.run.mode=run": "2 0.12"}},      // 60 of 1000, twice
		"cupel.budget.target_utilization": {"1", map[string]string{"cupel.run.mode=run": "2 1.2"}},       // 60 of 100, twice
		"cupel.items": {"{item}", map[string]string{
			"cupel.run.mode=run cupel.stage.name=classify":    "32", // 4 times 8
			"cupel.run.mode=run cupel.stage.name=score":       "24", // 4 times 6
			"cupel.run.mode=run cupel.stage.name=deduplicate": "18", // 3 times 6
			"cupel.run.mode=run cupel.stage.name=slice":       "15", // 3 times 5
			"cupel.run.mode=run cupel.stage.name=place":       "12", // 3 times 4
		}},
		"cupel.exclusions": {"{item}", map[string]string{
			"cupel.exclusion.reason=NegativeTokens cupel.run.mode=run cupel.stage.name=classify":  "4",
			"cupel.exclusion.reason=Deduplicated cupel.run.mode=run cupel.stage.name=deduplicate": "3",
			"cupel.exclusion.reason=BudgetExceeded cupel.run.mode=run cupel.stage.name=slice":     "3",
			"cupel.exclusion.reason=_OTHER cupel.run.mode=run cupel.stage.name=slice":             "3", // Boring, which only the slicer knows
			"cupel.exclusion.reason=PinnedOverride cupel.run.mode=run cupel.stage.name=place":     "2", // not under Throw
		}},
	}
	metrics := collect(t, reader)
	for _, m := range metrics {
		w, ok := want[m.Name]
		if !ok {
			t.Errorf("unexpected metric %s", m.Name)
			continue
		}
		if got := points(m); m.Unit != w.unit || m.Description == "" || !maps.Equal(got, w.points) {
			t.Errorf("%s in %q (%s):\n got %v\nwant %v in %q", m.Name, m.Unit, m.Description, got, w.points, w.unit)
		}
	}
	if len(metrics) != len(want) {
		t.Errorf("%d metrics, want %d", len(metrics), len(want))
	}
}

func TestHistogramBoundaries(t *testing.T) {
	override := sdkmetric.NewView(sdkmetric.Instrument{Name: "cupel.budget.utilization"},
		sdkmetric.Stream{Aggregation: sdkmetric.AggregationExplicitBucketHistogram{Boundaries: []float64{0.5}}})
	provider, reader := newReader(t, sdkmetric.WithView(override))
	collector := cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(provider))
	if _, err := newPipeline(t, config()).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
		t.Fatal(err)
	}
	for _, m := range collect(t, reader) {
		var bounds []float64
		switch data := m.Data.(type) {
		case metricdata.Histogram[int64]:
			bounds = data.DataPoints[0].Bounds
		case metricdata.Histogram[float64]:
			bounds = data.DataPoints[0].Bounds
		default:
			continue
		}
		var within bool
		switch m.Name {
		case "cupel.pipeline.duration", "cupel.stage.duration":
			within = bounds[0] <= 20e-6 && bounds[len(bounds)-1] >= 5 // seconds
		case "cupel.pipeline.selected_tokens":
			within = bounds[0] == 0 && bounds[len(bounds)-1] >= 1e6
		case "cupel.budget.utilization":
			within = slices.Equal(bounds, []float64{0.5}) // the view overrides the hint
		case "cupel.budget.target_utilization":
			within = bounds[0] == 0 && slices.Contains(bounds, 1)
		}
		if !within || !slices.IsSorted(bounds) {
			t.Errorf("%s has the boundaries %v", m.Name, bounds)
		}
	}
}

func TestExemplarsLinkToTheSpans(t *testing.T) {
	tracerProvider, recorder := newRecorder(t)
	meterProvider, reader := newReader(t)
	c := config()
	c.Clock = ticking(step)
	_, err := newPipeline(t, c).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(observe.Multi(
		cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(tracerProvider)),
		cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(meterProvider)))))
	if err != nil {
		t.Fatal(err)
	}
	check := func(metric, span string, spanID []byte) {
		t.Helper()
		if want := spanNamed(t, recorder, span).SpanContext().SpanID(); trace.SpanID(spanID) != want {
			t.Errorf("an exemplar of %s is of the span %x, want %s of %s", metric, spanID, want, span)
		}
	}
	exemplars := 0
	for _, m := range collect(t, reader) {
		switch data := m.Data.(type) {
		case metricdata.Histogram[float64]:
			for _, p := range data.DataPoints {
				span := "cupel.pipeline"
				if stage, ok := p.Attributes.Value("cupel.stage.name"); ok {
					span = "cupel.stage." + stage.AsString()
				}
				for _, e := range p.Exemplars {
					exemplars++
					check(m.Name, span, e.SpanID)
				}
			}
		case metricdata.Sum[int64]:
			for _, p := range data.DataPoints {
				stage, _ := p.Attributes.Value("cupel.stage.name")
				for _, e := range p.Exemplars {
					exemplars++
					check(m.Name, "cupel.stage."+stage.AsString(), e.SpanID)
				}
			}
		}
	}
	if want := 1 + 5 + 2 + 5 + 5; exemplars != want { // durations, utilizations, items, exclusions
		t.Errorf("%d exemplars, want %d", exemplars, want)
	}
}

func TestReasonsOfMetricsAreBounded(t *testing.T) {
	provider, reader := newReader(t)
	collector := cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(provider))
	c := config()
	c.Slicer = sliceFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (strategy.Selection, error) {
		var s strategy.Selection
		for i, scored := range items {
			s.Drops = append(s.Drops, strategy.Drop{Index: i, Reason: cupel.ExclusionReason{Code: cupel.ExclusionCode(scored.Item.Content())}})
		}
		return s, nil
	})
	if _, err := newPipeline(t, c).Run(t.Context(), many(t, 500), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
		t.Fatal(err)
	}
	for _, m := range collect(t, reader) {
		if want := map[string]string{"cupel.exclusion.reason=_OTHER cupel.run.mode=run cupel.stage.name=slice": "500"}; m.Name == "cupel.exclusions" && !maps.Equal(points(m), want) {
			t.Errorf("%v, want %v", points(m), want)
		}
	}
}

func TestStagesOfMetricsAreBounded(t *testing.T) {
	provider, reader := newReader(t)
	ctx, state := cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(provider)).StartRun(t.Context(), observe.RunInfo{})
	state.EndStage(ctx, observe.StageEnd{Stage: "Sort", CountIn: 3})
	for _, m := range collect(t, reader) {
		t.Errorf("a stage that the specification does not have is measured: %s %v", m.Name, points(m))
	}
}

func TestNothingIsBuiltForMetricsThatNobodyReads(t *testing.T) {
	drop := func(name string) sdkmetric.Option {
		return sdkmetric.WithView(sdkmetric.NewView(sdkmetric.Instrument{Name: name}, sdkmetric.Stream{Aggregation: sdkmetric.AggregationDrop{}}))
	}
	withoutExclusions, _ := newReader(t, drop("cupel.exclusions"))
	all, _ := newReader(t)
	none, _ := newReader(t, drop("cupel.*"))
	for _, tt := range []struct {
		name     string
		provider metric.MeterProvider
		observed bool
		reasons  bool
		why      string
	}{
		{"everything is read", all, true, true, "the counts by reason are read"},
		{"no exclusions", withoutExclusions, true, false, "times and counts need no reasons"},
		{"dropped by views", none, false, false, "no instrument is read"},
		{"no reader", sdkmetric.NewMeterProvider(), false, false, "no instrument is read"},
		{"no-op", noop.NewMeterProvider(), false, false, "no instrument is enabled"},
		{"global without an SDK", nil, false, false, "metrics are not set up"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			collector := cupelotel.NewMetricCollector(nil, cupelotel.WithMeterProvider(tt.provider))
			_, state := collector.StartRun(t.Context(), observe.RunInfo{})
			if (state != nil) != tt.observed || state != nil && state.Detail() != (observe.TraceDetail{Reasons: tt.reasons}) {
				t.Errorf("StartRun returned %v: %s", state, tt.why)
			}
		})
	}
}

func TestGlobalMeterProviderIsLookedUpAtTheRun(t *testing.T) {
	var collector cupelotel.MetricCollector // the zero value is one without options
	p := newPipeline(t, config())
	run := func() {
		t.Helper()
		if _, err := p.Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(&collector)); err != nil {
			t.Fatal(err)
		}
	}
	run()
	t.Cleanup(func() { otel.SetMeterProvider(noop.NewMeterProvider()) })
	for range 2 {
		provider, reader := newReader(t)
		otel.SetMeterProvider(provider)
		run()
		run()
		for _, m := range collect(t, reader) {
			if m.Name == "cupel.items" && points(m)["cupel.run.mode=run cupel.stage.name=classify"] != "16" {
				t.Errorf("the global provider counted %v, want 16 candidates of two runs", points(m))
			}
		}
		if len(collect(t, reader)) == 0 {
			t.Error("the global provider measured nothing")
		}
	}
	var none *cupelotel.MetricCollector
	if none.IsEnabled() {
		t.Error("a nil collector is enabled")
	}
	collector.RecordStageEvent(cupel.TraceEvent{})
	collector.RecordItemEvent(cupel.TraceEvent{})
}

// refusing makes no instrument but counters, and returns nil with its errors.
type refusing struct{ embedded.MeterProvider }

type refusingMeter struct{ metric.Meter }

func (refusing) Meter(string, ...metric.MeterOption) metric.Meter {
	return refusingMeter{noop.NewMeterProvider().Meter("")}
}

func (refusingMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return nil, errors.New("no histograms")
}

func (refusingMeter) Int64Histogram(string, ...metric.Int64HistogramOption) (metric.Int64Histogram, error) {
	return nil, errors.New("no histograms")
}

func TestInstrumentsThatCannotBeMade(t *testing.T) {
	handled := handledErrors(t)
	collector := cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(refusing{}))
	for range 2 {
		if _, err := newPipeline(t, config()).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(handled()); n != 8 {
		t.Errorf("the error handler got %d errors, want one for each of the 8 histograms: %v", n, handled())
	}
}

func TestZeroBudgetHasNoUtilization(t *testing.T) {
	provider, reader := newReader(t)
	collector := cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(provider))
	if _, err := newPipeline(t, config()).Run(t.Context(), nil, newBudget(t, 0, 0), pipeline.WithTrace(collector)); err != nil {
		t.Fatal(err)
	}
	for _, m := range collect(t, reader) {
		if m.Name == "cupel.budget.utilization" && points(m)["cupel.run.mode=run"] != "1 0" {
			t.Errorf("utilization of an empty budget: %v, want one value of 0", points(m))
		}
	}
}

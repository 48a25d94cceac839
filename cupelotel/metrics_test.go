package cupelotel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/embedded"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/turn"
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
	require.NoError(t, reader.Collect(t.Context(), &data))
	if len(data.ScopeMetrics) == 0 {
		return nil
	}
	require.Len(t, data.ScopeMetrics, 1)
	scope := data.ScopeMetrics[0].Scope
	assert.Equal(t, []string{"Wollax.Cupel", cupelotel.Version, schemaURL}, []string{scope.Name, scope.Version, scope.SchemaURL})
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
	case metricdata.Sum[float64]:
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
	collector, reader := measured(t)

	// Two runs that succeed and two that fail. A quarter of a second between
	// readings of the clock adds up exactly: each stage takes 0.25 s, a run of
	// five stages 11 readings.
	for range 2 {
		c := config()
		c.Clock = ticking()
		run(t, c, collector)
	}
	for _, name := range []string{"scorer panics", "overflow under Throw"} {
		var f failing
		f.run(t, func(t *testing.T, f *failing) {
			t.Helper()
			failureNamed(t, name)(t, f)
			f.config.Clock = ticking()
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
		"cupel.stage.time": {"s", map[string]string{
			"cupel.run.mode=run cupel.stage.name=classify":                                 "1",
			"cupel.run.mode=run cupel.stage.name=score":                                    "0.75",
			"cupel.run.mode=run cupel.stage.name=score error.type=*cupel.PanicError":       "0.25",
			"cupel.run.mode=run cupel.stage.name=deduplicate":                              "0.75",
			"cupel.run.mode=run cupel.stage.name=slice":                                    "0.75",
			"cupel.run.mode=run cupel.stage.name=place":                                    "0.5",
			"cupel.run.mode=run cupel.stage.name=place error.type=*pipeline.OverflowError": "0.25",
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
	assert.Len(t, metrics, len(want))
	for _, m := range metrics {
		assert.Equal(t, want[m.Name].points, points(m), m.Name)
		assert.Equal(t, want[m.Name].unit, m.Unit, m.Name)
		assert.NotEmpty(t, m.Description, m.Name)
	}
}

// alone drops every instrument but one.
func alone(name string) sdkmetric.Option {
	return sdkmetric.WithView(func(i sdkmetric.Instrument) (sdkmetric.Stream, bool) {
		if i.Name == name {
			return sdkmetric.Stream{}, false
		}
		return sdkmetric.Stream{Name: i.Name, Aggregation: sdkmetric.AggregationDrop{}}, true
	})
}

// Each instrument is recorded where a view drops all others, with the boundaries
// that dashboards are made for.
func TestEachInstrumentAlone(t *testing.T) {
	durations := []float64{1e-5, 1e-4, 2.5e-4, 1e-3, 2.5e-3, 0.01, 0.025, 0.1, 0.25, 1, 2.5, 10}
	tokens := []float64{1024, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 1048576}
	fractions := []float64{0.25, 0.5, 0.75, 0.9, 0.95, 1, 1.25}
	for name, bounds := range map[string][]float64{
		"cupel.pipeline.duration":         durations,
		"cupel.stage.time":                nil,
		"cupel.pipeline.selected_tokens":  tokens,
		"cupel.budget.utilization":        fractions,
		"cupel.budget.target_utilization": fractions,
		"cupel.items":                     nil,
		"cupel.exclusions":                nil,
		"cupel.shortfalls":                nil,
		"cupel.overflow.tokens":           nil,

		"cupel.session.duration":       durations,
		"cupel.session.cost_ratio":     {0.1, 0.25, 0.5, 0.75, 1, 1.25, 2},
		"cupel.session.kept_tokens":    nil,
		"cupel.session.turns":          nil,
		"cupel.session.breaks":         nil,
		"cupel.session.dropped":        nil,
		"cupel.session.read_predicted": nil,
		"cupel.session.read_reported":  nil,
	} {
		provider, reader := newReader(t, alone(name))
		collector := cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(provider))
		run(t, alarming(t), collector)
		ctx, current := take(t, t.Context(), collector, forced)
		current.CommitTurn(ctx, reported)
		metrics := collect(t, reader)
		require.Len(t, metrics, 1, name)
		assert.Equal(t, name, metrics[0].Name)
		switch data := metrics[0].Data.(type) {
		case metricdata.Histogram[int64]:
			assert.Equal(t, bounds, data.DataPoints[0].Bounds, name)
		case metricdata.Histogram[float64]:
			assert.Equal(t, bounds, data.DataPoints[0].Bounds, name)
		default:
			assert.Nil(t, bounds, name)
		}
	}
}

// inPrometheus returns how many series the points of a metric are in Prometheus, which has
// one for each boundary of a histogram, for what is above all of them, and for sum and
// count.
func inPrometheus(m metricdata.Metrics) int {
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		return len(data.DataPoints)
	case metricdata.Sum[float64]:
		return len(data.DataPoints)
	case metricdata.Histogram[int64]:
		return len(data.DataPoints) * (len(data.DataPoints[0].Bounds) + 3)
	case metricdata.Histogram[float64]:
		return len(data.DataPoints) * (len(data.DataPoints[0].Bounds) + 3)
	}
	return 0
}

// A pipeline has few series: those of a run with every reason and a session's turns.
func TestSeriesOfAPipeline(t *testing.T) {
	collector, reader := measured(t)
	ctx, current := take(t, t.Context(), collector, forced, config())
	current.CommitTurn(ctx, reported)
	all := 0
	for _, m := range collect(t, reader) {
		all += inPrometheus(m)
	}
	assert.Greater(t, all, 80, "not everything was measured")
	assert.LessOrEqual(t, all, 100)
}

// Names of pipelines add series up to a limit, after which they are one more.
func TestManyPipelines(t *testing.T) {
	collector, reader := measured(t)
	const named, more = 100, 50
	for n := range named + more {
		c := config()
		c.Name = fmt.Sprint("tenant ", n)
		run(t, c, collector)
	}
	c := config()
	c.Name = "tenant 7"
	run(t, c, collector)
	for _, m := range collect(t, reader) {
		if m.Name != "cupel.pipeline.duration" {
			continue
		}
		got := points(m)
		assert.Len(t, got, named+1)
		assert.Regexp(t, "^2 ", got["cupel.pipeline.name=tenant 7 cupel.run.mode=run"], "a name from before the limit")
		assert.Regexp(t, fmt.Sprintf("^%d ", more), got["cupel.pipeline.name=_OTHER cupel.run.mode=run"])
	}
}

func TestExemplarsLinkToTheSpans(t *testing.T) {
	spans, recorder := traced(t, cupelotel.VerbosityStageOnly)
	metrics, reader := measured(t)
	run(t, config(), observe.Multi(spans, metrics))
	check := func(metric, span string, spanID []byte) {
		t.Helper()
		assert.Equal(t, spanNamed(t, recorder, span).SpanContext().SpanID(), trace.SpanID(spanID), "an exemplar of %s", metric)
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
		case metricdata.Sum[float64]:
			for _, p := range data.DataPoints {
				stage, _ := p.Attributes.Value("cupel.stage.name")
				for _, e := range p.Exemplars {
					exemplars++
					check(m.Name, "cupel.stage."+stage.AsString(), e.SpanID)
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
	assert.Equal(t, 1+5+2+5+5, exemplars, "durations, utilizations, items, exclusions")
}

func TestStagesAreBounded(t *testing.T) {
	metrics, reader := measured(t)
	spans, recorder := traced(t, cupelotel.VerbosityFull)
	for _, collector := range []observe.RunObserver{metrics, spans} {
		ctx, state := collector.StartRun(t.Context(), observe.RunInfo{})
		ctx = state.StartStage(ctx, observe.StageStart{Stage: "Sort"})
		state.EndStage(ctx, observe.StageEnd{Stage: "Sort", CountIn: 3})
		state.EndRun(ctx, observe.RunEnd{Err: context.Canceled})
	}
	for _, m := range collect(t, reader) {
		assert.Equal(t, "cupel.pipeline.duration", m.Name, "the specification has no stage Sort")
	}
	assert.Len(t, recorder.Ended(), 1)
}

func TestMetricsWithoutReaders(t *testing.T) {
	drop := sdkmetric.WithView(sdkmetric.NewView(sdkmetric.Instrument{Name: "cupel.*"}, sdkmetric.Stream{Aggregation: sdkmetric.AggregationDrop{}}))
	dropped, _ := newReader(t, drop)
	for name, provider := range map[string]metric.MeterProvider{
		"dropped by views": dropped, "no reader": sdkmetric.NewMeterProvider(), "no-op": noop.NewMeterProvider(),
	} {
		collector := cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(provider))
		ctx, state := collector.StartRun(t.Context(), observe.RunInfo{})
		assert.Equal(t, t.Context(), ctx, name)
		assert.Nil(t, state, name)
		_, turn := collector.StartTurn(t.Context(), turn.Info{})
		assert.Nil(t, turn, name)
	}
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
	run(t, config(), collector)
	assert.Len(t, handled(), 6, "one for each of the histograms")
}

// TestMetricRedaction: the policy sees each text, and invalid UTF-8 does not leave.
func TestMetricRedaction(t *testing.T) {
	quoted := func(from observe.Part, text string) string { return fmt.Sprint(from, " ", text) }
	provider, reader := newReader(t)
	collector := cupelotel.NewMetricCollector(cupelotel.WithMetricRedaction(observe.Redaction{Rewrite: quoted}), cupelotel.WithMeterProvider(provider))
	ctx, state := collector.StartRun(t.Context(), observe.RunInfo{Pipeline: "name\xff"})
	state.EndRun(ctx, observe.RunEnd{Shortfalls: []cupel.CountRequirementShortfall{{Kind: "kind\xff"}}})
	var got map[string]string
	for _, m := range collect(t, reader) {
		if m.Name == "cupel.shortfalls" {
			got = points(m)
		}
	}
	assert.Equal(t, map[string]string{"cupel.pipeline.name=4 name\uFFFD cupel.run.mode=run cupel.shortfall.kind=1 kind\uFFFD": "1"}, got)
}

package cupelotel_test

import (
	"fmt"
	"slices"
	"testing"

	"go.opentelemetry.io/otel/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/turn"
	"github.com/wollax/cupel-go/cupelotel"
)

// alone drops every instrument but one.
func alone(name string) sdkmetric.Option {
	return sdkmetric.WithView(func(i sdkmetric.Instrument) (sdkmetric.Stream, bool) {
		if i.Name == name {
			return sdkmetric.Stream{}, false
		}
		return sdkmetric.Stream{Name: i.Name, Aggregation: sdkmetric.AggregationDrop{}}, true
	})
}

// A record and a span say nothing of what is not there, and something of one.
func TestWhatIsNotThereHasNoAttribute(t *testing.T) {
	one := newItem(t, "one", 10)
	byReason, outByKind, inByKind := "cupel.selection.excluded_by_reason", "cupel.selection.excluded_by_kind", "cupel.selection.included_by_kind"
	for _, tt := range []struct {
		name   string
		items  []*cupel.ContextItem
		target int
		want   []string
	}{
		{"nothing", nil, 100, nil},
		{"one is in", []*cupel.ContextItem{one}, 100, []string{inByKind}},
		{"one is out", []*cupel.ContextItem{one}, 5, []string{byReason, outByKind}},
	} {
		loggers, kept := newRecords(log.SeverityInfo)
		collector := cupelotel.NewTraceCollector(cupelotel.WithLoggerProvider(loggers))
		c := config()
		c.Slicer = slicer.Greedy{}
		if _, err := newPipeline(t, c).Run(t.Context(), tt.items, newBudget(t, 1000, tt.target), pipeline.WithTrace(collector)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, kv := range attrsOf(&kept.all[0]) {
			if key := string(kv.Key); key == byReason || key == outByKind || key == inByKind {
				got = append(got, key)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: the record has %v, want %v", tt.name, got, tt.want)
		}
	}

	tracers, recorder := newRecorder(t)
	ctx, current := take(t, t.Context(), cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(tracers)), forced)
	current.CommitTurn(ctx, turn.Commit{Input: 1})
	if commit := spanNamed(t, recorder, "cupel.session.commit"); attr(commit.Attributes(), "cupel.session.input_reported") != "1" {
		t.Errorf("a request of one token: %v", commit.Attributes())
	}
}

// Each instrument is recorded where a view drops all others, with the boundaries
// that dashboards are made for.
func TestEachInstrumentAlone(t *testing.T) {
	durations := fmt.Sprint([]float64{1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10})
	tokens := fmt.Sprint([]float64{0, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152})
	fractions := fmt.Sprint([]float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1, 1.25, 1.5, 2})
	counts := slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{{Kind: "Missing", RequireCount: 2, CapCount: 2}}))
	for name, bounds := range map[string]string{
		"cupel.pipeline.duration":         durations,
		"cupel.stage.duration":            durations,
		"cupel.pipeline.selected_tokens":  tokens,
		"cupel.budget.utilization":        fractions,
		"cupel.budget.target_utilization": fractions,
		"cupel.items":                     "",
		"cupel.exclusions":                "",
		"cupel.shortfalls":                "",
		"cupel.overflow.tokens":           "",

		"cupel.session.duration":       durations,
		"cupel.session.cost_ratio":     fmt.Sprint([]float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 2, 4, 8}),
		"cupel.session.kept_tokens":    tokens,
		"cupel.session.turns":          "",
		"cupel.session.breaks":         "",
		"cupel.session.dropped":        "",
		"cupel.session.read_predicted": "",
		"cupel.session.read_reported":  "",
	} {
		provider, reader := newReader(t, alone(name))
		collector := cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(provider))
		c := config()
		c.Slicer, c.Overflow = counts, pipeline.OverflowProceed
		large := newItem(t, "pinned and large", 900, cupel.WithPinned())
		for _, items := range [][]*cupel.ContextItem{candidates(t), append(candidates(t), large)} {
			if _, err := newPipeline(t, c).Run(t.Context(), items, newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
				t.Fatal(err)
			}
		}
		if ctx, current := take(t, t.Context(), collector, forced); current != nil {
			current.CommitTurn(ctx, reported)
		}
		metrics := collect(t, reader)
		if len(metrics) != 1 || metrics[0].Name != name {
			t.Errorf("%s alone: %d metrics are recorded", name, len(metrics))
			continue
		}
		got := ""
		switch data := metrics[0].Data.(type) {
		case metricdata.Histogram[int64]:
			got = fmt.Sprint(data.DataPoints[0].Bounds)
		case metricdata.Histogram[float64]:
			got = fmt.Sprint(data.DataPoints[0].Bounds)
		}
		if got != bounds {
			t.Errorf("%s has the boundaries %s, want %s", name, got, bounds)
		}
	}
}

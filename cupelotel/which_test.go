package cupelotel_test

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupelotel"
)

// inEachMode runs the candidates in every mode but a session's, with the collector.
func inEachMode(t *testing.T, c pipeline.Config, collector observe.TraceCollector) {
	t.Helper()
	p, budget, trace := newPipeline(t, c), newBudget(t, 1000, 100), pipeline.WithTrace(collector)
	prepared, err := p.Prepare(t.Context(), candidates(t))
	if err != nil {
		t.Fatal(err)
	}
	source := func(yield func(*cupel.ContextItem, error) bool) {
		for _, item := range candidates(t) {
			if !yield(item, nil) {
				return
			}
		}
	}
	for mode, run := range map[string]func() error{
		"run":        func() error { _, err := p.Run(t.Context(), candidates(t), budget, trace); return err },
		"dry_run":    func() error { _, err := p.DryRun(t.Context(), candidates(t), budget, trace); return err },
		"prepared":   func() error { _, err := prepared.Run(t.Context(), budget, trace); return err },
		"simulation": func() error { _, err := prepared.DryRun(t.Context(), budget, trace); return err },
		"stream": func() error {
			_, err := p.RunStream(t.Context(), iter.Seq2[*cupel.ContextItem, error](source), budget, trace)
			return err
		},
	} {
		if err := run(); err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
	}
}

func TestRunModes(t *testing.T) {
	tracers, recorder := newRecorder(t)
	inEachMode(t, config(), cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(tracers)))
	var modes []string
	for _, span := range recorder.Ended() {
		if span.Name() == "cupel.pipeline" {
			modes = append(modes, attr(span.Attributes(), "cupel.run.mode"))
		}
	}
	slices.Sort(modes)
	if want := []string{"dry_run", "prepared", "run", "simulation", "stream"}; !slices.Equal(modes, want) {
		t.Errorf("the modes are %q, want %q", modes, want)
	}

	meters, reader := newReader(t)
	inEachMode(t, config(), cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(meters)))
	modes = nil
	for _, m := range collect(t, reader) {
		if m.Name != "cupel.pipeline.duration" {
			continue
		}
		for series, value := range points(m) {
			modes = append(modes, strings.TrimPrefix(series, "cupel.run.mode="))
			if !strings.HasPrefix(value, "1 ") {
				t.Errorf("%s: %s, want one run", series, value)
			}
		}
	}
	slices.Sort(modes)
	if want := []string{"prepared", "run", "stream"}; !slices.Equal(modes, want) {
		t.Errorf("the modes are %q, want %q: a dry run sends nothing to a model", modes, want)
	}
}

func TestPipelineNames(t *testing.T) {
	chat, err := policy.Chat().Config(policy.Environment{})
	if err != nil {
		t.Fatal(err)
	}
	named := config()
	named.Name = "invoices"
	garbled := config()
	garbled.Name = "a\xff"
	for _, tt := range []struct {
		name   string
		config pipeline.Config
		want   string
	}{
		{"none", config(), ""},
		{"of the configuration", named, "invoices"},
		{"of the policy", chat, policy.Chat().Name},
		{"that is no UTF-8", garbled, "a\uFFFD"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tracers, recorder := newRecorder(t)
			meters, reader := newReader(t)
			collector := observe.Multi(cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(tracers)), cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(meters)))
			c := tt.config
			c.Overflow = pipeline.OverflowTruncate
			if _, err := newPipeline(t, c).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
				t.Fatal(err)
			}
			if got := attr(spanNamed(t, recorder, "cupel.pipeline").Attributes(), "cupel.pipeline.name"); got != tt.want {
				t.Errorf("the span has the name %q, want %q", got, tt.want)
			}
			series := "cupel.run.mode=run"
			if tt.want != "" {
				series = "cupel.pipeline.name=" + tt.want + " " + series
			}
			for _, m := range collect(t, reader) {
				for got := range points(m) {
					if !strings.Contains(got, "cupel.run.mode=run") || (tt.want != "") != strings.Contains(got, "cupel.pipeline.name="+tt.want) {
						t.Errorf("%s has the series %q, want %q", m.Name, got, series)
					}
				}
			}
		})
	}
}

type tenantKey struct{}

func TestAttributesOfTheCaller(t *testing.T) {
	tracers, recorder := newRecorder(t)
	meters, reader := newReader(t)
	static := cupelotel.WithAttributes(attribute.String("region", "eu"), attribute.String("tenant", "none"), attribute.Int("cupel.verbosity", 3))
	dynamic := cupelotel.WithAttributesFunc(func(ctx context.Context) []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("tenant", ctx.Value(tenantKey{}).(string))} // panics without one
	})
	handled := handledErrors(t)
	collector := observe.Multi(
		cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(tracers), static, dynamic),
		cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(meters), static, dynamic))
	p := newPipeline(t, config())
	for _, ctx := range []context.Context{
		context.WithValue(t.Context(), tenantKey{}, "a"), context.WithValue(t.Context(), tenantKey{}, "b"), context.WithValue(t.Context(), tenantKey{}, "a"),
		t.Context(),
	} {
		if _, err := p.Run(ctx, candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
			t.Fatal(err)
		}
	}
	var tenants []string
	for _, span := range recorder.Ended() {
		if span.Name() == "cupel.pipeline" {
			tenants = append(tenants, attr(span.Attributes(), "tenant"))
			if attr(span.Attributes(), "region") != "eu" || attr(span.Attributes(), "cupel.verbosity") != "StageOnly" {
				t.Errorf("the span has %v", span.Attributes())
			}
		}
	}
	if want := []string{"a", "b", "a", "none"}; !slices.Equal(tenants, want) {
		t.Errorf("the spans are of %q, want %q: the function wins over WithAttributes, and a panic leaves out what it would have said", tenants, want)
	}
	for _, m := range collect(t, reader) {
		if m.Name != "cupel.pipeline.duration" {
			continue
		}
		got := points(m)
		for tenant, want := range map[string]string{"a": "2 ", "b": "1 ", "none": "1 "} {
			series := "cupel.run.mode=run cupel.verbosity=3 region=eu tenant=" + tenant
			if !strings.HasPrefix(got[series], want) {
				t.Errorf("the series are %v, want %q of %q", got, want, series)
			}
		}
	}
	if errs := handled(); len(errs) != 2 || strings.Contains(errs[0].Error(), "nil") {
		t.Errorf("the error handler got %v, want the panics of two collectors without their values", errs)
	}
}

// TestAttributesFuncIsCalledOnce for each run and each turn: it may look things up.
func TestAttributesFuncIsCalledOnce(t *testing.T) {
	calls := 0
	counted := cupelotel.WithAttributesFunc(func(context.Context) []attribute.KeyValue { calls++; return nil })
	tracers, _ := newRecorder(t)
	meters, _ := newReader(t)
	for name, collector := range map[string]observe.TraceCollector{
		"spans":   cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(tracers), counted),
		"metrics": cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(meters), counted),
	} {
		calls = 0
		ctx, turn := take(t, t.Context(), collector, forced, config())
		turn.CommitTurn(ctx, reported)
		if calls != 2 {
			t.Errorf("%s: %d calls for a turn with a run and its commit, want 2", name, calls)
		}
	}
}

func TestSeriesWithoutBound(t *testing.T) {
	// The memory of a collector stays bounded, and every run counts all the same.
	meters, reader := newReader(t)
	n := 0
	collector := cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(meters), cupelotel.WithAttributesFunc(func(context.Context) []attribute.KeyValue {
		n++
		return []attribute.KeyValue{attribute.Int("request", n)}
	}))
	p := newPipeline(t, config())
	for range 300 {
		if _, err := p.Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range collect(t, reader) {
		if m.Name == "cupel.pipeline.duration" && len(points(m)) != 300 {
			t.Errorf("%d series, want one for each of 300 requests", len(points(m)))
		}
	}
}

func TestFilter(t *testing.T) {
	tracers, recorder := newRecorder(t)
	meters, reader := newReader(t)
	var asked []string
	filter := cupelotel.WithFilter(func(_ context.Context, info observe.RunInfo) bool {
		asked = append(asked, info.Pipeline)
		if info.Pipeline == "broken" {
			panic("secret")
		}
		return info.Pipeline == "wanted"
	})
	handled := handledErrors(t)
	for _, collector := range []observe.TraceCollector{
		cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(tracers), filter),
		cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(meters), filter),
	} {
		for _, name := range []string{"wanted", "broken", "other"} {
			c := config()
			c.Name = name
			if _, err := newPipeline(t, c).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
				t.Fatal(err)
			}
		}
		_, turn := take(t, t.Context(), collector, forced) // of a session whose pipeline has no name
		if turn != nil {
			t.Errorf("%T follows a turn that the filter leaves out", collector)
		}
	}
	if want := []string{"wanted", "broken", "other", "", "wanted", "broken", "other", ""}; !slices.Equal(asked, want) {
		t.Errorf("the filter was asked about %q, want %q", asked, want)
	}
	if name := attr(spanNamed(t, recorder, "cupel.pipeline").Attributes(), "cupel.pipeline.name"); name != "wanted" {
		t.Errorf("the only run is of %q", name)
	}
	for _, m := range collect(t, reader) {
		if p := points(m); m.Name == "cupel.pipeline.duration" && (len(p) != 1 || !strings.HasPrefix(p["cupel.pipeline.name=wanted cupel.run.mode=run"], "1 ")) {
			t.Errorf("the series are %v, want one run of the wanted pipeline", p)
		}
	}
	if errs := handled(); len(errs) != 2 || strings.Contains(errs[0].Error(), "secret") {
		t.Errorf("the error handler got %v, want the panics of two collectors without their values", errs)
	}
}

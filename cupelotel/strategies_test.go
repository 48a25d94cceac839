package cupelotel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelotel"
)

// napping is a scorer that takes time.
type napping[T any] struct{ takes time.Duration }

func (n *napping[T]) Score(context.Context, []*cupel.ContextItem, []float64) error {
	time.Sleep(n.takes)
	return nil
}

// layered is a pipeline whose strategies have parts.
func layered(t *testing.T) pipeline.Config {
	t.Helper()
	inner, err := scorer.NewComposite(
		scorer.Weighted{Scorer: &napping[map[string]int]{2 * time.Millisecond}, Weight: 1},
		scorer.Weighted{Scorer: &napping[map[string]int]{time.Millisecond}, Weight: 1},
		scorer.Weighted{Scorer: struct{ scorer.Recency }{}, Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	outer, err := scorer.NewComposite(scorer.Weighted{Scorer: scorer.Recency{}, Weight: 1}, scorer.Weighted{Scorer: inner, Weight: 1})
	if err != nil {
		t.Fatal(err)
	}
	quota, err := slicer.NewQuota(slicer.Greedy{}, slicer.Cap("Document", 50))
	if err != nil {
		t.Fatal(err)
	}
	return pipeline.Config{Scorer: outer, Slicer: quota, Placer: placer.Chronological{}, Overflow: pipeline.OverflowTruncate, Clock: func() time.Time { return base }}
}

func TestStrategies(t *testing.T) {
	provider, recorder := newRecorder(t)
	collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider))
	if _, err := newPipeline(t, layered(t)).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
		t.Fatal(err)
	}
	golden(t, "Strategies.txt", tree(recorder.Ended()))

	score := spanNamed(t, recorder, "cupel.stage.score")
	took := func(name string) time.Duration {
		for _, kv := range score.Attributes() {
			if kv.Key == attribute.Key("cupel.strategy.time."+name) {
				return time.Duration(kv.Value.AsFloat64() * float64(time.Second))
			}
		}
		t.Fatalf("no time of %s", name)
		return 0
	}
	stage := score.EndTime().Sub(score.StartTime())
	outer, inner, first, second := took("Composite"), took("Composite.Composite"), took("Composite.Composite.napping"), took("Composite.Composite.napping.2")
	if stage < outer || outer < inner || inner < first+second || first < 2*time.Millisecond || second < time.Millisecond {
		t.Errorf("the stage took %s, its Composite %s, the one in that %s, and its parts %s and %s", stage, outer, inner, first, second)
	}
	for _, span := range recorder.Ended() {
		if span.EndTime().Before(span.StartTime()) || span.StartTime().Before(time.Now().Add(-time.Minute)) {
			t.Errorf("%s lasts from %s to %s", span.Name(), span.StartTime(), span.EndTime())
		}
		for _, parent := range recorder.Ended() {
			if parent.SpanContext().SpanID() == span.Parent().SpanID() && (span.StartTime().Before(parent.StartTime()) || span.EndTime().After(parent.EndTime())) {
				t.Errorf("%s is not within %s", span.Name(), parent.Name())
			}
		}
	}
}

func TestStreamsHaveBusyTimes(t *testing.T) {
	provider, recorder := newRecorder(t)
	c := layered(t)
	c.Clock = nil // busy times are by the pipeline's clock
	collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider))
	const pause = 5 * time.Millisecond
	slowly := func(yield func(*cupel.ContextItem, error) bool) {
		for i := range 4 {
			time.Sleep(pause)
			if !yield(newItem(t, fmt.Sprint("item ", i), 10), nil) {
				return
			}
		}
	}
	if _, err := newPipeline(t, c).RunStream(t.Context(), slowly, newBudget(t, 1000, 100), pipeline.WithTrace(collector), pipeline.WithBatchSize(2)); err != nil {
		t.Fatal(err)
	}
	for _, span := range recorder.Ended() {
		if !strings.HasPrefix(span.Name(), "cupel.stage.") {
			continue
		}
		busy, wall := -1.0, span.EndTime().Sub(span.StartTime()).Seconds()
		for _, kv := range span.Attributes() {
			if kv.Key == "cupel.stage.busy_time" {
				busy = kv.Value.AsFloat64()
			}
		}
		// Two items of the second batch came between.
		overlapping := slices.Contains([]string{"cupel.stage.score", "cupel.stage.deduplicate", "cupel.stage.slice"}, span.Name())
		if most := wall - 2*pause.Seconds(); busy <= 0 || overlapping && busy > most {
			t.Errorf("%s was busy for %g s of %g s, want at most %g s", span.Name(), busy, wall, most)
		}
	}
}

// TestPrepared checks that Prepare has a trace of its own, to which the runs of the
// Prepared link.
func TestPrepared(t *testing.T) {
	provider, recorder := newRecorder(t)
	others, other := newRecorder(t)
	meters, reader := newReader(t)
	trace := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(cupelotel.VerbosityStageAndExclusions))
	collector := observe.Multi(trace, cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(others)),
		cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(meters)))
	p := newPipeline(t, config())
	prepared, err := p.Prepare(t.Context(), candidates(t), pipeline.WithTrace(collector))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "Prepare.txt", tree(recorder.Ended()))
	for _, target := range []int{50, 100} {
		if _, err := prepared.Run(t.Context(), newBudget(t, 1000, target), pipeline.WithTrace(collector)); err != nil {
			t.Fatal(err)
		}
	}
	change := config()
	change.Scorer = scorer.Recency{}
	again, err := prepared.For(t.Context(), newPipeline(t, change), pipeline.WithTrace(trace))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Run(t.Context(), newBudget(t, 1000, 100), pipeline.WithTrace(trace)); err != nil {
		t.Fatal(err)
	}

	links := func(spans []sdktrace.ReadOnlySpan) (modes []string) {
		known := map[string]string{}
		for _, span := range spans {
			if span.Name() != "cupel.pipeline" {
				continue
			}
			mode := attr(span.Attributes(), "cupel.run.mode")
			known[span.SpanContext().SpanID().String()] = fmt.Sprint(mode, len(known))
			for _, link := range span.Links() {
				mode += " of " + known[link.SpanContext.SpanID().String()]
			}
			modes = append(modes, mode)
		}
		return modes
	}
	want := []string{"prepare", "prepared of prepare0", "prepared of prepare0", "prepare", "prepared of prepare3"}
	if got := links(recorder.Ended()); !slices.Equal(got, want) {
		t.Errorf("runs and their links: %q, want %q", got, want)
	}
	if got := links(other.Ended()); !slices.Equal(got, want[:3]) {
		t.Errorf("runs and their links in the other provider: %q, want %q", got, want[:3])
	}

	modes := map[string]int{}
	for _, m := range collect(t, reader) {
		if strings.HasPrefix(m.Name, "cupel.pipeline.selected_tokens") && strings.Contains(fmt.Sprint(m.Data), `"prepare"`) {
			t.Error("a preparation has a window")
		}
		modes[m.Name]++
	}
	if modes["cupel.pipeline.duration"] != 1 {
		t.Errorf("no durations: %v", modes)
	}

	// A failed preparation, and one whose trace is not recorded.
	failing := config()
	failing.Scorer = batchFunc(func(context.Context, []*cupel.ContextItem, []float64) error { return errors.New("no") })
	if _, err := newPipeline(t, failing).Prepare(t.Context(), candidates(t), pipeline.WithTrace(trace)); err == nil {
		t.Error("the scorer did not fail")
	}
	roots := recorder.Ended()
	if last := roots[len(roots)-1]; attr(last.Attributes(), "error.type") != "*cupel.StrategyError" {
		t.Errorf("a failed preparation:\n%s", tree(roots[len(roots)-1:]))
	}
	out := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(sampledOut()))
	unrecorded, err := p.Prepare(t.Context(), candidates(t), pipeline.WithTrace(out))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unrecorded.Run(t.Context(), newBudget(t, 1000, 100), pipeline.WithTrace(trace)); err != nil {
		t.Fatal(err)
	}
	spans := recorder.Ended()
	if last := spans[len(spans)-1]; len(last.Links()) != 0 {
		t.Errorf("a run links to a span that is not recorded: %v", last.Links())
	}
}

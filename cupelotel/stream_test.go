package cupelotel_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelotel"
)

// source yields items and, after them, an error unless it is nil.
func source(err error, items ...*cupel.ContextItem) func(func(*cupel.ContextItem, error) bool) {
	return func(yield func(*cupel.ContextItem, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// The candidates in batches of two: the pinned one and the one of negative
// size; a twice, with the first selected; b and the huge one; the note and c,
// which do not fit.
//
//	20 pinned, 80 left; a: 70 left; b: 40 left; huge 5000, note 60, c 50
func TestStream(t *testing.T) {
	tests := []struct {
		verbosity cupelotel.Verbosity
		why       string
	}{
		{cupelotel.VerbosityStageOnly, "six spans, whose counts are those of all batches"},
		{cupelotel.VerbosityStageAndExclusions, "the exclusions of all batches are events of the stage that made them"},
		{cupelotel.VerbosityFull, "the window is on the place stage"},
	}
	for _, tt := range tests {
		t.Run(tt.verbosity.String(), func(t *testing.T) {
			provider, recorder := newRecorder(t)
			c := config()
			c.Clock = ticking(step)
			collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(tt.verbosity))
			result, err := newPipeline(t, c).RunStream(t.Context(), source(nil, candidates(t)...), newBudget(t, 1000, 100), pipeline.WithTrace(collector), pipeline.WithBatchSize(2))
			if err != nil || len(result.Window) != 3 {
				t.Fatalf("RunStream: %+v, %v", result, err)
			}
			golden(t, "Stream"+tt.verbosity.String()+".txt", tree(recorder.Ended()))
			if t.Failed() {
				t.Log("why:", tt.why)
			}
		})
	}
}

// The spans of the first four stages last from the first batch to the last one,
// and what strategies do for a batch lies within the span of their stage.
func TestStreamTimes(t *testing.T) {
	provider, recorder := newRecorder(t)
	tracer := provider.Tracer("test")
	clock := ticking(step)
	c := config()
	c.Clock = clock
	c.Scorer = batchFunc(func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
		_, span := tracer.Start(ctx, fmt.Sprint("own scorer of ", all[0].Content()))
		defer span.End()
		return strategy.CallScorer(ctx, byHint, all, scores)
	})
	reader := sdkmetric.NewManualReader()
	collector := observe.Multi(
		cupelotel.NewTraceCollector(cupelotel.WithPipelineClock(), cupelotel.WithTracerProvider(provider)),
		cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))))
	items := []*cupel.ContextItem{newItem(t, "a", 1), newItem(t, "b", 1), newItem(t, "c", 1)}
	if _, err := newPipeline(t, c).RunStream(t.Context(), source(nil, items...), newBudget(t, 100, 100), pipeline.WithTrace(collector), pipeline.WithBatchSize(2)); err != nil {
		t.Fatal(err)
	}
	// Readings: 0 start; 1-2 classify; 3-8 score, deduplicate, slice; 9-10
	// classify, until the source ends; 11-16; 17-18 place; 19 end.
	for _, want := range []struct {
		name, parent string
		start, end   int
	}{
		{"cupel.pipeline", "", 0, 19},
		{"cupel.stage.classify", "cupel.pipeline", 1, 10},
		{"cupel.stage.score", "cupel.pipeline", 3, 12},
		{"cupel.stage.deduplicate", "cupel.pipeline", 5, 14},
		{"cupel.stage.slice", "cupel.pipeline", 7, 16},
		{"cupel.stage.place", "cupel.pipeline", 17, 18},
		{"own scorer of a", "cupel.stage.score", 0, 0},
		{"own scorer of c", "cupel.stage.score", 0, 0},
	} {
		span := spanNamed(t, recorder, want.name)
		if want.parent != "" && span.Parent().SpanID() != spanNamed(t, recorder, want.parent).SpanContext().SpanID() {
			t.Errorf("%s is not below %s", want.name, want.parent)
		}
		start, end := base.Add(time.Duration(want.start)*step), base.Add(time.Duration(want.end)*step)
		if want.end > 0 && (!span.StartTime().Equal(start) || !span.EndTime().Equal(end)) {
			t.Errorf("%s lasts from %s to %s, want %s to %s", want.name, span.StartTime(), span.EndTime(), start, end)
		}
	}

	// Two batches of one step each last two steps, regardless of the time
	// between them.
	var data metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, m := range data.ScopeMetrics[0].Metrics {
		if m.Name != "cupel.stage.duration" {
			continue
		}
		for _, point := range m.Data.(metricdata.Histogram[float64]).DataPoints {
			want := 2 * step.Seconds()
			if name, _ := point.Attributes.Value("cupel.stage.name"); name.AsString() == "place" {
				want = step.Seconds()
			}
			found++
			if point.Count != 1 || point.Sum != want {
				t.Errorf("%v: %d durations of %g s, want one of %g s", point.Attributes.ToSlice(), point.Count, point.Sum, want)
			}
		}
	}
	if found != 5 {
		t.Errorf("%d stages have a duration", found)
	}
}

func TestStreamFailures(t *testing.T) {
	for _, tt := range []struct {
		name        string
		err         error
		errorType   string
		description string
		why         string
	}{
		{"error", errors.New("secret"), "*pipeline.SourceError", "cupel: the source failed at item 8", "the text of the source may quote an item"},
		{"panic", nil, "*cupel.PanicError", "cupel: the source panicked at item 8", "a panic is distinguished from an error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			provider, recorder := newRecorder(t)
			collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider))
			items := candidates(t)
			failing := source(tt.err, items...)
			if tt.err == nil {
				failing = func(yield func(*cupel.ContextItem, error) bool) {
					source(nil, items...)(yield)
					panic("secret")
				}
			}
			_, err := newPipeline(t, config()).RunStream(t.Context(), failing, newBudget(t, 1000, 100), pipeline.WithTrace(collector), pipeline.WithBatchSize(2))
			if err == nil {
				t.Fatal("no error")
			}
			if n := len(recorder.Ended()); n != 5 { // all but place
				t.Errorf("%d spans", n)
			}
			for _, span := range recorder.Ended() {
				want := codes.Unset
				if span.Name() == "cupel.stage.classify" || span.Name() == "cupel.pipeline" {
					want = codes.Error
					if attr(span.Attributes(), "error.type") != tt.errorType || span.Status().Description != tt.description {
						t.Errorf("%s: %v %+v, because %s", span.Name(), span.Attributes(), span.Status(), tt.why)
					}
				}
				if span.Status().Code != want {
					t.Errorf("%s has the status %v", span.Name(), span.Status())
				}
			}
		})
	}
}

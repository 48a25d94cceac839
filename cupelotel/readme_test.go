package cupelotel_test

import (
	"context"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/turn"
	"github.com/wollax/cupel-go/cupelotel"
	"os"
	"strings"
	"testing"
)

// TestReadmeNamesEverything checks that the README and the comments of attributes.go,
// which are the table of docs/telemetry.md, have every name on spans and metrics.
func TestReadmeNamesEverything(t *testing.T) {
	tracers, recorder := newRecorder(t)
	meters, reader := newReader(t)
	collector := observe.Multi(
		cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(tracers), cupelotel.WithVerbosity(cupelotel.VerbosityFull), cupelotel.WithEventLimit(1)),
		cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(meters)))
	var f failing
	_ = f.run(t, failureNamed(t, "overflow under Throw"), collector)
	if _, err := newPipeline(t, config()).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
		t.Fatal(err)
	}

	if _, err := newPipeline(t, unitsConfig()).Run(t.Context(), grouped(t), newBudget(t, 1000, 60), pipeline.WithTrace(cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(tracers), cupelotel.WithVerbosity(cupelotel.VerbosityFull)))); err != nil {
		t.Fatal(err)
	}

	ctx, current := take(t, t.Context(), collector, forced)
	current.CommitTurn(ctx, reported)
	take(t, t.Context(), collector, turn.End{Err: context.Canceled})

	names := map[string]bool{cupelotel.ScopeName: true}
	for _, span := range recorder.Ended() {
		for _, kv := range span.Attributes() {
			names[string(kv.Key)] = true
		}
		for _, event := range span.Events() {
			names[event.Name] = true
			for _, kv := range event.Attributes {
				names[string(kv.Key)] = true
			}
		}
		names[span.Name()] = true
	}
	for _, m := range collect(t, reader) {
		names[m.Name] = true
	}
	// Root and stages, 2 spans of turns, 29 attributes of spans, 2 events, 12
	// attributes of events, 14 metrics, the scope. 4 metrics have the names of others.
	if len(names) < 62 {
		t.Errorf("only %d names were seen: %v", len(names), names)
	}

	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := string(readme) + attributeTable(t)
	for name := range names {
		if strings.HasPrefix(name, "cupel.strategy.time.") {
			name = "cupel.strategy.time."
		}
		if !strings.Contains(documented, name) {
			t.Errorf("neither README.md nor attributes.go names %s", name)
		}
	}
}

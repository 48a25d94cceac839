package cupelotel_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/turn"
	"github.com/wollax/cupel-go/cupelotel"
)

// TestReadmeNamesEverything checks that the README, the comment of MetricCollector and the
// comments of attributes.go, which are the table of docs/telemetry.md, have every name on
// spans and metrics.
func TestReadmeNamesEverything(t *testing.T) {
	spans, recorder := traced(t, cupelotel.VerbosityFull, cupelotel.WithEventLimit(1))
	metrics, reader := measured(t)
	collector := observe.Multi(spans, metrics)
	run(t, alarming(t), collector)
	var f failing
	f.run(t, failureNamed(t, "overflow under Throw"), collector)
	_, err := newPipeline(t, unitsConfig()).Run(t.Context(), grouped(t), newBudget(t, 1000, 60), pipeline.WithTrace(collector))
	require.NoError(t, err)
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
	assert.Greater(t, len(names), 60)

	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	source, err := os.ReadFile("metrics.go")
	require.NoError(t, err)
	before, _, found := strings.Cut(string(source), "type MetricCollector")
	require.True(t, found)
	documented := string(readme) + attributeTable(t) + before
	for name := range names {
		assert.Contains(t, documented, name)
	}
}

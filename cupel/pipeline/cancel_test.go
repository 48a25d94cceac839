package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func TestCancellation(t *testing.T) {
	cause := errors.New("the user went away")
	items := []*cupel.ContextItem{item(t, "a", 1), item(t, "b", 1)}
	tests := []struct {
		name  string
		stage cupel.PipelineStage
		with  func(cancel func()) func(*pipeline.Config)
		why   string
	}{
		{"before the run", cupel.StageClassify, func(cancel func()) func(*pipeline.Config) {
			cancel()
			return func(*pipeline.Config) {}
		}, "the first stage notices"},
		{"by the scorer, one by one", cupel.StageDeduplicate, func(cancel func()) func(*pipeline.Config) {
			return withScorer(scoreFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { cancel(); return 0 }))
		}, "two items are fewer than the single form looks up after, so the next stage notices"},
		{"by the slicer, which returns the cause", cupel.StageSlice, func(cancel func()) func(*pipeline.Config) {
			return withSlicer(sliceFunc(func(ctx context.Context, _ []cupel.ScoredItem, _ cupel.SliceBudget) (strategy.Selection, error) {
				cancel()
				return strategy.Selection{}, context.Cause(ctx)
			}))
		}, "a cause is as good as the context's error"},
		{"by the placer", cupel.StagePlace, func(cancel func()) func(*pipeline.Config) {
			return withPlacer(placeFunc(func(ctx context.Context, _ []cupel.ScoredItem, _ []int) error {
				cancel()
				return fmt.Errorf("wrapped: %w", ctx.Err())
			}))
		}, "wrapped context errors count"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			p := newPipeline(t, tt.with(func() { cancel(cause) }))
			_, err := p.Run(ctx, items, budgetOf(t, 9, 9))
			errorIs(t, err, context.Canceled)
			errorIs(t, err, cause)
			var canceled *pipeline.CanceledError
			if !errors.As(err, &canceled) || canceled.Stage != tt.stage {
				t.Errorf("got %v, want a CanceledError of stage %s: %s", err, tt.stage, tt.why)
			}
		})
	}
}

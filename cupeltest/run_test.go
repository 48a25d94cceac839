package cupeltest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

type sliceFunc func(items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error)

func (f sliceFunc) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	return f(items, budget)
}

type placeFunc func(items []cupel.ScoredItem, order []int) error

func (f placeFunc) Place(_ context.Context, items []cupel.ScoredItem, order []int) error {
	return f(items, order)
}

func newPipeline(t *testing.T, config pipeline.Config) *pipeline.Pipeline {
	t.Helper()
	if config.Scorer == nil {
		config.Scorer = scorer.Reflexive{}
	}
	if config.Slicer == nil {
		config.Slicer = slicer.Greedy{}
	}
	if config.Placer == nil {
		config.Placer = placer.UShaped{}
	}
	pipeline, err := pipeline.New(config)
	require.NoError(t, err)
	return pipeline
}

// A run gives the report and the window in one call.
func TestRun(t *testing.T) {
	pipeline := newPipeline(t, pipeline.Config{})
	r, window := cupeltest.Run(t, pipeline, deskItems(), cupeltest.Budget(90, 90))
	require.Len(t, window, 4)
	for i, entry := range r.Included {
		require.Same(t, entry.Item, window[i])
	}
	pinned := []*cupel.ContextItem{cupeltest.Item("pinned", 101, cupel.WithPinned())}
	for _, s := range []interface {
		cupeltest.T
		reported() []string
	}{new(spy), new(keepsOn)} {
		apart(func() { require.NotNil(t, dryRun(s, pipeline, pinned, cupeltest.Budget(100, 50))) })
		require.Equal(t, []string{"Run failed: cupel: Pinned items require 101 tokens, but only 100 are available"}, s.reported())
	}
}

package main

import (
	"context"
	"errors"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Strategies of a consumer's own: everything that their contracts mention must
// be within reach from outside.
type (
	byLength struct{}
	firstFit struct{}
	reversed struct{}
)

func (byLength) Score(_ context.Context, items []*cupel.ContextItem, scores []float64) error {
	for i, item := range items {
		scores[i] = float64(len(item.Content()))
	}
	return nil
}

func (firstFit) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	var selection strategy.Selection
	left := budget.TargetTokens
	for i, scored := range items {
		if tokens := scored.Item.Tokens(); tokens <= left {
			left -= tokens
			selection.Indices = append(selection.Indices, i)
		}
	}
	return selection, nil
}

func (reversed) Place(_ context.Context, items []cupel.ScoredItem) ([]int, error) {
	order := make([]int, len(items))
	for i := range order {
		order[i] = len(items) - 1 - i
	}
	return order, nil
}

func TestOwnStrategies(t *testing.T) {
	pipeline, err := pipeline.New(pipeline.Config{Scorer: byLength{}, Slicer: firstFit{}, Placer: reversed{}})
	if err != nil {
		t.Fatal(err)
	}
	budget, err := cupel.NewContextBudget(10, 5)
	if err != nil {
		t.Fatal(err)
	}
	var items []*cupel.ContextItem
	for _, content := range []string{"a", "bb", "ccc", "dddd"} {
		item, err := cupel.NewContextItem(content, len(content))
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	window, err := pipeline.Run(t.Context(), items, budget)
	if err != nil {
		t.Fatal(err)
	}
	// Longest first, dddd and a fill the target of 5; reversed, a comes first.
	if len(window) != 2 || window[0] != items[0] || window[1] != items[3] {
		t.Errorf("the window is %v, want a and dddd", window)
	}
}

// A scorer that is a function, and reads numbers from metadata.
func TestScorerFunc(t *testing.T) {
	byEmbedding := strategy.ScorerFunc(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
		value, _ := item.MetadataValue("embedding")
		embedding, ok := value.([]float32)
		if !ok {
			return 0
		}
		return float64(embedding[0])
	})
	pipeline, err := pipeline.New(pipeline.Config{Scorer: byEmbedding, Slicer: firstFit{}, Placer: reversed{}})
	if err != nil {
		t.Fatal(err)
	}
	near, err := cupel.NewContextItem("near", 5, cupel.WithMetadata(map[string]any{"embedding": []float32{0.5}}))
	if err != nil {
		t.Fatal(err)
	}
	far, err := cupel.NewContextItem("far", 5)
	if err != nil {
		t.Fatal(err)
	}
	budget, err := cupel.NewContextBudget(5, 5)
	if err != nil {
		t.Fatal(err)
	}
	window, report, err := pipeline.RunReport(t.Context(), []*cupel.ContextItem{far, near}, budget)
	if err != nil || len(window) != 1 || window[0] != near || report.Included[0].Reason != cupel.IncludeScored {
		t.Errorf("got %v, %v, want the near item", window, err)
	}
}

func TestErrorsAreTyped(t *testing.T) {
	_, err := pipeline.New(pipeline.Config{Slicer: firstFit{}, Placer: reversed{}})
	var invalid *cupel.InvalidConfigError
	if !errors.As(err, &invalid) || invalid.Field != "Scorer" || !errors.Is(err, cupel.ErrInvalidConfig) {
		t.Errorf("a configuration without a scorer gives %v, want an InvalidConfigError about Scorer", err)
	}
}

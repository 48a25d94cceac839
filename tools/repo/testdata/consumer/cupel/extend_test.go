package main

import (
	"context"
	"errors"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

// Strategies of a consumer's own: everything that their contracts mention must
// be within reach from outside.
type (
	byLength struct{}
	firstFit struct{}
	reversed struct{}
)

func (byLength) Score(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
	return float64(len(item.Content()))
}

func (firstFit) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	var selection cupel.Selection
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
	pipeline, err := cupel.New(cupel.Config{Scorer: byLength{}, Slicer: firstFit{}, Placer: reversed{}})
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

func TestErrorsAreTyped(t *testing.T) {
	_, err := cupel.New(cupel.Config{Slicer: firstFit{}, Placer: reversed{}})
	var invalid *cupel.InvalidConfigError
	if !errors.As(err, &invalid) || invalid.Field != "Scorer" || !errors.Is(err, cupel.ErrInvalidConfig) {
		t.Errorf("a configuration without a scorer gives %v, want an InvalidConfigError about Scorer", err)
	}
}

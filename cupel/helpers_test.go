package cupel_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

func item(t testing.TB, content string, tokens int, opts ...cupel.ItemOption) *cupel.ContextItem {
	t.Helper()
	it, err := cupel.NewContextItem(content, tokens, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return it
}

func hint(h float64) cupel.ItemOption { return cupel.WithFutureRelevanceHint(h) }

func budgetOf(t testing.TB, maxTokens, targetTokens int, opts ...cupel.BudgetOption) cupel.ContextBudget {
	t.Helper()
	b, err := cupel.NewContextBudget(maxTokens, targetTokens, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// greedy is a pipeline that takes items by their hints.
func greedy(t testing.TB) *pipeline.Pipeline {
	t.Helper()
	p, err := pipeline.New(pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func equalSlices[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func errorIs(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("got error %v, want one that matches %v", err, target)
	}
}

package analysis_test

import (
	"context"
	"errors"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

// TestFailureInTheSearch has a slicer that fails at one budget in the middle: the
// search must not take that for a budget that does not include the item.
func TestFailureInTheSearch(t *testing.T) {
	a := scored("a", 5, 0.5)
	failure := errors.New("out of order")
	for _, at := range []int{5, 52} {
		fails := sliceFunc(func(_ context.Context, _ []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
			if budget.TargetTokens == at {
				return cupel.Selection{}, failure
			}
			return cupel.Selection{}, nil
		})
		_, found, err := analysis.FindMinBudgetFor(t.Context(), pipeline(fails), []*cupel.ContextItem{a}, a, 100)
		if found || !errors.Is(err, failure) {
			t.Errorf("failing at %d: got %v, error %v, want the slicer's error", at, found, err)
		}
	}
}

func TestOneBudgetIsEnough(t *testing.T) {
	a := scored("a", 5, 0.5)
	takes := sliceFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
		return cupel.Selection{Indices: []int{0}}, nil
	})
	for limit, legal := range map[int]bool{1: true, 0: false} {
		budget, found, err := analysis.FindMinBudgetFor(t.Context(), pipeline(takes), []*cupel.ContextItem{a}, a, 100, analysis.WithMaxBudgets(limit))
		if legal && (!found || budget != 5 || err != nil) || !legal && !errors.Is(err, analysis.ErrInvalidArgument) {
			t.Errorf("limit %d: got %d, %v, error %v", limit, budget, found, err)
		}
	}
}

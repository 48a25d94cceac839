package cupelrelevance

import (
	"cmp"
	"context"
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// Tools returns the function for cupelchat.WithTools that keeps the definitions that a
// task is about most, at most so many of them, and those with the names in always. If the
// task is about none of them, it keeps the first ones. The same task and definitions give
// the same answer.
func Tools(most int, always ...string) func(task string, names, definitions []string) []bool {
	return func(task string, names, definitions []string) []bool {
		keep, order := make([]bool, len(names)), make([]int, len(names))
		for i, name := range names {
			keep[i], order[i] = slices.Contains(always, name), i
		}
		scores := scoresOfTools(task, definitions)
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		for _, i := range order[:max(0, min(most, len(order)))] {
			keep[i] = true
		}
		return keep
	}
}

// scoresOfTools scores definitions, all alike if they cannot be.
func scoresOfTools(task string, definitions []string) []float64 {
	scores := make([]float64, len(definitions))
	items := make([]*cupel.ContextItem, len(definitions))
	for i, text := range definitions {
		item, err := cupel.NewContextItem(text, 1)
		if err != nil {
			return scores
		}
		items[i] = item
	}
	index, err := NewIndex()
	if err != nil {
		return scores
	}
	scorer, err := New(index, task)
	if err != nil || scorer.Score(context.Background(), items, scores) != nil {
		return make([]float64, len(definitions))
	}
	return scores
}

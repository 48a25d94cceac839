package cupelrelevance

import (
	"cmp"
	"context"
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// Tools returns a function for cupelchat.WithTools. The function keeps at most this many
// definitions, those most relevant to a task, and also the definitions with the names in
// always. If none is relevant, it keeps the first ones. Equal tasks and definitions give
// equal answers.
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

// scoresOfTools scores definitions. If it fails, all scores are equal.
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
	relevance := Must(New(Must(NewIndex()), task)) // neither fails for an index of its own
	if relevance.Score(context.Background(), items, scores) != nil {
		clear(scores)
	}
	return scores
}

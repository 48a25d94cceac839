package slicer

import (
	"context"
	"math"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/order"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Greedy goes through the items by value density, the score per token, densest
// first, and takes each one that still fits. Items without tokens always fit. It
// skips an item that does not fit and goes on with the next.
//
// Greedy is fast and good enough for most work. It is not optimal; [Knapsack]
// is. Its choice is not monotonic in the budget: a larger target can leave out
// an item that a smaller one takes.
//
// The zero Greedy is ready. It takes time linear in the number of items and one
// allocation. It implements the GreedySlice chapter of the
// specification.
type Greedy struct{}

var greedyDescriptor = strategy.Plain[Greedy]("greedy", "GreedySlice", "Takes the highest score per token first, and each item that still fits.")

// LeftOver implements [cupel.LeftOverSlicer]: it returns true.
func (Greedy) LeftOver() bool { return true }

// Slice implements [cupel.Slicer]. The positions come densest first; it never
// fails.
func (Greedy) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	return takeInOrder(items, budget, sortByDensity), nil
}

// takeInOrder takes each item that still fits, in the order that sort makes.
func takeInOrder(items []cupel.ScoredItem, budget cupel.SliceBudget, sort func([]cupel.ScoredItem, []order.Pair)) cupel.Selection {
	if budget.TargetTokens <= 0 {
		return cupel.Selection{}
	}
	buffer := order.Borrow(len(items))
	defer buffer.Return()
	pairs := buffer.Pairs
	sort(items, pairs)

	remaining := budget.TargetTokens
	chosen := 0 // the chosen are moved to the front of pairs
	for _, p := range pairs {
		tokens := items[p.Index].Item.Tokens()
		if tokens < 0 || tokens > remaining {
			continue
		}
		remaining -= tokens
		pairs[chosen] = p
		chosen++
	}
	indices := make([]int, chosen)
	for i := range indices {
		indices[i] = pairs[i].Index
	}
	return cupel.Selection{Indices: indices}
}

// sortByDensity fills densities, which are as many as items, densest first.
func sortByDensity(items []cupel.ScoredItem, densities []order.Pair) {
	for i, it := range items {
		densities[i] = order.Pair{Key: order.Key(density(it)), Index: i}
	}
	order.SortDescending(densities)
}

// density is the score per token. Every item without tokens has the same,
// regardless of its score, so that only the position orders them.
func density(it cupel.ScoredItem) float64 {
	if tokens := it.Item.Tokens(); tokens != 0 {
		return it.Score / float64(tokens)
	}
	return math.MaxFloat64
}

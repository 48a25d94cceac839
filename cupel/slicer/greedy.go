package slicer

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/engine"
	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/order"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Greedy goes through the items by value density, the score per token, densest
// first, and takes each one that still fits. Items without tokens always fit. It
// skips an item that does not fit and continues with the next.
//
// Greedy is fast and good enough for most work. It is not optimal; [Knapsack]
// is. Its choice is not monotonic in the budget: a larger target can leave out
// an item that a smaller one takes.
//
// The zero Greedy is ready to use. It takes time linear in the number of items and
// one allocation. It implements the GreedySlice chapter of the
// specification.
type Greedy struct{}

var greedyDescriptor = strategy.Plain[Greedy]("greedy", "GreedySlice", "Takes the highest score per token first, and each item that still fits.")

var explainDensity = explainTurn("GreedySlice takes the highest score per token first.", density)

// Facts implements [strategy.Describer].
func (g Greedy) Facts() strategy.Facts {
	return strategy.Facts{Of: g, LeftOver: true, Explain: explainDensity}
}

// Slice implements [strategy.Slicer]. The positions come densest first; it never
// fails.
func (Greedy) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	return takeInOrder(items, budget, density), nil
}

// takeInOrder takes each item that still fits, highest value first.
func takeInOrder(items []cupel.ScoredItem, budget cupel.SliceBudget, value func(score float64, tokens int) float64) strategy.Selection {
	if budget.TargetTokens <= 0 {
		return strategy.Selection{}
	}
	w := walks.Get().(*walk) // a panic leaves it to the collector
	w.sort(items, value)
	_, missing := w.take(budget.TargetTokens, len(items))
	sel := strategy.Selection{Indices: slices.Clone(w.taken), StaysUntil: exact.Of(budget.TargetTokens, missing, -1).Int()}
	walks.Put(w)
	return sel
}

// outUntil returns the largest target, from a positive one on, up to which the item
// whose turn it is stays out, or a smaller one after many looks at items. It is out now.
func (w *walk) outUntil(target, turn int) int {
	tokens := w.tokens[w.pairs[turn].Index]
	if tokens < 0 {
		return math.MaxInt
	}
	const mostLooks = 1 << 21 // a few milliseconds, where a search would select for each of these targets
	for looks := 0; looks < mostLooks && target < math.MaxInt; looks += turn + 1 {
		left, missing := w.take(target, turn)
		if tokens-left < missing {
			return target + max(tokens-left, 0) - 1
		}
		// By then an item before it has come in that fits exactly. Nothing was left after
		// that one, and each token more leaves at most one more.
		target = exact.Of(target, missing, tokens).Int()
	}
	return target - 1
}

// walk is the memory of one call.
type walk struct {
	pairs  []order.Pair // every position of a list once, in order
	tokens []int        // by position: it is faster to look there than at the items again
	taken  []int
}

var walks = sync.Pool{New: func() any { return new(walk) }}

// take takes each of the first n positions whose item still fits the target. It
// returns the tokens left, and the least that an item lacked at its turn, or
// [math.MaxInt] if all fit.
func (w *walk) take(target, n int) (left, missing int) {
	left, missing = target, math.MaxInt
	taken := w.taken[:0]
	for _, p := range w.pairs[:n] {
		switch tokens := w.tokens[p.Index]; {
		case tokens < 0:
		case tokens > left:
			missing = min(missing, tokens-left)
		default:
			left -= tokens
			taken = append(taken, p.Index)
		}
	}
	w.taken = taken
	return left, missing
}

// sort puts the positions of items in order of a value, highest first. Calls with
// one budget after another get the same items, so it tries the order of the last
// call first.
func (w *walk) sort(items []cupel.ScoredItem, value func(score float64, tokens int) float64) {
	tokens := engine.Resize(w.tokens, len(items))
	for i := range items {
		tokens[i] = items[i].Item.Tokens()
	}
	w.tokens = tokens
	if len(w.pairs) == len(items) && w.inOrder(items, value) {
		return
	}
	pairs := engine.Resize(w.pairs, len(items))
	for i := range items {
		pairs[i] = order.Pair{Key: order.Key(value(items[i].Score, tokens[i])), Index: i}
	}
	order.SortDescending(pairs)
	w.pairs = pairs
}

// inOrder reports whether the positions are in order for these items too, and sets
// the keys up to where they are not.
func (w *walk) inOrder(items []cupel.ScoredItem, value func(score float64, tokens int) float64) bool {
	last := order.Pair{Key: math.MaxUint64, Index: -1}
	for i := range w.pairs {
		p := &w.pairs[i]
		p.Key = order.Key(value(items[p.Index].Score, w.tokens[p.Index]))
		if p.Key > last.Key || p.Key == last.Key && p.Index < last.Index {
			return false
		}
		last = *p
	}
	return true
}

// density is the score per token. Every item without tokens has the same,
// regardless of its score, so that only the position orders them.
func density(score float64, tokens int) float64 {
	if tokens != 0 {
		return score / float64(tokens)
	}
	return math.MaxFloat64
}

package scorer

import (
	"context"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/order"
	"github.com/wollax/cupel-go/cupel/internal/rank"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Priority scores an item by the rank of its priority: the number of items
// with a lower one, divided by the number of items with a priority minus one.
// The highest priority scores 1, the lowest 0, equal ones the same, and the
// only item with a priority 1. Items without a priority score 0. Scores are in
// [0,1].
//
// The zero Priority is ready for use.
//
// It implements the PriorityScorer chapter of the specification.
type Priority struct{}

var priorityDescriptor = strategy.Plain[Priority]("priority", "PriorityScorer", "Scores an item by the rank of its priority.")

// Score scores all items with one sort, O(N log N), and allocates nothing once its
// pooled memory has grown. It fails only when ctx is done.
func (p Priority) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	return ranked(ctx, p, items, scores, func(pairs []order.Pair) []order.Pair {
		for i, item := range items {
			if own, ok := item.Priority(); ok {
				pairs = append(pairs, order.Pair{Key: uint64(int64(own)) ^ 1<<63, Index: i}) // negative ones first
			}
		}
		return pairs
	})
}

// ranked scores items by the ranks of the keys that some of them have.
func ranked(ctx context.Context, s strategy.Scorer, items []*cupel.ContextItem, scores []float64, keys func([]order.Pair) []order.Pair) error {
	if err := begin(ctx, s, items, scores); err != nil {
		return err
	}
	buffer := order.Borrow(len(items))
	defer buffer.Return()
	rank.Fractions(keys(buffer.Pairs[:0]), scores)
	return ctx.Err()
}

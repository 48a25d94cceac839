package scorer

import (
	"cmp"
	"context"
	"math"

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

// Score looks at every item of all, O(N).
func (Priority) Score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	return fraction(item, all, (*cupel.ContextItem).Priority, cmp.Compare[int])
}

// ScoreAll scores all items with one sort, O(N log N), and allocates nothing
// once its pooled memory has grown. It fails only when ctx is done.
func (Priority) ScoreAll(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	if err := begin(ctx, "PriorityScorer", all, scores); err != nil {
		return err
	}
	buffer := order.Borrow(len(all))
	defer buffer.Return()
	pairs := buffer.Pairs[:0]
	lowest := math.MaxInt
	for i, item := range all {
		if i%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		scores[i] = 0
		if p, ok := item.Priority(); ok {
			lowest = min(lowest, p)
			pairs = append(pairs, order.Pair{Key: uint64(int64(p)), Index: i})
		}
	}
	// Keys of negative priorities wrap around; distances above the lowest do not.
	rank.Fractions(pairs, uint64(int64(lowest)), scores)
	return ctx.Err()
}

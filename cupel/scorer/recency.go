package scorer

import (
	"context"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/order"
	"github.com/wollax/cupel-go/cupel/internal/rank"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Recency scores an item by the rank of its timestamp: the number of items
// with an earlier one, divided by the number of items with a timestamp minus
// one. The latest item scores 1, the earliest 0, items of the same instant the
// same, and the only item with a timestamp 1. Items without a timestamp score
// 0. Scores are in [0,1].
//
// Timestamps compare as instants, over the whole range of [time.Time]. The
// zero Recency is ready for use.
//
// It implements the RecencyScorer chapter of the specification.
type Recency struct{}

var recencyDescriptor = strategy.Plain[Recency]("recency", "RecencyScorer", "Scores an item by the rank of its timestamp.")

// Score scores all items with one sort, O(N log N), and allocates nothing once its
// pooled memory has grown. It fails only when ctx is done.
func (r Recency) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	return ranked(ctx, r, items, scores, func(pairs []order.Pair) []order.Pair {
		return rank.ByTime(pairs, len(items), func(i int) (time.Time, bool) { return items[i].Timestamp() })
	})
}

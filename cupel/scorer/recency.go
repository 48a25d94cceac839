package scorer

import (
	"context"
	"math"
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

// Score looks at every item of all, O(N).
func (Recency) Score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	return fraction(item, all, (*cupel.ContextItem).Timestamp, time.Time.Compare)
}

// ScoreAll scores all items with one sort, O(N log N), and allocates nothing
// once its pooled memory has grown. It fails only when ctx is done.
func (Recency) ScoreAll(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	if err := begin(ctx, "RecencyScorer", all, scores); err != nil {
		return err
	}
	buffer := order.Borrow(len(all))
	defer buffer.Return()
	pairs := buffer.Pairs[:0]
	first, last := uint64(math.MaxUint64), uint64(0) // in seconds
	for i, item := range all {
		if i%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		scores[i] = 0
		if t, ok := item.Timestamp(); ok {
			seconds, nanos := instant(t)
			first, last = min(first, seconds), max(last, seconds)
			pairs = append(pairs, order.Pair{Key: inNanos(seconds, nanos), Index: i})
		}
	}
	base := inNanos(first, 0)
	if last-first > maxSpan { // 1 without timestamps
		narrow(all, pairs)
		base = 0
	}
	rank.Fractions(pairs, base, scores)
	return ctx.Err()
}

// maxSpan is how many seconds apart instants may be for their distances in
// nanoseconds to fit into 64 bits: 584 years.
const maxSpan = math.MaxUint64/1_000_000_000 - 1

// inNanos is an instant in nanoseconds modulo 2^64. It wraps around, but the
// difference of two instants at most maxSpan apart is exact.
func inNanos(seconds uint64, nanos uint32) uint64 {
	return seconds*1_000_000_000 + uint64(nanos)
}

// narrow gives the pairs of instants that are too far apart for nanoseconds
// keys of another kind: the rank of their seconds, then their nanoseconds.
func narrow(all []*cupel.ContextItem, pairs []order.Pair) {
	for i, p := range pairs {
		t, _ := all[p.Index].Timestamp()
		pairs[i].Key, _ = instant(t)
	}
	rank.Dense(pairs)
	for i, p := range pairs {
		t, _ := all[p.Index].Timestamp()
		pairs[i].Key = p.Key<<30 | uint64(t.Nanosecond()) // 10^9 < 2^30
	}
}

package placer

import (
	"context"
	"math"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/order"
	"github.com/wollax/cupel-go/cupel/internal/rank"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Chronological puts the items in the order of their timestamps, oldest first,
// as a conversation reads. Items without a timestamp come last. Items with equal
// timestamps, or none, keep their order. Scores do not matter.
//
// Timestamps compare to the nanosecond over the whole range of [time.Time]. The
// zero Chronological is ready to use. It takes time linear in the number of items while
// they lie within 544 years of each other, O(n log n) otherwise. It implements the
// ChronologicalPlacer chapter of the specification.
type Chronological struct{}

var chronologicalDescriptor = strategy.Plain[Chronological]("chronological", "ChronologicalPlacer", "Puts items in the order of their timestamps.")

// Place implements [strategy.Placer]. It never fails.
func (Chronological) Place(_ context.Context, items []cupel.ScoredItem, placed []int) error {
	buffer := order.Borrow(len(items))
	defer buffer.Return()
	timeOf := func(i int) (time.Time, bool) { return items[i].Item.Timestamp() }
	pairs := rank.ByTime(buffer.Pairs[:0], len(items), timeOf)
	for i := range pairs {
		pairs[i].Key = math.MaxUint64 - pairs[i].Key // oldest first
	}
	order.SortDescending(pairs)
	placed = placed[:0]
	for _, p := range pairs {
		placed = append(placed, p.Index)
	}
	for i := range items {
		if _, ok := timeOf(i); !ok {
			placed = append(placed, i)
		}
	}
	return nil
}

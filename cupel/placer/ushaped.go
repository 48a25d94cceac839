package placer

import (
	"context"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/order"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// UShaped puts the items with the highest scores at both edges and the lowest in
// the middle, because models attend most to the beginning and the end of what
// they read: the best comes first, the second best last, the third second, and
// so on. Equal scores are ordered by position, and NaN is lowest. Pinned items
// have score 1.0.
//
// The zero UShaped is ready to use. It takes time linear in the number of items. It
// implements the UShapedPlacer chapter of the specification.
type UShaped struct{}

var uShapedDescriptor = strategy.Plain[UShaped]("uShaped", "UShapedPlacer", "Puts the highest-scored items at both ends.")

// Place implements [strategy.Placer]. It never fails.
func (UShaped) Place(_ context.Context, items []cupel.ScoredItem, placed []int) error {
	buffer := order.Borrow(len(items))
	defer buffer.Return()
	ranks := buffer.Pairs
	for i, it := range items {
		ranks[i] = order.Pair{Key: order.Key(it.Score), Index: i}
	}
	order.SortDescending(ranks)

	left, right := 0, len(items)-1
	for rank, r := range ranks {
		if rank%2 == 0 {
			placed[left] = r.Index
			left++
		} else {
			placed[right] = r.Index
			right--
		}
	}
	return nil
}

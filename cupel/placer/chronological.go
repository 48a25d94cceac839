package placer

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/order"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Chronological puts the items in the order of their timestamps, oldest first,
// as a conversation reads. Items without a timestamp come last. Items with equal
// timestamps, or none, keep their order. Scores do not matter.
//
// Timestamps compare to the nanosecond over the whole range of [time.Time]. The
// zero Chronological is ready to use. It takes one allocation, and time linear in
// the number of items while they lie within 292 years of each other,
// O(n log n) otherwise. It implements the ChronologicalPlacer chapter of the
// specification.
type Chronological struct{}

var chronologicalDescriptor = strategy.Plain[Chronological]("chronological", "ChronologicalPlacer", "Puts items in the order of their timestamps.")

// Place implements [cupel.Placer]. It never fails.
func (Chronological) Place(_ context.Context, items []cupel.ScoredItem) ([]int, error) {
	return appendByTime(nil, items), nil
}

// AppendPlace implements [cupel.AppendPlacer]. It never fails.
func (Chronological) AppendPlace(_ context.Context, list []int, items []cupel.ScoredItem) ([]int, error) {
	return appendByTime(list, items), nil
}

func appendByTime(list []int, items []cupel.ScoredItem) []int {
	buffer := order.Borrow(len(items))
	defer buffer.Return()
	sortByTime(items, buffer.Pairs)
	list = slices.Grow(list, len(items))
	for _, p := range buffer.Pairs {
		list = append(list, p.Index)
	}
	return list
}

// sortByTime fills pairs with the positions of items in chronological order.
func sortByTime(items []cupel.ScoredItem, pairs []order.Pair) {
	if keysByTime(items, pairs) {
		order.SortDescending(pairs)
		return
	}
	slices.SortFunc(pairs, func(a, b order.Pair) int {
		t, hasT := items[a.Index].Item.Timestamp()
		u, hasU := items[b.Index].Item.Timestamp()
		switch {
		case hasT == hasU:
			return cmp.Or(t.Compare(u), cmp.Compare(a.Index, b.Index))
		case hasT:
			return -1
		}
		return 1
	})
}

// keysByTime fills pairs with the positions of items, and with keys in the order
// of their times unless these are too far apart for that.
func keysByTime(items []cupel.ScoredItem, pairs []order.Pair) (ok bool) {
	var oldest time.Time
	found := false
	for _, it := range items {
		if t, ok := it.Item.Timestamp(); ok && (!found || t.Before(oldest)) {
			oldest, found = t, true
		}
	}
	far := false
	for i, it := range items {
		pairs[i] = order.Pair{Index: i} // the least key, hence last: no timestamp
		if t, ok := it.Item.Timestamp(); ok {
			age := t.Sub(oldest)
			far = far || age == math.MaxInt64 // saturated: 292 years or more
			pairs[i].Key = math.MaxUint64 - uint64(age)
		}
	}
	return !far
}

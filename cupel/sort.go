package cupel

import "github.com/wollax/cupel-go/cupel/internal/order"

// sort is stage 4: highest score first, ties in the order of the candidates,
// NaN last (R8). It has no diagnostics of its own and belongs to Slice.
//
// It implements the Sort chapter of the specification.
func (r *run) sort() {
	if r.units != nil {
		r.sortUnits()
		return
	}
	r.keys = resize(r.keys, len(r.unique))
	for i, s := range r.unique {
		r.keys[i] = order.Pair{Key: order.Key(r.scores[s]), Index: s}
	}
	order.SortDescending(r.keys)
	r.sorted = resize(r.sorted, len(r.keys))
	for i, k := range r.keys {
		r.sorted[i] = ScoredItem{Item: r.items[r.scoreable[k.Index]], Score: r.scores[k.Index]}
	}
}

package knapsack

import "github.com/wollax/cupel-go/cupel/internal/order"

// A search begins with what the bound takes and changes sides of items, the
// cheapest first. Once those have been considered, every further change costs at
// least as much as the next item. A state is finished if its costs plus that
// cost exceed the gap. When no state is left, the search is complete, which
// happens after a few dozen items for unrelated weights and values.

// state is a set of items: its weight, its value and its costs. A list of states
// is sorted by weight and has only those to be preferred to all lighter ones.
type state struct {
	w    uint64 // a change that takes away adds modulo 2^64
	v    int64
	cost int64
	set  uint64 // bit i is set when item i is taken, if the search knows sets
}

// maxSet is how many items a search that knows sets may have.
const maxSet = 64

type search struct {
	*solver
	sets  bool   // whether to find the answer; otherwise one state for a value is enough
	least int64  // what costs must leave of the gap
	best  uint64 // the answer among the sets of value lead found so far
	found bool   // whether there is one
}

// search finds the best value there is, if that does not take too long, and among
// few items the answer. It reports whether it decided the items.
func (s *solver) search() (decided bool, err error) {
	n := len(s.items)
	x := search{solver: s, sets: n <= maxSet}
	if !x.sets {
		x.least = 1 << s.fine // only a greater value matters
		if s.goal == s.lead {
			return false, nil
		}
	}
	cheapest := order.Borrow(n)
	defer cheapest.Return()
	var start state
	var weight int64
	for i := range s.items {
		it := &s.items[i]
		cheapest.Pairs[i] = order.Pair{Key: ^uint64(it.cost), Index: i}
		if it.in {
			if weight += it.w; weight < 0 {
				return false, nil // the sum wraps
			}
			start.v += it.v
			start.set |= 1 << i
		}
	}
	start.w = uint64(weight)
	order.SortDescending(cheapest.Pairs)
	complete, err := x.run(start, cheapest.Pairs)
	if !complete {
		return false, err
	}
	s.goal = s.lead
	for i := range s.items {
		if x.sets && x.best>>i&1 != 0 {
			s.take(&s.items[i])
		}
	}
	return x.sets, nil
}

// run changes the sides of the items in this order, and reports whether it came to
// an end. It gives up when a table would be the better way.
func (x *search) run(start state, cheapest []order.Pair) (complete bool, err error) {
	const several = 64 // states that most searches do with
	cur, next := make([]state, 1, several), make([]state, 0, several)
	cur[0] = start
	effort := x.freeStates + int64(len(cheapest))*(x.capacity>>8+1)
	for j, p := range cheapest {
		it := &x.items[p.Index]
		change := state{uint64(it.w), it.v, it.cost, 1 << p.Index}
		if it.in {
			change.w, change.v = -change.w, -change.v
		}
		following := int64(maxCost) // no further change
		if j+1 < len(cheapest) {
			following = x.items[cheapest[j+1].Index].cost
		}
		states := int64(len(cur))
		if effort -= states; effort < 0 || states > x.limit>>8 {
			return false, nil
		}
		if err := x.spend(8 * states); err != nil {
			return false, err
		}
		next = x.merge(next[:0], cur, change, following)
		cur, next = next, cur
		if len(cur) == 0 {
			return true, nil
		}
	}
	return false, nil
}

// merge appends to dst the states of cur with and without a change that can still
// lead to a set of interest, when a further change costs at least following.
//
// Weights may pass the capacity for a while. One that would pass 2^64 is above
// twice the capacity, and no set that fits leads through it: what may still be
// taken away weighs less than 2^63.
func (x *search) merge(dst, cur []state, change state, following int64) []state {
	last := state{v: -1}
	i, j := 0, 0
	for i < len(cur) || j < len(cur) {
		var y state
		if j < len(cur) {
			z := &cur[j]
			y = state{z.w + change.w, z.v + change.v, z.cost + change.cost, z.set ^ change.set}
			if change.v > 0 && y.w < z.w {
				j = len(cur)
				continue
			}
		}
		if j == len(cur) || i < len(cur) && (cur[i].w < y.w || cur[i].w == y.w && cur[i].v >= y.v) {
			y = cur[i]
			i++
		} else {
			j++
		}
		// A lighter state is preferred in any case.
		if y.v < last.v || y.v == last.v && (!x.sets || y.set > last.set) {
			continue
		}
		last = y
		if y.w <= uint64(x.capacity) && (y.v > x.lead || y.v == x.lead && (!x.found || y.set < x.best)) {
			x.raise(y.v)
			x.best, x.found = y.set, true
		}
		if y.cost+following <= x.gap-x.least {
			dst = append(dst, y)
		}
	}
	return dst
}

package knapsack

// improve raises the best known value, and so narrows the gap. It searches from
// what the bound takes and changes sides of items, the cheapest first.
//
// Once the cheapest items have been considered, every further change costs at
// least as much as the next item. A state is finished if its costs plus that
// cost exceed what a better value may cost. When no state is left, the best
// known value is the best there is. For unrelated weights and values that
// happens after a few dozen items. The search knows only values, not sets, and
// stops when it grows too large: a best known value below the best only leaves
// more to the core.
func (s *solver) improve(scratch *scratch) error {
	if s.tune.method == byCoreFrontier || s.goal == s.lead {
		return nil
	}
	heap := scratch.heap[:0]
	for i := range s.items {
		it := &s.items[i]
		m := move{cost: it.cost, w: uint64(it.w), v: it.v}
		if it.in {
			m.w, m.v = -m.w, -m.v
		}
		heap = append(heap, m)
	}
	scratch.heap = heap
	heapify(heap)

	cur, next := append(scratch.cur[:0], state{w: uint64(s.inW), v: s.inV}), scratch.next[:0]
	effort := s.tune.leastSearch + s.cells()/256
	longest := min(s.tune.longest, uint64(s.tune.limit/8/stateBytes))
	for {
		// Only a value above the best known one matters.
		least := mul(s.price.w, 1)
		if len(heap) == 0 || len(cur) == 0 || s.gap.less(least) {
			s.goal = s.lead
			break
		}
		most := s.gap.minus(least).shifted(s.unit)
		m := heap[0]
		if m.cost > most {
			s.goal = s.lead
			break
		}
		heap = pop(heap)
		following := uint64(1) << 62 // above any gap: no further change
		if len(heap) > 0 {
			following = heap[0].cost
		}
		steps := uint64(len(cur))
		if steps > effort || steps > longest {
			break
		}
		effort -= steps
		if err := s.spend(8 * steps); err != nil {
			return err
		}
		var best int64
		next, best = change(next[:0], cur, m, uint64(s.capacity), most, following)
		cur, next = next, cur
		if best > s.lead {
			s.gap = s.gap.minus(mul(s.price.w, best-s.lead))
			s.lead = best
		}
	}
	scratch.cur, scratch.next = cur[:0], next[:0]
	return nil
}

// move is a change of one item's side: what it costs, and what it adds to weight
// and value (modulo 2^64 when it takes away).
type move struct {
	cost uint64
	w    uint64
	v    int64
}

// state is a set of changes: its weight, its value and its costs. A list of
// states is sorted by weight, and only states that are worth more than all
// lighter ones are in it.
type state struct {
	w    uint64
	v    int64
	cost uint64
}

// change appends to dst the states of cur with and without m that can still lead
// to costs of at most most when a further change costs at least following. It
// also returns the best value among all that fit.
//
// Weights may pass the capacity for a while. One that would pass 2^64 is above
// twice the capacity, and no set of changes that fits leads through it: what may
// still be taken away weighs no more than the capacity.
func change(dst, cur []state, m move, capacity, most, following uint64) ([]state, int64) {
	var best int64
	last := int64(-1)
	grows := m.v > 0
	i, j := 0, 0
	for i < len(cur) || j < len(cur) {
		var x state
		if j < len(cur) {
			x = cur[j]
			changed := x.w + m.w
			if grows && changed < x.w {
				j = len(cur)
				continue
			}
			if i == len(cur) || changed < cur[i].w || changed == cur[i].w && x.v+m.v > cur[i].v {
				x = state{changed, x.v + m.v, x.cost + m.cost}
				j++
			} else {
				x = cur[i]
				i++
			}
		} else {
			x = cur[i]
			i++
		}
		if x.v <= last {
			continue
		}
		if x.w <= capacity {
			best = max(best, x.v)
		}
		if x.cost+following <= most {
			dst = append(dst, x)
			last = x.v
		}
	}
	return dst, best
}

// heapify orders h as a heap with the least cost at the top, since few of its
// moves are ever needed in order.
func heapify(h []move) {
	for i := len(h)/2 - 1; i >= 0; i-- {
		sink(h, i)
	}
}

// pop removes the top of h.
func pop(h []move) []move {
	n := len(h) - 1
	h[0] = h[n]
	h = h[:n]
	sink(h, 0)
	return h
}

func sink(h []move, i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1].cost < h[child].cost {
			child++
		}
		if h[i].cost <= h[child].cost {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

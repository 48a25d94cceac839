package knapsack

import (
	"math"
	"math/bits"
)

// Why bounds may fix items. Let (p.v / p.w) be any price of a unit of weight and
// charge every item for its weight: an item of weight w and value v earns
// v - w*p.v/p.w. Say that the bound takes the items that earn something. For a
// set X that fits, multiplied by p.w to stay among integers,
//
//	p.w*value(X) = bound - costs(X) - p.v*(capacity - weight(X))
//
// where bound = p.w*value(I) + p.v*(capacity - weight(I)) for the set I that the
// bound takes, and costs(X) adds |p.w*v - p.v*w| over the items that X and I
// differ on. Both things subtracted are at least 0. So a set that is worth at
// least a known value L has costs of at most gap = bound - p.w*L, and an item
// that alone costs more is on the bound's side in every such set, the answer and
// all other optimal sets included. The best price is the density of the item at
// which greedy filling breaks off (Dantzig), and then I is what fits before it.

// price is the price p.v / p.w of a unit of weight.
type price struct{ w, v int64 }

// pair is an item's weight and value alone.
type pair struct{ w, v int64 }

// divisors returns the greatest common divisors of the weights and of the
// values.
func (s *solver) divisors() (gw, gv int64) {
	for i := range s.items {
		it := &s.items[i]
		if gw != 1 {
			gw = gcd(gw, it.w)
		}
		if gv != 1 {
			gv = gcd(gv, it.v)
		}
		if gw == 1 && gv == 1 {
			break
		}
	}
	return gw, gv
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// divideOut divides weights and values by their common divisors. The same sets
// fit, and they compare the same; but capacity that no set can use is gone, and
// distinct values are closer together.
func (s *solver) divideOut() {
	gw, gv := s.divisors()
	if gw <= 1 && gv <= 1 {
		return
	}
	s.capacity /= gw
	for i := range s.items {
		s.items[i].w /= gw
		s.items[i].v /= gv
	}
}

// maxSum bounds the value of what fits, so that sums do not wrap.
const maxSum = 1 << 61

// bound finds the price at which greedy filling breaks off, a first known value
// (lead), the gap between them, and every item's side and cost. The items must
// not fit together.
func (s *solver) bound(scratch *scratch) error {
	pairs := scratch.pairs[:0]
	var maxW, maxV int64
	for i := range s.items {
		it := &s.items[i]
		pairs = append(pairs, pair{it.w, it.v})
		maxW, maxV = max(maxW, it.w), max(maxV, it.v)
	}
	scratch.pairs = pairs
	wide := saturatingMul(uint64(maxW), uint64(maxV)) > math.MaxInt64

	at, weight := breakItem(pairs, s.capacity, wide)
	s.price = price(pairs[at])
	s.inW, s.inV = weight, 0
	for _, p := range pairs[:at] {
		if s.inV += p.v; s.inV > maxSum {
			return &InputError{Index: -1, Reason: "values add up to more than 2^61"}
		}
	}

	// The first known sets: the greedy one, which continues after the first
	// item that does not fit, and the one that adds the best single item that
	// does. Selection leaves the pairs roughly in order of density.
	room := s.capacity - s.inW
	left, filled, single := room, int64(0), int64(0)
	for _, p := range pairs[at:] {
		if p.w <= left {
			left -= p.w
			filled += p.v
		}
		if p.w <= room {
			single = max(single, p.v)
		}
		if filled > maxSum-s.inV {
			return &InputError{Index: -1, Reason: "values add up to more than 2^61"}
		}
	}
	s.lead = s.inV + max(filled, single)
	s.gap = mul(s.price.v, room).minus(mul(s.price.w, s.lead-s.inV))

	s.goal = saturatingAdd(s.lead, s.gap.over(s.price.w))

	// Costs are kept in 64 bits. When the gap needs more than 61, all of them are
	// shifted right: rounded down, their sums stay below the gap whenever the true
	// ones do, so that nothing is fixed that must not be.
	s.unit = uint(max(0, s.gap.bitLen()-61))
	for i := range s.items {
		it := &s.items[i]
		if wide {
			it.in, it.cost = s.wideCost(it)
			continue
		}
		d := it.v*s.price.w - s.price.v*it.w
		it.in = d > 0
		if d < 0 {
			d = -d
		}
		it.cost = uint64(d) >> s.unit
	}
	s.fix()
	return nil
}

// wideCost returns an item's side and cost at the price; the cost is the largest
// uint64 when it is above the gap.
func (s *solver) wideCost(it *item) (in bool, cost uint64) {
	own, charge := mul(it.v, s.price.w), mul(s.price.v, it.w)
	in = charge.less(own)
	if !in {
		own, charge = charge, own
	}
	d := own.minus(charge)
	if s.gap.less(d) {
		return in, math.MaxUint64
	}
	return in, d.shifted(s.unit)
}

// fix puts the items whose cost is above the gap on their side, and drops those
// that are too heavy for the remaining capacity.
func (s *solver) fix() {
	s.settle(func(it *item, most uint64) bool { return it.cost > most })
	kept := s.items[:0]
	for _, it := range s.items {
		if it.w <= s.capacity {
			kept = append(kept, it)
		}
	}
	s.items = kept
}

// settle puts the items that decided selects on the side that the bound gave
// them.
func (s *solver) settle(decided func(it *item, most uint64) bool) {
	most := s.gap.shifted(s.unit)
	kept := s.items[:0]
	for i := range s.items {
		it := &s.items[i]
		if !decided(it, most) {
			kept = append(kept, *it)
			continue
		}
		if it.in {
			s.take(it.pos)
			s.capacity -= it.w
			s.inW -= it.w
			s.inV -= it.v
			s.lead -= it.v
			s.goal -= it.v
		}
	}
	s.items = kept
}

// equalDensities reports whether all items have the density of the price.
func (s *solver) equalDensities() bool {
	for i := range s.items {
		it := &s.items[i]
		if mul(it.v, s.price.w) != mul(s.price.v, it.w) {
			return false
		}
	}
	return true
}

// breakItem reorders pairs so that those before the returned index have a
// greater density than the pair there, those from it on have no greater one, and
// the capacity is used up between: the pairs before it fit and weigh the second
// result, all pairs of at least that density do not fit. The pairs together must
// not fit. It is quickselect by weight, linear in the number of pairs.
func breakItem(pairs []pair, capacity int64, wide bool) (int, int64) {
	lo, hi := 0, len(pairs)
	room := uint64(capacity)
	random := uint64(len(pairs))
	for {
		// A fixed sequence of pseudo-random pivots. It affects the price, and
		// so only the speed.
		random = random*6364136223846793005 + 1442695040888963407
		high, _ := bits.Mul64(random, uint64(hi-lo))
		pivot := pairs[lo+int(high)]

		// pairs[lo:i] are denser than the pivot, pairs[i:k] as dense, pairs[j:hi] less so.
		i, k, j := lo, lo, hi
		var above, equal uint64
		for k < j {
			p := pairs[k]
			switch compareDensity(p, pivot, wide) {
			case 1:
				pairs[i], pairs[k] = p, pairs[i]
				above = addWeight(above, p.w)
				i++
				k++
			case 0:
				equal = addWeight(equal, p.w)
				k++
			default:
				j--
				pairs[k], pairs[j] = pairs[j], p
			}
		}
		switch {
		case above > room:
			hi = i
		case equal > room-above:
			return i, capacity - int64(room-above)
		default:
			room -= above + equal
			lo = j
		}
	}
}

// addWeight returns sum+w, or a number above every capacity.
func addWeight(sum uint64, w int64) uint64 {
	return min(sum+uint64(w), 1<<63)
}

// compareDensity returns 1 if a is denser than b, -1 if b is, and 0 otherwise.
func compareDensity(a, b pair, wide bool) int {
	if wide {
		return mul(a.v, b.w).compare(mul(b.v, a.w))
	}
	l, r := a.v*b.w, b.v*a.w
	switch {
	case l > r:
		return 1
	case l < r:
		return -1
	}
	return 0
}

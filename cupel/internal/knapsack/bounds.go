package knapsack

import (
	"errors"
	"math"
	"math/bits"

	"github.com/wollax/cupel-go/cupel/internal/order"
)

// Why bounds may fix items. Charge every item for its weight at any price: an
// item then earns its value less price times weight. Say that the bound takes
// the items that earn something, though they may not fit. For a set X that fits,
//
//	value(X) = bound - costs(X) - price*(capacity - weight(X))
//
// where bound is price*capacity and all that can be earned, and costs(X) adds
// what is earned or lost on the items in which X differs from the bound's. Both
// things subtracted are at least 0. So a set that is worth at least a known value
// has costs of at most the gap between the bound and that value, and an item that
// alone costs more is on the bound's side in every such set, the answer and all
// other optimal sets included. The best price is the density of the item at which
// greedy filling breaks off (Dantzig).
//
// Any price gives a bound, so all of this is exact among integers of 64 bits: a
// unit of value is 1<<fine, and weights are shifted right by coarse, which leaves
// them 30 bits. A set that fits still does so with weights rounded down, and
// rounding the price costs less than a unit of value in all.

// maxSum bounds the value of what fits, so that no sum wraps.
const maxSum = 1 << 59

// bound finds a price of weight, a first known value, the gap between it and the
// bound, and every item's side and cost. The items must not fit together.
func (s *solver) bound() error {
	densities := order.Borrow(len(s.items))
	defer densities.Return()
	for i := range s.items {
		it := &s.items[i]
		// Positive numbers compare as their bits do.
		densities.Pairs[i] = order.Pair{Key: math.Float64bits(float64(it.v) / float64(it.w)), Index: i}
	}
	order.SortDescending(densities.Pairs)

	// The first known set is the greedy one, which continues after the item at
	// which filling breaks off.
	var broken *item
	left := s.capacity
	for _, p := range densities.Pairs {
		it := &s.items[p.Index]
		if it.w > left {
			if broken == nil {
				broken = it
			}
			continue
		}
		left -= it.w
		if s.lead += it.v; s.lead > maxSum {
			return errors.New("knapsack: values add up to more than 2^59")
		}
	}

	s.fine = uint(60 - bits.Len64(uint64(s.lead+broken.v)))
	s.coarse = uint(max(0, bits.Len64(uint64(s.capacity))-30))
	w := max(1, broken.w>>s.coarse)
	s.price = (broken.v<<s.fine + w - 1) / w
	s.gap = s.price*(s.capacity>>s.coarse) - s.lead<<s.fine
	for i := range s.items {
		it := &s.items[i]
		earned := it.v<<s.fine - s.price*(it.w>>s.coarse)
		it.in = earned > 0
		it.cost = max(earned, -earned)
		s.gap += max(earned, 0)
	}
	s.goal = s.lead + s.gap>>s.fine
	return nil
}

// raise notes that a set is worth value.
func (s *solver) raise(value int64) {
	if value > s.lead {
		s.gap -= (value - s.lead) << s.fine
		s.lead = value
	}
}

// fix puts the items whose cost is above the gap on their side, and drops those
// that have become too heavy.
func (s *solver) fix() {
	for i := range s.items {
		if it := &s.items[i]; it.in && it.cost > s.gap {
			s.take(it)
		}
	}
	kept := s.items[:0]
	for i := range s.items {
		if it := &s.items[i]; it.cost <= s.gap && (it.in || it.w <= s.capacity) {
			kept = append(kept, *it)
		}
	}
	s.items = kept
}

package knapsack

import "math/bits"

// When all densities are equal, value is weight times a constant and the best
// set is the heaviest one that fits. Then only reachability counts, 64 capacities
// at a time, and the backward walk needs nothing but the first item at which each
// weight became reachable: the answer for a weight does not contain any later
// item, since the weight can be had without it, and does contain that item, since
// it cannot be had without. What remains was reachable before that item, so the
// first item for the remainder is an earlier one.

// subsetSumBytes returns the memory that solveSubsetSum needs.
func subsetSumBytes(capacity int64) int64 {
	if capacity > 1<<40 {
		return capacity
	}
	return 4*(capacity+1) + capacity/8 + 16
}

// solveSubsetSum decides the items, whose densities are equal. It takes at most
// items*capacity/64 steps, and stops once it reaches the capacity itself:
// nothing is better, and no later item is needed.
func (s *solver) solveSubsetSum() error {
	capacity := int(s.capacity)
	reach := make([]uint64, capacity>>6+1)
	first := make([]int32, capacity+1)
	reach[0] = 1
	top := 0 // heaviest weight reached
	for i := range s.items {
		w := int(s.items[i].w)
		newTop := top
		skip, shift := w>>6, uint(w&63)
		high := min(top+w, capacity) >> 6
		if err := s.spend(uint64(high - skip + 1)); err != nil {
			return err
		}
		for k := high; k >= skip; k-- {
			word := reach[k-skip] << shift
			if k > skip {
				word |= reach[k-skip-1] >> (64 - shift)
			}
			if word &^= reach[k]; word == 0 {
				continue
			}
			reach[k] |= word
			for ; word != 0; word &= word - 1 {
				at := k<<6 + bits.TrailingZeros64(word)
				if at > capacity {
					break
				}
				first[at] = int32(i)
				newTop = max(newTop, at)
			}
		}
		if top = newTop; top == capacity {
			break
		}
	}
	for left := top; left > 0; {
		it := &s.items[first[left]]
		s.take(it.pos)
		left -= int(it.w)
	}
	return nil
}

package knapsack

import (
	"cmp"
	"slices"
)

// Why dominance may fix items. Let a be no heavier than b, and worth more than b
// or worth the same and earlier. Then the answer does not take b without a:
// changing b for a would fit, and be worth more, or be worth the same and leave
// out the later of the two. So taking b when the bound leaves it out means taking
// everything that dominates it, and the costs of all of those that the bound
// leaves out add up; leaving out a when the bound takes it means leaving out
// everything that a dominates. Where the sum passes the gap the item is fixed.
// Many items of equal value, or of equal weight, make these sums long, which is
// when single costs say little.

// dominate fixes the items that dominance decides, in time O(n log n).
func (s *solver) dominate() {
	n := len(s.items)
	// rank orders items by preference, weight aside.
	rank := make([]int32, n)
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := cmp.Compare(s.items[b].v, s.items[a].v); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	for r, i := range order {
		rank[i] = int32(r)
	}
	// With weights ascending, and ranks among equal weights, every item comes after
	// those that dominate it and before those that it dominates.
	slices.SortFunc(order, func(a, b int32) int {
		if c := cmp.Compare(s.items[a].w, s.items[b].w); c != 0 {
			return c
		}
		return cmp.Compare(rank[a], rank[b])
	})

	sums := make(costSums, n+1)
	total := make([]uint64, n)
	for _, i := range order {
		if it := &s.items[i]; !it.in {
			total[i] = addCosts(it.cost, sums.below(int(rank[i])))
			sums.add(int(rank[i]), it.cost)
		}
	}
	clear(sums)
	for _, i := range slices.Backward(order) {
		if it := &s.items[i]; it.in {
			back := n - 1 - int(rank[i])
			total[i] = addCosts(it.cost, sums.below(back))
			sums.add(back, it.cost)
		}
	}
	i := -1
	s.settle(func(_ *item, most uint64) bool {
		i++
		return total[i] > most
	})
}

// costSums is a binary indexed tree over ranks that sums costs.
type costSums []uint64

// add adds cost at rank r.
func (c costSums) add(r int, cost uint64) {
	for r++; r < len(c); r += r & -r {
		c[r] = addCosts(c[r], cost)
	}
}

// below returns the sum of the costs at ranks less than r.
func (c costSums) below(r int) uint64 {
	var sum uint64
	for ; r > 0; r -= r & -r {
		sum = addCosts(sum, c[r])
	}
	return sum
}

// addCosts returns a+b, or a number above every gap.
func addCosts(a, b uint64) uint64 {
	return min(a+b, 1<<62)
}

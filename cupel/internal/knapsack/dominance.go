package knapsack

import (
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel/internal/order"
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
	ranks, weights := order.Borrow(n), order.Borrow(n)
	defer ranks.Return()
	defer weights.Return()
	for i := range s.items {
		ranks.Pairs[i] = order.Pair{Key: uint64(s.items[i].v), Index: i}
	}
	order.SortDescending(ranks.Pairs)
	// With weights ascending, and ranks of preference among equal weights, every
	// item comes after those that dominate it and before those that it dominates.
	for rank, p := range ranks.Pairs {
		weights.Pairs[rank] = order.Pair{Key: ^uint64(s.items[p.Index].w), Index: rank}
	}
	order.SortDescending(weights.Pairs)

	sums := make(costSums, n+1)
	for _, p := range weights.Pairs {
		rank := p.Index
		if it := &s.items[ranks.Pairs[rank].Index]; !it.in && sums.add(rank, it.cost) > s.gap {
			it.cost = math.MaxInt64
		}
	}
	clear(sums)
	for _, p := range slices.Backward(weights.Pairs) {
		rank := p.Index
		if it := &s.items[ranks.Pairs[rank].Index]; it.in && sums.add(n-1-rank, it.cost) > s.gap {
			it.cost = math.MaxInt64
		}
	}
	s.fix()
}

// costSums is a binary indexed tree over ranks that sums costs.
type costSums []int64

// add adds cost at rank and returns the sum of the costs up to there.
func (c costSums) add(rank int, cost int64) int64 {
	sum := cost
	for r := rank; r > 0; r -= r & -r {
		sum = addCosts(sum, c[r])
	}
	for r := rank + 1; r < len(c); r += r & -r {
		c[r] = addCosts(c[r], cost)
	}
	return sum
}

// maxCost is above every gap.
const maxCost = 1 << 61

// addCosts returns a+b, or maxCost if that is less.
func addCosts(a, b int64) int64 { return min(a+b, maxCost) }

package knapsack

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// instance is a problem as two lists.
type instance struct {
	weights, values []int64
	capacity, limit int64
}

func (p instance) problem() Problem {
	return Problem{
		Len: len(p.weights), Capacity: p.capacity, MemoryLimit: p.limit,
		Item: func(i int) (int64, int64) { return p.weights[i], p.values[i] },
	}
}

// scaled returns a problem with the same answer and the largest weights possible.
func (p instance) scaled() instance {
	most := max(p.capacity, slices.Max(append(p.weights, 1)))
	scale := int64(1) << (bits.LeadingZeros64(uint64(most)) - 1)
	p.weights = slices.Clone(p.weights)
	for i := range p.weights {
		p.weights[i] *= scale
	}
	p.capacity = p.capacity*scale + scale - 1
	return p
}

// plainTable is steps 4 and 5 of KNAPSACK-SLICE, with 64 cells of the keep table
// in a word: what a careful implementation of the chapter would do.
func plainTable(p instance) []int {
	n, capacity := len(p.weights), int(p.capacity)
	dp := make([]int64, capacity+1)
	words := capacity/64 + 1
	keep := make([]uint64, n*words)
	for i := range n {
		dw, dv := p.weights[i], p.values[i]
		row := keep[i*words:][:words]
		for w := capacity; int64(w) >= dw; w-- {
			if withItem := dp[w-int(dw)] + dv; withItem > dp[w] {
				dp[w] = withItem
				row[w/64] |= 1 << (w % 64)
			}
		}
	}
	selected := []int{}
	remaining := capacity
	for i := n - 1; i >= 0; i-- {
		if keep[i*words+remaining/64]>>(remaining%64)&1 != 0 {
			selected = append(selected, i)
			remaining -= int(p.weights[i])
		}
	}
	return selected
}

// family makes problems of one kind of up to n items, most with weights up to w.
type family struct {
	name string
	why  string
	make func(r *rand.Rand, n int, w int64) instance
}

// filled makes a problem one item at a time, with a share of their weight as the
// capacity.
func filled(next func(r *rand.Rand, w int64) (weight, value int64)) func(*rand.Rand, int, int64) instance {
	return func(r *rand.Rand, n int, w int64) instance {
		var p instance
		var total int64
		for range 1 + r.IntN(n) {
			weight, value := next(r, w)
			p.weights, p.values = append(p.weights, weight), append(p.values, value)
			total += weight
		}
		switch r.IntN(5) {
		case 0:
			p.capacity = total - 1
		case 1:
			p.capacity = total / 2
		case 2:
			p.capacity = p.weights[r.IntN(len(p.weights))]
		default:
			p.capacity = r.Int64N(total + 1)
		}
		return p
	}
}

var families = []family{
	{"unrelated", "continuous scores: the bounds decide nearly everything",
		filled(func(r *rand.Rand, w int64) (int64, int64) { return 1 + r.Int64N(w), r.Int64N(10001) })},
	{"six values", "scores by kind: a common divisor and many ties",
		filled(func(r *rand.Rand, w int64) (int64, int64) {
			return 1 + r.Int64N(w), []int64{10000, 9000, 8000, 6000, 4000, 2000}[r.IntN(6)]
		})},
	{"small numbers", "classes of identical items, ties everywhere, values of 0",
		filled(func(r *rand.Rand, _ int64) (int64, int64) { return 1 + r.Int64N(6), r.Int64N(5) })},
	{"equal densities", "nothing can be fixed",
		filled(func(r *rand.Rand, w int64) (int64, int64) { x := 1 + r.Int64N(w); return x, 3 * x })},
	{"two densities", "equal densities after the better half is fixed",
		filled(func(r *rand.Rand, w int64) (int64, int64) { x := 1 + r.Int64N(w); return x, x * (2 + r.Int64N(2)) })},
	{"equal weights", "a greedy choice with ties",
		filled(func(r *rand.Rand, w int64) (int64, int64) { return w, r.Int64N(12) })},
	{"multiples", "weights with a common divisor, capacity without",
		filled(func(r *rand.Rand, w int64) (int64, int64) { return 5 * (1 + r.Int64N(w)), 3 * r.Int64N(9) })},
	{"almost proportional", "value proportional to weight but rounded",
		filled(func(r *rand.Rand, w int64) (int64, int64) { x := 1 + r.Int64N(w); return x, x * 73 / 10 })},
	{"strongly correlated", "value is weight plus a constant",
		filled(func(r *rand.Rand, w int64) (int64, int64) { x := 1 + r.Int64N(w); return x, x + w/4 + 1 })},
	{"inversely correlated", "weight is value plus a constant",
		filled(func(r *rand.Rand, w int64) (int64, int64) { x := 1 + r.Int64N(w); return x + w/4, x })},
	{"equal values", "the lightest items, the earliest among equals",
		filled(func(r *rand.Rand, w int64) (int64, int64) { return 1 + r.Int64N(w), 5 })},
	{"too heavy", "most items do not fit at all",
		func(r *rand.Rand, n int, w int64) instance {
			var p instance
			for range 1 + r.IntN(n) {
				p.weights, p.values = append(p.weights, 1+r.Int64N(w)<<(r.IntN(4)*18)), append(p.values, 1+r.Int64N(50))
			}
			p.capacity = 1 + r.Int64N(w)
			return p
		}},
	{"large values", "values near the limit",
		filled(func(r *rand.Rand, w int64) (int64, int64) {
			return 1 + r.Int64N(w), MaxValue - r.Int64N(1<<r.IntN(41))
		})},
}

package knapsack

import (
	"math"
	"math/rand/v2"
)

// plainTable is steps 4 and 5 of KNAPSACK-SLICE, with 64 cells of the keep table
// in a word: what a careful implementation of the chapter would do.
func plainTable(p Problem) []int {
	n, capacity := len(p.Weights), int(p.Capacity)
	dp := make([]int64, capacity+1)
	words := capacity/64 + 1
	keep := make([]uint64, n*words)
	for i := range n {
		dw, dv := p.Weights[i], p.Values[i]
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
			remaining -= int(p.Weights[i])
		}
	}
	return selected
}

// bruteForce finds the answer by the tie rule as the package comment words it,
// for weights too large for a table: the least number among the optimal sets.
func bruteForce(p Problem) []int {
	n := len(p.Weights)
	bestValue, bestSet := int64(0), uint64(0)
	for set := range uint64(1) << n {
		room, value := p.Capacity, int64(0)
		for i := range n {
			if set>>i&1 != 0 {
				if room -= p.Weights[i]; room < 0 {
					break
				}
				value += p.Values[i]
			}
		}
		if room >= 0 && value > bestValue {
			bestValue, bestSet = value, set
		}
	}
	selected := []int{}
	for i := n - 1; i >= 0; i-- {
		if bestSet>>i&1 != 0 {
			selected = append(selected, i)
		}
	}
	return selected
}

// family makes problems of one kind of up to n items, most with weights up to w.
type family struct {
	name string
	why  string
	make func(r *rand.Rand, n int, w int64) Problem
}

// filled makes a problem one item at a time, with a share of their weight as the
// capacity.
func filled(next func(r *rand.Rand, w int64) (weight, value int64)) func(*rand.Rand, int, int64) Problem {
	return func(r *rand.Rand, n int, w int64) Problem {
		var p Problem
		var total int64
		for range 1 + r.IntN(n) {
			weight, value := next(r, w)
			p.Weights, p.Values = append(p.Weights, weight), append(p.Values, value)
			total += weight
		}
		switch r.IntN(5) {
		case 0:
			p.Capacity = total - 1
		case 1:
			p.Capacity = total / 2
		case 2:
			p.Capacity = p.Weights[r.IntN(len(p.Weights))]
		default:
			p.Capacity = r.Int64N(total + 1)
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
		func(r *rand.Rand, n int, w int64) Problem {
			var p Problem
			for range 1 + r.IntN(n) {
				p.Weights, p.Values = append(p.Weights, 1+r.Int64N(w)<<(r.IntN(4)*18)), append(p.Values, 1+r.Int64N(50))
			}
			p.Capacity = 1 + r.Int64N(w)
			return p
		}},
	{"large values", "values near the limit",
		filled(func(r *rand.Rand, w int64) (int64, int64) {
			return 1 + r.Int64N(w), MaxValue - r.Int64N(1<<r.IntN(41))
		})},
}

// giants are families whose numbers no table holds, at most 12 items.
var giants = []family{
	{"giant weights", "sums of weights pass 2^63",
		giant(func(r *rand.Rand) (int64, int64) {
			return 1 + r.Int64N(math.MaxInt64>>r.IntN(6)), r.Int64N(MaxValue + 1)
		})},
	{"giant weights, few values", "ties among giants",
		giant(func(r *rand.Rand) (int64, int64) { return 1<<60 + r.Int64N(1<<40), 1 + r.Int64N(3) })},
	{"giant weights, one density", "subset sums that no row holds",
		giant(func(r *rand.Rand) (int64, int64) { v := 1 + r.Int64N(MaxValue); return v << 22, v })},
	{"giant weights, almost one density", "differences that rounded weights do not show",
		giant(func(r *rand.Rand) (int64, int64) {
			w := 1<<58 + r.Int64N(1<<61)
			return w, w>>22 + r.Int64N(1<<20)
		})},
}

func giant(next func(r *rand.Rand) (weight, value int64)) func(*rand.Rand, int, int64) Problem {
	return func(r *rand.Rand, n int, _ int64) Problem {
		p := Problem{Capacity: math.MaxInt64 - r.Int64N(1<<r.IntN(63))}
		for range 1 + min(n, 11) {
			w, v := next(r)
			p.Weights, p.Values = append(p.Weights, w), append(p.Values, v)
		}
		return p
	}
}

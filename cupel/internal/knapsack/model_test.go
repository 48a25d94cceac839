package knapsack

import "math/rand/v2"

// model is the chapter's dynamic program, line by line: steps 4 and 5 of
// KNAPSACK-SLICE with a plain keep table.
func model(p Problem) []int {
	n := len(p.Weights)
	if p.Capacity < 1 {
		return nil
	}
	dp := make([]int64, p.Capacity+1)
	keep := make([][]bool, n)
	for i := range n {
		keep[i] = make([]bool, p.Capacity+1)
		dw, dv := p.Weights[i], p.Values[i]
		for w := p.Capacity; w >= dw; w-- {
			withItem := dp[w-dw] + dv
			if withItem > dp[w] {
				dp[w] = withItem
				keep[i][w] = true
			}
		}
	}
	var selected []int
	remaining := p.Capacity
	for i := n - 1; i >= 0; i-- {
		if keep[i][remaining] {
			selected = append(selected, i)
			remaining -= p.Weights[i]
		}
	}
	return selected
}

// bitModel is model with 64 cells of the keep table in a word: what a careful
// implementation of the chapter would do, and the yardstick of the benchmarks.
func bitModel(p Problem) []int {
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
	var selected []int
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
	var selected []int
	for i := n - 1; i >= 0; i-- {
		if bestSet>>i&1 != 0 {
			selected = append(selected, i)
		}
	}
	return selected
}

// family makes problems of one kind. maxN and maxW bound the number of items and
// the weights of most of them.
type family struct {
	name string
	why  string
	make func(r *rand.Rand, maxN int, maxW int64) Problem
}

// filled makes a problem of n items, one at a time, with a share of their weight
// as the capacity.
func filled(r *rand.Rand, maxN int, next func(i int) (w, v int64)) Problem {
	var p Problem
	var total int64
	for i := range 1 + r.IntN(maxN) {
		w, v := next(i)
		p.Weights, p.Values = append(p.Weights, w), append(p.Values, v)
		total += w
	}
	switch r.IntN(8) {
	case 0:
		p.Capacity = total
	case 1:
		p.Capacity = total - 1
	case 2:
		p.Capacity = total / 2
	case 3:
		p.Capacity = p.Weights[r.IntN(len(p.Weights))]
	default:
		p.Capacity = r.Int64N(total + 1)
	}
	return p
}

var families = []family{
	{"unrelated", "continuous scores: the bounds decide nearly everything",
		func(r *rand.Rand, n int, w int64) Problem {
			return filled(r, n, func(int) (int64, int64) { return 1 + r.Int64N(w), r.Int64N(10001) })
		}},
	{"ranks", "all values distinct and evenly spaced",
		func(r *rand.Rand, n int, w int64) Problem {
			order := r.Perm(n)
			return filled(r, n, func(i int) (int64, int64) {
				return 1 + r.Int64N(w), int64(order[i]) * 10000 / int64(n)
			})
		}},
	{"six values", "scores by kind: a common divisor and many ties",
		func(r *rand.Rand, n int, w int64) Problem {
			values := []int64{10000, 9000, 8000, 6000, 4000, 2000}
			return filled(r, n, func(int) (int64, int64) { return 1 + r.Int64N(w), values[r.IntN(6)] })
		}},
	{"three values, few weights", "classes of identical items",
		func(r *rand.Rand, n int, w int64) Problem {
			return filled(r, n, func(int) (int64, int64) { return 1 + r.Int64N(4), 1 + r.Int64N(3) })
		}},
	{"small numbers with zeros", "ties everywhere, values of 0",
		func(r *rand.Rand, n int, w int64) Problem {
			return filled(r, n, func(int) (int64, int64) { return 1 + r.Int64N(6), r.Int64N(5) })
		}},
	{"equal densities", "value a multiple of weight: nothing can be fixed",
		func(r *rand.Rand, n int, w int64) Problem {
			k := 1 + r.Int64N(7)
			return filled(r, n, func(int) (int64, int64) { x := 1 + r.Int64N(w); return x, k * x })
		}},
	{"two densities", "equal densities after the better half is fixed",
		func(r *rand.Rand, n int, w int64) Problem {
			return filled(r, n, func(int) (int64, int64) {
				x := 1 + r.Int64N(w)
				return x, x * (2 + r.Int64N(2))
			})
		}},
	{"equal weights", "a greedy choice with ties",
		func(r *rand.Rand, n int, w int64) Problem {
			x := 1 + r.Int64N(w)
			return filled(r, n, func(int) (int64, int64) { return x, r.Int64N(12) })
		}},
	{"multiples", "weights with a common divisor, capacity without",
		func(r *rand.Rand, n int, w int64) Problem {
			k := 2 + r.Int64N(5)
			return filled(r, n, func(int) (int64, int64) { return k * (1 + r.Int64N(1+w/k)), 3 * r.Int64N(9) })
		}},
	{"divisor with one exception", "a common divisor appears when one item is gone",
		func(r *rand.Rand, n int, w int64) Problem {
			k := 2 + r.Int64N(5)
			odd := r.IntN(n)
			return filled(r, n, func(i int) (int64, int64) {
				if i == odd {
					return 1 + r.Int64N(w), 1 + r.Int64N(99)
				}
				return k * (1 + r.Int64N(1+w/k)), 3 * (1 + r.Int64N(9))
			})
		}},
	{"almost proportional", "value proportional to weight but rounded",
		func(r *rand.Rand, n int, w int64) Problem {
			return filled(r, n, func(int) (int64, int64) { x := 1 + r.Int64N(w); return x, x * 73 / 10 })
		}},
	{"strongly correlated", "value is weight plus a constant",
		func(r *rand.Rand, n int, w int64) Problem {
			return filled(r, n, func(int) (int64, int64) { x := 1 + r.Int64N(w); return x, x + w/4 + 1 })
		}},
	{"weakly correlated", "value is near weight",
		func(r *rand.Rand, n int, w int64) Problem {
			return filled(r, n, func(int) (int64, int64) {
				x := 1 + r.Int64N(w)
				return x, max(0, x+r.Int64N(w/5+2)-w/10)
			})
		}},
	{"equal values", "the lightest items, the earliest among equals",
		func(r *rand.Rand, n int, w int64) Problem {
			return filled(r, n, func(int) (int64, int64) { return 1 + r.Int64N(w), 5 })
		}},
	{"too heavy", "most items do not fit at all",
		func(r *rand.Rand, n int, w int64) Problem {
			p := filled(r, n, func(int) (int64, int64) { return 1 + r.Int64N(w), 1 + r.Int64N(50) })
			p.Capacity = 1 + r.Int64N(w/4+1)
			for i := range p.Weights {
				if r.IntN(4) == 0 {
					p.Weights[i] = 1<<62 + r.Int64N(1<<62)
				}
			}
			return p
		}},
	{"large values", "values near the limit",
		func(r *rand.Rand, n int, w int64) Problem {
			return filled(r, n, func(int) (int64, int64) { return 1 + r.Int64N(w), MaxValue - r.Int64N(1<<r.IntN(41)) })
		}},
}

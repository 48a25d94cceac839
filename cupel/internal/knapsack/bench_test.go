package knapsack

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchmarkSizes are what issue and documentation speak of: 10,000 items, 128,000
// tokens, at bucket sizes of 100 and 1.
var benchmarkSizes = []struct {
	n        int
	capacity int64
	weight   int64 // largest
}{
	{10_000, 1_280, 20},
	{10_000, 128_000, 2_000},
}

// benchmarkFamilies are value and weight distributions: three of ordinary scores,
// then those made to defeat bounding.
var benchmarkFamilies = []struct {
	name string
	make func(r *rand.Rand, i, n int, weight int64) (w, v int64)
}{
	{"continuous", func(r *rand.Rand, i, n int, weight int64) (int64, int64) {
		return 1 + r.Int64N(weight), int64(r.Float64() * 10000)
	}},
	{"ranks", func(r *rand.Rand, i, n int, weight int64) (int64, int64) {
		return 1 + r.Int64N(weight), int64(i) * 10000 / int64(n-1)
	}},
	{"six", func(r *rand.Rand, i, n int, weight int64) (int64, int64) {
		return 1 + r.Int64N(weight), [...]int64{10000, 8000, 7500, 6000, 5000, 3000}[r.IntN(6)]
	}},
	{"six-coprime", func(r *rand.Rand, i, n int, weight int64) (int64, int64) {
		return 1 + r.Int64N(weight), [...]int64{9999, 8123, 7411, 6007, 4999, 3331}[r.IntN(6)]
	}},
	{"equal-density", func(r *rand.Rand, i, n int, weight int64) (int64, int64) {
		w := 1 + r.Int64N(weight)
		return w, 5 * w
	}},
	{"subset-sum", func(r *rand.Rand, i, n int, weight int64) (int64, int64) {
		w := 2 + 2*r.Int64N(weight/2)
		if i == n-1 {
			w++ // no common divisor
		}
		return w, w
	}},
	{"equal-weight", func(r *rand.Rand, i, n int, weight int64) (int64, int64) {
		return weight/2 + 1, r.Int64N(10001)
	}},
	{"proportional", func(r *rand.Rand, i, n int, weight int64) (int64, int64) {
		w := 1 + r.Int64N(weight)
		return w, w * 10000 / weight
	}},
	{"proportional-7.3", func(r *rand.Rand, i, n int, weight int64) (int64, int64) {
		w := 1 + r.Int64N(weight)
		return w, w * 73 / 10
	}},
	{"strong", func(r *rand.Rand, i, n int, weight int64) (int64, int64) {
		w := 1 + r.Int64N(weight)
		return w, w + weight/10
	}},
	{"inverse-strong", func(r *rand.Rand, i, n int, weight int64) (int64, int64) {
		w := 1 + r.Int64N(weight)
		return w + weight/10, w
	}},
	{"weak", func(r *rand.Rand, i, n int, weight int64) (int64, int64) {
		w := 1 + r.Int64N(weight)
		return w, max(1, w+r.Int64N(weight/5+1)-weight/10)
	}},
}

func benchmarkProblem(item func(r *rand.Rand, i, n int, weight int64) (w, v int64), n int, capacity, weight int64) Problem {
	r := rand.New(rand.NewPCG(8, 8))
	p := Problem{Capacity: capacity}
	for i := range n {
		w, v := item(r, i, n, weight)
		p.Weights, p.Values = append(p.Weights, w), append(p.Values, v)
	}
	r.Shuffle(n, func(i, j int) {
		p.Weights[i], p.Weights[j] = p.Weights[j], p.Weights[i]
		p.Values[i], p.Values[j] = p.Values[j], p.Values[i]
	})
	return p
}

// BenchmarkSolve compares Solve with the chapter's table with a bit a cell.
func BenchmarkSolve(b *testing.B) {
	for _, size := range benchmarkSizes {
		for _, f := range benchmarkFamilies {
			p := benchmarkProblem(f.make, size.n, size.capacity, size.weight)
			name := fmt.Sprintf("C=%d/%s", size.capacity, f.name)
			b.Run(name+"/solve", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Solve(b.Context(), p, Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(name+"/table", func(b *testing.B) {
				if testing.Short() && size.capacity > 10_000 {
					b.Skip("the table takes seconds")
				}
				b.ReportAllocs()
				for b.Loop() {
					bitModel(p)
				}
			})
		}
	}
}

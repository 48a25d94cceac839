package knapsack

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// scores are distributions of values over weights: ordinary ones, and those made
// to defeat bounds.
var scores = []struct {
	name string
	of   func(r *rand.Rand, w float64) float64
}{
	{"random", func(r *rand.Rand, _ float64) float64 { return r.Float64() }},
	{"six", func(r *rand.Rand, _ float64) float64 { return [...]float64{1, .8, .75, .6, .5, .3}[r.IntN(6)] }},
	{"equal", func(*rand.Rand, float64) float64 { return .5 }},
	{"proportional", func(_ *rand.Rand, w float64) float64 { return w }},
	{"proportional-7.3", func(_ *rand.Rand, w float64) float64 { return w * .73 }},
	{"correlated", func(_ *rand.Rand, w float64) float64 { return w + .1 }},
	{"root", func(_ *rand.Rand, w float64) float64 { return math.Sqrt(w) }},
}

// BenchmarkSolve compares Solve with the chapter's table, for up to 10,000 items
// of up to 500 tokens and four tenths of their sum.
func BenchmarkSolve(b *testing.B) {
	const largest = 500
	for _, n := range []int{100, 1000, 10_000} {
		for _, bucket := range []int64{100, 1} {
			for _, score := range scores {
				r := rand.New(rand.NewPCG(8, 8))
				p := instance{limit: 256 << 20}
				for range n {
					w := 1 + r.Int64N(largest)
					p.capacity += w * 2 / 5
					p.weights = append(p.weights, (w-1)/bucket+1)
					p.values = append(p.values, int64(10_000*score.of(r, float64(w)/largest)))
				}
				p.capacity /= bucket
				name := fmt.Sprintf("n=%d/bucket=%d/%s", n, bucket, score.name)
				b.Run(name+"/solve", func(b *testing.B) {
					for b.Loop() {
						if _, err := Solve(b.Context(), p.problem()); err != nil {
							b.Fatal(err)
						}
					}
				})
				b.Run(name+"/table", func(b *testing.B) {
					if int64(n)*p.capacity > 1e9 {
						b.Skip("the table takes seconds")
					}
					for b.Loop() {
						plainTable(p)
					}
				})
			}
		}
	}
}

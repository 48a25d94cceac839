package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// benchItems are n items of 20 to 419 tokens with relevances.
func benchItems(n int) []*cupel.ContextItem {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	items := make([]*cupel.ContextItem, n)
	for i := range items {
		items[i] = scored(fmt.Sprint("content number ", i), 20+r.IntN(400), r.Float64())
	}
	return items
}

// BenchmarkSweep sweeps over 1,000 budgets of 1,000 items.
func BenchmarkSweep(b *testing.B) {
	items, p := benchItems(1000), newPipeline(slicer.Greedy{})
	for name, budgets := range map[string]analysis.BudgetRange{"all": {From: 220, To: 220_000 - 1, Stride: 220}, "neighbours": {From: 100_000, To: 100_999}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := analysis.Sweep(b.Context(), p, items, budgets); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkExact searches the smallest budget of the worst of 1,000 items.
func BenchmarkExact(b *testing.B) {
	items := append(benchItems(1000), scored("worst", 400, 0.001))
	p := newPipeline(slicer.Greedy{})
	for b.Loop() {
		if _, _, err := analysis.FindMinBudgetForExhaustive(b.Context(), p, items, items[1000], 150_000); err != nil {
			b.Fatal(err)
		}
	}
}

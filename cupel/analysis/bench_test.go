package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// benchItems are n items of 20 to 419 tokens, with relevances, times and kinds.
func benchItems(n int) []*cupel.ContextItem {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	epoch := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	kinds := []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, cupel.KindMemory}
	items := make([]*cupel.ContextItem, n)
	for i := range items {
		items[i] = scored(fmt.Sprint("content number ", i), 20+r.IntN(400), r.Float64(),
			cupel.WithKind(kinds[r.IntN(len(kinds))]), cupel.WithTimestamp(epoch.Add(time.Duration(r.IntN(1e9))*time.Millisecond)))
	}
	return items
}

// sweeps are ranges of a thousand budgets each.
var sweeps = []struct {
	name    string
	budgets analysis.BudgetRange
}{
	{"all of them", analysis.BudgetRange{From: 220, To: 220_000 - 1, Stride: 220}},
	{"small ones", analysis.BudgetRange{From: 1, To: 1000}},
	{"neighbours", analysis.BudgetRange{From: 100_000, To: 100_999}},
}

// BenchmarkSweep compares a sweep over 1,000 budgets of 1,000 items with one
// plain run, and with a slicer that is asked at each budget. The scorer is the
// cheapest there is, which makes the comparison hard for the sweep.
func BenchmarkSweep(b *testing.B) {
	items := benchItems(1000)
	ctx := b.Context()
	greedy := pipeline(slicer.Greedy{})
	b.Run("one plain run", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := greedy.Run(ctx, items, budget(100_000, 100_000)); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, s := range []struct {
		name   string
		slicer cupel.Slicer
	}{
		{"greedy", slicer.Greedy{}},
		{"count quota", must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{{Kind: cupel.KindMemory, CapCount: 50}}))},
		{"quota", must(slicer.NewQuota(slicer.Greedy{}, slicer.Cap(cupel.KindMemory, 20)))},
		{"greedy asked each time", custom{slicer.Greedy{}}},
	} {
		for _, r := range sweeps {
			b.Run(s.name+"/"+r.name, func(b *testing.B) {
				p := pipeline(s.slicer)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := analysis.Sweep(ctx, p, items, r.budgets); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestSweepCostsLessThanTwentyRuns holds the promise of a sweep: a thousand
// budgets of a thousand items cost less than twenty plain runs. Both take turns
// of about the same length, so that anything else the machine does disturbs both
// sides alike, and the least of each counts.
func TestSweepCostsLessThanTwentyRuns(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes everything slow, some things more than others")
	}
	if testing.CoverMode() != "" {
		t.Skip("counting what is covered makes loops slow, some more than others")
	}
	items := benchItems(1000)
	p := must(cupel.New(cupel.Config{Scorer: scorer.Recency{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}}))
	measure := func(times int, f func()) time.Duration {
		start := time.Now()
		for range times {
			f()
		}
		return time.Since(start)
	}
	for _, r := range sweeps {
		t.Run(r.name, func(t *testing.T) {
			twenty, sweep := time.Hour, time.Hour
			for round := 0; round < 10 || round < 50 && sweep >= twenty; round++ {
				twenty = min(twenty, measure(20, func() { must(p.Run(t.Context(), items, budget(100_000, 100_000))) }))
				sweep = min(sweep, measure(1, func() { must(analysis.Sweep(t.Context(), p, items, r.budgets)) }))
			}
			t.Logf("the sweep takes %v, twenty plain runs %v", sweep, twenty)
			if sweep >= twenty {
				t.Errorf("the sweep costs %.1f plain runs, want less than 20", 20*float64(sweep)/float64(twenty))
			}
		})
	}
}

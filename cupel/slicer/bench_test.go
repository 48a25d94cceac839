package slicer_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

var benchKinds = []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, cupel.KindMemory, "custom"}

// benchItems is a pipeline's list: n items of 50 to 1,000 tokens, by score.
func benchItems(n int) []cupel.ScoredItem {
	r := rand.New(rand.NewPCG(20, 25))
	items := make([]cupel.ScoredItem, n)
	for i := range items {
		items[i] = it(benchKinds[r.IntN(len(benchKinds))], 50+r.IntN(950), 1-float64(i)/float64(n))
	}
	return items
}

// benchSlicers are the leaves of the package, and wrappers around one.
func benchSlicers(n int) map[string]strategy.Slicer {
	quotas := []slicer.QuotaEntry{slicer.Between(cupel.KindMessage, 20, 60), slicer.Cap(cupel.KindToolOutput, 30)}
	counts := []slicer.CountQuotaEntry{entry(cupel.KindMemory, n/20, n), entry(cupel.KindToolOutput, 1, n/2)}
	counted := slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, counts))
	return map[string]strategy.Slicer{
		"Greedy":                    slicer.Greedy{},
		"ScoreGreedy":               slicer.ScoreGreedy{},
		"Quota(Greedy)":             slicer.Must(slicer.NewQuota(slicer.Greedy{}, quotas...)),
		"CountQuota(Greedy)":        counted,
		"Quota(CountQuota(Greedy))": slicer.Must(slicer.NewQuota(counted, quotas...)),
		"Knapsack":                  slicer.Must(slicer.NewKnapsack()),
	}
}

// TestAllocations holds what a warm slicer allocates: its result, and what each
// wrapped call needs; nothing that grows with the number of items.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties pools at random")
	}
	most := map[string]float64{
		"Greedy":                    1,       // the result
		"ScoreGreedy":               1,       // the result
		"Quota(Greedy)":             1 + 5,   // a result for each of 5 kinds and the whole
		"CountQuota(Greedy)":        1 + 1,   // the inner result and the whole
		"Knapsack":                  7,       // the solver's, and the result
		"Quota(CountQuota(Greedy))": 1 + 5*5, // of each kind: the narrowed slicer, its map, two results, a drop
	}
	for _, n := range []int{100, 2000} {
		items, slicers := benchItems(n), benchSlicers(n)
		for name, limit := range most {
			got := testing.AllocsPerRun(50, func() {
				if _, err := slicers[name].Slice(t.Context(), items, target(n*128)); err != nil {
					t.Fatal(err)
				}
			})
			if got > limit {
				t.Errorf("%s of %d items: %v allocations, want at most %v", name, n, got, limit)
			}
		}
	}
}

// BenchmarkKnapsackUse measures how much of the budget each way of counting
// uses, and of the score that is there to be had, with items of about so many
// tokens.
func BenchmarkKnapsackUse(b *testing.B) {
	exact := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(1)))
	for _, size := range []int{30, 150, 1000} {
		r := rand.New(rand.NewPCG(30, uint64(size)))
		items := make([]cupel.ScoredItem, 2000)
		for i := range items {
			items[i] = msg(size/2+1+r.IntN(size), r.Float64())
		}
		slices.SortFunc(items, func(x, y cupel.ScoredItem) int { return cmp.Compare(y.Score, x.Score) })
		budget := target(200 * size)
		sums := func(s strategy.Slicer) (tokens int, score float64) {
			selection, err := s.Slice(b.Context(), items, budget)
			if err != nil {
				b.Fatal(err)
			}
			for _, i := range selection.Indices {
				tokens += items[i].Item.Tokens()
				score += items[i].Score
			}
			return tokens, score
		}
		_, best := sums(exact)
		for name, option := range map[string]slicer.KnapsackOption{"bucket=100": slicer.WithBucketSize(100), "auto": slicer.WithAutoBucket()} {
			s := slicer.Must(slicer.NewKnapsack(option))
			b.Run(fmt.Sprintf("tokens=%d/%s", size, name), func(b *testing.B) {
				var tokens int
				var score float64
				for b.Loop() {
					tokens, score = sums(s)
				}
				b.ReportMetric(100*float64(tokens)/float64(budget.TargetTokens), "%budget")
				b.ReportMetric(100*score/best, "%score")
			})
		}
	}
}

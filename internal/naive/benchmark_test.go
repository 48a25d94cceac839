package naive_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/internal/naive"
)

// The benchmarks run the engine and the model side by side on the same input:
// .../engine is what a user gets, .../naive what the specification's
// pseudocode costs when it is taken literally. Sizes at which one iteration of
// the model would take longer than a few seconds have no naive side.

// sizes are numbers of items. With 10,000 the model takes minutes in all.
func sizes() []int {
	if testing.Short() {
		return []int{100, 1_000}
	}
	return []int{100, 1_000, 10_000}
}

// benchItems are n items as an application might have them: five kinds, some
// pinned, most with times, priorities, hints and a few of 40 tags.
func benchItems(n int) []*cupel.ContextItem {
	r := rand.New(rand.NewPCG(uint64(n), 2))
	kinds := []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, cupel.KindMemory, "ticket"}
	items := make([]*cupel.ContextItem, n)
	for i := range items {
		opts := []cupel.ItemOption{
			cupel.WithKind(kinds[r.IntN(len(kinds))]),
			cupel.WithMetadata(map[string]any{cupel.MetadataTrust: fmt.Sprint(float64(r.IntN(100)) / 100), "tier": "gold"}),
		}
		if r.IntN(10) > 0 {
			opts = append(opts, cupel.WithTimestamp(epoch.Add(-time.Duration(r.IntN(1e9))*time.Millisecond)))
		}
		if r.IntN(10) > 3 {
			opts = append(opts, cupel.WithPriority(r.IntN(20)))
		}
		if r.IntN(10) > 1 {
			opts = append(opts, cupel.WithFutureRelevanceHint(r.Float64()))
		}
		var tags []string
		for range r.IntN(4) {
			tags = append(tags, fmt.Sprintf("tag-%d", r.IntN(40)))
		}
		opts = append(opts, cupel.WithTags(tags...))
		if r.IntN(200) == 0 {
			opts = append(opts, cupel.WithPinned())
		}
		content := fmt.Sprintf("content number %d", r.IntN(n*9/10)) // a tenth or so are duplicates
		items[i] = must(cupel.NewContextItem(content, 20+r.IntN(400), opts...))
	}
	return items
}

// benchBudget has room for about four items in ten.
func benchBudget(n int) cupel.ContextBudget {
	return must(cupel.NewContextBudget(100*n, 88*n, cupel.WithOutputReserve(2*n)))
}

var allScorers = []struct {
	name   string
	scorer naive.Scorer
	most   int // the largest size that is feasible for the model
}{
	{"recency", naive.Recency{}, 10_000},
	{"priority", naive.Priority{}, 10_000},
	{"kind", naive.Kind{}, 10_000},
	{"tag", naive.Tag{Weights: []naive.TagWeight{{Tag: "tag-1", Weight: 1}, {Tag: "tag-2", Weight: 2}, {Tag: "tag-3", Weight: 0.5}}}, 10_000},
	{"frequency", naive.Frequency{}, 10_000},
	{"reflexive", naive.Reflexive{}, 10_000},
	{"composite", benchScorer, 1_000},
	{"scaled-reflexive", naive.Scaled{Inner: naive.Reflexive{}}, 10_000},
	{"scaled-recency", naive.Scaled{Inner: naive.Recency{}}, 100},
	{"metadata-trust", naive.MetadataTrust{DefaultScore: 0.5}, 10_000},
	{"metadata-key", naive.MetadataKey{Key: "tier", Value: "gold", Boost: 1.5}, 10_000},
	{"decay", naive.Decay{Now: &epoch, Curve: naive.Exponential{HalfLife: 24 * time.Hour}, NullTimestampScore: 0.5}, 10_000},
}

var benchScorer = naive.Composite{Parts: []naive.Weighted{
	{Scorer: naive.Recency{}, Weight: 0.4},
	{Scorer: naive.Priority{}, Weight: 0.3},
	{Scorer: naive.Kind{}, Weight: 0.2},
	{Scorer: naive.Frequency{}, Weight: 0.1},
}}

func BenchmarkScorer(b *testing.B) {
	for _, s := range allScorers {
		for _, n := range sizes() {
			items := benchItems(n)
			b.Run(fmt.Sprintf("%s/%d/engine", s.name, n), func(b *testing.B) {
				scorer := must(engineScorer(s.scorer))
				scores := make([]float64, n)
				ctx := b.Context()
				b.ReportAllocs()
				for b.Loop() {
					if err := strategy.CallScorer(ctx, scorer, items, scores); err != nil {
						b.Fatal(err)
					}
				}
			})
			if n > s.most {
				continue
			}
			b.Run(fmt.Sprintf("%s/%d/naive", s.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := naive.Score(s.scorer, items, naive.FaultNone); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

var allSlicers = []struct {
	name   string
	slicer naive.Slicer
}{
	{"greedy", naive.Greedy{}},
	{"knapsack", naive.Knapsack{}},
	{"quota", naive.Quota{Entries: benchQuotas, Inner: naive.Greedy{}}},
	{"quota-knapsack", naive.Quota{Entries: benchQuotas, Inner: naive.Knapsack{}}},
	{"count-quota", naive.CountQuota{Entries: benchCounts, Inner: naive.Greedy{}}},
	{"count-constrained-knapsack", naive.CountConstrainedKnapsack{Entries: benchCounts}},
	{"quota-count-quota-greedy", naive.Quota{Entries: benchQuotas, Inner: naive.CountQuota{Entries: benchCounts, Inner: naive.Greedy{}}}},
}

var (
	benchQuotas = []naive.QuotaEntry{{Kind: "Message", Require: 20, Cap: 60}, {Kind: "ToolOutput", Require: 10, Cap: 30}, {Kind: "Memory", Require: 0, Cap: 15}}
	benchCounts = []naive.CountEntry{{Kind: "Memory", RequireCount: 3, CapCount: 20}, {Kind: "ticket", RequireCount: 1, CapCount: 10}}
)

func BenchmarkSlicer(b *testing.B) {
	for _, s := range allSlicers {
		for _, n := range sizes() {
			items := benchItems(n)
			r := rand.New(rand.NewPCG(uint64(n), 3))
			scored := make([]cupel.ScoredItem, n)
			for i, it := range items {
				scored[i] = cupel.ScoredItem{Item: it, Score: r.Float64()}
			}
			slices.SortStableFunc(scored, func(x, y cupel.ScoredItem) int {
				if x.Score > y.Score {
					return -1
				}
				return 1
			})
			budget := cupel.SliceBudget{MaxTokens: 100 * n, TargetTokens: 88 * n}
			b.Run(fmt.Sprintf("%s/%d/engine", s.name, n), func(b *testing.B) {
				slicer := must(engineSlicer(s.slicer))
				ctx := b.Context()
				b.ReportAllocs()
				for b.Loop() {
					if _, err := strategy.CallSlicer(ctx, slicer, scored, budget); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("%s/%d/naive", s.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := naive.Slice(s.slicer, scored, budget, naive.FaultNone); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkRun is the whole pipeline. The model always reports; the engine only
// in a dry run, which is measured in addition to the plain run.
func BenchmarkRun(b *testing.B) {
	for _, s := range []struct {
		name   string
		slicer naive.Slicer
		most   int // the largest size that is feasible for the model
	}{
		{"greedy", naive.Greedy{}, 10_000},
		{"knapsack", naive.Knapsack{}, 1_000},
	} {
		config := naive.Config{Scorer: benchScorer, Slicer: s.slicer, Placer: naive.UShaped{}, Overflow: pipeline.OverflowTruncate}
		p := must(pipeline.New(must(engineConfig(config))))
		ctx := b.Context()
		for _, n := range sizes() {
			items, budget := benchItems(n), benchBudget(n)
			b.Run(fmt.Sprintf("%s/%d/engine", s.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := p.Run(ctx, items, budget); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("%s/%d/engine-dry-run", s.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := p.DryRun(ctx, items, budget); err != nil {
						b.Fatal(err)
					}
				}
			})
			if n > s.most {
				continue
			}
			b.Run(fmt.Sprintf("%s/%d/naive", s.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := naive.Run(config, items, budget); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

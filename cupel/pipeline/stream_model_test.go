package pipeline_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// hostileItems makes items with everything that the stages look at: kinds, duplicates,
// pinned ones, negative and zero sizes, scores that are no numbers, and pointers that
// occur twice.
func hostileItems(t testing.TB, r *rand.Rand, n int) []*cupel.ContextItem {
	t.Helper()
	scores := []float64{0, 0.25, 0.5, 0.75, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}
	items := make([]*cupel.ContextItem, n)
	for i := range items {
		score := r.Float64()
		if r.IntN(3) == 0 {
			score = scores[r.IntN(len(scores))]
		}
		opts := []cupel.ItemOption{hint(score), cupel.WithPriority(r.IntN(5)), cupel.WithKind([]cupel.ContextKind{"a", "A", "b", "c"}[r.IntN(4)])}
		if r.IntN(10) == 0 {
			opts = append(opts, cupel.WithPinned())
		}
		tokens := r.IntN(12)
		if r.IntN(12) == 0 {
			tokens = -tokens
		}
		items[i] = item(t, fmt.Sprint("c", r.IntN(2*n)), tokens, opts...)
		if i > 0 && r.IntN(20) == 0 {
			items[i] = items[r.IntN(i)]
		}
	}
	return items
}

// When one batch holds everything, a streaming run is a run with GreedySlice:
// window, included and excluded items with their reasons, totals.
func TestRunStreamInOneBatchIsRun(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, scores := range []strategy.Scorer{byHint{}, scorer.Priority{}} {
		p := newPipeline(t, func(c *pipeline.Config) {
			c.Scorer, c.Slicer, c.Overflow = scores, slicer.Greedy{}, pipeline.OverflowTruncate
		})
		compared := 0
		for range 500 {
			items := hostileItems(t, r, 1+r.IntN(20))
			target := 1 + r.IntN(120)
			budget := budgetOf(t, 1000, target, cupel.WithEstimationSafetyMargin(float64(r.IntN(30))),
				cupel.WithReservedSlots(map[cupel.ContextKind]int{"Tool": r.IntN(10)}))
			want, err := p.DryRun(t.Context(), items, budget)
			if err != nil {
				t.Fatal(err)
			}
			pulled := 0
			collector := observe.NewDiagnosticTraceCollector()
			result, err := p.RunStream(t.Context(), stream(&pulled, items...), budget, pipeline.WithTrace(collector), pipeline.WithBatchSize(len(items)+1))
			if err != nil {
				t.Fatal(err)
			}
			if !result.SourceEnded {
				continue // pinned items have filled the budget
			}
			compared++
			got := collector.BuildReport()
			got.Events, want.Events = nil, nil
			if !got.Equal(*want) {
				t.Fatalf("target %d of %d items\ngot in  %s\nwant in %s\ngot out  %s\nwant out %s", target, len(items), included(got), included(want), excluded(got), excluded(want))
			}
			equal(t, "window", contents(result.Window), included(want))
			equal(t, "candidates", result.TotalCandidates, want.TotalCandidates)
			equal(t, "tokens", result.TotalTokensConsidered, want.TotalTokensConsidered)
		}
		if compared < 300 {
			t.Errorf("only %d of 500 runs saw all items", compared)
		}
	}
}

// With scores that do not depend on the others, no duplicates, and room for
// all, batches do not matter.
func TestRunStreamAgreesWithRunWhenAllFits(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	p := newPipeline(t, func(c *pipeline.Config) { c.Slicer, c.KeepDuplicates = slicer.Greedy{}, true })
	for range 200 {
		items := hostileItems(t, r, 1+r.IntN(60))
		budget := budgetOf(t, 10_000, 9_000)
		want, err := p.Run(t.Context(), items, budget)
		if err != nil {
			t.Fatal(err)
		}
		pulled := 0
		got, err := p.RunStream(t.Context(), stream(&pulled, items...), budget, pipeline.WithBatchSize(1+r.IntN(20)))
		if err != nil {
			t.Fatal(err)
		}
		equalSlices(t, "window", got.Window, want)
	}
}

// What a run allocates does not depend on how many items come by.
func TestRunStreamAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector changes what is allocated")
	}
	p := newPipeline(t)
	budget := budgetOf(t, 100, 1)
	ctx := context.Background() //nolint:usetesting // canceling t.Context allocates
	allocs := func(n int) float64 {
		items := numbered(t, "a", n, 2, hint(0.5))
		return testing.AllocsPerRun(20, func() {
			pulled := 0
			if _, err := p.RunStream(ctx, stream(&pulled, items...), budget); err != nil || pulled != n {
				t.Fatal(pulled, err)
			}
		})
	}
	few, many := allocs(64), allocs(6400)
	if many > few {
		t.Errorf("%.0f allocations for 6400 items, %.0f for 64", many, few)
	}
	t.Logf("%.0f allocations", few)
}

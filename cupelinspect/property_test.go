package cupelinspect_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelinspect"
)

// oddScorer gives scores that no scorer should.
type oddScorer struct{}

func (oddScorer) Score(_ context.Context, items []*cupel.ContextItem, scores []float64) error {
	for i, item := range items {
		scores[i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 0.5, 1e300}[len(item.Content())%7]
	}
	return nil
}

// reversed places the other way round.
type reversed struct{}

func (reversed) Place(_ context.Context, _ []cupel.ScoredItem, order []int) error {
	slices.Reverse(order)
	return nil
}

// secondOnes selects every second candidate, so that of equal ones any may be in.
type secondOnes struct{}

func (secondOnes) Slice(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (strategy.Selection, error) {
	var selection strategy.Selection
	for i := 1; i < len(items); i += 2 {
		selection.Indices = append(selection.Indices, i)
	}
	return selection, nil
}

func randomPipeline(t *testing.T, r *rand.Rand) *pipeline.Pipeline {
	t.Helper()
	pick := func(n int) bool { return r.IntN(n) == 0 }
	composite := scorer.Must(scorer.NewComposite(scorer.Weighted{Scorer: scorer.Recency{}, Weight: 1}, scorer.Weighted{Scorer: scorer.Reflexive{}, Weight: 2}))
	scarcity := slicer.ScarcityDegrade
	if pick(2) {
		scarcity = slicer.ScarcityThrow
	}
	counts := []slicer.CountQuotaEntry{{Kind: cupel.KindMemory, RequireCount: r.IntN(2), CapCount: 1 + r.IntN(3)}}
	return newPipeline(t, func(c *pipeline.Config) {
		c.KeepDuplicates = pick(2)
		c.Overflow = []pipeline.OverflowStrategy{pipeline.OverflowThrow, pipeline.OverflowTruncate, pipeline.OverflowProceed}[r.IntN(3)]
		c.Scorer = []strategy.Scorer{scorer.Reflexive{}, oddScorer{}, composite, scorer.Recency{}, scorer.Must(scorer.NewScaled(composite))}[r.IntN(5)]
		c.Slicer = []strategy.Slicer{
			slicer.Greedy{}, slicer.ScoreGreedy{}, &slicer.Knapsack{}, everythingSlicer{}, secondOnes{}, secondOnes{}, broken{},
			slicer.Must(slicer.NewQuota(slicer.Greedy{}, slicer.Cap(cupel.KindMemory, 30))),
			slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, counts, slicer.WithScarcity(scarcity))),
		}[r.IntN(9)]
		c.Placer = []strategy.Placer{placer.Chronological{}, placer.UShaped{}, reversed{}}[r.IntN(3)]
	})
}

func randomItems(t *testing.T, r *rand.Rand) []*cupel.ContextItem {
	t.Helper()
	items := make([]*cupel.ContextItem, r.IntN(14))
	for i := range items {
		if i > 0 && r.IntN(4) == 0 { // the same pointer again
			items[i] = items[r.IntN(i)]
			continue
		}
		opts := []cupel.ItemOption{cupel.WithFutureRelevanceHint(float64(r.IntN(5)) / 4)}
		if r.IntN(3) == 0 {
			opts = append(opts, cupel.WithKind(cupel.KindMemory))
		}
		if r.IntN(6) == 0 {
			opts = append(opts, cupel.WithPinned())
		}
		items[i] = newItem(t, fmt.Sprint("item ", 1<<r.IntN(20)), r.IntN(32)-2, opts...)
	}
	return items
}

// told is what a selection, or a report, says of an item.
type told struct {
	item *cupel.ContextItem
	code string
}

// TestRandom checks selections, and each of their stops, against runs of their
// own: the window in its order, and the codes of each pointer.
func TestRandom(t *testing.T) {
	for seed := range uint64(160) {
		r := rand.New(rand.NewPCG(seed, 1))
		items, p := randomItems(t, r), randomPipeline(t, r)
		maxTokens := r.IntN(200)
		base := newBudget(t, maxTokens, r.IntN(maxTokens+1), cupel.WithOutputReserve(r.IntN(maxTokens/4+1)),
			cupel.WithEstimationSafetyMargin(float64(r.IntN(30))), cupel.WithReservedSlots(map[cupel.ContextKind]int{"a": r.IntN(9)}))
		_, got := shown(t, inspect(t, p, items, base, cupelinspect.WithSweep(0, 300, 1+r.IntN(12))))

		check := func(where string, b cupel.ContextBudget, window []int, codes []string, message string) {
			t.Helper()
			report, err := p.DryRun(t.Context(), items, b)
			if assert.Equal(t, err == nil, message == "", "seed %d, %s", seed, where) && err != nil {
				assert.EqualError(t, err, message, "seed %d, %s", seed, where)
			}
			var want, have []told
			for i, e := range report.Included {
				want = append(want, told{e.Item, string(e.Reason)})
				if i < len(window) && items[window[i]] != e.Item {
					t.Errorf("seed %d, %s: place %d of the window has candidate %d; want another item", seed, where, i, window[i])
				}
			}
			assert.Len(t, window, len(report.Included), "seed %d, %s", seed, where)
			for _, e := range report.Excluded {
				want = append(want, told{e.Item, string(e.Reason.Code)})
			}
			for i, code := range codes {
				if code != "Undecided" {
					have = append(have, told{items[i], code})
				}
			}
			for _, one := range want {
				at := slices.Index(have, one)
				if at < 0 {
					t.Errorf("seed %d, %s: nothing is %s", seed, where, one.code)
					continue
				}
				have = slices.Delete(have, at, at+1)
			}
			assert.Empty(t, have, "seed %d, %s: the report does not say it", seed, where)
			// Which of the positions of a pointer are in, only the engine knows.
			prepared, err := p.Prepare(t.Context(), items)
			if err != nil {
				return
			}
			if selected, err := prepared.Select(t.Context(), b); err == nil && message == "" {
				assert.ElementsMatch(t, selected, window, "seed %d, %s", seed, where)
			}
		}
		check("the run", base, got.Window, got.codes(), got.Error)
		if got.Sweep == nil {
			continue
		}
		for i, stop := range got.Sweep.Stops {
			b, err := base.Resize(stop.Budget, stop.Target)
			if err != nil {
				assert.EqualError(t, err, stop.Error, "seed %d: at %d", seed, stop.Budget)
				continue
			}
			check(fmt.Sprint("the stop at ", stop.Budget), b, stop.Window, got.codesAt(i), stop.Error)
		}
	}
}

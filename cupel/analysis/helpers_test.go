package analysis_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func item(content string, tokens int, opts ...cupel.ItemOption) *cupel.ContextItem {
	return must(cupel.NewContextItem(content, tokens, opts...))
}

// scored is an item with a score.
func scored(content string, tokens int, score float64, opts ...cupel.ItemOption) *cupel.ContextItem {
	return item(content, tokens, append(opts, cupel.WithFutureRelevanceHint(score))...)
}

func budget(maxTokens, target int, opts ...cupel.BudgetOption) cupel.ContextBudget {
	return must(cupel.NewContextBudget(maxTokens, target, opts...))
}

// pipeline scores by the items' hints.
func newPipeline(s strategy.Slicer, change ...func(*pipeline.Config)) *pipeline.Pipeline {
	config := pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: s, Placer: placer.Chronological{}}
	for _, c := range change {
		c(&config)
	}
	return must(pipeline.New(config))
}

func overflow(s pipeline.OverflowStrategy) func(*pipeline.Config) {
	return func(c *pipeline.Config) { c.Overflow = s }
}

func contents(items []*cupel.ContextItem) string {
	var all []string
	for _, it := range items {
		all = append(all, it.Content())
	}
	return strings.Join(all, " ")
}

// custom wraps a slicer, and does not say how long a selection stays the same.
type custom struct{ strategy.Slicer }

func (c custom) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	sel, err := c.Slicer.Slice(ctx, items, budget)
	sel.StaysUntil = 0
	return sel, err
}

func (c custom) Facts() strategy.Facts {
	return strategy.Facts{Of: c, Slicers: []strategy.Slicer{c.Slicer}}
}

type declared struct {
	strategy.Slicer
	nonMonotonic bool
}

func (d declared) Facts() strategy.Facts { return strategy.Facts{Of: d, NonMonotonic: d.nonMonotonic} }

// declaresByPanic says something when the pipeline is built, and panics later.
type declaresByPanic struct {
	strategy.Slicer
	built *bool
}

func (d declaresByPanic) Facts() strategy.Facts {
	if *d.built {
		panic("cannot say")
	}
	return strategy.Facts{Of: d}
}

// embedding shows no wrapped slicer but what the embedded one shows.
type embedding struct{ *slicer.Quota }

type sliceFunc = strategy.SlicerFunc

// selects always selects the first n items.
func selects(n int) sliceFunc {
	return func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (sel strategy.Selection, _ error) {
		for i := range items[:min(n, len(items))] {
			sel.Indices = append(sel.Indices, i)
		}
		return sel, nil
	}
}

// benchItems are n items of 20 to 419 tokens with relevances.
func benchItems(n int) []*cupel.ContextItem {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	items := make([]*cupel.ContextItem, n)
	for i := range items {
		items[i] = scored(fmt.Sprint("content number ", i), 20+r.IntN(400), r.Float64())
	}
	return items
}

// world is a random case, small enough for every budget to be tried.
type world struct {
	items    []*cupel.ContextItem
	slicer   strategy.Slicer
	pipeline *pipeline.Pipeline
	base     cupel.ContextBudget
}

// worldBudgets is more than all items of a world take.
const worldBudgets = 130

func newWorld(src *rand.Rand) world {
	var w world
	kinds := []cupel.ContextKind{"a", "A", "b", "c"}
	for range src.IntN(9) {
		if len(w.items) > 0 && src.IntN(10) == 0 {
			w.items = append(w.items, w.items[src.IntN(len(w.items))])
			continue
		}
		tokens := 1 + src.IntN(14)
		switch src.IntN(10) {
		case 0:
			tokens = 0
		case 1:
			tokens = -tokens
		}
		opts := []cupel.ItemOption{cupel.WithKind(kinds[src.IntN(len(kinds))])}
		if src.IntN(10) == 0 {
			opts = append(opts, cupel.WithPinned())
		}
		w.items = append(w.items, scored(fmt.Sprint("content ", src.IntN(12)), tokens, float64(src.IntN(9))/8, opts...))
	}
	w.slicer = newSlicer(src, 2, true)
	w.pipeline = newPipeline(w.slicer, func(c *pipeline.Config) {
		c.KeepDuplicates = src.IntN(2) == 0
		c.Overflow = pipeline.OverflowStrategy(src.IntN(3))
	})
	reserve := src.IntN(3) * src.IntN(5)
	w.base = budget(reserve, 0, cupel.WithOutputReserve(reserve),
		cupel.WithReservedSlots(map[cupel.ContextKind]int{"a": src.IntN(2) * src.IntN(6)}),
		cupel.WithEstimationSafetyMargin(float64(src.IntN(3)*10)))
	return w
}

// newSlicer returns any slicer, with others in it up to a depth.
func newSlicer(src *rand.Rand, depth int, knapsack bool) strategy.Slicer {
	choice := src.IntN(8)
	if depth == 0 {
		choice %= 3
	}
	scarcity := slicer.ScarcityBehavior(src.IntN(2))
	counts := func() []slicer.CountQuotaEntry {
		return []slicer.CountQuotaEntry{{Kind: "a", RequireCount: src.IntN(3), CapCount: 2 + src.IntN(2)}, {Kind: "c", CapCount: src.IntN(3)}}
	}
	k := must(slicer.NewKnapsack(slicer.WithBucketSize(1 + src.IntN(4))))
	switch {
	case choice == 0 && knapsack:
		return k
	case choice == 3:
		return must(slicer.NewQuota(newSlicer(src, depth-1, knapsack), slicer.Require("a", float64(src.IntN(50))), slicer.Cap("b", float64(src.IntN(100)))))
	case choice == 4 && knapsack:
		return must(slicer.NewCountConstrainedKnapsack(k, counts(), slicer.WithScarcity(scarcity)))
	case choice == 5:
		return must(slicer.NewCountQuota(newSlicer(src, depth-1, false), counts(), slicer.WithScarcity(scarcity)))
	case choice == 6:
		return custom{newSlicer(src, depth-1, knapsack)}
	case choice == 7:
		return slicer.MultipleChoice{}
	}
	return slicer.Greedy{}
}

func wantError(t testing.TB, err error, text, why string) {
	t.Helper()
	if err == nil || err.Error() != text {
		t.Errorf("got error %v, want %q: %s", err, text, why)
	}
}

func dryRun(t testing.TB, items []*cupel.ContextItem, tokens int) *cupel.SelectionReport {
	t.Helper()
	report, err := newPipeline(slicer.Greedy{}).DryRun(t.Context(), items, budget(tokens, tokens))
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// reread returns a report as JSON gives it back.
func reread(t testing.TB, report *cupel.SelectionReport) *cupel.SelectionReport {
	t.Helper()
	var back cupel.SelectionReport
	if err := json.Unmarshal(must(json.Marshal(report)), &back); err != nil {
		t.Fatal(err)
	}
	return &back
}

func short(content string, tokens int, worth float64) cupel.Variant {
	return cupel.Variant{Content: content, Tokens: tokens, Worth: worth}
}

// randomUnits returns lone items, groups, smaller forms and versions, each with a
// content of its own.
func randomUnits(random *rand.Rand, n int) []*cupel.ContextItem {
	var items []*cupel.ContextItem
	for i := range n {
		tokens := random.IntN(30)
		forms := func(most int) (list []cupel.Variant) {
			for k := range random.IntN(3) {
				if most > 0 {
					list = append(list, short(fmt.Sprintf("form %d of %d", k, i), random.IntN(most), 0.05+0.9*random.Float64()))
				}
			}
			return list
		}
		opts := []cupel.ItemOption{cupel.WithVariants(forms(tokens)...)}
		if random.IntN(2) == 0 {
			opts = append(opts, cupel.WithGroup(fmt.Sprint("group ", random.IntN(3))))
			if random.IntN(4) == 0 {
				opts = append(opts, cupel.WithGroupVariants(forms(20)...))
			}
		}
		if random.IntN(3) == 0 {
			opts = append(opts, cupel.WithVersionOf(fmt.Sprint("version ", random.IntN(2))))
		}
		if random.IntN(8) == 0 {
			tokens = max(tokens/8, 1)
			opts = []cupel.ItemOption{cupel.WithPinned()}
		}
		items = append(items, scored(fmt.Sprint("item ", i), tokens, float64(random.IntN(10))/10, opts...))
	}
	return items
}

func keepDuplicates(c *pipeline.Config) { c.KeepDuplicates = true }

package naive_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/internal/naive"
)

// What the engine is measured against, and the input of the measurements.
// Besides the model there are yardsticks that owe nothing to it: a sort of
// the standard library, and the table for the knapsack with a bit for each cell,
// as a careful implementation would write it.

// pair is what the sort yardstick sorts.
type pair struct {
	score float64
	index int32
}

func randomPairs(n int) []pair {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	pairs := make([]pair, n)
	for i := range pairs {
		pairs[i] = pair{r.Float64(), int32(i)}
	}
	return pairs
}

// sortPairs is the yardstick: one pattern-defeating sort, highest score first,
// of a copy of unsorted.
func sortPairs(pairs, unsorted []pair) {
	copy(pairs, unsorted)
	slices.SortFunc(pairs, func(a, b pair) int {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
		return cmp.Compare(a.index, b.index)
	})
}

// workload describes the items of a measurement.
type workload struct {
	n              int
	tags, tagsFrom int // tags of each item, and how many different ones there are
}

// items are as an application has them: contents of a few hundred bytes, all
// different, five kinds, and a timestamp and a priority each.
func (w workload) items() []*cupel.ContextItem {
	r := rand.New(rand.NewPCG(uint64(w.n), uint64(w.tags)))
	kinds := []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, cupel.KindMemory, "ticket"}
	names := make([]string, w.tagsFrom)
	for i := range names {
		names[i] = fmt.Sprintf("tag-%d", i)
	}
	texts := make([]string, 100)
	for i := range texts {
		text := make([]byte, 100+r.IntN(300))
		for j := range text {
			text[j] = 'a' + byte(r.IntN(26))
		}
		texts[i] = string(text)
	}
	items := make([]*cupel.ContextItem, w.n)
	for i := range items {
		tags := make([]string, 0, w.tags)
		for len(tags) < w.tags {
			if tag := names[r.IntN(w.tagsFrom)]; !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
		content := fmt.Sprintf("item %d: %s", i, texts[r.IntN(len(texts))])
		items[i] = must(cupel.NewContextItem(content, 20+r.IntN(400),
			cupel.WithKind(kinds[r.IntN(len(kinds))]),
			cupel.WithTimestamp(epoch.Add(-time.Duration(r.Int64N(int64(90*24*time.Hour))))),
			cupel.WithPriority(r.IntN(10)),
			cupel.WithTags(tags...)))
	}
	return items
}

// budget has room for about four items in ten.
func (w workload) budget() cupel.ContextBudget {
	return must(cupel.NewContextBudget(100*w.n, 88*w.n))
}

// The strategies of the measurements.
var (
	three = naive.Composite{Parts: []naive.Weighted{
		{Scorer: naive.Recency{}, Weight: 0.5}, {Scorer: naive.Priority{}, Weight: 0.3}, {Scorer: naive.Kind{}, Weight: 0.2}}}
	four = naive.Composite{Parts: []naive.Weighted{
		{Scorer: naive.Recency{}, Weight: 0.4}, {Scorer: naive.Priority{}, Weight: 0.3}, {Scorer: naive.Kind{}, Weight: 0.2}, {Scorer: naive.Frequency{}, Weight: 0.1}}}
	quotas = naive.Quota{Inner: naive.Greedy{}, Entries: []naive.QuotaEntry{
		{Kind: "Message", Require: 20, Cap: 60}, {Kind: "ToolOutput", Require: 10, Cap: 30}, {Kind: "Memory", Require: 0, Cap: 15}}}
	counts = naive.CountQuota{Inner: naive.Greedy{}, Entries: []naive.CountEntry{ // their caps drop a few items in a hundred
		{Kind: "Memory", RequireCount: 100, CapCount: 1_000}, {Kind: "ticket", RequireCount: 1, CapCount: 900}}}
)

// enginePipeline is the pipeline of a measurement.
func enginePipeline(s naive.Scorer, sl naive.Slicer) *pipeline.Pipeline {
	return must(pipeline.New(must(engineConfig(naive.Config{Scorer: s, Slicer: sl, Placer: naive.UShaped{}}))))
}

// withUnits returns copies of the items: four of ten are pairs, a call and its
// result with smaller forms; two have smaller forms, two are versions with
// smaller forms, and two have nothing.
func withUnits(items []*cupel.ContextItem) []*cupel.ContextItem {
	r := rand.New(rand.NewPCG(uint64(len(items)), 7))
	units := make([]*cupel.ContextItem, len(items))
	for i, it := range items {
		var opts []cupel.ItemOption
		turn := i / 2 % 5
		if turn < 2 {
			opts = append(opts, cupel.WithGroup(fmt.Sprint("call_", i/2)))
		}
		if turn == 3 && i%2 == 0 {
			opts = append(opts, cupel.WithVersionOf(fmt.Sprint("file_", r.IntN(i+1)/8)))
		}
		if turn == 2 || turn == 3 || turn < 2 && i%2 == 1 {
			opts = append(opts, cupel.WithVariants(
				cupel.Variant{Content: "an outline", Tokens: it.Tokens() / 3, Worth: .5 + .2*r.Float64()},
				cupel.Variant{Content: "a stub", Tokens: it.Tokens() / 10, Worth: .1 + .2*r.Float64()}))
		}
		units[i] = must(it.With(opts...))
	}
	return units
}

// countingReasons asks for the counts by reason of each stage.
type countingReasons struct {
	observe.NullTraceCollector
	observe.NoTrace
}

func (countingReasons) IsEnabled() bool { return true }

func (c countingReasons) StartRun(ctx context.Context, _ observe.RunInfo) (context.Context, observe.RunTrace) {
	return ctx, c
}

func (countingReasons) Detail() observe.TraceDetail { return observe.TraceDetail{Reasons: true} }

// knapsackCase is a distribution of tokens and scores. All but the first are
// made to defeat the bounds that a solver could prune with.
type knapsackCase struct {
	name string
	make func(r *rand.Rand, i int) (tokens int, score float64)
}

const (
	knapsackItems  = 10_000
	knapsackTarget = 128_000 // tokens
)

var knapsackCases = []knapsackCase{
	{"continuous", func(r *rand.Rand, _ int) (int, float64) { return 1 + r.IntN(2000), r.Float64() }},
	{"subset-sum", func(r *rand.Rand, _ int) (int, float64) {
		tokens := 2 * (1 + r.IntN(1000))
		return tokens, float64(tokens) / 10_000
	}},
	{"proportional", func(r *rand.Rand, _ int) (int, float64) {
		tokens := 1 + r.IntN(2000)
		return tokens, float64(tokens) / 2000
	}},
}

func (c knapsackCase) items() []cupel.ScoredItem {
	r := rand.New(rand.NewPCG(8, 8))
	scored := make([]cupel.ScoredItem, knapsackItems)
	for i := range scored {
		tokens, score := c.make(r, i)
		scored[i] = cupel.ScoredItem{Item: must(cupel.NewContextItem("content", tokens)), Score: score}
	}
	slices.SortStableFunc(scored, func(a, b cupel.ScoredItem) int { return cmp.Compare(b.Score, a.Score) })
	return scored
}

// bitTable is the KnapsackSlice chapter with 64 cells of its keep table in a
// word, and returns the positions it selects.
func bitTable(items []cupel.ScoredItem, target, bucket int) []int {
	capacity := target / bucket
	best := make([]int64, capacity+1)
	words := capacity/64 + 1
	keep := make([]uint64, len(items)*words)
	weight := func(i int) int { return (items[i].Item.Tokens() + bucket - 1) / bucket }
	for i, item := range items {
		value, weight := int64(item.Score*10000), weight(i)
		row := keep[i*words:][:words]
		for w := capacity; w >= weight; w-- {
			if with := best[w-weight] + value; with > best[w] {
				best[w] = with
				row[w/64] |= 1 << (w % 64)
			}
		}
	}
	var selected []int
	for i := range slices.Backward(items) {
		if keep[i*words+capacity/64]>>(capacity%64)&1 != 0 {
			selected = append(selected, i)
			capacity -= weight(i)
		}
	}
	return selected
}

// TestBitTable holds the yardstick to the engine: a table that selects
// something else would be no yardstick.
func TestBitTable(t *testing.T) {
	for _, c := range knapsackCases {
		items := c.items()
		sel := must(slicer.Must(slicer.NewKnapsack()).Slice(t.Context(), items, cupel.SliceBudget{MaxTokens: knapsackTarget, TargetTokens: knapsackTarget}))
		if want := bitTable(items, knapsackTarget, slicer.DefaultBucketSize); !slices.Equal(sel.Indices, want) {
			t.Errorf("%s: the engine selects %d items, the table %d, or others", c.name, len(sel.Indices), len(want))
		}
	}
}

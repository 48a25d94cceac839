package naive_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// What the engine is measured against, and the input of the measurements.
// Besides the model there are yardsticks that owe nothing to it: a sort of
// the standard library, lists of the items with a tag, and the table for the knapsack with a
// bit for each cell, as a careful implementation would write it.

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
	return w.itemsBy(func(r *rand.Rand) int { return r.IntN(w.tagsFrom) })
}

// zipfItems are items with a few common tags and many rare ones.
func (w workload) zipfItems() []*cupel.ContextItem {
	return w.itemsBy(func(r *rand.Rand) int { return int(rand.NewZipf(r, 1.1, 1, uint64(w.tagsFrom-1)).Uint64()) })
}

// itemsBy are items with the tags that tag draws.
func (w workload) itemsBy(tag func(*rand.Rand) int) []*cupel.ContextItem {
	r := rand.New(rand.NewPCG(uint64(w.n), uint64(w.tags)))
	kinds := []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, cupel.KindMemory, "ticket"}
	names := make([]string, w.tagsFrom)
	for i := range names {
		names[i] = fmt.Sprintf("tag-%d", i)
	}
	// A hundred texts share their bytes in memory, so that a million items fit.
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
			if tag := names[tag(r)]; !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
		content := fmt.Sprintf("item %d", i)
		if w.n <= 10_000 {
			content += ": " + texts[r.IntN(len(texts))]
		}
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

// threeScorers and fourScorers are the composites of the measurements.
func threeScorers() strategy.Scorer {
	return scorer.Must(scorer.NewComposite(
		scorer.Weighted{Scorer: scorer.Recency{}, Weight: 0.5},
		scorer.Weighted{Scorer: scorer.Priority{}, Weight: 0.3},
		scorer.Weighted{Scorer: scorer.Kind{}, Weight: 0.2}))
}

func fourScorers() strategy.Scorer {
	return scorer.Must(scorer.NewComposite(
		scorer.Weighted{Scorer: scorer.Recency{}, Weight: 0.4},
		scorer.Weighted{Scorer: scorer.Priority{}, Weight: 0.3},
		scorer.Weighted{Scorer: scorer.Kind{}, Weight: 0.2},
		scorer.Weighted{Scorer: scorer.Frequency{}, Weight: 0.1}))
}

// greedyPipeline is what the rows about whole runs measure.
func greedyPipeline(s strategy.Scorer) *pipeline.Pipeline {
	return must(pipeline.New(pipeline.Config{Scorer: s, Slicer: slicer.Greedy{}, Placer: placer.UShaped{}}))
}

// sorted is a slicer's input: the items with scores of their own, by score.
func sorted(items []*cupel.ContextItem, score func(r *rand.Rand, i int) float64) []cupel.ScoredItem {
	r := rand.New(rand.NewPCG(uint64(len(items)), 3))
	scored := make([]cupel.ScoredItem, len(items))
	for i, item := range items {
		scored[i] = cupel.ScoredItem{Item: item, Score: score(r, i)}
	}
	slices.SortStableFunc(scored, func(a, b cupel.ScoredItem) int { return cmp.Compare(b.Score, a.Score) })
	return scored
}

// knapsackCase is a distribution of tokens and scores. The last four are made
// to defeat the bounds that a solver could prune with.
type knapsackCase struct {
	name string
	make func(r *rand.Rand, i int) (tokens int, score float64)
}

const (
	knapsackItems  = 10_000
	knapsackTarget = 128_000 // tokens
	knapsackBeyond = 512_000 // tokens, for which the table would take 640 MB with a bit a cell
)

var knapsackCases = []knapsackCase{
	{"continuous", func(r *rand.Rand, _ int) (int, float64) { return 1 + r.IntN(2000), r.Float64() }},
	{"ranks", func(r *rand.Rand, i int) (int, float64) {
		return 1 + r.IntN(2000), float64(i) / (knapsackItems - 1)
	}},
	{"six-values", func(r *rand.Rand, _ int) (int, float64) {
		return 1 + r.IntN(2000), [...]float64{1, 0.8, 0.75, 0.6, 0.5, 0.3}[r.IntN(6)]
	}},
	{"equal-density", func(r *rand.Rand, _ int) (int, float64) {
		tokens := 100 * (1 + r.IntN(20))
		return tokens, float64(tokens) / 2000
	}},
	{"subset-sum", func(r *rand.Rand, _ int) (int, float64) {
		tokens := 2 * (1 + r.IntN(1000))
		return tokens, float64(tokens) / 10_000
	}},
	{"equal-weight", func(r *rand.Rand, _ int) (int, float64) { return 1001, r.Float64() }},
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

// listedFrequency scores as Frequency does by looking at each item in the list
// of each tag. No pointer may repeat.
func listedFrequency(items []*cupel.ContextItem) []float64 {
	lists := make(map[string][]int)
	for i, item := range items {
		for _, tag := range item.AllTags() {
			tag = strings.ToLower(tag)
			lists[tag] = append(lists[tag], i)
		}
	}
	scores, seen := make([]float64, len(items)), make([]int, len(items))
	for i, item := range items {
		seen[i] = i + 1
		sharing := 0
		for _, tag := range item.AllTags() {
			for _, other := range lists[strings.ToLower(tag)] {
				if seen[other] != i+1 {
					seen[other] = i + 1
					sharing++
				}
			}
		}
		scores[i] = float64(sharing) / float64(len(items)-1)
	}
	return scores
}

// TestListedFrequency holds the yardstick to the engine.
func TestListedFrequency(t *testing.T) {
	w := workload{2_000, 30, 500}
	for _, items := range [][]*cupel.ContextItem{w.items(), w.zipfItems()} {
		scores := make([]float64, len(items))
		if err := strategy.CallScorer(t.Context(), scorer.Frequency{}, items, scores); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(scores, listedFrequency(items)) {
			t.Error("the engine's scores differ from those of the lists")
		}
	}
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

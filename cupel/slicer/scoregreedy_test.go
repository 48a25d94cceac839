package slicer_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

func TestScoreGreedy(t *testing.T) {
	twice := msg(10, 0.5)
	runCases(t, slicer.ScoreGreedy{}, []sliceCase{
		{name: "empty list", budget: target(100),
			why: "nothing to choose from"},
		{name: "target zero", items: []cupel.ScoredItem{msg(0, 1), msg(1, 1)}, budget: cupel.SliceBudget{MaxTokens: 50},
			why: "target 0 chooses nothing, items without tokens included (R7)"},
		{name: "target negative", items: []cupel.ScoredItem{msg(0, 1)}, budget: cupel.SliceBudget{TargetTokens: -1},
			why: "the same in a direct call"},
		{name: "score not density", items: []cupel.ScoredItem{msg(10, 0.2), msg(100, 0.9)}, budget: target(100), want: []int{1},
			why: "0.2/10 is denser than 0.9/100, but 0.9 is the higher score"},
		{name: "skipped not deferred", items: []cupel.ScoredItem{msg(60, 0.9), msg(60, 0.8), msg(40, 0.1)}, budget: target(100), want: []int{0, 2},
			why: "the second does not fit any more, the third does"},
		{name: "without tokens", items: []cupel.ScoredItem{msg(5, 0.9), msg(0, 0.1), msg(0, nan)}, budget: target(5), want: []int{0, 1, 2},
			why: "items without tokens fit even when the budget is spent"},
		{name: "without tokens has no privilege", items: []cupel.ScoredItem{msg(0, 0.1), msg(5, 0.9)}, budget: target(5), want: []int{1, 0},
			why: "it comes in the order of its score"},
		{name: "tie by position", items: []cupel.ScoredItem{msg(3, 0.5), msg(2, 0.5), msg(1, 0.5)}, budget: target(4), want: []int{0, 2},
			why: "of equal scores the first in the list is first, regardless of its size"},
		{name: "signed zero", items: []cupel.ScoredItem{msg(3, math.Copysign(0, -1)), msg(3, 0)}, budget: target(3), want: []int{0},
			why: "R8: -0 and 0 are equal and tie by position"},
		{name: "NaN last, infinite first", items: []cupel.ScoredItem{msg(1, nan), msg(1, negInf), msg(1, inf)}, budget: target(2), want: []int{2, 1},
			why: "R8: NaN is below every number, -Inf included"},
		{name: "negative tokens", items: []cupel.ScoredItem{msg(-50, 1), msg(10, 0.5)}, budget: target(9), want: []int{},
			why: "a negative count is not chosen and makes no room for others"},
		{name: "one pointer twice, room for one", items: []cupel.ScoredItem{twice, twice}, budget: target(19), want: []int{0},
			why: "R1: two positions are two candidates"},
		{name: "largest counts", items: []cupel.ScoredItem{msg(math.MaxInt, 0.9), msg(math.MaxInt, 0.8)}, budget: target(math.MaxInt), want: []int{0},
			why: "counts near 2^63 do not wrap"},
		{name: "no item", items: []cupel.ScoredItem{{Score: 0.5}}, budget: target(1), want: []int{0},
			why: "a position without an item has no tokens; it must not panic"},
	})
}

// TestScoreGreedySweeps compares the sweep with a new slice.
func TestScoreGreedySweeps(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	changes := 0
	for range 300 {
		items := make([]cupel.ScoredItem, r.IntN(12))
		for i := range items {
			items[i] = msg(r.IntN(9), float64(r.IntN(5)))
		}
		var targets []int
		for at := range 50 {
			targets = append(targets, at)
		}
		for range 20 {
			targets = append(targets, r.IntN(60))
		}
		changes += checkSweep(t, slicer.ScoreGreedy{}, items, targets)
	}
	if changes == 0 {
		t.Error("no sweep ever changed")
	}
}

// TestKnapsackOptions looks at what auto buckets and topping up add.
func TestKnapsackOptions(t *testing.T) {
	short := make([]cupel.ScoredItem, 40)
	for i := range short {
		short[i] = msg(30, 1-float64(i)/100)
	}
	first := func(n int) []int {
		list := make([]int, n)
		for i := range list {
			list[i] = i
		}
		return list
	}
	for _, c := range []struct {
		name   string
		opts   []slicer.KnapsackOption
		items  []cupel.ScoredItem
		target int
		want   []int // sorted
		why    string
	}{
		{"the default", nil, short, 1000, first(10),
			"each item of 30 tokens takes a bucket of 100: ten of them are 300 tokens of 1,000"},
		{"auto bucket", []slicer.KnapsackOption{slicer.WithAutoBucket()}, short, 1000, first(33),
			"buckets of one token: 33 times 30 is 990"},
		{"top up", []slicer.KnapsackOption{slicer.WithTopUp()}, short, 1000, first(33),
			"ten by the buckets, and 23 more by score from the 700 tokens that are left"},
		{"top up where no bucket fits", []slicer.KnapsackOption{slicer.WithTopUp()}, short, 99, first(3),
			"a target below one bucket has capacity 0, and three items fit nevertheless"},
		{"top up takes nothing worthless", []slicer.KnapsackOption{slicer.WithTopUp()},
			[]cupel.ScoredItem{msg(10, 0.5), msg(10, 0.00009), msg(10, nan), msg(-5, 1), msg(0, 0)}, 95, []int{0, 4},
			"R16: what is worth 0 is never taken, and negative counts neither"},
		{"the last of two bucket options counts", []slicer.KnapsackOption{slicer.WithAutoBucket(), slicer.WithBucketSize(100)}, short, 1000, first(10),
			"a later option replaces an earlier one"},
		{"the last of two bucket options counts, auto", []slicer.KnapsackOption{slicer.WithBucketSize(100), slicer.WithAutoBucket()}, short, 1000, first(33),
			"a later option replaces an earlier one"},
		{"auto bucket without an item that fits", []slicer.KnapsackOption{slicer.WithAutoBucket()}, []cupel.ScoredItem{msg(50, 1), msg(0, 0)}, 40, []int{1},
			"there is no mean size to go by"},
		{"auto bucket of huge items", []slicer.KnapsackOption{slicer.WithAutoBucket()},
			[]cupel.ScoredItem{msg(math.MaxInt/2, 1), msg(math.MaxInt/3*2, 0.5)}, math.MaxInt, []int{0},
			"sums of sizes do not wrap, and the number of buckets stays within bounds; both together do not fit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := slicer.Must(slicer.NewKnapsack(c.opts...))
			selection, err := cupel.Slice(t.Context(), k, c.items, target(c.target))
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(selection.Indices)
			if !slices.Equal(selection.Indices, c.want) {
				t.Errorf("selected %v, want %v: %s", selection.Indices, c.want, c.why)
			}
		})
	}
}

// TestKnapsackOptionsFit checks random lists: nothing passes the target, an auto
// bucket of one token is the exact optimum, and topping up only adds.
func TestKnapsackOptionsFit(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	exact := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(1)))
	auto := slicer.Must(slicer.NewKnapsack(slicer.WithAutoBucket()))
	plain := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(7)))
	topped := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(7), slicer.WithTopUp()))
	slice := func(s cupel.Slicer, items []cupel.ScoredItem, budget cupel.SliceBudget) []int {
		selection, err := cupel.Slice(t.Context(), s, items, budget)
		if err != nil {
			t.Fatal(err)
		}
		return selection.Indices
	}
	for range 1000 {
		items := make([]cupel.ScoredItem, r.IntN(20))
		for i := range items {
			items[i] = msg(r.IntN(40), r.Float64())
		}
		budget := target(r.IntN(200))
		if a, e := slice(auto, items, budget), slice(exact, items, budget); !slices.Equal(a, e) {
			t.Fatalf("auto chose %v, bucket size 1 %v", a, e)
		}
		p, more := slice(plain, items, budget), slice(topped, items, budget)
		if len(more) < len(p) || !slices.Equal(p, more[:len(p)]) {
			t.Fatalf("topping up turned %v into %v", p, more)
		}
		used := 0
		for _, i := range more {
			used += items[i].Item.Tokens()
		}
		if used > budget.TargetTokens {
			t.Fatalf("%d tokens chosen, the target is %d", used, budget.TargetTokens)
		}
		for i, it := range items {
			if tokens := it.Item.Tokens(); budget.TargetTokens > 0 && tokens > 0 && tokens <= budget.TargetTokens-used && it.Score >= 1e-4 && !slices.Contains(more, i) {
				t.Fatalf("item %d of %d tokens still fits into %d", i, tokens, budget.TargetTokens-used)
			}
		}
	}
}

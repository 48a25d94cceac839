package naive_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/internal/naive"
)

// choice is a random multiple-choice knapsack: up to 14 items with up to 3
// smaller forms each.
func choice(r *rand.Rand) ([]cupel.ScoredItem, int) {
	n := 1 + r.IntN(14)
	items := make([]cupel.ScoredItem, n)
	total := 0
	for i := range items {
		tokens := 1 + r.IntN(200)
		total += tokens
		var variants []cupel.Variant
		for range r.IntN(4) {
			variants = append(variants, cupel.Variant{Content: "smaller", Tokens: r.IntN(tokens), Worth: 0.01 + 0.98*r.Float64()})
		}
		items[i] = cupel.ScoredItem{Item: must(cupel.NewContextItem(fmt.Sprint(i), tokens, cupel.WithVariants(variants...))), Score: r.Float64()}
	}
	return items, 1 + r.IntN(total)
}

// valueOf returns what a selection is worth and what it costs.
func valueOf(items []cupel.ScoredItem, s strategy.Selection) (value float64, tokens int) {
	for _, i := range s.Indices {
		value += items[i].Score
		tokens += items[i].Item.Tokens()
	}
	for _, c := range s.Smaller {
		v := items[c.Index].Item.Variants()[c.Form-1]
		value += items[c.Index].Score * v.Worth
		tokens += v.Tokens
	}
	return value, tokens
}

// bestValue tries every choice, less those that cannot beat the best found.
func bestValue(items []cupel.ScoredItem, target int) float64 {
	rest := make([]float64, len(items)+1) // what the items from here on are worth at most
	for i := len(items) - 1; i >= 0; i-- {
		rest[i] = rest[i+1] + items[i].Score
	}
	best := 0.0
	var try func(i, left int, value float64)
	try = func(i, left int, value float64) {
		best = max(best, value)
		if i == len(items) || value+rest[i] <= best {
			return
		}
		if tokens := items[i].Item.Tokens(); tokens <= left {
			try(i+1, left-tokens, value+items[i].Score)
		}
		for _, v := range items[i].Item.Variants() {
			if v.Tokens <= left {
				try(i+1, left-v.Tokens, value+items[i].Score*v.Worth)
			}
		}
		try(i+1, left, value)
	}
	try(0, target, 0)
	return best
}

// TestMultipleChoiceAgainstBruteForce holds MultipleChoiceSlice to its bound:
// at least half of the best possible always, and .98 of it in the mean; exact
// is the best possible.
func TestMultipleChoiceAgainstBruteForce(t *testing.T) {
	cases := 3_000
	if testing.Short() || raceEnabled {
		cases = 300
	}
	r := rand.New(rand.NewPCG(13, 4))
	approximate, exact := slicer.NewMultipleChoice(), slicer.NewMultipleChoice(slicer.WithExact())
	sum, least := 0.0, 1.0
	for n := range cases {
		items, target := choice(r)
		budget := cupel.SliceBudget{MaxTokens: target, TargetTokens: target}
		best := bestValue(items, target)
		for _, s := range []*slicer.MultipleChoice{approximate, exact} {
			selection, err := strategy.CallSlicer(t.Context(), s, items, budget)
			if err != nil {
				t.Fatal(err)
			}
			value, tokens := valueOf(items, selection)
			if tokens > target {
				t.Fatalf("case %d: %d tokens, target %d", n, tokens, target)
			}
			share := 1.0
			if best > 0 {
				share = value / best
			}
			switch {
			case s == exact && (share < 1-1e-12 || share > 1+1e-12):
				t.Fatalf("case %d: exact has %v, brute force %v", n, value, best)
			case share < 0.5:
				t.Fatalf("case %d: %v of the best possible", n, share)
			}
			if s == approximate {
				sum += share
				least = min(least, share)
			}
		}
	}
	if mean := sum / float64(cases); mean < 0.98 {
		t.Errorf("%v of the best possible in the mean, want .98", mean)
	}
	t.Logf("%d cases: %v of the best possible in the mean, %v at least", cases, sum/float64(cases), least)
}

// TestExactMultipleChoiceBreaksTiesAsTheModel compares exact choices where
// values are sums of eighths, so that many are equal.
func TestExactMultipleChoiceBreaksTiesAsTheModel(t *testing.T) {
	cases := 3_000
	if testing.Short() || raceEnabled {
		cases = 500
	}
	r := rand.New(rand.NewPCG(13, 5))
	exact := slicer.NewMultipleChoice(slicer.WithExact())
	for n := range cases {
		items := make([]cupel.ScoredItem, 1+r.IntN(6))
		for i := range items {
			tokens := r.IntN(8)
			var variants []cupel.Variant
			for range r.IntN(3) {
				if tokens > 0 {
					variants = append(variants, cupel.Variant{Content: "smaller", Tokens: r.IntN(tokens), Worth: float64(1+r.IntN(3)) / 4})
				}
			}
			items[i] = cupel.ScoredItem{Item: must(cupel.NewContextItem(fmt.Sprint(i), tokens, cupel.WithVariants(variants...))), Score: float64(r.IntN(5)-1) / 2}
		}
		target := r.IntN(20)
		budget := cupel.SliceBudget{MaxTokens: target, TargetTokens: target}
		got, err := strategy.CallSlicer(t.Context(), exact, items, budget)
		want, wantErr := naive.Slice(naive.MultipleChoice{Exact: true}, items, budget, naive.FaultNone)
		if err != nil || wantErr != nil {
			t.Fatal(err, wantErr)
		}
		slices.Sort(got.Indices)
		slices.Sort(want.Indices)
		if !slices.Equal(got.Indices, want.Indices) || !slices.Equal(smallerOf(got), smallerOf(want)) {
			t.Fatalf("case %d: %v and %v, want %v and %v", n, got.Indices, smallerOf(got), want.Indices, smallerOf(want))
		}
	}
}

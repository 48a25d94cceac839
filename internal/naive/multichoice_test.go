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

// TestMultipleChoiceAgainstTheBest holds exact choices to the model, which tries
// all, with values that are sums of eighths, so that many are equal; and the
// others to their bound, half of the best, with .98 of it in the mean.
func TestMultipleChoiceAgainstTheBest(t *testing.T) {
	cases := 3_000
	if testing.Short() || raceEnabled {
		cases = 500
	}
	r := rand.New(rand.NewPCG(13, 5))
	sum := 0.0
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
		got := must(strategy.CallSlicer(t.Context(), slicer.NewMultipleChoice(slicer.WithExact()), items, budget))
		want := must(naive.Slice(naive.MultipleChoice{Exact: true}, items, budget))
		slices.Sort(got.Indices)
		slices.Sort(want.Indices)
		if !slices.Equal(got.Indices, want.Indices) || !slices.Equal(smallerOf(got), smallerOf(want)) {
			t.Fatalf("case %d: %v and %v, want %v and %v", n, got.Indices, smallerOf(got), want.Indices, smallerOf(want))
		}
		share := 1.0
		if best := valueOf(items, want); best > 0 {
			share = valueOf(items, must(strategy.CallSlicer(t.Context(), slicer.NewMultipleChoice(), items, budget))) / best
		}
		if share < 0.5 {
			t.Fatalf("case %d: %v of the best possible", n, share)
		}
		sum += share
	}
	if mean := sum / float64(cases); mean < 0.98 {
		t.Errorf("%v of the best possible in the mean, want .98", mean)
	}
}

// valueOf returns what a selection is worth.
func valueOf(items []cupel.ScoredItem, s strategy.Selection) float64 {
	value := 0.0
	for _, i := range s.Indices {
		value += items[i].Score
	}
	for _, c := range s.Smaller {
		value += items[c.Index].Score * items[c.Index].Item.Variants()[c.Form-1].Worth
	}
	return value
}

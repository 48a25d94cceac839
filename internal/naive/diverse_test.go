package naive_test

import (
	"math"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/internal/naive"
)

// TestDiverseTakesInTheOrderOfTheModel compares DiverseSlice alone, on lists in
// any order with scores of all kinds: the positions, in the order taken.
func TestDiverseTakesInTheOrderOfTheModel(t *testing.T) {
	cases := uint64(60_000)
	if testing.Short() || raceEnabled {
		cases = 3_000
	}
	lowered := 0
	for seed := range cases {
		g := generator{source: &source{data: caseData(seed)}}
		config := g.diverse()
		items := make([]cupel.ScoredItem, 1+g.below(14))
		for i := range items {
			items[i] = cupel.ScoredItem{
				Item:  must(cupel.NewContextItem(g.alikeText(), pick(g.source, 1, 2, 3, 0, 5, -1))),
				Score: pick(g.source, 1, 0.9, 0.75, 0.5, 0.25, 0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, math.MaxFloat64),
			}
		}
		target := g.below(25)
		budget := cupel.SliceBudget{MaxTokens: target, TargetTokens: target}
		got, err := slicer.Diverse{From: config.From}.Slice(t.Context(), items, budget)
		want, wantErr := naive.Slice(config, items, budget, naive.FaultNone)
		if err != nil || wantErr != nil {
			t.Fatal(err, wantErr)
		}
		if !slices.Equal(got.Indices, want.Indices) {
			for i, it := range items {
				t.Logf("%d: score %v, %d tokens, %q", i, it.Score, it.Item.Tokens(), it.Item.Content())
			}
			t.Fatalf("seed %d, from %v, target %d: got %v, want %v", seed, config.From, target, got.Indices, want.Indices)
		}
		plain, err := naive.Slice(config, items, budget, naive.FaultDiverseIgnored)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(plain.Indices, want.Indices) {
			lowered++
		}
	}
	if uint64(lowered) < cases/10 {
		t.Errorf("likeness decides %d of %d cases", lowered, cases)
	}
}

package slicer_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// randomForms returns up to n items with up to 4 forms each.
func randomForms(t testing.TB, r *rand.Rand, n int) []cupel.ScoredItem {
	t.Helper()
	items := make([]cupel.ScoredItem, 1+r.IntN(n))
	for i := range items {
		tokens := 1 + r.IntN(60)
		var variants []cupel.Variant
		for v := range r.IntN(4) {
			variants = append(variants, cupel.Variant{Content: fmt.Sprint(v), Tokens: r.IntN(tokens), Worth: float64(1+r.IntN(98)) / 99})
		}
		it, err := cupel.NewContextItem(fmt.Sprint("item ", i), tokens, cupel.WithVariants(variants...))
		if err != nil {
			t.Fatal(err)
		}
		items[i] = cupel.ScoredItem{Item: it, Score: float64(r.IntN(100)) / 100}
	}
	return items
}

// sumOf returns the value and the tokens of a selection.
func sumOf(t testing.TB, items []cupel.ScoredItem, sel cupel.Selection) (value float64, tokens int) {
	t.Helper()
	for _, i := range sel.Indices {
		value += items[i].Score
		tokens += items[i].Item.Tokens()
	}
	for _, s := range sel.Smaller {
		f := items[s.Index].Item.Forms()[s.Form-1]
		value += f.Worth * items[s.Index].Score
		tokens += f.Tokens
	}
	return value, tokens
}

// bestOf returns the largest value within tokens, by trying everything.
func bestOf(items []cupel.ScoredItem, tokens int) float64 {
	if tokens < 0 {
		return math.Inf(-1)
	}
	if len(items) == 0 {
		return 0
	}
	it := items[0]
	best := max(bestOf(items[1:], tokens), it.Score+bestOf(items[1:], tokens-it.Item.Tokens()))
	for _, f := range it.Item.Forms() {
		best = max(best, f.Worth*it.Score+bestOf(items[1:], tokens-f.Tokens))
	}
	return best
}

func TestMultipleChoiceAgainstEverything(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	ctx := t.Context()
	ratios, cases := 0.0, 0
	for n := range 400 {
		items := randomForms(t, r, 8)
		target := 1 + r.IntN(200)
		budget := cupel.SliceBudget{MaxTokens: target, TargetTokens: target}
		best := bestOf(items, target)
		for _, s := range []*slicer.MultipleChoice{slicer.NewMultipleChoice(), slicer.NewMultipleChoice(slicer.WithExact())} {
			sel, err := s.Slice(ctx, items, budget)
			if err != nil {
				t.Fatal(err)
			}
			value, tokens := sumOf(t, items, sel)
			if tokens > target {
				t.Fatalf("case %d: %d tokens exceed the target of %d", n, tokens, target)
			}
			if value < best/2-1e-9 {
				t.Fatalf("case %d: %v is less than half of %v", n, value, best)
			}
			if best == 0 {
				continue
			}
			if exact := *s != (slicer.MultipleChoice{}); exact && math.Abs(value-best) > 1e-9 {
				t.Fatalf("case %d: exact is %v, want %v", n, value, best)
			} else if !exact {
				ratios += value / best
				cases++
			}
		}
	}
	if mean := ratios / float64(cases); mean < .98 {
		t.Errorf("the mean share of the best value is %.3f, want at least 0.98", mean)
	}
}

func TestMultipleChoiceExactTies(t *testing.T) {
	of := func(tokens int, score float64, variants ...cupel.Variant) cupel.ScoredItem {
		it, err := cupel.NewContextItem("full", tokens, cupel.WithVariants(variants...))
		if err != nil {
			t.Fatal(err)
		}
		return cupel.ScoredItem{Item: it, Score: score}
	}
	half := cupel.Variant{Content: "half", Tokens: 5, Worth: .5}
	tests := []struct {
		name  string
		items []cupel.ScoredItem
		want  string
		why   string
	}{
		{"fewest tokens", []cupel.ScoredItem{of(10, .5), of(6, .5)}, "[1] []", "both fit alone and are worth the same"},
		{"first", []cupel.ScoredItem{of(10, .5), of(10, .5)}, "[0] []", "of equal tokens the first is in"},
		{"larger form first", []cupel.ScoredItem{of(10, .5, half), of(10, .5, half)}, "[0] []", "two halves are worth one whole, and the first is whole"},
	}
	for _, tt := range tests {
		sel, err := slicer.NewMultipleChoice(slicer.WithExact()).Slice(t.Context(), tt.items, cupel.SliceBudget{MaxTokens: 10, TargetTokens: 10})
		if got := fmt.Sprint(sel.Indices, sel.Smaller); err != nil || got != tt.want {
			t.Errorf("%s: got %s, %v, want %s: %s", tt.name, got, err, tt.want, tt.why)
		}
	}
}

func TestMultipleChoiceLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var items []cupel.ScoredItem
	for range 2_000 {
		items = append(items, randomForms(t, r, 8)...)
	}
	budget := cupel.SliceBudget{MaxTokens: math.MaxInt, TargetTokens: math.MaxInt}
	_, err := slicer.NewMultipleChoice(slicer.WithExact()).Slice(t.Context(), items, budget)
	limit, ok := compat.AsType[*slicer.MemoryLimitError](err)
	if !ok || !errors.Is(err, slicer.ErrMemoryLimit) {
		t.Fatalf("got %v, want a memory limit", err)
	}
	if want := fmt.Sprintf("cupel: MultipleChoiceSlice needs more than %d bytes of memory to be exact, the limit is %d: lower the target or leave out exact", limit.Need, slicer.DefaultMemoryLimit); err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := slicer.NewMultipleChoice(slicer.WithExact()).Slice(ctx, items[:3], cupel.SliceBudget{MaxTokens: 50, TargetTokens: 50}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
	if sel, err := slicer.NewMultipleChoice().Slice(t.Context(), items, cupel.SliceBudget{}); err != nil || len(sel.Indices)+len(sel.Smaller) > 0 {
		t.Errorf("got %v, %v: nothing fits a target of 0", sel, err)
	}
}

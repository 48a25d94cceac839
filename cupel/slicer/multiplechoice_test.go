package slicer_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/internal/fill"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// smallForms returns a few items with forms of few tokens and of scores that
// are sums of quarters, so that sums are exact and many are equal. Some scores
// are negative or NaN.
func smallForms(t testing.TB, r *rand.Rand) []cupel.ScoredItem {
	t.Helper()
	items := make([]cupel.ScoredItem, 1+r.IntN(4))
	for i := range items {
		tokens := 1 + r.IntN(8)
		var variants []cupel.Variant
		for v := range r.IntN(3) {
			variants = append(variants, cupel.Variant{Content: fmt.Sprint(v), Tokens: r.IntN(tokens), Worth: float64(1+r.IntN(3)) / 4})
		}
		it, err := cupel.NewContextItem(fmt.Sprint("item ", i), tokens, cupel.WithVariants(variants...))
		if err != nil {
			t.Fatal(err)
		}
		score := float64(r.IntN(8)) / 4
		if r.IntN(12) == 0 {
			score = []float64{-1, math.NaN(), math.Copysign(0, -1)}[r.IntN(3)]
		}
		items[i] = cupel.ScoredItem{Item: it, Score: score}
	}
	return items
}

// pointsOf returns the forms that an item may take, in their order.
func pointsOf(it cupel.ScoredItem) []fill.Point {
	all := []fill.Point{{Form: 0, Tokens: it.Item.Tokens(), Value: it.Score}}
	for n, f := range it.Item.Forms() {
		all = append(all, fill.Point{Form: int32(n + 1), Tokens: f.Tokens, Value: it.Score * f.Worth})
	}
	return slices.DeleteFunc(all, func(p fill.Point) bool { return !(p.Value >= 0) })
}

// exactModel tries every selection, in the order in which the Units chapter
// prefers them among equal ones: by position, the larger form first.
func exactModel(items []cupel.ScoredItem, target int) []int32 {
	best, value, tokens := []int32(nil), math.Inf(-1), 0
	var try func(chosen []int32, v float64, spent int)
	try = func(chosen []int32, v float64, spent int) {
		if spent > target {
			return
		}
		if len(chosen) == len(items) {
			if v > value || v == value && spent < tokens {
				best, value, tokens = slices.Clone(chosen), v, spent
			}
			return
		}
		points := pointsOf(items[len(chosen)])
		slices.SortStableFunc(points, func(a, b fill.Point) int { return b.Tokens - a.Tokens })
		for _, p := range append(points, fill.Point{Form: fill.Out}) {
			try(append(slices.Clone(chosen), p.Form), v+p.Value, spent+p.Tokens)
		}
	}
	try(nil, 0, 0)
	return best
}

// fillModel is MULTIPLE-CHOICE-SLICE of the Units chapter.
func fillModel(items []cupel.ScoredItem, target int) []int32 {
	run := func(in int, state fill.Point, left int) (chosen []int32, value float64) {
		f := fill.New()
		defer f.Free()
		for i, it := range items {
			if i == in {
				f.Add(state)
			} else {
				f.Add(fill.Point{Form: fill.Out})
			}
			for _, p := range pointsOf(it) {
				f.Point(p)
			}
		}
		f.Run(left)
		for i := range items {
			chosen = append(chosen, f.State(i).Form)
			value += f.State(i).Value
		}
		return chosen, value
	}
	type single struct {
		at int
		fill.Point
	}
	var singles []single
	for i, it := range items {
		for _, p := range pointsOf(it) {
			if p.Tokens <= target {
				singles = append(singles, single{i, p})
			}
		}
	}
	slices.SortStableFunc(singles, func(a, b single) int { return cmp.Or(cmp.Compare(b.Value, a.Value), a.Tokens-b.Tokens) })
	chosen, value := run(-1, fill.Point{}, target)
	if len(singles) > 0 && singles[0].Value > value {
		chosen, _ = run(singles[0].at, singles[0].Point, target-singles[0].Tokens)
	}
	return chosen
}

// TestMultipleChoiceAgainstModels compares whole selections, so that it also
// sees which of equal ones is chosen. What is not exact reaches at least half of the
// best, as the documentation says.
func TestMultipleChoiceAgainstModels(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for n := range 3000 {
		items := smallForms(t, r)
		target := 1 + r.IntN(20)
		budget := cupel.SliceBudget{MaxTokens: target, TargetTokens: target}
		var values [2]float64
		for m, tt := range []struct {
			slicer *slicer.MultipleChoice
			want   []int32
		}{
			{slicer.NewMultipleChoice(), fillModel(items, target)},
			{slicer.NewMultipleChoice(slicer.WithExact(), nil), exactModel(items, target)},
		} {
			var want strategy.Selection
			for i, form := range tt.want {
				switch {
				case form == 0:
					want.Indices = append(want.Indices, i)
					values[m] += items[i].Score
				case form > 0:
					want.Smaller = append(want.Smaller, strategy.SmallerForm{Index: i, Form: int(form)})
					values[m] += items[i].Score * items[i].Item.Forms()[form-1].Worth
				}
			}
			got, err := tt.slicer.Slice(nil, items, budget) //nolint:staticcheck // nil is allowed
			if err != nil || !slices.Equal(got.Indices, want.Indices) || !slices.Equal(got.Smaller, want.Smaller) {
				t.Fatalf("case %d, %+v: got %v, %v, want %v of %v within %d", n, *tt.slicer, got, err, want, items, target)
			}
		}
		if values[0] < values[1]/2 {
			t.Fatalf("case %d: %v of %v", n, values[0], values[1])
		}
	}
}

// TestMultipleChoiceTakesTheBestAlone has lists where the best rate comes first
// and leaves too little for the best form.
func TestMultipleChoiceTakesTheBestAlone(t *testing.T) {
	runRows(t, slicer.MultipleChoice{}, []row{
		{"m 1 .2, m 10 .9", "10", "[1]", "the second alone is worth more than what the rates give"},
		{"m 2 .3, m 10 .9, m 9 .9", "10", "[2]", "of equal values the one with fewer tokens"},
		{"m 2 .3, m 10 .9, m 10 .9", "10", "[1]", "of equal values and tokens the first"},
		{"m 3 .45, m 8 .9, m 2 .1", "10", "[1 2]", "the best comes first, and then what fits besides"},
		{"m 3 inf, m 3 1, m 10 inf", "10", "[0 1]", "an infinite score is the largest number"},
	})
}

func TestMultipleChoiceLimits(t *testing.T) {
	items := hardItems(8_000)
	budget := cupel.SliceBudget{MaxTokens: math.MaxInt, TargetTokens: math.MaxInt}
	_, err := slicer.NewMultipleChoice(slicer.WithExact()).Slice(t.Context(), items, budget)
	limit, ok := compat.AsType[*slicer.MemoryLimitError](err)
	if !ok || !errors.Is(err, slicer.ErrMemoryLimit) {
		t.Fatalf("got %v, want a memory limit", err)
	}
	if want := fmt.Sprintf("cupel: MultipleChoiceSlice needs more than %d bytes of memory to be exact, above the limit of %d: lower the target or leave out exact", limit.Need, slicer.DefaultMemoryLimit); err.Error() != want {
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

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
// sees which of equal ones is chosen.
func TestMultipleChoiceAgainstModels(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for n := range 3000 {
		items := smallForms(t, r)
		target := 1 + r.IntN(20)
		budget := cupel.SliceBudget{MaxTokens: target, TargetTokens: target}
		for _, tt := range []struct {
			slicer *slicer.MultipleChoice
			want   []int32
		}{
			{slicer.NewMultipleChoice(), fillModel(items, target)},
			{slicer.NewMultipleChoice(slicer.WithExact(), nil), exactModel(items, target)},
		} {
			var want cupel.Selection
			for i, form := range tt.want {
				switch {
				case form == 0:
					want.Indices = append(want.Indices, i)
				case form > 0:
					want.Smaller = append(want.Smaller, cupel.SmallerForm{Index: i, Form: int(form)})
				}
			}
			got, err := tt.slicer.Slice(nil, items, budget) //nolint:staticcheck // nil is allowed
			if err != nil || !slices.Equal(got.Indices, want.Indices) || !slices.Equal(got.Smaller, want.Smaller) {
				t.Fatalf("case %d, %+v: got %v, %v, want %v of %v within %d", n, *tt.slicer, got, err, want, items, target)
			}
		}
	}
}

// TestMultipleChoiceTakesTheBestAlone has lists where the best rate comes first
// and leaves too little for the best form.
func TestMultipleChoiceTakesTheBestAlone(t *testing.T) {
	for _, tt := range []struct {
		items []cupel.ScoredItem
		want  []int
		why   string
	}{
		{[]cupel.ScoredItem{msg(1, .2), msg(10, .9)}, []int{1}, "the second alone is worth more than what the rates give"},
		{[]cupel.ScoredItem{msg(2, .3), msg(10, .9), msg(9, .9)}, []int{2}, "of equal values the one with fewer tokens"},
		{[]cupel.ScoredItem{msg(2, .3), msg(10, .9), msg(10, .9)}, []int{1}, "of equal values and tokens the first"},
		{[]cupel.ScoredItem{msg(2, .3), msg(11, 1), msg(10, .9)}, []int{2}, "the best one of those that fit"},
		{[]cupel.ScoredItem{msg(1, .25), msg(1, .25), msg(10, .5)}, []int{0, 1}, "the best alone must be worth more"},
		{[]cupel.ScoredItem{msg(3, .45), msg(8, .9), msg(2, .1)}, []int{1, 2}, "the best comes first, and then what fits besides"},
		{[]cupel.ScoredItem{msg(10, -1), msg(11, 1), msg(5, nan)}, nil, "nothing is worth anything"},
		{[]cupel.ScoredItem{msg(10, 0)}, []int{0}, "a score of 0 is taken, where it fits"},
		{[]cupel.ScoredItem{msg(3, inf), msg(3, 1), msg(10, inf)}, []int{0, 1}, "an infinite score is the largest number"},
	} {
		sel, err := slicer.MultipleChoice{}.Slice(t.Context(), tt.items, target(10))
		if err != nil || !slices.Equal(sel.Indices, tt.want) || len(sel.Smaller) > 0 {
			t.Errorf("got %v, %v, want %v: %s", sel, err, tt.want, tt.why)
		}
	}
	var m slicer.MultipleChoice
	if !m.LeftOver() || !m.NonMonotonic() || !(slicer.Knapsack{}).LeftOver() {
		t.Error("older versions may return after it, and more budget may mean less of an item")
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

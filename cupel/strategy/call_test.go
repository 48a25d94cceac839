package strategy_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/strategy"
)

var errOwn = errors.New("the strategy's own error")

// wide is a budget for anything that these tests select.
var wide = cupel.SliceBudget{MaxTokens: 1000, TargetTokens: 1000}

func item(t testing.TB, content string, tokens int, opts ...cupel.ItemOption) *cupel.ContextItem {
	t.Helper()
	it, err := cupel.NewContextItem(content, tokens, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return it
}

// ranked returns items of one token each, the first with the best score.
func ranked(t testing.TB, n int) []cupel.ScoredItem {
	t.Helper()
	list := make([]cupel.ScoredItem, n)
	for i := range list {
		list[i] = cupel.ScoredItem{Item: item(t, fmt.Sprint("item ", i), 1), Score: float64(n - i)}
	}
	return list
}

func scoring(err error) strategy.Scorer { return scorerOf(func() error { return err }) }

// scorerOf is a scorer that does only this.
type scorerOf func() error

func (f scorerOf) Score(context.Context, []*cupel.ContextItem, []float64) error { return f() }

func slicing(sel strategy.Selection, err error) strategy.SlicerFunc {
	return func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
		return sel, err
	}
}

func placing(err error, positions ...int) strategy.PlacerFunc {
	return func(_ context.Context, _ []cupel.ScoredItem, order []int) error {
		copy(order, positions)
		return err
	}
}

// panickyError is an error whose text cannot be had.
type panickyError struct{ inner error }

func (e panickyError) Error() string { return e.inner.Error() }

// invalid is an error of a strategy's settings.
var invalid = &cupel.InvalidConfigError{Component: "X", Reason: "is wrong"}

func TestStrategiesThatFail(t *testing.T) {
	list := ranked(t, 70) // of more than one word of positions
	selection := func(indices ...int) strategy.Slicer { return slicing(strategy.Selection{Indices: indices}, nil) }
	drop := func(at int, code cupel.ExclusionCode) strategy.Slicer {
		return slicing(strategy.Selection{Indices: []int{0}, Drops: []strategy.Drop{{Index: at, Reason: cupel.ExclusionReason{Code: code}}}}, nil)
	}
	smaller := func(at, form int) strategy.Slicer {
		return slicing(strategy.Selection{Indices: []int{0}, Smaller: []strategy.SmallerForm{{Index: at, Form: form}}}, nil)
	}
	rotated := make([]int, 70)
	for i := range rotated {
		rotated[i] = (i + 1) % 70
	}
	tests := []struct {
		why  string
		s    any
		want string // the text after "cupel: ", or "" for none
	}{
		{"a scorer fails", scoring(errOwn), "scorer strategy_test.scorerOf failed: the strategy's own error"},
		{"a scorer panics", scorerOf(func() error { panic("boom") }), "scorer strategy_test.scorerOf panicked: panic: boom"},
		{"an error inside a panic is within reach", scorerOf(func() error { panic(errOwn) }), "scorer strategy_test.scorerOf panicked: panic: the strategy's own error"},
		{"there is nothing to read in a nil pointer", scoring((*cupel.ScarcityError)(nil)), "scorer strategy_test.scorerOf failed with a nil *cupel.ScarcityError"},
		{"nor may reading it panic", scoring(panickyError{}), "scorer strategy_test.scorerOf failed: %!v(PANIC=Error method: runtime error: invalid memory address or nil pointer dereference)"},
		{"an error of settings says enough", scoring(invalid), "is wrong (X)"},
		{"as several do", scoring(errors.Join(invalid, invalid)), "is wrong (X)\ncupel: is wrong (X)"},
		{"but not beside another error", scoring(errors.Join(invalid, errOwn)), "scorer strategy_test.scorerOf failed: cupel: is wrong (X)\nthe strategy's own error"},
		{"scarcity is no failure of a strategy", slicing(strategy.Selection{}, &cupel.ScarcityError{Kind: "Memory"}), (&cupel.ScarcityError{Kind: "Memory"}).Error()[len("cupel: "):]},
		{"another context's end is an error", scoring(context.Canceled), "scorer strategy_test.scorerOf failed: context canceled"},
		{"a selection with an error does not count", slicing(strategy.Selection{Indices: []int{0}}, errOwn), "slicer strategy.SlicerFunc failed: the strategy's own error"},
		{"the last position is one", selection(69, 0, 63, 64), ""},
		{"there are 70", selection(70), "slicer strategy.SlicerFunc returned position 70 out of range of 70 items"},
		{"from 0", selection(-1), "slicer strategy.SlicerFunc returned position -1 out of range of 70 items"},
		{"an item is in once", selection(65, 0, 65), "slicer strategy.SlicerFunc returned position 65 twice of 70 items"},
		{"an item is in or out", drop(0, cupel.ExcludeFiltered), "slicer strategy.SlicerFunc returned position 0 twice of 70 items"},
		{"a drop is of the list", drop(99, cupel.ExcludeFiltered), "slicer strategy.SlicerFunc returned position 99 out of range of 70 items"},
		{"and has a reason", drop(1, ""), "slicer strategy.SlicerFunc returned position 1 as dropped without a reason, out of 70 items"},
		{"in one form", smaller(0, 1), "slicer strategy.SlicerFunc returned position 0 twice of 70 items"},
		{"which the item has", smaller(1, 1), "slicer strategy.SlicerFunc returned position 1 in form 1, and it has 0 smaller forms"},
		{"a permutation", placing(nil, rotated...), ""},
		{"has each position once", placing(nil, append(slices.Clone(rotated[:69]), 1)...), "placer strategy.PlacerFunc returned position 1 twice of 70 items"},
		{"and no others", placing(nil, append(slices.Clone(rotated[:69]), 70)...), "placer strategy.PlacerFunc returned position 70 out of range of 70 items"},
		{"a placer fails", placing(errOwn), "placer strategy.PlacerFunc failed: the strategy's own error"},
	}
	for _, tt := range tests {
		for _, ctx := range []context.Context{t.Context(), nil} {
			var err error
			switch s := tt.s.(type) {
			case strategy.Scorer:
				err = strategy.CallScorer(ctx, s, nil, nil)
			case strategy.Slicer:
				var sel strategy.Selection
				if sel, err = strategy.CallSlicer(ctx, s, list, wide); err != nil && len(sel.Indices) > 0 {
					t.Errorf("%s: %v is selected with an error", tt.why, sel.Indices)
				}
			case strategy.Placer:
				err = strategy.CallPlacer(ctx, s, list, make([]int, len(list)))
			}
			broke := strings.Contains(tt.want, " returned ")
			want := tt.want
			if broke {
				want += ", which breaks the contract of a " + want[:6]
			}
			if (want == "") != (err == nil) || err != nil && err.Error() != "cupel: "+want {
				t.Errorf("%s: got %v, want %s", tt.why, err, want)
				continue
			}
			if strings.HasSuffix(tt.want, errOwn.Error()) && !errors.Is(err, errOwn) {
				t.Errorf("%s: the strategy's error is out of reach", tt.why)
			}
			if _, contract := compat.AsType[*cupel.ContractError](err); contract != broke {
				t.Errorf("%s: a broken contract is %T", tt.why, err)
			}
			if p, ok := compat.AsType[*cupel.PanicError](err); ok != strings.Contains(tt.want, "panicked") || ok && len(p.Stack) == 0 {
				t.Errorf("%s: a panic is %#v", tt.why, err)
			}
		}
	}
}

// TestMistakesOfCallers: what wraps strategies calls them the wrong way.
func TestMistakesOfCallers(t *testing.T) {
	ctx := t.Context()
	one := make([]*cupel.ContextItem, 1)
	_, noSlicer := strategy.CallSlicer(ctx, nil, nil, wide)
	for want, err := range map[string]error{
		"cupel: scorer is nil":                     strategy.CallScorer(ctx, nil, nil, nil),
		"cupel: scorer strategy.ScorerFunc is nil": strategy.CallScorer(ctx, strategy.ScorerFunc(nil), nil, nil),
		"cupel: slicer is nil":                     noSlicer,
		"cupel: placer strategy.PlacerFunc is nil": strategy.CallPlacer(ctx, strategy.PlacerFunc(nil), nil, nil),
		"cupel: placer strategy.PlacerFunc was given a slice of 2 positions for 0 items": strategy.CallPlacer(ctx, placing(nil), nil, make([]int, 2)),
		"cupel: scorer strategy_test.scorerOf was given a slice of 0 scores for 1 items": strategy.CallScorer(ctx, scoring(nil), one, nil),
		"cupel: scorer strategy_test.scorerOf was given a slice of 2 scores for 1 items": strategy.CallScorer(ctx, scoring(nil), one, make([]float64, 2)),
	} {
		if err == nil || err.Error() != want || !errors.Is(err, cupel.ErrStrategy) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestForgottenScoresAreZero: what is left from another call must not decide.
func TestForgottenScoresAreZero(t *testing.T) {
	scores := []float64{7, 7}
	if err := strategy.CallScorer(t.Context(), scoring(nil), make([]*cupel.ContextItem, 2), scores); err != nil || !slices.Equal(scores, []float64{0, 0}) {
		t.Errorf("got %v, %v", scores, err)
	}
}

func TestScorerFuncStopsWhenCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	s := strategy.ScorerFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { calls++; cancel(); return 0 })
	err := strategy.CallScorer(ctx, s, make([]*cupel.ContextItem, 1000), make([]float64, 1000))
	if err != context.Canceled || calls != 64 {
		t.Errorf("%d calls, %v; want 64 and the context's own error", calls, err)
	}
}

// TestAppendSlicerOn: each list of the selection is in positions of the whole list.
// TestPositions has positions on both sides of where sets of them have another word.
func TestPositions(t *testing.T) {
	list := ranked(t, 140)
	var selected []int
	for i := range list {
		if i%3 == 0 {
			selected = append(selected, i)
		}
		_, err := strategy.CallSlicer(t.Context(), slicing(strategy.Selection{Indices: []int{i, i}}, nil), list, wide)
		if err == nil || !strings.Contains(err.Error(), "twice") {
			t.Errorf("position %d twice: %v", i, err)
		}
	}
	for i := range list {
		o, err := strategy.Explain(t.Context(), slicing(strategy.Selection{Indices: selected}, nil), list, wide, i)
		if err != nil || (o.Rule == "") != (i%3 == 0) {
			t.Errorf("position %d: %q, %v", i, o.Rule, err)
		}
	}
}

// unnamed does not say whose facts it gives.
type unnamed struct{ strategy.Slicer }

func (unnamed) Facts() strategy.Facts { return strategy.Facts{NonMonotonic: true} }

func TestFactsWithoutOwner(t *testing.T) {
	if f := strategy.FactsOf(unnamed{slicing(strategy.Selection{}, nil)}); f.NonMonotonic || f.Of == nil {
		t.Errorf("got %+v, want none: facts may be those of an embedded strategy", f)
	}
}

func TestAppendSlicerOn(t *testing.T) {
	list := ranked(t, 1100) // more positions than the smallest set has
	list[70].Item = item(t, "long", 9, cupel.WithVariants(cupel.Variant{Content: "short", Tokens: 2, Worth: .5}))
	mine := strategy.Selection{
		Indices: []int{2, 0}, Smaller: []strategy.SmallerForm{{Index: 1, Form: 1}},
		Drops:      []strategy.Drop{{Index: 3, Reason: cupel.ExclusionReason{Code: cupel.ExcludeFiltered}}},
		Shortfalls: []cupel.CountRequirementShortfall{{Kind: "x", RequiredCount: 2}},
	}
	s := slicing(mine, nil)
	var got strategy.Selection
	err := strategy.AppendSlicerOn(t.Context(), &got, s, list, []int{1099, 70, 3, 5}, wide)
	const want = "{[3 1099] [{70 1}] [{5 Filtered: }] [CountRequirementShortfall: x has 0 of 2 required items] 0} <nil>"
	if text := fmt.Sprint(got, err); text != want || mine.Indices[0] != 2 {
		t.Errorf("got %s, want %s; the slicer's own list is %v", text, want, mine.Indices)
	}
	err = strategy.AppendSlicerOn(t.Context(), &got, slicing(strategy.Selection{Indices: []int{0}, StaysUntil: 9}, nil), list, []int{3}, wide)
	if err != nil || got.StaysUntil != 9 || !slices.Equal(got.Indices, []int{3, 1099, 3}) {
		t.Errorf("got %+v, %v", got, err)
	}
	for want, positions := range map[string][]int{
		"position is out of range for a list of 1100 items (AppendSlicerOn, positions[1] = 1100)":                       {1, 1100},
		"position is out of range for a list of 1100 items (AppendSlicerOn, positions[0] = -1)":                         {-1},
		"slicer strategy.SlicerFunc returned position 2 out of range of 2 items, which breaks the contract of a slicer": {5, 6},
	} {
		var sel strategy.Selection
		err := strategy.AppendSlicerOn(t.Context(), &sel, s, list, positions, wide)
		if err == nil || err.Error() != "cupel: "+want || sel.Indices != nil {
			t.Errorf("got %v, %v, want %s", sel, err, want)
		}
	}
}

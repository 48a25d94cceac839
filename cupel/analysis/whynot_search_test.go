package analysis_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// looked records the budgets that a search looks at in turn.
type looked struct{ from, to, last, budgets int }

func (l *looked) option() analysis.ProbeOption {
	return analysis.WithProgress(func(budget, last int) {
		if l.budgets == 0 {
			l.from = budget
		}
		l.to, l.last = budget, last
		l.budgets++
	})
}

// TestWhyNotLooksNoFurther counts the budgets that WhyNot looks at in turn, after
// halving has found one that includes the candidate.
func TestWhyNotLooksNoFurther(t *testing.T) {
	items := []*cupel.ContextItem{scored("first", 30, 0.9), scored("second", 20, 0.1)}
	var l looked
	a, err := analysis.WhyNot(t.Context(), pipeline(custom{slicer.Greedy{}}), items, budget(10, 10), 1, l.option())
	if err != nil || a.Smallest != (analysis.SmallestBudget{Found: true, Tokens: 20, Exact: true, SearchedTo: 50}) {
		t.Fatalf("got %+v, %v", a.Smallest, err)
	}
	// Halving from 20 to 50 looks at 20 first, and nothing is left to look at.
	if l.budgets != 0 {
		t.Errorf("looked at %+v, want none", l)
	}
	items = append(items, scored("pin", 5, 0, cupel.WithPinned()))
	a, err = analysis.WhyNot(t.Context(), pipeline(custom{slicer.Greedy{}}), items, budget(10, 10), 1, l.option())
	if err != nil || a.Smallest != (analysis.SmallestBudget{Found: true, Tokens: 25, Exact: true, SearchedTo: 55}) {
		t.Fatalf("got %+v, %v", a.Smallest, err)
	}
	// Halving misses 25, where the first does not fit, and finds 55.
	if want := (looked{20, 25, 54, 6}); l != want {
		t.Errorf("looked at %+v, want %+v", l, want)
	}
}

// TestWhyNotSaysHowFarItLooked has one search that ends early after a find, and
// one that has to look beyond the room for all.
func TestWhyNotSaysHowFarItLooked(t *testing.T) {
	items := []*cupel.ContextItem{scored("pin", 5, 0, cupel.WithPinned()), scored("first", 30, 0.9), scored("second", 20, 0.1)}
	a, err := analysis.WhyNot(t.Context(), pipeline(custom{slicer.Greedy{}}), items, budget(10, 10), 2, analysis.WithMaxBudgets(2))
	if err != nil || !a.Smallest.Found || a.Smallest.Exact || a.Smallest.SearchedTo != 55 {
		t.Errorf("after a find with few budgets: %+v, %v; want room for all, 55", a.Smallest, err)
	}

	// A tenth of a budget for the kind of the candidate: 20 tokens at 200, while
	// 50 are room for all. The multiples that are tried double.
	var asked []int
	recording := sliceFunc(func(_ context.Context, items []cupel.ScoredItem, b cupel.SliceBudget) (cupel.Selection, error) {
		asked = append(asked, b.TargetTokens)
		if b.TargetTokens < 200 {
			return cupel.Selection{}, nil
		}
		return cupel.Selection{Indices: []int{len(items) - 1}}, nil
	})
	a, err = analysis.WhyNot(t.Context(), pipeline(recording), items[1:], budget(10, 10), 1)
	if err != nil || a.Smallest != (analysis.SmallestBudget{Found: true, Tokens: 200, Exact: true, SearchedTo: 200}) {
		t.Errorf("got %+v, %v, want 200 of 200", a.Smallest, err)
	}
	if !slices.Contains(asked, 50) || !slices.Contains(asked, 100) || slices.ContainsFunc(asked, func(n int) bool { return n > 200 }) {
		t.Errorf("asked for %v, want 50, 100, 200 and what is below", asked)
	}

	// Twice the room for all is tried as long as it is a number.
	for _, tt := range []struct{ tokens, most int }{{math.MaxInt / 2, math.MaxInt - 1}, {math.MaxInt/2 + 1, math.MaxInt/2 + 1}} {
		most := 0
		recording := sliceFunc(func(_ context.Context, _ []cupel.ScoredItem, b cupel.SliceBudget) (cupel.Selection, error) {
			most = max(most, b.TargetTokens)
			return cupel.Selection{}, nil
		})
		a, err := analysis.WhyNot(t.Context(), pipeline(recording), []*cupel.ContextItem{item("huge", tt.tokens)}, budget(10, 10), 0)
		if err != nil || a.Smallest.Found || most != tt.most {
			t.Errorf("of %d tokens: %+v, %v, asked up to %d, want %d", tt.tokens, a.Smallest, err, most, tt.most)
		}
	}
}

// TestWhyNotFollowsSweeps has a slicer that can be followed over all budgets
// change its selection at more of them than others are asked at.
func TestWhyNotFollowsSweeps(t *testing.T) {
	var items []*cupel.ContextItem
	for bit := range 14 { // each budget is filled to the last token
		items = append(items, scored(fmt.Sprint("item ", bit), 1<<bit, float64(bit+1)/20*float64(int(1)<<bit)/(1<<13)))
	}
	items = append(items, scored("last", 1, 0))
	a, err := analysis.WhyNot(t.Context(), pipeline(slicer.Greedy{}), items, budget(100, 100), 14)
	if err != nil || a.Smallest != (analysis.SmallestBudget{Found: true, Tokens: 1 << 14, Exact: true, SearchedTo: 1 << 14}) {
		t.Errorf("got %+v, %v", a.Smallest, err)
	}
}

// TestWhyNotReportsFailures has a slicer fail at each of its calls in turn: what
// the answer lacks is never passed over in silence. It lacks nothing after a
// failure at a budget above the smallest.
func TestWhyNotReportsFailures(t *testing.T) {
	items := []*cupel.ContextItem{scored("first", 3, 0.9), scored("second", 2, 0.1), scored("pin", 1, 0, cupel.WithPinned())}
	complete := analysis.SmallestBudget{Found: true, Tokens: 3, Exact: true, SearchedTo: 6}
	failed, said := 0, 0
	for at := 1; ; at++ {
		calls := 0
		a, err := analysis.WhyNot(t.Context(), pipeline(sliceFunc(func(ctx context.Context, items []cupel.ScoredItem, b cupel.SliceBudget) (cupel.Selection, error) {
			if calls++; calls == at {
				return cupel.Selection{}, errBroken
			}
			return slicer.Greedy{}.Slice(ctx, items, b)
		})), items, budget(4, 4), 1)
		if calls < at {
			if err != nil || a.Smallest != complete || a.AtSmallest == nil || a.IfPinned == nil {
				t.Errorf("without a failure: %+v, %v", a, err)
			}
			break
		}
		switch {
		case err != nil:
			failed++
			if a != nil || !errors.Is(err, errBroken) {
				t.Errorf("failing at call %d: %+v, %v", at, a, err)
			}
		case a.Smallest == complete && a.AtSmallest != nil && a.IfPinned != nil:
		case errors.Is(a.Smallest.Err, errBroken):
			said++
			if a.Smallest.Exact || (a.AtSmallest == nil) != !a.Smallest.Found {
				t.Errorf("failing at call %d: %+v with an error", at, a.Smallest)
			}
		default:
			t.Errorf("failing at call %d: %+v, no error", at, a.Smallest)
		}
	}
	if failed < 4 { // the run, the explanation, if it were pinned, at the smallest budget
		t.Errorf("%d failures ended it, want one for each part of the answer", failed)
	}
	if said == 0 { // below the smallest budget
		t.Error("no failure was in an answer")
	}
}

// A candidate that is included needs no explanation: the slicer is asked by the
// run, and at the ceiling of the search.
func TestWhyNotOfIncludedIsCheap(t *testing.T) {
	calls := 0
	_, err := analysis.WhyNot(t.Context(), pipeline(sliceFunc(func(ctx context.Context, items []cupel.ScoredItem, b cupel.SliceBudget) (cupel.Selection, error) {
		calls++
		return takesAll(ctx, items, b)
	})), []*cupel.ContextItem{item("a", 5)}, budget(9, 9), 0, analysis.WithCeiling(0))
	if err != nil || calls != 2 {
		t.Errorf("asked %d times, %v", calls, err)
	}
}

// What has negative tokens is never selected: no budget is looked at.
func TestNegativeTargetIsNotSearched(t *testing.T) {
	less := item("less", -3)
	var l looked
	_, found, err := analysis.FindMinBudgetForExhaustive(t.Context(), pipeline(sliceFunc(takesNothing)), []*cupel.ContextItem{less}, less, 100, l.option(), analysis.WithMaxBudgets(5))
	if found || err != nil || l.budgets != 0 {
		t.Errorf("got %t, %v, %d budgets", found, err, l.budgets)
	}
}

// TestWhyNotTriesAsManyAsAllowed sets the limit that a sweep has by default,
// which is more than a search without one tries.
func TestWhyNotTriesAsManyAsAllowed(t *testing.T) {
	only := sliceFunc(func(_ context.Context, _ []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
		if budget.TargetTokens == 12_000 {
			return cupel.Selection{Indices: []int{0}}, nil
		}
		return cupel.Selection{}, nil
	})
	items := []*cupel.ContextItem{scored("rare", 1, 1)}
	for _, tt := range []struct {
		opts []analysis.ProbeOption
		want analysis.SmallestBudget
	}{
		{[]analysis.ProbeOption{analysis.WithCeiling(13_000)}, analysis.SmallestBudget{SearchedTo: 10_000}},
		{[]analysis.ProbeOption{analysis.WithCeiling(13_000), analysis.WithMaxBudgets(1 << 22)}, analysis.SmallestBudget{Found: true, Tokens: 12_000, Exact: true, SearchedTo: 13_000}},
	} {
		a, err := analysis.WhyNot(t.Context(), pipeline(only), items, budget(10, 10), 0, tt.opts...)
		if err != nil || a.Smallest != tt.want {
			t.Errorf("%d options: %+v, %v, want %+v", len(tt.opts), a.Smallest, err, tt.want)
		}
	}
}

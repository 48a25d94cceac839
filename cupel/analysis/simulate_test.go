package analysis_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func TestGuards(t *testing.T) {
	const (
		marginal = "GetMarginalItems requires monotonic item inclusion. QuotaSlice produces non-monotonic inclusion as budget changes shift percentage allocations."
		minimum  = "FindMinBudgetFor requires monotonic item inclusion. QuotaSlice and CountQuotaSlice produce non-monotonic inclusion as budget changes shift allocations. Use a GreedySlice or KnapsackSlice inner slicer for budget simulation."
		says     = "slicer analysis_test.declared declares itself non-monotonic: "
	)
	quota := must(slicer.NewQuota(slicer.Greedy{}))
	counts := must(slicer.NewCountQuota(slicer.Greedy{}, nil))
	it := scored("a", 5, 0.5)
	items := []*cupel.ContextItem{it}
	for _, tt := range []struct {
		name              string
		slicer            strategy.Slicer
		marginal, minimum bool   // whether they refuse it
		says              string // before the chapter's words
		why               string
	}{
		{"quota", quota, true, true, "", "both guards name it"},
		{"count quota", counts, false, true, "", "only one guard names it"},
		{"count knapsack", must(slicer.NewCountConstrainedKnapsack(must(slicer.NewKnapsack()), nil)), false, true, "", "it is a count quota around a knapsack (R40)"},
		{"a quota embedded", embedding{quota}, true, true, "", "embedding hides the type and not what it does"},
		{"declared", custom{declared{slicer.Greedy{}, true}}, true, true, says, "it says so itself, and the text ends with the chapter's"},
		{"custom and silent", custom{slicer.Greedy{}}, false, false, "", "a slicer that says nothing is its user's to know"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPipeline(tt.slicer)
			check := func(err error, refused bool, text string) {
				t.Helper()
				e, ok := compat.AsType[*analysis.NonMonotonicError](err)
				if ok != refused || refused && (err.Error() != "cupel: "+tt.says+text || e.Slicer == "") || !refused && err != nil {
					t.Errorf("got error %v, want a refusal: %t: %s", err, refused, tt.why)
				}
			}
			_, err := analysis.GetMarginalItems(t.Context(), p, items, budget(9, 9), 1)
			check(err, tt.marginal, marginal)
			_, _, err = analysis.FindMinBudgetFor(t.Context(), p, items, it, 9)
			check(err, tt.minimum, minimum)
			if _, found, err := analysis.FindMinBudgetForExhaustive(t.Context(), p, items, it, 200); !found || err != nil {
				t.Errorf("the exhaustive search gave %v, %v: it takes every slicer", found, err)
			}
		})
	}
	// The guard comes before any look at the arguments (R39).
	_, err := analysis.GetMarginalItems(t.Context(), newPipeline(quota), []*cupel.ContextItem{nil}, budget(9, 9), -1)
	wantError(t, err, "cupel: "+marginal, "the guard comes first")
	_, _, err = analysis.FindMinBudgetFor(t.Context(), newPipeline(quota), items, nil, -1)
	wantError(t, err, "cupel: "+minimum, "the guard comes first")

	built := false
	panics := newPipeline(declaresByPanic{slicer.Greedy{}, &built})
	built = true
	_, err = analysis.GetMarginalItems(t.Context(), panics, items, budget(9, 9), 1)
	wantError(t, err, "cupel: slicer analysis_test.declaresByPanic panicked when asked whether it is monotonic: panic: cannot say", "no panic gets out")
}

func TestGetMarginalItems(t *testing.T) {
	a, b, c := scored("a", 10, 0.9), scored("b", 10, 0.8), scored("c", 10, 0.7)
	zero := scored("zero", 0, 0.1)
	for _, tt := range []struct {
		name   string
		items  []*cupel.ContextItem
		budget cupel.ContextBudget
		slack  int
		want   string
		why    string
	}{
		{"in the order of the window", []*cupel.ContextItem{c, b, a}, budget(30, 30), 11, "b c", "as the full budget's report lists them: without times, by score"},
		{"more than all of it", []*cupel.ContextItem{a, zero}, budget(10, 10), math.MaxInt, "a zero", "the smaller budget stops at 0 (R39), which selects nothing (R7)"},
		{"the reserve stays", []*cupel.ContextItem{a, b}, budget(30, 30, cupel.WithOutputReserve(10)), 1, "b", "29 - 10 tokens hold one"},
		{"the reserve is cut to the ceiling", []*cupel.ContextItem{a}, budget(40, 10, cupel.WithOutputReserve(30)), 15, "a", "a reserve of 30 does not fit 25 (R39)"},
		{"equal contents", []*cupel.ContextItem{scored("x", 10, 0.9), a}, budget(20, 20), 1, "a", "items are pointers"},
		{"a pointer twice", []*cupel.ContextItem{a, a}, budget(20, 20), 1, "", "it is in the smaller result too, by reference"},
	} {
		p := newPipeline(slicer.Greedy{}, keepDuplicates, overflow(pipeline.OverflowTruncate))
		got, err := analysis.GetMarginalItems(t.Context(), p, tt.items, tt.budget, tt.slack)
		if err != nil || contents(got) != tt.want {
			t.Errorf("%s: got %q, %v; want %q: %s", tt.name, contents(got), err, tt.want, tt.why)
		}
	}
}

func TestGetMarginalItemsFails(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	pinned := item("pinned", 10, cupel.WithPinned())
	for _, tt := range []struct {
		ctx      context.Context
		pipeline *pipeline.Pipeline
		items    []*cupel.ContextItem
		slack    int
		want     string
		why      string
	}{
		{nil, newPipeline(slicer.Greedy{}), nil, -1, "cupel: slackTokens must be at least 0, got -1", "less slack than none makes no sense (R39)"},
		{nil, nil, nil, 1, "cupel: the pipeline is empty: build it with New (Pipeline)", "and no panic"},
		{nil, newPipeline(slicer.Greedy{}), []*cupel.ContextItem{pinned, pinned}, 1, "cupel: Pinned items require 20 tokens, but only 10 are available", "an error of either run is returned (R39)"},
		{nil, newPipeline(slicer.Greedy{}), []*cupel.ContextItem{pinned}, 1, "cupel: Pinned items require 10 tokens, but only 9 are available", "an error of either run is returned (R39)"},
		{canceled, newPipeline(slicer.Greedy{}), nil, 1, "cupel: stopped in stage Classify: context canceled", "the context is honoured"},
	} {
		got, err := analysis.GetMarginalItems(tt.ctx, tt.pipeline, tt.items, budget(10, 10), tt.slack)
		wantError(t, err, tt.want, tt.why)
		if got != nil {
			t.Errorf("got %v with the error", got)
		}
	}
}

type search = func(context.Context, *pipeline.Pipeline, []*cupel.ContextItem, *cupel.ContextItem, int, ...analysis.ProbeOption) (int, bool, error)

var searches = map[string]search{"halving": analysis.FindMinBudgetFor, "exact": analysis.FindMinBudgetForExhaustive}

func TestFindMinBudgetFor(t *testing.T) {
	a, b := scored("a", 10, 0.9), scored("b", 10, 0.1)
	negative := scored("negative", math.MinInt, 0.9)
	forms := cupel.WithVariants(short("short", 3, 0.2), short("longer", 6, 0.6))
	member := scored("member", 10, 0.9, cupel.WithGroup("g"), cupel.WithGroupVariants(short("both", 1, 0.5)))
	pair := selects(2)
	for _, tt := range []struct {
		name        string
		items       []*cupel.ContextItem // the first is the target
		ceiling     int
		base        cupel.ContextBudget
		want, exact int // -1 for none
		first       int // the first budget that the exact search tries; -1 for none
		slicer      strategy.Slicer
		overflow    pipeline.OverflowStrategy
		why         string
	}{
		{name: "just beyond the ceiling", items: []*cupel.ContextItem{b, a}, ceiling: 19, want: -1, exact: -1, first: 10, why: "20 tokens are needed"},
		{name: "negative tokens", items: []*cupel.ContextItem{negative}, ceiling: math.MaxInt, want: -1, exact: -1, first: -1, slicer: sliceFunc(failing), why: "it is never selected, which needs no look"},
		{name: "a reserve above the ceiling", items: []*cupel.ContextItem{a}, ceiling: 20, base: budget(200, 0, cupel.WithOutputReserve(30)), want: -1, exact: -1, first: 10, why: "no budget can be built, the last one neither (R40)"},
		{name: "forms", items: []*cupel.ContextItem{scored("full", 10, 0.9, forms), item("pin", 2, cupel.WithPinned())}, ceiling: 50, want: 5, exact: 5, first: 3, why: "its smallest form needs 3"},
		{name: "group", items: []*cupel.ContextItem{member, scored("other", 10, 0.9, cupel.WithGroup("g"))}, ceiling: 50, want: 1, exact: 1, why: "the forms of a group may be larger than its members, or smaller"},
		{name: "overflow of the ceiling", items: []*cupel.ContextItem{a, b}, ceiling: 50, slicer: pair, base: budget(200, 0, cupel.WithOutputReserve(8)), want: 20, exact: 20, first: 10, why: "the target is the ceiling, reserve included (R40)"},
		{name: "overflow proceeds", items: []*cupel.ContextItem{a, b}, ceiling: 50, slicer: pair, overflow: pipeline.OverflowProceed, want: 10, exact: 0, why: "the pair is in at any budget; the chapter's search begins at 10"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.slicer == nil {
				tt.slicer = slicer.Greedy{}
			}
			p := newPipeline(tt.slicer, overflow(tt.overflow), func(c *pipeline.Config) {
				c.OnOverflow = func(cupel.OverflowEvent) { t.Error("a simulation called the overflow observer (R36)") }
			})
			base := analysis.WithBaseBudget(tt.base)
			got, found, err := analysis.FindMinBudgetFor(t.Context(), p, tt.items, tt.items[0], tt.ceiling, base)
			if err != nil || found != (tt.want >= 0) || got != max(tt.want, 0) {
				t.Errorf("got %d, %v, %v; want %d: %s", got, found, err, tt.want, tt.why)
			}
			var l looked
			got, found, err = analysis.FindMinBudgetForExhaustive(t.Context(), p, tt.items, tt.items[0], tt.ceiling, base, nil, l.option())
			if err != nil || found != (tt.exact >= 0) || got != max(tt.exact, 0) {
				t.Errorf("the exact search gave %d, %v, %v; want %d: %s", got, found, err, tt.exact, tt.why)
			}
			if l.budgets == 0 != (tt.first < 0) || l.from != max(tt.first, 0) {
				t.Errorf("the exact search began at %+v, want %d: a later one could miss the answer", l, tt.first)
			}
		})
	}
}

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

// What a slicer knows of other budgets saves looks at them.
func TestSearchSkipsBudgets(t *testing.T) {
	items := benchItems(1000)
	var l looked
	got, found, err := analysis.FindMinBudgetForExhaustive(t.Context(), newPipeline(slicer.Greedy{}), items[:40], items[0], 120_000, l.option())
	if err != nil || !found || l.budgets > 1000 || l.to != got {
		t.Errorf("got %d, %t, %v after %+v", got, found, err, l)
	}
}

// A slicer that knows up to where it selects the same, and nothing of single items, is
// asked about them once.
func TestSearchAsksOnce(t *testing.T) {
	asked := 0
	knows := explaining{
		sliceFunc(func(_ context.Context, _ []cupel.ScoredItem, b cupel.SliceBudget) (strategy.Selection, error) {
			return strategy.Selection{StaysUntil: b.TargetTokens}, nil
		}),
		func() { asked++ },
	}
	a := scored("a", 1, 1)
	_, found, err := analysis.FindMinBudgetForExhaustive(t.Context(), newPipeline(knows), []*cupel.ContextItem{a}, a, 50)
	if err != nil || found || asked != 1 {
		t.Errorf("asked %d times, found %t, %v", asked, found, err)
	}
}

// explaining counts how often it is asked why an item is left out.
type explaining struct {
	strategy.Slicer
	asked func()
}

func (e explaining) Facts() strategy.Facts {
	return strategy.Facts{Of: e, Explain: func(context.Context, []cupel.ScoredItem, cupel.SliceBudget, strategy.Selection, int) (strategy.Obstacle, error) {
		e.asked()
		return strategy.Obstacle{Rule: "no rule"}, nil
	}}
}

func TestFindMinBudgetForFails(t *testing.T) {
	a := scored("a", 10, 0.9)
	items := []*cupel.ContextItem{a}
	places := pipeline.Config{Placer: strategy.PlacerFunc(func(context.Context, []cupel.ScoredItem, []int) error { return errBroken })}
	for _, tt := range []struct {
		pipeline *pipeline.Pipeline
		target   *cupel.ContextItem
		ceiling  int
		want     string
		why      string
	}{
		{newPipeline(slicer.Greedy{}), nil, 100, "cupel: targetItem must be an element of items", "nil is no item"},
		{newPipeline(slicer.Greedy{}), scored("a", 10, 0.9), 100, "cupel: targetItem must be an element of items", "items are matched by pointer"},
		{newPipeline(slicer.Greedy{}), a, 9, "cupel: searchCeiling must be >= targetItem.Tokens", "no budget can hold it"},
		{nil, a, 100, "cupel: the pipeline is empty: build it with New (Pipeline)", "and no panic"},
		{newPipeline(slicer.Greedy{}, func(c *pipeline.Config) { c.Placer = places.Placer }), a, 100, "cupel: placer strategy.PlacerFunc failed: broken", "the last run includes the placer"},
	} {
		for name, find := range searches {
			got, found, err := find(t.Context(), tt.pipeline, items, tt.target, tt.ceiling)
			wantError(t, err, tt.want, name+": "+tt.why)
			if got != 0 || found {
				t.Errorf("%s gave %d, %v with the error", name, got, found)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestSearchReportsFailures has the slicer fail at each of its calls in turn:
// the search ends with that error and never with "not found".
func TestSearchReportsFailures(t *testing.T) {
	wanted := item("wanted", 5)
	items := []*cupel.ContextItem{item("other", 9), wanted}
	for name, search := range searches {
		for at := 1; ; at++ {
			calls := 0
			p := newPipeline(sliceFunc(func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
				if calls++; calls == at {
					return failing(ctx, items, budget)
				}
				return selects(budget.TargetTokens/14*2)(ctx, items, budget)
			}))
			tokens, found, err := search(t.Context(), p, items, wanted, 20)
			if calls < at {
				if err != nil || !found || tokens != 14 || at < 4 {
					t.Errorf("%s without a failure in %d calls: %d, %t, %v", name, at, tokens, found, err)
				}
				break
			}
			if !errors.Is(err, errBroken) || found || tokens != 0 {
				t.Errorf("%s, failing at call %d: %d, %t, %v", name, at, tokens, found, err)
			}
		}
	}
}

// TestMaxBudgets has slicers for which something may change at every budget.
func TestMaxBudgets(t *testing.T) {
	huge := slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{{Kind: "Message", RequireCount: 1, CapCount: 1}}))
	a := scored("a", 7, 0.9)
	for _, tt := range []struct {
		name    string
		slicer  strategy.Slicer
		ceiling int
		max     int
		next    int // of the error; 0 for none
		why     string
	}{
		{"one too many", selects(0), 107, 100, 107, "and no more"},
		{"none too many", selects(0), 106, 100, 0, "as many as allowed"},
		{"found", huge, math.MaxInt, 1, 0, "the first budget includes it"},
		{"less than one", slicer.Greedy{}, 9, 0, 0, "0 is no limit"},
	} {
		_, _, err := analysis.FindMinBudgetForExhaustive(t.Context(), newPipeline(tt.slicer), []*cupel.ContextItem{a}, a, tt.ceiling, analysis.WithMaxBudgets(tt.max))
		tooMany, ok := compat.AsType[*analysis.TooManyBudgetsError](err)
		if tt.next == 0 && err != nil || tt.next > 0 && (!ok || *tooMany != (analysis.TooManyBudgetsError{MaxBudgets: tt.max, NextBudget: tt.next})) {
			t.Errorf("%s: got %v, want it to give up before %d: %s", tt.name, err, tt.next, tt.why)
		}
	}
	_, _, err := analysis.FindMinBudgetForExhaustive(t.Context(), newPipeline(selects(0)), []*cupel.ContextItem{a}, a, math.MaxInt, analysis.WithMaxBudgets(3))
	wantError(t, err, "cupel: gave up before a budget of 10 tokens after looking at 3 budgets: use a lower ceiling or WithMaxBudgets", "7, 8 and 9 do not include it")
}

// failing is a slicer that fails.
func failing(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
	return strategy.Selection{}, errBroken
}

var errBroken = errors.New("broken")

// TestCanceledMidway stops a search that would take ages.
func TestCanceledMidway(t *testing.T) {
	a := scored("a", 1, 0.9)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls := 0
	p := newPipeline(sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
		if calls++; calls == 10 {
			cancel()
		}
		return strategy.Selection{}, nil
	}))
	if _, _, err := analysis.FindMinBudgetForExhaustive(ctx, p, []*cupel.ContextItem{a}, a, math.MaxInt); !errors.Is(err, context.Canceled) || calls != 10 {
		t.Errorf("got error %v after %d calls, want the context's after 10", err, calls)
	}
}

package analysis_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/slicer"
)

const (
	marginalText = "cupel: GetMarginalItems requires monotonic item inclusion. QuotaSlice produces non-monotonic inclusion as budget changes shift percentage allocations."
	minimumText  = "cupel: FindMinBudgetFor requires monotonic item inclusion. QuotaSlice and CountQuotaSlice produce non-monotonic inclusion as budget changes shift allocations. Use a GreedySlice or KnapsackSlice inner slicer for budget simulation."
)

func TestGuards(t *testing.T) {
	knapsack := must(slicer.NewKnapsack())
	quota := must(slicer.NewQuota(slicer.Greedy{}))
	counts := must(slicer.NewCountQuota(slicer.Greedy{}, nil))
	countKnapsack := must(slicer.NewCountConstrainedKnapsack(knapsack, nil))
	const says = "cupel: slicer analysis_test.declared declares itself non-monotonic: "
	tests := []struct {
		name     string
		slicer   cupel.Slicer
		marginal string // what GetMarginalItems says, "" for nothing
		minimum  string // what FindMinBudgetFor says
		declared bool
		why      string
	}{
		{name: "greedy", slicer: slicer.Greedy{}, why: "the specification calls it monotonic (R41)"},
		{name: "knapsack", slicer: knapsack, why: "the specification calls it monotonic (R41)"},
		{name: "knapsack value", slicer: slicer.Knapsack{}, why: "by value as well"},
		{name: "quota", slicer: quota, marginal: marginalText, minimum: minimumText, why: "both guards name it"},
		{name: "count quota", slicer: counts, minimum: minimumText, why: "only one guard names it"},
		{name: "count knapsack", slicer: countKnapsack, minimum: minimumText, why: "it is a count quota around a knapsack (R40)"},
		{name: "quota in a count quota", slicer: must(slicer.NewCountQuota(quota, nil)), marginal: marginalText, minimum: minimumText, why: "guards hold at any depth"},
		{name: "count quota in a quota", slicer: must(slicer.NewQuota(counts)), marginal: marginalText, minimum: minimumText, why: "the outer one is enough"},
		{name: "quota in a custom slicer", slicer: custom{custom{quota}}, marginal: marginalText, minimum: minimumText, why: "custom wrappers are looked through"},
		{name: "count quota in a custom slicer", slicer: custom{counts}, minimum: minimumText, why: "custom wrappers are looked through"},
		{name: "a quota embedded", slicer: embedding{quota}, marginal: marginalText, minimum: minimumText, why: "embedding hides the type and not what it does"},
		{name: "a count quota embedded", slicer: embeddingCounts{counts}, minimum: minimumText, why: "embedding hides the type and not what it does"},
		{name: "a quota in an embedded interface", slicer: hiding{quota}, marginal: marginalText, minimum: minimumText, why: "an embedded interface hides what is in it, and is looked into"},
		{name: "a count quota two interfaces down", slicer: &hiding{hiding{counts}}, minimum: minimumText, why: "the same, by pointer and two levels down"},
		{
			name: "declared in an embedded interface", slicer: hiding{declared{slicer.Greedy{}, true}}, declared: true,
			marginal: says + marginalText[len("cupel: "):], minimum: says + minimumText[len("cupel: "):], why: "what is in it says so",
		},
		{
			name: "declared", slicer: declared{slicer.Greedy{}, true}, declared: true,
			marginal: says + marginalText[len("cupel: "):], minimum: says + minimumText[len("cupel: "):], why: "it says so itself, and the text ends with the chapter's",
		},
		{
			name: "declared inside", slicer: custom{declared{slicer.Greedy{}, true}}, declared: true,
			marginal: says + marginalText[len("cupel: "):], minimum: says + minimumText[len("cupel: "):], why: "guards hold at any depth",
		},
		{name: "declared monotonic", slicer: declared{slicer.Greedy{}, false}, why: "it says that it is not"},
		{name: "custom and silent", slicer: custom{slicer.Greedy{}}, why: "a slicer that says nothing is its user's to know"},
	}
	it := scored("a", 5, 0.5)
	items := []*cupel.ContextItem{it}
	check := func(t *testing.T, err error, want string, declared bool, why string) {
		t.Helper()
		if want == "" {
			if err != nil {
				t.Errorf("got error %v: %s", err, why)
			}
			return
		}
		wantError(t, err, analysis.ErrNonMonotonic, want, why)
		var refused *analysis.NonMonotonicError
		if errors.As(err, &refused) && (refused.Declared != declared || refused.Slicer == "") {
			t.Errorf("got %+v: %s", refused, why)
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := pipeline(tt.slicer)
			_, err := analysis.GetMarginalItems(t.Context(), p, items, budget(9, 9), 1)
			check(t, err, tt.marginal, tt.declared, tt.why)
			if tt.marginal != "" {
				_, err = analysis.GetMarginalItems(t.Context(), p, []*cupel.ContextItem{nil}, budget(9, 9), -1)
				check(t, err, tt.marginal, tt.declared, "the guard comes before any look at the arguments (R39)")
			}
			_, _, err = analysis.FindMinBudgetFor(t.Context(), p, items, it, 9)
			check(t, err, tt.minimum, tt.declared, tt.why)
			if tt.minimum != "" {
				_, _, err = analysis.FindMinBudgetFor(t.Context(), p, items, nil, -1)
				check(t, err, tt.minimum, tt.declared, "the guard comes first")
			}
			if _, found, err := analysis.FindMinBudgetForExhaustive(t.Context(), p, items, it, 200); !found || err != nil {
				t.Errorf("the exhaustive search gave %v, %v: it takes every slicer", found, err)
			}
			if _, err := analysis.Sweep(t.Context(), p, items, analysis.BudgetRange{To: 9}); err != nil {
				t.Errorf("the sweep gave %v: it takes every slicer", err)
			}
		})
	}
	_, err := analysis.GetMarginalItems(t.Context(), pipeline(declaresByPanic{slicer.Greedy{}}), items, budget(9, 9), 1)
	wantError(t, err, cupel.ErrStrategy, "cupel: slicer analysis_test.declaresByPanic panicked when asked whether it is monotonic: panic: cannot say", "no panic gets out")
}

// hiding has no method of the slicer in it but Slice.
type hiding struct{ cupel.Slicer }

func TestGetMarginalItems(t *testing.T) {
	pin := cupel.WithPinned()
	a, b, c := scored("a", 10, 0.9), scored("b", 10, 0.8), scored("c", 10, 0.7)
	zero, pinned := scored("zero", 0, 0.1), scored("pinned", 10, 0, pin)
	tests := []struct {
		name     string
		items    []*cupel.ContextItem
		budget   cupel.ContextBudget
		slack    int
		slicer   cupel.Slicer
		overflow cupel.OverflowStrategy
		want     string
		why      string
	}{
		{name: "the last one", items: []*cupel.ContextItem{c, b, a}, budget: budget(30, 30), slack: 1, want: "c", why: "29 tokens hold two of three"},
		{name: "in the order of the window", items: []*cupel.ContextItem{c, b, a}, budget: budget(30, 30), slack: 11, want: "b c", why: "as the full budget's report lists them: without times, by score"},
		{name: "no slack", items: []*cupel.ContextItem{a, b}, budget: budget(20, 20), why: "the same budget twice"},
		{name: "too little slack to matter", items: []*cupel.ContextItem{a, b}, budget: budget(29, 29), slack: 9, why: "20 tokens hold both"},
		{name: "all of it", items: []*cupel.ContextItem{a, zero}, budget: budget(10, 10), slack: 10, want: "a zero", why: "a target of 0 selects nothing, zero tokens included (R7)"},
		{name: "more than all of it", items: []*cupel.ContextItem{a, zero}, budget: budget(10, 10), slack: math.MaxInt, want: "a zero", why: "the smaller budget stops at 0 (R39)"},
		{name: "only the target reaches 0", items: []*cupel.ContextItem{a, pinned}, budget: budget(40, 20), slack: 20, want: "a", overflow: cupel.OverflowTruncate, why: "20 tokens of ceiling still hold the pinned item"},
		{
			name: "the reserve stays", items: []*cupel.ContextItem{a, b}, budget: budget(30, 30, cupel.WithOutputReserve(10)), slack: 1, want: "b",
			why: "29 - 10 tokens hold one",
		},
		{
			name: "the reserve is cut to the ceiling", items: []*cupel.ContextItem{a}, budget: budget(40, 10, cupel.WithOutputReserve(30), cupel.WithEstimationSafetyMargin(0)), slack: 15, want: "a",
			why: "a reserve of 30 does not fit 25 (R39)",
		},
		{
			name: "the slots stay", items: []*cupel.ContextItem{a, b}, budget: budget(25, 25, cupel.WithReservedSlots(map[cupel.ContextKind]int{"x": 5})), slack: 1, want: "b",
			why: "24 - 5 tokens hold one",
		},
		{
			name: "the margin stays", items: []*cupel.ContextItem{a, b}, budget: budget(40, 40, cupel.WithEstimationSafetyMargin(50)), slack: 2, want: "b",
			why: "half of 38 holds one",
		},
		{name: "not monotonic", items: []*cupel.ContextItem{scored("A", 11, 0.99), scored("B", 5, 0.1)}, budget: budget(11, 11), slack: 1, want: "A", why: "B, which only the smaller budget includes, is not asked for (R41)"},
		{name: "equal contents", items: []*cupel.ContextItem{scored("x", 10, 0.9), a}, budget: budget(20, 20), slack: 1, want: "a", why: "items are pointers"},
		{name: "a pointer twice", items: []*cupel.ContextItem{a, a}, budget: budget(20, 20), slack: 1, want: "", why: "it is in the smaller result too, by reference"},
		{name: "count quota", items: []*cupel.ContextItem{a, b}, budget: budget(20, 20), slack: 5, slicer: must(slicer.NewCountQuota(slicer.Greedy{}, nil)), want: "b", why: "this guard does not name it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.slicer
			if s == nil {
				s = slicer.Greedy{}
			}
			p := pipeline(s, func(c *cupel.Config) { c.KeepDuplicates = true }, overflow(tt.overflow))
			got, err := analysis.GetMarginalItems(t.Context(), p, tt.items, tt.budget, tt.slack)
			if err != nil || contents(got) != tt.want {
				t.Errorf("got %q, %v; want %q: %s", contents(got), err, tt.want, tt.why)
			}
		})
	}
}

func TestGetMarginalItemsFails(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	pinned := item("pinned", 10, cupel.WithPinned())
	failsBelow := func(target int) cupel.Slicer {
		return sliceFunc(func(_ context.Context, _ []cupel.ScoredItem, b cupel.SliceBudget) (cupel.Selection, error) {
			if b.TargetTokens < target {
				return cupel.Selection{}, errBroken
			}
			return cupel.Selection{}, nil
		})
	}
	tests := []struct {
		name     string
		ctx      context.Context
		pipeline *cupel.Pipeline
		items    []*cupel.ContextItem
		slack    int
		is       error
		want     string
		why      string
	}{
		{"slack below 0", nil, pipeline(slicer.Greedy{}), nil, -1, analysis.ErrInvalidArgument, "cupel: slackTokens must be at least 0, got -1", "less slack than none makes no sense (R39)"},
		{"no pipeline", nil, nil, nil, 1, cupel.ErrInvalidConfig, "cupel: the pipeline is empty: build it with New (Pipeline)", "and no panic"},
		{"a nil item", nil, pipeline(slicer.Greedy{}), []*cupel.ContextItem{nil}, 1, cupel.ErrInvalidItem, "cupel: invalid item at index 0: must come from NewContextItem, got nil or an empty item", "as DryRun says"},
		{"the full budget is too small", nil, pipeline(slicer.Greedy{}), []*cupel.ContextItem{pinned, pinned}, 1, cupel.ErrPinnedExceedsBudget, "cupel: Pinned items require 20 tokens, but only 10 are available", "an error of either run is returned (R39)"},
		{"the smaller budget is too small", nil, pipeline(slicer.Greedy{}), []*cupel.ContextItem{pinned}, 1, cupel.ErrPinnedExceedsBudget, "cupel: Pinned items require 10 tokens, but only 9 are available", "an error of either run is returned (R39)"},
		{"the slicer fails at the smaller budget", nil, pipeline(failsBelow(10)), nil, 1, errBroken, "cupel: slicer analysis_test.sliceFunc failed: broken", "an error of either run is returned (R39)"},
		{"canceled", canceled, pipeline(slicer.Greedy{}), nil, 1, context.Canceled, "cupel: stopped in stage Classify: context canceled", "the context is honoured"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := analysis.GetMarginalItems(tt.ctx, tt.pipeline, tt.items, budget(10, 10), tt.slack)
			wantError(t, err, tt.is, tt.want, tt.why)
			if got != nil {
				t.Errorf("got %v with the error", got)
			}
		})
	}
}

func TestFindMinBudgetFor(t *testing.T) {
	a, b := scored("a", 10, 0.9), scored("b", 10, 0.1)
	zero, negative, pinned := scored("zero", 0, 0.5), scored("negative", -5, 0.9), item("pinned", 7, cupel.WithPinned())
	lowest := scored("lowest", math.MinInt, 0.9)
	ruling := []*cupel.ContextItem{scored("A", 11, 0.99), scored("B", 5, 0.1)}
	notMonotonic := []*cupel.ContextItem{ruling[0], ruling[1], scored("D", 3, 0.2)} // A is denser than D, and D than B
	huge := scored("huge", math.MaxInt, 0.1)
	tests := []struct {
		name       string
		items      []*cupel.ContextItem
		target     *cupel.ContextItem
		ceiling    int
		base       cupel.ContextBudget
		want       int // -1 for none
		exhaustive int // when it differs; 0 for the same
		why        string
	}{
		{name: "alone", items: []*cupel.ContextItem{a}, target: a, ceiling: 100, want: 10, why: "its own tokens: the lower bound is looked at, which the chapter's loop forgets (R40)"},
		{name: "the ceiling is the lower bound", items: []*cupel.ContextItem{a}, target: a, ceiling: 10, want: 10, why: "a range of one budget"},
		{name: "the ceiling is one above", items: []*cupel.ContextItem{a}, target: a, ceiling: 11, want: 10, why: "a range of two budgets"},
		{name: "behind another", items: []*cupel.ContextItem{a, b}, target: b, ceiling: 100, want: 20, why: "the better one takes its tokens first"},
		{name: "just within the ceiling", items: []*cupel.ContextItem{a, b}, target: b, ceiling: 20, want: 20, why: "the ceiling is part of the range"},
		{name: "just beyond the ceiling", items: []*cupel.ContextItem{a, b}, target: b, ceiling: 19, want: -1, why: "20 tokens are needed"},
		{name: "no range", items: []*cupel.ContextItem{a, b}, target: b, ceiling: 10, want: -1, why: "the only budget does not include it"},
		{name: "no tokens", items: []*cupel.ContextItem{zero}, target: zero, ceiling: 100, want: 1, why: "a target of 0 selects nothing (R7)"},
		{name: "no tokens and no budget", items: []*cupel.ContextItem{zero}, target: zero, ceiling: 0, want: -1, why: "a target of 0 selects nothing (R7)"},
		{name: "negative tokens", items: []*cupel.ContextItem{negative}, target: negative, ceiling: 100, want: -1, why: "it is never selected"},
		{name: "the most negative tokens", items: []*cupel.ContextItem{lowest}, target: lowest, ceiling: math.MaxInt, want: -1, why: "the width of the range does not fit int"},
		{name: "pinned", items: []*cupel.ContextItem{pinned, a}, target: pinned, ceiling: 100, want: 7, why: "it is in as soon as it fits"},
		{name: "with a pinned one", items: []*cupel.ContextItem{pinned, a}, target: a, ceiling: 100, want: 17, why: "budgets that do not hold the pinned items include nothing (R40)"},
		{name: "a duplicate", items: []*cupel.ContextItem{scored("x", 5, 0.9), scored("x", 5, 0.1)}, want: -1, ceiling: 100, why: "the better copy goes on alone"},
		{name: "a pointer twice", items: []*cupel.ContextItem{a, a}, target: a, ceiling: 100, want: 10, why: "any position counts"},
		{
			name: "with a reserve", items: []*cupel.ContextItem{a}, target: a, ceiling: 100, base: budget(200, 0, cupel.WithOutputReserve(30)), want: 40,
			why: "budgets below the reserve cannot be built and include nothing (R40)",
		},
		{name: "a reserve above the ceiling", items: []*cupel.ContextItem{a}, target: a, ceiling: 100, base: budget(200, 0, cupel.WithOutputReserve(130)), want: -1, why: "no budget can be built"},
		{
			name: "with slots and a margin", items: []*cupel.ContextItem{a}, target: a, ceiling: 100, want: 25,
			base: budget(0, 0, cupel.WithReservedSlots(map[cupel.ContextKind]int{"x": 5}), cupel.WithEstimationSafetyMargin(50)),
			why:  "half of 25 - 5",
		},
		{name: "the ruling's example", items: ruling, target: ruling[1], ceiling: 20, want: 5, why: "the search looks at the lower bound first, and B is in there (R41)"},
		{name: "not monotonic, missed", items: notMonotonic, target: notMonotonic[1], ceiling: 20, want: 19, exhaustive: 8, why: "from 11 tokens on A takes them, and the search looks at 12 first"},
		{name: "not monotonic, lost", items: notMonotonic, target: notMonotonic[1], ceiling: 18, want: -1, exhaustive: 8, why: "no budget that the search looks at includes B"},
		{name: "beyond everything", items: []*cupel.ContextItem{huge}, target: huge, ceiling: math.MaxInt, want: math.MaxInt, why: "a range of one budget, the last there is"},
	}
	for i := range tests {
		if tests[i].target == nil {
			tests[i].target = tests[i].items[1]
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := pipeline(slicer.Greedy{})
			base := analysis.WithBaseBudget(tt.base)
			got, found, err := analysis.FindMinBudgetFor(t.Context(), p, tt.items, tt.target, tt.ceiling, base)
			if err != nil || found != (tt.want >= 0) || found && got != tt.want || !found && got != 0 {
				t.Errorf("got %d, %v, %v; want %d: %s", got, found, err, tt.want, tt.why)
			}
			want := tt.want
			if tt.exhaustive != 0 {
				want = tt.exhaustive
			}
			got, found, err = analysis.FindMinBudgetForExhaustive(t.Context(), p, tt.items, tt.target, tt.ceiling, base, nil)
			if err != nil || found != (want >= 0) || found && got != want || !found && got != 0 {
				t.Errorf("the exhaustive search gave %d, %v, %v; want %d: %s", got, found, err, want, tt.why)
			}
		})
	}
}

// TestOverflowIncludesNothing has a slicer that commits a pair regardless of the
// budget.
func TestOverflowIncludesNothing(t *testing.T) {
	a, b := scored("a", 10, 0.9), scored("b", 10, 0.1)
	items := []*cupel.ContextItem{a, b}
	pair := sliceFunc(func(_ context.Context, _ []cupel.ScoredItem, b cupel.SliceBudget) (cupel.Selection, error) {
		if b.TargetTokens == 0 {
			return cupel.Selection{}, nil
		}
		return cupel.Selection{Indices: []int{0, 1}}, nil
	})
	tests := []struct {
		name             string
		overflow         cupel.OverflowStrategy
		want, exhaustive int
		why              string
	}{
		{"throw", cupel.OverflowThrow, 20, 20, "below 20 tokens there is an error and no window"},
		{"truncate", cupel.OverflowTruncate, 10, 10, "from 10 tokens on a stays"},
		{"proceed", cupel.OverflowProceed, 10, 1, "the pair is in from 1 token on; the chapter's search begins at 10"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := pipeline(pair, overflow(tt.overflow), func(c *cupel.Config) {
				c.OnOverflow = func(cupel.OverflowEvent) { t.Error("a simulation called the overflow observer (R36)") }
			})
			for name, find := range searches {
				got, found, err := find(t.Context(), p, items, a, 50)
				want := tt.want
				if name == "the exhaustive search" {
					want = tt.exhaustive
				}
				if err != nil || !found || got != want {
					t.Errorf("%s gave %d, %v, %v; want %d: %s", name, got, found, err, want, tt.why)
				}
			}
		})
	}
}

type search = func(context.Context, *cupel.Pipeline, []*cupel.ContextItem, *cupel.ContextItem, int, ...analysis.ProbeOption) (int, bool, error)

var searches = map[string]search{"the search": analysis.FindMinBudgetFor, "the exhaustive search": analysis.FindMinBudgetForExhaustive}

func TestFindMinBudgetForFails(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	a, b := scored("a", 10, 0.9), scored("b", 20, 0.1)
	items := []*cupel.ContextItem{a, b}
	fails := sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
		return cupel.Selection{}, &cupel.PinnedExceedsBudgetError{PinnedTokens: 2, AvailableTokens: 1}
	})
	failsAbove := sliceFunc(func(ctx context.Context, items []cupel.ScoredItem, b cupel.SliceBudget) (cupel.Selection, error) {
		if b.TargetTokens > 20 {
			return cupel.Selection{}, errBroken
		}
		return slicer.Greedy{}.Slice(ctx, items, b)
	})
	placesNothing := func(c *cupel.Config) {
		c.Placer = placeFunc(func(context.Context, []cupel.ScoredItem) ([]int, error) { return nil, errBroken })
	}
	const notFound, tooLow = "targetItem must be an element of items", "searchCeiling must be >= targetItem.Tokens"
	tests := []struct {
		name     string
		ctx      context.Context
		pipeline *cupel.Pipeline
		items    []*cupel.ContextItem
		target   *cupel.ContextItem
		ceiling  int
		is       error
		want     string
		why      string
	}{
		{"not an element", nil, pipeline(slicer.Greedy{}), items, scored("a", 10, 0.9), 50, analysis.ErrInvalidArgument, "cupel: " + notFound, "an equal item is another item"},
		{"no target", nil, pipeline(slicer.Greedy{}), items, nil, 50, analysis.ErrInvalidArgument, "cupel: " + notFound, "nil is no item"},
		{"no target among nil items", nil, pipeline(slicer.Greedy{}), []*cupel.ContextItem{nil}, nil, 50, analysis.ErrInvalidArgument, "cupel: " + notFound, "nil is no item even there"},
		{"both preconditions", nil, pipeline(slicer.Greedy{}), items, scored("a", 10, 0.9), 5, analysis.ErrInvalidArgument, "cupel: " + notFound, "the chapter checks the target first"},
		{"the ceiling is too low", nil, pipeline(slicer.Greedy{}), items, a, 9, analysis.ErrInvalidArgument, "cupel: " + tooLow, "there is no range"},
		{"no pipeline", nil, nil, items, a, 50, cupel.ErrInvalidConfig, "cupel: the pipeline is empty: build it with New (Pipeline)", "and no panic"},
		{"a nil item", nil, pipeline(slicer.Greedy{}), []*cupel.ContextItem{a, nil}, a, 50, cupel.ErrInvalidItem, "cupel: invalid item at index 1: must come from NewContextItem, got nil or an empty item", "as DryRun says"},
		{"canceled", canceled, pipeline(slicer.Greedy{}), items, a, 50, context.Canceled, "cupel: stopped in stage Classify: context canceled", "the context is honoured"},
		{"the slicer fails", nil, pipeline(fails), items, a, 50, cupel.ErrStrategy, "cupel: slicer analysis_test.sliceFunc failed: cupel: Pinned items require 2 tokens, but only 1 are available", "what looks like a small budget is the slicer's own"},
		{"the slicer fails later", nil, pipeline(failsAbove), items, b, 50, errBroken, "cupel: slicer analysis_test.sliceFunc failed: broken", "a probe that fails says nothing about inclusion"},
		{"the placer fails", nil, pipeline(slicer.Greedy{}, placesNothing), items, a, 50, errBroken, "cupel: placer analysis_test.placeFunc failed: broken", "the last run is a dry run with everything (chapter)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, find := range searches {
				got, found, err := find(tt.ctx, tt.pipeline, tt.items, tt.target, tt.ceiling)
				wantError(t, err, tt.is, tt.want, name+": "+tt.why)
				if got != 0 || found {
					t.Errorf("%s gave %d, %v with the error", name, got, found)
				}
			}
		})
	}
	var argument *analysis.ArgumentError
	if _, _, err := analysis.FindMinBudgetFor(t.Context(), pipeline(slicer.Greedy{}), items, a, 9); !errors.As(err, &argument) || argument.Argument != "searchCeiling" {
		t.Errorf("got %v, want an ArgumentError that names searchCeiling", err)
	}
}

// TestCanceledMidway stops searches and sweeps that would take ages.
func TestCanceledMidway(t *testing.T) {
	a := scored("a", 1, 0.9)
	items := []*cupel.ContextItem{a}
	run := map[string]func(ctx context.Context, p *cupel.Pipeline) error{
		"the exhaustive search": func(ctx context.Context, p *cupel.Pipeline) error {
			_, _, err := analysis.FindMinBudgetForExhaustive(ctx, p, items, a, math.MaxInt)
			return err
		},
		"the search": func(ctx context.Context, p *cupel.Pipeline) error {
			_, _, err := analysis.FindMinBudgetFor(ctx, p, items, a, math.MaxInt)
			return err
		},
		"the sweep": func(ctx context.Context, p *cupel.Pipeline) error {
			_, err := analysis.Sweep(ctx, p, items, analysis.BudgetRange{To: math.MaxInt})
			return err
		},
	}
	for name, run := range run {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			calls := 0
			never := sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
				if calls++; calls == 10 {
					cancel()
				}
				return cupel.Selection{}, nil
			})
			err := run(ctx, pipeline(never))
			if !errors.Is(err, context.Canceled) || calls != 10 {
				t.Errorf("got error %v after %d calls, want the context's after 10", err, calls)
			}
		})
	}
}

package analysis_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// stepsOf writes a sweep as "budget: tokens/included +came -went", one step a
// line.
func stepsOf(s *analysis.BudgetSweep) string {
	var b strings.Builder
	for _, step := range s.Steps {
		fmt.Fprintf(&b, "%d: %d/%d", step.Budget, step.Tokens, step.Included)
		for _, i := range step.Came {
			b.WriteString(" +" + s.Items[i].Content())
		}
		for _, i := range step.Went {
			b.WriteString(" -" + s.Items[i].Content())
		}
		if step.Err != nil {
			b.WriteString(" " + strings.TrimPrefix(step.Err.Error(), "cupel: "))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestSweep(t *testing.T) {
	// Densities: a 0.1, d 0.09, b 0.08.
	a, b, d := scored("a", 3, 0.3), scored("b", 2, 0.16), scored("d", 10, 0.9)
	zero, pinned, negative := scored("zero", 0, 0.1), item("p", 4, cupel.WithPinned()), scored("negative", -1, 1)
	all := sliceFunc(func(_ context.Context, items []cupel.ScoredItem, b cupel.SliceBudget) (sel cupel.Selection, _ error) {
		for i := range items {
			if b.TargetTokens > 0 {
				sel.Indices = append(sel.Indices, i)
			}
		}
		return sel, nil
	})
	counts := must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{{Kind: "Message", RequireCount: 1, CapCount: 2}}))
	tests := []struct {
		name     string
		items    []*cupel.ContextItem
		slicer   cupel.Slicer
		overflow cupel.OverflowStrategy
		budgets  analysis.BudgetRange
		base     cupel.ContextBudget
		want     []string
		why      string
	}{
		{
			name: "greedy", items: []*cupel.ContextItem{d, a, b}, budgets: analysis.BudgetRange{To: 20},
			want: []string{"0: 0/0", "2: 2/1 +b", "3: 3/1 +a -b", "5: 5/2 +b", "13: 13/2 +d -b", "15: 15/3 +b"},
			why:  "a larger budget loses b twice (R41)",
		},
		{
			name: "from the middle", items: []*cupel.ContextItem{d, a, b}, budgets: analysis.BudgetRange{From: 14, To: 20},
			want: []string{"14: 13/2 +d +a", "15: 15/3 +b"}, why: "the first step is all there is at the first budget",
		},
		{
			name: "a stride", items: []*cupel.ContextItem{d, a, b}, budgets: analysis.BudgetRange{To: 20, Stride: 4},
			want: []string{"0: 0/0", "4: 3/1 +a", "8: 5/2 +b", "16: 15/3 +d"}, why: "budgets in between are not looked at: b seems never to have gone",
		},
		{
			name: "a stride beyond the end", items: []*cupel.ContextItem{d, a, b}, budgets: analysis.BudgetRange{From: 5, To: 20, Stride: 16},
			want: []string{"5: 5/2 +a +b"}, why: "only the first budget is in the range",
		},
		{name: "one budget", items: []*cupel.ContextItem{a}, budgets: analysis.BudgetRange{From: 3, To: 3}, want: []string{"3: 3/1 +a"}, why: "the ends may be the same"},
		{name: "no items", budgets: analysis.BudgetRange{To: math.MaxInt}, want: []string{"0: 0/0"}, why: "nothing can change"},
		{name: "no tokens", items: []*cupel.ContextItem{zero, negative}, budgets: analysis.BudgetRange{To: 5}, want: []string{"0: 0/0", "1: 0/1 +zero"}, why: "a target of 0 selects nothing (R7); a negative count never"},
		{
			name: "pinned", items: []*cupel.ContextItem{a, pinned}, budgets: analysis.BudgetRange{To: 9},
			want: []string{"0: 0/0 Pinned items require 4 tokens, but only 0 are available", "4: 4/1 +p", "7: 7/2 +a"},
			why:  "budgets that do not hold the pinned items are one step",
		},
		{
			name: "with a reserve", items: []*cupel.ContextItem{a, pinned}, budgets: analysis.BudgetRange{To: 12}, base: budget(99, 9, cupel.WithOutputReserve(3)),
			want: []string{
				"0: 0/0 invalid budget: outputReserve must be at most maxTokens (0), got 3",
				"3: 0/0 Pinned items require 4 tokens, but only 0 are available", "7: 4/1 +p", "10: 7/2 +a",
			},
			why: "budgets below the reserve cannot be built; another reason for nothing is another step",
		},
		{
			name: "an overflow", items: []*cupel.ContextItem{a, b}, slicer: all, budgets: analysis.BudgetRange{To: 9},
			want: []string{"0: 0/0", "1: 0/0 Selected items require 5 tokens, exceeding target budget of 1", "5: 5/2 +a +b"}, why: "below 5 tokens the run fails",
		},
		{
			name: "an overflow cut", items: []*cupel.ContextItem{a, b}, slicer: all, overflow: cupel.OverflowTruncate, budgets: analysis.BudgetRange{To: 9},
			want: []string{"0: 0/0", "2: 2/1 +b", "3: 3/1 +a -b", "5: 5/2 +b"}, why: "by score, and what fits of the rest",
		},
		{
			name: "count quota", items: []*cupel.ContextItem{d, a, b}, slicer: counts, overflow: cupel.OverflowProceed, budgets: analysis.BudgetRange{To: 30},
			want: []string{"0: 0/0", "1: 10/1 +d", "12: 12/2 +b", "13: 13/2 +a -b"},
			why:  "d is committed at any cost, and there is room for two of the kind",
		},
		{
			name: "a pointer twice", items: []*cupel.ContextItem{a, a}, budgets: analysis.BudgetRange{To: 9},
			want: []string{"0: 0/0", "3: 3/1 +a", "6: 6/2 +a"}, why: "each position comes by itself (R1)",
		},
		{
			name: "up to the end of int", items: []*cupel.ContextItem{scored("x", math.MaxInt, 0.9), a}, budgets: analysis.BudgetRange{To: math.MaxInt},
			want: []string{"0: 0/0", "3: 3/1 +a"}, why: "a is denser, and x fits no budget next to it; budgets between are skipped",
		},
		{
			name: "a long stride", items: []*cupel.ContextItem{scored("x", math.MaxInt, 0.9)}, budgets: analysis.BudgetRange{From: 1, To: math.MaxInt, Stride: math.MaxInt - 1},
			want: []string{"1: 0/0", fmt.Sprintf("%d: %d/1 +x", math.MaxInt, math.MaxInt)}, why: "no budget passes the range of int",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.slicer
			if s == nil {
				s = slicer.Greedy{}
			}
			p := pipeline(s, overflow(tt.overflow), func(c *cupel.Config) { c.KeepDuplicates = true })
			got, err := analysis.Sweep(t.Context(), p, tt.items, tt.budgets, analysis.WithBaseBudget(tt.base))
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Join(tt.want, "\n") + "\n"; stepsOf(got) != want {
				t.Errorf("got\n%swant\n%s%s", stepsOf(got), want, tt.why)
			}
			if got.From != tt.budgets.From || got.To != tt.budgets.To || got.Stride != max(1, tt.budgets.Stride) {
				t.Errorf("the range became %d, %d, %d", got.From, got.To, got.Stride)
			}
		})
	}
}

func TestSweepFails(t *testing.T) {
	fails := sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
		return cupel.Selection{}, &cupel.InvalidBudgetError{Field: "x", Reason: "is mine"}
	})
	tests := []struct {
		name     string
		pipeline *cupel.Pipeline
		budgets  analysis.BudgetRange
		is       error
		want     string
		why      string
	}{
		{"below 0", pipeline(slicer.Greedy{}), analysis.BudgetRange{From: -1}, analysis.ErrInvalidArgument, "cupel: the first budget of a sweep must be at least 0, got -1", "no such budget exists"},
		{"backwards", pipeline(slicer.Greedy{}), analysis.BudgetRange{From: 2, To: 1}, analysis.ErrInvalidArgument, "cupel: the last budget of a sweep must be at least the first (2), got 1", "an empty range has no first step"},
		{"a stride below 0", pipeline(slicer.Greedy{}), analysis.BudgetRange{Stride: -1}, analysis.ErrInvalidArgument, "cupel: the stride of a sweep must be at least 1, or 0 for 1, got -1", "it would never end"},
		{"no pipeline", nil, analysis.BudgetRange{}, cupel.ErrInvalidConfig, "cupel: the pipeline is empty: build it with New (Pipeline)", "and no panic"},
		{"the slicer fails", pipeline(fails), analysis.BudgetRange{}, cupel.ErrStrategy, "cupel: slicer analysis_test.sliceFunc failed: cupel: invalid budget: x is mine", "what looks like a budget is the slicer's own"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := analysis.Sweep(t.Context(), tt.pipeline, nil, tt.budgets)
			wantError(t, err, tt.is, tt.want, tt.why)
			if got != nil {
				t.Errorf("got %+v with the error", got)
			}
		})
	}
}

// TestMaxBudgets has slicers for which something may change at every budget.
func TestMaxBudgets(t *testing.T) {
	nothing := sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
		return cupel.Selection{}, nil
	})
	quota := slicer.Must(slicer.NewQuota(slicer.Greedy{}, slicer.Cap("Message", 0)))
	huge := slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{{Kind: "Message", RequireCount: 1, CapCount: 1}}))
	a := scored("a", math.MaxInt/4+1, 0.9)
	items := []*cupel.ContextItem{a}
	tests := []struct {
		name     string
		slicer   cupel.Slicer
		from, to int
		max      int
		next     int // of the error; 0 for none
		why      string
	}{
		{"sliced again", nothing, 0, math.MaxInt/2 + 1, 100, 100, "a custom slicer may change its mind at any budget"},
		{"knapsack", slicer.Must(slicer.NewKnapsack()), 1, math.MaxInt/8 + 1, 100, 101, "it has no sweep"},
		{"a quota", quota, 0, math.MaxInt/8 + 1, 100, 100, "a share may move with every token"},
		{"an overflow", huge, 0, math.MaxInt/8 + 1, 100, 100, "the run fails at each budget below what is committed, which is not the slicer's to know"},
		{"just enough", nothing, 0, 99, 100, 0, "a hundred budgets are allowed"},
		{"one too many", nothing, 0, 100, 100, 100, "and no more"},
		{"greedy", slicer.Greedy{}, 0, math.MaxInt/2 + 1, 2, 0, "only the first budget and that of a are looked at"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := analysis.Sweep(t.Context(), pipeline(tt.slicer), items, analysis.BudgetRange{From: tt.from, To: tt.to}, analysis.WithMaxBudgets(tt.max))
			tooMany, ok := compat.AsType[*analysis.TooManyBudgetsError](err)
			if tt.next == 0 {
				if err != nil {
					t.Errorf("got %v: %s", err, tt.why)
				}
				return
			}
			if !ok || !errors.Is(err, analysis.ErrTooManyBudgets) || *tooMany != (analysis.TooManyBudgetsError{MaxBudgets: tt.max, NextBudget: tt.next}) {
				t.Errorf("got %v, want it to give up before %d: %s", err, tt.next, tt.why)
			}
		})
	}
	b := scored("b", 7, 0.5)
	_, _, err := analysis.FindMinBudgetForExhaustive(t.Context(), pipeline(nothing), []*cupel.ContextItem{b}, b, math.MaxInt, analysis.WithMaxBudgets(3))
	const want = "cupel: gave up before a budget of 10 tokens after looking at 3 budgets: use a shorter range, a longer stride or WithMaxBudgets"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = analysis.Sweep(t.Context(), pipeline(nothing), items, analysis.BudgetRange{}, analysis.WithMaxBudgets(0))
	if !errors.Is(err, analysis.ErrInvalidArgument) {
		t.Errorf("got %v, want a limit of 0 to be refused", err)
	}
}

func TestSweepSelection(t *testing.T) {
	items := []*cupel.ContextItem{scored("d", 10, 0.9), scored("a", 3, 0.3), scored("b", 2, 0.16)}
	sweep := must(analysis.Sweep(t.Context(), pipeline(slicer.Greedy{}), items, analysis.BudgetRange{From: 1, To: 14}))
	for tokens, want := range map[int]string{0: "", 1: "", 2: "b", 3: "a", 4: "a", 5: "a b", 12: "a b", 13: "d a", 14: "d a", 15: ""} {
		if got := contents(sweep.Selection(tokens)); got != want {
			t.Errorf("at %d tokens: got %q, want %q", tokens, got, want)
		}
	}
}

func TestSweepJSON(t *testing.T) {
	items := []*cupel.ContextItem{item("p", 2, cupel.WithPinned()), scored("a", 1, 0.5)}
	sweep := must(analysis.Sweep(t.Context(), pipeline(slicer.Greedy{}), items, analysis.BudgetRange{To: 5}))
	text, err := json.Marshal(sweep)
	const want = `{"from":0,"to":5,"stride":1,"items":[` +
		`{"content":"p","tokens":2,"kind":"Message","source":"Chat","pinned":true},` +
		`{"content":"a","tokens":1,"kind":"Message","source":"Chat","futureRelevanceHint":0.5}],"steps":[` +
		`{"budget":0,"tokens":0,"included":0,"came":[],"went":[],"error":"cupel: Pinned items require 2 tokens, but only 0 are available"},` +
		`{"budget":2,"tokens":2,"included":1,"came":[0],"went":[]},` +
		`{"budget":3,"tokens":3,"included":2,"came":[1],"went":[]}]}`
	if err != nil || string(text) != want {
		t.Errorf("got %s, %v\nwant %s", text, err, want)
	}
	items[0] = nil
	if sweep.Items[0] == nil {
		t.Error("the sweep keeps the caller's list")
	}
	sweep = must(analysis.Sweep(t.Context(), pipeline(slicer.Greedy{}), nil, analysis.BudgetRange{}))
	text, err = json.Marshal(sweep)
	const empty = `{"from":0,"to":0,"stride":1,"items":[],"steps":[{"budget":0,"tokens":0,"included":0,"came":[],"went":[]}]}`
	if err != nil || string(text) != empty {
		t.Errorf("got %s, %v\nwant %s: lists are never null (R38)", text, err, empty)
	}
	sweep.Items = []*cupel.ContextItem{item("\xff", 1)}
	if _, err := json.Marshal(sweep); !errors.Is(err, cupel.ErrUnencodable) {
		t.Errorf("got error %v, want text that is not UTF-8 to be refused", err)
	}
}

func TestNilBudgetSweep(t *testing.T) {
	var nothing *analysis.BudgetSweep
	if got := nothing.Selection(0); got != nil {
		t.Errorf("got %v, want nothing", got)
	}
}

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
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
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
		if step.Error != "" {
			b.WriteString(" " + strings.TrimPrefix(step.Error, "cupel: "))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestSweep(t *testing.T) {
	// Densities: a 0.1, d 0.09, b 0.08.
	a, b, d := scored("a", 3, 0.3), scored("b", 2, 0.16), scored("d", 10, 0.9)
	pinned := item("p", 4, cupel.WithPinned())
	tests := []struct {
		name     string
		items    []*cupel.ContextItem
		slicer   strategy.Slicer
		overflow pipeline.OverflowStrategy
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
			name: "a stride", items: []*cupel.ContextItem{d, a, b}, budgets: analysis.BudgetRange{From: 4, To: 20, Stride: 4},
			want: []string{"4: 3/1 +a", "8: 5/2 +b", "16: 15/3 +d"}, why: "budgets in between are not looked at: b seems never to have gone",
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
			name: "the end of the reserve", items: []*cupel.ContextItem{d}, budgets: analysis.BudgetRange{From: 2, To: 8}, base: budget(99, 9, cupel.WithOutputReserve(7)),
			want: []string{"2: 0/0 invalid budget: outputReserve must be at most maxTokens (2), got 7", "7: 0/0"}, why: "a run that succeeds is a step, although nothing is included",
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
			p := newPipeline(s, overflow(tt.overflow), keepDuplicates)
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
	own := sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
		return strategy.Selection{}, &cupel.InvalidBudgetError{Field: "x", Reason: "is mine"}
	})
	const outside = "cupel: a sweep goes from at least 0 to no less, with a stride of at least 1, got "
	for _, tt := range []struct {
		pipeline *pipeline.Pipeline
		budgets  analysis.BudgetRange
		want     string
		why      string
	}{
		{newPipeline(slicer.Greedy{}), analysis.BudgetRange{From: -1}, outside + "{From:-1 To:0 Stride:1}", "no such budget exists"},
		{newPipeline(slicer.Greedy{}), analysis.BudgetRange{From: 2, To: 1}, outside + "{From:2 To:1 Stride:1}", "an empty range has no first step"},
		{newPipeline(slicer.Greedy{}), analysis.BudgetRange{Stride: -1}, outside + "{From:0 To:0 Stride:-1}", "it would never end"},
		{nil, analysis.BudgetRange{}, "cupel: the pipeline is empty: build it with New (Pipeline)", "and no panic"},
		{newPipeline(own), analysis.BudgetRange{}, "cupel: slicer strategy.SlicerFunc failed: cupel: invalid budget: x is mine", "what looks like a budget is the slicer's own"},
	} {
		got, err := analysis.Sweep(t.Context(), tt.pipeline, nil, tt.budgets)
		wantError(t, err, tt.want, tt.why)
		if got != nil {
			t.Errorf("got %+v with the error", got)
		}
	}
}

// TestMaxBudgets has slicers for which something may change at every budget.
func TestMaxBudgets(t *testing.T) {
	quota := slicer.Must(slicer.NewQuota(slicer.Greedy{}, slicer.Cap("Message", 0)))
	huge := slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{{Kind: "Message", RequireCount: 1, CapCount: 1}}))
	a := scored("a", math.MaxInt/4+1, 0.9)
	items := []*cupel.ContextItem{a}
	for _, tt := range []struct {
		name     string
		slicer   strategy.Slicer
		from, to int
		max      int
		next     int // of the error; 0 for none
		why      string
	}{
		{"sliced again", selects(0), 0, math.MaxInt/2 + 1, 100, 100, "a custom slicer may change its mind at any budget"},
		{"a quota", quota, 0, math.MaxInt/8 + 1, 100, 100, "a share may move with every token"},
		{"an overflow", huge, 0, math.MaxInt/8 + 1, 100, 100, "the run fails at each budget below what is committed, which is not the slicer's to know"},
		{"one too many", selects(0), 0, 100, 100, 100, "and no more"},
		{"greedy", slicer.Greedy{}, 0, math.MaxInt/2 + 1, 3, 0, "only budgets of nothing, of one token and that of a are looked at"},
		{"less than one", slicer.Greedy{}, 0, 9, 0, 0, "0 is no limit"},
	} {
		_, err := analysis.Sweep(t.Context(), newPipeline(tt.slicer), items, analysis.BudgetRange{From: tt.from, To: tt.to}, analysis.WithMaxBudgets(tt.max))
		tooMany, ok := compat.AsType[*analysis.TooManyBudgetsError](err)
		if tt.next == 0 && err != nil || tt.next > 0 && (!ok || *tooMany != (analysis.TooManyBudgetsError{MaxBudgets: tt.max, NextBudget: tt.next})) {
			t.Errorf("%s: got %v, want it to give up before %d: %s", tt.name, err, tt.next, tt.why)
		}
	}
	b := scored("b", 7, 0.5)
	_, _, err := analysis.FindMinBudgetForExhaustive(t.Context(), newPipeline(selects(0)), []*cupel.ContextItem{b}, b, math.MaxInt, analysis.WithMaxBudgets(3))
	wantError(t, err, "cupel: gave up before a budget of 10 tokens after looking at 3 budgets: use a shorter range, a longer stride or WithMaxBudgets", "7, 8 and 9 do not include it")
}

func TestSweepJSON(t *testing.T) {
	items := []*cupel.ContextItem{item("p", 2, cupel.WithPinned()), scored("a", 1, 0.5)}
	sweep := must(analysis.Sweep(t.Context(), newPipeline(slicer.Greedy{}), items, analysis.BudgetRange{To: 5}))
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
	sweep = must(analysis.Sweep(t.Context(), newPipeline(slicer.Greedy{}), nil, analysis.BudgetRange{}))
	const empty = `{"from":0,"to":0,"stride":1,"items":[],"steps":[{"budget":0,"tokens":0,"included":0,"came":[],"went":[]}]}`
	if text, err = json.Marshal(sweep); err != nil || string(text) != empty {
		t.Errorf("got %s, %v\nwant %s: lists are never null (R38)", text, err, empty)
	}
}

// failing is a slicer that fails.
func failing(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
	return strategy.Selection{}, errBroken
}

var errBroken = errors.New("broken")

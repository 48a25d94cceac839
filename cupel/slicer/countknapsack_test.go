package slicer_test

import (
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

func TestCountConstrainedKnapsack(t *testing.T) {
	list := func(items ...cupel.ScoredItem) []cupel.ScoredItem { return items }
	tests := []struct {
		bucket  int
		entries []slicer.CountQuotaEntry
		sliceCase
	}{
		{100, []slicer.CountQuotaEntry{entry("tool", 2, 4)}, sliceCase{name: "outline 1, baseline",
			items: list(it("tool", 100, 0.9), it("tool", 100, 0.7), it("msg", 100, 0.5)), budget: target(1000), want: []int{0, 1, 2},
			why: "both tools are committed, the knapsack takes the message; no shortfalls, no cap exclusions"}},
		{100, []slicer.CountQuotaEntry{entry("tool", 1, 2)}, sliceCase{name: "outline 2, cap exclusion",
			items: list(it("tool", 100, 0.9), it("tool", 100, 0.8), it("tool", 100, 0.7), it("tool", 100, 0.6)), budget: target(600), want: []int{0, 1},
			drops: []cupel.Drop{capped(2, "tool", 2, 2), capped(3, "tool", 2, 2)},
			why:   "one is committed, all others fit, and the best of them fills the cap"}},
		{100, []slicer.CountQuotaEntry{entry("tool", 3, 5)}, sliceCase{name: "outline 3, scarcity degrade",
			items: list(it("tool", 100, 0.9)), budget: target(500), want: []int{0},
			shortfalls: []cupel.CountRequirementShortfall{short("tool", 3, 1)},
			why:        "one candidate of three: taken, and a shortfall"}},
		{100, []slicer.CountQuotaEntry{entry("tool", 1, 4), entry("memory", 1, 4)}, sliceCase{name: "outline 4, two kinds",
			items: list(it("tool", 100, 0.9), it("memory", 100, 0.8), it("tool", 100, 0.5)), budget: target(1000), want: []int{0, 1, 2},
			why: "each kind is satisfied on its own, the other tool comes from the knapsack"}},
		{1, []slicer.CountQuotaEntry{entry("tool", 2, 2)}, sliceCase{name: "outline 5, require and cap",
			items: list(it("tool", 100, 0.9), it("msg", 50, 0.8), it("tool", 100, 0.7), it("msg", 150, 0.6), it("msg", 200, 0.4)), budget: target(1000), want: []int{0, 2, 1, 3, 4},
			why: "both tools are committed, and all messages fit into the other 800"}},
		{100, nil, sliceCase{name: "empty list", budget: target(100),
			why: "edge case: nothing to choose from"}},
		{100, []slicer.CountQuotaEntry{entry("a", 1, 1)}, sliceCase{name: "target zero",
			items: list(it("b", 0, 0.5)), budget: cupel.SliceBudget{MaxTokens: 10},
			why: "edge case and R19: returns before phase 1, no shortfall"}},
		{100, nil, sliceCase{name: "no entries",
			items: list(it("a", 600, 0.9), it("a", 500, 0.6), it("b", 500, 0.6), it("c", 0, 0)), budget: target(1000), want: []int{1, 2, 3},
			why: "edge case: an unconstrained knapsack, but in order of score, ties by position (R20)"}},
		{100, []slicer.CountQuotaEntry{entry("a", 1, 1)}, sliceCase{name: "require equals cap",
			items: list(it("a", 100, 0.9), it("a", 100, 0.8), it("b", 100, 0.7)), budget: target(1000), want: []int{0, 2},
			drops: []cupel.Drop{capped(1, "a", 1, 1)},
			why:   "edge case and D181: the committed one counts, so phase 3 adds no more"}},
		{100, []slicer.CountQuotaEntry{entry("a", 0, 1)}, sliceCase{name: "cap spent on the best",
			items: list(it("a", 100, 0.9), it("a", 100, 0.8), it("b", 100, 0.7)), budget: target(1000), want: []int{0, 2},
			drops: []cupel.Drop{capped(1, "a", 1, 1)},
			why:   "D180: the knapsack returns the last first; without sorting the worse one would stay"}},
		{100, []slicer.CountQuotaEntry{entry("a", 0, 1)}, sliceCase{name: "cap spent on the best, unsorted",
			items: list(it("b", 100, 0.2), it("a", 100, 0.3), it("a", 100, 0.8)), budget: target(1000), want: []int{2, 0},
			drops: []cupel.Drop{capped(1, "a", 1, 1)},
			why:   "D180: by score, not by position"}},
		{100, []slicer.CountQuotaEntry{entry("a", 0, 1)}, sliceCase{name: "cap with ties",
			items: list(it("a", 100, 0.5), it("a", 0, 0.5), it("a", 100, 0.5)), budget: target(1000), want: []int{0},
			drops: []cupel.Drop{capped(1, "a", 1, 1), capped(2, "a", 1, 1)},
			why:   "R20: equal scores by position in the list; an item without tokens is no better"}},
		{100, []slicer.CountQuotaEntry{entry("a", 2, 2)}, sliceCase{name: "budget exhausted",
			items: list(it("a", 600, 0.9), it("a", 600, 0.8), it("b", 0, 0.7)), budget: target(1000), want: []int{0, 1},
			why: "edge case: the knapsack gets a target of 0 and selects nothing, items without tokens included (R7)"}},
		{100, []slicer.CountQuotaEntry{entry("a", 0, 1)}, sliceCase{name: "cap waste",
			items: list(it("a", 500, 0.9), it("a", 500, 0.8), it("b", 500, 0.7)), budget: target(1000), want: []int{0},
			drops: []cupel.Drop{capped(1, "a", 1, 1)},
			why:   "trade-off of the chapter: what the cap drops has used capacity, and b stays out"}},
		{100, []slicer.CountQuotaEntry{entry("A", 1, 1)}, sliceCase{name: "folding",
			items: list(it("a", 100, 0.9), it("A", 100, 0.8)), budget: target(1000), want: []int{0},
			drops: []cupel.Drop{capped(1, "A", 1, 1)},
			why:   "conformance note: one kind regardless of its case, spelled as the entry does"}},
		{100, []slicer.CountQuotaEntry{entry("a", 1, 2)}, sliceCase{name: "worth nothing is committed",
			items: list(it("b", 100, 0.5), it("a", 100, 0), it("a", 100, 0)), budget: target(1000), want: []int{1, 0},
			why: "phase 1 takes by rank; the knapsack never takes an item worth 0 (R16), and the cap has nothing to do"}},
	}
	names := make(map[string]bool)
	for _, tt := range tests {
		if names[tt.name] {
			t.Errorf("two rows are called %q", tt.name)
		}
		names[tt.name] = true
		t.Run(tt.name, func(t *testing.T) {
			k := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(tt.bucket)))
			tt.check(t, slicer.Must(slicer.NewCountConstrainedKnapsack(k, tt.entries)))
		})
	}
}

func TestNewCountConstrainedKnapsackRefuses(t *testing.T) {
	runConfigCases(t, "CountConstrainedKnapsackSlice", append(countEntryCases(func(scarcity slicer.ScarcityBehavior, entries ...slicer.CountQuotaEntry) (cupel.Slicer, error) {
		return erased(slicer.NewCountConstrainedKnapsack(new(slicer.Knapsack), entries, slicer.WithScarcity(scarcity)))
	}), configCase{"no knapsack", func() (cupel.Slicer, error) {
		return erased(slicer.NewCountConstrainedKnapsack(nil, nil))
	}, "knapsack", "knapsack must not be nil", "there is nothing to delegate to"}))
}

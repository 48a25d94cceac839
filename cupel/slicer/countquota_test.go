package slicer_test

import (
	"errors"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func TestCountQuota(t *testing.T) {
	runRecorded(t, []recordedRow{
		{"", "a 60 0.9, b 60 0.8", "100", "100/100 0.9 0.8", "[1 0]", "nothing is committed, the inner slicer has all"},
		{"a 2 2", "a 10 0.9, b 10 0.8, a 10 0.7, a 10 0.6", "100", "80/100 0.8 0.6", "[0 2 1] drop 3 a 2/2", "two are committed, and no more can be added"},
		{"a 0 1", "a 10 0.9, b 10 0.8, a 10 0.7", "100", "100/100 0.9 0.8 0.7", "[2 1] drop 0 a 1/1", "caps go in the order of the inner slicer"},
		{"a 3 5", "a 10 0.9, b 10 0.8", "100", "90/100 0.8", "[0 1] short a 1/3", "Degrade takes what there is"},
		{"gone 1 1", "b 10 0.8", "100", "100/100 0.8", "[0] short gone 0/1", "R19: a kind without candidates is a shortfall too"},
		{"a 2 2", "a 60 0.9, a 60 0.8, b 1 0.5", "100", "0/100 0.5", "[0 1 2]", "R20: 120 of 100 tokens; the target is never less than 0"},
		{"a 1 2", "a 10 0.9, b 10 0.8", "100/500", "90/500 0.8", "[0 1]", "the ceiling is passed through"},
		{"", "b 10 0.8", "100/50", "50/50 0.8", "[0]", "min(residualTarget, maxTokens), in a direct call"},
		{"a 2 9", "a 1 0.1, b 1 0.5, a 2 0.7, a 3 0.9", "100", "95/100 0.1 0.5", "[3 2 1 0]", "the best, regardless of the order of the list"},
		{"a 2 9", "a 1 0.5, a 2 0.5, a 4 0.5", "100", "97/100 0.5", "[0 1 2]", "R19: equal scores by position"},
		{"a 3 9", "a 1 nan, a 2 -inf, a 4 inf", "100", "93/100", "[2 1 0]", "R8: +Inf first, NaN after -Inf"},
		{"b 1 9, a 1 9", "a 10 0.9, b 10 0.8, a 10 0.6", "100", "80/100 0.6", "[1 0 2]", "R19: b's entry comes first"},
		{"c 1 9, b 2 9, a 1 1", "a 10 0.9", "100", "90/100", "[0] short c 0/1 short b 0/2", "R19: shortfalls in the order of the entries"},
		{"TOOL 1 1, message 3 3", "tool 10 0.9, Message 10 0.8, Tool 10 0.7", "100", "80/100 0.7", "[0 1] drop 2 TOOL 1/1 short Message 1/3", "R2: spelled as in the entry, or canonically"},
		{"ä 1 1", "Ä 10 0.9", "100", "100/100 0.9", "[0] short ä 0/1", "R2: without ASCII case only"},
		{"a 0 0", "a 0 0.9, b 10 0.8", "100", "100/100 0.9 0.8", "[1] drop 0 a 0/0", "R19: cap 0 leaves the kind out"},
		{"a 1 3", "a 10 0.9, a 1 0.8, a 1 0.7, a 1 0.6, a 1 0.5", "100", "90/100 0.8 0.7 0.6 0.5", "[0 4 3] drop 2 a 3/3 drop 1 a 3/3", "R31: what was committed counts"},
		{"a 3 3", "a 2^62 0.9, a 2^62 0.8, a 2^62 0.7, b 1 0.5", "1000", "0/1000 0.5", "[0 1 2 3]", "R5: 3 * 2^62 does not wrap"},
		{"a 1 2", "a 10 0.5, again", "100", "90/100 0.5", "[0 1]", "R1: committing a position leaves the other"},
		{"a 2 9", "a -50 0.9, a 10 0.8, b 1 0.7", "100", "90/100 0.9 0.7", "[1 2 0] short a 1/2", "negative tokens are not committed"},
		{"a 1 1", "a 0 0.5, b 1 0.4", "9", "9/9 0.4", "[0 1]", "what has no tokens is committed too"},
		{"a 1 1", "- 0 0.5", "10", "10/10 0.5", "[0] short a 0/1", "a position without an item has the kind \"\""},
	}, func(inner strategy.Slicer, entries string) strategy.Slicer {
		return slicer.Must(slicer.NewCountQuota(inner, countsOf(entries)))
	})
	runRecorded(t, []recordedRow{
		{"a 3 3", "", "100", "", "[]", "R19: nothing is short of an empty list, even under Throw"},
		{"a 3 3", "b 0 1", "0/9", "", "[]", "R19: target 0 returns before phase 1"},
		{"a 3 3", "b 0 1", "-1", "", "[]", "a target below 0, in a direct call"},
		{"a 1 1", "a 5 1", "1", "0/1", "[0]", "one token is a target"},
	}, func(inner strategy.Slicer, entries string) strategy.Slicer {
		return slicer.Must(slicer.NewCountQuota(inner, countsOf(entries), slicer.WithScarcity(slicer.ScarcityThrow)))
	})
}

func TestCountSlicersThrow(t *testing.T) {
	countQuota := func(entries string) strategy.Slicer {
		return slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, countsOf(entries), slicer.WithScarcity(slicer.ScarcityThrow)))
	}
	knapsack := slicer.Must(slicer.NewCountConstrainedKnapsack(new(slicer.Knapsack), countsOf("Tool 3 5"), slicer.WithScarcity(slicer.ScarcityThrow)))
	const pool = "Slice: candidate pool for kind "
	for _, tt := range []struct {
		slicer    strategy.Slicer
		want, why string
	}{
		{countQuota("Tool 3 5"), "cupel: CountQuota" + pool + "'Tool' has 2 items but RequireCount is 3.", "the chapter's form with its own name"},
		{knapsack, "cupel: CountConstrainedKnapsack" + pool + "'Tool' has 2 items but RequireCount is 3.", "the text of the chapter"},
		{countQuota("tool 1 1, y 2 2, x 1 1"), "cupel: CountQuota" + pool + "'y' has 0 items but RequireCount is 2.", "the first entry that is short ends the call"},
		{slicer.Must(slicer.NewQuota(countQuota("tool 3 3"))), "cupel: CountQuota" + pool + "'tool' has 2 items but RequireCount is 3.", "it passes through wrappers"},
		{countQuota("tool 2 2"), "[0 2 1]", "the requirement is met"},
	} {
		if got := sliced(t, tt.slicer, listOf("tool 10 0.9, b 10 0.8, TOOL 10 0.7"), target(100)); got != tt.want {
			t.Errorf("got %s, want %s: %s", got, tt.want, tt.why)
		}
	}
}

// wrapped is a wrapper of someone else's.
type wrapped struct{ strategy.Slicer }

func (w wrapped) Facts() strategy.Facts {
	return strategy.Facts{Of: w, Slicers: []strategy.Slicer{w.Slicer}}
}

func TestCountSlicersRefuse(t *testing.T) {
	knapsack := slicer.Must(slicer.NewKnapsack())
	counted := slicer.Must(slicer.NewCountConstrainedKnapsack(knapsack, nil))
	around := func(inner strategy.Slicer) error { return failed(slicer.NewCountQuota(inner, nil)) }
	for component, build := range map[string]func([]slicer.CountQuotaEntry, ...slicer.CountOption) error{
		"CountQuotaSlice": func(entries []slicer.CountQuotaEntry, opts ...slicer.CountOption) error {
			return failed(slicer.NewCountQuota(slicer.Greedy{}, entries, opts...))
		},
		"CountConstrainedKnapsackSlice": func(entries []slicer.CountQuotaEntry, opts ...slicer.CountOption) error {
			return failed(slicer.NewCountConstrainedKnapsack(knapsack, entries, opts...))
		},
	} {
		of := func(entries string) error { return build(countsOf(entries), nil) }
		runRefusals(t, component, []refusal{
			{of("x 1 1, a 3 2"), "requireCount must be at most capCount (2)", "entries[1].requireCount = 3"},
			{of("a 1 0"), "a zero cap with a positive requirement can never be satisfied", "entries[0].capCount = 0"},
			{of("a -1 2"), "requireCount must be at least 0", "entries[0].requireCount = -1"},
			{of("a 0 -1"), "capCount must be at least 0", "entries[0].capCount = -1"},
			{build([]slicer.CountQuotaEntry{entry("\u2003", 0, 1)}), "kind must not be blank", `entries[0].kind = "\u2003"`},
			{of("message 0 1, MESSAGE 1 1"), "kind has an entry already, entries[0]: kinds are compared without ASCII case", `entries[1].kind = "MESSAGE"`},
			{build(nil, slicer.WithScarcity(2)), "scarcityBehavior must be Degrade or Throw", "scarcityBehavior = ScarcityBehavior(2)"},
		})
	}
	runRefusals(t, "CountConstrainedKnapsackSlice", []refusal{{failed(slicer.NewCountConstrainedKnapsack(nil, nil)), "knapsack must not be nil", "knapsack"}})
	runRefusals(t, "CountQuotaSlice", []refusal{{around(nil), "inner slicer must not be nil", "inner"}})

	const guard = "CountQuotaSlice does not support KnapsackSlice as the inner slicer, at any depth: use GreedySlice as the inner slicer instead, or CountConstrainedKnapsackSlice in place of CountQuotaSlice"
	quota := func(inner strategy.Slicer) strategy.Slicer { return slicer.Must(slicer.NewQuota(inner)) }
	for _, inner := range []strategy.Slicer{knapsack, slicer.Knapsack{}, quota(wrapped{quota(slicer.Knapsack{})}), counted, quota(counted)} { // R21
		bad, ok := around(inner).(*cupel.InvalidConfigError)
		if !ok || bad.Field != "inner" || bad.Reason != guard {
			t.Errorf("around %T: %v", inner, bad)
		}
	}
	for _, inner := range []strategy.Slicer{(*slicer.CountQuota)(nil), new(slicer.CountQuota), wrapped{}} {
		if err := around(inner); !errors.Is(err, cupel.ErrInvalidConfig) {
			t.Errorf("around %T that was not built: %v", inner, err)
		}
	}
	if err := around(quota(slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, nil)))); err != nil {
		t.Errorf("a CountQuota around a Quota around a CountQuota is refused: %v", err)
	}
}

// Settings are copied.
func TestCountSlicersDoNotKeepTheCallersSettings(t *testing.T) {
	entries := countsOf("a 0 1")
	knapsack := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(1)))
	both := []strategy.Slicer{slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, entries)), slicer.Must(slicer.NewCountConstrainedKnapsack(knapsack, entries))}
	quotas := quotasOf("a 0 50")
	both = append(both, slicer.Must(slicer.NewQuota(slicer.Greedy{}, quotas...)))
	entries[0], quotas[0], *knapsack = entry("a", 0, 0), slicer.Cap("a", 0), slicer.Knapsack{}
	for _, s := range both {
		if got := sliced(t, s, listOf("a 5 1"), target(10)); got != "[0]" {
			t.Errorf("%T: %s", s, got)
		}
	}
}

func TestScarcityBehaviorString(t *testing.T) {
	for b, want := range map[slicer.ScarcityBehavior]string{0: "Degrade", slicer.ScarcityThrow: "Throw", 7: "ScarcityBehavior(7)"} {
		if got := b.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

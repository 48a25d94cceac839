package slicer_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// entry is a CountQuotaEntry without field names.
func entry(kind cupel.ContextKind, require, cap int) slicer.CountQuotaEntry {
	return slicer.CountQuotaEntry{Kind: kind, RequireCount: require, CapCount: cap}
}

// capped is what a count slicer says about an item beyond a cap.
func capped(index int, kind cupel.ContextKind, cap, count int) cupel.Drop {
	return cupel.Drop{Index: index, Reason: cupel.NewExclusionReason(cupel.ExcludeCountCapExceeded, cupel.ReasonData{Kind: kind, Cap: cap, Count: count})}
}

func short(kind cupel.ContextKind, required, satisfied int) cupel.CountRequirementShortfall {
	return cupel.CountRequirementShortfall{Kind: kind, RequiredCount: required, SatisfiedCount: satisfied}
}

// countCase is a call of a count slicer around a recorder, which selects
// everything it gets from the last to the first.
type countCase struct {
	entries []slicer.CountQuotaEntry
	call    call // what the recorder gets; scores name the items
	sliceCase
}

func TestCountQuota(t *testing.T) {
	const big62 = math.MaxInt/2 + 1
	list := func(items ...cupel.ScoredItem) []cupel.ScoredItem { return items }
	entries := func(e ...slicer.CountQuotaEntry) []slicer.CountQuotaEntry { return e }
	twice := it("a", 10, 0.5)
	cases := []countCase{
		{nil, call{[]float64{0.9, 0.8}, target(100)}, sliceCase{name: "no entries",
			items: list(it("a", 60, 0.9), it("b", 60, 0.8)), budget: target(100), want: []int{1, 0},
			why: "edge case: nothing is committed, the inner slicer runs unconstrained"}},
		{entries(entry("a", 2, 2)), call{[]float64{0.8, 0.6}, cupel.SliceBudget{MaxTokens: 100, TargetTokens: 80}}, sliceCase{name: "require equals cap",
			items: list(it("a", 10, 0.9), it("b", 10, 0.8), it("a", 10, 0.7), it("a", 10, 0.6)), budget: target(100), want: []int{0, 2, 1},
			drops: []cupel.Drop{capped(3, "a", 2, 2)},
			why:   "edge case: two are committed, and no more of the kind can be added"}},
		{entries(entry("a", 0, 1)), call{[]float64{0.9, 0.8, 0.7}, target(100)}, sliceCase{name: "cap without require",
			items: list(it("a", 10, 0.9), it("b", 10, 0.8), it("a", 10, 0.7)), budget: target(100), want: []int{2, 1},
			drops: []cupel.Drop{capped(0, "a", 1, 1)},
			why:   "edge case: nothing is committed, the inner selection is capped in the order in which the inner slicer returned it"}},
		{entries(entry("a", 3, 5)), call{[]float64{0.8}, cupel.SliceBudget{MaxTokens: 100, TargetTokens: 90}}, sliceCase{name: "too few candidates",
			items: list(it("a", 10, 0.9), it("b", 10, 0.8)), budget: target(100), want: []int{0, 1},
			shortfalls: []cupel.CountRequirementShortfall{short("a", 3, 1)},
			why:        "edge case: Degrade takes what there is and records a shortfall"}},
		{entries(entry("gone", 1, 1)), call{[]float64{0.8}, target(100)}, sliceCase{name: "no candidates",
			items: list(it("b", 10, 0.8)), budget: target(100), want: []int{0},
			shortfalls: []cupel.CountRequirementShortfall{short("gone", 1, 0)},
			why:        "R19: a kind without any candidate is a shortfall like any other"}},
		{entries(entry("a", 2, 2)), call{[]float64{0.5}, cupel.SliceBudget{MaxTokens: 100, TargetTokens: 0}}, sliceCase{name: "budget exhausted",
			items: list(it("a", 60, 0.9), it("a", 60, 0.8), it("b", 1, 0.5)), budget: target(100), want: []int{0, 1, 2},
			why: "edge case and R20: 120 of 100 tokens are committed without looking at the budget; the inner slicer gets a target of 0, never less"}},
		{entries(entry("a", 1, 2)), call{[]float64{0.8}, cupel.SliceBudget{MaxTokens: 500, TargetTokens: 90}}, sliceCase{name: "ceiling unchanged",
			items: list(it("a", 10, 0.9), it("b", 10, 0.8)), budget: cupel.SliceBudget{MaxTokens: 500, TargetTokens: 100}, want: []int{0, 1},
			why: "conformance note: the target is reduced, maxTokens is passed through"}},
		{nil, call{[]float64{0.8}, cupel.SliceBudget{MaxTokens: 50, TargetTokens: 50}}, sliceCase{name: "target above the ceiling",
			items: list(it("b", 10, 0.8)), budget: cupel.SliceBudget{MaxTokens: 50, TargetTokens: 100}, want: []int{0},
			why: "the pseudocode's min(residualTarget, maxTokens), in a direct call"}},
		{entries(entry("a", 2, 9)), call{[]float64{0.1, 0.5}, cupel.SliceBudget{MaxTokens: 100, TargetTokens: 95}}, sliceCase{name: "sorts each kind",
			items: list(it("a", 1, 0.1), it("b", 1, 0.5), it("a", 2, 0.7), it("a", 3, 0.9)), budget: target(100), want: []int{3, 2, 1, 0},
			why: "conformance note: the best are committed, regardless of the order of the list"}},
		{entries(entry("a", 2, 9)), call{[]float64{0.5}, cupel.SliceBudget{MaxTokens: 100, TargetTokens: 97}}, sliceCase{name: "sorts stably",
			items: list(it("a", 1, 0.5), it("a", 2, 0.5), it("a", 4, 0.5)), budget: target(100), want: []int{0, 1, 2},
			why: "R19: equal scores are committed by position"}},
		{entries(entry("a", 3, 9)), call{[]float64{}, cupel.SliceBudget{MaxTokens: 100, TargetTokens: 93}}, sliceCase{name: "NaN last",
			items: list(it("a", 1, nan), it("a", 2, negInf), it("a", 4, inf)), budget: target(100), want: []int{2, 1, 0},
			why: "R8: +Inf first, NaN after -Inf"}},
		{entries(entry("b", 1, 9), entry("a", 1, 9)), call{[]float64{0.6}, cupel.SliceBudget{MaxTokens: 100, TargetTokens: 80}}, sliceCase{name: "configuration order",
			items: list(it("a", 10, 0.9), it("b", 10, 0.8), it("a", 10, 0.6)), budget: target(100), want: []int{1, 0, 2},
			why: "R19: b's entry comes first, although a's candidates do"}},
		{entries(entry("c", 1, 9), entry("b", 2, 9), entry("a", 1, 1)), call{[]float64{}, cupel.SliceBudget{MaxTokens: 100, TargetTokens: 90}}, sliceCase{name: "shortfalls in configuration order",
			items: list(it("a", 10, 0.9)), budget: target(100), want: []int{0},
			shortfalls: []cupel.CountRequirementShortfall{short("c", 1, 0), short("b", 2, 0)},
			why:        "R19: in the order made"}},
		{entries(entry("TOOL", 1, 1), entry("message", 3, 3)), call{[]float64{0.7}, cupel.SliceBudget{MaxTokens: 100, TargetTokens: 80}}, sliceCase{name: "folding and spelling",
			items: list(it("tool", 10, 0.9), it("Message", 10, 0.8), it("Tool", 10, 0.7)), budget: target(100), want: []int{0, 1},
			drops:      []cupel.Drop{capped(2, "TOOL", 1, 1)},
			shortfalls: []cupel.CountRequirementShortfall{short("Message", 3, 1)},
			why:        "R2: one kind regardless of its case; reports spell it as the entry does, well-known names canonically"}},
		{entries(entry("ä", 1, 1)), call{[]float64{0.9}, target(100)}, sliceCase{name: "ASCII folding only",
			items: list(it("Ä", 10, 0.9)), budget: target(100), want: []int{0},
			shortfalls: []cupel.CountRequirementShortfall{short("ä", 1, 0)},
			why:        "R2: these differ by Unicode case alone and are two kinds"}},
		{entries(entry("a", 0, 0)), call{[]float64{0.9, 0.8}, target(100)}, sliceCase{name: "cap 0",
			items: list(it("a", 0, 0.9), it("b", 10, 0.8)), budget: target(100), want: []int{1},
			drops: []cupel.Drop{capped(0, "a", 0, 0)},
			why:   "R19: cap 0 with require 0 is allowed and leaves the kind out"}},
		{entries(entry("a", 1, 3)), call{[]float64{0.8, 0.7, 0.6, 0.5}, cupel.SliceBudget{MaxTokens: 100, TargetTokens: 90}}, sliceCase{name: "count of each drop",
			items: list(it("a", 10, 0.9), it("a", 1, 0.8), it("a", 1, 0.7), it("a", 1, 0.6), it("a", 1, 0.5)), budget: target(100), want: []int{0, 4, 3},
			drops: []cupel.Drop{capped(2, "a", 3, 3), capped(1, "a", 3, 3)},
			why:   "R31: exactly what the cap phase drops, in its order, with the number selected by then; what was committed counts"}},
		{entries(entry("a", 3, 3)), call{[]float64{0.5}, cupel.SliceBudget{MaxTokens: 1000, TargetTokens: 0}}, sliceCase{name: "committed tokens beyond 2^63",
			items: list(it("a", big62, 0.9), it("a", big62, 0.8), it("a", big62, 0.7), it("b", 1, 0.5)), budget: target(1000), want: []int{0, 1, 2, 3},
			why: "R5: 3 * 2^62 does not wrap to a negative sum, which would raise the target"}},
		{entries(entry("a", 1, 2)), call{[]float64{0.5}, cupel.SliceBudget{MaxTokens: 100, TargetTokens: 90}}, sliceCase{name: "one pointer twice",
			items: list(twice, twice), budget: target(100), want: []int{0, 1},
			why: "R1: committing one position leaves the other among the candidates"}},
		{entries(entry("a", 2, 9)), call{[]float64{0.9, 0.7}, cupel.SliceBudget{MaxTokens: 100, TargetTokens: 90}}, sliceCase{name: "negative tokens",
			items: list(it("a", -50, 0.9), it("a", 10, 0.8), it("b", 1, 0.7)), budget: target(100), want: []int{1, 2, 0},
			shortfalls: []cupel.CountRequirementShortfall{short("a", 2, 1)},
			why:        "an item with a negative count is not committed and does not raise the target; the inner slicer may see to it"}},
		{entries(entry("a", 1, 1)), call{[]float64{0.5}, target(10)}, sliceCase{name: "no item",
			items: list(cupel.ScoredItem{Score: 0.5}), budget: target(10), want: []int{0},
			shortfalls: []cupel.CountRequirementShortfall{short("a", 1, 0)},
			why:        "a position without an item has the kind \"\"; it must not panic"}},
	}
	names := make(map[string]bool)
	for _, c := range cases {
		if names[c.name] {
			t.Errorf("two rows are called %q", c.name)
		}
		names[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			rec := new(recorder)
			c.check(t, slicer.Must(slicer.NewCountQuota(rec, c.entries)))
			if !equalCalls(rec.calls, []call{c.call}) {
				t.Errorf("the inner slicer got %v, want %v: %s", rec.calls, c.call, c.why)
			}
		})
	}

	rec := new(recorder)
	runCases(t, slicer.Must(slicer.NewCountQuota(rec, []slicer.CountQuotaEntry{entry("a", 3, 3)}, slicer.WithScarcity(slicer.ScarcityThrow))), []sliceCase{
		{name: "empty list", budget: target(100), why: "edge case and R19: neither shortfall nor error, even under Throw"},
		{name: "target zero", items: list(it("b", 0, 1)), budget: cupel.SliceBudget{MaxTokens: 9}, why: "edge case and R19: returns before phase 1"},
		{name: "target negative", items: list(it("b", 0, 1)), budget: cupel.SliceBudget{TargetTokens: -1}, why: "edge case: <= 0, in a direct call"},
	})
	if len(rec.calls) != 0 {
		t.Errorf("the inner slicer was called for nothing: %v", rec.calls)
	}
}

func TestCountSlicersThrow(t *testing.T) {
	items := []cupel.ScoredItem{it("tool", 10, 0.9), it("b", 10, 0.8), it("TOOL", 10, 0.7)}
	countQuota := func(entries ...slicer.CountQuotaEntry) cupel.Slicer {
		return slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, entries, slicer.WithScarcity(slicer.ScarcityThrow)))
	}
	countKnapsack := func(entries ...slicer.CountQuotaEntry) cupel.Slicer {
		return slicer.Must(slicer.NewCountConstrainedKnapsack(new(slicer.Knapsack), entries, slicer.WithScarcity(slicer.ScarcityThrow)))
	}
	tests := []struct {
		name   string
		slicer cupel.Slicer
		want   string
		why    string
	}{
		{"too few", countQuota(entry("Tool", 3, 5)),
			"cupel: CountQuotaSlice: candidate pool for kind 'Tool' has 2 items but RequireCount is 3.", "R19: the chapter's form with the slicer's own name"},
		{"too few for the knapsack", countKnapsack(entry("Tool", 3, 5)),
			"cupel: CountConstrainedKnapsackSlice: candidate pool for kind 'Tool' has 2 items but RequireCount is 3.", "the exact text of the chapter"},
		{"none", countQuota(entry("message", 1, 1)),
			"cupel: CountQuotaSlice: candidate pool for kind 'Message' has 0 items but RequireCount is 1.", "R19: no candidates at all; R2: canonical spelling"},
		{"first in configuration order", countQuota(entry("tool", 1, 1), entry("y", 2, 2), entry("x", 1, 1)),
			"cupel: CountQuotaSlice: candidate pool for kind 'y' has 0 items but RequireCount is 2.", "the first entry that is short ends the call"},
		{"inside a wrapper", slicer.Must(slicer.NewQuota(countQuota(entry("tool", 3, 3)))),
			"cupel: CountQuotaSlice: candidate pool for kind 'tool' has 2 items but RequireCount is 3.", "the error passes through wrappers as it is"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := cupel.Slice(t.Context(), tt.slicer, items, target(100))
			if _, ok := err.(*cupel.ScarcityError); !ok || err.Error() != tt.want {
				t.Errorf("got %T %q\nwant a ScarcityError %q: %s", err, err, tt.want, tt.why)
			}
		})
	}
	if sel, err := countQuota(entry("tool", 2, 2)).Slice(t.Context(), items, target(100)); err != nil || len(sel.Indices) != 3 {
		t.Errorf("a requirement that is met fails: %v, %v", sel, err)
	}
}

// wrapped is a wrapper of someone else's.
type wrapped struct{ cupel.Slicer }

func (w wrapped) Slicers() []cupel.Slicer { return []cupel.Slicer{w.Slicer} }

func TestNewCountQuotaRefuses(t *testing.T) {
	knapsack := slicer.Must(slicer.NewKnapsack())
	counted := slicer.Must(slicer.NewCountConstrainedKnapsack(knapsack, nil))
	around := func(inner cupel.Slicer) func() (cupel.Slicer, error) {
		return func() (cupel.Slicer, error) { return erased(slicer.NewCountQuota(inner, nil)) }
	}
	const guard = "CountQuotaSlice does not support KnapsackSlice as the inner slicer, at any depth: use GreedySlice as the inner slicer instead, or CountConstrainedKnapsackSlice in place of CountQuotaSlice"
	runConfigCases(t, "CountQuotaSlice", append(countEntryCases(func(scarcity slicer.ScarcityBehavior, entries ...slicer.CountQuotaEntry) (cupel.Slicer, error) {
		return erased(slicer.NewCountQuota(slicer.Greedy{}, entries, slicer.WithScarcity(scarcity)))
	}), []configCase{
		{"no inner slicer", around(nil), "inner", "inner slicer must not be nil", "there is nothing to delegate to"},
		{"knapsack", around(knapsack), "inner", guard, "edge case: the guard at construction"},
		{"knapsack by value", around(slicer.Knapsack{}), "inner", guard, "a Knapsack is a slicer by value as well"},
		{"knapsack in a quota", around(slicer.Must(slicer.NewQuota(knapsack))), "inner", guard, "R21: the guard looks through wrappers"},
		{"knapsack two deep", around(slicer.Must(slicer.NewQuota(wrapped{slicer.Must(slicer.NewQuota(slicer.Knapsack{}))}))), "inner", guard, "R21: at any depth, through wrappers of others"},
		{"count-constrained knapsack", around(counted), "inner", guard, "R21: refused too"},
		{"count-constrained knapsack in a quota", around(slicer.Must(slicer.NewQuota(counted))), "inner", guard, "R21: at any depth"},
	}...))

	var none *slicer.CountQuota
	for name, inner := range map[string]cupel.Slicer{"typed nil": none, "not built": new(slicer.CountQuota), "hidden nil": wrapped{}} {
		if _, err := around(inner)(); !errors.Is(err, cupel.ErrInvalidConfig) {
			t.Errorf("%s inside: got error %v, want an InvalidConfigError", name, err)
		}
	}
	if _, err := around(slicer.Must(slicer.NewQuota(slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, nil)))))(); err != nil {
		t.Errorf("a CountQuota around a Quota around a CountQuota is refused: %v", err)
	}
}

// countEntryCases are the constructions that both count slicers refuse.
func countEntryCases(build func(slicer.ScarcityBehavior, ...slicer.CountQuotaEntry) (cupel.Slicer, error)) []configCase {
	with := func(entries ...slicer.CountQuotaEntry) func() (cupel.Slicer, error) {
		return func() (cupel.Slicer, error) { return build(slicer.ScarcityDegrade, entries...) }
	}
	return []configCase{
		{"require above cap", with(entry("x", 1, 1), entry("a", 3, 2)), "entries[1].requireCount", "requireCount must be at most capCount (2)", "validation rule 1"},
		{"cap 0 with require", with(entry("a", 1, 0)), "entries[0].capCount", "a zero cap with a positive requirement can never be satisfied", "validation rule 2"},
		{"require negative", with(entry("a", -1, 2)), "entries[0].requireCount", "requireCount must be at least 0", "integer >= 0"},
		{"cap negative", with(entry("a", 0, -1)), "entries[0].capCount", "capCount must be at least 0", "integer > 0, or 0"},
		{"blank kind", with(entry("\u2003", 0, 1)), "entries[0].kind", "kind must not be blank", "R2: blank by unicode.IsSpace"},
		{"kind twice", with(entry("message", 0, 1), entry("MESSAGE", 1, 1)), "entries[1].kind", "kind has an entry already, entries[0]: kinds are compared without ASCII case", "R19: duplicates are a construction error"},
		{"unknown behaviour", func() (cupel.Slicer, error) { return build(slicer.ScarcityBehavior(2)) }, "scarcityBehavior", "scarcityBehavior must be Degrade or Throw", "there are two"},
	}
}

func TestScarcityBehaviorString(t *testing.T) {
	for b, want := range map[slicer.ScarcityBehavior]string{0: "Degrade", slicer.ScarcityThrow: "Throw", 7: "ScarcityBehavior(7)"} {
		if got := b.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCountQuotaPassesOnWhatTheInnerSlicerSays(t *testing.T) {
	inner := slicerFunc(func(items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
		return cupel.Selection{
			Indices:    []int{2, 0},
			Drops:      []cupel.Drop{{Index: 1, Reason: cupel.ExclusionReason{Code: cupel.ExcludeFiltered}}},
			Shortfalls: []cupel.CountRequirementShortfall{short("inner", 2, 1)},
		}, nil
	})
	sliceCase{
		items:      []cupel.ScoredItem{it("a", 1, 0.9), it("b", 1, 0.8), it("c", 1, 0.7), it("a", 1, 0.6)},
		budget:     target(10),
		want:       []int{0, 1},
		drops:      []cupel.Drop{{Index: 2, Reason: cupel.ExclusionReason{Code: cupel.ExcludeFiltered}}, capped(3, "a", 1, 1)},
		shortfalls: []cupel.CountRequirementShortfall{short("own", 1, 0), short("inner", 2, 1)},
		why:        "positions of the rest become positions of the list; R19: the outer slicer's shortfalls first",
	}.check(t, slicer.Must(slicer.NewCountQuota(inner, []slicer.CountQuotaEntry{entry("a", 1, 1), entry("own", 1, 1)})))
}

func TestCountSlicersDoNotKeepTheCallersSettings(t *testing.T) {
	entries := []slicer.CountQuotaEntry{entry("a", 0, 1)}
	knapsack := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(1)))
	both := []cupel.Slicer{
		slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, entries)),
		slicer.Must(slicer.NewCountConstrainedKnapsack(knapsack, entries)),
	}
	entries[0] = entry("a", 0, 0)
	*knapsack = slicer.Knapsack{}
	for _, s := range both {
		sliceCase{items: []cupel.ScoredItem{it("a", 5, 1)}, budget: target(10), want: []int{0}, why: "the settings of the constructor count"}.check(t, s)
	}
}

type (
	embedsKnapsack  struct{ slicer.Knapsack }
	knapsackPointer struct{ *slicer.Knapsack }
	knapsackTwice   struct{ knapsackPointer }
	knapsackOwn     struct{ slicer.Knapsack }
	anySlicer       struct{ cupel.Slicer }
	embedsCounted   struct {
		*slicer.CountConstrainedKnapsack
	}
)

func (k knapsackOwn) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	return k.Knapsack.Slice(ctx, items, budget)
}

// TestCountQuotaRefusesEmbeddedKnapsacks has knapsacks by other names (R21).
func TestCountQuotaRefusesEmbeddedKnapsacks(t *testing.T) {
	k := slicer.Must(slicer.NewKnapsack())
	for _, inner := range []cupel.Slicer{
		embedsKnapsack{}, &embedsKnapsack{}, knapsackPointer{k}, knapsackTwice{knapsackPointer{k}}, knapsackOwn{},
		anySlicer{k}, &anySlicer{anySlicer{knapsackOwn{}}},
		embedsCounted{slicer.Must(slicer.NewCountConstrainedKnapsack(k, nil))},
		slicer.Must(slicer.NewQuota(embedsKnapsack{})),
	} {
		if _, err := slicer.NewCountQuota(inner, nil); !errors.Is(err, cupel.ErrInvalidConfig) {
			t.Errorf("%T: got %v, want an InvalidConfigError", inner, err)
		}
	}
	if _, err := slicer.NewCountQuota(anySlicer{slicer.Greedy{}}, nil); err != nil {
		t.Errorf("an embedded Greedy: %v", err)
	}
}

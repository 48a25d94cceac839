package slicer_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

func TestQuotaShares(t *testing.T) {
	const big62 = math.MaxInt/2 + 1
	sub := func(maxTokens, targetTokens int, scores ...float64) call {
		return call{scores, cupel.SliceBudget{MaxTokens: maxTokens, TargetTokens: targetTokens}}
	}
	list := func(items ...cupel.ScoredItem) []cupel.ScoredItem { return items }
	require, limit := slicer.Require, slicer.Cap
	tests := []struct {
		name    string
		entries []slicer.QuotaEntry
		items   []cupel.ScoredItem
		target  int
		calls   []call // scores name the items
		want    []int  // the recorder selects from last to first
		why     string
	}{
		{"empty list", nil, nil, 100, nil, nil, "edge case: nothing to choose from"},
		{"target zero", nil, list(it("a", 0, 1)), 0, nil, nil, "edge case: target 0 chooses nothing"},
		{"target negative", nil, list(it("a", 0, 1)), -5, nil, nil, "edge case: <= 0, in a direct call"},
		{"no entries", nil, list(it("a", 300, 3), it("b", 40, 2), it("b", 60, 1)), 200,
			[]call{sub(200, 150, 3), sub(200, 50, 2, 1)}, []int{0, 2, 1},
			"edge case: proportional only; masses 300 and 100 share 200 as 150 and 50"},
		{"require 100", []slicer.QuotaEntry{require("b", 100)}, list(it("a", 300, 3), it("b", 40, 2), it("c", 0, 1)), 200,
			[]call{sub(200, 200, 2)}, []int{1},
			"edge case: b gets everything, nothing is unassigned, a and c get 0 and are skipped"},
		{"cap 0", []slicer.QuotaEntry{limit("a", 0)}, list(it("a", 300, 3), it("b", 40, 2)), 200,
			[]call{sub(200, 200, 2)}, []int{1},
			"edge case: a is excluded; its mass does not count, so b gets 200*40/40"},
		{"no mass without require", nil, list(it("a", 0, 3), it("b", 40, 2)), 200,
			[]call{sub(200, 200, 2)}, []int{1},
			"edge case: candidates without tokens have no mass, hence no share and no call"},
		{"no mass with require", []slicer.QuotaEntry{require("a", 10)}, list(it("a", 0, 3), it("b", 40, 2)), 200,
			[]call{sub(200, 20, 3), sub(200, 180, 2)}, []int{0, 1},
			"edge case: a gets its require of 20 and no proportional share"},
		{"no mass at all", nil, list(it("a", 0, 3), it("b", 0, 2)), 200, nil, []int{},
			"no kind has mass: nothing is shared out, and nothing is divided by 0"},
		{"no candidates", []slicer.QuotaEntry{require("a", 50)}, list(it("b", 40, 2)), 200,
			[]call{sub(200, 100, 2)}, []int{0},
			"edge case: the 100 tokens required for a stay unused"},
		{"chapter's example", []slicer.QuotaEntry{require("A", 33), require("B", 33)}, list(it("A", 100, 2), it("B", 300, 1)), 1000,
			[]call{sub(1000, 415, 2), sub(1000, 585, 1)}, []int{0, 1},
			"330 each; 340 are left and shared 100:300 as 85 and 255"},
		{"share above cap", []slicer.QuotaEntry{limit("a", 30)}, list(it("a", 300, 3), it("b", 100, 2)), 200,
			[]call{sub(60, 60, 3), sub(200, 50, 2)}, []int{0, 1},
			"a's 150 are cut to 30% of 200; what is cut off stays unused"},
		{"require and cap", []slicer.QuotaEntry{slicer.Between("a", 10, 40)}, list(it("a", 100, 3), it("b", 300, 2)), 200,
			[]call{sub(80, 65, 3), sub(200, 135, 2)}, []int{0, 1},
			"20 required; of the other 180 a gets 45 and b 135; the ceiling is the cap of 80"},
		{"require equals cap", []slicer.QuotaEntry{slicer.Between("a", 25, 25)}, list(it("a", 100, 3), it("b", 100, 2)), 200,
			[]call{sub(50, 50, 3), sub(200, 150, 2)}, []int{0, 1},
			"a cannot receive beyond its require, so its mass is not in the distribution"},
		{"rounding of percentages", []slicer.QuotaEntry{require("a", 29)}, list(it("a", 0, 3)), 100,
			[]call{sub(100, 28, 3)}, []int{0},
			"P6 and R9: 29 / 100.0 * 100 is 28.999999999999996 in IEEE arithmetic, and its floor 28"},
		{"rounding of shares", nil, list(it("a", 1, 3), it("b", 1, 2), it("c", 1, 1)), 100,
			[]call{sub(100, 33, 3), sub(100, 33, 2), sub(100, 33, 1)}, []int{0, 1, 2},
			"P6: floor(100/3) each; one token stays unallocated"},
		{"order of first appearance", []slicer.QuotaEntry{require("a", 10), require("b", 10)}, list(it("c", 10, 6), it("b", 10, 5), it("a", 10, 4), it("b", 10, 3), it("c", 10, 2)), 100,
			[]call{sub(100, 32, 6, 2), sub(100, 42, 5, 3), sub(100, 26, 4)}, []int{4, 0, 3, 1, 2},
			"R18: c, b, a, and the partitions one after the other; 80 are shared 20:20:10 as 32, 32 and 16"},
		{"folding", []slicer.QuotaEntry{limit("TOOLoutput", 50)}, list(it("toolOUTPUT", 10, 3), it("x", 10, 2), it("TOOLOUTPUT", 10, 1)), 100,
			[]call{sub(50, 50, 3, 1), sub(100, 33, 2)}, []int{2, 0, 1},
			"P4: one partition and one entry, regardless of the case; 66 are cut to 50"},
		{"ASCII folding only", []slicer.QuotaEntry{limit("ä", 50), limit("Ä", 20)}, list(it("ä", 10, 3), it("Ä", 10, 2)), 100,
			[]call{sub(50, 50, 3), sub(20, 20, 2)}, []int{0, 1},
			"R2: these differ by Unicode case alone and are two kinds"},
		{"masses beyond 2^64", nil, list(it("a", big62, 5), it("b", big62, 4), it("a", big62, 3), it("a", big62, 2)), 1000,
			[]call{sub(1000, 750, 5, 3, 2), sub(1000, 250, 4)}, []int{3, 2, 0, 1},
			"R5: masses are exact, 3:1 of 2^64"},
		{"product beyond 2^64", nil, list(it("a", big62, 2), it("b", big62, 1)), math.MaxInt,
			[]call{sub(math.MaxInt, math.MaxInt/2, 2), sub(math.MaxInt, math.MaxInt/2, 1)}, []int{0, 1},
			"R18: (2^63-1) * 2^62 / 2^63 = 2^62 - 1/2, rounded down; the ceiling's float is 2^63 and is clamped"},
		{"require of the largest target", []slicer.QuotaEntry{require("a", 100)}, list(it("a", 5, 2)), math.MaxInt,
			[]call{sub(math.MaxInt, math.MaxInt, 2)}, []int{0},
			"100 / 100.0 * (2^63-1) rounds up to 2^63 and must not wrap"},
		{"target that no float is", nil, list(it("a", 5, 2)), math.MaxInt>>10 + 2,
			[]call{sub(math.MaxInt>>10+2, math.MaxInt>>10+2, 2)}, []int{0},
			"the ceiling floor(100/100.0*target) rounds to 2^53; a target must not be above its ceiling"},
		{"negative tokens", nil, list(it("a", 100, 3), it("b", -90, 2), it("b", 100, 1)), 100,
			[]call{sub(100, 50, 3), sub(100, 50, 2, 1)}, []int{0, 2, 1},
			"a negative count takes nothing off a mass, or the shares would sum to more than the target"},
		{"no item", nil, list(cupel.ScoredItem{Score: 2}, it("b", 10, 1)), 10,
			[]call{sub(10, 10, 1)}, []int{1},
			"a position without an item has the kind \"\" and no mass; it must not panic"},
	}
	names := make(map[string]bool)
	for _, tt := range tests {
		if names[tt.name] || tt.why == "" {
			t.Errorf("row %q is there twice or does not say why", tt.name)
		}
		names[tt.name] = true
		t.Run(tt.name, func(t *testing.T) {
			rec := new(recorder)
			q := slicer.Must(slicer.NewQuota(rec, tt.entries...))
			sliceCase{items: tt.items, budget: target(tt.target), want: tt.want, why: tt.why}.check(t, q)
			if !equalCalls(rec.calls, tt.calls) {
				t.Errorf("the inner slicer got\n%v, want\n%v: %s", rec.calls, tt.calls, tt.why)
			}
		})
	}
}

func TestQuotaPassesOnWhatTheInnerSlicerSays(t *testing.T) {
	inner := slicerFunc(func(items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
		last := len(items) - 1
		return cupel.Selection{
			Indices:    []int{last},
			Drops:      []cupel.Drop{{Index: 0, Reason: cupel.NewExclusionReason(cupel.ExcludeFiltered, cupel.ReasonData{FilterName: string(items[0].Item.Kind())})}},
			Shortfalls: []cupel.CountRequirementShortfall{{Kind: items[0].Item.Kind(), RequiredCount: 9}},
		}, nil
	})
	sliceCase{
		items:      []cupel.ScoredItem{it("a", 1, 0.9), it("b", 1, 0.8), it("a", 1, 0.7), it("b", 1, 0.6), it("a", 1, 0.5)},
		budget:     target(10),
		want:       []int{4, 3},
		drops:      []cupel.Drop{{Index: 0, Reason: cupel.NewExclusionReason(cupel.ExcludeFiltered, cupel.ReasonData{FilterName: "a"})}, {Index: 1, Reason: cupel.NewExclusionReason(cupel.ExcludeFiltered, cupel.ReasonData{FilterName: "b"})}},
		shortfalls: []cupel.CountRequirementShortfall{{Kind: "a", RequiredCount: 9}, {Kind: "b", RequiredCount: 9}},
		why:        "positions of a partition become positions of the list; shortfalls keep their order",
	}.check(t, slicer.Must(slicer.NewQuota(inner)))
}

func TestNewQuotaRefuses(t *testing.T) {
	build := func(entries ...slicer.QuotaEntry) func() (cupel.Slicer, error) {
		return func() (cupel.Slicer, error) { return erased(slicer.NewQuota(slicer.Greedy{}, entries...)) }
	}
	const (
		requireRange = "require must be from 0 to 100 percent"
		capRange     = "cap must be from 0 to 100 percent"
		sum          = "the sum of all require percentages must not exceed 100%"
	)
	runConfigCases(t, "QuotaSlice", []configCase{
		{"no inner slicer", func() (cupel.Slicer, error) { return erased(slicer.NewQuota(nil)) }, "inner",
			"inner slicer must not be nil", "there is nothing to delegate to"},
		{"blank kind", build(slicer.Require("a", 1), slicer.Require(" \t", 1)), "entries[1].kind",
			"kind must not be blank", "R2: a blank kind is the configuration's error here"},
		{"kind twice", build(slicer.Require("tool", 1), slicer.Cap("x", 1), slicer.Cap("TOOL", 10)), "entries[2].kind",
			"kind has an entry already, entries[0]: give the kind one entry, with Between; kinds are compared without ASCII case", "R18: duplicates, up to folding"},
		{"require below 0", build(slicer.Require("a", -0.5)), "entries[0].require", requireRange, "range [0, 100]"},
		{"require above 100", build(slicer.Require("a", 100.5)), "entries[0].require", requireRange, "range [0, 100]"},
		{"require NaN", build(slicer.Require("a", nan)), "entries[0].require", requireRange, "NaN is in no range"},
		{"require infinite", build(slicer.Require("a", inf)), "entries[0].require", requireRange, "range [0, 100]"},
		{"cap below 0", build(slicer.Cap("a", -0.5)), "entries[0].cap", capRange, "range [0, 100]"},
		{"cap above 100", build(slicer.Cap("a", 100.5)), "entries[0].cap", capRange, "range [0, 100]"},
		{"cap NaN", build(slicer.Cap("a", nan)), "entries[0].cap", capRange, "NaN is in no range"},
		{"require above cap", build(slicer.Between("a", 50, 49.5)), "entries[0].require",
			"require must be at most the cap of its kind (49.5)", "validation rule 1"},
		{"sum of requires", build(slicer.Require("a", 60), slicer.Require("b", 40.001)), "entries", sum, "validation rule 2"},
		{"sum just above the tolerance", build(slicer.Require("a", 60), slicer.Require("b", 40+2e-9)), "entries", sum, "R18: 100 + 1e-9 at most"},
	})

	var none *slicer.Quota
	for name, inner := range map[string]cupel.Slicer{"typed nil": none, "not built": new(slicer.Quota)} {
		if _, err := slicer.NewQuota(inner); !errors.Is(err, cupel.ErrInvalidConfig) {
			t.Errorf("%s inside: got error %v, want an InvalidConfigError", name, err)
		}
	}
	if _, err := slicer.NewQuota(slicer.Greedy{}, slicer.Require("a", 60), slicer.Require("b", 40+5e-10)); err != nil {
		t.Errorf("a sum within the tolerance of 1e-9 is refused: %v", err)
	}
	if _, err := slicer.NewQuota(slicer.Greedy{}, slicer.Between("a", 0, 0), slicer.Between("b", 100, 100)); err != nil {
		t.Errorf("the ends of the range are refused: %v", err)
	}
}

func TestQuotaDoesNotKeepTheCallersEntries(t *testing.T) {
	entries := []slicer.QuotaEntry{slicer.Cap("a", 50)}
	q := slicer.Must(slicer.NewQuota(slicer.Greedy{}, entries...))
	entries[0] = slicer.Cap("a", 0)
	sliceCase{items: []cupel.ScoredItem{it("a", 5, 1)}, budget: target(10), want: []int{0}, why: "the entry of the constructor counts"}.check(t, q)
}

func TestNewQuotaNamesBetween(t *testing.T) {
	_, err := slicer.NewQuota(slicer.Greedy{}, slicer.Require("Memory", 20), slicer.Cap("Memory", 50))
	if err == nil || !strings.Contains(err.Error(), "with Between") {
		t.Errorf("got %v, want the way to write this", err)
	}
}

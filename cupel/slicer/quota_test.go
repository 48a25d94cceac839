package slicer_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func TestQuotaShares(t *testing.T) {
	runRecorded(t, []recordedRow{
		{"", "", "100", "", "[]", "nothing to choose from"},
		{"", "a 0 1", "0", "", "[]", "target 0 chooses nothing"},
		{"", "a 0 1", "-5", "", "[]", "a target below 0, in a direct call"},
		{"", "a 1 3", "1", "1/1 3", "[0]", "one token is a target"},
		{"", "a 300 3, b 40 2, b 60 1", "200", "150/200 3, 50/200 2 1", "[0 2 1]", "masses 300 and 100 share 200 as 150 and 50"},
		{"b 100 100", "a 300 3, b 40 2, c 0 1", "200", "200/200 2", "[1]", "b gets everything, a and c get 0 and are skipped"},
		{"a 0 0", "a 300 3, b 40 2", "200", "200/200 2", "[1]", "a is excluded, and its mass does not count"},
		{"a 10 100", "a 0 3, b 40 2", "200", "20/200 3, 180/200 2", "[0 1]", "without mass a kind gets what it requires"},
		{"", "a 0 3, b 0 2", "200", "", "[]", "no kind has mass, and nothing is divided by 0"},
		{"a 50 100", "b 40 2", "200", "100/200 2", "[0]", "what a requires stays unused"},
		{"A 33 100, B 33 100", "A 100 2, B 300 1", "1000", "415/1000 2, 585/1000 1", "[0 1]", "the chapter's example: 340 are left for both"},
		{"a 0 30", "a 300 3, b 100 2", "200", "60/60 3, 50/200 2", "[0 1]", "a's 150 are cut to 60, the rest stays unused"},
		{"a 10 40", "a 100 3, b 300 2", "200", "65/80 3, 135/200 2", "[0 1]", "a gets 20 and 45 of 180; its ceiling is its cap"},
		{"a 25 25", "a 100 3, b 100 2", "200", "50/50 3, 150/200 2", "[0 1]", "what cannot receive more has no mass"},
		{"a 29 100", "a 0 3", "100", "28/100 3", "[0]", "R9: 29 / 100.0 * 100 is 28.999999999999996"},
		{"", "a 1 3, b 1 2, c 1 1", "100", "33/100 3, 33/100 2, 33/100 1", "[0 1 2]", "P6: floor(100/3) each"},
		{"a 10 100, b 10 100", "c 10 6, b 10 5, a 10 4, b 10 3, c 10 2", "100", "32/100 6 2, 42/100 5 3, 26/100 4", "[4 0 3 1 2]",
			"R18: kinds in the order of their first items"},
		{"TOOLoutput 0 50", "toolOUTPUT 10 3, x 10 2, TOOLOUTPUT 10 1", "100", "50/50 3 1, 33/100 2", "[2 0 1]", "P4: one kind in any casing"},
		{"ä 0 50, Ä 0 20", "ä 10 3, Ä 10 2", "100", "50/50 3, 20/20 2", "[0 1]", "R2: without ASCII case only"},
		{"", "a 2^62 5, b 2^62 4, a 2^62 3, a 2^62 2", "1000", "750/1000 5 3 2, 250/1000 4", "[3 2 0 1]", "R5: masses are exact, 3:1 of 2^64"},
		{"a 50 50", "a 2^62 5, b 1 4", "2^62", fmt.Sprintf("%d/%[1]d 5, %[1]d/%d 4", number("2^62")/2, number("2^62")), "[0 1]", "what cannot receive more has no part of the rest, however large its mass"},
		{"a 100 100", "a 5 2", "max", fmt.Sprintf("%d/%[1]d 2", number("max")), "[0]", "R9: the float is 2^63 and must not wrap"},
		{"", "a 5 2", "2^53+1", fmt.Sprintf("%d/%[1]d 2", number("2^53+1")), "[0]", "a target that no float is, is not above its ceiling"},
		{"", "a 100 3, b -90 2, b 100 1", "100", "50/100 3, 50/100 2 1", "[0 2 1]", "negative tokens take nothing off a mass"},
		{"", "- 0 2, b 10 1", "10", "10/10 1", "[1]", "a position without an item has the kind \"\" and no mass"},
	}, func(inner strategy.Slicer, entries string) strategy.Slicer {
		return slicer.Must(slicer.NewQuota(inner, quotasOf(entries)...))
	})
}

// There are two spellings of each kind, and more than the memory of a call keeps.
func TestQuotaOfManyKinds(t *testing.T) {
	var items []cupel.ScoredItem
	for i := range 600 {
		items = append(items, it(cupel.ContextKind(fmt.Sprint([]string{"Kind ", "kind "}[i/300], i%300)), 1, 1))
	}
	rec := new(recorder)
	if sel, err := slicer.Must(slicer.NewQuota(rec)).Slice(t.Context(), items, target(600)); err != nil || len(sel.Indices) != 600 || sel.Indices[1] != 0 {
		t.Errorf("selected %d, %v", len(sel.Indices), err)
	}
	if len(rec.calls) != 300 || rec.calls[0] != "2/600 1 1" {
		t.Errorf("%d kinds, the first %s", len(rec.calls), rec.calls[0])
	}
}

func TestNewQuotaRefuses(t *testing.T) {
	of := func(entries string) error { return failed(slicer.NewQuota(slicer.Greedy{}, quotasOf(entries)...)) }
	const (
		requireRange = "require must be from 0 to 100 percent"
		capRange     = "cap must be from 0 to 100 percent"
		sum          = "the sum of all require percentages must not exceed 100%"
	)
	runRefusals(t, "QuotaSlice", []refusal{
		{failed(slicer.NewQuota(nil)), "inner slicer must not be nil", "inner"},
		{failed(slicer.NewQuota(slicer.Greedy{}, slicer.Require("a", 1), slicer.Require(" \t", 1))), "kind must not be blank", `entries[1].kind = " \t"`},
		{of("tool 1 1, x 0 1, TOOL 0 10"), "kind has an entry already, entries[0]: give the kind one entry, with Between; kinds are compared without ASCII case", `entries[2].kind = "TOOL"`},
		{of("a -0.5 100"), requireRange, "entries[0].require = -0.5"},
		{of("a 100.5 100"), requireRange, "entries[0].require = 100.5"},
		{of("a nan 100"), requireRange, "entries[0].require = NaN"},
		{of("a 0 -0.5"), capRange, "entries[0].cap = -0.5"},
		{of("a 0 100.5"), capRange, "entries[0].cap = 100.5"},
		{of("a 0 nan"), capRange, "entries[0].cap = NaN"},
		{of("a 50 49.5"), "require must be at most the cap of its kind (49.5)", "entries[0].require = 50"},
		{of("a 60 100, b 40.001 100"), sum, "entries = 100.001"},
		{of("a 60 100, b 40.000000002 100"), sum, "entries = 100.00000000200001"},
		{of("a 90 100, b 101 100"), requireRange, "entries[1].require = 101"}, // and nothing about a sum
	})
	for _, inner := range []strategy.Slicer{(*slicer.Quota)(nil), new(slicer.Quota)} {
		if _, err := slicer.NewQuota(inner); !errors.Is(err, cupel.ErrInvalidConfig) {
			t.Errorf("around a quota that was not built: %v", err)
		}
	}
	for _, entries := range []string{"a 60 100, b 40.0000000005 100", "a 50 100, b 50.000000001 100", "a 0 0, b 100 100"} {
		if err := of(entries); err != nil {
			t.Errorf("%s: %v", entries, err)
		}
	}
}

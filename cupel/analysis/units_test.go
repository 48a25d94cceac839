package analysis_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// TestSmallestFormsBeginTheSearch records the first budget that the exhaustive
// search tries: a later one could miss the answer, an earlier one wastes runs.
func TestSmallestFormsBeginTheSearch(t *testing.T) {
	forms := cupel.WithVariants(cupel.Variant{Content: "short", Tokens: 3, Worth: 0.2}, cupel.Variant{Content: "longer", Tokens: 6, Worth: 0.6})
	alone := scored("alone", 10, 0.9, forms)
	plain := scored("plain", 10, 0.9)
	free := scored("free", 0, 0.9)
	member := scored("member", 10, 0.9, cupel.WithGroup("g"), cupel.WithGroupVariants(cupel.Variant{Content: "both", Tokens: 1, Worth: 0.5}))
	other := scored("other", 10, 0.9, cupel.WithGroup("g"))
	for _, tt := range []struct {
		name       string
		items      []*cupel.ContextItem
		from, want int
		why        string
	}{
		{"plain", []*cupel.ContextItem{plain}, 10, 10, "it needs its own tokens"},
		{"forms", []*cupel.ContextItem{alone}, 3, 3, "its smallest form needs 3"},
		{"forms behind another", []*cupel.ContextItem{alone, scored("pin", 2, 0, cupel.WithPinned())}, 3, 5, "the smallest form comes after the pinned item"},
		{"free", []*cupel.ContextItem{free}, 0, 1, "a target of 0 selects nothing"},
		{"group", []*cupel.ContextItem{member, other}, 0, 1, "the forms of a group may be larger than its members"},
		{"group without forms", []*cupel.ContextItem{other, plain}, 0, 10, "a group of one has its tokens, but the search need not know"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := pipeline(slicer.Greedy{})
			var l looked
			got, found, err := analysis.FindMinBudgetForExhaustive(t.Context(), p, tt.items, tt.items[0], 50, l.option())
			if err != nil || !found || got != tt.want || l.from != tt.from {
				t.Errorf("got %d, %t, %v from %d; want %d from %d: %s", got, found, err, l.from, tt.want, tt.from, tt.why)
			}
			got, found, err = analysis.FindMinBudgetFor(t.Context(), p, tt.items, tt.items[0], 50)
			if err != nil || !found || got != tt.want {
				t.Errorf("halving gave %d, %t, %v; want %d: %s", got, found, err, tt.want, tt.why)
			}
		})
	}
}

// TestNegativeTargetIsNotSliced has a slicer that fails when it is asked.
func TestNegativeTargetIsNotSliced(t *testing.T) {
	less := item("less", -3)
	fails := sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
		return cupel.Selection{}, errBroken
	})
	for name, find := range searches {
		if got, found, err := find(t.Context(), pipeline(fails), []*cupel.ContextItem{less}, less, 100); got != 0 || found || err != nil {
			t.Errorf("%s gave %d, %t, %v; want nothing: no budget selects negative tokens", name, got, found, err)
		}
	}
}

// TestWhyNotHalvesWhatItCannotFollow counts the budgets that WhyNot tries in turn.
// Halving looks at 20 first, and nothing is left to try; a sweep needs no halving.
func TestWhyNotHalvesWhatItCannotFollow(t *testing.T) {
	for _, tt := range []struct {
		name    string
		opts    []cupel.ItemOption
		follows bool
		why     string
	}{
		{"plain", nil, true, "Greedy is a SweepSlicer, and nothing stands in its way"},
		{"group", []cupel.ItemOption{cupel.WithGroup("g")}, false, "groups are sliced again at each budget"},
		{"version", []cupel.ItemOption{cupel.WithVersionOf("file")}, false, "so are versions"},
		{"form", []cupel.ItemOption{cupel.WithVariants(cupel.Variant{Content: "short", Tokens: 25, Worth: 0.5})}, false, "so are smaller forms"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			items := []*cupel.ContextItem{scored("first", 30, 0.9, tt.opts...), scored("second", 20, 0.1)}
			var l looked
			a, err := analysis.WhyNot(t.Context(), pipeline(slicer.Greedy{}), items, budget(10, 10), 1, l.option())
			if err != nil || a.Smallest != (analysis.SmallestBudget{Found: true, Tokens: 20, Exact: true, SearchedTo: 50}) {
				t.Fatalf("got %+v, %v", a.Smallest, err)
			}
			if (l.budgets > 0) != tt.follows {
				t.Errorf("tried %+v in turn: %s", l, tt.why)
			}
		})
	}
}

// TestWhyNotOfOlderVersions has the newest version in each place of the list.
func TestWhyNotOfOlderVersions(t *testing.T) {
	day := time.Date(2025, 6, 2, 0, 0, 0, 0, time.UTC)
	version := func(content string, days int) *cupel.ContextItem {
		return scored(content, 5, 0.5, cupel.WithVersionOf("file"), cupel.WithTimestamp(day.AddDate(0, 0, days)))
	}
	old, newest, plain := version("old", 0), version("newest", 2), scored("plain", 5, 0.9)
	for _, items := range [][]*cupel.ContextItem{{newest, old, plain}, {old, newest, plain}, {plain, old, newest}} {
		candidate := slices.Index(items, old)
		a, err := analysis.WhyNot(t.Context(), pipeline(slicer.Greedy{}), items, budget(10, 10), candidate)
		if err != nil {
			t.Fatal(err)
		}
		const rule = "Of the versions of one thing the newest counts. Older ones come back only in its place."
		if a.Code() != string(cupel.ExcludeSuperseded) || a.Rule != rule || !slices.Equal(a.DisplacedBy, []int{slices.Index(items, newest)}) {
			t.Errorf("candidate %d: got %s, %q, displaced by %v, want the newest version", candidate, a.Code(), a.Rule, a.DisplacedBy)
		}
	}
}

// TestLedgerOfSmallerForms has an item in a smaller form, which is another item in
// the report, and asks a ledger about candidates that are not the run's.
func TestLedgerOfSmallerForms(t *testing.T) {
	items := []*cupel.ContextItem{
		scored("plain", 5, 0.9),
		scored("full", 10, 0.5, cupel.WithVariants(cupel.Variant{Content: "short", Tokens: 3, Worth: 0.2})),
	}
	report, err := pipeline(slicer.Greedy{}).DryRun(t.Context(), items, budget(8, 8))
	if err != nil {
		t.Fatal(err)
	}
	l := analysis.NewLedger(report, items)
	if e := l.Entries[1]; e.Place == 0 || e.Included.Item.Content() != "short" || e.Item != items[1] {
		t.Errorf("got %+v, want the short form in the window, for the second candidate", e)
	}
	strangers := []*cupel.ContextItem{scored("plain", 5, 0.9), items[1]}
	if l := analysis.NewLedger(report, strangers); l.Entries[0].Place != 0 || l.Entries[1].Place == 0 {
		t.Errorf("got %+v, want only the item that is in the list in the window", l.Entries)
	}
}

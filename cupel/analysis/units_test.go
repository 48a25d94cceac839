package analysis_test

import (
	"context"
	"math/rand/v2"
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

// TestSweepOfUnits compares each step of a sweep with a dry run at its budget, and
// the budgets between two steps with the first of them.
func TestSweepOfUnits(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 3))
	forms := 0
	for range 60 {
		items := randomUnits(random, 2+random.IntN(6))
		p := pipeline([]cupel.Slicer{slicer.Greedy{}, slicer.MultipleChoice{}, slicer.Knapsack{}}[random.IntN(3)])
		sweep, err := analysis.Sweep(t.Context(), p, items, analysis.BudgetRange{To: 120})
		if err != nil {
			t.Fatal(err)
		}
		in := make([]int, len(items)) // the form, or -1
		for i := range in {
			in[i] = -1
		}
		next := 0
		for tokens := range 121 {
			if next < len(sweep.Steps) && sweep.Steps[next].Budget == tokens {
				next++
			}
			step := sweep.Steps[next-1]
			now := make([]int, len(items))
			for i := range now {
				now[i] = -1
			}
			used := 0
			if report, err := p.DryRun(t.Context(), items, budget(tokens, tokens)); err == nil {
				for _, e := range report.Included {
					now[e.Candidate()] = e.Form()
					used += e.Item.Tokens()
				}
			}
			var came, went, changed []int
			for i := range items {
				switch {
				case in[i] < 0 && now[i] >= 0:
					came = append(came, i)
				case in[i] >= 0 && now[i] < 0:
					went = append(went, i)
				case in[i] != now[i]:
					changed = append(changed, i)
				}
			}
			if step.Budget < tokens {
				step.Came, step.Went, step.Changed = nil, nil, nil
			}
			if step.Tokens != used || !slices.Equal(step.Came, came) || !slices.Equal(step.Went, went) || !slices.Equal(step.Changed, changed) {
				t.Fatalf("at %d the sweep has %+v, want %d tokens, came %v, went %v, changed %v", tokens, step, used, came, went, changed)
			}
			forms += len(changed)
			in = now
		}
	}
	if forms == 0 {
		t.Error("no form has changed")
	}
}

// TestQuotasCountUnits has a group of two kinds and a lone item.
func TestQuotasCountUnits(t *testing.T) {
	call, result := cupel.WithGroup("call"), cupel.WithKind(cupel.KindToolOutput)
	items := []*cupel.ContextItem{
		scored("call", 10, 0.9, call), scored("result", 50, 0.1, call, result, cupel.WithVariants(cupel.Variant{Content: "short", Tokens: 4, Worth: 0.5})),
		scored("lone", 5, 0.8, result), scored("message", 3, 0.7),
		item("pin", 2, cupel.WithPinned(), cupel.WithGroup("p")), item("pinned through its group", 3, result, cupel.WithGroup("p")),
	}
	counts := must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{{Kind: cupel.KindToolOutput, CapCount: 3}, {Kind: cupel.KindMessage, CapCount: 3}}))
	for _, tt := range []struct {
		tokens int
		used   []int // of the counts, then of the quotas
		why    string
	}{
		{90, []int{2, 1, 65, 3}, "the group is one item of the kind of its result, with the tokens of the call"},
		{40, []int{2, 1, 19, 3}, "in short, it is still a result"},
	} {
		report, err := pipeline(counts).DryRun(t.Context(), items, budget(tt.tokens, tt.tokens))
		if err != nil {
			t.Fatal(err)
		}
		quota := must(slicer.NewQuota(slicer.Greedy{}, slicer.Cap(cupel.KindToolOutput, 100), slicer.Cap(cupel.KindMessage, 100)))
		var used []int
		for _, s := range []cupel.Slicer{counts, quota} {
			for _, row := range analysis.QuotaUtilization(report, budget(tt.tokens, tt.tokens), s) {
				used = append(used, row.Used)
			}
		}
		if !slices.Equal(used, tt.used) {
			t.Errorf("within %d tokens: used %v, want %v: %s", tt.tokens, used, tt.used, tt.why)
		}
	}
	if units := analysis.IncludedUnits(nil); units != nil {
		t.Errorf("no report has units %v", units)
	}
}

package analysis_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// rows shows a ledger as one line a candidate: place, rank, code, tokens.
func rows(l *analysis.Ledger) []string {
	list := make([]string, len(l.Entries))
	for i, e := range l.Entries {
		list[i] = fmt.Sprintf("%d %d %s %d", e.Place, e.Rank, e.Code, e.Tokens)
		if e.Candidate != i {
			list[i] += " in the wrong place"
		}
	}
	return list
}

func TestLedger(t *testing.T) {
	twin := scored("twin", 3, 0.5)
	items := []*cupel.ContextItem{scored("pin", 2, 1, cupel.WithPinned()), twin, scored("best", 6, 0.9), twin, scored("small", 1, 0.7), scored("less", -1, 0.1)}
	// The pinned item leaves 4 of 6 tokens. By score per token small (0.7) comes
	// first, then the twins (0.17); one of them fits.
	p := newPipeline(slicer.Greedy{}, func(c *pipeline.Config) { c.KeepDuplicates = true })
	report := must(p.DryRun(t.Context(), items, budget(6, 6)))
	l := analysis.NewLedger(report, items)
	want := []string{"1 0 Pinned 2", "3 3 Scored 3", "0 1 PinnedOverride 6", "0 4 BudgetExceeded 3", "2 2 Scored 1", "0 0 NegativeTokens -1"}
	if got := rows(l); !slices.Equal(got, want) || l.Ranked != 4 {
		t.Errorf("got %q, %d ranked, want %q: a pointer that occurs twice is two candidates", got, l.Ranked, want)
	}
	if !slices.Equal(l.Window, []int{0, 4, 1}) || !slices.Equal(l.Out, []int{2, 3, 5}) {
		t.Errorf("window %v, out %v", l.Window, l.Out)
	}
	if in, out := &l.Entries[1], &l.Entries[3]; in.Score != 0.5 || in.Why() != "Scored" || out.Score != 0.5 || out.Why() != out.Excluded.Reason.String() || out.Reason.Data().ItemTokens != 3 {
		t.Errorf("got %+v and %+v, want scores and reasons", in, out)
	}

	read := reread(t, report)
	want = []string{"1 0 Pinned 2", "2 2 Scored 1", "3 3 Scored 3", "0 1 PinnedOverride 6", "0 4 BudgetExceeded 3", "0 0 NegativeTokens -1"}
	if got := rows(analysis.NewLedger(read, nil)); !slices.Equal(got, want) {
		t.Errorf("of a report that was read: got %q, want %q", got, want)
	}
	if l := analysis.NewLedger(read, items); len(l.Window)+len(l.Out) != 0 {
		t.Errorf("entries that do not know their candidates are about some: %q", rows(l))
	}
	// The report of a longer list must not make it panic.
	if got := analysis.NewLedger(report, items[:2]); len(got.Window) != 2 || len(got.Out) != 0 {
		t.Errorf("of a shorter list: got %q", rows(got))
	}
	if l := analysis.NewLedger(report, append([]*cupel.ContextItem{twin}, items[1:]...)); !slices.Equal(l.Window, []int{4, 1}) {
		t.Errorf("window %v, want only the items that are in the list where the report has them", l.Window)
	}
	for name, l := range map[string]*analysis.Ledger{"nil": analysis.NewLedger(nil, nil), "nil report": analysis.NewLedger(nil, items)} {
		if len(l.Window)+len(l.Out)+l.Ranked != 0 {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// The ledger of a failed run has no ranks: ranks among some would mislead.
func TestLedgerOfFailure(t *testing.T) {
	for _, tt := range []struct {
		slicer strategy.Slicer
		items  []*cupel.ContextItem
		want   []string
		why    string
	}{
		{slicer.Greedy{}, []*cupel.ContextItem{scored("pin", 9, 1, cupel.WithPinned()), scored("less", -1, 0), scored("rest", 1, 0)}, []string{"0 0  9", "0 0 NegativeTokens -1", "0 0  1"}, "before scoring"},
		{sliceFunc(failing), []*cupel.ContextItem{scored("twin", 1, 0.9), scored("twin", 1, 0.9), scored("other", 1, 0.5)}, []string{"0 0  1", "0 0 Deduplicated 1", "0 0  1"}, "after scoring"},
	} {
		report, err := newPipeline(tt.slicer).DryRun(t.Context(), tt.items, budget(5, 5))
		if l := analysis.NewLedger(report, tt.items); err == nil || !slices.Equal(rows(l), tt.want) || l.Ranked != 0 {
			t.Errorf("failing %s: got %q, %d ranked, want %q", tt.why, rows(l), l.Ranked, tt.want)
		}
	}
}

// A report names the survivors; one that was read from JSON has their contents.
func TestLedgerSurvivor(t *testing.T) {
	items := []*cupel.ContextItem{
		scored("v1", 5, 0.9, cupel.WithVersionOf("k")),                         // 0: older
		scored("twin", 5, 0.4),                                                 // 1: stays
		scored("twin", 5, 0.2),                                                 // 2: a copy of 1
		scored("twin", 5, 0.8, cupel.WithGroup("g")),                           // 3: in a group, so no copy of a lone one
		scored("twin", 5, 0.1, cupel.WithGroup("h")),                           // 4: a copy of 3
		scored("v2", 5, 0.3, cupel.WithVersionOf("k"), cupel.WithGroup("old")), // 5: stale, but a member stays
		scored("v3", 5, 0.3, cupel.WithVersionOf("k")),                         // 6: older
		scored("v1", 5, 0.1),                                                   // 7: has the content of an older version, and is no copy of it
		scored("twin", 5, 1, cupel.WithPinned()),                               // 8: pinned, takes no part
		scored("twin", -1, 0.5),                                                // 9: negative, takes no part
		scored("v0", 5, 0.5, cupel.WithVersionOf("k")),                         // 10: by position the newest of all
		scored("v1", 5, 0.05),                                                  // 11: a copy of 7
		scored("nan", 5, math.NaN()),                                           // 12
		scored("p1", 5, 0.5, cupel.WithVersionOf("p")),                         // 13: older than a pinned version
		scored("p2", 5, 1, cupel.WithVersionOf("p"), cupel.WithPinned()),       // 14
		scored("s1", 5, 0.5, cupel.WithVersionOf("s")),                         // 15: older than a version in a group
		scored("s2", 5, 0.5, cupel.WithVersionOf("s"), cupel.WithGroup("s")),   // 16
	}
	report := dryRun(t, items, 1000)
	whole := analysis.NewLedger(report, items)
	if whole.Entries[12].Rank != whole.Ranked {
		t.Errorf("NaN has rank %d, want the last", whole.Entries[12].Rank)
	}
	read := analysis.NewLedger(reread(t, report), nil)
	// Without the items, the ledger has the entries in the order of the report.
	at := slices.Concat(whole.Window, whole.Out)
	for _, tt := range []struct {
		of, want int // -1 for none
		why      string
	}{
		{0, 10, "the newest version stands for it"},
		{6, 10, "a version that a later one follows"},
		{2, 1, "the better of two lone copies"},
		{4, 3, "the better of two groups"},
		{11, 7, "not the older version with the content"},
		{13, 14, "the newest version may be pinned"},
		{1, -1, "it stays"},
		{5, -1, "a member that is stale stays"},
		{8, -1, "a pinned item is never a copy"},
		{9, -1, "it is out for its tokens"},
		{-1, -1, "there is no such candidate"},
		{15, 16, "the newest version may be in a group"},
		{17, -1, "there is no such candidate"},
	} {
		want, ok := max(tt.want, 0), tt.want >= 0
		if got, found := whole.Survivor(tt.of); found != ok || got != want {
			t.Errorf("the survivor of candidate %d is %d, %t; want %d: %s", tt.of, got, found, tt.want, tt.why)
		}
		if i := slices.Index(at, tt.of); i >= 0 {
			if got, found := read.Survivor(i); found != ok || found && at[got] != want {
				t.Errorf("from JSON, the survivor of candidate %d is entry %d, %t; want that of %d: %s", tt.of, got, found, tt.want, tt.why)
			}
		}
	}
	var stale []int
	for _, e := range whole.Entries {
		if e.Stale {
			stale = append(stale, e.Candidate)
		}
	}
	if !slices.Equal(stale, []int{0, 5, 6, 13, 15}) {
		t.Errorf("stale are %v, want the older ones, in and out of the window", stale)
	}
	if n := testing.AllocsPerRun(10, func() { whole.Survivor(2) }); n != 0 && !raceEnabled {
		t.Errorf("asking again allocates %v times: survivors are looked up once", n)
	}
	var none *analysis.Ledger
	if _, ok := none.Survivor(0); ok {
		t.Error("a nil ledger has a survivor")
	}
}

// Foreign reports may have duplicates without an original.
func TestLedgerOfLoneDuplicate(t *testing.T) {
	report := &cupel.SelectionReport{Excluded: []cupel.ExcludedItem{{Item: item("x", 1), Reason: cupel.ExclusionReason{Code: cupel.ExcludeDeduplicated}}}}
	if survivor, ok := analysis.NewLedger(report, nil).Survivor(0); ok {
		t.Errorf("the copy of nothing survives as %d", survivor)
	}
}

package analysis_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// A report that was read from JSON names no items: what survived is found by
// content, or by the key of a version.
func TestLedgerSurvivorFromJSON(t *testing.T) {
	items := []*cupel.ContextItem{
		scored("v1", 5, 0.9, cupel.WithVersionOf("k")),                         // 0: older
		scored("twin", 5, 0.4),                                                 // 1: stays
		scored("twin", 5, 0.2),                                                 // 2: a copy of 1
		scored("twin", 5, 0.8, cupel.WithGroup("g")),                           // 3: in a group, so no copy of a lone one
		scored("twin", 5, 0.1, cupel.WithGroup("h")),                           // 4: a copy of 3
		scored("v2", 5, 0.3, cupel.WithVersionOf("k"), cupel.WithGroup("old")), // 5: stale, but a member stays
		scored("v3", 5, 0.3, cupel.WithVersionOf("k")),                         // 6: the newest
		scored("v1", 5, 0.1),                                                   // 7: has the content of an older version, and is no copy of it
		scored("twin", 5, 1, cupel.WithPinned()),                               // 8: pinned, takes no part
		scored("below", -1, 0.5),                                               // 9
		scored("v0", 5, 0.5, cupel.WithVersionOf("k")),                         // 10: by position the newest of all
		scored("v3", 5, 0.2, cupel.WithVersionOf("other")),                     // 11: a copy of an older version is none
	}
	report := dryRun(t, items, 1000)
	for name, r := range map[string]*cupel.SelectionReport{"as made": report, "from JSON": reread(t, report)} {
		l := analysis.NewLedger(r, nil)
		// Without the items, the ledger has the entries in the order of the report.
		at := map[string]int{}
		for i := range l.Entries {
			e := &l.Entries[i]
			at[fmt.Sprint(e.Item.Content(), e.Item.Group(), e.Score(), e.Item.Pinned())] = i
		}
		key := func(n int) string {
			score, _ := items[n].FutureRelevanceHint()
			if items[n].Pinned() {
				score = 1
			}
			return fmt.Sprint(items[n].Content(), items[n].Group(), score, items[n].Pinned())
		}
		for _, tt := range []struct {
			of, want int // -1 for none
			why      string
		}{
			{0, 10, "the newest version stands for it"},
			{6, 10, "a version that a later one follows"},
			{2, 1, "the better of two lone copies"},
			{4, 3, "the better of two groups"},
			{1, -1, "it stays"},
			{3, -1, "a lone item is no copy of a group"},
			{5, -1, "a member that is stale stays"},
			{7, -1, "an older version is not there to be copied"},
			{8, -1, "a pinned item is never a copy"},
		} {
			i, ok := at[key(tt.of)]
			if !ok {
				t.Fatalf("%s: no entry of %q", name, key(tt.of))
			}
			got, found := l.Survivor(i)
			if found != (tt.want >= 0) || found && got != at[key(tt.want)] {
				t.Errorf("%s: the survivor of candidate %d is entry %d, %t; want that of candidate %d: %s", name, tt.of, got, found, tt.want, tt.why)
			}
		}
	}
}

// Equal contents in different forms are different items, unless everything else
// says that they are one.
func TestDiffReportsTellsItemsOfOneContentApart(t *testing.T) {
	note := cupel.WithVariants(short("note", 2, 0.2))
	for _, tt := range []struct {
		name string
		a, b []*cupel.ContextItem
		size int
		want string
		why  string
	}{
		{"another priority", []*cupel.ContextItem{scored("long", 20, 0.5, note, cupel.WithPriority(1))}, []*cupel.ContextItem{scored("text", 20, 0.5, cupel.WithPriority(2))}, 20,
			"came 1, went 1, forms 0", "the priority says that they are two items"},
		{"another size", []*cupel.ContextItem{scored("long", 20, 0.5, note)}, []*cupel.ContextItem{scored("text", 19, 0.5)}, 20, "came 1, went 1, forms 0", "the size in full says so"},
		{"another group", []*cupel.ContextItem{scored("long", 20, 0.5, note, cupel.WithGroup("g"))}, []*cupel.ContextItem{scored("text", 20, 0.5, cupel.WithGroup("h"))}, 20, "came 1, went 1, forms 0", "the group says so"},
		{"one in a group", []*cupel.ContextItem{scored("long", 20, 0.5, note)}, []*cupel.ContextItem{scored("text", 20, 0.5, cupel.WithGroup("h"))}, 20, "came 1, went 1, forms 0", "a lone item is no member"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			diff := analysis.DiffReports(dryRun(t, tt.a, 10), dryRun(t, tt.b, tt.size))
			if got := fmt.Sprintf("came %d, went %d, forms %d", len(diff.Came), len(diff.Went), len(diff.Forms)); got != tt.want {
				t.Errorf("got %s, want %s: %s\n%s", got, tt.want, tt.why, diff)
			}
		})
	}
}

func TestDiffReportsWithFormsAlone(t *testing.T) {
	items := []*cupel.ContextItem{scored("long", 20, 0.5, cupel.WithVariants(short("note", 2, 0.2)))}
	diff := analysis.DiffReports(dryRun(t, items, 20), dryRun(t, items, 10))
	if diff.Empty() || len(diff.Forms) != 1 || len(diff.Came)+len(diff.Went)+len(diff.Moved)+len(diff.Reasons) != 0 {
		t.Errorf("got %s, want a change of form and nothing else", diff)
	}
}

func TestKindOfUnits(t *testing.T) {
	tool := cupel.WithKind(cupel.KindToolOutput)
	for _, tt := range []struct {
		name string
		unit analysis.IncludedUnit
		want cupel.ContextKind
		why  string
	}{
		{"most tokens", analysis.IncludedUnit{{Item: item("a", 3)}, {Item: item("b", 5, tool)}}, cupel.KindToolOutput, "5 tokens are more than 3"},
		{"equal", analysis.IncludedUnit{{Item: item("a", 5)}, {Item: item("b", 5, tool)}}, cupel.KindMessage, "the first of equal ones"},
		{"sums", analysis.IncludedUnit{{Item: item("a", 5)}, {Item: item("b", 3, tool)}, {Item: item("c", 3, tool)}}, cupel.KindToolOutput, "the tokens of a kind count together"},
		{"no tokens", analysis.IncludedUnit{{Item: item("a", 0)}, {Item: item("b", 0, tool)}}, cupel.KindMessage, "the first if none has tokens"},
	} {
		if got := tt.unit.Kind(); got != tt.want {
			t.Errorf("%s: the kind is %s, want %s: %s", tt.name, got, tt.want, tt.why)
		}
	}
}

// The stale mark of an entry is that of the report, in and out of the window.
func TestEntriesAreStale(t *testing.T) {
	items := []*cupel.ContextItem{
		scored("v1", 5, 0.9, cupel.WithVersionOf("k"), cupel.WithPinned()),
		scored("v2", 5, 0.9, cupel.WithVersionOf("k")),
		scored("v3", 5, 0.9, cupel.WithVersionOf("k")),
	}
	report, err := pipeline(slicer.Greedy{}).DryRun(t.Context(), items, budget(50, 50))
	if err != nil {
		t.Fatal(err)
	}
	var got []bool
	for _, e := range analysis.NewLedger(report, items).Entries {
		got = append(got, e.Stale())
	}
	if !slices.Equal(got, []bool{true, true, false}) {
		t.Errorf("stale are %v, want the first, which is in, and the second, which is out", got)
	}
}

// A change of form is told from a copy that has the same content.
func TestDiffReportsOfFormsAmongCopies(t *testing.T) {
	items := []*cupel.ContextItem{
		scored("long", 20, 0.9),
		scored("long", 20, 0.5, cupel.WithVariants(short("note", 2, 0.2))),
		scored("note", 2, 0.8),
	}
	p := pipeline(slicer.ScoreGreedy{}, func(c *cupel.Config) { c.KeepDuplicates = true })
	reports := make([]*cupel.SelectionReport, 2)
	for i, tokens := range []int{24, 42} {
		var err error
		if reports[i], err = p.DryRun(t.Context(), items, budget(tokens, tokens)); err != nil {
			t.Fatal(err)
		}
	}
	for name, of := range map[string][2]*cupel.SelectionReport{
		"as made": {reports[0], reports[1]}, "from JSON": {reread(t, reports[0]), reread(t, reports[1])}, "back": {reports[1], reports[0]},
	} {
		diff := analysis.DiffReports(of[0], of[1])
		if len(diff.Forms) != 1 || len(diff.Came)+len(diff.Went) != 0 {
			t.Errorf("%s: got\n%s\nwant one change of form, and the copies as they were", name, diff)
		}
	}
}

func TestIncludedUnits(t *testing.T) {
	a, b := cupel.WithGroup("a"), cupel.WithGroup("b")
	for _, tt := range []struct {
		groups []cupel.ItemOption
		want   string
		why    string
	}{
		{nil, "[]", "there is nothing"},
		{[]cupel.ItemOption{a, a}, "[2]", "a group may be all"},
		{[]cupel.ItemOption{nil, a, a}, "[1 2]", "a group may be last"},
		{[]cupel.ItemOption{a, a, nil, b}, "[2 1 1]", "a group of one is a unit"},
		{[]cupel.ItemOption{a, b, b, nil, nil}, "[1 2 1 1]", "neighbours without a group are units of their own"},
	} {
		var report cupel.SelectionReport
		for i, group := range tt.groups {
			var opts []cupel.ItemOption
			if group != nil {
				opts = append(opts, group)
			}
			report.Included = append(report.Included, cupel.IncludedItem{Item: item(fmt.Sprint(i), 1, opts...)})
		}
		sizes := []int{}
		for _, unit := range analysis.IncludedUnits(&report) {
			sizes = append(sizes, len(unit))
		}
		if fmt.Sprint(sizes) != tt.want {
			t.Errorf("units of %d entries have the sizes %v, want %s: %s", len(tt.groups), sizes, tt.want, tt.why)
		}
	}
}

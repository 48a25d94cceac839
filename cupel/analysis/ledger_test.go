package analysis_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// rows shows a ledger as one line a candidate: place, rank, code.
func rows(l *analysis.Ledger) []string {
	list := make([]string, len(l.Entries))
	for i := range l.Entries {
		e := &l.Entries[i]
		list[i] = fmt.Sprintf("%d %d %s", e.Place, e.Rank, e.Code())
	}
	return list
}

func TestLedger(t *testing.T) {
	twin := scored("twin", 3, 0.5)
	items := []*cupel.ContextItem{
		scored("pin", 2, 1, cupel.WithPinned()),
		twin,
		scored("best", 6, 0.9),
		twin,
		scored("small", 1, 0.7),
		scored("less", -1, 0.1),
	}
	// The pinned item leaves 4 of 6 tokens. By score per token small (0.7) comes
	// first, then the twins (0.17); one of them fits.
	p := pipeline(slicer.Greedy{}, func(c *cupel.Config) { c.KeepDuplicates = true })
	report, err := p.DryRun(t.Context(), items, budget(6, 6))
	if err != nil {
		t.Fatal(err)
	}
	l := analysis.NewLedger(report, items)
	want := []string{"1 0 Pinned", "3 3 Scored", "0 1 PinnedOverride", "0 4 BudgetExceeded", "2 2 Scored", "0 0 NegativeTokens"}
	if got := rows(l); !slices.Equal(got, want) || l.Ranked != 4 {
		t.Errorf("got %q, %d ranked, want %q: a pointer that occurs twice is two candidates", got, l.Ranked, want)
	}
	if !slices.Equal(l.Window, []int{0, 4, 1}) || !slices.Equal(l.Out, []int{2, 3, 5}) {
		t.Errorf("window %v, out %v", l.Window, l.Out)
	}

	data, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var read cupel.SelectionReport
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	want = []string{"1 0 Pinned", "2 2 Scored", "3 3 Scored", "0 1 PinnedOverride", "0 4 BudgetExceeded", "0 0 NegativeTokens"}
	if got := rows(analysis.NewLedger(&read, nil)); !slices.Equal(got, want) {
		t.Errorf("of a report that was read: got %q, want %q", got, want)
	}
	if got := rows(analysis.NewLedger(&read, items)); slices.ContainsFunc(got, func(row string) bool { return row != "0 0 " }) {
		t.Errorf("entries that do not know their candidates are about some: %q", got)
	}

	for name, l := range map[string]*analysis.Ledger{"nil": analysis.NewLedger(nil, nil), "nil report": analysis.NewLedger(nil, items)} {
		if len(l.Window)+len(l.Out)+l.Ranked != 0 {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

func TestLedgerSurvivor(t *testing.T) {
	items := []*cupel.ContextItem{
		scored("a", 1, 1, cupel.WithPinned()), scored("a", -1, 1), scored("a", 1, 0.2), scored("a", 1, 0.8), scored("b", 1, math.NaN()),
	}
	report, err := pipeline(slicer.Greedy{}).DryRun(t.Context(), items, budget(9, 9))
	if err != nil {
		t.Fatal(err)
	}
	l := analysis.NewLedger(report, items)
	if got, ok := l.Survivor(2); !ok || got != 3 {
		t.Errorf("the survivor is %d, %t; pinned and negative candidates take no part", got, ok)
	}
	for name, l := range map[string]*analysis.Ledger{"nil": nil, "empty": {}, "this": l} {
		for _, candidate := range []int{-1, 5} {
			if got, ok := l.Survivor(candidate); ok || got != 0 {
				t.Errorf("%s: candidate %d, which there is not, survives as %d", name, candidate, got)
			}
		}
	}
	if n := testing.AllocsPerRun(10, func() { l.Survivor(2) }); n != 0 {
		t.Errorf("asking again allocates %v times: survivors are looked up once", n)
	}
	if l.Entries[4].Rank != 3 {
		t.Errorf("NaN has rank %d, want the last", l.Entries[4].Rank)
	}
}

func TestLedgerOfFailure(t *testing.T) {
	items := []*cupel.ContextItem{scored("pin", 9, 1, cupel.WithPinned()), scored("less", -1, 0), scored("rest", 1, 0)}
	report, err := pipeline(slicer.Greedy{}).DryRun(t.Context(), items, budget(5, 5))
	if err == nil || report == nil {
		t.Fatalf("got %v, %v; want a partial report", report, err)
	}
	if got, want := rows(analysis.NewLedger(report, items)), []string{"0 0 ", "0 0 NegativeTokens", "0 0 "}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}

	// One that fails after scoring has scores of some candidates only.
	items = []*cupel.ContextItem{scored("twin", 1, 0.9), scored("twin", 1, 0.9), scored("other", 1, 0.5)}
	report, err = pipeline(sliceFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (cupel.Selection, error) {
		return cupel.Selection{}, errBroken
	})).DryRun(t.Context(), items, budget(5, 5))
	if err == nil || report == nil {
		t.Fatalf("got %v, %v; want a partial report", report, err)
	}
	l := analysis.NewLedger(report, items)
	if got, want := rows(l), []string{"0 0 ", "0 0 Deduplicated", "0 0 "}; !slices.Equal(got, want) || l.Ranked != 0 {
		t.Errorf("got %q, %d ranked, want %q: ranks among some would mislead", got, l.Ranked, want)
	}
	if got := []float64{l.Entries[0].Score(), l.Entries[1].Score()}; !slices.Equal(got, []float64{0, 0.9}) {
		t.Errorf("scores %v: the report lacks the first", got)
	}
}

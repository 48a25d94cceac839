package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// diffText writes a difference as one line a change: "+ content: from to" with the
// places, forms and reasons of both sides.
func diffText(d *analysis.ReportDiff) string {
	var lines []string
	side := func(e *analysis.Entry) string {
		if e == nil {
			return "none"
		}
		return fmt.Sprintf("%d/%d %s", e.Place, e.Form, e.Code)
	}
	list := func(sign string, changes []analysis.ReportChange) {
		for _, c := range changes {
			lines = append(lines, fmt.Sprintf("%s %s: %s, %s", sign, c.Content, side(c.A), side(c.B)))
		}
	}
	list("+", d.Came)
	list("-", d.Went)
	list("moved", d.Moved)
	list("reason", d.Reasons)
	list("form", d.Forms)
	return strings.Join(lines, "\n")
}

func TestDiffReports(t *testing.T) {
	window := func(contents ...string) *cupel.SelectionReport {
		r := &cupel.SelectionReport{}
		for _, c := range contents {
			r.Included = append(r.Included, cupel.IncludedItem{Item: item(c, 2), Reason: cupel.IncludeScored})
		}
		return r
	}
	out := func(content string, code cupel.ExclusionCode) cupel.ExcludedItem {
		return cupel.ExcludedItem{Item: item(content, 2), Reason: cupel.ExclusionReason{Code: code}}
	}
	excluding := func(r *cupel.SelectionReport, out ...cupel.ExcludedItem) *cupel.SelectionReport {
		r.Excluded = out
		return r
	}
	pinned := window("a")
	pinned.Included[0].Reason = cupel.IncludePinned
	for _, tt := range []struct {
		name string
		a, b *cupel.SelectionReport
		want string
		why  string
	}{
		{"nil", nil, window(), "", "a nil report is an empty one"},
		{"new", window("a"), window("c", "b", "a"), "+ c: none, 1/0 Scored\n+ b: none, 2/0 Scored", "they were not there, and come in the order of the window"},
		{"gone", window("a"), window(), "- a: 1/0 Scored, none", "it is not there"},
		{"reason in", pinned, window("a"), "reason a: 1/0 Pinned, 1/0 Scored", "it is in both for another reason"},
		{"out and not there", excluding(window(), out("a", "Dull")), excluding(window(), out("b", "Dull")), "", "there is no reason in the other one"},
		{"copies", excluding(window("a"), out("a", cupel.ExcludeDeduplicated)), window("a", "a"), "+ a: 0/0 Deduplicated, 2/0 Scored", "the first copies are one item"},
		{"copies in another order", excluding(window(), out("a", cupel.ExcludeDeduplicated), out("a", "Boring")), excluding(window(), out("a", "Boring"), out("a", cupel.ExcludeDeduplicated)), "", "duplicates come last"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := diffText(analysis.DiffReports(tt.a, tt.b)); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s\n%s", got, tt.want, tt.why)
			}
		})
	}
}

// The differences turn the window of one report into that of the other, and
// nothing changes when both go through JSON.
func TestDiffReportsIsComplete(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	compared, moved := 0, 0
	for range 400 {
		w := newWorld(r)
		one, oneErr := w.pipeline.DryRun(t.Context(), w.items, must(w.base.Resize(60, 60)))
		r.Shuffle(len(w.items), func(i, j int) { w.items[i], w.items[j] = w.items[j], w.items[i] })
		two, twoErr := w.pipeline.DryRun(t.Context(), w.items, must(w.base.Resize(40, 40)))
		if oneErr != nil || twoErr != nil {
			continue
		}
		compared++
		d := analysis.DiffReports(one, two)
		moved += len(d.Moved)
		gone, came := make(map[int]bool), make(map[int]bool) // places in the windows
		for _, c := range slices.Concat(d.Went, d.Moved) {
			gone[c.A.Place-1] = true
		}
		for _, c := range slices.Concat(d.Came, d.Moved) {
			came[c.B.Place-1] = true
		}
		var a, b []string
		for i, in := range one.Included {
			if !gone[i] {
				a = append(a, in.Item.Content())
			}
		}
		for i, in := range two.Included {
			if !came[i] {
				b = append(b, in.Item.Content())
			}
		}
		if !slices.Equal(a, b) {
			t.Fatalf("%v and %v are left\n%s", a, b, diffText(d))
		}
		if got := diffText(analysis.DiffReports(reread(t, one), reread(t, two))); got != diffText(d) {
			t.Fatalf("through JSON\n%s\nwant\n%s", got, diffText(d))
		}
		if same := diffText(analysis.DiffReports(one, reread(t, one))); same != "" {
			t.Fatalf("a report differs from itself: %s", same)
		}
	}
	if compared < 200 || moved < 20 {
		t.Errorf("only %d reports were compared, and %d items moved", compared, moved)
	}
}

// What moved is the fewest without which all others are in one order.
func TestDiffReportsMovesTheFewest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for range 200 {
		numbers := r.Perm(r.IntN(10))
		rising, longest := make([]int, len(numbers)), 0 // the longest rising lists that end at each
		for i, number := range numbers {
			for j, before := range numbers[:i] {
				if before < number {
					rising[i] = max(rising[i], rising[j])
				}
			}
			rising[i]++
			longest = max(longest, rising[i])
		}
		var a, b cupel.SelectionReport
		for i, number := range numbers {
			a.Included = append(a.Included, cupel.IncludedItem{Item: item(fmt.Sprint("item ", i), 1)})
			b.Included = append(b.Included, cupel.IncludedItem{Item: item(fmt.Sprint("item ", number), 1)})
		}
		if d := analysis.DiffReports(&a, &b); len(d.Moved) != len(numbers)-longest || len(d.Came)+len(d.Went)+len(d.Reasons) > 0 {
			t.Fatalf("of %v %d stay, but the difference is\n%s", numbers, longest, diffText(d))
		}
	}
}

// Without two items of one content, a difference by content is the difference by
// candidate, in memory and after JSON.
func TestDiffReportsOfUnitsGoesByCandidate(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 1))
	changed := 0
	for range 300 {
		items := randomUnits(random, 2+random.IntN(8))
		a, b := dryRun(t, items, 30+random.IntN(90)), dryRun(t, items, 30+random.IntN(90))
		was, is := analysis.NewLedger(a, items).Entries, analysis.NewLedger(b, items).Entries
		var came, went, forms []int
		for c := range items {
			switch in, still := was[c].Place > 0, is[c].Place > 0; {
			case !in && still:
				came = append(came, c)
			case in && !still:
				went = append(went, c)
			case was[c].Form != is[c].Form:
				forms = append(forms, c)
			}
		}
		changed += len(forms)
		for _, d := range []*analysis.ReportDiff{analysis.DiffReports(a, b), analysis.DiffReports(reread(t, a), reread(t, b))} {
			of := func(changes []analysis.ReportChange) (list []int) {
				for _, c := range changes {
					if c.A == nil || c.B == nil {
						t.Fatalf("%+v has only one entry in\n%s", c, diffText(d))
					}
					if c.A.Included != nil {
						list = append(list, c.A.Included.Candidate)
					} else {
						list = append(list, c.B.Included.Candidate)
					}
				}
				slices.Sort(list)
				return list
			}
			if got, want := fmt.Sprint(of(d.Came), of(d.Went), of(d.Forms)), fmt.Sprint(came, went, forms); got != want {
				t.Fatalf("came, went and changed form: got %s, want %s in\n%s", got, want, diffText(d))
			}
		}
	}
	if changed < 50 {
		t.Errorf("only %d forms have changed", changed)
	}
}

// Equal positions are different items, unless everything else says that they are one.
func TestDiffReportsTellsItemsApart(t *testing.T) {
	note := cupel.WithVariants(short("note", 2, 0.2))
	for _, tt := range []struct {
		a, b *cupel.ContextItem
		size int
		want string
		why  string
	}{
		{scored("long", 20, 0.5, note, cupel.WithPriority(1)), scored("text", 20, 0.5, cupel.WithPriority(2)), 20, "+1 -1 form 0", "the priority says that they are two items"},
		{scored("long", 20, 0.5, note), scored("text", 19, 0.5), 20, "+1 -1 form 0", "the size in full says so"},
		{scored("long", 20, 0.5, note, cupel.WithGroup("g")), scored("text", 20, 0.5, cupel.WithGroup("h")), 20, "+1 -1 form 0", "the group says so"},
	} {
		d := analysis.DiffReports(dryRun(t, []*cupel.ContextItem{tt.a}, 10), dryRun(t, []*cupel.ContextItem{tt.b}, tt.size))
		if got := fmt.Sprintf("+%d -%d form %d", len(d.Came), len(d.Went), len(d.Forms)); got != tt.want {
			t.Errorf("got %s, want %s: %s\n%s", got, tt.want, tt.why, diffText(d))
		}
	}
}

// A change of form is told from a copy that has the same content.
func TestDiffReportsOfFormsAmongCopies(t *testing.T) {
	items := []*cupel.ContextItem{
		scored("long", 20, 0.9),
		scored("long", 20, 0.5, cupel.WithVariants(short("note", 2, 0.2))),
		scored("note", 2, 0.8),
	}
	p := newPipeline(slicer.ScoreGreedy{}, func(c *pipeline.Config) { c.KeepDuplicates = true })
	small, large := must(p.DryRun(t.Context(), items, budget(24, 24))), must(p.DryRun(t.Context(), items, budget(42, 42)))
	for name, d := range map[string]*analysis.ReportDiff{
		"as made": analysis.DiffReports(small, large), "back": analysis.DiffReports(large, small), "from JSON": analysis.DiffReports(reread(t, small), reread(t, large)),
	} {
		if len(d.Forms) != 1 || d.Forms[0].Content != "long" || len(d.Came)+len(d.Went) != 0 {
			t.Errorf("%s: got\n%s\nwant one change of form, and the copies as they were", name, diffText(d))
		}
	}
}

package analysis_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

func TestDiffReports(t *testing.T) {
	in := func(content string) cupel.IncludedItem {
		return cupel.IncludedItem{Item: item(content, 2), Score: 0.5, Reason: cupel.IncludeScored}
	}
	out := func(content string, code cupel.ExclusionCode) cupel.ExcludedItem {
		return cupel.ExcludedItem{Item: item(content, 2), Reason: cupel.ExclusionReason{Code: code}}
	}
	window := func(contents ...string) *cupel.SelectionReport {
		r := &cupel.SelectionReport{}
		for _, c := range contents {
			r.Included = append(r.Included, in(c))
		}
		return r
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
		{"same", window("a", "b"), window("a", "b"), "no difference", "the items differ, and their contents do not"},
		{"nil", nil, window(), "no difference", "a nil report is an empty one"},
		{"came", excluding(window("a"), out("b", "Dull")), window("a", "b"), `+ "b" (Message, 2 tokens): was Dull`, "b is in now"},
		{"new", window("a"), window("b", "a"), `+ "b" (Message, 2 tokens): was not a candidate`, "it was not there"},
		{"went", window("a", "b"), excluding(window("b"), out("a", "Boring")), `- "a" (Message, 2 tokens): is Boring`, "a is out now"},
		{"gone", window("a"), window(), `- "a" (Message, 2 tokens): is not a candidate`, "it is not there"},
		{"exchanged", window("a"), window("b"), "+ \"b\" (Message, 2 tokens): was not a candidate\n- \"a\" (Message, 2 tokens): is not a candidate", "one for one is a difference"},
		{"moved", window("a", "b", "c"), window("b", "c", "a"), `~ "a" (Message, 2 tokens): moved to place 3, was 1`, "the fewest moves are one"},
		{"reason in", pinned, window("a"), `~ "a" (Message, 2 tokens): Scored, was Pinned`, "it is in both for another reason"},
		{"reason out", excluding(window(), out("a", "Dull")), excluding(window(), out("a", "Boring")), `~ "a" (Message, 2 tokens): Boring, was Dull`, "it is out of both for another reason"},
		{"data", excluding(window(), cupel.ExcludedItem{Item: item("a", 2), Reason: cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: 2, AvailableTokens: 1})}),
			excluding(window(), cupel.ExcludedItem{Item: item("a", 2), Reason: cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: 2})}), "no difference", "what was left differs with every budget"},
		{"copies", excluding(window("a"), out("a", cupel.ExcludeDeduplicated)), window("a", "a"), `+ "a" (Message, 2 tokens, copy 2): was Deduplicated: the same content is in as another item`, "duplicates count last"},
		{"copies in another order", excluding(window(), out("a", cupel.ExcludeDeduplicated), out("a", "Boring")), excluding(window(), out("a", "Boring"), out("a", cupel.ExcludeDeduplicated)), "no difference", "their scores do not matter"},
		{"all at once", excluding(window("a", "b", "c"), out("d", "Boring"), out("e", "Boring")), excluding(window("c", "b", "d"), out("a", "Boring"), out("e", "Dull")),
			`+ "d" (Message, 2 tokens): was Boring
- "a" (Message, 2 tokens): is Boring
~ "b" (Message, 2 tokens): moved to place 2, was 2
~ "e" (Message, 2 tokens): Dull, was Boring`, "one line each"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := analysis.DiffReports(tt.a, tt.b)
			if got := d.String(); got != tt.want || d.Empty() != (got == "no difference") {
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
		slices.Reverse(w.items[:len(w.items)/2])
		one, oneErr := w.pipeline.DryRun(t.Context(), w.items, must(w.base.Resize(60, 60)))
		r.Shuffle(len(w.items), func(i, j int) { w.items[i], w.items[j] = w.items[j], w.items[i] })
		two, twoErr := w.pipeline.DryRun(t.Context(), w.items, must(w.base.Resize(40, 40)))
		if oneErr != nil || twoErr != nil {
			continue
		}
		compared++
		d := analysis.DiffReports(one, two)
		moved += len(d.Moved)

		type key struct {
			content string
			n       int
		}
		window := func(r *cupel.SelectionReport) []key {
			var keys []key
			seen := make(map[string]int)
			for _, i := range r.Included {
				seen[i.Item.Content()]++
				keys = append(keys, key{i.Item.Content(), seen[i.Item.Content()]})
			}
			return keys
		}
		without := func(keys []key, lists ...[]analysis.ReportChange) []key {
			return slices.DeleteFunc(keys, func(k key) bool {
				return slices.ContainsFunc(slices.Concat(lists...), func(c analysis.ReportChange) bool { return c.Content == k.content && c.Copy == k.n })
			})
		}
		if a, b := without(window(one), d.Went, d.Moved), without(window(two), d.Came, d.Moved); !slices.Equal(a, b) {
			t.Fatalf("%v and %v are left\n%s", a, b, d)
		}
		for _, c := range d.Moved {
			if c.A.Place == 0 || c.B.Place == 0 {
				t.Fatalf("%+v has moved and is not in both", c)
			}
		}
		reread := func(r *cupel.SelectionReport) *cupel.SelectionReport {
			var read cupel.SelectionReport
			if err := json.Unmarshal(must(json.Marshal(r)), &read); err != nil {
				t.Fatal(err)
			}
			return &read
		}
		if got := analysis.DiffReports(reread(one), reread(two)).String(); got != d.String() {
			t.Fatalf("through JSON\n%s\nwant\n%s", got, d)
		}
		if same := analysis.DiffReports(one, reread(one)); !same.Empty() {
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
		longest := 0
	sets:
		for set := range 1 << len(numbers) {
			count, last := 0, -1
			for i, number := range numbers {
				if set&(1<<i) == 0 {
					continue
				}
				if number < last {
					continue sets
				}
				count, last = count+1, number
			}
			longest = max(longest, count)
		}
		var a, b cupel.SelectionReport
		for i, number := range numbers {
			a.Included = append(a.Included, cupel.IncludedItem{Item: item(fmt.Sprint("item ", i), 1)})
			b.Included = append(b.Included, cupel.IncludedItem{Item: item(fmt.Sprint("item ", number), 1)})
		}
		if d := analysis.DiffReports(&a, &b); len(d.Moved) != len(numbers)-longest || len(d.Came)+len(d.Went)+len(d.Reasons) > 0 {
			t.Fatalf("of %v %d stay, but the difference is\n%s", numbers, longest, d)
		}
	}
}

func TestReportChangeShowsTheBeginning(t *testing.T) {
	c := analysis.ReportChange{Content: strings.Repeat("é", 60), Copy: 2}
	want := `"` + strings.Repeat("é", 40) + `"…, copy 2`
	for _, format := range []string{"%v", "%+v", "%s", "%#v"} {
		if got := fmt.Sprintf(format, c); got != want {
			t.Errorf("%s: got %s, want %s", format, got, want)
		}
	}
}

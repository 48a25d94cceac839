package cupeltest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

func TestLeavesRoom(t *testing.T) {
	type item struct {
		tokens int
		score  float64
	}
	for _, row := range []struct {
		items  []item
		target int
		sel    strategy.Selection
		want   string
		why    string
	}{
		{[]item{{10, 0.5}, {1, 0.5}}, 11, strategy.Selection{Indices: []int{0}}, "position 1 has 1 tokens, 1 are left, and it is not selected", "it fits exactly"},
		{[]item{{10, 0.5}, {2, 0.5}}, 11, strategy.Selection{Indices: []int{0}}, "", "it is one too large"},
		{[]item{{10, 0.5}, {0, 0.5}}, 11, strategy.Selection{Indices: []int{0}}, "", "free items may stay out"},
		{[]item{{10, 0.5}, {1, 0}}, 11, strategy.Selection{Indices: []int{0}}, "", "nothing says that it is of use"},
		{[]item{{10, 0.5}, {1, math.NaN()}}, 11, strategy.Selection{Indices: []int{0}}, "", "nor here"},
		{[]item{{10, 0.5}, {1, 0.5}}, 11, strategy.Selection{Indices: []int{0}, Drops: []strategy.Drop{{Index: 1}}}, "", "it was dropped"},
		{[]item{{10, 0.5}, {1, 0.5}}, 11, strategy.Selection{Indices: []int{0}, Shortfalls: make([]cupel.CountRequirementShortfall, 1)}, "", "what is short is another matter"},
		{[]item{{10, 0.5}, {1, 0.5}}, 11, strategy.Selection{Smaller: []strategy.SmallerForm{{Index: 0, Form: 1}}}, "", "and so are smaller forms"},
		{[]item{{10, 0.5}, {1, 0.5}}, 9, strategy.Selection{Indices: []int{0}}, "", "too much is selected, which is another rule's"},
		{[]item{{10, 0.5}, {1, 0.5}}, 20, strategy.Selection{Indices: []int{2}}, "", "the position is not there, which is another rule's"},
		{[]item{{10, 0.5}, {1, 0.5}}, 20, strategy.Selection{Indices: []int{-1}}, "", "nor is this one"},
		{[]item{{math.MaxInt, 0.5}, {math.MaxInt, 0.5}, {5, 0.5}}, 10, strategy.Selection{Indices: []int{0, 1}}, "", "too much is selected, and what is left would wrap"},
		{[]item{{1, 0.5}, {10, 0.5}}, 11, strategy.Selection{Indices: []int{1}}, "position 0 has 1 tokens, 1 are left, and it is not selected", "the first position counts"},
	} {
		var items []cupel.ScoredItem
		for _, it := range row.items {
			items = append(items, cupel.ScoredItem{Item: cupeltest.Item("x", it.tokens), Score: it.score})
		}
		if got := cupeltest.LeavesRoom(items, row.target, row.sel); got != row.want {
			t.Errorf("%v of %v tokens, selected %v: %q, want %q, since %s", row.items, row.target, row.sel, got, row.want, row.why)
		}
	}
}

func TestDiff(t *testing.T) {
	lines := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "line %d\n", i)
		}
		return b.String()
	}
	for _, row := range []struct{ name, want, got, diff, why string }{
		{"one", "a\n", "b\n", "- a\n+ b", "what was comes first"},
		{"added", lines(0, 8), lines(0, 4) + "new\n" + lines(4, 8), "  …\n  line 2\n  line 3\n+ new\n  line 4\n  line 5\n  …", "two lines around it are shown"},
		{"near the ends", lines(0, 5), "x\n" + lines(1, 4) + "y\n", "- line 0\n+ x\n  line 1\n  line 2\n  line 3\n- line 4\n+ y", "there is nothing to leave out"},
		{"kept in the middle", "a\nb\nc\nd\n", "b\nx\nd\na\n", "- a\n  b\n- c\n+ x\n  d\n+ a", "the longest common lines stay"},
		{"the later of two", "a\nc\nb\n", "c\na\nb\n", "- a\n  c\n+ a\n  b", "either is as long"},
		{"equal at the start alone", "a\nb\na\n", "a\n", "  a\n- b\n- a", "the first lines are compared first"},
		{"equal at the start of more", "a\n", "a\nb\na\n", "  a\n+ b\n+ a", "the same"},
		{"equal at the end of more", "x\n", "b\nx\nc\nx\n", "+ b\n+ x\n+ c\n  x", "then the last"},
		{"equal at the end alone", "b\nx\nc\nx\n", "x\n", "- b\n- x\n- c\n  x", "the same"},
		{"a line in the middle", "x\nc\ny\n", "c\n", "- x\n  c\n- y", "the last line may be found too"},
		{"last but two", lines(0, 9), lines(0, 5) + "x\n" + lines(6, 9), "  …\n  line 3\n  line 4\n- line 5\n+ x\n  line 6\n  line 7\n  …", "one line at the end is left out"},
		{"60 lines", "", lines(0, 59), "-\n+ line 0", "60 lines are shown"},
		{"61 lines", "", lines(0, 60), "-\n+ line 0", "one more is counted"},
	} {
		got := cupeltest.Diff(row.want, row.got)
		if strings.HasSuffix(row.name, " lines") {
			want := map[string]string{"60 lines": "+ line 58", "61 lines": "  … and 1 more lines"}[row.name]
			if !strings.HasPrefix(got, row.diff) || !strings.HasSuffix(got, "\n"+want) {
				t.Errorf("%s: got\n%s\nwant the last line %q: %s", row.name, got, want, row.why)
			}
			continue
		}
		if got != row.diff {
			t.Errorf("%s: got\n%s\nwant\n%s\nsince %s", row.name, got, row.diff, row.why)
		}
	}
}

// A diff keeps as many lines as it can, up to a size where it compares the ends
// alone.
func TestDiffIsShortest(t *testing.T) {
	var longest func(a, b string) int
	longest = func(a, b string) int {
		switch {
		case a == "" || b == "":
			return 0
		case a[0] == b[0]:
			return 1 + longest(a[1:], b[1:])
		}
		return max(longest(a[1:], b), longest(a, b[1:]))
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		var texts [2]string
		for i := range texts {
			for range 1 + random.IntN(6) {
				texts[i] += string(rune('a' + random.IntN(3)))
			}
		}
		var before, after strings.Builder
		kept := 0
		for _, line := range cupeltest.DiffText(strings.Split(texts[0], ""), strings.Split(texts[1], "")) {
			if line[0] != '+' {
				before.WriteString(line[2:])
			}
			if line[0] != '-' {
				after.WriteString(line[2:])
			}
			if line[0] == ' ' {
				kept++
			}
		}
		if want := longest(texts[0], texts[1]); before.String() != texts[0] || after.String() != texts[1] || kept != want {
			t.Fatalf("from %v the diff goes from %s to %s and keeps %d of %d", texts, before.String(), after.String(), kept, want)
		}
	}

	for _, row := range []struct{ more, kept int }{{0, 1}, {1, 0}} {
		var sides [2][]string
		for side := range sides {
			for i := range 2048 + row.more {
				sides[side] = append(sides[side], fmt.Sprint(side, " ", i))
			}
			sides[side][1000] = "kept"
		}
		kept := 0
		for _, line := range cupeltest.DiffText(sides[0], sides[1]) {
			if line == "  kept" {
				kept++
			}
		}
		if kept != row.kept {
			t.Errorf("of 2048 and %d lines, %d in the middle are kept, want %d", row.more, kept, row.kept)
		}
	}
}

func TestCutAt(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "x", 2: "x x", 3: "x x and 1 more", 5: "x x and 3 more"} {
		if got := strings.Join(cupeltest.CutAt(2, n), " "); got != want {
			t.Errorf("2 of %d: %q, want %q", n, got, want)
		}
	}
}

// The first line of a failure has what was found without the place, and not all of
// a long text.
func TestInBrief(t *testing.T) {
	long := strings.Repeat("é", 120)
	for found, want := range map[string]string{
		"a list: position 3": "position 3", "panic: runtime error: x": "panic: runtime error: x", "position 3": "position 3",
		"a list: item 3 scores 1, then 2": "1, then 2", "a list: item 3 is odd": "item 3 is odd", "a list: position 3 scores 1": "position 3 scores 1",
		"a list: " + long: long, "a list: " + long + "é": long + "…", "a list: " + long + "éé": long + "…",
	} {
		if got := cupeltest.InBrief(found); got != want {
			t.Errorf("%q in brief is %q, want %q", found, got, want)
		}
	}
}

func TestRequiredKinds(t *testing.T) {
	entries := []slicer.CountQuotaEntry{{Kind: "A", RequireCount: 1, CapCount: 2}, {Kind: "B", CapCount: 2}}
	quota := slicer.Must(slicer.NewQuota(slicer.Greedy{}, slicer.Require("C", 30), slicer.Cap("D", 20), slicer.Between("E", 1, 2)))
	for _, row := range []struct {
		s    strategy.Slicer
		want string
		why  string
	}{
		{slicer.Greedy{}, "[]", "it requires nothing"},
		{quota, "[C 30 E 1]", "a cap requires nothing"},
		{slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, entries)), "[A 0]", "B is capped alone"},
		{slicer.Must(slicer.NewCountConstrainedKnapsack(new(slicer.Knapsack), entries)), "[A 0]", "the same"},
		{slicer.Must(slicer.NewCountQuota(quota, entries)), "[A 0 C 30 E 1]", "the inner slicer requires too"},
	} {
		if got := fmt.Sprint(cupeltest.Required(row.s)); got != row.want {
			t.Errorf("%T requires %s, want %s: %s", row.s, got, row.want, row.why)
		}
	}
}

// A nil option changes nothing, and a nil generator is refused. The strategies
// have the required methods alone, and inherit these.
func TestNilOptions(t *testing.T) {
	outer := t
	for name, run := range map[string]func(t cupeltest.T){
		"scorer": func(t cupeltest.T) {
			cupeltest.TestScorer(t, the[strategy.Scorer](struct{ strategy.Scorer }{scoreFunc(size)}), nil)
		},
		"slicer": func(t cupeltest.T) {
			cupeltest.TestSlicer(t, the[strategy.Slicer](struct{ strategy.Slicer }{slicer.Greedy{}}), nil)
		},
		"placer": func(t cupeltest.T) {
			cupeltest.TestPlacer(t, the[strategy.Placer](struct{ strategy.Placer }{placeFunc(func(items []cupel.ScoredItem) ([]int, error) { return asGiven(items), nil })}), nil)
		},
		"collector": func(t cupeltest.T) {
			cupeltest.TestTraceCollector(t, the[observe.TraceCollector](observe.NullTraceCollector{}), nil)
		},
	} {
		if s := watch(run); len(s.messages) > 0 || !s.finished {
			t.Errorf("a %s with a nil option: %q", name, s.messages)
		}
	}
	s := watch(func(t cupeltest.T) {
		cupeltest.Property(t, newPipeline(outer, pipeline.Config{}), cupeltest.WithCandidates(nil), cupeltest.WithCases(7))
	})
	equalMessages(t, "Property", s.messages, []string{"Property failed: it takes a generator and at least 1 case, got 7."}, "there is nothing to try")
}

// NaN is equal to NaN and to no other score.
func TestReasonDataWithNaN(t *testing.T) {
	tooLow := func(score float64) cupel.ExclusionReason {
		return cupel.NewExclusionReason(cupel.ExcludeScoredTooLow, cupel.ReasonData{Score: score, Threshold: 0.5})
	}
	for _, row := range []struct {
		want, got float64
		holds     bool
	}{{0.25, 0.25, true}, {0.25, math.NaN(), false}, {math.NaN(), 0.25, false}, {math.NaN(), math.NaN(), true}} {
		r := &report{Excluded: []cupel.ExcludedItem{out(cupel.KindMemory, 1, 0, tooLow(row.got))}}
		if err := cupeltest.That(r).ExcludeItemWithReasonData(tooLow(row.want)).Err(); (err == nil) != row.holds {
			t.Errorf("%v and %v: %v", row.want, row.got, err)
		}
	}
}

// What looks like the name of a file has no quotes.
func TestNamesInFailures(t *testing.T) {
	for tag, want := range map[string]string{
		"": `""`, "a": "a", "z-Z.0_9/": "z-Z.0_9/", "{x": `"{x"`, "x}": `"x}"`, "`": "\"`\"", "@": `"@"`, "[": `"["`, ":": `":"`, "a b": `"a b"`, "é": `"é"`,
		strings.Repeat("n", 60): strings.Repeat("n", 60),
		strings.Repeat("n", 61): `"` + strings.Repeat("n", 60) + `"… (61 bytes, sha256 `,
	} {
		err := cupeltest.That(deskReport(t)).IncludeItemMatching(cupeltest.ByTag(tag).Included).Err()
		if err == nil || !strings.Contains(err.Error(), "\n\tno candidate has tag "+want) {
			t.Errorf("%q: %v, want %s", tag, err, want)
		}
	}
}

func TestCollectorsThatCannotBeMade(t *testing.T) {
	s := watch(func(t cupeltest.T) {
		cupeltest.TestTraceCollector(t, func() observe.TraceCollector { panic("no file") })
	})
	equalMessages(t, "TestTraceCollector", s.messages, []string{"TestTraceCollector: panic: no file"}, "it is not nil")
}

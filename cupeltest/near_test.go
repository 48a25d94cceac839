package cupeltest_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

// page is a row of ASSERTIONS.md: an assertion, when it holds, and a call that
// fails.
type page struct {
	call, holds string
	over        func(t *testing.T) *report // nil means deskReport
	fail        func(c *chain)
}

// desk is what the page asserts about: 100 tokens for a prompt, a question, a file
// that is too large, and two notes.
func deskItems() []*cupel.ContextItem {
	hint := cupel.WithFutureRelevanceHint
	return []*cupel.ContextItem{
		cupeltest.Item("Answer briefly.", 10, cupel.WithKind(cupel.KindSystemPrompt), cupel.WithPinned()),
		cupeltest.Item("Why is the build red?", 30, hint(0.9)),
		cupeltest.Item("README.md", 500, hint(0.8), cupel.WithKind(cupel.KindDocument), cupel.WithTags("manual")),
		cupeltest.Item("The last build was green.", 20, hint(0.5), cupel.WithKind(cupel.KindMemory)),
		cupeltest.Item("The build is old.", 20, hint(0.4), cupel.WithKind(cupel.KindMemory)),
	}
}

func deskReport(t *testing.T) *report {
	t.Helper()
	report, _ := cupeltest.Run(t, newPipeline(t, pipeline.Config{}), deskItems(), cupeltest.Budget(90, 90))
	return report
}

func pages() []page {
	budget := cupeltest.Budget(90, 90)
	document := cupeltest.ByKind(cupel.KindDocument)
	memory := cupeltest.ByKind(cupel.KindMemory)
	unsorted := func(t *testing.T) *report {
		t.Helper()
		r := *deskReport(t)
		r.Excluded = append(r.Excluded, r.Excluded[0])
		r.Excluded[0].Score = 0.1
		return &r
	}
	inward := func(t *testing.T) *report {
		t.Helper()
		r := *deskReport(t)
		r.Included[0], r.Included[1] = r.Included[1], r.Included[0]
		return &r
	}
	split := func(*testing.T) *report { return splitReport() }
	units := unitsReport
	return []page{
		{"IncludeItemWithKind(kind)", "at least one included item has the kind", nil, func(c *chain) { c.IncludeItemWithKind(cupel.KindDocument) }},
		{"IncludeItemMatching(predicate)", "at least one included entry matches", nil, func(c *chain) { c.IncludeItemMatching(cupeltest.ByTag("secret").Included) }},
		{"IncludeExactlyNItemsWithKind(kind, n)", "exactly n included items have the kind; a group counts as one", nil, func(c *chain) { c.IncludeExactlyNItemsWithKind(cupel.KindMemory, 1) }},
		{"ExcludeItemWithReason(code)", "at least one item is excluded with this reason", nil, func(c *chain) { c.ExcludeItemWithReason(cupel.ExcludeDeduplicated) }},
		{"ExcludeItemMatchingWithReason(predicate, code)", "a matching item is excluded with this reason", nil, func(c *chain) { c.ExcludeItemMatchingWithReason(memory, cupel.ExcludeBudgetExceeded) }},
		{"ExcludeItemWithBudgetDetails(predicate, itemTokens, availableTokens)", "a matching item did not fit, with these numbers", nil, func(c *chain) { c.ExcludeItemWithBudgetDetails(document, 500, 90) }},
		{"HaveNoExclusionsForKind(kind)", "no excluded item has the kind", nil, func(c *chain) { c.HaveNoExclusionsForKind(cupel.KindDocument) }},
		{"HaveAtLeastNExclusions(n)", "at least n items are excluded", nil, func(c *chain) { c.HaveAtLeastNExclusions(2) }},
		{"ExcludedItemsAreSortedByScoreDescending()", "excluded items are in descending score order, as in every report of a pipeline", unsorted, func(c *chain) { c.ExcludedItemsAreSortedByScoreDescending() }},
		{"HaveBudgetUtilizationAbove(threshold, budget)", "included tokens are at least this share of `MaxTokens`", nil, func(c *chain) { c.HaveBudgetUtilizationAbove(0.95, budget) }},
		{"HaveKindCoverageCount(n)", "at least n kinds are included", nil, func(c *chain) { c.HaveKindCoverageCount(4) }},
		{"PlaceItemAtEdge(predicate)", "the first or the last entry matches; a group counts as one", nil, func(c *chain) { c.PlaceItemAtEdge(cupeltest.ByContentPrefix("The build").Included) }},
		{"PlaceTopNScoredAtEdges(n)", "the n items with the highest scores are outermost; a group counts as one", inward, func(c *chain) { c.PlaceTopNScoredAtEdges(2) }},
		{"IncludeNoItemMatching(predicate)", "no included entry matches", nil, func(c *chain) { c.IncludeNoItemMatching(memory.Included) }},
		{"ExcludeNoItemMatching(predicate)", "no excluded item matches", nil, func(c *chain) { c.ExcludeNoItemMatching(cupeltest.ByTag("manual")) }},
		{"HaveNoExclusions()", "every candidate is included", nil, func(c *chain) { c.HaveNoExclusions() }},
		{"IncludeInOrder(contents...)", "items with these contents are included in this order", nil, func(c *chain) { c.IncludeInOrder("The last build was green.", "README.md") }},
		{"HaveTokensAtMost(n)", "included items have at most n tokens", nil, func(c *chain) { c.HaveTokensAtMost(50) }},
		{"ExcludeItemWithReasonData(reason)", "an item is excluded with this reason and these data", nil, func(c *chain) { c.ExcludeItemWithReasonData(exceeded(500, 90)) }},
		{"HaveShortfallForKind(kind)", "a count slicer found too few of the kind", nil, func(c *chain) { c.HaveShortfallForKind(cupel.KindDocument) }},
		{"Satisfy(what, check)", "your own check returns nil", nil, func(c *chain) {
			c.Satisfy("half is code", func(*cupel.SelectionReport) error { return errors.New("10 of 80 tokens are code") })
		}},
		{"IncludeGroup(group)", "all items of the group are in", split, func(c *chain) { c.IncludeGroup("g") }},
		{"ExcludeGroup(group)", "all items of the group are out", split, func(c *chain) { c.ExcludeGroup("call_7") }},
		{"KeepGroupsWhole()", "no group is split", split, func(c *chain) { c.KeepGroupsWhole() }},
		{"KeepGroupsTogether()", "no group is split, and its items follow one another, as in every report of a pipeline", split, func(c *chain) { c.KeepGroupsTogether() }},
		{"IncludeItemInForm(predicate, form)", "a matching item is in, as its n-th smaller form; 0 is the full item", units, func(c *chain) { c.IncludeItemInForm(document.Included, 1) }},
		{"IncludeItemInSmallerForm(predicate)", "a matching item is in, in some smaller form", units, func(c *chain) { c.IncludeItemInSmallerForm(cupeltest.ByGroup("call_1").Included) }},
		{"ExcludeItemSupersededBy(predicate, newest)", "a matching item gave way to the version with this content", units, func(c *chain) { c.ExcludeItemSupersededBy(cupeltest.ByVersionOf("file"), "file, version 3") }},
		{"IncludeStaleItem(predicate)", "a matching item is in although there is a newer version", units, func(c *chain) { c.IncludeStaleItem(document.Included) }},
		{"HaveNoStaleItems()", "the window has no item that has a newer version", units, func(c *chain) { c.HaveNoStaleItems() }},
		{"MatchGolden(name)", "the report equals `testdata/NAME.golden`", nil, func(c *chain) { c.MatchGolden("none") }},
	}
}

// ASSERTIONS.md has every assertion with the exact text of its failure.
func TestAssertionsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Assertions\n\nEach assertion of a chain, and how it fails. The first line of a failure has the text of the specification's Testing Vocabulary chapter, where the\n" +
		"assertion is one of its 13; the lines after it say what came nearest. Chains over a report of `cupeltest.Run` or `DryRun` add the smallest budget that\n" +
		"includes an item. The table is made by `CUPELTEST_UPDATE=1 go test -run TestAssertionsPage`.\n\n| assertion | holds if | fails with |\n|---|---|---|\n")
	var names []string
	for i, row := range pages() {
		over := row.over
		if over == nil {
			over = deskReport
		}
		failures := watch(func(s cupeltest.T) { row.fail(cupeltest.Expect(s, over(t))) }).messages
		if len(failures) != 1 {
			t.Fatalf("%s fails with %q", row.call, failures)
		}
		if i == 13 {
			b.WriteString("| *additions to the specification's vocabulary:* | | |\n")
		}
		lines := strings.Split(failures[0], "\n")
		for i, line := range lines {
			lines[i] = "`" + strings.ReplaceAll(strings.TrimPrefix(line, "\t"), "|", `\|`) + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", row.call, row.holds, strings.Join(lines, "<br>"))
		name, _, _ := strings.Cut(row.call, "(")
		names = append(names, name)
	}
	for link := range reflect.TypeFor[*chain]().Methods() {
		if !slices.Contains(names, link.Name) {
			t.Errorf("the page has no row for %s", link.Name)
		}
	}
	samePage(t, "ASSERTIONS.md", b.String())
}

// samePage compares a page with what it should be, or writes it.
func samePage(t *testing.T, name, want string) {
	t.Helper()
	if update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil || strings.ReplaceAll(string(got), "\r\n", "\n") != want {
		t.Errorf("%s is old (%v); run the test with CUPELTEST_UPDATE=1. It should be\n%s", name, err, want)
	}
}

// RULES.md has every rule, and fits on two screens.
func TestRulesPage(t *testing.T) {
	page := "# Rules of the kit\n\nWhat `TestScorer`, `TestSlicer`, `TestPlacer` and `TestTraceCollector` check, in this order. A failure names the rule, the sentence that does\n" +
		"not hold, and what was found; `Except` takes the name. The table is made by `CUPELTEST_UPDATE=1 go test -run TestRulesPage`.\n\n" +
		"| rule | for | it holds that |\n|---|---|---|\n" + strings.Join(cupeltest.RuleRows(), "\n") + "\n" + rulesNotes
	samePage(t, "RULES.md", page)
	require.Less(t, strings.Count(page, "\n"), 90)
}

// rulesNotes says what the sentences leave out.
const rulesNotes = `
- **constant**: a scorer that reads what the kit's items do not have needs items that it tells apart, by WithItems. Scorers of package
  scorer may be set to be constant.
- **environment**: runs are compared under GOMAXPROCS 1 and 3, in time zones hours and days away, and with another LANG and LC_ALL; in a
  bubble of testing/synctest also a year later. Parallel tests keep their time zone and language.
- **growth**: bytes allocated, and time next to that of sorting, for 250 and 2,000 items or events.
- **room**: a slicer with Explain has said why, and one around others may leave out what they do. Quotas and counts of package slicer divide
  the budget.
- **order**: slicers around others may prefer a kind.
- **useless**: slicers of package slicer may be set to select nothing, as by a share of 0.
- **target**: slicers that commit items by count pass it on purpose; say WithTargetExceeded.
- Rules before **result** that are broken end the kit, since others then say nothing.
`

// The run of a report is known as long as the report is, and no longer.
func TestRunsAreForgotten(t *testing.T) {
	before := cupeltest.KnownRuns()
	r := deskReport(t)
	if cupeltest.KnownRuns() != before+1 {
		t.Error("the run of a report that is in use is not known")
	}
	runtime.KeepAlive(r)
	for range 100 {
		deskReport(t)
	}
	for range 50 {
		runtime.GC()
		if cupeltest.KnownRuns() < before+50 {
			return
		}
	}
	t.Errorf("%d runs are still known", cupeltest.KnownRuns())
}

func TestNearestIsTrue(t *testing.T) {
	tag, prompt := cupeltest.ByTag("manual").Included, cupeltest.ByKind(cupel.KindSystemPrompt).Included
	for _, row := range []struct {
		why       string
		predicate func(cupel.IncludedItem) bool
		want      string
	}{
		{"no candidate has the tag", cupeltest.ByTag("secret").Included, "no candidate matches"},
		{"a candidate has the tag, so the part is no answer for the whole", func(e cupel.IncludedItem) bool { return tag(e) && e.Item.Tokens() > 1000 }, "no candidate matches"},
		{"an included one has the tag", func(e cupel.IncludedItem) bool { return prompt(e) && e.Score > 1000 }, "no candidate matches"},
		{"the excluded item is the near miss, with the budget that takes it", tag, "README.md is excluded: BudgetExceeded, 500 tokens requested, 10 available. The smallest budget that includes it is 580 tokens."},
		{"a predicate that expects an included item may panic", func(e cupel.IncludedItem) bool {
			if e.Reason == "" {
				panic("not included")
			}
			return false
		}, "no candidate matches"},
	} {
		err := errOf(deskReport(t), func(c *chain) *chain { return c.IncludeItemMatching(row.predicate) })
		failure, ok := errors.AsType[*cupeltest.SelectionReportAssertionError](err)
		if !ok || !slices.Equal(failure.Nearest, []string{row.want}) || !strings.HasSuffix(err.Error(), "\n\t"+row.want) {
			t.Errorf("got %v, want %q: %s", err, row.want, row.why)
		}
	}
	if err := errOf(new(report), func(c *chain) *chain { return c.IncludeItemMatching(tag) }); !strings.HasSuffix(err.Error(), "\n\tthere are no candidates") {
		t.Errorf("got %v", err)
	}
}

// The pipeline of a report may decide differently when a failure asks it.
func TestSmallestBudgetOfOtherRuns(t *testing.T) {
	items := cupeltest.Items(10)
	for name, slice := range map[string]func(later bool) (strategy.Selection, error){
		"includes it": func(later bool) (sel strategy.Selection, _ error) {
			if later {
				sel.Indices = []int{0}
			}
			return sel, nil
		},
		"fails": func(later bool) (sel strategy.Selection, err error) {
			if later {
				err = errors.New("worn out")
			}
			return sel, err
		},
	} {
		runs := 0
		pipeline := newPipeline(t, pipeline.Config{Slicer: sliceFunc(func([]cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
			runs++
			return slice(runs > 1)
		})})
		err := errOf(cupeltest.DryRun(t, pipeline, items, cupeltest.Budget(20, 20)), func(c *chain) *chain { return c.HaveNoExclusions() })
		if err == nil || runs < 2 || !strings.HasSuffix(err.Error(), "BudgetExceeded, 10 tokens requested, 20 available") {
			t.Errorf("a pipeline that now %s: %v", name, err)
		}
	}
	r := deskReport(t)
	r.Excluded = []cupel.ExcludedItem{out(cupel.KindMemory, 1, 0, cupel.NewExclusionReason(cupel.ExcludeFiltered, cupel.ReasonData{FilterName: "a: b"}))}
	if err := errOf(r, func(c *chain) *chain { return c.HaveNoExclusions() }); err == nil || !strings.HasSuffix(err.Error(), "\n\t\"Memory 1\" is excluded: Filtered, a: b") {
		t.Errorf("an item of another run: %v", err)
	}
}

func TestLongListsAreCut(t *testing.T) {
	var items []*cupel.ContextItem
	for i := range 1000 {
		items = append(items, cupeltest.Item(fmt.Sprintf("note %d", i), 1, cupel.WithKind(cupel.ContextKind(fmt.Sprintf("K%d", i)))))
	}
	r := cupeltest.DryRun(t, newPipeline(t, pipeline.Config{}), items, cupeltest.Budget(500, 500))
	for n, want := range map[int]string{20: "K18, K19].", 21: "K18, K19, … and 1 more]."} {
		few := new(report)
		for i := range n {
			few.Included = append(few.Included, in(cupel.ContextKind(fmt.Sprint("K", i)), 1, 1))
		}
		if err := errOf(few, func(c *chain) *chain { return c.IncludeItemWithKind("none") }); err == nil || !strings.HasSuffix(firstLine(err.Error()), want) {
			t.Errorf("of %d kinds: %v, want %q at the end", n, err, want)
		}
	}
	for name, link := range map[string]func(c *chain){
		"order":     func(c *chain) { c.IncludeInOrder("none") },
		"kinds":     func(c *chain) { c.IncludeItemWithKind("none") },
		"coverage":  func(c *chain) { c.HaveKindCoverageCount(900) },
		"edges":     func(c *chain) { c.PlaceTopNScoredAtEdges(900) },
		"negative":  func(c *chain) { c.IncludeNoItemMatching(func(cupel.IncludedItem) bool { return true }) },
		"excluded":  func(c *chain) { c.HaveNoExclusions() },
		"too large": func(c *chain) { c.HaveTokensAtMost(1) },
	} {
		if err := cupeltest.That(r, link); err == nil || len(err.Error()) > 3000 || !strings.Contains(err.Error(), "and 4") && !strings.Contains(err.Error(), "and 8") {
			t.Errorf("%s fails with %d bytes: %.3500v", name, len(fmt.Sprint(err)), err)
		}
	}
}

// With hidden contents, no failure holds a part of one.
func TestHiddenContents(t *testing.T) {
	for _, row := range pages() {
		if strings.HasPrefix(row.call, "MatchGolden") || strings.HasPrefix(row.call, "Satisfy") {
			continue
		}
		over := row.over
		if over == nil {
			over = deskReport
		}
		r := over(t)
		s := watch(func(t cupeltest.T) { row.fail(cupeltest.Expect(t, r, cupeltest.WithHiddenContents())) })
		if len(s.messages) != 1 {
			t.Fatalf("%s: %q", row.call, s.messages)
		}
		for _, entry := range r.Included {
			if content := entry.Item.Content(); len(content) > 5 && strings.Contains(s.messages[0], content) {
				t.Errorf("%s shows %q in %s", row.call, content, s.messages[0])
			}
		}
		for _, entry := range r.Excluded {
			if content := entry.Item.Content(); len(content) > 5 && strings.Contains(s.messages[0], content) {
				t.Errorf("%s shows %q in %s", row.call, content, s.messages[0])
			}
		}
	}
}

package cupeltest_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
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
		{"HaveShortfallForKind(kind)", "a count slicer found too few of the kind", nil, func(c *chain) { c.HaveShortfallForKind(cupel.KindDocument) }},
		{"MatchGolden(name)", "the report equals `testdata/NAME.golden`", nil, func(c *chain) { c.MatchGolden("none") }},
	}
}

// ASSERTIONS.md has every assertion with the exact text of its failure.
func TestAssertionsPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Assertions\n\nEach assertion of a chain, and how it fails. For the specification's 13 assertions, the first line of a failure has its text; the lines\n" +
		"after it show the items that came nearest. Chains over a report of `cupeltest.Run` add the smallest budget that includes an item.\n" +
		"`CUPELTEST_UPDATE=1 go test -run TestAssertionsPage` writes this page.\n\n| assertion | holds if | fails with |\n|---|---|---|\n")
	var names []string
	for i, row := range pages() {
		over := row.over
		if over == nil {
			over = deskReport
		}
		failures := watch(func(s cupeltest.T) { row.fail(cupeltest.Expect(s, over(t))) }).messages
		require.Len(t, failures, 1, row.call)
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
		require.Contains(t, names, link.Name)
	}
	samePage(t, "ASSERTIONS.md", b.String())
}

// samePage compares a page with what it should be, or writes it.
func samePage(t *testing.T, name, want string) {
	t.Helper()
	if update {
		require.NoError(t, os.WriteFile(name, []byte(want), 0o644))
	}
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, want, strings.ReplaceAll(string(got), "\r\n", "\n"), "%s is old; run the test with CUPELTEST_UPDATE=1", name)
}

// What the kit gives to strategies differs in each way that one may look at.
func TestLists(t *testing.T) { samePage(t, "testdata/lists.txt", cupeltest.Lists()) }

// RULES.md has every rule, and fits on two screens.
func TestRulesPage(t *testing.T) {
	page := "# Rules of the kit\n\n`TestScorer`, `TestSlicer` and `TestPlacer` check these rules, in this order. A failure names the rule, the sentence that\n" +
		"does not hold, and the finding; `Except` takes the name. `CUPELTEST_UPDATE=1 go test -run TestRulesPage` writes this page.\n\n" +
		"| rule | for | it holds that |\n|---|---|---|\n" + strings.Join(cupeltest.RuleRows(), "\n") + "\n" + rulesNotes
	samePage(t, "RULES.md", page)
	require.Less(t, strings.Count(page, "\n"), 90)
}

// rulesNotes explains sentences of the table.
const rulesNotes = `
- **constant**: a scorer that reads fields which the kit's items lack needs items that it can tell apart; pass them by WithItems. Scorers of package
  scorer may be set to be constant.
- **environment**: runs are compared under GOMAXPROCS 1 and 3, in time zones hours and days away, and with another LANG and LC_ALL; in a
  bubble of testing/synctest also a year later. Parallel tests keep their time zone and language.
- **growth**: bytes allocated, and time relative to sorting, for 250 and 2,000 items.
- **room**: a slicer with Explain gives the reason itself, and a slicer around others may leave out items as they do. Quotas and counts of
  package slicer divide the budget.
- **order**: slicers around others may prefer a kind.
- **useless**: slicers of package slicer may be set to select nothing, for example by a share of 0.
- **target**: slicers that commit items by count exceed it on purpose; use Except("target").
- A broken rule before **result** ends the kit, since later rules then prove nothing.
`

// The run of a report is known as long as the report is, and no longer.
func TestRunsAreForgotten(t *testing.T) {
	before := cupeltest.KnownRuns()
	r := deskReport(t)
	require.Equal(t, before+1, cupeltest.KnownRuns())
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
	require.Less(t, cupeltest.KnownRuns(), before+50, "runs that are still known")
}

func TestNearestIsTrue(t *testing.T) {
	tag := cupeltest.ByTag("manual").Included
	for _, row := range []struct {
		why       string
		predicate func(cupel.IncludedItem) bool
		want      string
	}{
		{"the excluded item is the near miss, with the budget that takes it", tag, "\"README.md\" is excluded: BudgetExceeded, 500 tokens requested, 10 available. The smallest budget that includes it is 580 tokens."},
		{"a predicate that expects an included item may panic", func(e cupel.IncludedItem) bool {
			if e.Reason == "" {
				panic("not included")
			}
			return false
		}, "no candidate matches"},
	} {
		err := errOf(deskReport(t), func(c *chain) *chain { return c.IncludeItemMatching(row.predicate) })
		var failure *cupeltest.SelectionReportAssertionError
		require.ErrorAs(t, err, &failure)
		require.Equal(t, []string{row.want}, failure.Nearest, row.why)
		require.ErrorContains(t, err, "\n\t"+row.want)
	}
}

// The pipeline of a report may decide differently when a failure asks it.
func TestSmallestBudgetOfOtherRuns(t *testing.T) {
	runs := 0
	pipeline := newPipeline(t, pipeline.Config{Slicer: sliceFunc(func([]cupel.ScoredItem, cupel.SliceBudget) (sel strategy.Selection, _ error) {
		if runs++; runs > 1 {
			sel.Indices = []int{0}
		}
		return sel, nil
	})})
	err := errOf(dryRun(t, pipeline, cupeltest.Items(10), cupeltest.Budget(20, 20)), (*chain).HaveNoExclusions)
	require.ErrorContains(t, err, "BudgetExceeded, 10 tokens requested, 20 available")
	require.True(t, strings.HasSuffix(err.Error(), "available"), err)
	require.Greater(t, runs, 1)
	r := deskReport(t)
	r.Excluded = []cupel.ExcludedItem{out(cupel.KindMemory, 1, 0, cupel.NewExclusionReason(cupel.ExcludeFiltered, cupel.ReasonData{FilterName: "a: b"}))}
	require.EqualError(t, errOf(r, (*chain).HaveNoExclusions), "HaveNoExclusions failed: expected no excluded items, but found 1.\n\t\"Memory 1\" is excluded: Filtered, a: b")
}

// A budget with a target of its own is asked for as such, and only if that is true.
func TestSmallestTargets(t *testing.T) {
	failed := errors.New("a target of its own")
	for name, row := range map[string]struct {
		takes func(budget cupel.SliceBudget) (bool, error)
		want  string // what the failure ends with
	}{
		"by target":  {func(b cupel.SliceBudget) (bool, error) { return b.TargetTokens >= 60, nil }, ". The smallest budget that includes it has a target of 60 tokens and a ceiling of 60."},
		"by less":    {func(b cupel.SliceBudget) (bool, error) { return b.TargetTokens >= 40, nil }, ". The smallest budget that includes it has a target of 40 tokens and a ceiling of 50."},
		"by ceiling": {func(b cupel.SliceBudget) (bool, error) { return b.MaxTokens >= 60, nil }, "available"},
		"never":      {func(cupel.SliceBudget) (bool, error) { return false, nil }, ". No budget up to 10 tokens includes it."},
		"fails": {func(b cupel.SliceBudget) (bool, error) {
			if b.TargetTokens != 20 && b.TargetTokens != b.MaxTokens {
				return false, failed
			}
			return b.TargetTokens >= 40, nil
		}, "available"},
	} {
		p := newPipeline(t, pipeline.Config{Slicer: sliceFunc(func(items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
			takes, err := row.takes(budget)
			if !takes || err != nil || len(items) == 0 {
				return strategy.Selection{}, err
			}
			return strategy.Selection{Indices: []int{0}}, nil
		})})
		err := errOf(dryRun(t, p, cupeltest.Items(10), cupeltest.Budget(50, 20)), (*chain).HaveNoExclusions)
		require.Error(t, err, name)
		require.True(t, strings.HasSuffix(err.Error(), row.want), "%s: %v", name, err)
	}
}

func TestLongListsAreCut(t *testing.T) {
	var items []*cupel.ContextItem
	for i := range 1000 {
		items = append(items, cupeltest.Item(fmt.Sprintf("note %d", i), 1, cupel.WithKind(cupel.ContextKind(fmt.Sprintf("K%d", i)))))
	}
	r := dryRun(t, newPipeline(t, pipeline.Config{}), items, cupeltest.Budget(500, 500))
	for n, want := range map[int]string{20: "K18, K19].", 21: "K18, K19, … and 1 more]."} {
		few := new(report)
		for i := range n {
			few.Included = append(few.Included, in(cupel.ContextKind(fmt.Sprint("K", i)), 1, 1))
		}
		err := errOf(few, func(c *chain) *chain { return c.IncludeItemWithKind("none") })
		require.True(t, strings.HasSuffix(firstLine(err.Error()), want), err)
	}
	for n, want := range map[int]string{5: "available", 6: "and 1 more"} {
		few := dryRun(t, newPipeline(t, pipeline.Config{}), items[:n], cupeltest.Budget(1, 0))
		require.True(t, strings.HasSuffix(errOf(few, (*chain).HaveNoExclusions).Error(), want), "%d items: %v", n, errOf(few, (*chain).HaveNoExclusions))
	}
	for name, link := range map[string]func(c *chain){
		"order":     func(c *chain) { c.IncludeInOrder("none") },
		"coverage":  func(c *chain) { c.HaveKindCoverageCount(900) },
		"edges":     func(c *chain) { c.PlaceTopNScoredAtEdges(900) },
		"excluded":  func(c *chain) { c.HaveNoExclusions() },
		"too large": func(c *chain) { c.HaveTokensAtMost(1) },
	} {
		err := cupeltest.That(r, link)
		require.Regexp(t, "and [48]", err, name)
		require.Less(t, len(err.Error()), 3000, name)
	}
}

// With hidden contents, no failure holds a part of one.
func TestHiddenContents(t *testing.T) {
	for _, row := range pages() {
		over := row.over
		if over == nil {
			over = deskReport
		}
		r := over(t)
		s := watch(func(t cupeltest.T) { row.fail(cupeltest.Expect(t, r, cupeltest.WithHiddenContents())) })
		require.Len(t, s.messages, 1, row.call)
		for _, item := range deskItems() {
			require.NotContains(t, s.messages[0], item.Content(), row.call)
		}
	}
}

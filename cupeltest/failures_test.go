package cupeltest_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupeltest"
)

// many is a report of more entries than a failure shows.
func many() *report {
	r := new(report)
	for i := range 30 {
		r.Included = append(r.Included, named(fmt.Sprintf("in %02d", i), cupel.ContextKind(fmt.Sprintf("Kind%d", i%25)), i, float64(i%7)))
		r.Excluded = append(r.Excluded, out(cupel.KindMemory, 20+i%22, float64(30-i), exceeded(20+i, i)))
	}
	return r
}

// odd is a report with every reason, in forms that no pipeline makes.
func odd() *report {
	r := &report{Included: []cupel.IncludedItem{named("huge", cupel.KindDocument, math.MaxInt, math.NaN()), named("huge too", "document", math.MaxInt, 1)}}
	for i, code := range cupel.ExclusionCodes() {
		r.Excluded = append(r.Excluded, out(cupel.KindDocument, i, 0.5, cupel.NewExclusionReason(code, cupel.ReasonData{
			ItemTokens: 500, AvailableTokens: 90, Kind: cupel.KindDocument, Cap: 3, Count: 4, Score: 0.25, Threshold: 0.5,
		})))
		r.Excluded = append(r.Excluded, out(cupel.KindMemory, i, 0.5, because(code)))
	}
	r.Excluded = append(r.Excluded, out(cupel.KindMemory, 1, 0, cupel.NewExclusionReason(cupel.ExcludeScoredTooLow, cupel.ReasonData{Score: math.NaN(), Threshold: 0.5})))
	return r
}

func short(t *testing.T) *report {
	t.Helper()
	entries := []slicer.CountQuotaEntry{{Kind: cupel.KindDocument, RequireCount: 3, CapCount: 4}}
	pipeline := newPipeline(t, pipeline.Config{Slicer: slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, entries))})
	report, _ := cupeltest.Run(t, pipeline, deskItems(), cupeltest.Budget(700, 700))
	return report
}

// Each assertion over each report, with how it fails. ASSERTIONS.md has the whole
// text of one failure of each; here a change of others is seen.
func TestFailures(t *testing.T) {
	links := pages()
	add := func(call string, fail func(c *chain)) { links = append(links, page{call: call, fail: fail}) }
	for _, content := range []string{"README.md", "in 03", "Document 5", "Memory 21", "huge", "none"} {
		is := cupeltest.ByContent(content)
		add("IncludeItemMatching "+content, func(c *chain) { c.IncludeItemMatching(is.Included) })
		add("IncludeNoItemMatching "+content, func(c *chain) { c.IncludeNoItemMatching(is.Included) })
		add("ExcludeNoItemMatching "+content, func(c *chain) { c.ExcludeNoItemMatching(is) })
		add("PlaceItemAtEdge "+content, func(c *chain) { c.PlaceItemAtEdge(is.Included) })
		add("IncludeInOrder "+content, func(c *chain) { c.IncludeInOrder("in 05", content) })
		add("ExcludeItemWithBudgetDetails "+content, func(c *chain) { c.ExcludeItemWithBudgetDetails(is, 20, 1) })
	}
	for _, kind := range []cupel.ContextKind{cupel.KindDocument, cupel.KindMemory, "Kind3"} {
		add("IncludeItemWithKind "+string(kind), func(c *chain) { c.IncludeItemWithKind(kind) })
		add("HaveNoExclusionsForKind "+string(kind), func(c *chain) { c.HaveNoExclusionsForKind(kind) })
		add("HaveShortfallForKind "+string(kind), func(c *chain) { c.HaveShortfallForKind(kind) })
		for n := range 4 {
			add(fmt.Sprintf("IncludeExactlyNItemsWithKind %s %d", kind, n), func(c *chain) { c.IncludeExactlyNItemsWithKind(kind, n) })
		}
	}
	for _, group := range []string{"g", "call_1", "call_2"} {
		add("IncludeGroup "+group, func(c *chain) { c.IncludeGroup(group) })
		add("ExcludeGroup "+group, func(c *chain) { c.ExcludeGroup(group) })
	}
	for _, code := range cupel.ExclusionCodes() {
		add("ExcludeItemWithReason "+string(code), func(c *chain) { c.ExcludeItemWithReason(code) })
		add("ExcludeItemWithReasonData "+string(code), func(c *chain) {
			c.ExcludeItemWithReasonData(cupel.NewExclusionReason(code, cupel.ReasonData{ItemTokens: 500, AvailableTokens: 91, Kind: "document", Cap: 3, Score: 0.25, Threshold: 0.5}))
		})
	}
	for _, n := range []int{0, 1, 2, 3, 4, 5, 29, 30, 31} {
		add(fmt.Sprintf("PlaceTopNScoredAtEdges %d", n), func(c *chain) { c.PlaceTopNScoredAtEdges(n) })
		add(fmt.Sprintf("HaveKindCoverageCount %d", n), func(c *chain) { c.HaveKindCoverageCount(n) })
		add(fmt.Sprintf("HaveAtLeastNExclusions %d", n), func(c *chain) { c.HaveAtLeastNExclusions(n) })
		add(fmt.Sprintf("HaveTokensAtMost %d", n), func(c *chain) { c.HaveTokensAtMost(100 * n) })
		add(fmt.Sprintf("HaveBudgetUtilizationAbove %d", n), func(c *chain) { c.HaveBudgetUtilizationAbove(float64(n)/4, cupeltest.Budget(80*n, 0)) })
	}
	add("ExcludeItemWithReasonData NaN", func(c *chain) {
		c.ExcludeItemWithReasonData(cupel.NewExclusionReason(cupel.ExcludeScoredTooLow, cupel.ReasonData{Score: math.NaN(), Threshold: 0.5}))
	})
	add("Satisfy nothing", func(c *chain) { c.Satisfy("", func(*report) error { return errors.New("two\nlines") }) })

	desk := deskReport(t)
	all := *desk
	all.Excluded = nil
	reports := []struct {
		name string
		r    *report
	}{
		{"desk", desk}, {"all included", &all}, {"none", new(report)}, {"short", short(t)}, {"split", splitReport()},
		{"units", unitsReport(t)}, {"full", full()}, {"many", many()}, {"odd", odd()},
	}
	var b strings.Builder
	texts := make(map[string]string) // by line of the file
	for _, over := range reports {
		fmt.Fprintf(&b, "\n# %s\n\n", over.name)
		for _, link := range links {
			if strings.HasPrefix(link.call, "MatchGolden") {
				continue
			}
			messages := watch(func(t cupeltest.T) { link.fail(cupeltest.Expect(t, over.r)) }).messages
			hidden := watch(func(t cupeltest.T) { link.fail(cupeltest.Expect(t, over.r, cupeltest.WithHiddenContents())) }).messages
			if len(hidden) != len(messages) {
				t.Errorf("%s, %s: fails with hidden contents as %q", over.name, link.call, hidden)
			}
			chain := cupeltest.That(over.r)
			link.fail(chain)
			if failure, ok := errors.AsType[*cupeltest.SelectionReportAssertionError](chain.Err()); ok {
				hidden = append(hidden, failure.Expected, failure.Actual)
			}
			line := link.call + ": holds\n"
			if text := strings.Join(append(messages, hidden...), "\n"); text != "" {
				line = fmt.Sprintf("%s: sha256 %.4x\n", link.call, sha256.Sum256([]byte(text)))
				texts[line] = text
			}
			b.WriteString(line)
		}
	}
	known, err := os.ReadFile("testdata/failures.txt")
	if err != nil && !update {
		t.Fatal(err)
	}
	if string(known) != b.String() {
		for line, text := range texts {
			if !strings.Contains(string(known), "\n"+line) {
				t.Logf("%s%s", line, text)
			}
		}
	}
	samePage(t, "testdata/failures.txt", b.String())
}

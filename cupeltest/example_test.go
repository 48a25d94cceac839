package cupeltest_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

// printer is a T that prints. In a test t is the *testing.T.
type printer struct{}

func (printer) Helper()                           {}
func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (printer) FailNow()                          { fmt.Println("The test stops here.") }

var t printer

// candidates are those of the examples, and budget what there is for them.
var (
	candidates = []*cupel.ContextItem{
		cupeltest.Item("Answer briefly.", 10, cupel.WithKind(cupel.KindSystemPrompt), cupel.WithPinned()),
		cupeltest.Item("Why is the build red?", 20, cupel.WithFutureRelevanceHint(0.9)),
		cupeltest.Item("undefined: x", 30, cupel.WithKind(cupel.KindToolOutput), cupel.WithSource(cupel.SourceTool), cupel.WithFutureRelevanceHint(0.5)),
		cupeltest.Item("the whole log", 5000, cupel.WithKind(cupel.KindToolOutput), cupel.WithSource(cupel.SourceTool), cupel.WithFutureRelevanceHint(0.7)),
	}
	budget = cupeltest.Budget(100, 80)
)

// policy is the pipeline that the examples test.
func policy() *pipeline.Pipeline {
	pipeline, err := pipeline.New(pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: placer.UShaped{}})
	if err != nil {
		log.Fatal(err)
	}
	return pipeline
}

// A test of a policy runs it and says what is expected of the report.
func Example() {
	report, _ := cupeltest.Run(t, policy(), candidates, budget)
	cupeltest.Should(t, report).
		IncludeItemWithKind(cupel.KindSystemPrompt).
		IncludeItemMatching(cupeltest.ByContentPrefix("Why").Included).
		ExcludeItemMatchingWithReason(cupeltest.ByContent("the whole log"), cupel.ExcludeBudgetExceeded).
		HaveBudgetUtilizationAbove(0.5, budget).
		HaveKindCoverageCount(3)
	fmt.Println("ok")
	// Output: ok
}

// The first link that fails ends the test. Its message says what was expected
// and what the report has.
func ExampleShould() {
	report, _ := cupeltest.Run(t, policy(), candidates, budget)
	cupeltest.Should(t, report).
		IncludeItemWithKind(cupel.KindMemory).
		HaveNoExclusions()
	// Output:
	// IncludeItemWithKind(Memory) failed: Included contained 0 items with Kind=Memory. Included had 3 items with kinds: [SystemPrompt, ToolOutput, Message].
	// 	no candidate matches
	// The test stops here.
}

// Every link that fails is reported.
func ExampleExpect() {
	report, _ := cupeltest.Run(t, policy(), candidates, budget)
	cupeltest.Expect(t, report).
		IncludeItemMatching(cupeltest.ByTag("urgent").Included).
		IncludeExactlyNItemsWithKind(cupel.KindToolOutput, 2).
		HaveNoExclusionsForKind(cupel.KindToolOutput).
		PlaceItemAtEdge(cupeltest.ByKind(cupel.KindToolOutput).Included)
	// Output:
	// IncludeItemMatching failed: no item in Included matched the predicate. Included had 3 items. They are: [(kind=SystemPrompt, score=1, reason=Pinned), (kind=ToolOutput, score=0.5, reason=Scored), (kind=Message, score=0.9, reason=Scored)].
	// 	no candidate matches
	// IncludeExactlyNItemsWithKind(ToolOutput, 2) failed: expected 2 items with Kind=ToolOutput in Included, but found 1. Included had 3 items total.
	// 	"the whole log" is excluded: BudgetExceeded, 5000 tokens requested, 20 available. The smallest budget that includes it has a target of 5060 tokens and a ceiling of 5060.
	// HaveNoExclusionsForKind(ToolOutput) failed: found 1 excluded item(s) with Kind=ToolOutput. First: score=0.7, reason=BudgetExceeded.
	// 	"the whole log" is excluded: BudgetExceeded, 5000 tokens requested, 20 available. The smallest budget that includes it has a target of 5060 tokens and a ceiling of 5060.
	// PlaceItemAtEdge failed: item matching predicate was at index 1 (not at edge). Edge positions: 0 and 2. Included had 3 items.
	// 	"Answer briefly." is included at index 0 of 3: Pinned, score 1, 10 tokens
	// 	"Why is the build red?" is included at index 2 of 3: Scored, score 0.9, 20 tokens
}

// Outside of tests the chain ends in an error.
func ExampleThat() {
	report, err := policy().DryRun(context.Background(), candidates, budget)
	if err != nil {
		log.Fatal(err)
	}
	err = cupeltest.That(report, func(c *cupeltest.SelectionReportAssertionChain) {
		c.HaveTokensAtMost(60).IncludeInOrder("Why is the build red?", "undefined: x")
	})
	if failure, ok := err.(*cupeltest.SelectionReportAssertionError); ok {
		fmt.Println("assertion:", failure.Assertion)
		fmt.Println("nearest:", failure.Nearest[0])
	}
	fmt.Println(err)
	// Output:
	// assertion: IncludeInOrder
	// nearest: "undefined: x" is included at index 1 of 3: Scored, score 0.5, 30 tokens
	// IncludeInOrder failed: expected ["Why is the build red?", "undefined: x"] in this order, but found ["Answer briefly.", "undefined: x", "Why is the build red?"], where "undefined: x" does not come next.
	// 	"undefined: x" is included at index 1 of 3: Scored, score 0.5, 30 tokens
}

// A golden file holds the whole selection. Without one the test says how to
// write it.
func ExampleSelectionReportAssertionChain_MatchGolden() {
	report, _ := cupeltest.Run(t, policy(), candidates, budget)
	cupeltest.Expect(t, report).MatchGolden("example")
	cupeltest.Expect(t, report).MatchGolden("no such example")

	other, _ := cupeltest.Run(t, policy(), candidates, cupeltest.Budget(100, 50))
	cupeltest.Expect(t, other).MatchGolden("example")
	// Output:
	// MatchGolden(no such example) failed: there is no golden file testdata/no such example.golden. To write it, run the test with CUPELTEST_UPDATE=1.
	// MatchGolden(example) failed: the report differs from testdata/example.golden:
	// went:
	//   "undefined: x" (ToolOutput, Tool, 30 tokens): BudgetExceeded, was Scored
	// If the report is right, run the test with CUPELTEST_UPDATE=1.
}

// ByLength prefers items that are shorter than the longest. It breaks the
// contract: it sorts the list to find the longest.
type ByLength struct{}

// Score implements [strategy.Scorer].
func (s ByLength) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	return strategy.ScorerFunc(s.score).Score(ctx, items, scores)
}

func (ByLength) score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	slices.SortFunc(all, func(a, b *cupel.ContextItem) int { return len(b.Content()) - len(a.Content()) })
	return 1 - float64(len(item.Content()))/float64(len(all[0].Content()))
}

// Each rule that is broken is reported with what was found.
func ExampleTestScorer() {
	cupeltest.TestScorer(printFirst(1), func() strategy.Scorer { return ByLength{} })
	// Output:
	// scorer cupeltest_test.ByLength breaks the rule list: it changes neither its list, nor the memory after it, nor an item
	// 	found: a list of 9 sample items: position 0 holds something else after the call
	// 	skipped: the rules that follow this one
}

func ExampleTestSlicer() {
	cupeltest.TestSlicer(t, func() strategy.Slicer { return slicer.Greedy{} })
	counting, err := slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{
		{Kind: cupel.KindDocument, RequireCount: 1, CapCount: 3},
	})
	if err != nil {
		log.Fatal(err)
	}
	cupeltest.TestSlicer(t, func() strategy.Slicer { return counting }, cupeltest.Except("target"))
	fmt.Println("ok")
	// Output: ok
}

// printFirst is a printer that prints only so many messages.
func printFirst(n int) cupeltest.T { return &limited{left: n} }

type limited struct {
	printer
	left int
}

func (l *limited) Errorf(format string, args ...any) {
	if l.left--; l.left >= 0 {
		l.printer.Errorf(format, args...)
	}
}

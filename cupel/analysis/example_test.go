package analysis_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// newItem is cupel.NewContextItem for contents that are known to be right.
func newItem(content string, tokens int, opts ...cupel.ItemOption) *cupel.ContextItem {
	it, err := cupel.NewContextItem(content, tokens, opts...)
	if err != nil {
		log.Fatal(err)
	}
	return it
}

func newBudget(maxTokens, target int, opts ...cupel.BudgetOption) cupel.ContextBudget {
	b, err := cupel.NewContextBudget(maxTokens, target, opts...)
	if err != nil {
		log.Fatal(err)
	}
	return b
}

// byRelevance scores items by the relevance that the retriever gave.
func byRelevance() *pipeline.Pipeline {
	p, err := pipeline.New(pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: placer.UShaped{}})
	if err != nil {
		log.Fatal(err)
	}
	return p
}

// found are the documents of some search.
func found() []*cupel.ContextItem {
	relevance, dated := cupel.WithFutureRelevanceHint, cupel.WithTimestamp(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	return []*cupel.ContextItem{
		newItem("manual", 600, relevance(0.9), cupel.WithKind(cupel.KindDocument), dated),
		newItem("log", 300, relevance(0.5), cupel.WithKind(cupel.KindToolOutput), dated),
		newItem("question", 100, relevance(0.8)),
		newItem("forum", 500, relevance(0.6), cupel.WithKind(cupel.KindDocument)),
	}
}

func ExampleGetMarginalItems() {
	selector := byRelevance()
	lost, err := analysis.GetMarginalItems(context.Background(), selector, found(), newBudget(1000, 1000), 200)
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range lost {
		fmt.Println("with 200 tokens less there is no room for:", item.Content())
	}
	// Output: with 200 tokens less there is no room for: manual
}

func ExampleFindMinBudgetFor() {
	items := found()
	manual := items[0]
	tokens, ok, err := analysis.FindMinBudgetFor(context.Background(), byRelevance(), items, manual, 10_000)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tokens, ok)
	// Output: 1000 true
}

// Inclusion is not monotonic with Greedy, although the specification says so: with A
// of 11 tokens and B of 5, a budget of 10 includes B, and one of 11 includes only A.
// A prompt of 2 tokens moves that to 12 and 13. The binary search for B looks at 5,
// where nothing fits next to the prompt, and then at 17, where A displaces B. It thus
// never comes below 17, while the exact search finds 7.
func ExampleFindMinBudgetForExhaustive() {
	relevance := cupel.WithFutureRelevanceHint
	a, b := newItem("A", 11, relevance(0.99)), newItem("B", 5, relevance(0.1))
	selector := byRelevance()
	ctx := context.Background()
	items := []*cupel.ContextItem{a, b, newItem("Be brief.", 2, cupel.WithPinned())}
	halves, _, err := analysis.FindMinBudgetFor(ctx, selector, items, b, 30)
	if err != nil {
		log.Fatal(err)
	}
	exact, _, err := analysis.FindMinBudgetForExhaustive(ctx, selector, items, b, 30)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("with a prompt, by halves:", halves)
	fmt.Println("with a prompt, exactly:", exact)
	// Output:
	// with a prompt, by halves: 18
	// with a prompt, exactly: 7
}

func ExampleWithBaseBudget() {
	items := found()
	base := newBudget(8000, 8000, cupel.WithOutputReserve(1000), cupel.WithEstimationSafetyMargin(10))
	tokens, _, err := analysis.FindMinBudgetFor(context.Background(), byRelevance(), items, items[2], 10_000, analysis.WithBaseBudget(base))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tokens, "tokens: 1000 for the answer, and nine tenths of the rest hold 100")
	// Output: 1112 tokens: 1000 for the answer, and nine tenths of the rest hold 100
}

func ExamplePolicySensitivity() {
	report, err := analysis.PolicySensitivity(context.Background(), found(), newBudget(700, 700), policy.Environment{},
		analysis.PolicyVariant{Label: "rag", Policy: policy.RAG()},
		analysis.PolicyVariant{Label: "document-qa", Policy: policy.DocumentQA()})
	if err != nil {
		log.Fatal(err)
	}
	for _, diff := range report.Diffs {
		fmt.Print(diff.Content, ":")
		for _, s := range diff.Statuses {
			fmt.Print(" ", s.Label, " ", s.Status)
		}
		fmt.Println()
	}
	// Output:
	// manual: rag Excluded document-qa Included
	// log: rag Included document-qa Excluded
}

func ExampleWhyNot() {
	items := found()
	answer, err := analysis.WhyNot(context.Background(), byRelevance(), items, newBudget(1200, 1200), 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Why())
	fmt.Println(answer.Rule)
	for _, i := range answer.DisplacedBy {
		fmt.Println("instead:", items[i].Content())
	}
	for _, i := range answer.IfPinned.Went {
		fmt.Println("if it were pinned, this would go:", items[i].Content())
	}
	fmt.Println(answer.Smallest)
	// Output:
	// BudgetExceeded: 500 tokens requested, 200 available
	// GreedySlice takes the highest score per token first. When its turn came, 200 of 1200 tokens were left.
	// instead: question
	// instead: log
	// instead: manual
	// if it were pinned, this would go: manual
	// The smallest budget that includes it is 900 tokens.
}

func ExampleNewLedger() {
	items := found()
	report, err := byRelevance().DryRun(context.Background(), items, newBudget(2000, 1200))
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range analysis.NewLedger(report, items).Entries {
		fmt.Printf("%s: rank %d, %s\n", e.Item.Content(), e.Rank, e.Why())
	}
	// Output:
	// manual: rank 1, Scored
	// log: rank 4, Scored
	// question: rank 2, Scored
	// forum: rank 3, BudgetExceeded: 500 tokens requested, 200 available
}

func ExampleDiffReports() {
	items, selector := found(), byRelevance()
	less, err := selector.DryRun(context.Background(), items, newBudget(900, 900))
	if err != nil {
		log.Fatal(err)
	}
	more, err := selector.DryRun(context.Background(), items, newBudget(1000, 1000))
	if err != nil {
		log.Fatal(err)
	}
	diff := analysis.DiffReports(less, more)
	for _, c := range diff.Came {
		fmt.Println("came:", c.Content, "was", c.A.Why())
	}
	for _, c := range diff.Went {
		fmt.Println("went:", c.Content, "is", c.B.Why())
	}
	for _, c := range diff.Moved {
		fmt.Println("moved:", c.Content, "from", c.A.Place, "to", c.B.Place)
	}
	// Output:
	// came: manual was BudgetExceeded: 600 tokens requested, 0 available
	// went: forum is BudgetExceeded: 500 tokens requested, 0 available
	// moved: question from 1 to 3
}

package analysis_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
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
func byRelevance(s cupel.Slicer) *cupel.Pipeline {
	p, err := cupel.New(cupel.Config{Scorer: scorer.Reflexive{}, Slicer: s, Placer: placer.UShaped{}})
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

func ExampleBudgetUtilization() {
	budget := newBudget(2000, 1200)
	report, err := byRelevance(slicer.Greedy{}).DryRun(context.Background(), found(), budget)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f %% of the ceiling\n", 100*analysis.BudgetUtilization(report, budget))
	// Output: 50 % of the ceiling
}

func ExampleKindDiversity() {
	report, err := byRelevance(slicer.Greedy{}).DryRun(context.Background(), found(), newBudget(2000, 1200))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(report.Included), "items of", analysis.KindDiversity(report), "kinds")
	// Output: 3 items of 3 kinds
}

func ExampleTimestampCoverage() {
	report, err := byRelevance(slicer.Greedy{}).DryRun(context.Background(), found(), newBudget(2000, 1200))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f\n", analysis.TimestampCoverage(report))
	// Output: 0.67
}

func ExampleQuotaUtilization() {
	quota, err := slicer.NewQuota(slicer.Greedy{}, slicer.Cap(cupel.KindDocument, 50), slicer.Require(cupel.KindToolOutput, 20))
	if err != nil {
		log.Fatal(err)
	}
	budget := newBudget(1200, 1200)
	report, err := byRelevance(quota).DryRun(context.Background(), found(), budget)
	if err != nil {
		log.Fatal(err)
	}
	for _, q := range analysis.QuotaUtilization(report, budget, quota) {
		fmt.Printf("%s: %d %s used, %d required, cap %d\n", q.Kind, q.Used, q.Unit, q.Required, q.Cap)
	}
	// Output:
	// Document: 600 tokens used, 0 required, cap 600
	// ToolOutput: 300 tokens used, 240 required, cap 1200
}

func ExampleGetMarginalItems() {
	pipeline := byRelevance(slicer.Greedy{})
	lost, err := analysis.GetMarginalItems(context.Background(), pipeline, found(), newBudget(1000, 1000), 200)
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range lost {
		fmt.Println("with 200 tokens less there is no room for:", item.Content())
	}
	// Output: with 200 tokens less there is no room for: manual
}

// A quota's shares move with the budget, so that less budget can let items in.
func ExampleGetMarginalItems_guard() {
	quota, err := slicer.NewQuota(slicer.Greedy{}, slicer.Cap(cupel.KindDocument, 50))
	if err != nil {
		log.Fatal(err)
	}
	_, err = analysis.GetMarginalItems(context.Background(), byRelevance(quota), found(), newBudget(1000, 1000), 200)
	fmt.Println(err)
	// Output: cupel: GetMarginalItems requires monotonic item inclusion. QuotaSlice produces non-monotonic inclusion as budget changes shift percentage allocations.
}

func ExampleFindMinBudgetFor() {
	items := found()
	manual := items[0]
	tokens, ok, err := analysis.FindMinBudgetFor(context.Background(), byRelevance(slicer.Greedy{}), items, manual, 10_000)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tokens, ok)

	_, ok, err = analysis.FindMinBudgetFor(context.Background(), byRelevance(slicer.Greedy{}), items, manual, 900)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ok)
	// Output:
	// 1000 true
	// false
}

// Inclusion is not monotonic with Greedy, although the specification says it is.
// With A at 11 tokens and B at 5, a budget of 10 includes B, and one of 11
// includes only A. With a third item, the binary search misses the smallest
// budgets that include B.
func ExampleFindMinBudgetForExhaustive() {
	relevance := cupel.WithFutureRelevanceHint
	a, b, c := newItem("A", 11, relevance(0.99)), newItem("B", 5, relevance(0.1)), newItem("C", 3, relevance(0.2))
	pipeline := byRelevance(slicer.Greedy{})
	ctx := context.Background()

	for _, tokens := range []int{10, 11} {
		window, err := pipeline.Run(ctx, []*cupel.ContextItem{a, b}, newBudget(tokens, tokens))
		if err != nil {
			log.Fatal(err)
		}
		for _, item := range window {
			fmt.Println(tokens, "tokens take", item.Content())
		}
	}

	items := []*cupel.ContextItem{a, b, c}
	halves, _, err := analysis.FindMinBudgetFor(ctx, pipeline, items, b, 20)
	if err != nil {
		log.Fatal(err)
	}
	exact, _, err := analysis.FindMinBudgetForExhaustive(ctx, pipeline, items, b, 20)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("with C, by halves:", halves)
	fmt.Println("with C, exactly:", exact)
	// Output:
	// 10 tokens take B
	// 11 tokens take A
	// with C, by halves: 19
	// with C, exactly: 8
}

func ExampleWithBaseBudget() {
	items := found()
	base := newBudget(8000, 8000, cupel.WithOutputReserve(1000), cupel.WithEstimationSafetyMargin(10))
	tokens, _, err := analysis.FindMinBudgetFor(context.Background(), byRelevance(slicer.Greedy{}), items, items[2], 10_000, analysis.WithBaseBudget(base))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tokens, "tokens: 1000 for the answer, and nine tenths of the rest hold 100")
	// Output: 1112 tokens: 1000 for the answer, and nine tenths of the rest hold 100
}

func ExampleWithMaxBudgets() {
	knapsack, err := slicer.NewKnapsack()
	if err != nil {
		log.Fatal(err)
	}
	// A Knapsack slices again at each budget, and a million of them take a while.
	_, err = analysis.Sweep(context.Background(), byRelevance(knapsack), found(), analysis.BudgetRange{To: 1_000_000}, analysis.WithMaxBudgets(1000))
	var tooMany *analysis.TooManyBudgetsError
	if errors.As(err, &tooMany) {
		fmt.Println("looked at", tooMany.MaxBudgets, "budgets, the next one is", tooMany.NextBudget)
	}
	// Output: looked at 1000 budgets, the next one is 1000
}

func ExampleSweep() {
	items := found()
	sweep, err := analysis.Sweep(context.Background(), byRelevance(slicer.Greedy{}), items, analysis.BudgetRange{From: 100, To: 2000})
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range sweep.Steps {
		fmt.Printf("%4d: %4d used", step.Budget, step.Tokens)
		for _, i := range step.Came {
			fmt.Print(" +", items[i].Content())
		}
		for _, i := range step.Went {
			fmt.Print(" -", items[i].Content())
		}
		fmt.Println()
	}
	// Output:
	//  100:  100 used +question
	//  400:  400 used +log
	//  900:  900 used +forum
	// 1000: 1000 used +manual -forum
	// 1500: 1500 used +forum
}

func ExampleBudgetSweep_Selection() {
	sweep, err := analysis.Sweep(context.Background(), byRelevance(slicer.Greedy{}), found(), analysis.BudgetRange{To: 2000})
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range sweep.Selection(800) {
		fmt.Println(item.Content())
	}
	// Output:
	// log
	// question
}

func ExampleSweepStep_MarshalJSON() {
	text, err := json.Marshal(analysis.SweepStep{Budget: 700, Tokens: 700, Included: 2, Came: []int{0}, Went: []int{1}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	// Output: {"budget":700,"tokens":700,"included":2,"came":[0],"went":[1]}
}

func ExampleDryRunWithPolicy() {
	report, err := analysis.DryRunWithPolicy(context.Background(), found(), newBudget(800, 800), policy.Rag(), policy.Environment{})
	if err != nil {
		log.Fatal(err)
	}
	for _, i := range report.Included {
		fmt.Println(i.Item.Content())
	}
	// Output:
	// question
	// log
}

func ExamplePolicySensitivity() {
	report, err := analysis.PolicySensitivity(context.Background(), found(), newBudget(700, 700), policy.Environment{},
		analysis.PolicyVariant{Label: "rag", Policy: policy.Rag()},
		analysis.PolicyVariant{Label: "document-qa", Policy: policy.DocumentQa()})
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

func ExamplePolicySensitivityOfPipelines() {
	counts, err := slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{{Kind: cupel.KindDocument, RequireCount: 1, CapCount: 1}})
	if err != nil {
		log.Fatal(err)
	}
	report, err := analysis.PolicySensitivityOfPipelines(context.Background(), found(), newBudget(600, 600),
		analysis.PipelineVariant{Label: "free", Pipeline: byRelevance(slicer.Greedy{})},
		analysis.PipelineVariant{Label: "one document", Pipeline: byRelevance(counts)})
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
	// manual: free Excluded one document Included
	// log: free Included one document Excluded
	// question: free Included one document Excluded
}

func ExampleWhyNot() {
	items := found()
	answer, err := analysis.WhyNot(context.Background(), byRelevance(slicer.Greedy{}), items, newBudget(1200, 1200), 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
	// Output:
	// "forum" (Document, 500 tokens, score 0.6, rank 3 of 4) is not included: BudgetExceeded: 500 tokens requested, 200 available
	// GreedySlice takes the highest score per token first. When its turn came, 200 of 1200 tokens were left.
	// Chosen instead:
	//   "question" (Message, 100 tokens, score 0.8, rank 2 of 4)
	//   "log" (ToolOutput, 300 tokens, score 0.5, rank 4 of 4)
	//   "manual" (Document, 600 tokens, score 0.9, rank 1 of 4)
	// If it were pinned, these would go:
	//   "manual" (Document, 600 tokens, score 0.9, rank 1 of 4)
	// The smallest budget that includes it is 900 tokens.
}

func ExampleNewLedger() {
	items := found()
	report, err := byRelevance(slicer.Greedy{}).DryRun(context.Background(), items, newBudget(2000, 1200))
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
	items, pipeline := found(), byRelevance(slicer.Greedy{})
	less, err := pipeline.DryRun(context.Background(), items, newBudget(900, 900))
	if err != nil {
		log.Fatal(err)
	}
	more, err := pipeline.DryRun(context.Background(), items, newBudget(1000, 1000))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(analysis.DiffReports(less, more))
	// Output:
	// + "manual" (Document, 600 tokens): was BudgetExceeded: 600 tokens requested, 0 available
	// - "forum" (Document, 500 tokens): is BudgetExceeded: 500 tokens requested, 0 available
	// ~ "question" (Message, 100 tokens): moved to place 3, was 1
}

package cupel_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

func prepared() *cupel.Prepared {
	p, err := chat().Prepare(context.Background(), conversation())
	if err != nil {
		log.Fatal(err)
	}
	return p
}

// Nothing is scored twice, however many budgets are tried.
func ExamplePipeline_Prepare() {
	prepared, err := chat().Prepare(context.Background(), conversation())
	if err != nil {
		log.Fatal(err)
	}
	for _, tokens := range []int{10, 20, 1000} {
		window, err := prepared.Run(context.Background(), budgetFor(tokens, tokens))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tokens, "tokens hold", len(window), "items")
	}
	// Output:
	// 10 tokens hold 1 items
	// 20 tokens hold 3 items
	// 1000 tokens hold 5 items
}

func ExamplePrepared_Run() {
	window, err := prepared().Run(context.Background(), budgetFor(20, 20))
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range window {
		fmt.Println(item.Content())
	}
	// Output:
	// You are a helpful assistant.
	// The disk is full.
	// How do I free some space?
}

func ExamplePrepared_DryRun() {
	report, err := prepared().DryRun(context.Background(), budgetFor(20, 20))
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range report.Excluded {
		fmt.Printf("%s: %v\n", e.Item.Content(), e.Reason)
	}
	// Output:
	// ERROR disk full (and 900 lines more): BudgetExceeded: 900 tokens requested, 0 available
	// What is in this log?: BudgetExceeded: 6 tokens requested, 0 available
}

// Two pipelines with the same scorer need one pass of it.
func ExamplePrepared_For() {
	knapsack, err := slicer.NewKnapsack(slicer.WithBucketSize(1))
	if err != nil {
		log.Fatal(err)
	}
	other, err := cupel.New(cupel.Config{Scorer: scorer.Recency{}, Slicer: knapsack, Placer: placer.Chronological{}})
	if err != nil {
		log.Fatal(err)
	}
	same, err := prepared().For(context.Background(), other)
	if err != nil {
		log.Fatal(err)
	}
	window, err := same.Run(context.Background(), budgetFor(20, 20))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(window), "items")
	// Output: 3 items
}

func ExamplePrepared_Select() {
	positions, err := prepared().Select(context.Background(), budgetFor(20, 20))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(positions)
	// Output: [0 4 3]
}

func ExampleCursor_Move() {
	cursor := prepared().Cursor()
	for tokens := 8; tokens <= 25; tokens++ {
		change, err := cursor.Move(context.Background(), budgetFor(tokens, tokens))
		if err != nil {
			log.Fatal(err)
		}
		if len(change.Came)+len(change.Went) > 0 {
			fmt.Printf("%d tokens: came %v, went %v\n", tokens, change.Came, change.Went)
		}
	}
	// Output:
	// 8 tokens: came [0], went []
	// 13 tokens: came [3], went []
	// 15 tokens: came [4], went [3]
	// 20 tokens: came [3], went []
}

// thrifty never spends more than 12 tokens, and follows the slicer inside it.
type thrifty struct{ inner cupel.Slicer }

func (s thrifty) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	budget.TargetTokens = min(budget.TargetTokens, 12)
	return cupel.Slice(ctx, s.inner, items, budget)
}

func (s thrifty) Slicers() []cupel.Slicer { return []cupel.Slicer{s.inner} }

func (s thrifty) Sweep(items []cupel.ScoredItem) cupel.SliceSweep {
	sweep := cupel.Sweep(s.inner, items)
	if sweep == nil {
		return nil
	}
	return thriftySweep{sweep}
}

type thriftySweep struct{ cupel.SliceSweep }

func (s thriftySweep) Advance(target int) (keep int, more []int) {
	return s.SliceSweep.Advance(min(target, 12))
}

func (s thriftySweep) Next() (target int, ok bool) {
	target, ok = s.SliceSweep.Next()
	return target, ok && target <= 12
}

func ExampleSweep() {
	long, err := cupel.NewContextItem("long", 11)
	if err != nil {
		log.Fatal(err)
	}
	short, err := cupel.NewContextItem("short", 5)
	if err != nil {
		log.Fatal(err)
	}
	items := []cupel.ScoredItem{{Item: long, Score: 0.99}, {Item: short, Score: 0.1}}
	sweep := cupel.Sweep(thrifty{slicer.Greedy{}}, items)
	for target, ok := sweep.Next(); ok; target, ok = sweep.Next() {
		keep, more := sweep.Advance(target)
		fmt.Println("target", target, "keeps", keep, "and takes", more)
	}
	// Output:
	// target 5 keeps 0 and takes [1]
	// target 11 keeps 0 and takes [0]
}

func ExampleContextBudget_Resize() {
	budget, err := cupel.NewContextBudget(8000, 6000, cupel.WithOutputReserve(1000))
	if err != nil {
		log.Fatal(err)
	}
	smaller, err := budget.Resize(4000, 2000)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(smaller.MaxTokens(), smaller.TargetTokens(), smaller.OutputReserve())
	// Output: 4000 2000 1000
}

func ExampleContextBudget_Effective() {
	budget, err := cupel.NewContextBudget(8000, 6000, cupel.WithOutputReserve(1000), cupel.WithEstimationSafetyMargin(10))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v\n", budget.Effective(500))
	// Output: {MaxTokens:5850 TargetTokens:4950}
}

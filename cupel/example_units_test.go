package cupel_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// printRun selects within a number of tokens and prints the window.
func printRun(tokens int, items []*cupel.ContextItem, errs ...error) {
	p, err := pipeline.New(pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}})
	if err != nil {
		log.Fatal(err)
	}
	for _, err := range errs {
		if err != nil {
			log.Fatal(err)
		}
	}
	budget, err := cupel.NewContextBudget(tokens, tokens)
	if err != nil {
		log.Fatal(err)
	}
	report, err := p.DryRun(context.Background(), items, budget)
	if err != nil {
		log.Fatal(err)
	}
	for _, in := range report.Included {
		fmt.Printf("in:  %s (%d tokens)\n", in.Item.Content(), in.Item.Tokens())
	}
	for _, out := range report.Excluded {
		fmt.Printf("out: %s (%s)\n", out.Item.Content(), out.Reason)
	}
}

// A tool call is worthless without its result, and the other way round.
func ExampleWithGroup() {
	call, err1 := cupel.NewContextItem("call: go test ./...", 10, cupel.WithGroup("call_17"))
	result, err2 := cupel.NewContextItem("result: 214 lines", 90, cupel.WithGroup("call_17"), cupel.WithFutureRelevanceHint(0.9))
	question, err3 := cupel.NewContextItem("question: why does it fail?", 8, cupel.WithFutureRelevanceHint(0.8))
	items := []*cupel.ContextItem{call, result, question}
	printRun(200, items, err1, err2, err3)
	fmt.Println("with less:")
	printRun(95, items)
	// Output:
	// in:  call: go test ./... (10 tokens)
	// in:  result: 214 lines (90 tokens)
	// in:  question: why does it fail? (8 tokens)
	// with less:
	// in:  question: why does it fail? (8 tokens)
	// out: call: go test ./... (BudgetExceeded: 10 tokens requested, 87 available (group_tokens=100))
	// out: result: 214 lines (BudgetExceeded: 90 tokens requested, 87 available (group_tokens=100))
}

// What does not fit as a whole may be worth having as an outline.
func ExampleWithVariants() {
	file, err1 := cupel.NewContextItem("file: 400 lines", 900, cupel.WithFutureRelevanceHint(0.9), cupel.WithVariants(
		cupel.Variant{Content: "file: its declarations", Tokens: 120, Worth: 0.6},
		cupel.Variant{Content: "file: its name", Tokens: 5, Worth: 0.1},
	))
	question, err2 := cupel.NewContextItem("question: what does it export?", 8, cupel.WithFutureRelevanceHint(0.8))
	items := []*cupel.ContextItem{file, question}
	for _, tokens := range []int{1000, 200, 100} {
		fmt.Println(tokens, "tokens:")
		printRun(tokens, items, err1, err2)
	}
	// Output:
	// 1000 tokens:
	// in:  file: 400 lines (900 tokens)
	// in:  question: what does it export? (8 tokens)
	// 200 tokens:
	// in:  file: its declarations (120 tokens)
	// in:  question: what does it export? (8 tokens)
	// 100 tokens:
	// in:  file: its name (5 tokens)
	// in:  question: what does it export? (8 tokens)
}

// The newest version of a file counts, regardless of the scores.
func ExampleWithVersionOf() {
	old, err1 := cupel.NewContextItem("main.go as it was", 50, cupel.WithVersionOf("file:main.go"), cupel.WithFutureRelevanceHint(0.9))
	current, err2 := cupel.NewContextItem("main.go as it is", 60, cupel.WithVersionOf("file:main.go"), cupel.WithFutureRelevanceHint(0.7))
	printRun(200, []*cupel.ContextItem{old, current}, err1, err2)
	// Output:
	// in:  main.go as it is (60 tokens)
	// out: main.go as it was (Superseded: a newer version is among the candidates)
}

// A note can stand for a whole group: one item in place of all its members.
func ExampleWithGroupVariants() {
	call, err1 := cupel.NewContextItem("call: go test ./...", 10, cupel.WithGroup("call_17"), cupel.WithFutureRelevanceHint(0.9),
		cupel.WithGroupVariants(cupel.Variant{Content: "note: 3 of 214 tests failed", Tokens: 9, Worth: 0.3}))
	result, err2 := cupel.NewContextItem("result: 214 lines", 90, cupel.WithGroup("call_17"))
	question, err3 := cupel.NewContextItem("question: why does it fail?", 8, cupel.WithFutureRelevanceHint(0.8))
	printRun(30, []*cupel.ContextItem{call, result, question}, err1, err2, err3)
	// Each member has an entry, and the tokens count once.

	// Output:
	// in:  note: 3 of 214 tests failed (9 tokens)
	// in:  note: 3 of 214 tests failed (0 tokens)
	// in:  question: why does it fail? (8 tokens)
}

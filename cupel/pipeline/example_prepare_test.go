package pipeline_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wollax/cupel-go/cupel/pipeline"
)

func prepared() *pipeline.Prepared {
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

func ExamplePrepared_Choose() {
	prepared := prepared()
	var last pipeline.Choice
	for tokens := 8; tokens <= 25; tokens++ {
		budget := budgetFor(tokens, tokens)
		if last.HoldsAt(budget) {
			continue
		}
		choice, err := prepared.Choose(context.Background(), budget)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d tokens: %v\n", tokens, choice.Candidates)
		last = choice
	}
	// Output:
	// 8 tokens: [0]
	// 9 tokens: [0]
	// 13 tokens: [0 3]
	// 15 tokens: [0 4]
	// 20 tokens: [0 4 3]
}

package cupel_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
)

func Example() {
	var items []*cupel.ContextItem
	add := func(content string, tokens int, opts ...cupel.ItemOption) {
		item, err := cupel.NewContextItem(content, tokens, opts...)
		if err != nil {
			log.Fatal(err)
		}
		items = append(items, item)
	}
	add("Answer in one sentence.", 5, cupel.WithKind(cupel.KindSystemPrompt), cupel.WithPinned())
	add("E7: the steam valve did not close.", 12, cupel.WithFutureRelevanceHint(0.9))
	add("Orders: 45 rye loaves, 120 croissants.", 15, cupel.WithFutureRelevanceHint(0.2))

	budget, err := cupel.NewContextBudget(50, 30, cupel.WithOutputReserve(20))
	if err != nil {
		log.Fatal(err)
	}
	p, err := policy.RAG().Pipeline(policy.Environment{})
	if err != nil {
		log.Fatal(err)
	}
	window, report, err := p.RunReport(context.Background(), items, budget)
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range window {
		fmt.Println(item.Content())
	}
	for _, out := range report.Excluded {
		fmt.Println(out.Item, "is out:", out.Reason)
	}
	// Output:
	// Answer in one sentence.
	// E7: the steam valve did not close.
	// Message from Chat, 15 tokens is out: BudgetExceeded: 15 tokens requested, 13 available
}

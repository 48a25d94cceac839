// Command consumer chooses a window with the core module alone, and explains
// the choice.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	pipeline, err := pipeline.New(pipeline.Config{
		Scorer: scorer.Must(scorer.NewComposite(
			scorer.Weighted{Scorer: scorer.Recency{}, Weight: 3},
			scorer.Weighted{Scorer: scorer.Priority{}, Weight: 1})),
		Slicer: slicer.Greedy{},
		Placer: placer.Chronological{},
	})
	if err != nil {
		return err
	}
	items, err := candidates()
	if err != nil {
		return err
	}
	budget, err := cupel.NewContextBudget(1000, 500, cupel.WithOutputReserve(100))
	if err != nil {
		return err
	}

	window, report, err := pipeline.RunReport(ctx, items, budget)
	if err != nil {
		return err
	}
	for _, item := range window {
		fmt.Printf("in: %s (%s, %d tokens)\n", item.Content(), item.Kind(), item.Tokens())
	}

	for _, out := range report.Excluded {
		fmt.Printf("out: %s (%s)\n", out.Item.Content(), out.Reason.Code)
	}
	return nil
}

// candidates are five items that compete and one that is always in: the newest
// is larger than the budget, and the oldest says what another one says. The end
// of the newest is a candidate too.
func candidates() ([]*cupel.ContextItem, error) {
	at := func(minute int) cupel.ItemOption {
		return cupel.WithTimestamp(time.Date(2025, 1, 1, 12, minute, 0, 0, time.UTC))
	}
	var items []*cupel.ContextItem
	for _, c := range []struct {
		content string
		tokens  int
		options []cupel.ItemOption
	}{
		{"Answer briefly.", 50, []cupel.ItemOption{cupel.WithKind(cupel.KindSystemPrompt), cupel.WithPinned(), at(0)}},
		{"Why is the build red?", 20, []cupel.ItemOption{at(1)}},
		{"Why is the build red?", 20, []cupel.ItemOption{at(2)}},
		{"undefined: x", 30, []cupel.ItemOption{cupel.WithKind(cupel.KindToolOutput), at(3)}},
		{"the whole log", 5000, []cupel.ItemOption{cupel.WithKind(cupel.KindToolOutput), at(4)}},
	} {
		item, err := cupel.NewContextItem(c.content, c.tokens, c.options...)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	whole := items[len(items)-1]
	short, err := whole.With(cupel.WithContent("the end of the log", 40), cupel.WithOriginalTokens(whole.Tokens()))
	if err != nil {
		return nil, err
	}
	return append(items, short), nil
}

// Command consumer selects what a question is about.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelrelevance"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	var items []*cupel.ContextItem
	for _, text := range []string{"The roof of the ferry terminal leaks.", "Shall we have lunch?"} {
		item, err := cupel.NewContextItem(text, 16)
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	index, err := cupelrelevance.NewIndex()
	if err != nil {
		return err
	}
	relevance, err := cupelrelevance.New(index, "What leaks?")
	if err != nil {
		return err
	}
	pipeline, err := pipeline.New(pipeline.Config{Scorer: relevance, Slicer: slicer.ScoreGreedy{}, Placer: placer.Chronological{}})
	if err != nil {
		return err
	}
	budget, err := cupel.NewContextBudget(16, 16)
	if err != nil {
		return err
	}
	window, err := pipeline.Run(ctx, items, budget)
	if err != nil {
		return err
	}
	for _, item := range window {
		fmt.Println(item.Content())
	}
	return nil
}

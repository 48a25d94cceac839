// Command consumer chooses a window with the core module alone, and explains
// the choice.
package main

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

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	pipeline, err := pipeline.New(pipeline.Config{Scorer: scorer.Recency{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}})
	if err != nil {
		return err
	}
	question, err := cupel.NewContextItem("Why is the build red?", 20, cupel.WithPinned())
	if err != nil {
		return err
	}
	output, err := cupel.NewContextItem("the whole log", 5000, cupel.WithKind(cupel.KindToolOutput))
	if err != nil {
		return err
	}
	budget, err := cupel.NewContextBudget(1000, 500)
	if err != nil {
		return err
	}
	window, report, err := pipeline.RunReport(ctx, []*cupel.ContextItem{question, output}, budget)
	if err != nil {
		return err
	}
	for _, item := range window {
		fmt.Println("in:", item.Content())
	}
	for _, out := range report.Excluded {
		fmt.Println("out:", out)
	}
	return nil
}

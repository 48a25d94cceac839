// Command consumer selects from a short conversation what a question is about,
// and measures how much of the evidence that is.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelrelevance"
	"github.com/wollax/cupel-go/cupelrelevance/eval"
)

const conversation = `{"id": "chat", "items": [
{"speaker": "Ada", "content": "The roof of the ferry terminal leaks."},
{"speaker": "Bo", "content": "Steel beams would be cheaper."},
{"speaker": "Ada", "content": "Shall we have lunch?"},
{"speaker": "Bo", "content": "There is soup."}],
"questions": [{"query": "What leaks?", "evidence": [0, 1]}]}`

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	conversations, err := eval.Read(strings.NewReader(strings.ReplaceAll(conversation, "\n", " ")))
	if err != nil {
		return err
	}
	items, err := conversations[0].ContextItems()
	if err != nil {
		return err
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
	budget, err := cupel.NewContextBudget(32, 32)
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
	result, err := eval.Run(ctx, conversations, eval.Builtin(), []int{32})
	if err != nil {
		return err
	}
	for _, policy := range result.Policies {
		fmt.Printf("%s: %.2f\n", policy.Name, policy.Points[0].Recall)
	}
	return nil
}

// Command consumer selects from a short conversation what a question is about,
// and measures how much of the evidence that is.
package main

import (
	"context"
	"fmt"
	"iter"
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

func scanned() iter.Seq2[eval.Conversation, error] {
	return eval.Scan("chat", strings.NewReader(strings.ReplaceAll(conversation, "\n", " ")), nil)
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	var items []*cupel.ContextItem
	for c, err := range scanned() {
		if err != nil {
			return err
		}
		if items, err = c.ContextItems(); err != nil {
			return err
		}
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
	measure, err := eval.NewMeasure(eval.Builtin(), []int{32})
	if err != nil {
		return err
	}
	table := eval.NewTable(measure.Plan())
	for sample, err := range measure.Samples(ctx, scanned()) {
		if err != nil {
			return err
		}
		if err := table.Add(&sample); err != nil {
			return err
		}
	}
	for _, policy := range table.Result().Policies {
		fmt.Printf("%s: %.2f\n", policy.Name, policy.Points[0].Recall)
	}
	return nil
}

package pipeline_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// conversation is a short history with a system prompt.
func conversation() []*cupel.ContextItem {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var items []*cupel.ContextItem
	add := func(content string, tokens int, opts ...cupel.ItemOption) {
		item, err := cupel.NewContextItem(content, tokens, opts...)
		if err != nil {
			log.Fatal(err)
		}
		items = append(items, item)
	}
	add("You are a helpful assistant.", 8, cupel.WithKind(cupel.KindSystemPrompt), cupel.WithPinned(), cupel.WithTimestamp(noon.Add(-time.Minute)))
	add("What is in this log?", 6, cupel.WithTimestamp(noon))
	add("ERROR disk full (and 900 lines more)", 900, cupel.WithKind(cupel.KindToolOutput), cupel.WithTimestamp(noon.Add(time.Minute)))
	add("The disk is full.", 5, cupel.WithTimestamp(noon.Add(2*time.Minute)))
	add("How do I free some space?", 7, cupel.WithTimestamp(noon.Add(3*time.Minute)))
	return items
}

func chat() *pipeline.Pipeline {
	p, err := pipeline.New(pipeline.Config{Scorer: scorer.Recency{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}})
	if err != nil {
		log.Fatal(err)
	}
	return p
}

func budgetFor(maxTokens, targetTokens int) cupel.ContextBudget {
	budget, err := cupel.NewContextBudget(maxTokens, targetTokens)
	if err != nil {
		log.Fatal(err)
	}
	return budget
}

func ExamplePipeline_Run() {
	p, err := pipeline.New(pipeline.Config{
		Scorer: scorer.Must(scorer.NewComposite(
			scorer.Weighted{Scorer: scorer.Recency{}, Weight: 3},
			scorer.Weighted{Scorer: scorer.Kind{}, Weight: 1})),
		Slicer: slicer.Greedy{},
		Placer: placer.Chronological{},
	})
	if err != nil {
		log.Fatal(err)
	}
	budget, err := cupel.NewContextBudget(200, 100, cupel.WithOutputReserve(50))
	if err != nil {
		log.Fatal(err)
	}
	window, err := p.Run(context.Background(), conversation(), budget)
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range window {
		fmt.Println(item.Content())
	}
	// Output:
	// You are a helpful assistant.
	// What is in this log?
	// The disk is full.
	// How do I free some space?
}

func ExamplePipeline_DryRun() {
	report, err := chat().DryRun(context.Background(), conversation(), budgetFor(200, 100))
	if err != nil {
		log.Fatal(err)
	}
	for _, in := range report.Included {
		fmt.Printf("in   %.2f %-9s %s\n", in.Score, in.Reason, in.Item.Content())
	}
	for _, out := range report.Excluded {
		fmt.Printf("out  %.2f %s\n", out.Score, out.Reason)
	}
	// Output:
	// in   1.00 Pinned    You are a helpful assistant.
	// in   0.00 Scored    What is in this log?
	// in   0.67 Scored    The disk is full.
	// in   1.00 Scored    How do I free some space?
	// out  0.33 BudgetExceeded: 900 tokens requested, 74 available
}

func ExamplePipeline_RunReport() {
	window, report, err := chat().RunReport(context.Background(), conversation(), budgetFor(200, 100))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(window), "of", report.TotalCandidates, "items are in")
	for _, out := range report.Excluded {
		fmt.Println("not", out.Item.Content())
	}
	// Output:
	// 4 of 5 items are in
	// not ERROR disk full (and 900 lines more)
}

func ExampleWithTrace() {
	collector := observe.NewDiagnosticTraceCollector(observe.WithDetailLevel(observe.TraceDetailItem))
	if _, err := chat().Run(context.Background(), conversation(), budgetFor(200, 100), pipeline.WithTrace(collector)); err != nil {
		log.Fatal(err)
	}
	for _, event := range collector.Events() {
		fmt.Printf("%-11s %s\n", event.Stage, cmp.Or(event.Message, fmt.Sprint(event.ItemCount, " items go on")))
	}
	fmt.Println(collector.BuildReport().TotalCandidates, "candidates")
	// Output:
	// Classify    5 items go on
	// Score       4 items go on
	// Deduplicate 4 items go on
	// Slice       BudgetExceeded: 900 tokens requested, 74 available
	// Slice       3 items go on
	// Place       Pinned: score 1, 8 tokens
	// Place       Scored: score 0, 6 tokens
	// Place       Scored: score 0.6666666666666666, 5 tokens
	// Place       Scored: score 1, 7 tokens
	// Place       4 items go on
	// 5 candidates
}

// Errors carry what a caller can act on.
func ExamplePinnedExceedsBudgetError() {
	_, err := chat().Run(context.Background(), conversation(), budgetFor(5, 5))
	var pinned *pipeline.PinnedExceedsBudgetError
	if errors.As(err, &pinned) {
		fmt.Println("over by", pinned.PinnedTokens-pinned.AvailableTokens)
	}
	fmt.Println(err)
	// Output:
	// over by 3
	// cupel: Pinned items require 8 tokens, but only 5 are available
}

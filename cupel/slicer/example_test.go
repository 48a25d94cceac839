package slicer_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// candidate is an item with a name, a kind, a size in tokens and a score.
func candidate(name string, kind cupel.ContextKind, tokens int, score float64) cupel.ScoredItem {
	item, err := cupel.NewContextItem(name, tokens, cupel.WithKind(kind))
	if err != nil {
		log.Fatal(err)
	}
	return cupel.ScoredItem{Item: item, Score: score}
}

// show slices items to a number of tokens and prints what is selected, and what
// the slicer has to say about it.
func show(s strategy.Slicer, items []cupel.ScoredItem, tokens int) {
	sel, err := s.Slice(context.Background(), items, cupel.SliceBudget{MaxTokens: tokens, TargetTokens: tokens})
	if err != nil {
		log.Fatal(err)
	}
	for _, i := range sel.Indices {
		fmt.Println("in: ", items[i].Item.Content())
	}
	for _, d := range sel.Drops {
		fmt.Println("out:", items[d.Index].Item.Content(), "-", d.Reason)
	}
	for _, s := range sel.Shortfalls {
		fmt.Printf("short: %s, %d of %d\n", s.Kind, s.SatisfiedCount, s.RequiredCount)
	}
}

// The small answer is worth more per token than the long document, which then
// does not fit any more.
func ExampleGreedy() {
	show(slicer.Greedy{}, []cupel.ScoredItem{
		candidate("long document", cupel.KindDocument, 900, 0.9),
		candidate("small answer", cupel.KindMessage, 200, 0.8),
		candidate("note", cupel.KindMemory, 100, 0.3),
	}, 1000)
	// Output:
	// in:  small answer
	// in:  note
}

// Two halves are worth more than the densest item, after which neither fits.
func ExampleKnapsack() {
	items := []cupel.ScoredItem{
		candidate("densest", cupel.KindDocument, 600, 0.9),
		candidate("first half", cupel.KindDocument, 500, 0.6),
		candidate("second half", cupel.KindDocument, 500, 0.6),
	}
	fmt.Println("greedy")
	show(slicer.Greedy{}, items, 1000)
	fmt.Println("knapsack")
	show(slicer.Knapsack{}, items, 1000)
	// Output:
	// greedy
	// in:  densest
	// knapsack
	// in:  second half
	// in:  first half
}

// Greedy alone takes both tool outputs, which score best, and leaves a message
// out. The quota keeps half of the target for messages; the rest is shared in
// proportion to what there is of each kind, and one tool output fits its share.
func ExampleNewQuota() {
	items := []cupel.ScoredItem{
		candidate("tool output 1", cupel.KindToolOutput, 250, 0.9),
		candidate("tool output 2", cupel.KindToolOutput, 400, 0.8),
		candidate("message 1", cupel.KindMessage, 300, 0.3),
		candidate("message 2", cupel.KindMessage, 200, 0.1),
	}
	quota, err := slicer.NewQuota(slicer.Greedy{},
		slicer.Require(cupel.KindMessage, 50),
		slicer.Cap(cupel.KindToolOutput, 40))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("greedy")
	show(slicer.Greedy{}, items, 1000)
	fmt.Println("quota")
	show(quota, items, 1000)
	// Output:
	// greedy
	// in:  tool output 1
	// in:  tool output 2
	// in:  message 1
	// quota
	// in:  tool output 1
	// in:  message 1
	// in:  message 2
}

// At least one memory and at most one tool output, regardless of their scores; two
// system prompts are wanted, and there is but one.
func ExampleNewCountQuota() {
	counts, err := slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{
		{Kind: cupel.KindMemory, RequireCount: 1, CapCount: 3},
		{Kind: cupel.KindToolOutput, CapCount: 1},
		{Kind: cupel.KindSystemPrompt, RequireCount: 2, CapCount: 2},
	})
	if err != nil {
		log.Fatal(err)
	}
	show(counts, []cupel.ScoredItem{
		candidate("tool output 1", cupel.KindToolOutput, 100, 0.9),
		candidate("tool output 2", cupel.KindToolOutput, 100, 0.8),
		candidate("rules", cupel.KindSystemPrompt, 100, 0.7),
		candidate("memory", cupel.KindMemory, 600, 0.1),
	}, 1000)
	// Output:
	// in:  memory
	// in:  rules
	// in:  tool output 1
	// out: tool output 2 - CountCapExceeded: ToolOutput has 1 items, cap 1
	// short: SystemPrompt, 1 of 2
}

// The knapsack fills what the required memory leaves, and the cap keeps the
// best of the tool outputs that it takes.
func ExampleNewCountConstrainedKnapsack() {
	knapsack, err := slicer.NewKnapsack(slicer.WithBucketSize(10))
	if err != nil {
		log.Fatal(err)
	}
	counts, err := slicer.NewCountConstrainedKnapsack(knapsack, []slicer.CountQuotaEntry{
		{Kind: cupel.KindMemory, RequireCount: 1, CapCount: 3},
		{Kind: cupel.KindToolOutput, CapCount: 1},
	})
	if err != nil {
		log.Fatal(err)
	}
	show(counts, []cupel.ScoredItem{
		candidate("tool output 1", cupel.KindToolOutput, 300, 0.6),
		candidate("tool output 2", cupel.KindToolOutput, 300, 0.5),
		candidate("long document", cupel.KindDocument, 500, 0.9),
		candidate("memory", cupel.KindMemory, 400, 0.1),
	}, 1000)
	// Output:
	// in:  memory
	// in:  tool output 1
	// out: tool output 2 - CountCapExceeded: ToolOutput has 1 items, cap 1
}

// The longest item is the most relevant one. By density it would come last, and
// no longer fit.
func ExampleScoreGreedy() {
	items := []cupel.ScoredItem{
		candidate("the function in question", cupel.KindDocument, 700, 0.9),
		candidate("a test", cupel.KindDocument, 400, 0.8),
		candidate("a comment", cupel.KindDocument, 40, 0.3),
	}
	fmt.Println("by density")
	show(slicer.Greedy{}, items, 800)
	fmt.Println("by score")
	show(slicer.ScoreGreedy{}, items, 800)
	// Output:
	// by density
	// in:  a comment
	// in:  a test
	// by score
	// in:  the function in question
	// in:  a comment
}

// turns are three of a chat.
func turns() []cupel.ScoredItem {
	return []cupel.ScoredItem{
		candidate("question", cupel.KindMessage, 30, 0.9),
		candidate("answer", cupel.KindMessage, 40, 0.8),
		candidate("thanks", cupel.KindMessage, 20, 0.1),
	}
}

// Turns of a chat are short, and each takes a whole bucket of 100 tokens unless
// the bucket suits them.
func ExampleWithAutoBucket() {
	fmt.Println("buckets of 100")
	show(slicer.Knapsack{}, turns(), 100)
	fmt.Println("auto")
	show(slicer.Must(slicer.NewKnapsack(slicer.WithAutoBucket())), turns(), 100)
	// Output:
	// buckets of 100
	// in:  question
	// auto
	// in:  thanks
	// in:  answer
	// in:  question
}

// The last lines of a log leave room for a note.
func ExampleNewMultipleChoice() {
	log, err := cupel.NewContextItem("the whole log", 100,
		cupel.WithVariants(cupel.Variant{Content: "its last lines", Tokens: 20, Worth: 0.6}))
	if err != nil {
		fmt.Println(err)
		return
	}
	items := []cupel.ScoredItem{{Item: log, Score: 0.9}, candidate("a note", cupel.KindMemory, 40, 0.5)}
	selection, err := slicer.NewMultipleChoice().Slice(context.Background(), items, cupel.SliceBudget{MaxTokens: 70, TargetTokens: 70})
	fmt.Println(selection.Indices, selection.Smaller, err)
	// Output: [1] [{0 1}] <nil>
}

func ExampleDiverse() {
	budget := cupel.SliceBudget{MaxTokens: 30, TargetTokens: 30}
	var items []cupel.ScoredItem
	for i, text := range []string{
		"The ferry moves to the eastern pier on the first of May.",
		"The ferry moves to the eastern pier on the second of May.",
		"The ferry moves to the eastern pier on the third of May.",
		"Parking at the pier is free for those who take the ferry.",
	} {
		item, err := cupel.NewContextItem(text, 15)
		if err != nil {
			panic(err)
		}
		items = append(items, cupel.ScoredItem{Item: item, Score: 0.9 - float64(i)/10})
	}
	selection, err := slicer.Diverse{}.Slice(context.Background(), items, budget)
	if err != nil {
		panic(err)
	}
	fmt.Println(selection.Indices)
	// Output: [0 3]
}

package slicer_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
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
func show(s cupel.Slicer, items []cupel.ScoredItem, tokens int) {
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

// With the default of 100 tokens a bucket, items of 101 and 99 tokens need three
// buckets of the two that there are; counted in single tokens both fit.
func ExampleNewKnapsack() {
	items := []cupel.ScoredItem{
		candidate("101 tokens", cupel.KindMessage, 101, 0.5),
		candidate("99 tokens", cupel.KindMessage, 99, 0.4),
	}
	exact, err := slicer.NewKnapsack(slicer.WithBucketSize(1), slicer.WithMemoryLimit(64<<20))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("buckets of 100")
	show(slicer.Knapsack{}, items, 200)
	fmt.Println("buckets of 1")
	show(exact, items, 200)

	_, err = slicer.NewKnapsack(slicer.WithBucketSize(0))
	fmt.Println(err)
	// Output:
	// buckets of 100
	// in:  101 tokens
	// buckets of 1
	// in:  99 tokens
	// in:  101 tokens
	// cupel: bucketSize must be a positive integer (> 0) (KnapsackSlice, bucketSize = 0)
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

func ExampleRequire() {
	_, err := slicer.NewQuota(slicer.Greedy{}, slicer.Require("tool", 60), slicer.Require("message", 50))
	fmt.Println(err)
	// Output: cupel: the sum of all require percentages must not exceed 100% (QuotaSlice, entries = 110)
}

// A cap of 0 leaves a kind out.
func ExampleCap() {
	quota := slicer.Must(slicer.NewQuota(slicer.Greedy{}, slicer.Cap("debug", 0)))
	show(quota, []cupel.ScoredItem{
		candidate("trace", "debug", 10, 0.9),
		candidate("question", cupel.KindMessage, 10, 0.5),
	}, 100)
	// Output: in:  question
}

// Kinds are compared without ASCII case: these are two entries for one kind.
func ExampleBetween() {
	_, err := slicer.NewQuota(slicer.Greedy{}, slicer.Between("tool", 10, 30), slicer.Between("TOOL", 20, 40))
	fmt.Println(err)
	// Output: cupel: kind has an entry already, entries[0]: give the kind one entry, with Between; kinds are compared without ASCII case (QuotaSlice, entries[1].kind = "TOOL")
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

// With ScarcityThrow a requirement that cannot be met fails the run.
func ExampleScarcityBehavior() {
	counts := slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{
		{Kind: "disclaimer", RequireCount: 1, CapCount: 1},
	}, slicer.WithScarcity(slicer.ScarcityThrow)))
	items := []cupel.ScoredItem{candidate("question", cupel.KindMessage, 10, 0.5)}

	_, err := counts.Slice(context.Background(), items, cupel.SliceBudget{MaxTokens: 100, TargetTokens: 100})
	fmt.Println(err)
	fmt.Println("scarcity:", errors.Is(err, cupel.ErrScarcity))
	// Output:
	// cupel: CountQuotaSlice: candidate pool for kind 'disclaimer' has 0 items but RequireCount is 1.
	// scarcity: true
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

// Must is for slicers that are built from constants. Wrappers nest.
func ExampleMust() {
	s := slicer.Must(slicer.NewQuota(
		slicer.Must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{
			{Kind: cupel.KindMemory, CapCount: 1},
		})),
		slicer.Cap(cupel.KindMemory, 50)))
	show(s, []cupel.ScoredItem{
		candidate("memory 1", cupel.KindMemory, 10, 0.9),
		candidate("memory 2", cupel.KindMemory, 10, 0.8),
		candidate("question", cupel.KindMessage, 10, 0.5),
	}, 100)
	// Output:
	// in:  memory 1
	// in:  question
	// out: memory 2 - CountCapExceeded: Memory has 1 items, cap 1
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

// What the bucket of 100 leaves goes to the best of what still fits.
func ExampleWithTopUp() {
	show(slicer.Must(slicer.NewKnapsack(slicer.WithTopUp())), turns(), 80)
	// Output:
	// in:  question
	// in:  answer
}

func ExampleNewMultipleChoice() {
	log, err := cupel.NewContextItem("the whole log", 100,
		cupel.WithFutureRelevanceHint(0.9),
		cupel.WithVariants(cupel.Variant{Content: "its last lines", Tokens: 20, Worth: 0.6}))
	if err != nil {
		fmt.Println(err)
		return
	}
	note, err := cupel.NewContextItem("a note", 40, cupel.WithFutureRelevanceHint(0.5))
	if err != nil {
		fmt.Println(err)
		return
	}
	pipeline, err := cupel.New(cupel.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.NewMultipleChoice(), Placer: placer.Chronological{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	budget, err := cupel.NewContextBudget(100, 70)
	if err != nil {
		fmt.Println(err)
		return
	}
	window, err := pipeline.Run(context.Background(), []*cupel.ContextItem{log, note}, budget)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range window {
		fmt.Println(item.Content(), item.Tokens())
	}
	// Output:
	// its last lines 20
	// a note 40
}

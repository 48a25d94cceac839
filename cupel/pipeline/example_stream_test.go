package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// notes stands for a source that is too large to be read at once: a database, a
// search, the output of a program.
func notes(yield func(*cupel.ContextItem, error) bool) {
	system, err := cupel.NewContextItem("Answer from the notes.", 6, cupel.WithPinned())
	if !yield(system, err) {
		return
	}
	for i := 1; ; i++ {
		note, err := cupel.NewContextItem(fmt.Sprintf("note %d", i), 10, cupel.WithFutureRelevanceHint(1/float64(i)))
		if !yield(note, err) {
			fmt.Println("closed after note", i)
			return
		}
	}
}

func newStreamPipeline() *pipeline.Pipeline {
	p, err := pipeline.New(pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: placer.UShaped{}})
	if err != nil {
		log.Fatal(err)
	}
	return p
}

// The source has no end. It is pulled until the budget is full: after one batch
// of 32 notes; three fit next to the pinned item.
func ExamplePipeline_RunStream() {
	budget, err := cupel.NewContextBudget(100, 36)
	if err != nil {
		log.Fatal(err)
	}
	result, err := newStreamPipeline().RunStream(context.Background(), notes, budget)
	if err != nil {
		log.Fatal(err)
	}
	for _, in := range result.Included {
		fmt.Printf("%-6s %.2f %s\n", in.Reason, in.Score, in.Item.Content())
	}
	fmt.Println("left out:", result.Excluded)
	// Output:
	// closed after note 32
	// Pinned 1.00 Answer from the notes.
	// Scored 0.50 note 2
	// Scored 0.33 note 3
	// Scored 1.00 note 1
	// left out: map[BudgetExceeded:29]
}

// Small batches stop earlier, and have less to choose from.
func ExampleWithBatchSize() {
	budget, err := cupel.NewContextBudget(100, 36)
	if err != nil {
		log.Fatal(err)
	}
	result, err := newStreamPipeline().RunStream(context.Background(), notes, budget, pipeline.WithBatchSize(2))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(result.Window), "items of", result.TotalCandidates)
	// Output:
	// closed after note 4
	// 4 items of 5
}

// A source that fails ends the run; the error says where.
func ExampleSourceError() {
	source := func(yield func(*cupel.ContextItem, error) bool) {
		item, err := cupel.NewContextItem("first", 10)
		if yield(item, err) {
			yield(nil, errors.New("connection lost"))
		}
	}
	budget, err := cupel.NewContextBudget(100, 36)
	if err != nil {
		log.Fatal(err)
	}
	_, err = newStreamPipeline().RunStream(context.Background(), source, budget)
	var failed *pipeline.SourceError
	if errors.As(err, &failed) {
		fmt.Printf("go on at item %d: %v\n", failed.Index, failed.Err)
	}
	// Output: go on at item 1: connection lost
}

package cupelinspect_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelinspect"
)

// example returns what the examples select from.
func example() (*pipeline.Pipeline, []*cupel.ContextItem, cupel.ContextBudget) {
	pipeline, err := pipeline.New(pipeline.Config{Scorer: scorer.Priority{}, Slicer: slicer.Greedy{}, Placer: placer.UShaped{}})
	if err != nil {
		panic(err)
	}
	var items []*cupel.ContextItem
	for i, text := range []string{"Answer briefly.", "What was decided about the roof?", "Minutes of May", "Minutes of June"} {
		item, err := cupel.NewContextItem(text, 10*(i+1), cupel.WithPriority(10-i))
		if err != nil {
			panic(err)
		}
		items = append(items, item)
	}
	budget, err := cupel.NewContextBudget(80, 60)
	if err != nil {
		panic(err)
	}
	return pipeline, items, budget
}

func Example() {
	pipeline, items, budget := example()
	selection, err := cupelinspect.Inspect(context.Background(), pipeline, items, budget)
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "inspect")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file, err := os.Create(filepath.Join(dir, "window.html"))
	if err != nil {
		fmt.Println(err)
		return
	}
	err = cupelinspect.WriteHTML(file, "The roof", selection)
	fmt.Println(err, file.Close())

	page, err := os.ReadFile(file.Name())
	fmt.Println(strings.Contains(string(page), "<title>The roof</title>"), err)
	// Output:
	// <nil> <nil>
	// true <nil>
}

// A failed run makes a page, too.
func ExampleInspect() {
	pipeline, items, _ := example()
	pinned, err := cupel.NewContextItem("The whole handbook", 100, cupel.WithPinned())
	if err != nil {
		fmt.Println(err)
		return
	}
	budget, err := cupel.NewContextBudget(80, 60)
	if err != nil {
		fmt.Println(err)
		return
	}
	selection, err := cupelinspect.Inspect(context.Background(), pipeline, append(items, pinned), budget)
	fmt.Println(err)
	fmt.Println(selection.Err())
	// Output:
	// <nil>
	// cupel: Pinned items require 100 tokens, but only 80 are available
}

// Two budgets side by side.
func ExampleWriteHTML() {
	pipeline, items, small := example()
	large, err := small.Resize(160, 120)
	if err != nil {
		fmt.Println(err)
		return
	}
	var selections []*cupelinspect.Selection
	for _, budget := range []cupel.ContextBudget{small, large} {
		name := fmt.Sprintf("%d tokens", budget.MaxTokens())
		selection, err := cupelinspect.Inspect(context.Background(), pipeline, items, budget, cupelinspect.WithName(name))
		if err != nil {
			fmt.Println(err)
			return
		}
		selections = append(selections, selection)
	}
	var page strings.Builder
	fmt.Println(cupelinspect.WriteHTML(&page, "Two budgets", selections...))
	// Output: <nil>
}

// A report that was stored as JSON.
func ExampleFromReport() {
	pipeline, items, budget := example()
	report, err := pipeline.DryRun(context.Background(), items, budget)
	if err != nil {
		fmt.Println(err)
		return
	}
	stored, err := json.Marshal(report)
	if err != nil {
		fmt.Println(err)
		return
	}

	var read cupel.SelectionReport
	if err := json.Unmarshal(stored, &read); err != nil {
		fmt.Println(err)
		return
	}
	selection, err := cupelinspect.FromReport(&read, budget, cupelinspect.WithName("yesterday"))
	if err != nil {
		fmt.Println(err)
		return
	}
	var page strings.Builder
	err = cupelinspect.WriteHTML(&page, "Stored", selection)
	fmt.Println(strings.Contains(page.String(), "yesterday"), err)
	// Output: true <nil>
}

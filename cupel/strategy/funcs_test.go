package strategy_test

import (
	"context"
	"fmt"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// A pipeline of functions: by length, everything, in the order given.
func ExampleScorerFunc() {
	longest := strategy.ScorerFunc(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
		return float64(len(item.Content()))
	})
	asGiven := strategy.PlacerFunc(func(context.Context, []cupel.ScoredItem, []int) error { return nil })
	p, err := pipeline.New(pipeline.Config{Scorer: longest, Slicer: slicer.ScoreGreedy{}, Placer: asGiven})
	if err != nil {
		fmt.Println(err)
		return
	}
	budget, _ := cupel.NewContextBudget(2, 2)
	short, _ := cupel.NewContextItem("hi", 1)
	long, _ := cupel.NewContextItem("good morning", 1)
	longer, _ := cupel.NewContextItem("good evening to all", 1)
	window, err := p.Run(context.Background(), []*cupel.ContextItem{short, long, longer}, budget)
	for _, item := range window {
		fmt.Println(item.Content())
	}
	fmt.Println(err)
	// Output:
	// good evening to all
	// good morning
	// <nil>
}

// Half of the budget is for the better half of the items.
func ExampleAppendSlicerOn() {
	halves := strategy.SlicerFunc(func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
		var all strategy.Selection
		budget.TargetTokens /= 2
		better := len(items) / 2
		for _, positions := range [][]int{upTo(0, better), upTo(better, len(items))} {
			if err := strategy.AppendSlicerOn(ctx, &all, slicer.Greedy{}, items, positions, budget); err != nil {
				return strategy.Selection{}, err
			}
		}
		all.StaysUntil = 0 // which of the halves had
		return all, nil
	})
	var items []cupel.ScoredItem
	for i, tokens := range []int{3, 6, 5, 2} {
		item, _ := cupel.NewContextItem(fmt.Sprint("item ", i), tokens)
		items = append(items, cupel.ScoredItem{Item: item, Score: 1 - float64(i)/10})
	}
	sel, err := strategy.CallSlicer(context.Background(), halves, items, cupel.SliceBudget{MaxTokens: 12, TargetTokens: 12})
	fmt.Println(sel.Indices, err)
	// Output:
	// [0 3] <nil>
}

func upTo(from, to int) (list []int) {
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

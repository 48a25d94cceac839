// Embedding is built with several flags by the tests of package promoted. It
// prints which of its strategies are asked for what.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// inlined has methods that fit into their wrappers.
type inlined struct{}

func (inlined) Score(*cupel.ContextItem, []*cupel.ContextItem) float64          { return 1 }
func (inlined) ScoreAll(context.Context, []*cupel.ContextItem, []float64) error { return nil }

// NotUsed must not be in the program.
func (inlined) NotUsed() { fmt.Println("the linker has kept a method that is not used") }

type embeds struct{ inlined }

type own struct{ inlined }

func (o own) Score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	return o.inlined.Score(item, all)
}

type both struct{ inlined }

func (b both) Score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	return b.inlined.Score(item, all)
}

func (b both) ScoreAll(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	return b.inlined.ScoreAll(ctx, all, scores)
}

type recency struct{ scorer.Recency }

func (recency) Score(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 1 }

type pointer struct{ *scorer.Composite }

func (*pointer) Score(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 1 }

type greedy struct{ slicer.Greedy }

type halfGreedy struct{ greedy }

func (h halfGreedy) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	budget.TargetTokens /= 2
	return h.greedy.Slice(ctx, items, budget)
}

type reversed struct{ placer.Chronological }

func (reversed) Place(_ context.Context, items []cupel.ScoredItem) ([]int, error) {
	order := make([]int, len(items))
	for i := range order {
		order[i] = len(order) - 1 - i
	}
	return order, nil
}

func main() {
	item, err := cupel.NewContextItem("content", 1)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	all := []*cupel.ContextItem{item}
	for _, s := range []cupel.Scorer{inlined{}, embeds{}, &embeds{}, own{}, &own{}, both{}, &both{}, recency{}, &pointer{}} {
		scores := []float64{0}
		if err := cupel.ScoreAll(context.Background(), s, all, scores); err != nil {
			fmt.Println(err)
		}
		fmt.Printf("%T %v\n", s, scores[0])
	}
	scored := []cupel.ScoredItem{{Item: item}, {Item: item}}
	for _, s := range []cupel.Slicer{greedy{}, &greedy{}, halfGreedy{}, &halfGreedy{}} {
		fmt.Printf("%T %v\n", s, cupel.Sweep(s, scored) != nil)
	}
	order, err := cupel.Place(context.Background(), reversed{}, scored)
	fmt.Println(order, err)
}

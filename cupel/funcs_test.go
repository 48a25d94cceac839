package cupel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// A pipeline of functions: by length, everything, in the order given.
func ExampleScorerFunc() {
	longest := cupel.ScorerFunc(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
		return float64(len(item.Content()))
	})
	asGiven := cupel.PlacerFunc(func(_ context.Context, items []cupel.ScoredItem) ([]int, error) {
		order := make([]int, len(items))
		for i := range order {
			order[i] = i
		}
		return order, nil
	})
	pipeline, err := cupel.New(cupel.Config{Scorer: longest, Slicer: slicer.ScoreGreedy{}, Placer: asGiven})
	if err != nil {
		fmt.Println(err)
		return
	}
	budget, _ := cupel.NewContextBudget(2, 2)
	short, _ := cupel.NewContextItem("hi", 1)
	long, _ := cupel.NewContextItem("good morning", 1)
	longer, _ := cupel.NewContextItem("good evening to all", 1)
	window, err := pipeline.Run(context.Background(), []*cupel.ContextItem{short, long, longer}, budget)
	for _, item := range window {
		fmt.Println(item.Content())
	}
	fmt.Println(err)
	// Output:
	// good evening to all
	// good morning
	// <nil>
}

// A reranker is asked about all items at once, and may be out of order.
func ExampleBatchScorerFunc() {
	reranker := cupel.BatchScorerFunc(func(_ context.Context, all []*cupel.ContextItem, _ []float64) error {
		return fmt.Errorf("cannot rank %d items: connection refused", len(all))
	})
	pipeline, _ := cupel.New(cupel.Config{Scorer: reranker, Slicer: slicer.Greedy{}, Placer: asMerged})
	item, _ := cupel.NewContextItem("hi", 1)
	budget, _ := cupel.NewContextBudget(9, 9)
	_, err := pipeline.Run(context.Background(), []*cupel.ContextItem{item}, budget)
	fmt.Println(err)
	// Output:
	// cupel: scorer cupel.BatchScorerFunc failed: cannot rank 1 items: connection refused
}

// Half of the budget is for the better half of the items.
func ExampleSliceSubset() {
	halves := cupel.SlicerFunc(func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
		var all cupel.Selection
		budget.TargetTokens /= 2
		better := len(items) / 2
		for _, positions := range [][]int{upTo(0, better), upTo(better, len(items))} {
			sel, err := cupel.SliceSubset(ctx, slicer.Greedy{}, items, positions, budget)
			if err != nil {
				return cupel.Selection{}, err
			}
			all.Indices = append(all.Indices, sel.Indices...)
			all.Drops = append(all.Drops, sel.Drops...)
			all.Shortfalls = append(all.Shortfalls, sel.Shortfalls...)
		}
		return all, nil
	})
	var items []cupel.ScoredItem
	for i, tokens := range []int{3, 6, 5, 2} {
		item, _ := cupel.NewContextItem(fmt.Sprint("item ", i), tokens)
		items = append(items, cupel.ScoredItem{Item: item, Score: 1 - float64(i)/10})
	}
	sel, err := cupel.Slice(context.Background(), halves, items, cupel.SliceBudget{MaxTokens: 12, TargetTokens: 12})
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

func TestBatchScorerFuncScoresOne(t *testing.T) {
	all := []*cupel.ContextItem{item(t, "a", 1), item(t, "b", 1)}
	f := cupel.BatchScorerFunc(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
		for i := range scores {
			scores[i] = float64(1 + i)
		}
		return nil
	})
	equal(t, "score of the second", f.Score(all[1], all), 2)
	equal(t, "score of one that is not in the list", f.Score(item(t, "c", 1), all), 0)
	fails := cupel.BatchScorerFunc(func(_ context.Context, _ []*cupel.ContextItem, scores []float64) error {
		scores[0] = 1
		return errOwn
	})
	equal(t, "score when the function fails", fails.Score(all[0], all), 0)
}

func TestSliceSubset(t *testing.T) {
	var items []cupel.ScoredItem
	for i := range 200 {
		items = append(items, cupel.ScoredItem{Item: item(t, fmt.Sprint(i), 1), Score: float64(i)})
	}
	shortfall := cupel.CountRequirementShortfall{Kind: "x", RequiredCount: 2}
	mine := []int{2, 0}
	var seen []cupel.ScoredItem
	s := cupel.SlicerFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (cupel.Selection, error) {
		seen = slices.Clone(items)
		return cupel.Selection{Indices: mine, Drops: []cupel.Drop{{Index: 1, Reason: cupel.ExclusionReason{Code: cupel.ExcludeFiltered}}},
			Shortfalls: []cupel.CountRequirementShortfall{shortfall}}, nil
	})
	budget := cupel.SliceBudget{MaxTokens: 9, TargetTokens: 9}
	for range 2 { // the second time with memory of the first
		sel, err := cupel.SliceSubset(t.Context(), s, items, []int{199, 70, 3}, budget)
		if err != nil {
			t.Fatal(err)
		}
		equalSlices(t, "selected", sel.Indices, []int{3, 199})
		if len(sel.Drops) != 1 || sel.Drops[0].Index != 70 || sel.Drops[0].Reason.Code != cupel.ExcludeFiltered {
			t.Errorf("dropped %v, want position 70", sel.Drops)
		}
		equalSlices(t, "shortfalls", sel.Shortfalls, []cupel.CountRequirementShortfall{shortfall})
		equalSlices(t, "items", seen, []cupel.ScoredItem{items[199], items[70], items[3]})
		equalSlices(t, "the slicer's own list", mine, []int{2, 0})
	}
	tests := []struct {
		name      string
		slicer    cupel.Slicer
		positions []int
		want      error
		text      string
	}{
		{"out of range", s, []int{1, 200}, cupel.ErrInvalidConfig, "cupel: position is given out of range for a list of 200 items (SliceSubset, positions[1] = 200)"},
		{"negative", s, []int{-1}, cupel.ErrInvalidConfig, "cupel: position is given out of range for a list of 200 items (SliceSubset, positions[0] = -1)"},
		{"twice", s, []int{7, 7}, cupel.ErrInvalidConfig, "cupel: position is given twice for a list of 200 items (SliceSubset, positions[1] = 7)"},
		{"the slicer breaks its contract", s, []int{5, 6}, cupel.ErrContract, "cupel: slicer cupel.SlicerFunc returned position 2 out of range of 2 items, which breaks the contract of a slicer"},
		{"no slicer", nil, []int{5}, cupel.ErrStrategy, "cupel: slicer is nil"},
	}
	for _, tt := range tests {
		sel, err := cupel.SliceSubset(t.Context(), tt.slicer, items, tt.positions, budget)
		if !errors.Is(err, tt.want) || err.Error() != tt.text || len(sel.Indices)+len(sel.Drops) > 0 {
			t.Errorf("%s: got %+v, error %v, want %s", tt.name, sel, err, tt.text)
		}
	}
	if !raceEnabled {
		positions := upTo(0, 150)
		allocs := testing.AllocsPerRun(50, func() {
			if _, err := cupel.SliceSubset(t.Context(), slicer.Greedy{}, items, positions, budget); err != nil {
				t.Error(err)
			}
		})
		if allocs > 2 {
			t.Errorf("allocated %v times, want the list of the slicer and that of the caller", allocs)
		}
	}
}

package pipeline_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// The strategies below are as plain as can be, so that the tests of the engine
// do not depend on those of other packages.

// byHint scores an item by its hint, 0 when it has none.
type byHint struct{}

func (byHint) Score(_ context.Context, items []*cupel.ContextItem, scores []float64) error {
	for i, item := range items {
		hint, _ := item.FutureRelevanceHint()
		scores[i] = hint
	}
	return nil
}

// scoreFunc is a scorer made of a function.
type scoreFunc func(item *cupel.ContextItem, all []*cupel.ContextItem) float64

func (f scoreFunc) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	return strategy.ScorerFunc(f).Score(ctx, items, scores)
}

// batchFunc is a batch scorer made of a function.
type batchFunc func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error

func (f batchFunc) Score(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	return f(ctx, all, scores)
}

// sliceFunc is a slicer made of a function.
type sliceFunc func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error)

func (f sliceFunc) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	return f(ctx, items, budget)
}

// inOrder takes what fits, in the order given.
var inOrder = sliceFunc(func(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	var sel strategy.Selection
	left := budget.TargetTokens
	for i, it := range items {
		if left > 0 && it.Item.Tokens() <= left || it.Item.Tokens() == 0 && budget.TargetTokens > 0 {
			sel.Indices = append(sel.Indices, i)
			left -= it.Item.Tokens()
		}
	}
	return sel, nil
})

// everything selects all items, last one first, at any budget.
var everything = sliceFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (strategy.Selection, error) {
	sel := strategy.Selection{Indices: make([]int, 0, len(items))}
	for i := range items {
		sel.Indices = append(sel.Indices, len(items)-1-i)
	}
	return sel, nil
})

// placeFunc is a placer made of a function.
type placeFunc func(ctx context.Context, items []cupel.ScoredItem, order []int) error

func (f placeFunc) Place(ctx context.Context, items []cupel.ScoredItem, order []int) error {
	return f(ctx, items, order)
}

// asMerged leaves the merged order as it is.
var asMerged = placeFunc(func(context.Context, []cupel.ScoredItem, []int) error { return nil })

func item(t testing.TB, content string, tokens int, opts ...cupel.ItemOption) *cupel.ContextItem {
	t.Helper()
	it, err := cupel.NewContextItem(content, tokens, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return it
}

func hint(h float64) cupel.ItemOption { return cupel.WithFutureRelevanceHint(h) }

func budgetOf(t testing.TB, maxTokens, targetTokens int, opts ...cupel.BudgetOption) cupel.ContextBudget {
	t.Helper()
	b, err := cupel.NewContextBudget(maxTokens, targetTokens, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func newPipeline(t testing.TB, change ...func(*pipeline.Config)) *pipeline.Pipeline {
	t.Helper()
	config := pipeline.Config{Scorer: byHint{}, Slicer: inOrder, Placer: asMerged}
	for _, c := range change {
		c(&config)
	}
	p, err := pipeline.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func contents(items []*cupel.ContextItem) string {
	var all []string
	for _, it := range items {
		all = append(all, it.Content())
	}
	return strings.Join(all, " ")
}

func included(r *cupel.SelectionReport) string {
	var all []string
	for _, i := range r.Included {
		all = append(all, i.Item.Content())
	}
	return strings.Join(all, " ")
}

// excluded lists "content: reason" in the order of the report.
func excluded(r *cupel.SelectionReport) string {
	var all []string
	for _, e := range r.Excluded {
		all = append(all, e.Item.Content()+": "+e.Reason.String())
	}
	return strings.Join(all, "; ")
}

// ticking returns a clock that moves on by step at each reading.
func ticking(start time.Time, step time.Duration) func() time.Time {
	now := start.Add(-step)
	return func() time.Time {
		now = now.Add(step)
		return now
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func equalSlices[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func errorIs(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("got error %v, want one that matches %v", err, target)
	}
}

var errOwn = errors.New("the strategy's own error")

func placing(positions ...int) strategy.Placer {
	return placeFunc(func(_ context.Context, _ []cupel.ScoredItem, order []int) error {
		copy(order, positions)
		return nil
	})
}

package cupel_test

import (
	"context"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

// twoForms is a placer whose two forms tell themselves apart.
type twoForms struct{}

func (twoForms) Place(_ context.Context, items []cupel.ScoredItem) ([]int, error) {
	return asMergedOrder(nil, items), nil
}

func (twoForms) AppendPlace(_ context.Context, order []int, items []cupel.ScoredItem) ([]int, error) {
	order = asMergedOrder(order, items)
	slices.Reverse(order)
	return order, nil
}

// keeping is a placer that breaks its contract: it keeps the list.
type keeping struct{ list *[]int }

func (p keeping) Place(_ context.Context, items []cupel.ScoredItem) ([]int, error) {
	*p.list = asMergedOrder(nil, items)
	return *p.list, nil
}

func asMergedOrder(order []int, items []cupel.ScoredItem) []int {
	for i := range items {
		order = append(order, i)
	}
	return order
}

func TestAppendPlacerIsAsked(t *testing.T) {
	items := []*cupel.ContextItem{item(t, "a", 1, hint(0.9)), item(t, "b", 1, hint(0.5)), item(t, "c", 1, hint(0.1))}
	p := pipeline(t, func(c *cupel.Config) { c.Placer = twoForms{} })
	for range 3 { // with memory that runs before have left, too
		window, err := p.Run(t.Context(), items, budgetOf(t, 100, 50))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "order", contents(window), contents([]*cupel.ContextItem{items[2], items[1], items[0]}))
	}
}

// Later runs, with any placer, do not write to what Place returned.
func TestPlacersListIsLeftAlone(t *testing.T) {
	var list []int
	items := []*cupel.ContextItem{item(t, "a", 1), item(t, "b", 1), item(t, "c", 1)}
	run := func(placer cupel.Placer) {
		p := pipeline(t, func(c *cupel.Config) { c.Placer = placer })
		if _, err := p.Run(t.Context(), items, budgetOf(t, 100, 50)); err != nil {
			t.Fatal(err)
		}
	}
	run(keeping{&list})
	kept := slices.Clone(list)
	for range 10 {
		run(twoForms{})
	}
	if !slices.Equal(list, kept) {
		t.Errorf("the list is %v now, and was %v", list, kept)
	}
}

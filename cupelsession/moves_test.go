package cupelsession_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelsession"
)

func TestMoves(t *testing.T) {
	var items []cupel.ScoredItem
	for i := range 5 {
		var opts []cupel.ItemOption
		if i == 0 {
			opts = append(opts, cupel.WithPinned())
		}
		opts = append(opts, cupel.WithTimestamp(time.Unix(int64(i), 0)))
		items = append(items, cupel.ScoredItem{Item: item(t, fmt.Sprint(i), 10, opts...), Score: []float64{0, .5, .9, .3, .7}[i]})
	}
	for _, test := range []struct {
		name   string
		placer strategy.Placer
		want   []cupelsession.Move
		why    string
	}{
		{"chronological", placer.Chronological{}, nil, "what is new comes last"},
		{"u-shaped", placer.UShaped{}, []cupelsession.Move{{Items: 4, At: 2, Tokens: 10}, {Items: 5, At: 1, Tokens: 30}}, "the best of the others comes last, and the worst in the middle"},
		{"newest first", strategy.PlacerFunc(func(_ context.Context, items []cupel.ScoredItem) ([]int, error) {
			var order []int
			for range items {
				order = append(order, len(order))
			}
			slices.SortFunc(order, func(a, b int) int { return strings.Compare(items[b].Item.Content(), items[a].Item.Content()) })
			return order, nil
		}), []cupelsession.Move{{Items: 2, At: 0, Tokens: 10}, {Items: 3, At: 0, Tokens: 20}, {Items: 4, At: 0, Tokens: 30}, {Items: 5, At: 0, Tokens: 40}}, "everything moves at each turn"},
	} {
		got, err := cupelsession.Moves(t.Context(), test.placer, items)
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %+v, error %v; want %+v (%s)", test.name, got, err, test.want, test.why)
		}
	}
	broken := strategy.PlacerFunc(func(context.Context, []cupel.ScoredItem) ([]int, error) { return []int{7}, nil })
	var contract *cupel.ContractError
	if _, err := cupelsession.Moves(t.Context(), broken, items); !errors.As(err, &contract) {
		t.Errorf("error %v, want that of a broken contract", err)
	}
}

// A check of one's own placer.
func ExampleMoves() {
	var items []cupel.ScoredItem
	for i, text := range []string{"task", "answer", "result"} {
		made, err := cupel.NewContextItem(text, 10)
		if err != nil {
			fmt.Println(err)
			return
		}
		items = append(items, cupel.ScoredItem{Item: made, Score: float64(i) / 10})
	}
	moves, err := cupelsession.Moves(context.Background(), placer.UShaped{}, items)
	fmt.Printf("%+v %v\n", moves, err)
	// Output: [{Items:2 At:0 Tokens:10} {Items:3 At:0 Tokens:20}] <nil>
}

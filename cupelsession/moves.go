package cupelsession

import (
	"cmp"
	"context"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Move is a turn at which a placer gave items that were sent before another place.
type Move struct {
	// Items is how many items the list had.
	Items int
	// At is the first position in the prompt that is not as it was at the turn
	// before, and Tokens those of the turn before from there on, which the cache
	// loses.
	At, Tokens int
}

// Moves tells whether a placer moves the beginning of the prompt from turn to turn.
// It places the first item, the first two and so on, with the scores given, and
// returns each turn that does not begin with the order of the turn before. A placer
// without moves only appends, as a session does by itself.
//
// It fails as [strategy.CallPlacer] does. It takes time quadratic in the items.
func Moves(ctx context.Context, placer strategy.Placer, items []cupel.ScoredItem) ([]Move, error) {
	var moves []Move
	var before []*cupel.ContextItem
	for n := range items {
		// Placers get pinned items first, then the others by score.
		list := slices.Clone(items[:n+1])
		for i := range list {
			if list[i].Item.Pinned() {
				list[i].Score = 1
			}
		}
		slices.SortStableFunc(list, func(a, b cupel.ScoredItem) int {
			if p := pinnedFirst(a) - pinnedFirst(b); p != 0 {
				return p
			}
			return cmp.Compare(b.Score, a.Score)
		})
		order, err := strategy.CallPlacer(ctx, placer, list)
		if err != nil {
			return nil, err
		}
		placed := make([]*cupel.ContextItem, len(order))
		for at, i := range order {
			placed[at] = list[i].Item
		}
		at := 0
		for at < len(before) && placed[at] == before[at] {
			at++
		}
		if at < len(before) {
			m := Move{Items: n + 1, At: at}
			for _, item := range before[at:] {
				m.Tokens += item.Tokens()
			}
			moves = append(moves, m)
		}
		before = placed
	}
	return moves, nil
}

func pinnedFirst(s cupel.ScoredItem) int {
	if s.Item.Pinned() {
		return 0
	}
	return 1
}

package cupel

import (
	"context"
	"fmt"

	"github.com/wollax/cupel-go/cupel/internal/promoted"
)

// Placer decides the order in which the selected items appear in the prompt.
//
// items holds the pinned items, with score 1.0, and after them the sliced
// items by score, highest first; it must be neither changed nor kept. The
// result is a permutation of the positions in items: the position that comes
// first in the prompt, the second, and so on. Place is deterministic, is called
// from several goroutines at once, and returns a list that it does not keep.
// ctx is the run's; long work stops when it is done.
//
// It implements the Placers chapter of the specification.
type Placer interface {
	Place(ctx context.Context, items []ScoredItem) ([]int, error)
}

// AppendPlacer is a Placer that can write its order into memory of the caller.
// The engine uses it when it is there, so that a warm pipeline makes no garbage
// for it. Both forms give the same order.
//
// A type that embeds an AppendPlacer has its AppendPlace, which is used as long
// as Place is the embedded type's too: one with a Place of its own is asked that,
// until it has an AppendPlace of its own as well.
type AppendPlacer interface {
	Placer
	// AppendPlace appends the order that Place returns to order, and returns the
	// extended list. It keeps neither.
	AppendPlace(ctx context.Context, order []int, items []ScoredItem) ([]int, error)
}

// Place runs a placer and holds it to its contract: the result is a
// permutation. A panic or an error comes back as a [StrategyError] that
// names p, a broken contract as a [ContractError], with the same exceptions as
// from [ScoreAll]. A nil ctx is [context.Background].
func Place(ctx context.Context, p Placer, items []ScoredItem) (order []int, err error) {
	return place(ctx, p, nil, items)
}

// appends returns the appending form of p, if that is to be used.
func appends(p Placer) (AppendPlacer, bool) {
	appending, ok := p.(AppendPlacer)
	return appending, ok && promoted.AppendPlace.Agree(p)
}

// place is Place with memory for the order.
func place(ctx context.Context, p Placer, memory []int, items []ScoredItem) (order []int, err error) {
	ctx = contextOr(ctx)
	if isNil(p) {
		return nil, &StrategyError{Role: "placer", Strategy: typeName(p), Reason: "is nil"}
	}
	defer recoverStrategy("placer", p, &err)
	if appending, ok := appends(p); ok {
		order, err = appending.AppendPlace(ctx, memory[:0], items)
	} else {
		order, err = p.Place(ctx, items)
	}
	if err != nil {
		return nil, strategyError(ctx, "placer", p, err)
	}
	if len(order) != len(items) {
		return nil, contractError("placer", p, fmt.Sprintf("returned %d positions for %d items", len(order), len(items)))
	}
	seen := newPositions(len(items))
	defer seen.free()
	for _, i := range order {
		if problem := seen.take(i); problem != "" {
			return nil, brokenContract("placer", p, problem, i, len(items))
		}
	}
	return order, nil
}

package cupel

import (
	"context"
	"fmt"

	"github.com/wollax/cupel-go/cupel/internal/promoted"
)

// Placer decides the order in which the selected items appear in the prompt.
//
// items holds the pinned items, with score 1.0, followed by the sliced items by
// score, highest first; it must be neither changed nor retained. The result is a
// permutation of the positions in items: the position that comes first in the
// prompt, the second, and so on. Place must be deterministic and safe for
// concurrent use, and must not retain its result. ctx is the run's context; long
// work should stop when it is done.
//
// It implements the Placers chapter of the specification.
type Placer interface {
	Place(ctx context.Context, items []ScoredItem) ([]int, error)
}

// AppendPlacer is a Placer that can write its order to the caller's memory, which
// saves the engine an allocation. Both methods give the same order.
//
// A type that embeds an AppendPlacer inherits its AppendPlace. The engine uses it
// only if Place is inherited too. If the type declares its own Place, the engine
// calls that, unless the type also declares its own AppendPlace.
type AppendPlacer interface {
	Placer
	// AppendPlace appends the order that Place returns to order, and returns the
	// extended list. It must not retain either.
	AppendPlace(ctx context.Context, order []int, items []ScoredItem) ([]int, error)
}

// Place runs a placer and checks its contract: the result must be a permutation. A
// panic or an error is returned as a [StrategyError] that names p, a broken
// contract as a [ContractError], with the same exceptions as from [ScoreAll]. A nil
// ctx is [context.Background].
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
	ctx, timing := startTiming(ctx, p)
	defer timing.end()
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

package scorer

import (
	"context"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Reflexive scores an item by its own future relevance hint, clamped to [0,1].
// Items without a hint score 0, and so do NaN and infinite hints.
//
// The zero Reflexive is ready for use.
//
// It implements the ReflexiveScorer chapter of the specification.
type Reflexive struct{}

var reflexiveDescriptor = strategy.Plain[Reflexive]("reflexive", "ReflexiveScorer", "Scores an item by its own future relevance hint.")

// Score scores each item in O(1). It fails only when ctx is done.
func (r Reflexive) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	return each(ctx, r, items, scores, func(item *cupel.ContextItem) float64 {
		hint, _ := item.FutureRelevanceHint()
		if !isFinite(hint) {
			return 0
		}
		return clamp(hint)
	})
}

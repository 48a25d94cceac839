package cupelrelevance

import (
	"context"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Grouped combines the score of an item with that of its session, document or
// thread: (1 - share) * own + share * group. The score of a group is its best
// item's; NaN is ignored. The index defines the groups ([WithGroups],
// [WithGap]).
//
// An item that occurs twice gets the higher of its scores. Grouped is safe for
// concurrent use if the inner scorer is. Create it with [NewGrouped].
type Grouped struct {
	index *Index
	inner strategy.Scorer
	share float64
}

// NewGrouped returns a scorer that combines the scores of inner with those of
// the groups; share is the group's share, from 0 to 1. It returns a
// [cupel.InvalidConfigError] if an argument is invalid.
func NewGrouped(index *Index, inner strategy.Scorer, share float64) (*Grouped, error) {
	if err := index.validate("Grouped"); err != nil {
		return nil, err
	}
	if isNil(inner) {
		return nil, invalid("Grouped", "inner", "", "Scorer must not be null")
	}
	if !(share >= 0 && share <= 1) {
		return nil, invalid("Grouped", "share", number(share), "share must be from 0 to 1")
	}
	g := &Grouped{index: index, inner: inner, share: share}
	if err := strategy.ValidateScorer(g); err != nil {
		return nil, err
	}
	return g, nil
}

// Facts has the inner scorer. A scorer that was not created with [NewGrouped] is
// invalid.
func (g *Grouped) Facts() strategy.Facts {
	if g != nil && g.inner != nil {
		return strategy.Facts{Of: g, Scorers: []strategy.Scorer{g.inner}}
	}
	return strategy.Facts{Of: g, Invalid: notBuilt("Grouped")}
}

// Score calls the inner scorer once and otherwise takes linear time. It
// fails if the inner scorer fails, if ctx is done, or if the scorer is
// invalid.
func (g *Grouped) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	if err := begin(ctx, g, items, scores); err != nil {
		return err
	}
	l, err := g.index.of(ctx, items)
	if err != nil {
		return err
	}
	if err := strategy.CallScorer(ctx, g.inner, items, scores); err != nil {
		return err
	}
	own := 1 - g.share
	for group := range l.order.numGroups() {
		sequence := l.order.at(group)
		best := bestOf(sequence, scores)
		for _, i := range sequence {
			scores[i] = float64(own*scores[i]) + float64(g.share*best)
		}
	}
	l.words.settle(scores)
	return ctx.Err()
}

// bestOf returns the highest score of a group, or that of its first item if all
// are NaN.
func bestOf(sequence []uint32, scores []float64) float64 {
	best := scores[sequence[0]]
	for _, i := range sequence {
		if scores[i] > best || best != best {
			best = scores[i]
		}
	}
	return best
}

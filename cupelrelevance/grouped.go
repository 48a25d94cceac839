package cupelrelevance

import (
	"context"

	"github.com/wollax/cupel-go/cupel"
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
	inner cupel.Scorer
	share float64
}

// NewGrouped returns a scorer that combines the scores of inner with those of
// the groups; share is the group's share, from 0 to 1. It returns a
// [cupel.InvalidConfigError] if an argument is invalid.
func NewGrouped(index *Index, inner cupel.Scorer, share float64) (*Grouped, error) {
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
	if err := cupel.ValidateScorer(g); err != nil {
		return nil, err
	}
	return g, nil
}

// Validate returns an error if the scorer was not created with [NewGrouped]. It
// does not check the inner scorer; [cupel.ValidateScorer] does.
func (g *Grouped) Validate() error {
	if g == nil || g.inner == nil {
		return notBuilt("Grouped")
	}
	return nil
}

// Scorers returns the inner scorer.
func (g *Grouped) Scorers() []cupel.Scorer {
	if g == nil {
		return nil
	}
	return []cupel.Scorer{g.inner}
}

// Score scores the whole list, which must contain item, and returns the item's
// score; an item that is not in the list scores 0.
func (g *Grouped) Score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	return scoreOne(g, item, all)
}

// ScoreAll calls the inner scorer once and otherwise takes linear time. It
// fails if the inner scorer fails, if ctx is done, or if Validate fails.
func (g *Grouped) ScoreAll(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	if err := begin(ctx, g, "Grouped", all, scores); err != nil {
		return err
	}
	l, err := g.index.of(ctx, all)
	if err != nil {
		return err
	}
	if err := cupel.ScoreAll(ctx, g.inner, all, scores); err != nil {
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

package cupelrelevance

import (
	"context"

	"github.com/wollax/cupel-go/cupel"
)

// Grouped mixes the relevance of the session, document or thread that an item
// belongs to into its own: (1 - share) * own + share * group, where the group
// scores what its best item does. Groups are those of the index ([WithGroups],
// [WithGap]). Scores that are NaN are no group's best.
//
// An item that is given twice scores what its better place does. It is safe for
// concurrent use when the scorer inside is. Build it with [NewGrouped].
type Grouped struct {
	index *Index
	inner cupel.Scorer
	share float64
}

// NewGrouped returns a scorer that mixes the scores of inner with those of the
// groups; share is that of the group, from 0 to 1. It fails with a
// [cupel.InvalidConfigError].
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

// Validate reports a scorer that was not built with [NewGrouped]. The inner
// scorer is not looked at; [cupel.ValidateScorer] does that.
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

// ScoreAll asks the inner scorer once and takes linear time beside. It fails when
// the inner scorer does, when ctx is done, or when Validate does.
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

// bestOf returns the highest score of a group, or that of its first item when
// none can be compared.
func bestOf(sequence []uint32, scores []float64) float64 {
	best := scores[sequence[0]]
	for _, i := range sequence {
		if scores[i] > best || best != best {
			best = scores[i]
		}
	}
	return best
}

package cupelrelevance

import (
	"context"
	"math"

	"github.com/wollax/cupel-go/cupel"
)

// Neighbours lets the relevance of items spread to those near by: the answer
// stands next to the question, and what a discussion is about is said once in
// many turns.
//
// An item scores what another scorer gives it, plus the larger of two sums: the
// scores of the items before it, and of those behind it, each times
// decay^distance, up to a window. Distance counts items in the order of time
// where all items of the group have a timestamp, and else in the order of the
// list; groups ([WithGroups], [WithGap]) are never crossed. Scores that are not
// finite stay where they are.
//
// An item that is given twice scores what its better place does. It is safe for
// concurrent use when the scorer inside is. Build it with [NewNeighbours].
type Neighbours struct {
	index  *Index
	inner  cupel.Scorer
	window int
	decay  float64
}

// The settings of Neighbours.
const (
	neighbourWindow = 16  // items on each side
	neighbourDecay  = 0.8 // of a score, from one item to the next; above 0 and at most 1
)

// NewNeighbours returns a scorer that spreads the scores of inner, with a decay
// of 0.8 over a window of 16 items on each side. index knows which items are
// near each other. It fails with a [cupel.InvalidConfigError].
func NewNeighbours(index *Index, inner cupel.Scorer) (*Neighbours, error) {
	if err := index.validate("Neighbours"); err != nil {
		return nil, err
	}
	if isNil(inner) {
		return nil, invalid("Neighbours", "inner", "", "Scorer must not be null")
	}
	n := &Neighbours{index: index, inner: inner, window: neighbourWindow, decay: neighbourDecay}
	if err := cupel.ValidateScorer(n); err != nil {
		return nil, err
	}
	return n, nil
}

// Validate reports a scorer that was not built with [NewNeighbours]. The inner
// scorer is not looked at; [cupel.ValidateScorer] does that.
func (n *Neighbours) Validate() error {
	if n == nil || n.inner == nil {
		return notBuilt("Neighbours")
	}
	return nil
}

// Scorers returns the inner scorer.
func (n *Neighbours) Scorers() []cupel.Scorer {
	if n == nil {
		return nil
	}
	return []cupel.Scorer{n.inner}
}

// Score scores the whole list, which must contain item, and returns the item's
// score; an item that is not in the list scores 0.
func (n *Neighbours) Score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	return scoreOne(n, item, all)
}

// ScoreAll asks the inner scorer once and takes O(N * window) beside. It fails
// when the inner scorer does, when ctx is done, or when Validate does.
func (n *Neighbours) ScoreAll(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	if err := begin(ctx, n, "Neighbours", all, scores); err != nil {
		return err
	}
	l, err := n.index.of(ctx, all)
	if err != nil {
		return err
	}
	own := borrowFloats(len(all))
	defer own.giveBack()
	if err := cupel.ScoreAll(ctx, n.inner, all, own.of); err != nil {
		return err
	}
	weights := make([]float64, n.window+1)
	weights[0] = 1
	for d := range n.window {
		weights[d+1] = weights[d] * n.decay
	}
	clear(scores)
	for g := range l.order.numGroups() {
		sequence := l.order.at(g)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for at, i := range sequence {
			score := own.of[i]
			if score == 0 || !isFinite(score) {
				continue
			}
			// Sums are built item by item in the order of the sequence: the sum of
			// those before here, the sum of those behind below.
			for d := 1; d <= n.window && at+d < len(sequence); d++ {
				scores[sequence[at+d]] += float64(score * weights[d])
			}
		}
		for at, i := range sequence {
			behind := 0.0
			for d := 1; d <= n.window && at+d < len(sequence); d++ {
				if score := own.of[sequence[at+d]]; isFinite(score) {
					behind += float64(score * weights[d])
				}
			}
			scores[i] = own.of[i] + math.Max(scores[i], behind)
		}
	}
	l.words.settle(scores)
	return ctx.Err()
}

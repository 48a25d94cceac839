package cupelrelevance

import (
	"context"
	"math"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Neighbours spreads scores to nearby items: an answer is next to its question,
// and a discussion names its subject only once in many turns.
//
// The score of an item is that of the inner scorer, plus the larger of two sums
// within a window: the scores of the items before it, and of those after it,
// each times decay^distance. Distance counts items in time order if all items
// of the group have timestamps, and else in list order. Scores do not spread
// across groups ([WithGroups], [WithGap]), and non-finite scores do not spread.
//
// An item that occurs twice gets the higher of its scores. Neighbours is safe
// for concurrent use if the inner scorer is. Create it with [NewNeighbours].
type Neighbours struct {
	index  *Index
	inner  strategy.Scorer
	window int
	decay  float64
}

// The settings of Neighbours.
const (
	neighbourWindow = 16  // items on each side
	neighbourDecay  = 0.8 // of a score, from one item to the next; above 0 and at most 1
)

// NewNeighbours returns a scorer that spreads the scores of inner, with a decay
// of 0.8 over a window of 16 items on each side. index determines which items
// are near each other. It returns a [cupel.InvalidConfigError] if an argument
// is invalid.
func NewNeighbours(index *Index, inner strategy.Scorer) (*Neighbours, error) {
	if err := index.validate("Neighbours"); err != nil {
		return nil, err
	}
	if isNil(inner) {
		return nil, invalid("Neighbours", "inner", "", "Scorer must not be null")
	}
	n := &Neighbours{index: index, inner: inner, window: neighbourWindow, decay: neighbourDecay}
	if err := strategy.ValidateScorer(n); err != nil {
		return nil, err
	}
	return n, nil
}

// Facts has the inner scorer. A scorer that was not created with [NewNeighbours] is
// invalid.
func (n *Neighbours) Facts() strategy.Facts {
	if n != nil && n.inner != nil {
		return strategy.Facts{Of: n, Scorers: []strategy.Scorer{n.inner}}
	}
	return strategy.Facts{Of: n, Invalid: notBuilt("Neighbours")}
}

// Score calls the inner scorer once and otherwise takes O(N * window). It
// fails if the inner scorer fails, if ctx is done, or if the scorer is
// invalid.
func (n *Neighbours) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	if err := begin(ctx, n, items, scores); err != nil {
		return err
	}
	l, err := n.index.of(ctx, items)
	if err != nil {
		return err
	}
	own := borrowFloats(len(items))
	defer own.giveBack()
	if err := strategy.CallScorer(ctx, n.inner, items, own.of); err != nil {
		return err
	}
	if err := spread(ctx, l, n.window, n.decay, own.of, scores); err != nil {
		return err
	}
	l.words.settle(scores)
	return ctx.Err()
}

// spread adds to each score those of the items around it, before or behind,
// whichever sum is greater.
func spread(ctx context.Context, l *list, window int, decay float64, own, scores []float64) error {
	weights := make([]float64, window+1)
	weights[0] = 1
	for d := range window {
		weights[d+1] = weights[d] * decay
	}
	clear(scores)
	for g := range l.order.numGroups() {
		sequence := l.order.at(g)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for at, i := range sequence {
			score := own[i]
			if score == 0 || !isFinite(score) {
				continue
			}
			// Sums are built item by item in the order of the sequence: the sum of
			// those before here, the sum of those behind below.
			for d := 1; d <= window && at+d < len(sequence); d++ {
				scores[sequence[at+d]] += float64(score * weights[d])
			}
		}
		for at, i := range sequence {
			behind := 0.0
			for d := 1; d <= window && at+d < len(sequence); d++ {
				if score := own[sequence[at+d]]; isFinite(score) {
					behind += float64(score * weights[d])
				}
			}
			scores[i] = own[i] + math.Max(scores[i], behind)
		}
	}
	return nil
}

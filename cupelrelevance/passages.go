package cupelrelevance

import (
	"context"
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// Passages scores an item by the words that the passage around it shares with a
// question. It is to [Lexical] what a passage is to a sentence: each word
// spreads on its own, less and less with the distance, and the more of it there
// is in one place the less another one adds, so that a place with many different
// words of the question is better than one with many occurrences of one.
//
// With v the value of a word in an item as Lexical counts it, from 0 to k1+1,
// and d its sum over all items of the group, each times decay^distance:
//
//	score += idf * d * (saturation + 1) / (d + saturation)
//
// Distance and groups are those of [Neighbours]. Scores are at least 0 and have
// no upper bound. It is safe for concurrent use. Build it with [NewPassages].
type Passages struct {
	lexical    *Lexical
	decay      float64
	saturation float64
}

// The settings of Passages.
const (
	passageDecay      = 0.95 // of a word, from one item to the next; above 0 and below 1
	passageSaturation = 12.0 // of one word, before more of it adds little; above 0
)

// NewPassages returns a scorer with the question, the fields and the index of
// lexical, a decay of 0.95 and a saturation of 12. It fails with a
// [cupel.InvalidConfigError] when lexical does not come from [NewLexical].
func NewPassages(lexical *Lexical) (*Passages, error) {
	if err := lexical.Validate(); err != nil {
		return nil, err
	}
	return &Passages{lexical: lexical, decay: passageDecay, saturation: passageSaturation}, nil
}

// Validate reports a scorer that was not built with [NewPassages].
func (p *Passages) Validate() error {
	if p == nil || p.lexical == nil {
		return notBuilt("Passages")
	}
	return nil
}

// Score scores the whole list, which must contain item, and returns the item's
// score; an item that is not in the list scores 0.
func (p *Passages) Score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	return scoreOne(p, item, all)
}

// ScoreAll scores all items, in time linear in their number for each word of the
// question once the index knows the list. It fails when ctx is done, or when
// Validate does.
func (p *Passages) ScoreAll(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	if err := begin(ctx, p, "Passages", all, scores); err != nil {
		return err
	}
	l, err := p.lexical.index.of(ctx, all)
	if err != nil {
		return err
	}
	clear(scores)
	before := borrowFloats(len(all))
	defer before.giveBack()
	p.lexical.eachTerm(l.words, func(weight float64, _ []uint32, values []float64) {
		p.addTerm(l, weight, values, before.of, scores)
	})
	l.words.settle(scores)
	return ctx.Err()
}

// addTerm adds to the scores what one word gives. before is scratch.
func (p *Passages) addTerm(l *list, weight float64, values, before, scores []float64) {
	for g := range l.order.numGroups() {
		sequence := l.order.at(g)
		p.spread(sequence, weight, values, before, scores)
	}
}

// spread adds to the scores of one group what one word gives.
func (p *Passages) spread(sequence []uint32, weight float64, values, before, scores []float64) {
	sum, found := 0.0, false
	for _, i := range sequence {
		sum = float64(sum*p.decay) + values[i]
		before[i] = sum
		found = found || values[i] != 0
	}
	if !found {
		return
	}
	sum = 0
	for _, i := range slices.Backward(sequence) {
		sum = float64(sum * p.decay)
		d := before[i] + sum
		sum += values[i]
		scores[i] += float64(weight * (d * (p.saturation + 1) / (d + p.saturation)))
	}
}

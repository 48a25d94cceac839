package cupelrelevance

import (
	"context"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Passages scores an item by the words that it and the items around it share
// with a question. Like [Lexical] it counts words, but each word spreads to
// nearby items, decaying with distance. Repeated occurrences of a word in one
// place add less and less, so a place with many different words of the question
// beats one with many occurrences of the same word.
//
// With v the value of a word in an item as Lexical counts it, from 0 to k1+1,
// and d its sum over all items of the group, each times decay^distance:
//
//	decay = 0.95 - 0.35 / (1 + (items of the group / 50)²)
//	score += idf * d * (saturation + 1) / (d + saturation)
//
// In a group in which more than half of the items have three lines or more,
// such as a file or a document, decay is 0.4: what they say is in themselves.
// Distance and groups are those of [Neighbours]. Scores are at least 0 and have
// no upper bound. Passages is safe for concurrent use. Create it with
// [NewPassages].
type Passages struct {
	lexical    *Lexical
	saturation float64
}

// passageSaturation is how much there has to be of one word in one place before
// more of it adds little; above 0.
const passageSaturation = 12.0

// NewPassages returns a scorer with the question, fields and index of lexical,
// and a saturation of 12. It returns a
// [cupel.InvalidConfigError] if lexical does not come from [NewLexical].
func NewPassages(lexical *Lexical) (*Passages, error) {
	if invalid := lexical.Facts().Invalid; invalid != nil {
		return nil, invalid
	}
	return &Passages{lexical: lexical, saturation: passageSaturation}, nil
}

// Facts says that a scorer that was not created with [NewPassages] is invalid.
func (p *Passages) Facts() strategy.Facts {
	return built(p, p != nil && p.lexical != nil, "Passages")
}

// Score scores all items. Once the list is indexed, it takes time linear in
// the number of items for each word of the question. It fails if ctx is done or
// the scorer is invalid.
func (p *Passages) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	if err := begin(ctx, p, items, scores); err != nil {
		return err
	}
	l, err := p.lexical.index.of(ctx, items)
	if err != nil {
		return err
	}
	before := borrowFloats(len(items))
	defer before.giveBack()
	p.lexical.eachTerm(l.words, func(weight float64, _ []uint32, values []float64) {
		p.addTerm(l, weight, values, before.of, scores)
	})
	l.words.settle(scores)
	return ctx.Err()
}

// addTerm adds the scores of one word. before is scratch.
func (p *Passages) addTerm(l *list, weight float64, values, before, scores []float64) {
	for g := range l.order.numGroups() {
		sequence := l.order.at(g)
		p.spread(sequence, l.order.decays[g], weight, values, before, scores)
	}
}

// spread adds the scores of one word in one group.
func (p *Passages) spread(sequence []uint32, decay, weight float64, values, before, scores []float64) {
	sum, found := 0.0, false
	for _, i := range sequence {
		sum = float64(sum*decay) + values[i]
		before[i] = sum
		found = found || values[i] != 0
	}
	if !found {
		return
	}
	sum = 0
	for _, i := range slices.Backward(sequence) {
		sum = float64(sum * decay)
		d := before[i] + sum
		sum += values[i]
		scores[i] += float64(weight * (d * (p.saturation + 1) / (d + p.saturation)))
	}
}

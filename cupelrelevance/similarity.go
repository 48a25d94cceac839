package cupelrelevance

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Similarity scores an item by the cosine between its vector and that of a
// question. The vectors come from outside, such as from a model of embeddings;
// this package makes none.
//
// Scores are in [-1,1]; an item without a vector, or with one of zeros, scores
// 0. Products are added in the order of the dimensions, so that the same
// vectors give the same bits on every processor.
//
// It is safe for concurrent use if its function is. Create it with
// [NewSimilarity], and give it to [New] with [WithSimilarity] to combine it with
// words.
type Similarity struct {
	query  []float32
	norm   float64 // of query; not 0
	vector func(*cupel.ContextItem) ([]float32, bool)
}

// NewSimilarity returns a scorer for the vector of a question. vector returns
// that of an item, and false if it has none; it must not change the item, and
// what it returns is not kept. Vectors may be in the metadata of items, or in a
// map by content.
//
// It returns a [cupel.InvalidConfigError] if vector is nil, or if query has no
// dimensions, a NaN, an infinity, or nothing but zeros.
func NewSimilarity(query []float32, vector func(*cupel.ContextItem) ([]float32, bool)) (*Similarity, error) {
	if vector == nil {
		return nil, invalid("Similarity", "vector", "nil", "a function that returns the vector of an item is required")
	}
	if len(query) == 0 {
		return nil, invalid("Similarity", "query", "", "the vector of the question has no dimensions")
	}
	norm, err := normOf(query)
	if err != nil {
		return nil, invalid("Similarity", "query", "", "the vector of the question "+err.Error())
	}
	if norm == 0 {
		return nil, invalid("Similarity", "query", "", "the vector of the question has only zeros, which have no direction")
	}
	return &Similarity{slices.Clone(query), norm, vector}, nil
}

// normOf returns the length of a vector. Squares of float32 and their sum do not
// overflow a float64.
func normOf(v []float32) (float64, error) {
	sum := 0.0
	for i, x := range v {
		if x := float64(x); isFinite(x) {
			sum += float64(x * x)
			continue
		}
		return 0, fmt.Errorf("has %v in dimension %d", x, i)
	}
	return math.Sqrt(sum), nil
}

// Facts says that a scorer that was not created with [NewSimilarity] is invalid.
func (s *Similarity) Facts() strategy.Facts {
	return built(s, s != nil && s.vector != nil, "Similarity")
}

// Score scores all items, in time linear in their number and the dimensions.
// It fails with a [cupel.StrategyError] that names the first item whose vector
// has other dimensions than the question's, a NaN or an infinity, or if ctx is
// done.
func (s *Similarity) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	if err := begin(ctx, s, items, scores); err != nil {
		return err
	}
	if err := s.cosines(ctx, items, scores); err != nil {
		return err
	}
	for i, score := range scores {
		if math.IsNaN(score) {
			scores[i] = 0
		}
	}
	return nil
}

// cosines scores all items. Those without a direction get NaN.
func (s *Similarity) cosines(ctx context.Context, all []*cupel.ContextItem, scores []float64) (err error) {
	for i, item := range all {
		if scores[i], err = s.cosine(item); err != nil {
			return &cupel.StrategyError{Role: "scorer", Strategy: "Similarity", Reason: fmt.Sprintf("was given an invalid vector: that of item %d %v", i, err)}
		}
		if i%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// cosine returns NaN for an item without a direction.
func (s *Similarity) cosine(item *cupel.ContextItem) (float64, error) {
	v, ok := s.vector(item)
	if !ok {
		return math.NaN(), nil
	}
	if len(v) != len(s.query) {
		return 0, fmt.Errorf("has %d dimensions, and that of the question %d", len(v), len(s.query))
	}
	dot, squares := 0.0, 0.0
	for i, x := range v {
		x := float64(x)
		dot += float64(x * float64(s.query[i]))
		squares += float64(x * x)
	}
	if !isFinite(squares) {
		_, err := normOf(v)
		return 0, err
	}
	if squares == 0 {
		return math.NaN(), nil
	}
	// Rounding may lead out of the interval.
	return max(-1, min(1, dot/(s.norm*math.Sqrt(squares)))), nil
}

// WithSimilarity adds the similarity of vectors to that of words, with a weight
// above 0; 1 makes them count the same, which is right for good embeddings. The
// least similar item of a list counts as 0 and the most similar one as 1, since
// only the order and the gaps of cosines mean something. Like words, similarity
// spreads to the items around, more in long groups than in short ones.
// README.md has the figures.
func WithSimilarity(s *Similarity, weight float64) Option {
	return func(d *relevanceDraft) error {
		if s.Facts().Invalid != nil {
			return invalid("Relevance", "WithSimilarity", "", "the similarity must come from NewSimilarity")
		}
		if !(weight > 0) || !isFinite(weight) {
			return invalid("Relevance", "WithSimilarity", fmt.Sprint(weight), "the weight must be above 0 and finite")
		}
		d.similarity, d.weight = s, weight
		return nil
	}
}

// addSimilarity adds the similarity of vectors to scores in [0,1], which stay
// there.
func (r *Relevance) addSimilarity(ctx context.Context, l *list, all []*cupel.ContextItem, scores []float64) error {
	own, around := borrowFloats(len(all)), borrowFloats(len(all))
	defer own.giveBack()
	defer around.giveBack()
	if err := r.similarity.cosines(ctx, all, own.of); err != nil {
		return err
	}
	stretch(own.of)
	spread(l.order, own.of, around.of)
	stretch(around.of)
	for g, manner := range l.order.manners {
		for _, i := range l.order.at(g) {
			similarity := (around.of[i] + float64(manner.own*own.of[i])) / (1 + manner.own)
			scores[i] = (scores[i] + float64(r.weight*similarity)) / (1 + r.weight)
		}
	}
	return nil
}

// How similarity spreads.
const (
	neighbourWindow = 16  // items on each side
	neighbourDecay  = 0.8 // of a score, from one item to the next; above 0 and at most 1
)

// spread adds to each score those of the items around it in its group, before or
// after it, whichever sum is greater. Each counts decay^distance.
func spread(o *order, own, scores []float64) {
	var weights [neighbourWindow + 1]float64
	weights[0] = 1
	for d := range neighbourWindow {
		weights[d+1] = weights[d] * neighbourDecay
	}
	clear(scores)
	for g := range o.numGroups() {
		sequence := o.at(g)
		for at, i := range sequence {
			// Sums are built item by item in the order of the sequence: the sum of
			// those before here, the sum of those after below.
			for d := 1; d <= neighbourWindow && at+d < len(sequence); d++ {
				scores[sequence[at+d]] += float64(own[i] * weights[d])
			}
		}
		for at, i := range sequence {
			after := 0.0
			for d := 1; d <= neighbourWindow && at+d < len(sequence); d++ {
				after += float64(own[sequence[at+d]] * weights[d])
			}
			scores[i] = own[i] + max(scores[i], after)
		}
	}
}

// stretch maps the least score to 0 and the greatest to 1, and NaN to 0. Equal
// scores say nothing, and are all 0.
func stretch(scores []float64) {
	least, greatest := math.Inf(1), math.Inf(-1)
	for _, s := range scores {
		if !math.IsNaN(s) {
			least, greatest = min(least, s), max(greatest, s)
		}
	}
	for i, s := range scores {
		if math.IsNaN(s) || least == greatest {
			scores[i] = 0
			continue
		}
		scores[i] = (s - least) / (greatest - least)
	}
}

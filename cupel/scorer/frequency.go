package scorer

import (
	"context"
	"sync"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/cooccur"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Frequency scores an item by the share of its peers that have a tag in common
// with it: their number divided by the number of all items minus one. Tags
// are compared without ASCII case. An item without tags scores 0, and so does the
// only item of a list. Scores are in [0,1].
//
// An item is not its own peer: positions that hold the same pointer do not count
// as peers, but do count in the number of all items.
//
// The zero Frequency is ready for use.
//
// It implements the FrequencyScorer chapter of the specification.
type Frequency struct{}

var frequencyDescriptor = strategy.Plain[Frequency]("frequency", "FrequencyScorer", "Scores an item by the share of items with a tag in common.")

// frequencyPass is what one batch needs, pooled.
type frequencyPass struct {
	counter cooccur.Counter
	repeats cooccur.Repeats[cupel.ContextItem]
}

var frequencyPool = sync.Pool{New: func() any { return new(frequencyPass) }}

// Score scores all items in one pass and allocates nothing once its pooled
// memory has grown. It fails only when ctx is done.
//
// Items with equal tags are counted together. For n different sets of tags, the
// time is quadratic in n, by a small factor: a set of k tags, each in c sets, takes
// on the order of the lesser of k·c and k·n/64 steps. The memory is linear in the
// number of tags given.
func (f Frequency) Score(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	p := frequencyPool.Get().(*frequencyPass)
	p.counter.Reset(len(all))
	defer func() {
		p.counter.Reset(0) // the pool must not keep the items' tags alive
		frequencyPool.Put(p)
	}()
	err := each(ctx, f, all, scores, func(item *cupel.ContextItem) float64 {
		for _, tag := range item.AllTags() {
			p.counter.Add(tag)
		}
		p.counter.Next()
		return 0
	})
	if err == nil {
		err = p.counter.Count(ctx)
	}
	if err != nil {
		return err
	}
	p.repeats.Find(all)
	others := float64(len(all) - 1)
	for i := range all {
		if sharing := p.counter.Sharing(i); sharing > 0 && others > 0 {
			scores[i] = float64(sharing-p.repeats.Times(i)) / others
		}
	}
	return ctx.Err()
}

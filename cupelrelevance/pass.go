package cupelrelevance

import (
	"context"
	"fmt"
	"sync"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// begin makes the checks that every scorer needs, and clears the scores.
func begin(ctx context.Context, s strategy.Scorer, items []*cupel.ContextItem, scores []float64) error {
	switch invalid := strategy.FactsOf(s).Invalid; {
	case invalid != nil:
		return invalid
	case len(scores) != len(items):
		return &cupel.StrategyError{Role: "scorer", Strategy: fmt.Sprintf("%T", s), Reason: fmt.Sprintf("was given a slice of %d scores for %d items", len(scores), len(items))}
	case ctx == nil:
		return &cupel.StrategyError{Role: "scorer", Strategy: fmt.Sprintf("%T", s), Reason: "was called without a context"}
	}
	clear(scores)
	return ctx.Err()
}

// floats is pooled memory for one list of numbers.
type floats struct{ of []float64 }

var floatsPool = sync.Pool{New: func() any { return new(floats) }}

// borrowFloats returns n floats with unspecified values, to be given back.
func borrowFloats(n int) *floats {
	f := floatsPool.Get().(*floats)
	if cap(f.of) < n {
		f.of = make([]float64, n)
	}
	f.of = f.of[:n]
	return f
}

func (f *floats) giveBack() { floatsPool.Put(f) }

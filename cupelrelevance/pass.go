package cupelrelevance

import (
	"context"
	"fmt"
	"sync"

	"github.com/wollax/cupel-go/cupel"
)

// begin makes the checks that every batch form needs.
func begin(ctx context.Context, v cupel.Validator, name string, all []*cupel.ContextItem, scores []float64) error {
	if err := v.Validate(); err != nil {
		return err
	}
	if len(scores) != len(all) {
		return &cupel.StrategyError{Role: "scorer", Strategy: name, Reason: fmt.Sprintf("was given room for %d scores of %d items", len(scores), len(all))}
	}
	if ctx == nil {
		return &cupel.StrategyError{Role: "scorer", Strategy: name, Reason: "was called without a context"}
	}
	return ctx.Err()
}

// scoreOne is the single form of a scorer whose scores come from the whole list.
func scoreOne(s cupel.BatchScorer, item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	at := len(all) - 1
	for at >= 0 && all[at] != item {
		at--
	}
	if at < 0 {
		return 0
	}
	scores := borrowFloats(len(all))
	defer scores.giveBack()
	if s.ScoreAll(context.Background(), all, scores.of) != nil {
		return 0 // the scorer is invalid; the engine rejects it earlier
	}
	return scores.of[at]
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

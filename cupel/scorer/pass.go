package scorer

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"sync"

	"github.com/wollax/cupel-go/cupel"
)

// checkEvery is how many items of a list go by between two looks at the
// context.
const checkEvery = 1 << 12

// begin checks what every batch form needs.
func begin(ctx context.Context, name string, all []*cupel.ContextItem, scores []float64) error {
	if len(scores) != len(all) {
		return &cupel.StrategyError{Role: "scorer", Strategy: name, Reason: fmt.Sprintf("was given room for %d scores of %d items", len(scores), len(all))}
	}
	if ctx == nil {
		return &cupel.StrategyError{Role: "scorer", Strategy: name, Reason: "was called without a context"}
	}
	return ctx.Err()
}

// each is the batch form of an absolute scorer.
func each(ctx context.Context, name string, all []*cupel.ContextItem, scores []float64, score func(*cupel.ContextItem) float64) error {
	if err := begin(ctx, name, all, scores); err != nil {
		return err
	}
	for i, item := range all {
		if i%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		scores[i] = score(item)
	}
	return nil
}

// fraction is the single form of a scorer by rank: how many of all have a lower key
// than item, divided by how many have a key minus one.
func fraction[K any](item *cupel.ContextItem, all []*cupel.ContextItem, key func(*cupel.ContextItem) (K, bool), compare func(a, b K) int) float64 {
	own, ok := key(item)
	if !ok {
		return 0
	}
	count, rank := 0, 0
	for _, other := range all {
		if k, ok := key(other); ok {
			count++
			if compare(k, own) < 0 {
				rank++
			}
		}
	}
	if count <= 1 {
		return 1
	}
	return float64(rank) / float64(count-1)
}

// clamp returns x, or the end of [0,1] that it passed. x must not be NaN.
func clamp(x float64) float64 {
	if x < 0 {
		return 0
	}
	if x > 1 {
		return 1
	}
	return x
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// unit reports whether x is in [0,1]; NaN is not.
func unit(x float64) bool { return x >= 0 && x <= 1 }

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// invalid is the error of a setting that is not allowed.
func invalid(component, field, value, reason string) error {
	return &cupel.InvalidConfigError{Component: component, Field: field, Value: value, Reason: reason}
}

// notBuilt is the error of a scorer that did not come from its constructor.
func notBuilt(component, constructor string) error {
	return &cupel.InvalidConfigError{Component: component, Reason: "scorer has no settings; build it with scorer." + constructor}
}

// isNil reports whether s is nil, or a nil pointer in an interface.
func isNil(s cupel.Scorer) bool {
	if s == nil {
		return true
	}
	v := reflect.ValueOf(s)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// floats is pooled memory for one list of scores.
type floats struct{ of []float64 }

var floatsPool = sync.Pool{New: func() any { return new(floats) }}

// borrowFloats returns n floats with unspecified values, to be returned.
func borrowFloats(n int) *floats {
	f := floatsPool.Get().(*floats)
	if cap(f.of) < n {
		f.of = make([]float64, n)
	}
	f.of = f.of[:n]
	return f
}

func (f *floats) giveBack() { floatsPool.Put(f) }

package scorer

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/ascii"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// begin makes the checks that every scorer needs, and clears the scores.
func begin(ctx context.Context, s strategy.Scorer, items []*cupel.ContextItem, scores []float64) error {
	reason := "was called without a context"
	if len(scores) != len(items) {
		reason = fmt.Sprintf("was given a slice of %d scores for %d items", len(scores), len(items))
	} else if ctx != nil {
		clear(scores)
		return ctx.Err()
	}
	return &cupel.StrategyError{Role: "scorer", Strategy: fmt.Sprintf("%T", s), Reason: reason}
}

// each scores each item by itself, after the checks of begin, if s is valid.
func each(ctx context.Context, s strategy.Scorer, items []*cupel.ContextItem, scores []float64, score func(item *cupel.ContextItem) float64) error {
	if invalid := strategy.FactsOf(s).Invalid; invalid != nil {
		return invalid
	}
	if err := begin(ctx, s, items, scores); err != nil {
		return err
	}
	for i, item := range items {
		if i%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		scores[i] = score(item)
	}
	return nil
}

// checkEvery is how many items of a list go by between two looks at the
// context.
const checkEvery = 1 << 12

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

// built returns the facts of a scorer that is valid if its constructor made it.
func built(s strategy.Scorer, ok bool, component, constructor string) strategy.Facts {
	f := strategy.Facts{Of: s}
	if !ok {
		f.Invalid = invalid(component, "", "", "scorer has no settings; build it with scorer."+constructor)
	}
	return f
}

// weightsByKey returns weights by the key that equal names share, and their sum in
// the order of the names. It adds what is wrong with them; what begins the reasons.
func weightsByKey(wrong *strategy.Problems, weights map[string]float64, key func(string) string, what, twice string) (byKey map[string]float64, sum float64) {
	byKey = make(map[string]float64, len(weights))
	fields := make(map[string]string, len(weights)) // by key
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		weight, key, field := weights[name], key(name), strategy.Key("weights", name)
		earlier, repeats := fields[key]
		switch {
		case weight < 0:
			wrong.Add(field, number(weight), what+" must be non-negative")
		case !isFinite(weight):
			wrong.Add(field, number(weight), what+" must be finite")
		case repeats:
			wrong.Repeated(field, "", twice, earlier)
		}
		if !repeats {
			fields[key] = field
		}
		byKey[key] = weight
		sum += weight
	}
	return byKey, sum
}

// weightOf returns the weight of a name without ASCII case.
func weightOf(byKey map[string]float64, name string) float64 {
	var key [64]byte // room for most names, so that the key is not allocated
	return byKey[string(ascii.AppendLower(key[:0], name))]
}

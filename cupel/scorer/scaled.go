package scorer

import (
	"context"
	"math"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/value"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Scaled stretches the scores of another scorer to the whole of [0,1]: the
// lowest becomes 0, the highest 1, and those between keep their proportions.
// If all are equal, every item scores 0.5.
//
// NaN and infinities follow IEEE 754 arithmetic: a NaN is neither lowest nor
// highest, and stays NaN unless all others are equal; if the lowest or the
// highest score is infinite, items score NaN or 0. Build it with [NewScaled].
//
// It implements the ScaledScorer chapter of the specification.
type Scaled struct {
	inner strategy.Scorer
}

// NewScaled returns a scorer that scales the scores of inner. It fails with a
// [cupel.InvalidConfigError] when inner is nil or not valid.
func NewScaled(inner strategy.Scorer) (*Scaled, error) {
	if value.IsNil(inner) {
		return nil, errNoInner()
	}
	s := &Scaled{inner}
	if err := strategy.ValidateScorer(s); err != nil {
		return nil, err
	}
	return s, nil
}

var scaledDescriptor = strategy.Descriptor{
	Name: "scaled", Component: "ScaledScorer",
	Doc:    "Stretches the scores of another scorer to the whole of [0,1].",
	Fields: []strategy.Field{{Name: "inner", Type: strategy.Child, Required: true, Doc: "The scorer whose scores are stretched."}},
	Build: func(a strategy.Args) (any, error) {
		return strategy.Built(NewScaled(strategy.Get[strategy.Scorer](a, "inner")))
	},
	Settings: strategy.Only(func(s *Scaled) map[string]any { return map[string]any{"inner": s.inner} }),
}

func errNoInner() error {
	return invalid("ScaledScorer", "inner", "", "Scorer must not be null")
}

// Facts has the inner scorer. A scorer that was not built with [NewScaled] is
// invalid.
func (s *Scaled) Facts() strategy.Facts {
	if s == nil || s.inner == nil {
		return strategy.Facts{Of: s, Invalid: errNoInner()}
	}
	return strategy.Facts{Of: s, Scorers: []strategy.Scorer{s.inner}}
}

// Score asks the inner scorer once, at any depth of nesting. It fails when the
// inner scorer does, when ctx is done, or when the scorer is invalid.
func (s *Scaled) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	if s == nil || s.inner == nil {
		return s.Facts().Invalid
	}
	if err := begin(ctx, s, items, scores); err != nil {
		return err
	}
	if err := strategy.CallScorer(ctx, s.inner, items, scores); err != nil {
		return err
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, raw := range scores {
		// The built-in min and max return NaN if there is one; these comparisons, which
		// are those of the chapter, ignore it.
		if raw < low {
			low = raw
		}
		if raw > high {
			high = raw
		}
	}
	for i, raw := range scores {
		scores[i] = 0.5
		if low != high {
			scores[i] = (raw - low) / (high - low)
		}
	}
	return nil
}

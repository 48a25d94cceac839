package scorer

import (
	"context"
	"math"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Scaled stretches the scores of another scorer to the whole of [0,1]: the
// lowest becomes 0, the highest 1, and those between keep their proportions.
// If all are equal, every item scores 0.5; so does an item that is not in the
// list.
//
// NaN and infinities follow IEEE 754 arithmetic: a NaN is neither lowest nor
// highest, and stays NaN unless all others are equal; if the lowest or the
// highest score is infinite, items score NaN or 0. Build it with [NewScaled].
//
// It implements the ScaledScorer chapter of the specification.
type Scaled struct {
	inner cupel.Scorer
}

// NewScaled returns a scorer that scales the scores of inner. It fails with a
// [cupel.InvalidConfigError] when inner is nil or not valid.
func NewScaled(inner cupel.Scorer) (*Scaled, error) {
	if isNil(inner) {
		return nil, errNoInner()
	}
	s := &Scaled{inner}
	if err := cupel.ValidateScorer(s); err != nil {
		return nil, err
	}
	return s, nil
}

var scaledDescriptor = strategy.Descriptor{
	Name: "scaled", Component: "ScaledScorer",
	Doc:    "Stretches the scores of another scorer to the whole of [0,1].",
	Fields: []strategy.Field{{Name: "inner", Type: strategy.Child, Required: true, Doc: "The scorer whose scores are stretched."}},
	Build: func(a strategy.Args) (any, error) {
		return strategy.Built(NewScaled(strategy.Get[cupel.Scorer](a, "inner")))
	},
	Settings: strategy.Only(func(s *Scaled) map[string]any { return map[string]any{"inner": s.inner} }),
}

func errNoInner() error {
	return invalid("ScaledScorer", "inner", "", "Scorer must not be null")
}

// Validate reports a scorer that was not built with [NewScaled]. It does
// not check the inner scorer; [cupel.ValidateScorer] does.
func (s *Scaled) Validate() error {
	if s == nil || s.inner == nil {
		return errNoInner()
	}
	return nil
}

// Scorers returns the inner scorer.
func (s *Scaled) Scorers() []cupel.Scorer {
	if s == nil {
		return nil
	}
	return []cupel.Scorer{s.inner}
}

// Score scores the whole list with the inner scorer to find its lowest and
// highest score, in one pass where the inner scorer can, which keeps nested
// scaling from multiplying the work.
func (s *Scaled) Score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	if s == nil || s.inner == nil {
		return 0.5
	}
	at := len(all) - 1
	for at >= 0 && all[at] != item {
		at--
	}
	if at < 0 {
		return 0.5
	}
	raw := borrowFloats(len(all))
	defer raw.giveBack()
	if err := cupel.ScoreAll(context.Background(), s.inner, all, raw.of); err != nil {
		// This form has no error to return. What is left is to ask one by one.
		for i, it := range all {
			raw.of[i] = s.inner.Score(it, all)
		}
	}
	return bounds(raw.of).scale(raw.of[at])
}

// ScoreAll asks the inner scorer once, at any depth of nesting. It fails when
// the inner scorer does, when ctx is done, or when Validate does.
func (s *Scaled) ScoreAll(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	if err := s.Validate(); err != nil {
		return err
	}
	if err := begin(ctx, "ScaledScorer", all, scores); err != nil {
		return err
	}
	if err := cupel.ScoreAll(ctx, s.inner, all, scores); err != nil {
		return err
	}
	r := bounds(scores)
	for i, raw := range scores {
		scores[i] = r.scale(raw)
	}
	return nil
}

// scoreRange is the lowest and the highest score of a list.
type scoreRange struct{ low, high float64 }

// bounds compares as the chapter does, which the built-in min and max would
// not: every comparison with NaN is false.
func bounds(scores []float64) scoreRange {
	r := scoreRange{math.Inf(1), math.Inf(-1)}
	for _, s := range scores {
		if s < r.low {
			r.low = s
		}
		if s > r.high {
			r.high = s
		}
	}
	return r
}

func (r scoreRange) scale(raw float64) float64 {
	if r.high == r.low {
		return 0.5
	}
	return (raw - r.low) / (r.high - r.low)
}

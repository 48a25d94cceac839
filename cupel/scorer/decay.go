package scorer

import (
	"context"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Decay scores an item by its age, along a [Curve]. An item from the future has
// age zero; an item without a timestamp gets the score of
// [WithNullTimestampScore]. Scores are in [0,1]. Build it with [NewDecay].
//
// All ages of a list are measured from one reading of the clock. They are exact
// over the whole range of [time.Time].
//
// It implements the DecayScorer chapter of the specification.
type Decay struct {
	clock              func() time.Time
	curve              Curve
	nullTimestampScore float64
}

// DecayOption is an optional setting of a [Decay] scorer.
type DecayOption func(*decayDraft)

// decayDraft is an unfinished scorer. It is a separate type so that options
// cannot change a finished one.
type decayDraft Decay

// WithNullTimestampScore sets the score of items without a timestamp, in
// [0,1]; it is 0.5 by default.
func WithNullTimestampScore(score float64) DecayOption {
	return func(d *decayDraft) { d.nullTimestampScore = score }
}

// NewDecay returns a scorer that measures ages against clock, which has no
// default: [time.Now] in production, a fixed time in tests. It must be safe for
// concurrent use.
//
// It fails with a [cupel.InvalidConfigError] when clock or curve is nil, or the score
// of items without a timestamp is not in [0,1].
func NewDecay(clock func() time.Time, curve Curve, opts ...DecayOption) (*Decay, error) {
	d := &Decay{clock: clock, curve: curve, nullTimestampScore: defaultNullTimestampScore}
	for _, opt := range opts {
		if opt != nil {
			opt((*decayDraft)(d))
		}
	}
	wrong := strategy.Problems{Component: "DecayScorer"}
	if !unit(d.nullTimestampScore) {
		wrong.Add("nullTimestampScore", number(d.nullTimestampScore), "nullTimestampScore must be in [0.0, 1.0]")
	}
	if clock == nil {
		wrong.Add("clock", "", "clock must not be nil; pass time.Now, or a fixed time in tests")
	}
	if curve == nil {
		wrong.Add("curve", "", "curve must not be nil; pass an Exponential, Step or Window curve")
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	return d, nil
}

const defaultNullTimestampScore = 0.5

var decayDescriptor = strategy.Descriptor{
	Name: "decay", Component: "DecayScorer",
	Doc: "Scores an item by its age, along a curve.",
	Fields: []strategy.Field{
		{Name: "curve", Type: strategy.Variant, Required: true, Variants: curveDescriptors, Doc: "Maps the age of an item to its score."},
		{Name: "nullTimestampScore", Type: strategy.Number, Range: strategy.Unit, Default: defaultNullTimestampScore, Doc: "The score of items without a timestamp."},
	},
	NeedsClock: true,
	Build: func(a strategy.Args) (any, error) {
		return strategy.Built(NewDecay(a.Clock, strategy.Get[Curve](a, "curve"), WithNullTimestampScore(strategy.Get[float64](a, "nullTimestampScore"))))
	},
	Settings: strategy.Only(func(d *Decay) map[string]any {
		return map[string]any{"curve": d.curve, "nullTimestampScore": d.nullTimestampScore}
	}),
}

// Facts reports a scorer that was not built with [NewDecay] as invalid.
func (d *Decay) Facts() strategy.Facts {
	return built(d, d != nil && d.curve != nil, "DecayScorer", "NewDecay")
}

// Score scores each item in O(1), or in time linear in the windows of a [Step]
// curve. It fails only when ctx is done or the scorer is invalid.
func (d *Decay) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	var now time.Time
	read := false
	return each(ctx, d, items, scores, func(item *cupel.ContextItem) float64 {
		if !read {
			now, read = d.clock().Round(0), true // without the monotonic reading, which timestamps have not
		}
		t, ok := item.Timestamp()
		if !ok {
			return d.nullTimestampScore
		}
		if now.Before(t) {
			t = now
		}
		return d.curve.at(t, now)
	})
}

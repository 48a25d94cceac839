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
// ScoreAll reads the clock once, so that all ages are measured from the same
// time; Score reads it on each call. Ages are exact over the whole range of
// [time.Time].
//
// It implements the DecayScorer chapter of the specification.
type Decay struct {
	clock              func() time.Time
	curve              Curve
	nullTimestampScore float64
}

// DecayOption is an optional setting of a [Decay] scorer.
type DecayOption func(*decayDraft) error

// decayDraft is an unfinished scorer. It is a separate type so that options
// cannot change a finished one.
type decayDraft Decay

// WithNullTimestampScore sets the score of items without a timestamp, in
// [0,1]; it is 0.5 by default.
func WithNullTimestampScore(score float64) DecayOption {
	return func(d *decayDraft) error {
		if !unit(score) {
			return invalid("DecayScorer", "nullTimestampScore", number(score), "nullTimestampScore must be in [0.0, 1.0]")
		}
		d.nullTimestampScore = score
		return nil
	}
}

// NewDecay returns a scorer that measures ages against clock, which has no
// default: [time.Now] in production, a fixed time in tests. It must be safe for
// concurrent use.
//
// It fails with a [cupel.InvalidConfigError] when clock or curve is nil, or
// when an option does.
func NewDecay(clock func() time.Time, curve Curve, opts ...DecayOption) (*Decay, error) {
	d := &Decay{clock: clock, curve: curve, nullTimestampScore: defaultNullTimestampScore}
	wrong := strategy.Problems{Component: "DecayScorer"}
	for _, opt := range opts {
		if opt != nil {
			wrong.AddError(opt((*decayDraft)(d)))
		}
	}
	d.validate(&wrong)
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

// Validate reports a scorer that was not built with [NewDecay].
func (d *Decay) Validate() error {
	wrong := strategy.Problems{Component: "DecayScorer"}
	d.validate(&wrong)
	return wrong.Err()
}

func (d *Decay) validate(wrong *strategy.Problems) {
	if d == nil || d.clock == nil {
		wrong.Add("clock", "", "clock must not be nil; pass time.Now, or a fixed time in tests")
	}
	if d == nil || d.curve == nil {
		wrong.Add("curve", "", "curve must not be nil; pass an Exponential, Step or Window curve")
	}
}

// Score uses the item and the clock; it ignores all.
func (d *Decay) Score(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
	if d.Validate() != nil {
		return 0
	}
	return d.scoreAt(item, d.clock())
}

// ScoreAll scores each item in O(1), or in time linear in the windows of a
// [Step] curve. It fails only when ctx is done or Validate does.
func (d *Decay) ScoreAll(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	if err := d.Validate(); err != nil {
		return err
	}
	now := d.clock()
	return each(ctx, "DecayScorer", all, scores, func(item *cupel.ContextItem) float64 {
		return d.scoreAt(item, now)
	})
}

func (d *Decay) scoreAt(item *cupel.ContextItem, now time.Time) float64 {
	timestamp, ok := item.Timestamp()
	if !ok {
		return d.nullTimestampScore
	}
	return d.curve.at(since(timestamp, now))
}

package policy

import (
	"encoding/json"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
)

// Policy says how a pipeline selects. Scorers, Slicer and Placer are required;
// the zero value of every other field is the default.
//
// A policy is data: it can be written as a composite literal, read with
// [Decode], or taken from a [Registry]. Nothing in this package changes a
// policy or keeps one that it is given, so that policies can be shared as long
// as nobody else changes them.
type Policy struct {
	// Name is what people call the policy. It need not be unique, and may be
	// empty.
	Name string
	// Description says what the policy is for.
	Description string
	// Scorers rank the candidates, by the average of their scores under their
	// weights. One scorer alone is used as it is.
	Scorers []Weighted
	// Slicer selects what fits the budget.
	Slicer Slicer
	// Placer orders what was selected.
	Placer Placer
	// KeepDuplicates keeps items whose content equals another's byte for byte.
	// In JSON it is the opposite, "deduplicate", which is true by default.
	KeepDuplicates bool
	// Overflow says what happens when pinned and sliced items together exceed
	// the target. The default is [cupel.OverflowThrow].
	Overflow cupel.OverflowStrategy
}

// Environment is what a policy needs beside itself to be built.
type Environment struct {
	// Registry has the custom strategies that the policy may use. With nil it
	// may use the built-in ones alone.
	Registry *Registry
	// Clock is what [Decay] measures ages against: [time.Now] in production, a
	// fixed time in tests. It has no default, and is required by policies that
	// use Decay alone. It must be safe for concurrent use.
	Clock func() time.Time
}

// Validate returns nil, or a [ValidationError] with everything that is wrong
// with the policy. Custom strategies are those of registry; without one, with
// nil, there are the built-in ones alone. Custom strategies are built to see
// whether their settings are right, against a clock that stands still.
func (p Policy) Validate(registry *Registry) error {
	var found problems
	p.validate(registry, &found)
	return found.err()
}

func (p Policy) validate(registry *Registry, found *problems) {
	b := &builder{registry: registry, clock: stillClock, problems: found}
	b.config(p)
}

// stillClock stands in for the clock of a policy that is only validated.
func stillClock() time.Time { return time.Time{} }

// Config returns the configuration that the policy describes. OnOverflow and
// Clock of the configuration are left to the caller. It fails with a
// [ValidationError] with everything that is wrong, the lack of a clock that the
// policy needs included.
func (p Policy) Config(env Environment) (cupel.Config, error) {
	var found problems
	b := &builder{registry: env.Registry, clock: env.Clock, problems: &found}
	config := b.config(p)
	if err := found.err(); err != nil {
		return cupel.Config{}, err
	}
	return config, nil
}

// Pipeline returns a pipeline with the configuration that [Policy.Config]
// returns. It fails as that does.
func (p Policy) Pipeline(env Environment) (*cupel.Pipeline, error) {
	config, err := p.Config(env)
	if err != nil {
		return nil, err
	}
	return cupel.New(config)
}

// Weighted is a scorer and its weight beside others. Weights are positive and
// finite; only their ratios matter.
type Weighted struct {
	Scorer Scorer
	Weight float64
}

// Scorer describes a scorer: [Recency], [Priority], [Kind], [Tag],
// [Frequency], [Reflexive], [Composite], [Scaled], [MetadataTrust],
// [MetadataKey], [Decay] or a [CustomScorer], by value and not by pointer.
type Scorer interface{ scorer() }

// Recency describes a [scorer.Recency].
type Recency struct{}

// Priority describes a [scorer.Priority].
type Priority struct{}

// Frequency describes a [scorer.Frequency].
type Frequency struct{}

// Reflexive describes a [scorer.Reflexive].
type Reflexive struct{}

// Kind describes a [scorer.Kind].
type Kind struct {
	// Weights are the scores of the kinds, at least 0. nil means the default
	// weights; with an empty map every item scores 0.
	Weights map[cupel.ContextKind]float64
}

// Tag describes a [scorer.Tag].
type Tag struct {
	Weights         map[string]float64 // at least 0 each
	CaseInsensitive bool               // tags compare under ASCII case folding
}

// Composite describes a [scorer.Composite]: the weighted average of others, as
// one of the parts of a policy.
type Composite struct {
	Scorers []Weighted // at least one
}

// Scaled describes a [scorer.Scaled]: the scores of another, stretched to the
// whole of [0,1].
type Scaled struct {
	Inner Scorer
}

// MetadataTrust describes a [scorer.MetadataTrust].
type MetadataTrust struct {
	DefaultScore float64 // of items without a readable trust, in [0,1]
}

// MetadataKey describes a [scorer.MetadataKey].
type MetadataKey struct {
	Key, Value string
	Boost      float64 // the score of items that match, positive
}

// Decay describes a [scorer.Decay]. A policy with one needs an
// [Environment.Clock].
type Decay struct {
	Curve Curve
	// NullTimestampScore is the score of items without a timestamp, in [0,1].
	// nil means the default, 0.5.
	NullTimestampScore *float64
}

// CustomScorer describes a scorer of a type that a [Registry] knows.
type CustomScorer struct {
	Type     string          // the name under which the factory was registered
	Settings json.RawMessage // a JSON object, or nil when there are no settings
	Children []Scorer        // the scorers that this one wraps, if it is a wrapper
}

func (Recency) scorer()       {}
func (Priority) scorer()      {}
func (Frequency) scorer()     {}
func (Reflexive) scorer()     {}
func (Kind) scorer()          {}
func (Tag) scorer()           {}
func (Composite) scorer()     {}
func (Scaled) scorer()        {}
func (MetadataTrust) scorer() {}
func (MetadataKey) scorer()   {}
func (Decay) scorer()         {}
func (CustomScorer) scorer()  {}

// Curve describes a curve of a [Decay]: [Exponential], [Step] or [Window].
type Curve interface{ curve() }

// Exponential describes the curve of [scorer.Exponential].
type Exponential struct {
	HalfLife time.Duration // positive
}

// Step describes the curve of [scorer.Step].
type Step struct {
	// Windows are given youngest first: ages are positive and strictly
	// increasing, scores in [0,1].
	Windows []scorer.StepWindow
}

// Window describes the curve of [scorer.Window].
type Window struct {
	MaxAge time.Duration // positive
}

func (Exponential) curve() {}
func (Step) curve()        {}
func (Window) curve()      {}

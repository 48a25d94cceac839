package policy

import (
	"time"

	"github.com/wollax/cupel-go/cupel"
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
	Slicer Strategy
	// Placer orders what was selected.
	Placer Strategy
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
	// Clock is what "decay" scorers measure ages against: [time.Now] in
	// production, a fixed time in tests. It has no default, and is required by
	// policies with such scorers alone. It must be safe for concurrent use.
	Clock func() time.Time
}

// Validate returns nil, or a [ValidationError] with everything that is wrong
// with the policy. Custom strategies are those of registry; without one, with
// nil, there are the built-in ones alone. Custom strategies are built to see
// whether their settings are right, against a clock that stands still.
func (p Policy) Validate(registry *Registry) error {
	_, err := p.Config(Environment{registry, stillClock})
	return err
}

// stillClock stands in for the clock of a policy that is only validated.
func stillClock() time.Time { return time.Time{} }

// Config returns the configuration that the policy describes. OnOverflow and
// Clock of the configuration are left to the caller. It fails with a
// [ValidationError] with everything that is wrong, the lack of a clock that the
// policy needs included.
func (p Policy) Config(env Environment) (cupel.Config, error) {
	var found problems
	if problem := checkSize(p); problem != nil {
		found.add(problem.Path, problem.Reason, nil)
		return cupel.Config{}, found.err()
	}
	config := (&builder{env, &found}).config(p)
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

// Strategy is a scorer, a slicer, a placer or a curve as data: the name of its
// type and its settings. The zero Strategy stands for one that is missing.
//
//	policy.Strategy{Type: "decay", Settings: policy.Settings{
//		"curve": policy.Strategy{Type: "window", Settings: policy.Settings{"maxAge": 24 * time.Hour}},
//	}}
//
// The types of this module and their settings are those that
// [scorer.Descriptors], [slicer.Descriptors] and [placer.Descriptors] list.
// Types that a [Registry] knows have two settings: "settings", a
// [json.RawMessage] for their [Factory], and "children", a []Strategy.
type Strategy struct {
	Type     string
	Settings Settings
}

// Settings are settings by name. What is absent has its default. The Go types of
// values are those that [strategy.Type] lists, with a [Strategy] for a child or
// a variant, a []Strategy for children, a []Weighted for weighted ones, and a
// []Settings for the elements of a list. An int may stand for a float64, a
// [cupel.ContextKind] for a string, and a nil map is absent.
type Settings map[string]any

// Weighted is a scorer and its weight beside others. Weights are positive and
// finite; only their ratios matter.
type Weighted struct {
	Scorer Strategy
	Weight float64
}

package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/wollax/cupel-go/cupel/pipeline"
)

// Policy describes a pipeline as data. Scorers, Slicer and Placer are required;
// the zero value of every other field is the default.
//
// A policy is data: write it as a composite literal, read it with [Decode], or
// take it from a [Registry]. This package neither changes nor retains the
// policies passed to it, so they can be shared as long as their users do not
// change them.
type Policy struct {
	// Name is a display name. It need not be unique, and may be empty.
	Name string
	// Description is a sentence on the purpose of the policy.
	Description string
	// Scorers rank the candidates by the weighted average of their scores. A
	// single scorer is used as it is.
	Scorers []Weighted
	// Slicer selects what fits the budget.
	Slicer Strategy
	// Placer orders what was selected.
	Placer Strategy
	// KeepDuplicates keeps items whose content equals another's byte for byte.
	// JSON has the opposite, "deduplicate", which is true by default.
	KeepDuplicates bool
	// NearDuplicates, in (0,1], drops near copies of newer items, as [pipeline.Config]
	// does. 0 disables it.
	NearDuplicates float64
	// Overflow decides what happens when pinned and sliced items together exceed
	// the target. The default is [pipeline.OverflowThrow].
	Overflow pipeline.OverflowStrategy
}

// Environment holds what else is needed to build a policy.
type Environment struct {
	// Registry has the registered types that the policy may use. If it is nil,
	// the policy may use only the built-in ones.
	Registry *Registry
	// Clock returns the time from which "decay" scorers measure ages: [time.Now]
	// in production, a fixed time in tests. It has no default; only policies with
	// such scorers require it. It must be safe for concurrent use.
	Clock func() time.Time
}

// Validate returns nil, or a [ValidationError] that lists all mistakes in the
// policy. Types of your own come from registry; if it is nil, only the built-in
// ones are known. Validate builds all strategies, with a stopped clock, to check
// their settings.
func (p Policy) Validate(registry *Registry) error {
	_, err := p.Config(Environment{registry, stillClock})
	return err
}

// stillClock stands in for the clock of a policy that is only validated.
func stillClock() time.Time { return time.Time{} }

// Config returns the configuration that the policy describes. Its
// Name and PolicyHash are the policy's; OnOverflow and Clock are left to the caller. It fails with a
// [ValidationError] that lists all mistakes, including a missing clock.
func (p Policy) Config(env Environment) (pipeline.Config, error) {
	b := newBuilder(env)
	config := b.config(p.settings())
	if err := b.problems.err(); err != nil {
		return pipeline.Config{}, err
	}
	config.Name, config.PolicyHash = p.Name, p.Hash()
	return config, nil
}

// Hash returns 16 hexadecimal digits that identify the contents of the policy,
// apart from its name and description: the beginning of the SHA-256 of its JSON.
// It is empty for a policy that cannot be written.
func (p Policy) Hash() string {
	p.Name, p.Description = "", ""
	text, err := p.MarshalJSON()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Pipeline returns a pipeline with the configuration that [Policy.Config]
// returns, and fails when Config does.
func (p Policy) Pipeline(env Environment) (*pipeline.Pipeline, error) {
	config, err := p.Config(env)
	if err != nil {
		return nil, err
	}
	return pipeline.New(config)
}

// Strategy describes a scorer, a slicer, a placer or a curve by the name of its
// type and its settings. The zero Strategy stands for a missing one.
//
//	policy.Strategy{Type: "decay", Settings: policy.Settings{
//		"curve": policy.Strategy{Type: "window", Settings: policy.Settings{"maxAge": 24 * time.Hour}},
//	}}
//
// [scorer.Descriptors], [slicer.Descriptors] and [placer.Descriptors] list the
// built-in types and their settings, [Registry.Descriptors] the registered ones
// as well.
type Strategy struct {
	Type     string
	Settings Settings
}

// Settings maps the names of settings to their values. An absent setting has its
// default. [strategy.Type] lists the Go types of values, except for these: a
// child or a variant is a [Strategy], children are a []Strategy, weighted
// children a []Weighted, an object is a Settings and a list a []Settings. An int
// may stand for a float64, a [cupel.ContextKind] for a string, and a value with
// a String method for one of several names; a nil map counts as absent.
type Settings map[string]any

// Weighted is a scorer and its weight. Weights are positive and finite; only
// their ratios matter.
type Weighted struct {
	Scorer Strategy
	Weight float64
}

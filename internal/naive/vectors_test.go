package naive_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/wollax/cupel-go/conformance"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/internal/naive"
)

// model runs vectors against the naive model. What the specification does not
// have may have no model: its vectors are the second opinion on it, and run on
// the engine.
type model struct{}

var errNoModel = errors.New("there is no model")

var _ conformance.Implementation = model{}

func (m model) Score(ctx context.Context, spec conformance.ScorerSpec, items []*cupel.ContextItem) ([]float64, error) {
	s, err := m.scorer(spec)
	if errors.Is(err, errNoModel) {
		return conformance.Engine{}.Score(ctx, spec, items)
	}
	if err != nil {
		return nil, err
	}
	return naive.Score(s, items)
}

func (m model) Slice(ctx context.Context, spec conformance.SlicerSpec, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	s, err := m.slicer(&spec)
	if errors.Is(err, errNoModel) {
		return conformance.Engine{}.Slice(ctx, spec, items, budget)
	}
	return naive.Slice(s, items, budget)
}

func (m model) Place(ctx context.Context, name string, items []cupel.ScoredItem) ([]int, error) {
	p, err := m.placer(name)
	if errors.Is(err, errNoModel) {
		return conformance.Engine{}.Place(ctx, name, items)
	}
	return naive.Place(p, items), nil
}

func (m model) Run(ctx context.Context, spec conformance.PipelineSpec, items []*cupel.ContextItem, budget cupel.ContextBudget) (conformance.Outcome, error) {
	if spec.NearDuplicates > 0 {
		return conformance.Engine{}.Run(ctx, spec, items, budget)
	}
	config := naive.Config{
		KeepDuplicates: spec.KeepDuplicates, Overflow: spec.Overflow,
	}
	var wrong [3]error
	config.Slicer, wrong[0] = m.slicer(spec.Slicer)
	config.Placer, wrong[1] = m.placer(spec.Placer)
	if spec.Scorer != nil {
		config.Scorer, wrong[2] = m.scorer(*spec.Scorer)
	}
	if err := errors.Join(wrong[:]...); errors.Is(err, errNoModel) {
		return conformance.Engine{}.Run(ctx, spec, items, budget)
	} else if err != nil {
		return conformance.Outcome{}, err
	}
	result, err := naive.Run(config, items, budget)
	outcome := conformance.Outcome{Window: result.Items, Report: result.Report}
	if outcome.Report != nil {
		for _, in := range outcome.Report.Included {
			outcome.Included = append(outcome.Included, conformance.Decision{Candidate: in.Candidate, Form: in.Form, Stale: in.Stale})
		}
		for _, out := range outcome.Report.Excluded {
			outcome.Excluded = append(outcome.Excluded, conformance.Decision{Candidate: out.Candidate, Stale: out.Stale})
		}
	}
	return outcome, err
}

func (m model) placer(name string) (naive.Placer, error) {
	switch name {
	case "":
		return nil, nil
	case "chronological":
		return naive.Chronological{}, nil
	case "u-shaped":
		return naive.UShaped{}, nil
	}
	return nil, errNoModel
}

func (m model) scorer(spec conformance.ScorerSpec) (naive.Scorer, error) {
	switch spec.Type {
	case "recency":
		return naive.Recency{}, nil
	case "priority":
		return naive.Priority{}, nil
	case "frequency":
		return naive.Frequency{}, nil
	case "reflexive":
		return naive.Reflexive{}, nil
	case "kind":
		var s naive.Kind
		if spec.Weights != nil {
			s.Weights = []naive.KindWeight{} // an empty list is not an absent one
		}
		for _, w := range spec.Weights {
			s.Weights = append(s.Weights, naive.KindWeight(w))
		}
		return s, nil
	case "tag":
		var s naive.Tag
		for _, w := range spec.TagWeights {
			s.Weights = append(s.Weights, naive.TagWeight(w))
		}
		return s, nil
	case "composite":
		var s naive.Composite
		for _, c := range spec.Children {
			child, err := m.scorer(c.Scorer)
			if err != nil {
				return nil, err
			}
			s.Parts = append(s.Parts, naive.Weighted{Scorer: child, Weight: c.Weight})
		}
		return s, nil
	case "scaled":
		if spec.Inner == nil {
			return naive.Scaled{}, nil
		}
		inner, err := m.scorer(*spec.Inner)
		return naive.Scaled{Inner: inner}, err
	case "metadata_trust":
		return naive.MetadataTrust{DefaultScore: orHalf(spec.DefaultScore)}, nil
	case "metadata_key":
		return naive.MetadataKey{Key: spec.Key, Value: spec.Value, Boost: spec.Boost}, nil
	case "decay":
		s := naive.Decay{Now: spec.ReferenceTime, NullTimestampScore: orHalf(spec.NullTimestampScore)}
		if spec.Curve == nil {
			return s, nil
		}
		var err error
		s.Curve, err = modelCurve(*spec.Curve)
		return s, err
	}
	return nil, errNoModel
}

// orHalf is the default of DecayScorer's nullTimestampScore, and what vectors
// mean by a MetadataTrustScorer without a default.
func orHalf(score *float64) float64 {
	if score == nil {
		return 0.5
	}
	return *score
}

func modelCurve(spec conformance.CurveSpec) (naive.Curve, error) {
	switch spec.Type {
	case "exponential":
		halfLife, err := duration(spec.HalfLifeSecs)
		return naive.Exponential{HalfLife: halfLife}, err
	case "window":
		maxAge, err := duration(spec.MaxAgeSecs)
		return naive.Window{MaxAge: maxAge}, err
	case "step":
		var s naive.Step
		for _, w := range spec.Windows {
			maxAge, err := duration(w.MaxAgeSecs)
			if err != nil {
				return nil, err
			}
			s.Windows = append(s.Windows, naive.StepWindow{MaxAge: maxAge, Score: w.Score})
		}
		return s, nil
	}
	return nil, fmt.Errorf("the model has no curve %q", spec.Type)
}

// duration rounds a vector's seconds to the nearest nanosecond; what no
// duration can hold is a construction error (R10).
func duration(seconds float64) (time.Duration, error) {
	ns := math.Round(seconds * 1e9)
	if math.IsNaN(ns) || math.Abs(ns) >= math.MaxInt64 {
		return 0, &naive.Error{Kind: cupel.ErrInvalidConfig, Text: "durations are at most 292 years"}
	}
	return time.Duration(ns), nil
}

// slicer returns nil for none.
func (m model) slicer(spec *conformance.SlicerSpec) (naive.Slicer, error) {
	if spec == nil {
		return nil, nil
	}
	inner, err := m.slicer(spec.Inner)
	if err != nil {
		return nil, err
	}
	var entries []naive.CountEntry
	for _, e := range spec.Entries {
		entries = append(entries, naive.CountEntry(e))
	}
	knapsack := naive.Knapsack{BucketSize: spec.BucketSize}
	switch spec.Type {
	case "greedy":
		return naive.Greedy{}, nil
	case "score_greedy":
		return naive.ScoreGreedy{}, nil
	case "knapsack":
		return knapsack, nil
	case "multiple_choice":
		return naive.MultipleChoice{Exact: spec.Settings["exact"] == true}, nil
	case "diverse":
		from, _ := spec.Settings["from"].(float64)
		return naive.Diverse{From: from}, nil
	case "quota":
		s := naive.Quota{Inner: inner}
		for _, q := range spec.Quotas {
			s.Entries = append(s.Entries, naive.QuotaEntry(q))
		}
		return s, nil
	case "count_quota":
		return naive.CountQuota{Entries: entries, Throw: spec.Throw, Inner: inner}, nil
	case "count_constrained_knapsack":
		return naive.CountConstrainedKnapsack{Entries: entries, Throw: spec.Throw, Knapsack: knapsack}, nil
	}
	return nil, errNoModel
}

// TestSpecificationIsModelled: what the specification has may not do without a
// model.
func TestSpecificationIsModelled(t *testing.T) {
	for _, name := range []string{"recency", "priority", "frequency", "reflexive", "kind", "tag", "composite", "scaled", "metadata_trust", "metadata_key", "decay"} {
		if _, err := (model{}).scorer(conformance.ScorerSpec{Type: name}); err != nil {
			t.Errorf("scorer %s: %v", name, err)
		}
	}
	for _, name := range []string{"greedy", "knapsack", "quota", "count_quota", "count_constrained_knapsack"} {
		if _, err := (model{}).slicer(&conformance.SlicerSpec{Type: name}); err != nil {
			t.Errorf("slicer %s: %v", name, err)
		}
	}
	for _, name := range []string{"chronological", "u-shaped"} {
		if _, err := (model{}).placer(name); err != nil {
			t.Errorf("placer %s: %v", name, err)
		}
	}
}

// TestVectorsPassOnTheModel holds the model and the vectors to each other:
// both were written from the specification, independently.
func TestVectorsPassOnTheModel(t *testing.T) {
	results, err := conformance.Run(t.Context(), conformance.Vectors(), conformance.WithImplementation(model{}), conformance.WithStrict())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results.Vectors {
		for _, failure := range r.Failures {
			t.Errorf("%s: %s", r.Path, failure)
		}
	}
}

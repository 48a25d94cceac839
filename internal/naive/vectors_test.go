package naive_test

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/wollax/cupel-go/conformance"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/internal/naive"
)

// model runs vectors against the naive model. What the specification does not
// have may have no model: its vectors are the second opinion on it, and run on
// the engine.
type model struct{ conformance.Engine }

var errNoModel = errors.New("there is no model")

func (m model) Score(ctx context.Context, p conformance.Pipeline, items []*cupel.ContextItem) ([]float64, error) {
	config, err := modelConfig(p)
	if err != nil {
		return m.Engine.Score(ctx, p, items)
	}
	return naive.Score(config.Scorer, items)
}

func (m model) Slice(ctx context.Context, p conformance.Pipeline, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	config, err := modelConfig(p)
	if err != nil {
		return m.Engine.Slice(ctx, p, items, budget)
	}
	return naive.Slice(config.Slicer, items, budget)
}

func (m model) Place(ctx context.Context, p conformance.Pipeline, items []cupel.ScoredItem) ([]int, error) {
	config, err := modelConfig(p)
	if err != nil {
		return m.Engine.Place(ctx, p, items)
	}
	return naive.Place(config.Placer, items), nil
}

func (m model) Run(ctx context.Context, p conformance.Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget) (conformance.Outcome, error) {
	config, err := modelConfig(p)
	if err != nil {
		return m.Engine.Run(ctx, p, items, budget)
	}
	result, err := naive.Run(config, items, budget)
	return conformance.Outcome{Window: result.Items, Report: result.Report}, err
}

// modelConfig returns a pipeline of the model, or errNoModel.
func modelConfig(p conformance.Pipeline) (naive.Config, error) {
	config := naive.Config{KeepDuplicates: p.KeepDuplicates, Overflow: p.Overflow}
	var parts naive.Composite
	var wrong error
	for _, part := range p.Scorers {
		s, err := modelScorer(part.Scorer, p.Now)
		parts.Parts = append(parts.Parts, naive.Weighted{Scorer: s, Weight: part.Weight})
		wrong = cmp.Or(wrong, err)
	}
	config.Scorer = parts
	if len(parts.Parts) == 1 {
		config.Scorer = parts.Parts[0].Scorer
	}
	var slicerErr error
	config.Slicer, slicerErr = modelSlicer(p.Slicer)
	switch p.Placer.Type {
	case "":
	case "chronological":
		config.Placer = naive.Chronological{}
	case "uShaped":
		config.Placer = naive.UShaped{}
	default:
		wrong = errNoModel
	}
	if p.NearDuplicates > 0 {
		wrong = errNoModel
	}
	return config, cmp.Or(wrong, slicerErr)
}

// get returns a setting, or what stands for an absent one.
func get[T any](s policy.Settings, name string, absent T) T {
	if v, ok := s[name].(T); ok {
		return v
	}
	return absent
}

func modelScorer(spec policy.Strategy, now *time.Time) (naive.Scorer, error) {
	given := spec.Settings
	weights := get(given, "weights", map[string]float64(nil))
	switch spec.Type {
	case "":
		return nil, nil
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
		if weights != nil {
			s.Weights = []naive.KindWeight{} // an empty list is not an absent one
		}
		for _, kind := range slices.Sorted(maps.Keys(weights)) {
			s.Weights = append(s.Weights, naive.KindWeight{Kind: cupel.ContextKind(kind), Weight: weights[kind]})
		}
		return s, nil
	case "tag":
		s := naive.Tag{FoldCase: get(given, "caseInsensitive", false)}
		for _, tag := range slices.Sorted(maps.Keys(weights)) {
			s.Weights = append(s.Weights, naive.TagWeight{Tag: tag, Weight: weights[tag]})
		}
		return s, nil
	case "composite":
		var s naive.Composite
		for _, part := range get(given, "scorers", []policy.Weighted(nil)) {
			scorer, err := modelScorer(part.Scorer, now)
			if err != nil {
				return nil, err
			}
			s.Parts = append(s.Parts, naive.Weighted{Scorer: scorer, Weight: part.Weight})
		}
		return s, nil
	case "scaled":
		inner, err := modelScorer(get(given, "inner", policy.Strategy{}), now)
		return naive.Scaled{Inner: inner}, err
	case "metadataTrust":
		return naive.MetadataTrust{DefaultScore: get(given, "defaultScore", 0.0)}, nil
	case "metadataKey":
		return naive.MetadataKey{Key: get(given, "key", ""), Value: get(given, "value", ""), Boost: get(given, "boost", 0.0)}, nil
	case "decay":
		return naive.Decay{
			Now: now, NullTimestampScore: get(given, "nullTimestampScore", 0.5),
			Curve: modelCurve(get(given, "curve", policy.Strategy{})),
		}, nil
	}
	return nil, errNoModel
}

// modelCurve returns nil for none.
func modelCurve(spec policy.Strategy) naive.Curve {
	switch spec.Type {
	case "exponential":
		return naive.Exponential{HalfLife: get(spec.Settings, "halfLife", time.Duration(0))}
	case "window":
		return naive.Window{MaxAge: get(spec.Settings, "maxAge", time.Duration(0))}
	case "step":
		var s naive.Step
		for _, w := range get(spec.Settings, "windows", []policy.Settings(nil)) {
			s.Windows = append(s.Windows, naive.StepWindow{MaxAge: get(w, "maxAge", time.Duration(0)), Score: get(w, "score", 0.0)})
		}
		return s
	}
	return nil
}

func modelSlicer(spec policy.Strategy) (naive.Slicer, error) {
	given := spec.Settings
	inner := get(given, "inner", policy.Strategy{})
	entries := get(given, "entries", []policy.Settings(nil))
	throw := given["scarcity"] == "Throw"
	var knapsack naive.Knapsack
	if size, ok := given["bucketSize"].(int); ok {
		knapsack.BucketSize = &size
	}
	switch spec.Type {
	case "":
		return nil, nil
	case "greedy":
		return naive.Greedy{}, nil
	case "scoreGreedy":
		return naive.ScoreGreedy{}, nil
	case "knapsack":
		return knapsack, nil
	case "multipleChoice":
		return naive.MultipleChoice{Exact: get(given, "exact", false)}, nil
	case "diverse":
		return naive.Diverse{From: get(given, "from", 0.0)}, nil
	case "quota":
		s := naive.Quota{}
		for _, e := range entries {
			s.Entries = append(s.Entries, naive.QuotaEntry{Kind: cupel.ContextKind(get(e, "kind", "")), Require: get(e, "require", 0.0), Cap: get(e, "cap", 100.0)})
		}
		var err error
		s.Inner, err = modelSlicer(inner)
		return s, err
	case "countQuota":
		inside, err := modelSlicer(inner)
		return naive.CountQuota{Entries: modelCounts(entries), Throw: throw, Inner: inside}, err
	case "countConstrainedKnapsack":
		return naive.CountConstrainedKnapsack{Entries: modelCounts(entries), Throw: throw, Knapsack: knapsack}, nil
	}
	return nil, errNoModel
}

func modelCounts(entries []policy.Settings) []naive.CountEntry {
	var list []naive.CountEntry
	for _, e := range entries {
		list = append(list, naive.CountEntry{Kind: cupel.ContextKind(get(e, "kind", "")), RequireCount: get(e, "requireCount", 0), CapCount: get(e, "capCount", math.MaxInt)})
	}
	return list
}

// TestSpecificationIsModeled: what the specification has may not do without a
// model.
func TestSpecificationIsModeled(t *testing.T) {
	for _, name := range []string{"recency", "priority", "frequency", "reflexive", "kind", "tag", "composite", "scaled", "metadataTrust", "metadataKey", "decay"} {
		if _, err := modelScorer(policy.Strategy{Type: name}, nil); err != nil {
			t.Errorf("scorer %s: %v", name, err)
		}
	}
	for _, name := range []string{"greedy", "knapsack", "quota", "countQuota", "countConstrainedKnapsack"} {
		if _, err := modelSlicer(policy.Strategy{Type: name}); err != nil {
			t.Errorf("slicer %s: %v", name, err)
		}
	}
	for _, name := range []string{"chronological", "uShaped"} {
		if _, err := modelConfig(conformance.Pipeline{Policy: policy.Policy{Placer: policy.Strategy{Type: name}}}); err != nil {
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
	for _, r := range results {
		for _, failure := range r.Failures {
			t.Errorf("%s: %s", r.Path, failure)
		}
	}
}

package naive_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/wollax/cupel-go/conformance"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/internal/naive"
)

// model runs vectors against the naive model, with a fault or without. A strategy
// that the specification does not have may have no model: its vectors are the
// second opinion on it, and run on the engine.
type model struct{ fault naive.Fault }

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
	return naive.Score(s, items, m.fault)
}

func (m model) Slice(ctx context.Context, spec conformance.SlicerSpec, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	s, err := m.slicer(&spec)
	if errors.Is(err, errNoModel) {
		return conformance.Engine{}.Slice(ctx, spec, items, budget)
	}
	return naive.Slice(s, items, budget, m.fault)
}

func (m model) Place(ctx context.Context, name string, items []cupel.ScoredItem) ([]int, error) {
	p, err := m.placer(name)
	if errors.Is(err, errNoModel) {
		return conformance.Engine{}.Place(ctx, name, items)
	}
	return naive.Place(p, items, m.fault), nil
}

func (m model) Run(ctx context.Context, spec conformance.PipelineSpec, items []*cupel.ContextItem, budget cupel.ContextBudget) (conformance.Outcome, error) {
	config := naive.Config{
		KeepDuplicates: spec.KeepDuplicates, Overflow: spec.Overflow, Fault: m.fault,
		NearDuplicates: spec.NearDuplicates,
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
	for _, d := range result.Included {
		outcome.Included = append(outcome.Included, conformance.Decision(d))
	}
	for _, d := range result.Excluded {
		outcome.Excluded = append(outcome.Excluded, conformance.Decision(d))
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
		return 0, &naive.Error{Class: naive.ClassInvalidConfig, Text: "durations are at most 292 years"}
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

// unnoticed are the faults that no vector can notice, with the reason. An
// entry that a vector does notice is stale, and the test says so.
var unnoticed = map[naive.Fault]string{
	naive.FaultTruncateKeepsZeroTokens: "above the target no slicer of the specification selects anything; the random cases have one that does",
	naive.FaultDropsReturn:             "no slicer with a left-over pass drops anything; the random cases have one that does",
}

// TestVectorsNoticeEveryFault plants each fault in the model and expects that
// a vector fails.
func TestVectorsNoticeEveryFault(t *testing.T) {
	type file struct {
		path string
		data []byte
	}
	var files []file
	vectors := conformance.Vectors()
	err := fs.WalkDir(vectors, ".", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".toml" {
			var data []byte
			data, err = fs.ReadFile(vectors, name)
			files = append(files, file{name, data})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal(conformance.ErrNoVectors)
	}
	if raceEnabled {
		t.Skip("takes too long, and shares nothing between goroutines")
	}
	faults := naive.Faults()
	if len(faults) < 80 {
		t.Fatalf("%d faults, want at least 80", len(faults))
	}
	for _, fault := range faults {
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			noticed := ""
			// Those named after the fault's chapter first: one of them suffices
			// nearly always.
			likely := slices.SortedStableFunc(slices.Values(files), func(a, b file) int {
				return cmp.Compare(namedAfter(b.path, fault), namedAfter(a.path, fault))
			})
			for _, f := range likely {
				r := conformance.RunVector(t.Context(), f.path, f.data, conformance.WithImplementation(model{fault}))
				if strings.Contains(strings.Join(r.Failures, "\n"), "panicked") {
					t.Fatalf("%s: %s", f.path, r.Failures)
				}
				if !r.Passed {
					noticed = f.path
					break
				}
			}
			switch why, expected := unnoticed[fault]; {
			case noticed == "" && !expected:
				t.Errorf("no vector of %d notices it: %s: %s", len(files), fault.Chapter(), fault.Rule())
			case noticed != "" && expected:
				t.Errorf("%s notices it, although %s", noticed, why)
			}
		})
	}
}

// namedAfter returns 1 when a vector's file name has the words of the fault's
// chapter, metadata-trust-… for MetadataTrustScorer, or its folder has.
func namedAfter(file string, fault naive.Fault) int {
	var words strings.Builder
	for i, r := range strings.ReplaceAll(fault.Chapter(), " ", "") {
		if unicode.IsUpper(r) && i > 0 {
			words.WriteByte('-')
		}
		words.WriteRune(unicode.ToLower(r))
	}
	name := words.String()
	for _, role := range []string{"-scorer", "-slice", "-placer"} {
		name = strings.TrimSuffix(name, role)
	}
	if strings.HasPrefix(path.Base(file), name) || strings.HasPrefix(file, name+"/") {
		return 1
	}
	return 0
}

// TestFaultsAreDescribed keeps the list of faults in order.
func TestFaultsAreDescribed(t *testing.T) {
	names := map[string]bool{}
	for _, fault := range naive.Faults() {
		name := fault.String()
		if name == "" || fault.Chapter() == "" || fault.Rule() == "" {
			t.Errorf("fault %d (%q) lacks its chapter or rule", fault, name)
		}
		if names[name] {
			t.Errorf("fault %q is there twice", name)
		}
		names[name] = true
	}
}

// TestErrorsMatchTheSentinels holds the classes of the model's errors to the
// sentinels by which vectors tell them apart.
func TestErrorsMatchTheSentinels(t *testing.T) {
	sentinels := map[naive.Class]error{
		naive.ClassInvalidConfig: cupel.ErrInvalidConfig,
		naive.ClassPinned:        pipeline.ErrPinnedExceedsBudget,
		naive.ClassOverflow:      pipeline.ErrOverflow,
		naive.ClassScarcity:      cupel.ErrScarcity,
		naive.ClassContent:       pipeline.ErrContent,
		naive.ClassTooLarge:      nil,
	}
	for class := range sentinels {
		for other, sentinel := range sentinels {
			if got, want := errors.Is(&naive.Error{Class: class}, sentinel), class == other && sentinel != nil; got != want {
				t.Errorf("an error of class %s matches %v: %v, want %v", class, sentinel, got, want)
			}
		}
	}
}

package conformance

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// Engine is the implementation of this project: the pipeline of package cupel
// with its own strategies.
type Engine struct{}

var _ Implementation = Engine{}

// maxScoredAlone bounds how many items of a vector are scored alone as well,
// which takes a pass over all of them each time.
const maxScoredAlone = 500

// Score implements [Implementation]. It scores in one pass and one by one, and
// fails when the two differ. Of many items it scores some alone.
func (Engine) Score(ctx context.Context, spec ScorerSpec, items []*cupel.ContextItem) ([]float64, error) {
	s, err := buildScorer(spec)
	if err != nil {
		return nil, err
	}
	if err := cupel.ValidateScorer(s); err != nil {
		return nil, err
	}
	scores := make([]float64, len(items))
	if err := cupel.ScoreAll(ctx, s, items, scores); err != nil {
		return nil, err
	}
	for i := 0; i < len(items); i += 1 + len(items)/maxScoredAlone {
		if one := s.Score(items[i], items); math.Float64bits(one) != math.Float64bits(scores[i]) && !(one != one && scores[i] != scores[i]) {
			return nil, fmt.Errorf("conformance: scorer %T gives item %d the score %v alone and %v in a pass", s, i, one, scores[i])
		}
	}
	return scores, nil
}

// Slice implements [Implementation].
func (Engine) Slice(ctx context.Context, spec SlicerSpec, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	s, err := buildSlicer(spec)
	if err != nil {
		return cupel.Selection{}, err
	}
	return cupel.Slice(ctx, s, items, budget)
}

// Place implements [Implementation].
func (Engine) Place(ctx context.Context, name string, items []cupel.ScoredItem) ([]int, error) {
	return cupel.Place(ctx, buildPlacer(name), items)
}

// Run implements [Implementation]. It runs the pipeline unobserved, observed
// and dry, and fails when the windows differ.
func (Engine) Run(ctx context.Context, spec PipelineSpec, items []*cupel.ContextItem, budget cupel.ContextBudget) (Outcome, error) {
	config := cupel.Config{Placer: buildPlacer(spec.Placer), KeepDuplicates: spec.KeepDuplicates, Overflow: spec.Overflow}
	var err error
	if spec.Scorer != nil {
		if config.Scorer, err = buildScorer(*spec.Scorer); err != nil {
			return Outcome{}, err
		}
	}
	if spec.Slicer != nil {
		if config.Slicer, err = buildSlicer(*spec.Slicer); err != nil {
			return Outcome{}, err
		}
	}
	p, err := cupel.New(config)
	if err != nil {
		return Outcome{}, err
	}
	report, err := p.DryRun(ctx, items, budget)
	window, runErr := p.Run(ctx, items, budget)
	if errorText(err) != errorText(runErr) {
		return Outcome{}, fmt.Errorf("conformance: a dry run gives error %q, a run %q", errorText(err), errorText(runErr))
	}
	if err != nil {
		return Outcome{Report: report}, err
	}
	collector := cupel.NewDiagnosticTraceCollector(cupel.WithDetailLevel(cupel.TraceDetailItem))
	observed, err := p.Run(ctx, items, budget, cupel.WithTrace(collector))
	if err != nil {
		return Outcome{}, fmt.Errorf("conformance: an observed run fails where another does not: %w", err)
	}
	if windowText(observed) != windowText(window) {
		return Outcome{}, fmt.Errorf("conformance: an observed run gives [%s], another [%s]", windowText(observed), windowText(window))
	}
	return Outcome{Window: window, Report: report}, nil
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func windowText(window []*cupel.ContextItem) string {
	var b strings.Builder
	for _, item := range window {
		fmt.Fprintf(&b, "%p ", item)
	}
	return b.String()
}

func buildScorer(spec ScorerSpec) (cupel.Scorer, error) {
	switch spec.Type {
	case "recency":
		return scorer.Recency{}, nil
	case "priority":
		return scorer.Priority{}, nil
	case "frequency":
		return scorer.Frequency{}, nil
	case "reflexive":
		return scorer.Reflexive{}, nil
	case "kind":
		return buildKind(spec.Weights)
	case "tag":
		return buildTag(spec.TagWeights)
	case "composite":
		parts := make([]scorer.Weighted, len(spec.Children))
		for i, c := range spec.Children {
			child, err := buildScorer(c.Scorer)
			if err != nil {
				return nil, err
			}
			parts[i] = scorer.Weighted{Scorer: child, Weight: c.Weight}
		}
		return built[cupel.Scorer](scorer.NewComposite(parts...))
	case "scaled":
		if spec.Inner == nil {
			return nil, &cupel.InvalidConfigError{Component: "ScaledScorer", Field: "inner", Reason: "an inner scorer is required"}
		}
		inner, err := buildScorer(*spec.Inner)
		if err != nil {
			return nil, err
		}
		return built[cupel.Scorer](scorer.NewScaled(inner))
	case "metadata_trust":
		score := 0.5 // the value that the chapter's examples configure
		if spec.DefaultScore != nil {
			score = *spec.DefaultScore
		}
		return built[cupel.Scorer](scorer.NewMetadataTrust(score))
	case "metadata_key":
		return built[cupel.Scorer](scorer.NewMetadataKey(spec.Key, spec.Value, spec.Boost))
	case "decay":
		return buildDecay(spec)
	}
	return nil, fmt.Errorf("%w: unknown scorer %q", errVector, spec.Type)
}

// built keeps a typed nil pointer out of the interface.
func built[I any, T any](strategy T, err error) (I, error) {
	if err != nil {
		var none I
		return none, err
	}
	return any(strategy).(I), nil
}

func buildKind(weights []KindWeight) (cupel.Scorer, error) {
	if weights == nil {
		return scorer.Kind{}, nil
	}
	m := make(map[cupel.ContextKind]float64, len(weights))
	for i, w := range weights {
		if _, twice := m[w.Kind]; twice { // a map would keep one and say nothing
			return nil, &cupel.InvalidConfigError{Component: "KindScorer", Field: fmt.Sprintf("weights[%d].kind", i), Value: string(w.Kind), Reason: "kind is given twice"}
		}
		m[w.Kind] = w.Weight
	}
	return built[cupel.Scorer](scorer.NewKind(m))
}

func buildTag(weights []TagWeight) (cupel.Scorer, error) {
	m := make(map[string]float64, len(weights))
	for i, w := range weights {
		if _, twice := m[w.Tag]; twice {
			return nil, &cupel.InvalidConfigError{Component: "TagScorer", Field: fmt.Sprintf("weights[%d].tag", i), Value: w.Tag, Reason: "tag is given twice"}
		}
		m[w.Tag] = w.Weight
	}
	return built[cupel.Scorer](scorer.NewTag(m))
}

func buildDecay(spec ScorerSpec) (cupel.Scorer, error) {
	var clock func() time.Time
	if spec.ReferenceTime != nil {
		at := *spec.ReferenceTime
		clock = func() time.Time { return at }
	}
	var curve scorer.Curve
	if spec.Curve != nil {
		var err error
		if curve, err = buildCurve(*spec.Curve); err != nil {
			return nil, err
		}
	}
	var opts []scorer.DecayOption
	if spec.NullTimestampScore != nil {
		opts = append(opts, scorer.WithNullTimestampScore(*spec.NullTimestampScore))
	}
	return built[cupel.Scorer](scorer.NewDecay(clock, curve, opts...))
}

func buildCurve(spec CurveSpec) (scorer.Curve, error) {
	var none scorer.Curve
	switch spec.Type {
	case "exponential":
		halfLife, err := seconds("halfLife", spec.HalfLifeSecs)
		if err != nil {
			return none, err
		}
		return scorer.Exponential(halfLife)
	case "window":
		maxAge, err := seconds("maxAge", spec.MaxAgeSecs)
		if err != nil {
			return none, err
		}
		return scorer.Window(maxAge)
	case "step":
		windows := make([]scorer.StepWindow, len(spec.Windows))
		for i, w := range spec.Windows {
			maxAge, err := seconds(fmt.Sprintf("windows[%d].maxAge", i), w.MaxAgeSecs)
			if err != nil {
				return none, err
			}
			windows[i] = scorer.StepWindow{MaxAge: maxAge, Score: w.Score}
		}
		return scorer.Step(windows...)
	}
	return none, fmt.Errorf("%w: unknown curve %q", errVector, spec.Type)
}

// seconds rounds to the nearest nanosecond; what no duration holds is a
// construction error (R10).
func seconds(field string, secs float64) (time.Duration, error) {
	ns := math.Round(secs * float64(time.Second))
	if !(math.Abs(ns) < math.MaxInt64) { // written so that NaN fails
		return 0, &cupel.InvalidConfigError{Component: "DecayScorer", Field: field, Value: fmt.Sprint(secs), Reason: "must be a number of seconds up to 292 years"}
	}
	return time.Duration(ns), nil
}

func buildSlicer(spec SlicerSpec) (cupel.Slicer, error) {
	scarcity := slicer.ScarcityDegrade
	if spec.Throw {
		scarcity = slicer.ScarcityThrow
	}
	entries := make([]slicer.CountQuotaEntry, len(spec.Entries))
	for i, e := range spec.Entries {
		entries[i] = slicer.CountQuotaEntry{Kind: e.Kind, RequireCount: e.RequireCount, CapCount: e.CapCount}
	}
	switch spec.Type {
	case "greedy":
		return slicer.Greedy{}, nil
	case "knapsack":
		return built[cupel.Slicer](buildKnapsack(spec))
	case "quota":
		inner, err := buildInner(spec)
		if err != nil {
			return nil, err
		}
		quotas := make([]slicer.QuotaEntry, len(spec.Quotas))
		for i, q := range spec.Quotas {
			quotas[i] = slicer.Between(q.Kind, q.Require, q.Cap)
		}
		return built[cupel.Slicer](slicer.NewQuota(inner, quotas...))
	case "count_quota":
		inner, err := buildInner(spec)
		if err != nil {
			return nil, err
		}
		return built[cupel.Slicer](slicer.NewCountQuota(inner, entries, slicer.WithScarcity(scarcity)))
	case "count_constrained_knapsack":
		knapsack, err := buildKnapsack(spec)
		if err != nil {
			return nil, err
		}
		return built[cupel.Slicer](slicer.NewCountConstrainedKnapsack(knapsack, entries, slicer.WithScarcity(scarcity)))
	}
	return nil, fmt.Errorf("%w: unknown slicer %q", errVector, spec.Type)
}

func buildInner(spec SlicerSpec) (cupel.Slicer, error) {
	if spec.Inner == nil {
		return nil, &cupel.InvalidConfigError{Component: spec.Type, Field: "inner", Reason: "an inner slicer is required"}
	}
	return buildSlicer(*spec.Inner)
}

func buildKnapsack(spec SlicerSpec) (*slicer.Knapsack, error) {
	if spec.BucketSize == nil {
		return slicer.NewKnapsack()
	}
	return slicer.NewKnapsack(slicer.WithBucketSize(*spec.BucketSize))
}

// buildPlacer returns nil for no placer, which New refuses.
func buildPlacer(name string) cupel.Placer {
	switch name {
	case "chronological":
		return placer.Chronological{}
	case "u-shaped":
		return placer.UShaped{}
	}
	return nil
}

package scorer_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// constant scores everything the same.
func constant(score float64) strategy.Scorer {
	return strategy.ScorerFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { return score })
}

func composite(parts ...scorer.Weighted) *scorer.Composite {
	return scorer.Must(scorer.NewComposite(parts...))
}

func scaled(inner strategy.Scorer) *scorer.Scaled { return scorer.Must(scorer.NewScaled(inner)) }

func TestComposite(t *testing.T) {
	w := func(s strategy.Scorer, weight float64) scorer.Weighted {
		return scorer.Weighted{Scorer: s, Weight: weight}
	}
	recent := []*cupel.ContextItem{
		item(cupel.WithTimestamp(date(2020)), cupel.WithPriority(1)),
		item(cupel.WithTimestamp(date(2024)), cupel.WithPriority(3)),
		item(cupel.WithTimestamp(date(2022)), cupel.WithPriority(5)),
	}
	inner := composite(w(scorer.Recency{}, 1), w(scorer.Priority{}, 1))
	runScoreCases(t, []scoreCase{
		{"weighted", composite(w(scorer.Recency{}, 3), w(scorer.Priority{}, 1)), recent, []float64{0, 0.75*1 + 0.25*0.5, 0.75*0.5 + 0.25*1}, "weights 3 and 1 are 0.75 and 0.25"},
		{"single", composite(w(scorer.Recency{}, 17)), recent, []float64{0, 1, 0.5}, "one entry has weight 1 and delegates"},
		{"nested", composite(w(inner, 1), w(scaled(inner), 1)), recent, []float64{0, 0.5*0.75 + 0.5*1, 0.5*0.75 + 0.5*1}, "composites nest, and one scorer may occur twice"},
		{"no fusion", composite(w(constant(1+0x1p-52), 1), w(constant(-0x1p-1), 1), w(constant(-0x1p-1), 1)), items{item()}, one(rounded(1+0x1p-52, -0x1p-1, -0x1p-1)), "each product is rounded before it is added (R9)"},
		{"negative zero", composite(w(constant(math.Copysign(0, -1)), 1)), items{item()}, one(0), "0.0 + -0.0 is 0.0"},
	})
}

// rounded averages with equal weights, one rounding at a time.
func rounded(scores ...float64) float64 {
	n, sum := float64(len(scores)), 0.0
	for _, s := range scores {
		product := s * (1 / n)
		sum += float64(product)
	}
	return sum
}

func TestCompositeErrors(t *testing.T) {
	r := scorer.Recency{}
	build := func(parts ...scorer.Weighted) error { return refused(scorer.NewComposite(parts...)) }
	weight := func(x float64) error {
		return build(scorer.Weighted{Scorer: r, Weight: 1}, scorer.Weighted{Scorer: r, Weight: x})
	}
	own := &loop{}
	own.children = []strategy.Scorer{r, own}
	runErrorCases(t, []errorCase{
		{"no entries", build(), "cupel: At least one scorer entry is required (CompositeScorer, entries)", "the chapter's first check"},
		{"nil scorer", build(scorer.Weighted{Weight: 1}),
			"cupel: Scorer must not be null (CompositeScorer, entries[0].scorer)", "the chapter's second check"},
		{"nil scorer before its weight", build(scorer.Weighted{Weight: -1}),
			"cupel: Scorer must not be null (CompositeScorer, entries[0].scorer)\ncupel: Weight must be positive (CompositeScorer, entries[0].weight = -1)", "the chapter's order of checks"},
		{"zero", weight(0), "cupel: Weight must be positive (CompositeScorer, entries[1].weight = 0)", "zero weights are rejected"},
		{"NaN", weight(math.NaN()), "cupel: Weight must be finite (CompositeScorer, entries[1].weight = NaN)", "NaN is not below 0, and not finite"},
		{"infinite sum", build(scorer.Weighted{Scorer: r, Weight: math.MaxFloat64}, scorer.Weighted{Scorer: r, Weight: math.MaxFloat64}),
			"cupel: the sum of the weights must be finite; only ratios matter, so scale them down (CompositeScorer, entries)", "an infinite sum makes every weight 0 (R9)"},
		{"cycle", build(scorer.Weighted{Scorer: own, Weight: 1}),
			"cupel: Cycle detected: scorer appears in its own dependency graph (*scorer_test.loop)", "a custom scorer that holds itself"},
		{"no inner", refused(scorer.NewScaled(nil)),
			"cupel: Scorer must not be null (ScaledScorer, inner)", "there is nothing to scale"},
		{"zero value inside a scaled", refused(scorer.NewScaled(new(scorer.Decay))),
			"cupel: scorer has no settings; build it with scorer.NewDecay (DecayScorer)", "the inner scorer is validated"},
	})
}

// loop is a wrapper that somebody else wrote. Its children may change.
type loop struct{ children []strategy.Scorer }

func (l *loop) Score(context.Context, []*cupel.ContextItem, []float64) error { return nil }
func (l *loop) Facts() strategy.Facts                                        { return strategy.Facts{Of: l, Scorers: l.children} }

func TestScoreParts(t *testing.T) {
	s := composite(
		scorer.Weighted{Scorer: scorer.Priority{}, Weight: 3},
		scorer.Weighted{Scorer: scorer.Reflexive{}, Weight: 1})
	all := items{
		item(cupel.WithPriority(1), cupel.WithFutureRelevanceHint(0.5)),
		item(cupel.WithPriority(2)),
	}
	parts, err := s.ScoreParts(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) != 2 || parts[0].Scorer != (scorer.Priority{}) || parts[0].Weight != 0.75 || !slices.Equal(parts[0].Scores, []float64{0, 1}) ||
		parts[1].Scorer != (scorer.Reflexive{}) || parts[1].Weight != 0.25 || !slices.Equal(parts[1].Scores, []float64{0.5, 0}) {
		t.Errorf("got %+v, want priorities 0 and 1 at weight 0.75, hints 0.5 and 0 at weight 0.25", parts)
	}
}

func TestScaled(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	raw := scaled(rawHint)
	hints := func(values ...float64) items {
		var all items
		for _, v := range values {
			all = append(all, hint(v))
		}
		return all
	}
	runScoreCases(t, []scoreCase{
		{"single", raw, hints(0.3), one(0.5), "max = min"},
		{"interpolated", raw, hints(0.25, 0.5, 0.375, 0.25), []float64{0, 1, 0.5, 0}, "(raw - min) / (max - min)"},
		{"negative zero", raw, hints(0, math.Copysign(0, -1)), []float64{0.5, 0.5}, "-0 and 0 are equal"},
		{"two zeros below", raw, hints(0, math.Copysign(0, -1), 1), []float64{0, math.Copysign(0, -1), 1}, "-0 is not lower than the 0 before it, and -0 - 0 is -0"},

		{"all NaN", raw, hints(nan, nan), []float64{nan, nan}, "no comparison holds: min stays +Inf and max -Inf, which are not equal"},
		{"NaN and others", raw, hints(nan, 1, 3, 2), []float64{nan, 0, 1, 0.5}, "NaN is neither lowest nor highest"},
		{"NaN and one other", raw, hints(nan, 1), []float64{0.5, 0.5}, "max = min is checked before the item's own score"},
		{"highest infinite", raw, hints(1, 2, inf), []float64{0, 0, nan}, "x / Inf is 0 and Inf / Inf is NaN"},
	})
}

// reply counts how often it is asked for its scores, or its error.
type reply struct {
	asked  int
	scores []float64
	err    error
}

func (a *reply) Score(_ context.Context, _ []*cupel.ContextItem, scores []float64) error {
	a.asked++
	copy(scores, a.scores)
	return a.err
}

func TestFailingParts(t *testing.T) {
	failure := errors.New("no answer")
	all := items{hint(1), hint(3), hint(2)}
	outer := composite(scorer.Weighted{Scorer: scaled(&reply{err: failure}), Weight: 1})
	scores := make([]float64, len(all))
	var failed *cupel.StrategyError
	if err := outer.Score(t.Context(), all, scores); !errors.Is(err, failure) || !errors.As(err, &failed) || failed.Strategy != "*scorer_test.reply" {
		t.Errorf("got %v, want the failure and the name of the part that failed", err)
	}
	if _, err := outer.ScoreParts(t.Context(), all); !errors.Is(err, failure) {
		t.Errorf("ScoreParts: got %v, want the failure", err)
	}
	panics := strategy.ScorerFunc(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { panic("out of order") })
	err := composite(scorer.Weighted{Scorer: panics, Weight: 1}).Score(t.Context(), all, scores)
	if !errors.Is(err, cupel.ErrStrategy) {
		t.Errorf("got %v, want a panic of a part as an error", err)
	}
}

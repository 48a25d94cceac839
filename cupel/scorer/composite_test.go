package scorer_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
)

// constant scores everything the same.
func constant(score float64) cupel.Scorer {
	return function(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { return score })
}

func composite(parts ...scorer.Weighted) *scorer.Composite {
	return scorer.Must(scorer.NewComposite(parts...))
}

func scaled(inner cupel.Scorer) *scorer.Scaled { return scorer.Must(scorer.NewScaled(inner)) }

func TestComposite(t *testing.T) {
	w := func(s cupel.Scorer, weight float64) scorer.Weighted {
		return scorer.Weighted{Scorer: s, Weight: weight}
	}
	recent := []*cupel.ContextItem{
		item(cupel.WithTimestamp(date(2020)), cupel.WithPriority(1)),
		item(cupel.WithTimestamp(date(2024)), cupel.WithPriority(3)),
		item(cupel.WithTimestamp(date(2022)), cupel.WithPriority(5)),
	}
	inner := composite(w(scorer.Recency{}, 1), w(scorer.Priority{}, 1))
	runScoreCases(t, []scoreCase{
		{name: "weighted", scorer: composite(w(scorer.Recency{}, 3), w(scorer.Priority{}, 1)), items: recent,
			want: []float64{0, 0.75*1 + 0.25*0.5, 0.75*0.5 + 0.25*1}, why: "weights 3 and 1 are 0.75 and 0.25"},
		{name: "normalised already", scorer: composite(w(scorer.Recency{}, 0.75), w(scorer.Priority{}, 0.25)), items: recent,
			want: []float64{0, 0.875, 0.625}, why: "only the ratio of the weights matters"},
		{name: "single", scorer: composite(w(scorer.Recency{}, 17)), items: recent, want: []float64{0, 1, 0.5},
			why: "one entry has weight 1 and delegates"},
		{name: "all 0", scorer: composite(w(constant(0), 1), w(constant(0), 2)), items: items{item()}, want: one(0), why: "an average of zeros"},
		{name: "all 1", scorer: composite(w(constant(1), 1), w(constant(1), 3)), items: items{item()}, want: one(1), why: "the weights sum to 1"},
		{name: "beyond 1", scorer: composite(w(constant(3), 1), w(constant(1), 1)), items: items{item()}, want: one(2), why: "nothing is clamped"},
		{name: "multiplier", scorer: composite(w(scorer.Must(scorer.NewMetadataKey("k", "v", 1.5)), 1), w(constant(0.5), 1)),
			items: items{metadata("k", "v"), item()}, want: []float64{1, 0.75}, why: "a multiplier is averaged like any other score (R12)"},
		{name: "nested", scorer: composite(w(inner, 1), w(scaled(inner), 1)), items: recent,
			want: []float64{0, 0.5*0.75 + 0.5*1, 0.5*0.75 + 0.5*1}, why: "composites nest, and one scorer may occur twice"},
		{name: "same scorer twice", scorer: composite(w(inner, 1), w(inner, 3)), items: recent, want: []float64{0, 0.75, 0.75},
			why: "a shared part is no cycle"},
		{name: "no fusion", scorer: composite(w(constant(1+0x1p-52), 1), w(constant(-0x1p-1), 1), w(constant(-0x1p-1), 1)), items: items{item()},
			want: one(rounded(1+0x1p-52, -0x1p-1, -0x1p-1)), why: "each product is rounded before it is added (R9)"},
		{name: "negative zero", scorer: composite(w(constant(math.Copysign(0, -1)), 1)), items: items{item()}, want: one(0), why: "0.0 + -0.0 is 0.0"},
		{name: "NaN", scorer: composite(w(constant(math.NaN()), 1), w(constant(1), 1)), items: items{item()}, want: one(math.NaN()), why: "IEEE addition"},
		{name: "no items", scorer: inner, why: "an empty list has no scores"},
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
	build := func(parts ...scorer.Weighted) func() (any, error) { return built(scorer.NewComposite(parts...)) }
	weight := func(x float64) func() (any, error) {
		return build(scorer.Weighted{Scorer: r, Weight: 1}, scorer.Weighted{Scorer: r, Weight: x})
	}
	own := &loop{}
	own.children = []cupel.Scorer{r, own}
	runErrorCases(t, []errorCase{
		{"no entries", build(), cupel.InvalidConfigError{Component: "CompositeScorer", Field: "entries", Reason: "At least one scorer entry is required"}, "the chapter's first check"},
		{"nil scorer", build(scorer.Weighted{Weight: 1}),
			cupel.InvalidConfigError{Component: "CompositeScorer", Field: "entries[0].scorer", Reason: "Scorer must not be null"}, "the chapter's second check"},
		{"nil pointer", build(scorer.Weighted{Scorer: r, Weight: 1}, scorer.Weighted{Scorer: (*scorer.Tag)(nil), Weight: 1}),
			cupel.InvalidConfigError{Component: "CompositeScorer", Field: "entries[1].scorer", Reason: "Scorer must not be null"}, "a nil pointer is no scorer"},
		{"nil scorer before its weight", build(scorer.Weighted{Weight: -1}),
			cupel.InvalidConfigError{Component: "CompositeScorer", Field: "entries[0].scorer", Reason: "Scorer must not be null"}, "the chapter's order of checks"},
		{"first entry first", build(scorer.Weighted{Scorer: r, Weight: -1}, scorer.Weighted{Weight: 1}),
			cupel.InvalidConfigError{Component: "CompositeScorer", Field: "entries[0].weight", Value: "-1", Reason: "Weight must be positive"}, "entries are checked in order"},
		{"zero", weight(0), cupel.InvalidConfigError{Component: "CompositeScorer", Field: "entries[1].weight", Value: "0", Reason: "Weight must be positive"}, "zero weights are rejected"},
		{"negative", weight(-0.5), cupel.InvalidConfigError{Component: "CompositeScorer", Field: "entries[1].weight", Value: "-0.5", Reason: "Weight must be positive"}, "weights are positive"},
		{"negative infinite", weight(math.Inf(-1)), cupel.InvalidConfigError{Component: "CompositeScorer", Field: "entries[1].weight", Value: "-Inf", Reason: "Weight must be positive"}, "the sign is checked first"},
		{"infinite", weight(math.Inf(1)), cupel.InvalidConfigError{Component: "CompositeScorer", Field: "entries[1].weight", Value: "+Inf", Reason: "Weight must be finite"}, "weights are finite"},
		{"NaN", weight(math.NaN()), cupel.InvalidConfigError{Component: "CompositeScorer", Field: "entries[1].weight", Value: "NaN", Reason: "Weight must be finite"}, "NaN is not below 0, and not finite"},
		{"infinite sum", build(scorer.Weighted{Scorer: r, Weight: math.MaxFloat64}, scorer.Weighted{Scorer: r, Weight: math.MaxFloat64}),
			cupel.InvalidConfigError{Component: "CompositeScorer", Field: "entries", Reason: "sum of the weights"}, "an infinite sum makes every weight 0 (R9)"},
		{"zero value inside", build(scorer.Weighted{Scorer: new(scorer.Composite), Weight: 1}),
			cupel.InvalidConfigError{Component: "CompositeScorer", Field: "entries", Reason: "At least one scorer entry is required"}, "parts are validated"},
		{"cycle", build(scorer.Weighted{Scorer: own, Weight: 1}),
			cupel.InvalidConfigError{Component: "*scorer_test.loop", Reason: "Cycle detected: scorer appears in its own dependency graph"}, "a custom scorer that holds itself"},
		{"cycle through a scaled", built(scorer.NewScaled(own)),
			cupel.InvalidConfigError{Component: "*scorer_test.loop", Reason: "Cycle detected: scorer appears in its own dependency graph"}, "ScaledScorer takes part in cycle detection"},
		{"no inner", built(scorer.NewScaled(nil)),
			cupel.InvalidConfigError{Component: "ScaledScorer", Field: "inner", Reason: "Scorer must not be null"}, "there is nothing to scale"},
		{"nil inner", built(scorer.NewScaled((*scorer.Scaled)(nil))),
			cupel.InvalidConfigError{Component: "ScaledScorer", Field: "inner", Reason: "Scorer must not be null"}, "a nil pointer is no scorer"},
		{"zero value inside a scaled", built(scorer.NewScaled(new(scorer.Decay))),
			cupel.InvalidConfigError{Component: "DecayScorer", Field: "clock", Reason: "nil"}, "the inner scorer is validated"},
	})
}

// loop is a wrapper that somebody else wrote. Its children may change.
type loop struct{ children []cupel.Scorer }

func (l *loop) Score(*cupel.ContextItem, []*cupel.ContextItem) float64 { return 0 }
func (l *loop) Scorers() []cupel.Scorer                                { return l.children }

func TestCompositeEqualConfigurationsAreNoCycle(t *testing.T) {
	inner := composite(scorer.Weighted{Scorer: scorer.Recency{}, Weight: 1})
	outer := composite(scorer.Weighted{Scorer: inner, Weight: 1})
	again := composite(scorer.Weighted{Scorer: outer, Weight: 1}, scorer.Weighted{Scorer: inner, Weight: 1})
	if err := cupel.ValidateScorer(again); err != nil {
		t.Errorf("got %v; cycles go by identity, not by configuration", err)
	}
}

func TestCompositeAsksItsPartsInOrder(t *testing.T) {
	var asked []string
	part := func(name string) scorer.Weighted {
		return scorer.Weighted{Weight: 1, Scorer: function(func(*cupel.ContextItem, []*cupel.ContextItem) float64 {
			asked = append(asked, name)
			return 0
		})}
	}
	s := composite(part("a"), part("b"), part("c"))
	s.Score(item(), items{item()})
	scoreAll(t, s, items{item()})
	if want := []string{"a", "b", "c", "a", "b", "c"}; !slices.Equal(asked, want) {
		t.Errorf("parts were asked in the order %v, want %v", asked, want)
	}
}

func TestScorersAreCopies(t *testing.T) {
	s := composite(scorer.Weighted{Scorer: scorer.Recency{}, Weight: 1})
	s.Scorers()[0] = nil
	if got := s.Scorers(); len(got) != 1 || got[0] != (scorer.Recency{}) {
		t.Errorf("the composite holds %v after its answer was changed", got)
	}
	if got := scaled(s).Scorers(); len(got) != 1 || got[0] != s {
		t.Errorf("a scaled scorer's parts are %v, want the inner scorer", got)
	}
}

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
	for i, score := range scoreAll(t, s, all) {
		sum := 0.0
		for _, p := range parts {
			sum += float64(p.Scores[i] * p.Weight)
		}
		if sum != score {
			t.Errorf("the parts of item %d sum to %v, its score is %v", i, sum, score)
		}
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
	twice := hint(0.75)
	runScoreCases(t, []scoreCase{
		{name: "no items", scorer: raw, why: "an empty list has no scores"},
		{name: "single", scorer: raw, items: hints(0.3), want: one(0.5), why: "max = min"},
		{name: "equal", scorer: raw, items: hints(0.3, 0.3, 0.3), want: []float64{0.5, 0.5, 0.5}, why: "max = min, exactly 0.5"},
		{name: "two", scorer: raw, items: hints(0.4, 0.3), want: []float64{1, 0}, why: "one gets 0, the other 1"},
		{name: "interpolated", scorer: raw, items: hints(0.25, 0.5, 0.375, 0.25), want: []float64{0, 1, 0.5, 0}, why: "(raw - min) / (max - min)"},
		{name: "outside [0,1]", scorer: raw, items: hints(-10, 30, 0, 10), want: []float64{0, 1, 0.25, 0.5}, why: "any range becomes [0,1]"},
		{name: "nested", scorer: scaled(scaled(raw)), items: hints(2, 6, 3), want: []float64{0, 1, 0.25}, why: "scaling again changes nothing"},
		{name: "negative zero", scorer: raw, items: hints(0, math.Copysign(0, -1)), want: []float64{0.5, 0.5}, why: "-0 and 0 are equal"},
		{name: "two zeros below", scorer: raw, items: hints(0, math.Copysign(0, -1), 1), want: []float64{0, math.Copysign(0, -1), 1}, why: "-0 is not lower than the 0 before it, and -0 - 0 is -0"},
		{name: "same pointer twice", scorer: raw, items: items{twice, hint(0.5), twice, hint(1)}, want: []float64{0.5, 0, 0.5, 1}, why: "each position gets the item's score"},
		{name: "nil item", scorer: raw, items: items{nil, hint(1)}, want: []float64{0, 1}, why: "a nil item has no hint"},

		{name: "all NaN", scorer: raw, items: hints(nan, nan), want: []float64{nan, nan},
			why: "no comparison holds: min stays +Inf and max -Inf, which are not equal"},
		{name: "NaN and others", scorer: raw, items: hints(nan, 1, 3, 2), want: []float64{nan, 0, 1, 0.5}, why: "NaN is neither lowest nor highest"},
		{name: "NaN and one other", scorer: raw, items: hints(nan, 1), want: []float64{0.5, 0.5}, why: "max = min is checked before the item's own score"},
		{name: "all +Inf", scorer: raw, items: hints(inf, inf), want: []float64{0.5, 0.5}, why: "+Inf < +Inf is false and max = min = +Inf"},
		{name: "all -Inf", scorer: raw, items: hints(-inf, -inf), want: []float64{0.5, 0.5}, why: "-Inf > -Inf is false and max = min = -Inf"},
		{name: "NaN and +Inf", scorer: raw, items: hints(nan, inf), want: []float64{0.5, 0.5}, why: "min and max are both +Inf"},
		{name: "highest infinite", scorer: raw, items: hints(1, 2, inf), want: []float64{0, 0, nan}, why: "x / Inf is 0 and Inf / Inf is NaN"},
		{name: "lowest infinite", scorer: raw, items: hints(-inf, 1, 2), want: []float64{nan, nan, nan}, why: "-Inf - -Inf is NaN, and so is Inf / Inf"},
		{name: "range overflows", scorer: raw, items: hints(-math.MaxFloat64, 0, math.MaxFloat64), want: []float64{0, 0, nan}, why: "max - min is +Inf"},
	})
}

func TestScaledOfAnAbsentItem(t *testing.T) {
	s := scaled(rawHint)
	if got := s.Score(hint(1), items{hint(1), hint(2)}); got != 0.5 {
		t.Errorf("got %v, want 0.5 for an item that is not in the list, by identity (R14)", got)
	}
	if got := s.Score(hint(1), nil); got != 0.5 {
		t.Errorf("got %v, want 0.5 for an empty list", got)
	}
}

// passes counts how often it is asked, in both forms.
type passes struct{ batches, singles int }

func (p *passes) Score(*cupel.ContextItem, []*cupel.ContextItem) float64 {
	p.singles++
	return float64(p.singles)
}

func (p *passes) ScoreAll(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
	p.batches++
	for i := range all {
		scores[i] = float64(i)
	}
	return nil
}

func TestNestedScalingTakesOnePass(t *testing.T) {
	var inner passes
	s := scaled(scaled(scaled(&inner)))
	all := items{item(), item(), item()}
	if got := scoreAll(t, s, all); !slices.Equal(got, []float64{0, 0.5, 1}) || inner.batches != 1 || inner.singles != 0 {
		t.Errorf("got %v after %d batches and %d single scores, want one batch at any depth", got, inner.batches, inner.singles)
	}
	if got := s.Score(all[1], all); got != 0.5 || inner.batches != 2 || inner.singles != 0 {
		t.Errorf("got %v after %d batches and %d single scores, want one more batch", got, inner.batches, inner.singles)
	}
}

// broken has a batch form that fails.
type broken struct {
	function
	err error
}

func (b broken) ScoreAll(context.Context, []*cupel.ContextItem, []float64) error { return b.err }

func TestFailingParts(t *testing.T) {
	failure := errors.New("no answer")
	bad := &broken{rawHint, failure}
	all := items{hint(1), hint(3), hint(2)}
	outer := composite(scorer.Weighted{Scorer: scaled(bad), Weight: 1})
	scores := make([]float64, len(all))
	var strategy *cupel.StrategyError
	if err := outer.ScoreAll(t.Context(), all, scores); !errors.Is(err, failure) || !errors.As(err, &strategy) || strategy.Strategy != "*scorer_test.broken" {
		t.Errorf("got %v, want the failure and the name of the part that failed", err)
	}
	if _, err := outer.ScoreParts(t.Context(), all); !errors.Is(err, failure) {
		t.Errorf("ScoreParts: got %v, want the failure", err)
	}
	if got := scaled(bad).Score(all[1], all); got != 1 {
		t.Errorf("got %v, want 1: the single form asks one by one when the batch form fails", got)
	}
	panics := function(func(*cupel.ContextItem, []*cupel.ContextItem) float64 { panic("out of order") })
	err := composite(scorer.Weighted{Scorer: panics, Weight: 1}).ScoreAll(t.Context(), all, scores)
	if !errors.Is(err, cupel.ErrStrategy) {
		t.Errorf("got %v, want a panic of a part as an error", err)
	}
}

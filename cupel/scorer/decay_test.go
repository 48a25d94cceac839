package scorer_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

var reference = time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC)

func fixed(t time.Time) func() time.Time { return func() time.Time { return t } }

func decay(curve scorer.Curve, opts ...scorer.DecayOption) *scorer.Decay {
	return scorer.Must(scorer.NewDecay(fixed(reference), curve, opts...))
}

// coarse rounds the scores of another scorer, whose last bits no chapter says.
type coarse struct{ strategy.Scorer }

func (c coarse) Score(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	err := c.Scorer.Score(ctx, all, scores)
	copy(scores, billionths(scores...))
	return err
}

func billionths(scores ...float64) []float64 {
	for i, s := range scores {
		scores[i] = math.Round(s * 1e9)
	}
	return scores
}

func TestDecay(t *testing.T) {
	const hour = time.Hour
	age := func(d time.Duration) *cupel.ContextItem { return at(reference.Add(-d)) }
	exponential := decay(scorer.Must(scorer.Exponential(24 * hour)))
	steps := decay(scorer.Must(scorer.Step(
		scorer.StepWindow{MaxAge: hour, Score: 0.9},
		scorer.StepWindow{MaxAge: 24 * hour, Score: 0.5},
		scorer.StepWindow{MaxAge: 72 * hour, Score: 0.1})))
	window := decay(scorer.Must(scorer.Window(6 * hour)))
	longest := decay(scorer.Must(scorer.Window(math.MaxInt64)))
	const thousandYears = 365_243 * 24 * 3600.0 // from June 1025 to June 2025: 1000*365 days and 243 leap days

	runScoreCases(t, []scoreCase{
		{"exact half-lives", exponential, items{age(24 * hour), age(0)}, []float64{0.5, 1}, "whole exponents are exact powers of two"},
		{"future", exponential, items{at(reference.Add(12 * hour)), at(reference.Add(1)), at(date(9999))}, []float64{1, 1, 1}, "a negative age is clamped to zero (outline 2)"},
		{"no timestamp", exponential, items{item(), nil}, []float64{0.5, 0.5}, "0.5 by default (outline 3)"},
		{"own null score", decay(scorer.Must(scorer.Window(hour)), nil, scorer.WithNullTimestampScore(0.125)), items{item(), age(0)}, []float64{0.125, 1}, "nullTimestampScore is the caller's, and only for items without a timestamp"},
		{"steps", steps, items{age(0), age(hour), age(24 * hour), age(72 * hour)}, []float64{0.9, 0.5, 0.1, 0.1}, "the chapter's table: a boundary belongs to the older side"},
		{"around a boundary", steps, items{age(hour - 1), age(hour), age(hour + 1)}, []float64{0.9, 0.5, 0.5}, "strict, down to the nanosecond"},
		{"window", window, items{age(6 * hour), age(6*hour - 1), age(6*hour + 1), age(0)}, []float64{0, 1, 0, 1}, "[0, maxAge) is half open (outline 5)"},
		{"year 1", exponential, items{at(time.Time{})}, one(0), "a very large age is 0 to the last bit, never negative"},
		{"longest window", longest, items{age(math.MaxInt64), age(math.MaxInt64 - 1), at(date(1)), at(date(1700)), at(date(1800)), at(reference.Add(-math.MaxInt64).Add(-1))}, []float64{0, 1, 0, 0, 1, 0}, "ages beyond 292 years do not wrap (R10)"},
		{"long age and half-life", coarse{scorer.Must(scorer.NewDecay(fixed(date(2025)), scorer.Must(scorer.Exponential(math.MaxInt64))))}, items{at(date(1025))}, billionths(math.Exp(-math.Ln2 * thousandYears / (math.MaxInt64 / 1e9))), "a thousand years at a half-life of 292"},
		{"nanoseconds borrow", coarse{decay(scorer.Must(scorer.Exponential(time.Second)))}, items{at(reference.Add(-1500 * time.Millisecond)), at(reference.Add(-500 * time.Millisecond))}, billionths(math.Pow(2, -1.5), math.Pow(2, -0.5)), "fractions of a second count"},
		{"to the last bit", decay(scorer.Must(scorer.Exponential(time.Second))), items{at(reference.Add(-1500 * time.Millisecond))}, []float64{math.Exp2(-1.5)}, "in the form of Duration.Seconds"},
	})
}

// TestDecayReadsItsClockOncePerPass lets the clock advance by a half-life at
// each reading.
func TestDecayReadsItsClockOncePerPass(t *testing.T) {
	now, reads := reference, 0
	clock := func() time.Time {
		reads++
		now = now.Add(time.Hour)
		return now
	}
	s := scorer.Must(scorer.NewDecay(clock, scorer.Must(scorer.Exponential(time.Hour))))
	all := items{at(reference), at(reference), at(reference)}
	if got := scoreAll(t, s, all); got[0] != 0.5 || got[1] != 0.5 || got[2] != 0.5 {
		t.Errorf("got %v, want 0.5 for all: equal timestamps score equally within a pass (R10)", got)
	}
	if reads != 1 {
		t.Errorf("the clock was read %d times in a pass", reads)
	}
}

func TestDecayErrors(t *testing.T) {
	step := func(windows ...scorer.StepWindow) error { return refused(scorer.Step(windows...)) }
	null := func(x float64) error {
		return refused(scorer.NewDecay(fixed(reference), scorer.Must(scorer.Window(1)), scorer.WithNullTimestampScore(x)))
	}
	w := func(age time.Duration, score float64) scorer.StepWindow {
		return scorer.StepWindow{MaxAge: age, Score: score}
	}
	runErrorCases(t, []errorCase{
		{"no clock", refused(scorer.NewDecay(nil, scorer.Must(scorer.Window(1)))),
			"cupel: clock must not be nil; pass time.Now, or a fixed time in tests (DecayScorer, clock)", "there is no default clock"},
		{"no curve", refused(scorer.NewDecay(fixed(reference), nil)),
			"cupel: curve must not be nil; pass an Exponential, Step or Window curve (DecayScorer, curve)", "there is no default curve"},
		{"null score above", null(1.01),
			"cupel: nullTimestampScore must be in [0.0, 1.0] (DecayScorer, nullTimestampScore = 1.01)", "must be in [0,1]"},
		{"half-life zero", refused(scorer.Exponential(0)),
			"cupel: halfLife must be greater than zero (Exponential, halfLife = 0s)", "the message must name the parameter"},
		{"window zero", refused(scorer.Window(0)),
			"cupel: maxAge must be greater than zero (Window, maxAge = 0s)", "must be positive"},
		{"no steps", step(),
			"cupel: windows must contain at least one entry (Step, windows)", "windows must not be empty"},
		{"zero step", step(w(0, 1)),
			"cupel: maxAge must be greater than zero (Step, windows[0].maxAge = 0s)", "zero-width windows are forbidden"},
		{"equal steps", step(w(1, 1), w(1, 0.5)),
			"cupel: maxAge must be greater than that of the window before; give the youngest window first (Step, windows[1].maxAge = 1ns)", "strictly increasing (R15)"},
		{"step score above", step(w(1, 1), w(2, 1.5)),
			"cupel: score must be in [0.0, 1.0] (Step, windows[1].score = 1.5)", "within [0,1] (R15)"},
		{"step score NaN", step(w(1, math.NaN())),
			"cupel: score must be in [0.0, 1.0] (Step, windows[0].score = NaN)", "constructors reject NaN (R15)"},
	})
}

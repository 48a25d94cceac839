package scorer_test

import (
	"math"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
)

var reference = time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC)

func fixed(t time.Time) func() time.Time { return func() time.Time { return t } }

func decay(curve scorer.Curve, opts ...scorer.DecayOption) *scorer.Decay {
	return scorer.Must(scorer.NewDecay(fixed(reference), curve, opts...))
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
	longSteps := decay(scorer.Must(scorer.Step(
		scorer.StepWindow{MaxAge: 1, Score: 0.75},
		scorer.StepWindow{MaxAge: math.MaxInt64, Score: 0.5})))
	const thousandYears = 365_243 * 24 * 3600.0 // from June 1025 to June 2025: 1000*365 days and 243 leap days

	runScoreCases(t, []scoreCase{
		{name: "half-lives", scorer: exponential, items: items{age(24 * hour), age(48 * hour), age(0), age(12 * hour)},
			want: []float64{0.5, 0.25, 1, math.Sqrt2 / 2}, within: 1e-9, why: "2^(-age/halfLife) (outline 1)"},
		{name: "exact half-lives", scorer: exponential, items: items{age(24 * hour), age(0)},
			want: []float64{0.5, 1}, why: "whole exponents are exact powers of two"},
		{name: "future", scorer: exponential, items: items{at(reference.Add(12 * hour)), at(reference.Add(1)), at(date(9999))},
			want: []float64{1, 1, 1}, why: "a negative age is clamped to zero (outline 2)"},
		{name: "future window", scorer: window, items: items{at(date(2300))}, want: one(1), why: "age 0 is below every boundary"},
		{name: "future step", scorer: steps, items: items{at(date(2300))}, want: one(0.9), why: "age 0 is in the first window"},
		{name: "no timestamp", scorer: exponential, items: items{item(), nil}, want: []float64{0.5, 0.5}, why: "0.5 by default (outline 3)"},
		{name: "own null score", scorer: decay(scorer.Must(scorer.Window(hour)), nil, scorer.WithNullTimestampScore(0.125)), items: items{item(), age(0)},
			want: []float64{0.125, 1}, why: "nullTimestampScore is the caller's, and only for items without a timestamp"},
		{name: "null score at the ends", scorer: decay(scorer.Must(scorer.Window(hour)), scorer.WithNullTimestampScore(0), scorer.WithNullTimestampScore(1)), items: items{item()},
			want: one(1), why: "0 and 1 are allowed; the last option holds"},
		{name: "steps", scorer: steps, items: items{age(0), age(hour), age(24 * hour), age(72 * hour)},
			want: []float64{0.9, 0.5, 0.1, 0.1}, why: "the chapter's table: a boundary belongs to the older side"},
		{name: "second window", scorer: steps, items: items{age(6 * hour)}, want: one(0.5), why: "outline 4"},
		{name: "around a boundary", scorer: steps, items: items{age(hour - 1), age(hour), age(hour + 1)},
			want: []float64{0.9, 0.5, 0.5}, why: "strict, down to the nanosecond"},
		{name: "window", scorer: window, items: items{age(6 * hour), age(6*hour - 1), age(6*hour + 1), age(0)},
			want: []float64{0, 1, 0, 1}, why: "[0, maxAge) is half open (outline 5)"},
		{name: "year 1", scorer: exponential, items: items{at(time.Time{})}, want: one(0), why: "a very large age is 0 to the last bit, never negative"},
		{name: "longest window", scorer: longest,
			items: items{age(math.MaxInt64), age(math.MaxInt64 - 1), at(date(1)), at(date(1700)), at(date(1800)), at(reference.Add(-math.MaxInt64).Add(-1))},
			want:  []float64{0, 1, 0, 0, 1, 0}, why: "ages beyond 292 years do not wrap (R10)"},
		{name: "longest steps", scorer: longSteps, items: items{at(date(1)), age(0), age(1)},
			want: []float64{0.5, 0.75, 0.5}, why: "a whole nanosecond is the smallest window"},
		{name: "long age and half-life", scorer: scorer.Must(scorer.NewDecay(fixed(date(2025)), scorer.Must(scorer.Exponential(math.MaxInt64)))),
			items: items{at(date(1025))}, want: one(math.Exp(-math.Ln2 * thousandYears / (math.MaxInt64 / 1e9))), within: 1e-9,
			why: "a thousand years at a half-life of 292"},
		{name: "nanoseconds borrow", scorer: decay(scorer.Must(scorer.Exponential(time.Second))), items: items{at(reference.Add(-1500 * time.Millisecond)), at(reference.Add(-500 * time.Millisecond))},
			want: []float64{math.Pow(2, -1.5), math.Pow(2, -0.5)}, within: 1e-9, why: "fractions of a second count"},
		{name: "nanoseconds of one second", scorer: scorer.Must(scorer.NewDecay(fixed(reference.Add(700)), scorer.Must(scorer.Exponential(100)))),
			items: items{at(reference.Add(500)), at(reference.Add(600)), at(reference.Add(700)), at(reference.Add(800))},
			want:  []float64{0.25, 0.5, 1, 1}, within: 1e-9, why: "both times are within one second"},
		{name: "smallest half-life", scorer: decay(scorer.Must(scorer.Exponential(1))), items: items{age(1), age(2), age(time.Hour)},
			want: []float64{0.5, 0.25, 0}, why: "a nanosecond is a half-life"},
		{name: "zone of the clock", scorer: scorer.Must(scorer.NewDecay(fixed(reference.In(time.FixedZone("", -5*3600))), scorer.Must(scorer.Window(time.Hour)))),
			items: items{age(30 * time.Minute), age(90 * time.Minute)}, want: []float64{1, 0}, why: "instants are compared"},
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
	if got := s.Score(all[0], all); got != 0.25 || reads != 2 {
		t.Errorf("got %v after %d readings, want 0.25 after 2: the single form reads the clock on each call", got, reads)
	}
}

func TestStepCopiesItsWindows(t *testing.T) {
	windows := []scorer.StepWindow{{MaxAge: time.Hour, Score: 0.5}}
	s := decay(scorer.Must(scorer.Step(windows...)))
	windows[0].Score = 1
	if got := s.Score(at(reference), nil); got != 0.5 {
		t.Errorf("got %v, want 0.5: the caller's windows changed after construction", got)
	}
}

func TestDecayErrors(t *testing.T) {
	step := func(windows ...scorer.StepWindow) func() (any, error) { return built(scorer.Step(windows...)) }
	null := func(x float64) func() (any, error) {
		return built(scorer.NewDecay(fixed(reference), scorer.Must(scorer.Window(1)), scorer.WithNullTimestampScore(x)))
	}
	w := func(age time.Duration, score float64) scorer.StepWindow {
		return scorer.StepWindow{MaxAge: age, Score: score}
	}
	runErrorCases(t, []errorCase{
		{"no clock", built(scorer.NewDecay(nil, scorer.Must(scorer.Window(1)))),
			cupel.InvalidConfigError{Component: "DecayScorer", Field: "clock", Reason: "nil"}, "there is no default clock"},
		{"no curve", built(scorer.NewDecay(fixed(reference), nil)),
			cupel.InvalidConfigError{Component: "DecayScorer", Field: "curve", Reason: "nil"}, "there is no default curve"},
		{"null score below", null(-0.01),
			cupel.InvalidConfigError{Component: "DecayScorer", Field: "nullTimestampScore", Value: "-0.01", Reason: "[0.0, 1.0]"}, "must be in [0,1]"},
		{"null score above", null(1.01),
			cupel.InvalidConfigError{Component: "DecayScorer", Field: "nullTimestampScore", Value: "1.01", Reason: "[0.0, 1.0]"}, "must be in [0,1]"},
		{"null score NaN", null(math.NaN()),
			cupel.InvalidConfigError{Component: "DecayScorer", Field: "nullTimestampScore", Value: "NaN", Reason: "[0.0, 1.0]"}, "constructors reject NaN (R15)"},
		{"half-life zero", built(scorer.Exponential(0)),
			cupel.InvalidConfigError{Component: "Exponential", Field: "halfLife", Value: "0s", Reason: "halfLife"}, "the message must name the parameter"},
		{"half-life negative", built(scorer.Exponential(-time.Second)),
			cupel.InvalidConfigError{Component: "Exponential", Field: "halfLife", Value: "-1s", Reason: "halfLife"}, "must be positive"},
		{"window zero", built(scorer.Window(0)),
			cupel.InvalidConfigError{Component: "Window", Field: "maxAge", Value: "0s", Reason: "maxAge"}, "must be positive"},
		{"window negative", built(scorer.Window(-1)),
			cupel.InvalidConfigError{Component: "Window", Field: "maxAge", Value: "-1ns", Reason: "maxAge"}, "must be positive"},
		{"no steps", step(),
			cupel.InvalidConfigError{Component: "Step", Field: "windows", Reason: "at least one"}, "windows must not be empty"},
		{"zero step", step(w(0, 1)),
			cupel.InvalidConfigError{Component: "Step", Field: "windows[0].maxAge", Value: "0s", Reason: "greater than zero"}, "zero-width windows are forbidden"},
		{"negative step", step(w(-1, 1)),
			cupel.InvalidConfigError{Component: "Step", Field: "windows[0].maxAge", Value: "-1ns", Reason: "greater than zero"}, "positive (R15)"},
		{"equal steps", step(w(1, 1), w(1, 0.5)),
			cupel.InvalidConfigError{Component: "Step", Field: "windows[1].maxAge", Value: "1ns", Reason: "window before"}, "strictly increasing (R15)"},
		{"falling steps", step(w(1, 1), w(3, 0.5), w(2, 0)),
			cupel.InvalidConfigError{Component: "Step", Field: "windows[2].maxAge", Value: "2ns", Reason: "window before"}, "youngest first (R15)"},
		{"step score above", step(w(1, 1), w(2, 1.5)),
			cupel.InvalidConfigError{Component: "Step", Field: "windows[1].score", Value: "1.5", Reason: "[0.0, 1.0]"}, "within [0,1] (R15)"},
		{"step score below", step(w(1, -1)),
			cupel.InvalidConfigError{Component: "Step", Field: "windows[0].score", Value: "-1", Reason: "[0.0, 1.0]"}, "within [0,1] (R15)"},
		{"step score NaN", step(w(1, math.NaN())),
			cupel.InvalidConfigError{Component: "Step", Field: "windows[0].score", Value: "NaN", Reason: "[0.0, 1.0]"}, "constructors reject NaN (R15)"},
	})
}

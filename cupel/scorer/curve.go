package scorer

import (
	"math"
	"slices"
	"time"

	"github.com/wollax/cupel-go/cupel/strategy"
)

// Curve maps the age of an item to a score in [0,1]. The curves are
// [Exponential], [Step] and [Window].
//
// Together they implement the Curve Factories section of the DecayScorer
// chapter of the specification.
type Curve interface {
	// at scores an item with the timestamp t, which is not after now.
	at(t, now time.Time) float64
}

// curveDescriptors describe the curves, by name.
var curveDescriptors = []strategy.Descriptor{
	byDuration[exponential]("exponential", "Exponential", "Halves the score with each half-life.", "halfLife", "The age that scores 0.5.", Exponential),
	{
		Name: "step", Component: "Step", Doc: "Scores by windows of ages.",
		Fields: []strategy.Field{{Name: "windows", Type: strategy.List, Required: true, Doc: "Youngest first.", Fields: []strategy.Field{
			{Name: "maxAge", Type: strategy.Duration, Required: true, Doc: "Items of this age or older are outside the window."},
			{Name: "score", Type: strategy.Number, Required: true, Range: strategy.Unit, Doc: "The score of items in the window."},
		}}},
		Build: func(a strategy.Args) (any, error) {
			var windows []StepWindow
			for _, w := range strategy.Get[[]strategy.Args](a, "windows") {
				windows = append(windows, StepWindow{strategy.Get[time.Duration](w, "maxAge"), strategy.Get[float64](w, "score")})
			}
			return strategy.Built(Step(windows...))
		},
		Settings: strategy.Only(func(s step) map[string]any {
			windows := make([]map[string]any, len(s))
			for i, w := range s {
				windows[i] = map[string]any{"maxAge": w.MaxAge, "score": w.Score}
			}
			return map[string]any{"windows": windows}
		}),
	},
	byDuration[window]("window", "Window", "Scores 1 below an age, and 0 from it on.", "maxAge", "Items of this age or older score 0.", Window),
}

// byDuration describes a curve that has one duration.
func byDuration[C ~int64](name, component, doc, field, fieldDoc string, build func(time.Duration) (Curve, error)) strategy.Descriptor {
	return strategy.Descriptor{
		Name: name, Component: component, Doc: doc,
		Fields: []strategy.Field{{Name: field, Type: strategy.Duration, Required: true, Doc: fieldDoc}},
		Build: func(a strategy.Args) (any, error) {
			return strategy.Built(build(strategy.Get[time.Duration](a, field)))
		},
		Settings: strategy.Only(func(c C) map[string]any { return map[string]any{field: time.Duration(c)} }),
	}
}

type exponential time.Duration // the half-life

// Exponential returns the curve 2^(-age/halfLife): 1 at age 0, 0.5 at the age
// of halfLife, and near 0 for great ages. It fails with a
// [cupel.InvalidConfigError] unless halfLife is positive.
func Exponential(halfLife time.Duration) (Curve, error) {
	if halfLife <= 0 {
		return nil, invalid("Exponential", "halfLife", halfLife.String(), "halfLife must be greater than zero")
	}
	return exponential(halfLife), nil
}

func (e exponential) at(t, now time.Time) float64 {
	return math.Exp2(-seconds(t, now) / time.Duration(e).Seconds())
}

// seconds is DURATION-TO-SECONDS of the time from t to now, in the form of
// [time.Duration.Seconds], and beyond its 292 years.
func seconds(t, now time.Time) float64 {
	whole, nanos := uint64(now.Unix()-t.Unix()), now.Nanosecond()-t.Nanosecond() // exact modulo 2^64
	if nanos < 0 {
		whole, nanos = whole-1, nanos+1_000_000_000
	}
	return float64(whole) + float64(nanos)/1e9
}

// StepWindow is one window of a [Step] curve: items younger than MaxAge, and
// too old for the windows before it, score Score.
type StepWindow struct {
	MaxAge time.Duration
	Score  float64
}

type step []StepWindow

// Step returns the curve that gives an item the score of the first window whose
// MaxAge is greater than its age, and the score of the last window where there
// is none. An age that equals a MaxAge is in the next window.
//
// It fails with a [cupel.InvalidConfigError] when there are no windows, and
// unless each MaxAge is positive and greater than the one before it and each
// score is in [0,1].
func Step(windows ...StepWindow) (Curve, error) {
	if len(windows) == 0 {
		return nil, invalid("Step", "windows", "", "windows must contain at least one entry")
	}
	wrong := strategy.Problems{Component: "Step"}
	for i, w := range windows {
		at := strategy.Element("windows", i)
		switch {
		case w.MaxAge <= 0:
			wrong.Add(at+".maxAge", w.MaxAge.String(), "maxAge must be greater than zero")
		case i > 0 && w.MaxAge <= windows[i-1].MaxAge:
			wrong.Add(at+".maxAge", w.MaxAge.String(), "maxAge must be greater than that of the window before; give the youngest window first")
		}
		if !unit(w.Score) {
			wrong.Add(at+".score", number(w.Score), "score must be in [0.0, 1.0]")
		}
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	return step(slices.Clone(windows)), nil
}

func (s step) at(t, now time.Time) float64 {
	age := now.Sub(t) // 292 years at most, as are those of the windows
	for _, w := range s {
		if age < w.MaxAge {
			return w.Score
		}
	}
	return s[len(s)-1].Score
}

type window time.Duration // the age from which items score 0

// Window returns the curve that is 1 for items younger than maxAge and 0 for
// all others. It fails with a [cupel.InvalidConfigError] unless maxAge is
// positive.
func Window(maxAge time.Duration) (Curve, error) {
	if maxAge <= 0 {
		return nil, invalid("Window", "maxAge", maxAge.String(), "maxAge must be greater than zero")
	}
	return window(maxAge), nil
}

func (w window) at(t, now time.Time) float64 {
	if now.Sub(t) < time.Duration(w) {
		return 1
	}
	return 0
}

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
	at(age age) float64
}

// age is the time since an item's timestamp, never negative. It may be longer
// than the 292 years of a [time.Duration].
type age struct {
	seconds uint64
	nanos   uint32 // below 10^9
}

// since returns the time from t to now, and zero where t is the later one.
func since(t, now time.Time) age {
	fromSeconds, fromNanos := instant(t)
	seconds, nanos := instant(now)
	switch {
	case seconds < fromSeconds || seconds == fromSeconds && nanos < fromNanos:
		return age{}
	case nanos < fromNanos:
		return age{seconds - fromSeconds - 1, nanos + 1_000_000_000 - fromNanos}
	default:
		return age{seconds - fromSeconds, nanos - fromNanos}
	}
}

// inSeconds is DURATION-TO-SECONDS, in the form of [time.Duration.Seconds].
func (a age) inSeconds() float64 {
	return float64(a.seconds) + float64(a.nanos)/1e9
}

// less reports whether a is shorter than d, which must not be negative.
func (a age) less(d time.Duration) bool {
	seconds, nanos := uint64(d/time.Second), uint32(d%time.Second)
	return a.seconds < seconds || a.seconds == seconds && a.nanos < nanos
}

// curveDescriptors describe the curves, by name.
var curveDescriptors = []strategy.Descriptor{
	{
		Name: "exponential", Component: "Exponential", Doc: "Halves the score with each half-life.",
		Fields: []strategy.Field{{Name: "halfLife", Type: strategy.Duration, Required: true, Doc: "The age that scores 0.5."}},
		Build: func(a strategy.Args) (any, error) {
			return strategy.Built(Exponential(strategy.Get[time.Duration](a, "halfLife")))
		},
		Settings: strategy.Only(func(e exponential) map[string]any { return map[string]any{"halfLife": e.given} }),
	},
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
			windows := make([]map[string]any, len(s.windows))
			for i, w := range s.windows {
				windows[i] = map[string]any{"maxAge": w.MaxAge, "score": w.Score}
			}
			return map[string]any{"windows": windows}
		}),
	},
	{
		Name: "window", Component: "Window", Doc: "Scores 1 below an age, and 0 from it on.",
		Fields: []strategy.Field{{Name: "maxAge", Type: strategy.Duration, Required: true, Doc: "Items of this age or older score 0."}},
		Build: func(a strategy.Args) (any, error) {
			return strategy.Built(Window(strategy.Get[time.Duration](a, "maxAge")))
		},
		Settings: strategy.Only(func(w window) map[string]any { return map[string]any{"maxAge": w.maxAge} }),
	},
}

type exponential struct {
	halfLife float64 // in seconds
	given    time.Duration
}

// Exponential returns the curve 2^(-age/halfLife): 1 at age 0, 0.5 at the age
// of halfLife, and near 0 for great ages. It fails with a
// [cupel.InvalidConfigError] unless halfLife is positive.
func Exponential(halfLife time.Duration) (Curve, error) {
	if halfLife <= 0 {
		return nil, invalid("Exponential", "halfLife", halfLife.String(), "halfLife must be greater than zero")
	}
	return exponential{halfLife.Seconds(), halfLife}, nil
}

func (e exponential) at(a age) float64 {
	return math.Exp2(-a.inSeconds() / e.halfLife)
}

// StepWindow is one window of a [Step] curve: items younger than MaxAge, and
// too old for the windows before it, score Score.
type StepWindow struct {
	MaxAge time.Duration
	Score  float64
}

type step struct{ windows []StepWindow }

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
	return step{slices.Clone(windows)}, nil
}

func (s step) at(a age) float64 {
	for _, w := range s.windows {
		if a.less(w.MaxAge) {
			return w.Score
		}
	}
	return s.windows[len(s.windows)-1].Score
}

type window struct{ maxAge time.Duration }

// Window returns the curve that is 1 for items younger than maxAge and 0 for
// all others. It fails with a [cupel.InvalidConfigError] unless maxAge is
// positive.
func Window(maxAge time.Duration) (Curve, error) {
	if maxAge <= 0 {
		return nil, invalid("Window", "maxAge", maxAge.String(), "maxAge must be greater than zero")
	}
	return window{maxAge}, nil
}

func (w window) at(a age) float64 {
	if a.less(w.maxAge) {
		return 1
	}
	return 0
}

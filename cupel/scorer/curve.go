package scorer

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Curve says what an item of a given age scores, in [0,1]. The curves are
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

type exponential struct{ halfLife float64 } // in seconds

// Exponential returns the curve 2^(-age/halfLife): 1 at age 0, 0.5 at the age
// of halfLife, and near 0 for great ages. It fails with a
// [cupel.InvalidConfigError] unless halfLife is positive.
func Exponential(halfLife time.Duration) (Curve, error) {
	if halfLife <= 0 {
		return nil, invalid("Exponential", "halfLife", halfLife.String(), "halfLife must be greater than zero")
	}
	return exponential{halfLife.Seconds()}, nil
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
// score is in [0,1] (R15).
func Step(windows ...StepWindow) (Curve, error) {
	if len(windows) == 0 {
		return nil, invalid("Step", "windows", "", "windows must contain at least one entry")
	}
	for i, w := range windows {
		maxAge := fmt.Sprintf("windows[%d].maxAge", i)
		switch {
		case w.MaxAge <= 0:
			return nil, invalid("Step", maxAge, w.MaxAge.String(), "maxAge must be greater than zero")
		case i > 0 && w.MaxAge <= windows[i-1].MaxAge:
			return nil, invalid("Step", maxAge, w.MaxAge.String(), "maxAge must be greater than that of the window before; give the youngest window first")
		case !unit(w.Score):
			return nil, invalid("Step", fmt.Sprintf("windows[%d].score", i), number(w.Score), "score must be in [0.0, 1.0]")
		}
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

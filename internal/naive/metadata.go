package naive

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// MetadataTrust is the MetadataTrustScorer chapter.
type MetadataTrust struct{ DefaultScore float64 }

func (s MetadataTrust) check() error {
	if !(s.DefaultScore >= 0 && s.DefaultScore <= 1) {
		return invalid("defaultScore must be in [0.0, 1.0]")
	}
	return nil
}

func (s MetadataTrust) score(it *item, _ []*item) float64 {
	raw, _ := it.ref.MetadataValue(cupel.MetadataTrust)
	value, ok := parseTrust(raw)
	if !ok || !finite(value) {
		return s.DefaultScore
	}
	return clamp(value)
}

// parseTrust reads only the values that R11 names.
func parseTrust(raw any) (float64, bool) {
	switch text := raw.(type) {
	case string:
		return parseDecimal(text)
	case json.Number:
		return parseDecimal(string(text))
	}
	switch v := reflect.ValueOf(raw); {
	case v.CanFloat():
		return v.Float(), true
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	}
	return 0, false
}

func parseDecimal(text string) (float64, bool) {
	if strings.ContainsAny(text, "xX_") {
		return 0, false
	}
	value, err := strconv.ParseFloat(text, 64)
	return value, err == nil
}

// MetadataKey is the MetadataKeyScorer chapter.
type MetadataKey struct {
	Key, Value string
	Boost      float64
}

func (s MetadataKey) check() error {
	if s.Boost <= 0 || !finite(s.Boost) {
		return invalid("boost must be greater than 0.0 and finite")
	}
	return nil
}

func (s MetadataKey) score(it *item, _ []*item) float64 {
	raw, _ := it.ref.MetadataValue(s.Key)
	if text, ok := canonicalText(raw); ok && text == s.Value {
		return s.Boost
	}
	return 1.0
}

// canonicalText is the text through which R12 compares a value.
func canonicalText(raw any) (string, bool) {
	switch v := raw.(type) {
	case string:
		return v, true
	case json.Number:
		return string(v), true
	case bool:
		return strconv.FormatBool(v), true
	}
	switch v := reflect.ValueOf(raw); {
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits()), true
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), true
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), true
	}
	return "", false
}

// Decay is the DecayScorer chapter. Now is the time of the clock during the
// pass (R10); nil means no clock.
type Decay struct {
	Now                *time.Time
	Curve              Curve
	NullTimestampScore float64
}

// Curve is a function from an item's age to its score.
type Curve interface {
	apply(age age) float64
	check() error
}

// age is a non-negative duration that may exceed the 292 years of a
// [time.Duration]: seconds, and nanoseconds below a second.
type age struct{ seconds, nanos int64 }

func durationAge(d time.Duration) age {
	return age{int64(d / time.Second), int64(d % time.Second)}
}

func (a age) less(b age) bool {
	return a.seconds < b.seconds || a.seconds == b.seconds && a.nanos < b.nanos
}

func (a age) toSeconds() float64 { return float64(a.seconds) + float64(a.nanos)/1e9 }

func (s Decay) check() error {
	if s.Now == nil {
		return invalid("a time provider is required")
	}
	if s.Curve == nil {
		return invalid("curve is required")
	}
	if !(s.NullTimestampScore >= 0 && s.NullTimestampScore <= 1) {
		return invalid("nullTimestampScore must be in [0.0, 1.0]")
	}
	return s.Curve.check()
}

func (s Decay) score(it *item, _ []*item) float64 {
	if !it.hasTimestamp {
		return s.NullTimestampScore
	}
	a := age{s.Now.Unix() - it.timestamp.Unix(), int64(s.Now.Nanosecond() - it.timestamp.Nanosecond())}
	if a.nanos < 0 {
		a.seconds--
		a.nanos += 1e9
	}
	if a.seconds < 0 {
		a = age{}
	}
	return s.Curve.apply(a)
}

// Exponential is the chapter's curve of that name.
type Exponential struct{ HalfLife time.Duration }

func (c Exponential) check() error {
	if c.HalfLife <= 0 {
		return invalid("halfLife must be greater than zero")
	}
	return nil
}

func (c Exponential) apply(a age) float64 {
	ratio := a.toSeconds() / durationAge(c.HalfLife).toSeconds()
	return math.Exp2(-ratio)
}

// StepWindow is one entry of a [Step] curve.
type StepWindow struct {
	MaxAge time.Duration
	Score  float64
}

// Step is the chapter's curve of that name.
type Step struct{ Windows []StepWindow }

func (c Step) check() error {
	if len(c.Windows) == 0 {
		return invalid("windows must contain at least one entry")
	}
	for i, w := range c.Windows {
		switch {
		case w.MaxAge <= 0:
			return invalid("maxAge must be greater than zero")
		case i > 0 && w.MaxAge <= c.Windows[i-1].MaxAge:
			return invalid("windows must be strictly increasing")
		case !(w.Score >= 0 && w.Score <= 1):
			return invalid("score must be in [0.0, 1.0]")
		}
	}
	return nil
}

func (c Step) apply(a age) float64 {
	for _, w := range c.Windows {
		if a.less(durationAge(w.MaxAge)) {
			return w.Score
		}
	}
	return c.Windows[len(c.Windows)-1].Score
}

// Window is the chapter's curve of that name.
type Window struct{ MaxAge time.Duration }

func (c Window) check() error {
	if c.MaxAge <= 0 {
		return invalid("maxAge must be greater than zero")
	}
	return nil
}

func (c Window) apply(a age) float64 {
	if a.less(durationAge(c.MaxAge)) {
		return 1.0
	}
	return 0.0
}

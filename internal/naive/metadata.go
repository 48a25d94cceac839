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

func (s MetadataTrust) valid() bool { return isShare(s.DefaultScore) }

// isShare reports whether a number is in [0.0, 1.0]. NaN is not.
func isShare(x float64) bool { return x >= 0 && x <= 1 }

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

func (s MetadataKey) valid() bool { return s.Boost > 0 && finite(s.Boost) }

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
	valid() bool
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

func (s Decay) valid() bool { return s.Now != nil && isShare(s.NullTimestampScore) && s.Curve.valid() }

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

func (c Exponential) valid() bool { return c.HalfLife > 0 }

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

func (c Step) valid() bool {
	var before time.Duration // each age must be greater than this
	for _, w := range c.Windows {
		if w.MaxAge <= before || !isShare(w.Score) {
			return false
		}
		before = w.MaxAge
	}
	return len(c.Windows) > 0
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

func (c Window) valid() bool { return c.MaxAge > 0 }

func (c Window) apply(a age) float64 {
	if a.less(durationAge(c.MaxAge)) {
		return 1.0
	}
	return 0.0
}

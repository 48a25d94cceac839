package naive

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// MetadataTrust is the MetadataTrustScorer chapter.
type MetadataTrust struct{ DefaultScore float64 }

func (s MetadataTrust) construct(f Fault) (scorer, error) {
	if !(s.DefaultScore >= 0 && s.DefaultScore <= 1) && f != FaultTrustDefaultUnchecked {
		return nil, invalid("defaultScore must be in [0.0, 1.0]")
	}
	return s, nil
}

func (s MetadataTrust) score(it *item, _ []*item, f Fault) float64 {
	raw, ok := it.ref.MetadataValue(cupel.MetadataTrust)
	if !ok {
		if f == FaultTrustAbsentIsZero {
			return 0.0
		}
		return s.DefaultScore
	}
	value, ok := parseTrust(raw, f)
	if !ok {
		if f == FaultTrustUnparseableIsZero {
			return 0.0
		}
		return s.DefaultScore
	}
	if !finite(value) {
		if f == FaultTrustInfinityClamped && !math.IsNaN(value) {
			return clamp(value, 0.0, 1.0)
		}
		return s.DefaultScore
	}
	switch f {
	case FaultTrustNotClampedAbove:
		return max(value, 0.0)
	case FaultTrustNotClampedBelow:
		return min(value, 1.0)
	}
	return clamp(value, 0.0, 1.0)
}

// parseTrust reads what R11 names, and nothing else.
func parseTrust(raw any, f Fault) (float64, bool) {
	if text, ok := raw.(string); ok && f != FaultTrustStringsIgnored {
		return parseDecimal(text, f)
	}
	if text, ok := raw.(json.Number); ok {
		return parseDecimal(string(text), f)
	}
	if f == FaultTrustNumbersIgnored {
		return 0, false
	}
	switch n := raw.(type) {
	case bool:
		if f == FaultTrustReadsBooleans && n {
			return 1, true
		}
	case float64:
		return n, true
	case float32:
		return float64(n), true
	case int:
		return float64(n), true
	case int8:
		return float64(n), true
	case int16:
		return float64(n), true
	case int32:
		return float64(n), true
	case int64:
		return float64(n), true
	case uint:
		return float64(n), true
	case uint8:
		return float64(n), true
	case uint16:
		return float64(n), true
	case uint32:
		return float64(n), true
	case uint64:
		return float64(n), true
	}
	return 0, false
}

func parseDecimal(text string, f Fault) (float64, bool) {
	if f == FaultTrustTrimsSpace {
		text = strings.TrimSpace(text)
	}
	if strings.ContainsAny(text, "xX_") && f != FaultTrustReadsHex {
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

func (s MetadataKey) construct(f Fault) (scorer, error) {
	if (s.Boost == 0 && f != FaultMetadataKeyZeroBoostAllowed) ||
		(s.Boost < 0 && f != FaultMetadataKeyNegativeBoostAllowed) ||
		(!finite(s.Boost) && f != FaultMetadataKeyInfiniteBoostAllowed) {
		return nil, invalid("boost must be greater than 0.0 and finite")
	}
	return s, nil
}

func (s MetadataKey) score(it *item, _ []*item, f Fault) float64 {
	neutral := 1.0
	if f == FaultMetadataKeyNeutralIsZero {
		neutral = 0.0
	}
	raw, ok := it.ref.MetadataValue(s.Key)
	if !ok {
		return neutral
	}
	text, ok := canonicalText(raw, f)
	if f == FaultMetadataKeyFoldsCase && equalFold(text, s.Value) {
		text = s.Value
	}
	if !ok || text != s.Value && f != FaultMetadataKeyPresenceSuffices {
		return neutral
	}
	if f == FaultMetadataKeyClamped {
		return min(s.Boost, 1.0)
	}
	return s.Boost
}

// canonicalText is the text through which R12 compares a value.
func canonicalText(raw any, f Fault) (string, bool) {
	if text, ok := raw.(string); ok {
		return text, true
	}
	if f == FaultMetadataKeyStringsOnly {
		return "", false
	}
	switch v := raw.(type) {
	case json.Number:
		return string(v), true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32), true
	case int:
		return strconv.FormatInt(int64(v), 10), true
	case int8:
		return strconv.FormatInt(int64(v), 10), true
	case int16:
		return strconv.FormatInt(int64(v), 10), true
	case int32:
		return strconv.FormatInt(int64(v), 10), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case uint:
		return strconv.FormatUint(uint64(v), 10), true
	case uint8:
		return strconv.FormatUint(uint64(v), 10), true
	case uint16:
		return strconv.FormatUint(uint64(v), 10), true
	case uint32:
		return strconv.FormatUint(uint64(v), 10), true
	case uint64:
		return strconv.FormatUint(v, 10), true
	}
	return "", false
}

// Decay is the DecayScorer chapter. Now is what the clock says during the pass
// (R10); nil stands for no clock.
type Decay struct {
	Now                *time.Time
	Curve              Curve
	NullTimestampScore float64
}

// Curve is a function from an item's age to its score.
type Curve interface {
	apply(age age, f Fault) float64
	check(f Fault) error
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

func (s Decay) construct(f Fault) (scorer, error) {
	if s.Now == nil {
		if f != FaultDecayClockOptional {
			return nil, invalid("a time provider is required")
		}
		s.Now = new(time.Time)
	}
	if s.Curve == nil {
		return nil, invalid("curve is required")
	}
	if !(s.NullTimestampScore >= 0 && s.NullTimestampScore <= 1) && f != FaultDecayNullScoreUnchecked {
		return nil, invalid("nullTimestampScore must be in [0.0, 1.0]")
	}
	return s, s.Curve.check(f)
}

func (s Decay) score(it *item, _ []*item, f Fault) float64 {
	if !it.hasTimestamp {
		switch f {
		case FaultDecayAbsentIsZero:
			return 0.0
		case FaultDecayAbsentIsHalf:
			return 0.5
		}
		return s.NullTimestampScore
	}
	if f == FaultDecayAgeSaturates {
		return s.Curve.apply(durationAge(max(0, s.Now.Sub(it.timestamp))), f)
	}
	a := age{s.Now.Unix() - it.timestamp.Unix(), int64(s.Now.Nanosecond() - it.timestamp.Nanosecond())}
	if a.nanos < 0 {
		a.seconds--
		a.nanos += 1e9
	}
	if a.seconds < 0 {
		switch f {
		case FaultDecayFutureNotClamped:
		case FaultDecayFutureIsOld:
			a = age{-a.seconds, 0}
		default:
			a = age{}
		}
	}
	return s.Curve.apply(a, f)
}

// Exponential is the chapter's curve of that name.
type Exponential struct{ HalfLife time.Duration }

func (c Exponential) check(f Fault) error {
	if c.HalfLife <= 0 && f != FaultDecayHalfLifeUnchecked {
		return invalid("halfLife must be greater than zero")
	}
	return nil
}

func (c Exponential) apply(a age, f Fault) float64 {
	ratio := a.toSeconds() / durationAge(c.HalfLife).toSeconds()
	switch f {
	case FaultDecayBaseE:
		return math.Exp(-ratio)
	case FaultDecayLinear:
		return max(0.0, 1.0-ratio/2)
	}
	return math.Pow(2.0, -ratio)
}

// StepWindow is one entry of a [Step] curve.
type StepWindow struct {
	MaxAge time.Duration
	Score  float64
}

// Step is the chapter's curve of that name.
type Step struct{ Windows []StepWindow }

func (c Step) check(f Fault) error {
	if len(c.Windows) == 0 && f != FaultDecayStepEmptyAllowed {
		return invalid("windows must contain at least one entry")
	}
	for i, w := range c.Windows {
		switch {
		case w.MaxAge <= 0 && f != FaultDecayStepZeroAllowed:
			return invalid("maxAge must be greater than zero")
		case i > 0 && w.MaxAge <= c.Windows[i-1].MaxAge && f != FaultDecayStepOrderUnchecked:
			return invalid("windows must be strictly increasing")
		case !(w.Score >= 0 && w.Score <= 1) && f != FaultDecayStepScoreUnchecked:
			return invalid("score must be in [0.0, 1.0]")
		}
	}
	return nil
}

func (c Step) apply(a age, f Fault) float64 {
	for _, w := range c.Windows {
		maxAge := durationAge(w.MaxAge)
		if a.less(maxAge) || f == FaultDecayStepInclusive && !maxAge.less(a) {
			return w.Score
		}
	}
	if f == FaultDecayStepBeyondIsZero {
		return 0.0
	}
	if len(c.Windows) == 0 {
		return 0.0 // reached with a fault only
	}
	return c.Windows[len(c.Windows)-1].Score
}

// Window is the chapter's curve of that name.
type Window struct{ MaxAge time.Duration }

func (c Window) check(f Fault) error {
	if c.MaxAge <= 0 && f != FaultDecayWindowUnchecked {
		return invalid("maxAge must be greater than zero")
	}
	return nil
}

func (c Window) apply(a age, f Fault) float64 {
	maxAge := durationAge(c.MaxAge)
	if a.less(maxAge) || f == FaultDecayWindowInclusive && !maxAge.less(a) {
		return 1.0
	}
	return 0.0
}

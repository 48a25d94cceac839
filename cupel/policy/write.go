package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// MarshalJSON returns the policy as the document that [Decode] reads and
// [Schema] describes. Fields come in a fixed order, weights in the order of
// their names. Optional fields are written when they are set: what is absent
// stays apart from what is 0 or empty. Settings of custom strategies are
// written as they are, without white space.
//
// It writes policies that are not valid too, so that they can be kept. It fails
// with a [cupel.EncodeError] on what JSON cannot express: a strategy that is
// missing, a number that is not finite, text that is not UTF-8; and on more than
// [MaxBytes].
func (p Policy) MarshalJSON() ([]byte, error) {
	if problem := checkSize(p); problem != nil {
		return nil, &cupel.EncodeError{Path: problem.Path, Reason: "cannot be written: " + problem.Reason}
	}
	var w writer
	w.Object(func() {
		if p.Name != "" {
			w.Field("name").String(p.Name)
		}
		if p.Description != "" {
			w.Field("description").String(p.Description)
		}
		w.Field("scorers")
		w.parts(p.Scorers)
		w.Field("slicer")
		w.slicer(p.Slicer)
		w.Field("placer")
		w.placer(p.Placer)
		w.Field("deduplicate").Bool(!p.KeepDuplicates)
		w.Field("overflow")
		if p.Overflow > cupel.OverflowProceed {
			w.Fail("must be Throw, Truncate or Proceed, got "+p.Overflow.String(), nil)
		}
		w.String(p.Overflow.String())
	})
	text, err := w.Result()
	if err != nil {
		return nil, &cupel.EncodeError{Path: err.Path, Reason: err.Reason, Err: err.Err}
	}
	if len(text) > MaxBytes {
		return nil, &cupel.EncodeError{Reason: fmt.Sprintf("is longer than %d bytes", MaxBytes)}
	}
	return text, nil
}

// writer writes the parts of a policy.
type writer struct{ jsonwire.Writer }

// strategy writes an object that begins with the name of its type.
func (w *writer) strategy(name string, fields func()) {
	w.Object(func() {
		w.Field("type").String(name)
		fields()
	})
}

func (w *writer) number(f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		w.Fail("must be a finite number", nil)
		return
	}
	w.Float(f)
}

func (w *writer) parts(parts []Weighted) {
	w.Array(len(parts), func(i int) {
		w.scorer(parts[i].Scorer, func() { w.Field("weight").number(parts[i].Weight) })
	})
}

// Field begins a member, as that of [jsonwire.Writer] does.
func (w *writer) Field(name string) *writer {
	w.Writer.Field(name)
	return w
}

// none is the members that a scorer has beside its own: nothing where it has no
// weight.
func none() {}

// scorer writes a scorer with the members of its place behind its type.
func (w *writer) scorer(s Scorer, place func()) {
	strategy := func(name string, fields func()) {
		w.strategy(name, func() {
			place()
			fields()
		})
	}
	switch s := s.(type) {
	case Recency:
		strategy("recency", none)
	case Priority:
		strategy("priority", none)
	case Frequency:
		strategy("frequency", none)
	case Reflexive:
		strategy("reflexive", none)
	case Kind:
		strategy("kind", func() {
			if s.Weights != nil {
				writeWeights(w.Field("weights"), s.Weights)
			}
		})
	case Tag:
		strategy("tag", func() {
			writeWeights(w.Field("weights"), s.Weights)
			if s.CaseInsensitive {
				w.Field("caseInsensitive").Bool(true)
			}
		})
	case Composite:
		strategy("composite", func() { w.Field("scorers").parts(s.Scorers) })
	case Scaled:
		strategy("scaled", func() { w.Field("inner").scorer(s.Inner, none) })
	case MetadataTrust:
		strategy("metadataTrust", func() { w.Field("defaultScore").number(s.DefaultScore) })
	case MetadataKey:
		strategy("metadataKey", func() {
			w.Field("key").String(s.Key)
			w.Field("value").String(s.Value)
			w.Field("boost").number(s.Boost)
		})
	case Decay:
		strategy("decay", func() {
			w.Field("curve").curve(s.Curve)
			if s.NullTimestampScore != nil {
				w.Field("nullTimestampScore").number(*s.NullTimestampScore)
			}
		})
	case CustomScorer:
		strategy(s.Type, func() { writeCustom(w, s.Settings, s.Children, func(s Scorer) { w.scorer(s, none) }) })
	default:
		w.Fail("must be a scorer of this package", nil)
	}
}

func writeWeights[K ~string](w *writer, weights map[K]float64) {
	names := slices.Sorted(maps.Keys(weights))
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = string(name)
	}
	w.Map(list, func(i int) { w.number(weights[names[i]]) })
}

func writeCustom[D any](w *writer, settings json.RawMessage, children []D, child func(D)) {
	if settings != nil {
		w.Field("settings").Any(settings)
	}
	if len(children) > 0 {
		w.Field("children").Array(len(children), func(i int) { child(children[i]) })
	}
}

func (w *writer) curve(c Curve) {
	switch c := c.(type) {
	case Exponential:
		w.strategy("exponential", func() { w.Field("halfLife").String(durationText(c.HalfLife)) })
	case Window:
		w.strategy("window", func() { w.Field("maxAge").String(durationText(c.MaxAge)) })
	case Step:
		w.strategy("step", func() {
			w.Field("windows").Array(len(c.Windows), func(i int) {
				w.Object(func() {
					w.Field("maxAge").String(durationText(c.Windows[i].MaxAge))
					w.Field("score").number(c.Windows[i].Score)
				})
			})
		})
	default:
		w.Fail("must be a curve of this package", nil)
	}
}

// durationText is the duration as [time.Duration.String] writes it, without
// parts at the end that are zero: "24h" and not "24h0m0s".
func durationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func (w *writer) slicer(s Slicer) {
	switch s := s.(type) {
	case Greedy:
		w.strategy("greedy", none)
	case ScoreGreedy:
		w.strategy("scoreGreedy", none)
	case Knapsack:
		w.strategy("knapsack", func() { w.knapsack(s) })
	case Quota:
		w.strategy("quota", func() {
			w.Field("inner").slicer(s.Inner)
			w.Field("entries").Array(len(s.Entries), func(i int) { w.quotaEntry(s.Entries[i]) })
		})
	case CountQuota:
		w.strategy("countQuota", func() {
			w.Field("inner").slicer(s.Inner)
			w.counts(s.Entries, s.Scarcity)
		})
	case CountConstrainedKnapsack:
		w.strategy("countConstrainedKnapsack", func() {
			w.knapsack(s.Knapsack)
			w.counts(s.Entries, s.Scarcity)
		})
	case CustomSlicer:
		w.strategy(s.Type, func() { writeCustom(w, s.Settings, s.Children, w.slicer) })
	default:
		w.Fail("must be a slicer of this package", nil)
	}
}

func (w *writer) knapsack(k Knapsack) {
	if k.BucketSize != nil {
		w.Field("bucketSize").Int(*k.BucketSize)
	}
	if k.AutoBucket {
		w.Field("autoBucket").Bool(true)
	}
	if k.TopUp {
		w.Field("topUp").Bool(true)
	}
	if k.MemoryLimit != nil {
		w.Field("memoryLimit").Int(*k.MemoryLimit)
	}
}

func (w *writer) quotaEntry(e QuotaEntry) {
	w.Object(func() {
		w.Field("kind").String(string(e.Kind))
		w.Field("require").number(e.Require)
		if e.Cap != nil {
			w.Field("cap").number(*e.Cap)
		}
	})
}

func (w *writer) counts(entries []CountEntry, scarcity slicer.ScarcityBehavior) {
	w.Field("entries").Array(len(entries), func(i int) {
		e := entries[i]
		w.Object(func() {
			w.Field("kind").String(string(e.Kind))
			w.Field("requireCount").Int(e.RequireCount)
			if e.CapCount != nil {
				w.Field("capCount").Int(*e.CapCount)
			}
		})
	})
	w.Field("scarcity")
	if scarcity > slicer.ScarcityThrow {
		w.Fail("must be Degrade or Throw, got "+scarcity.String(), nil)
	}
	w.String(scarcity.String())
}

func (w *writer) placer(p Placer) {
	switch p := p.(type) {
	case Chronological:
		w.strategy("chronological", none)
	case UShaped:
		w.strategy("uShaped", none)
	case CustomPlacer:
		w.strategy(p.Type, func() { writeCustom(w, p.Settings, p.Children, w.placer) })
	default:
		w.Fail("must be a placer of this package", nil)
	}
}

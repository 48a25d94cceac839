package conformance

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// vectorName returns the name that vectors have for a name of policies:
// "metadata_trust" for "metadataTrust".
func vectorName(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// placerName is vectorName for placers: "u-shaped".
func placerName(name string) string { return strings.ReplaceAll(vectorName(name), "_", "-") }

// described returns the descriptor of a type that vectors call name.
func described(list []strategy.Descriptor, name string, nameOf func(string) string) (strategy.Descriptor, bool) {
	i := slices.IndexFunc(list, func(d strategy.Descriptor) bool { return nameOf(d.Name) == name })
	if i < 0 {
		return strategy.Descriptor{}, false
	}
	return list[i], true
}

// typesOf returns the descriptors of a role.
func (e Engine) typesOf(role string) []strategy.Descriptor {
	if list, ok := e.types[role]; ok {
		return list
	}
	switch role {
	case "scorer":
		return scorer.Descriptors()
	case "slicer":
		return slicer.Descriptors()
	}
	return placer.Descriptors()
}

// build builds a strategy with what a vector gives; the rest are the defaults of
// its descriptor.
func build[S any](list []strategy.Descriptor, what, name string, given map[string]any, clock func() time.Time) (s S, err error) {
	d, ok := described(list, name, vectorName)
	if !ok {
		return s, fmt.Errorf("%w: unknown %s %q", errVector, what, name)
	}
	for _, f := range d.Fields {
		if elements, ok := given[f.Name].([]map[string]any); ok {
			args := make([]strategy.Args, len(elements))
			for i, element := range elements {
				args[i] = strategy.Args{Given: element, Fields: f.Fields}
			}
			given[f.Name] = args
		}
	}
	built, err := d.Build(strategy.Args{Given: given, Fields: d.Fields, Clock: clock})
	if err != nil {
		return s, err
	}
	return built.(S), nil
}

func (e Engine) scorer(spec ScorerSpec) (strategy.Scorer, error) {
	given := make(map[string]any)
	var clock func() time.Time
	var err error
	switch spec.Type {
	case "kind":
		if spec.Weights != nil {
			given["weights"], err = weights("KindScorer", "kind", spec.Weights, func(w KindWeight) (string, float64) { return string(w.Kind), w.Weight })
		}
	case "tag":
		given["weights"], err = weights("TagScorer", "tag", spec.TagWeights, func(w TagWeight) (string, float64) { return w.Tag, w.Weight })
	case "composite":
		parts := make([]strategy.Part, len(spec.Children))
		for i, c := range spec.Children {
			if parts[i].Strategy, err = e.scorer(c.Scorer); err != nil {
				return nil, err
			}
			parts[i].Weight = c.Weight
		}
		given["scorers"] = parts
	case "scaled":
		if spec.Inner == nil {
			return nil, &cupel.InvalidConfigError{Component: "ScaledScorer", Field: "inner", Reason: "an inner scorer is required"}
		}
		given["inner"], err = e.scorer(*spec.Inner)
	case "metadata_trust":
		given["defaultScore"] = 0.5 // the value that the chapter's examples configure
		if spec.DefaultScore != nil {
			given["defaultScore"] = *spec.DefaultScore
		}
	case "metadata_key":
		given["key"], given["value"], given["boost"] = spec.Key, spec.Value, spec.Boost
	case "decay":
		if spec.ReferenceTime != nil {
			at := *spec.ReferenceTime
			clock = func() time.Time { return at }
		}
		if spec.NullTimestampScore != nil {
			given["nullTimestampScore"] = *spec.NullTimestampScore
		}
		if spec.Curve != nil {
			given["curve"], err = e.curve(*spec.Curve)
		}
	default:
		given = spec.Settings
	}
	if err != nil {
		return nil, err
	}
	return build[strategy.Scorer](e.typesOf("scorer"), "scorer", spec.Type, given, clock)
}

// weights returns weights by name. A map would keep one of two and say nothing.
func weights[W any](component, what string, list []W, of func(W) (string, float64)) (map[string]float64, error) {
	m := make(map[string]float64, len(list))
	for i, w := range list {
		name, weight := of(w)
		if _, twice := m[name]; twice {
			return nil, &cupel.InvalidConfigError{Component: component, Field: fmt.Sprintf("weights[%d].%s", i, what), Value: name, Reason: what + " is given twice"}
		}
		m[name] = weight
	}
	return m, nil
}

func (e Engine) curve(spec CurveSpec) (curve scorer.Curve, err error) {
	given := make(map[string]any)
	switch spec.Type {
	case "exponential":
		given["halfLife"], err = seconds("halfLife", spec.HalfLifeSecs)
	case "window":
		given["maxAge"], err = seconds("maxAge", spec.MaxAgeSecs)
	case "step":
		windows := make([]map[string]any, len(spec.Windows))
		for i, w := range spec.Windows {
			maxAge, err := seconds(fmt.Sprintf("windows[%d].maxAge", i), w.MaxAgeSecs)
			if err != nil {
				return nil, err
			}
			windows[i] = map[string]any{"maxAge": maxAge, "score": w.Score}
		}
		given["windows"] = windows
	}
	if err != nil {
		return nil, err
	}
	decay, _ := strategy.Find(e.typesOf("scorer"), "decay")
	i := slices.IndexFunc(decay.Fields, func(f strategy.Field) bool { return f.Type == strategy.Variant })
	return build[scorer.Curve](decay.Fields[i].Variants, "curve", spec.Type, given, nil)
}

// seconds rounds to the nearest nanosecond; what no duration holds is a
// construction error (R10).
func seconds(field string, secs float64) (time.Duration, error) {
	ns := math.Round(secs * float64(time.Second))
	if !(math.Abs(ns) < math.MaxInt64) { // written so that NaN fails
		return 0, &cupel.InvalidConfigError{Component: "DecayScorer", Field: field, Value: fmt.Sprint(secs), Reason: "must be a number of seconds up to 292 years"}
	}
	return time.Duration(ns), nil
}

func (e Engine) slicer(spec SlicerSpec) (strategy.Slicer, error) {
	given := make(map[string]any)
	var err error
	switch spec.Type {
	case "quota":
		entries := make([]map[string]any, len(spec.Quotas))
		for i, q := range spec.Quotas {
			entries[i] = map[string]any{"kind": string(q.Kind), "require": q.Require, "cap": q.Cap}
		}
		given["entries"] = entries
		given["inner"], err = e.inner(spec)
	case "count_quota":
		counts(given, spec)
		given["inner"], err = e.inner(spec)
	case "count_constrained_knapsack":
		counts(given, spec)
		bucketSize(given, spec)
	case "knapsack":
		bucketSize(given, spec)
	default:
		given = spec.Settings
	}
	if err != nil {
		return nil, err
	}
	return build[strategy.Slicer](e.typesOf("slicer"), "slicer", spec.Type, given, nil)
}

func bucketSize(given map[string]any, spec SlicerSpec) {
	if spec.BucketSize != nil {
		given["bucketSize"] = *spec.BucketSize
	}
}

func counts(given map[string]any, spec SlicerSpec) {
	entries := make([]map[string]any, len(spec.Entries))
	for i, e := range spec.Entries {
		entries[i] = map[string]any{"kind": string(e.Kind), "requireCount": e.RequireCount, "capCount": e.CapCount}
	}
	given["entries"] = entries
	if spec.Throw {
		given["scarcity"] = slicer.ScarcityThrow.String()
	}
}

func (e Engine) inner(spec SlicerSpec) (strategy.Slicer, error) {
	if spec.Inner == nil {
		return nil, &cupel.InvalidConfigError{Component: spec.Type, Field: "inner", Reason: "an inner slicer is required"}
	}
	return e.slicer(*spec.Inner)
}

// placer returns nil for no placer, which New refuses.
func (e Engine) placer(name string) strategy.Placer {
	d, ok := described(e.typesOf("placer"), name, placerName)
	if !ok {
		return nil
	}
	built, _ := d.Build(strategy.Args{Fields: d.Fields})
	p, _ := built.(strategy.Placer)
	return p
}

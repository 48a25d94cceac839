package policy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/jsonwire"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// child reads a required field that holds a strategy, depth levels below the
// policy.
func child[S any](o *object, name string, depth int, read func(raw []byte, at string, depth int) S) (s S) {
	raw, ok := o.raw(name)
	if !ok {
		o.fail(name, "is required")
		return s
	}
	return read(raw, field(o.at, name), depth)
}

// typed opens an object that says its type, and returns the name of that. The
// object is nil when there is none, and the name is empty when it is not one
// of known.
func (r *reader) typed(raw []byte, at string, depth int, what string, known func() []string) (o *object, name string) {
	if reason := r.strategies.exceeds(depth); reason != "" {
		if reason == tooMany {
			at = "" // to be said once
		}
		r.problems.add(at, reason, nil)
		return nil, ""
	}
	return r.named(raw, at, what, known())
}

// named does for a curve what typed does for a strategy: it counts for nothing.
func (r *reader) named(raw []byte, at, what string, known []string) (o *object, name string) {
	o, ok := r.object(raw, at)
	if !ok {
		return nil, ""
	}
	name, ok = optional(o, "type", jsonwire.String)
	if !ok {
		o.fail("type", "is required; known are "+strings.Join(known, ", "))
		return o, ""
	}
	if !slices.Contains(known, name) {
		o.fail("type", unknownType(what, name, known))
		return o, ""
	}
	return o, name
}

// parts reads the scorers of a policy or of a composite, with their weights.
func (r *reader) parts(o *object, depth int) []Weighted {
	return elements(o, "scorers", func(raw []byte, at string) Weighted {
		var part Weighted
		part.Scorer = r.weighted(raw, at, depth, func(o *object) { part.Weight = required(o, "weight", jsonwire.Number) })
		return part
	})
}

// scorer reads a scorer that has no weight.
func (r *reader) scorer(raw []byte, at string, depth int) Scorer {
	return r.weighted(raw, at, depth, func(*object) {})
}

// weighted reads a scorer; weight reads what its place adds to it.
func (r *reader) weighted(raw []byte, at string, depth int, weight func(*object)) Scorer {
	o, name := r.typed(raw, at, depth, "scorer", r.registry.scorerTypes().known)
	if o == nil {
		r.problems.hide(at)
		return unreadable{}
	}
	weight(o)
	if name == "" {
		return unreadable{} // nobody knows its fields
	}
	defer o.close()
	switch name {
	case "recency":
		return Recency{}
	case "priority":
		return Priority{}
	case "frequency":
		return Frequency{}
	case "reflexive":
		return Reflexive{}
	case "kind":
		return Kind{weights[cupel.ContextKind](o)}
	case "tag":
		s := Tag{Weights: weights[string](o)}
		if s.Weights == nil {
			o.fail("weights", "is required")
		}
		s.CaseInsensitive, _ = optional(o, "caseInsensitive", jsonwire.Bool)
		return s
	case "composite":
		return Composite{r.parts(o, depth+1)}
	case "scaled":
		return Scaled{child(o, "inner", depth+1, r.scorer)}
	case "metadataTrust":
		return MetadataTrust{required(o, "defaultScore", jsonwire.Number)}
	case "metadataKey":
		return MetadataKey{required(o, "key", jsonwire.String), required(o, "value", jsonwire.String), required(o, "boost", jsonwire.Number)}
	case "decay":
		return Decay{r.curve(o), pointer(o, "nullTimestampScore", jsonwire.Number)}
	}
	return CustomScorer{name, settings(o), children(o, depth, r.scorer)}
}

// weights reads numbers by name. Absent ones are nil.
func weights[K ~string](o *object) map[K]float64 {
	raw, ok := o.raw("weights")
	if !ok {
		return nil
	}
	at := field(o.at, "weights")
	members, ok := o.reader.members(raw, at, key)
	if !ok {
		return nil
	}
	m := make(map[K]float64, len(members))
	for _, member := range members {
		weight, err := jsonwire.Number(member.Value)
		if err != nil {
			o.reader.problems.add(key(at, member.Name), err.Error(), nil)
			continue
		}
		m[K(member.Name)] = weight
	}
	return m
}

// settings returns the settings of a custom strategy, which are looked at when
// it is built.
func settings(o *object) json.RawMessage {
	raw, ok := o.raw("settings")
	if !ok {
		return nil
	}
	return jsonwire.Compact(raw)
}

func children[S any](o *object, depth int, read func(raw []byte, at string, depth int) S) []S {
	return elements(o, "children", func(raw []byte, at string) S { return read(raw, at, depth+1) })
}

// knownCurves are the names of the curves, sorted.
var knownCurves = []string{"exponential", "step", "window"}

func (r *reader) curve(o *object) Curve {
	return child(o, "curve", 0, func(raw []byte, at string, _ int) Curve {
		o, name := r.named(raw, at, "curve", knownCurves)
		if o == nil {
			r.problems.hide(at)
			return unreadable{}
		}
		if name == "" {
			return unreadable{}
		}
		defer o.close()
		switch name {
		case "exponential":
			return Exponential{required(o, "halfLife", duration)}
		case "window":
			return Window{required(o, "maxAge", duration)}
		}
		return Step{elements(o, "windows", func(raw []byte, at string) (w scorer.StepWindow) {
			if o, ok := r.object(raw, at); ok {
				w.MaxAge, w.Score = required(o, "maxAge", duration), required(o, "score", jsonwire.Number)
				o.close()
			}
			return w
		})}
	})
}

func (r *reader) slicer(raw []byte, at string, depth int) Slicer {
	o, name := r.typed(raw, at, depth, "slicer", r.registry.slicerTypes().known)
	if o == nil {
		r.problems.hide(at)
		return unreadable{}
	}
	if name == "" {
		return unreadable{}
	}
	defer o.close()
	switch name {
	case "greedy":
		return Greedy{}
	case "scoreGreedy":
		return ScoreGreedy{}
	case "knapsack":
		return knapsack(o)
	case "quota":
		return Quota{child(o, "inner", depth+1, r.slicer), elements(o, "entries", r.quotaEntry)}
	case "countQuota":
		return CountQuota{child(o, "inner", depth+1, r.slicer), elements(o, "entries", r.countEntry), scarcity(o)}
	case "countConstrainedKnapsack":
		return CountConstrainedKnapsack{knapsack(o), elements(o, "entries", r.countEntry), scarcity(o)}
	}
	return CustomSlicer{name, settings(o), children(o, depth, r.slicer)}
}

func knapsack(o *object) Knapsack {
	k := Knapsack{BucketSize: pointer(o, "bucketSize", jsonwire.Int)}
	k.AutoBucket, _ = optional(o, "autoBucket", jsonwire.Bool)
	k.TopUp, _ = optional(o, "topUp", jsonwire.Bool)
	k.MemoryLimit = pointer(o, "memoryLimit", jsonwire.Int)
	return k
}

func scarcity(o *object) slicer.ScarcityBehavior {
	behavior, _ := optional(o, "scarcity", nameOf(slicer.ScarcityDegrade, slicer.ScarcityThrow))
	return behavior
}

func (r *reader) quotaEntry(raw []byte, at string) (e QuotaEntry) {
	o, ok := r.object(raw, at)
	if !ok {
		return e
	}
	defer o.close()
	e.Kind = required(o, "kind", kind)
	e.Require, _ = optional(o, "require", jsonwire.Number)
	e.Cap = pointer(o, "cap", jsonwire.Number)
	return e
}

func (r *reader) countEntry(raw []byte, at string) (e CountEntry) {
	o, ok := r.object(raw, at)
	if !ok {
		return e
	}
	defer o.close()
	e.Kind = required(o, "kind", kind)
	e.RequireCount, _ = optional(o, "requireCount", jsonwire.Int)
	e.CapCount = pointer(o, "capCount", jsonwire.Int)
	return e
}

func (r *reader) placer(raw []byte, at string, depth int) Placer {
	o, name := r.typed(raw, at, depth, "placer", r.registry.placerTypes().known)
	if o == nil {
		r.problems.hide(at)
		return unreadable{}
	}
	if name == "" {
		return unreadable{}
	}
	defer o.close()
	switch name {
	case "chronological":
		return Chronological{}
	case "uShaped":
		return UShaped{}
	}
	return CustomPlacer{name, settings(o), children(o, depth, r.placer)}
}

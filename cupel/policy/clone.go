package policy

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// clone returns a deep copy of a policy. The policy must be valid, so that it is
// neither too deep nor too large.
func clone(p Policy) Policy {
	p.Scorers = cloneValue(p.Scorers).([]Weighted)
	p.Slicer = cloneValue(p.Slicer).(Strategy)
	p.Placer = cloneValue(p.Placer).(Strategy)
	return p
}

// cloneValue copies a setting. It keeps nil apart from empty.
func cloneValue(v any) any {
	switch v := v.(type) {
	case Strategy:
		return Strategy{v.Type, cloneValue(v.Settings).(Settings)}
	case Settings:
		v = maps.Clone(v)
		for name, value := range v {
			v[name] = cloneValue(value)
		}
		return v
	case []Strategy:
		return cloneEach(v)
	case []Settings:
		return cloneEach(v)
	case []Weighted:
		v = slices.Clone(v)
		for i := range v {
			v[i].Scorer = cloneValue(v[i].Scorer).(Strategy)
		}
		return v
	case map[string]float64:
		return maps.Clone(v)
	case map[cupel.ContextKind]float64:
		return maps.Clone(v)
	case json.RawMessage:
		return json.RawMessage(bytes.Clone(v))
	}
	return v // immutable
}

func cloneEach[T any](list []T) []T {
	list = slices.Clone(list)
	for i := range list {
		list[i] = cloneValue(list[i]).(T)
	}
	return list
}

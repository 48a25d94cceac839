package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// role is the use of a strategy: scorer, slicer or placer.
type role struct {
	name     string // as messages call it
	example  string // the name of a type without settings
	types    []strategy.Descriptor
	validate func(any) error // nil: nothing
}

var (
	scorers = &role{"scorer", "recency", scorer.Descriptors(), func(s any) error { return cupel.ValidateScorer(s.(cupel.Scorer)) }}
	slicers = &role{"slicer", "greedy", slicer.Descriptors(), func(s any) error { return cupel.ValidateSlicer(s.(cupel.Slicer)) }}
	placers = &role{"placer", "chronological", placer.Descriptors(), func(s any) error {
		_, err := cupel.New(cupel.Config{Scorer: scorer.Recency{}, Slicer: slicer.Greedy{}, Placer: s.(cupel.Placer)})
		return err
	}}
)

// variants returns the role of the values of a [strategy.Variant].
func variants(f strategy.Field) *role {
	return &role{name: f.Name, example: f.Variants[0].Name, types: f.Variants}
}

// customFields are the settings of the strategies that factories build.
var customFields = []strategy.Field{
	{Name: "settings", Type: strategy.JSON, Doc: "The settings for the factory."},
	{Name: "children", Type: strategy.Children, Doc: "The strategies that this one wraps."},
}

// find returns the description of a built-in or registered type.
func (r *role) find(registry *Registry, name string) (strategy.Descriptor, bool) {
	if d, ok := strategy.Find(r.types, name); ok {
		return d, true
	}
	return strategy.Find(registry.custom(r.name), name)
}

// fields returns the settings of a type, or those of a custom type.
func (r *role) fields(name string) []strategy.Field {
	if d, ok := strategy.Find(r.types, name); ok {
		return d.Fields
	}
	return customFields
}

// known returns the names of all types, sorted.
func (r *role) known(registry *Registry) []string {
	var names []string
	for _, d := range slices.Concat(r.types, registry.custom(r.name)) {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	return names
}

// unknown returns the reason for an unknown type.
func (r *role) unknown(registry *Registry, name string) string {
	return fmt.Sprintf("the %s type %q %s", r.name, strategy.Shorten(name), isUnknown(r.known(registry)))
}

func (r *role) missing() string {
	return fmt.Sprintf("a %s is required here, for example policy.Strategy{Type: %q}", r.name, r.example)
}

// setting returns a setting with the Go type of its field, false if it is absent,
// and the reason if it is invalid.
func setting(s Settings, f strategy.Field) (value any, given bool, wrong string) {
	value, given = s[f.Name]
	if !given {
		return nil, false, ""
	}
	ok := false
	switch f.Type {
	case strategy.Number:
		if n, isInt := value.(int); isInt {
			value = float64(n)
		}
		_, ok = value.(float64)
	case strategy.Int:
		_, ok = value.(int)
	case strategy.Bool:
		_, ok = value.(bool)
	case strategy.Text, strategy.Kind:
		if kind, isKind := value.(cupel.ContextKind); isKind {
			value = string(kind)
		}
		_, ok = value.(string)
	case strategy.Enum:
		if name, isStringer := value.(fmt.Stringer); isStringer {
			value = name.String()
		}
		var name string
		if name, ok = value.(string); ok && !slices.Contains(f.Values, name) {
			return nil, true, strconv.Quote(strategy.Shorten(name)) + " " + isUnknown(f.Values)
		}
	case strategy.Duration:
		_, ok = value.(time.Duration)
	case strategy.Weights:
		if kinds, isKinds := value.(map[cupel.ContextKind]float64); isKinds && kinds != nil {
			weights := make(map[string]float64, len(kinds))
			for _, kind := range slices.Sorted(maps.Keys(kinds)) {
				weights[string(kind)] = kinds[kind]
			}
			value = weights
		}
		var weights map[string]float64
		if weights, ok = value.(map[string]float64); ok && weights == nil {
			return nil, false, ""
		}
	case strategy.List:
		_, ok = value.([]Settings)
	case strategy.Variant, strategy.Child:
		_, ok = value.(Strategy)
	case strategy.Children:
		_, ok = value.([]Strategy)
	case strategy.Parts:
		_, ok = value.([]Weighted)
	case strategy.JSON:
		var raw json.RawMessage
		if raw, ok = value.(json.RawMessage); ok {
			if raw == nil {
				return nil, false, ""
			}
			_, wrong = readSettings(raw)
			return value, true, wrong
		}
	}
	if !ok {
		return nil, true, fmt.Sprintf("must be of type %s, got %T", goType[f.Type], value)
	}
	return value, true, ""
}

// goType names the Go types of settings.
var goType = map[strategy.Type]string{
	strategy.Number: "float64", strategy.Int: "int", strategy.Bool: "bool", strategy.Text: "string", strategy.Kind: "string",
	strategy.Enum: "string", strategy.Duration: "time.Duration", strategy.Weights: "map[string]float64", strategy.List: "[]policy.Settings",
	strategy.Variant: "policy.Strategy", strategy.Child: "policy.Strategy", strategy.Children: "[]policy.Strategy",
	strategy.Parts: "[]policy.Weighted", strategy.JSON: "json.RawMessage",
}

package policy

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// role is the use of a strategy: scorer, slicer or placer.
type role struct {
	name    string // as messages call it
	example string // the name of a type without settings
	types   []strategy.Descriptor
	check   func(built any) error // checks what is built; nil for variants
	fields  map[string]*role      // the roles of fields that have another one
}

var (
	scorers = newRole("scorer", "recency", scorer.Descriptors(), strategy.ValidateScorer)
	slicers = newRole("slicer", "greedy", slicer.Descriptors(), strategy.ValidateSlicer)
	placers = newRole("placer", "chronological", placer.Descriptors(), strategy.ValidatePlacer)
	// whole is the role of the policy itself.
	whole = &role{name: "policy", fields: map[string]*role{"scorers": scorers, "slicer": slicers, "placer": placers}}
)

func newRole[S any](name, example string, types []strategy.Descriptor, validate func(S) error) *role {
	return &role{name: name, example: example, types: types, check: func(built any) error {
		s, ok := built.(S)
		if !ok {
			return fmt.Errorf("its Build must return a %s, got %T", name, built)
		}
		return validate(s)
	}}
}

// document describes a policy as a strategy, whose children are its scorers, its
// slicer and its placer.
var document = strategy.Descriptor{
	Fields: []strategy.Field{
		{Name: "name", Type: strategy.Text},
		{Name: "description", Type: strategy.Text},
		{Name: "scorers", Type: strategy.Parts},
		{Name: "slicer", Type: strategy.Child, Required: true},
		{Name: "placer", Type: strategy.Child, Required: true},
		{Name: "deduplicate", Type: strategy.Bool, Default: true},
		{Name: "nearDuplicates", Type: strategy.Number},
		{Name: "overflow", Type: strategy.Enum, Values: overflows},
	},
	Build: func(args strategy.Args) (any, error) {
		composite, _ := strategy.Find(scorer.Descriptors(), "composite")
		built, err := composite.Build(args)
		if err != nil {
			return nil, err
		}
		config := pipeline.Config{
			KeepDuplicates: !strategy.Get[bool](args, "deduplicate"),
			NearDuplicates: strategy.Get[float64](args, "nearDuplicates"),
			Overflow:       overflowOf(strategy.Get[string](args, "overflow")),
		}
		if !(config.NearDuplicates >= 0 && config.NearDuplicates <= 1) {
			return nil, &cupel.InvalidConfigError{Field: "nearDuplicates", Value: strconv.FormatFloat(config.NearDuplicates, 'g', -1, 64), Reason: "must be at least 0 and at most 1"}
		}
		config.Scorer = built.(strategy.Scorer)
		if parts := strategy.FactsOf(built).Scorers; len(parts) == 1 {
			config.Scorer = parts[0]
		}
		config.Slicer, _ = args.Given["slicer"].(strategy.Slicer)
		config.Placer, _ = args.Given["placer"].(strategy.Placer)
		return config, nil
	},
}

// removed are settings that policies and their strategies had. What the first two
// turned off has no switch now: smaller forms are always used, and near copies never
// differ in a number. autoBucket fills a budget better than topUp did.
var removed = []string{"anyNumbers", "fullOnly", "topUp"}

var overflows = []string{pipeline.OverflowThrow.String(), pipeline.OverflowTruncate.String(), pipeline.OverflowProceed.String()}

// overflowOf returns the strategy with a name; the default, if there is none.
func overflowOf(name string) pipeline.OverflowStrategy {
	return pipeline.OverflowStrategy(max(slices.Index(overflows, name), 0))
}

// settings returns a policy as the settings that document describes.
func (p Policy) settings() Settings {
	s := Settings{"scorers": p.Scorers, "slicer": p.Slicer, "placer": p.Placer, "deduplicate": !p.KeepDuplicates, "overflow": p.Overflow}
	if p.Name != "" {
		s["name"] = p.Name
	}
	if p.Description != "" {
		s["description"] = p.Description
	}
	if p.NearDuplicates != 0 {
		s["nearDuplicates"] = p.NearDuplicates
	}
	return s
}

// of returns the role of the strategies in a field.
func (r *role) of(f strategy.Field) *role {
	if f.Type == strategy.Variant {
		return &role{name: f.Name, example: f.Variants[0].Name, types: f.Variants}
	}
	if inner, ok := r.fields[f.Name]; ok {
		return inner
	}
	return r
}

// all returns the built-in and the registered types. A nil registry has none of these.
func (r *role) all(registry *Registry) []strategy.Descriptor {
	var registered []strategy.Descriptor
	if registry != nil {
		registry.mu.RLock()
		defer registry.mu.RUnlock()
		registered = registry.types[r]
	}
	return slices.Concat(r.types, registered)
}

// known returns the names of all types, sorted.
func (r *role) known(registry *Registry) []string {
	var names []string
	for _, d := range r.all(registry) {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	return names
}

// checkFields returns why policies cannot use the fields of a type, or nil.
func checkFields(fields []strategy.Field) error {
	seen := map[string]bool{"type": true, "weight": true}
	for _, f := range fields {
		_, known := typeOf[f.Type]
		switch {
		case seen[f.Name] || unknownField("", f.Name) != f.Name:
			return fmt.Errorf("the field %q needs a name of its own, of letters, digits, - and _, other than type and weight", f.Name)
		case !known:
			return fmt.Errorf("the field %q needs one of the types of package strategy", f.Name)
		case f.Type == strategy.Variant && len(f.Variants) == 0:
			return fmt.Errorf("the field %q needs Variants", f.Name)
		}
		seen[f.Name] = true
		for _, inner := range append(slices.Clip(f.Variants), strategy.Descriptor{Fields: f.Fields}) {
			if err := checkFields(inner.Fields); err != nil {
				return err
			}
		}
	}
	return nil
}

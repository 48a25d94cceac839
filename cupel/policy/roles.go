package policy

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/wollax/cupel-go/cupel"
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
	check   func(built any) error // checks what a registered type builds; nil for variants
	fields  map[string]*role      // the roles of fields that have another one
}

var (
	scorers = &role{name: "scorer", example: "recency", types: scorer.Descriptors(), check: checked("scorer", cupel.ValidateScorer)}
	slicers = &role{name: "slicer", example: "greedy", types: slicer.Descriptors(), check: checked("slicer", cupel.ValidateSlicer)}
	placers = &role{name: "placer", example: "chronological", types: placer.Descriptors(), check: checked("placer", func(p cupel.Placer) error {
		_, err := cupel.New(cupel.Config{Scorer: scorer.Recency{}, Slicer: slicer.Greedy{}, Placer: p})
		return err
	})}
	// whole is the role of the policy itself.
	whole = &role{name: "policy", fields: map[string]*role{"scorers": scorers, "slicer": slicers, "placer": placers}}
)

func checked[S any](name string, validate func(S) error) func(any) error {
	return func(built any) error {
		s, ok := built.(S)
		if !ok {
			return fmt.Errorf("its Build must return a %s, got %T", name, built)
		}
		return validate(s)
	}
}

// document describes a policy as a strategy, whose children are its scorers, its
// slicer and its placer.
var document = strategy.Descriptor{
	Fields: []strategy.Field{
		{Name: "name", Type: strategy.Text, Doc: "A display name."},
		{Name: "description", Type: strategy.Text, Doc: "What the policy is for."},
		{Name: "scorers", Type: strategy.Parts, Required: true},
		{Name: "slicer", Type: strategy.Child, Required: true},
		{Name: "placer", Type: strategy.Child, Required: true},
		{Name: "deduplicate", Type: strategy.Bool, Default: true, Doc: "Keep only the highest-scored of items with equal content."},
		{Name: "nearDuplicates", Type: strategy.Number, Default: 0.0, Range: strategy.Unit, Doc: "Drop items at least this share of whose text a newer item has. 0 disables it."},
		{Name: "anyNumbers", Type: strategy.Bool, Default: false, Doc: "Allow numbers to differ between near duplicates."},
		{Name: "fullOnly", Type: strategy.Bool, Default: false, Doc: "Ignore the smaller forms of items."},
		{Name: "overflow", Type: strategy.Enum, Values: overflows, Default: overflows[0], Doc: "What happens when pinned and sliced items together exceed the target."},
	},
	Build: func(args strategy.Args) (any, error) {
		composite, _ := strategy.Find(scorer.Descriptors(), "composite")
		built, err := composite.Build(args)
		if err != nil {
			return nil, err
		}
		config := cupel.Config{
			KeepDuplicates: !strategy.Get[bool](args, "deduplicate"),
			NearDuplicates: strategy.Get[float64](args, "nearDuplicates"),
			AnyNumbers:     strategy.Get[bool](args, "anyNumbers"),
			FullOnly:       strategy.Get[bool](args, "fullOnly"),
			Overflow:       overflowOf(strategy.Get[string](args, "overflow")),
		}
		if !(config.NearDuplicates >= 0 && config.NearDuplicates <= 1) {
			return nil, &cupel.InvalidConfigError{Field: "nearDuplicates", Value: strconv.FormatFloat(config.NearDuplicates, 'g', -1, 64), Reason: "must be at least 0 and at most 1"}
		}
		config.Scorer = built.(cupel.Scorer)
		if parts := built.(cupel.ScorerWrapper).Scorers(); len(parts) == 1 {
			config.Scorer = parts[0]
		}
		config.Slicer, _ = args.Given["slicer"].(cupel.Slicer)
		config.Placer, _ = args.Given["placer"].(cupel.Placer)
		return config, nil
	},
}

var overflows = []string{cupel.OverflowThrow.String(), cupel.OverflowTruncate.String(), cupel.OverflowProceed.String()}

// overflowOf returns the strategy with a name; the default, if there is none.
func overflowOf(name string) cupel.OverflowStrategy {
	return cupel.OverflowStrategy(max(slices.Index(overflows, name), 0))
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
	if p.AnyNumbers {
		s["anyNumbers"] = true
	}
	if p.FullOnly {
		s["fullOnly"] = true
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

// find returns a type, and whether it is built in.
func (r *role) find(registry *Registry, name string) (d strategy.Descriptor, builtIn, ok bool) {
	if d, ok = strategy.Find(r.types, name); ok {
		return d, true, true
	}
	d, ok = strategy.Find(registry.custom(r), name)
	return d, false, ok
}

// all returns the built-in and the registered types.
func (r *role) all(registry *Registry) []strategy.Descriptor {
	return slices.Concat(r.types, registry.custom(r))
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
func (r *role) checkFields(fields []strategy.Field) error {
	seen := map[string]bool{"type": true, "weight": true}
	for _, f := range fields {
		_, known := typeOf[f.Type]
		_, _, wrong := setting(Settings{f.Name: f.Default}, f)
		reason := ""
		switch {
		case seen[f.Name] || unknownField("", f.Name) != f.Name:
			reason = "needs a name of its own, of letters, digits, - and _, other than type and weight"
		case !known:
			reason = "needs one of the types of package strategy"
		case f.Default != nil && wrong != "":
			reason = "has a default that " + wrong
		case f.Type == strategy.Variant && len(f.Variants) == 0:
			reason = "needs Variants"
		case f.Type == strategy.Parts && r != scorers:
			reason = "must not have weights, which only scorers have"
		case (f.Type == strategy.Child || f.Type == strategy.Children) && r.check == nil:
			reason = "must not be inside a variant"
		}
		if reason != "" {
			return fmt.Errorf("the field %q %s", f.Name, reason)
		}
		seen[f.Name] = true
		for _, d := range f.Variants {
			if d.Build == nil {
				return fmt.Errorf("the variant %q needs a Build", d.Name)
			}
			if err := r.of(f).checkFields(d.Fields); err != nil {
				return err
			}
		}
		if err := r.checkFields(f.Fields); err != nil {
			return err
		}
	}
	return nil
}

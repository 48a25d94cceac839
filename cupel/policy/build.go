package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// builder builds the strategies of a policy and collects their problems. A
// strategy that cannot be built is nil and has a problem.
//
// The rules are in the strategies' constructors, which report all mistakes.
type builder struct {
	env      Environment
	problems *problems
}

func (b *builder) config(p Policy) cupel.Config {
	config := cupel.Config{
		Scorer:         b.scorer(p.Scorers),
		KeepDuplicates: p.KeepDuplicates,
		FullOnly:       p.FullOnly,
		Overflow:       p.Overflow,
	}
	config.Slicer, _ = b.strategy(slicers, p.Slicer, "slicer").(cupel.Slicer)
	config.Placer, _ = b.strategy(placers, p.Placer, "placer").(cupel.Placer)
	if p.Overflow > cupel.OverflowProceed {
		b.fail("overflow", "must be Throw, Truncate or Proceed, got "+p.Overflow.String())
	}
	return config
}

// scorer builds the scorer of a policy: a composite, or its only part.
func (b *builder) scorer(parts []Weighted) cupel.Scorer {
	composite, _ := strategy.Find(scorer.Descriptors(), "composite")
	built, _ := b.build(scorers, composite, Settings{"scorers": parts}, "").(*scorer.Composite)
	switch {
	case built == nil:
		return nil
	case len(parts) == 1:
		return built.Scorers()[0]
	}
	return built
}

func (b *builder) fail(at, reason string) { b.problems.add(at, reason, nil) }

// strategy builds a strategy of a role.
func (b *builder) strategy(r *role, s Strategy, at string) any {
	if s.Type == "" {
		if !b.problems.at[field(at, "type")] { // the reader has not reported it
			b.fail(at, r.missing())
		}
		return nil
	}
	d, ok := r.find(b.env.Registry, s.Type)
	if !ok {
		b.fail(field(at, "type"), r.unknown(b.env.Registry, s.Type))
		return nil
	}
	return b.build(r, d, s.Settings, at)
}

// build builds a strategy of a type. It does not call a factory with invalid
// settings or children. It does call constructors with them, to find further
// mistakes.
func (b *builder) build(r *role, d strategy.Descriptor, s Settings, at string) any {
	failed := make(map[string]bool)
	args := b.args(r, d.Fields, s, at, failed)
	args.Clock = b.env.Clock
	if d.NeedsClock && args.Clock == nil {
		b.problems.add(at, "needs a clock: set Environment.Clock, to time.Now in production or to a fixed time in tests",
			&cupel.InvalidConfigError{Component: d.Component, Field: "clock", Reason: "clock must not be nil"})
		args.Clock = stillClock
		failed[at] = true
	}
	if len(failed) > 0 && d.Component == "" {
		return nil
	}
	built, err := d.Build(args)
	if err == nil && d.Component == "" {
		err = r.validate(built)
	}
	if err != nil {
		b.report(d, at, err, failed)
	}
	if err != nil || len(failed) > 0 {
		return nil
	}
	return built
}

// report records the errors of Build, except those about paths that have failed
// already.
func (b *builder) report(d strategy.Descriptor, at string, err error, failed map[string]bool) {
	if several, ok := compat.AsType[*ValidationError](err); ok && len(several.Problems) > 0 {
		for _, p := range several.Problems { // of a factory
			path := field(at, "settings")
			if strings.HasPrefix(p.Path, "[") {
				path += p.Path
			} else if p.Path != "" {
				path = field(path, p.Path)
			}
			b.problems.add(path, p.Reason, p.Err)
		}
		return
	}
	for _, err := range strategy.All(err) {
		path, reason := at, fmt.Sprint(err) // fmt survives an Error method that panics
		if invalid, ok := compat.AsType[*cupel.InvalidConfigError](err); ok {
			name := invalid.Field[:len(invalid.Field)-len(strings.TrimLeft(invalid.Field, letters))]
			if slices.ContainsFunc(d.Fields, func(f strategy.Field) bool { return f.Name == name }) {
				path = field(at, invalid.Field)
			}
			reason = reasonOf(invalid, at)
		}
		if !failed[path] {
			b.problems.add(path, reason, err)
		}
	}
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// reasonOf returns a constructor's reason with the value, or with the full path
// of the setting that this one repeats.
func reasonOf(e *cupel.InvalidConfigError, at string) string {
	if e.Earlier != "" {
		what, _, _ := strings.Cut(e.Reason, " ")
		name := e.Value
		if _, inside, ok := strings.Cut(e.Field, "["); name == "" && ok {
			name = strings.TrimSuffix(inside, "]")
		}
		return fmt.Sprintf("%s %s repeats %s; %ss are case-insensitive here", what, strategy.Shorten(name), field(at, e.Earlier), what)
	}
	if e.Value != "" {
		return e.Reason + ", got " + strategy.Shorten(e.Value)
	}
	return e.Reason
}

// args returns the settings for Build. It leaves out invalid ones and adds their
// paths to failed.
func (b *builder) args(r *role, fields []strategy.Field, s Settings, at string, failed map[string]bool) strategy.Args {
	args := strategy.Args{Given: make(map[string]any, len(s)), Fields: fields}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if !slices.ContainsFunc(fields, func(f strategy.Field) bool { return f.Name == name }) {
			b.fail(unknownField(at, name), isUnknown(namesOf(fields)))
			failed[unknownField(at, name)] = true
		}
	}
	for _, f := range fields {
		path := field(at, f.Name)
		value, given, wrong := setting(s, f)
		switch {
		case wrong != "":
			b.fail(path, wrong)
			failed[path] = true
		case given:
			args.Given[f.Name] = b.value(r, f, value, path, failed)
		case isRequired(f):
			b.fail(path, "is required")
			failed[path] = true
		}
	}
	return args
}

// value returns a setting in the form that Build takes.
func (b *builder) value(r *role, f strategy.Field, value any, at string, failed map[string]bool) any {
	child := func(r *role, s Strategy, at string) any {
		built := b.strategy(r, s, at)
		if built == nil {
			failed[at] = true
		}
		return built
	}
	switch value := value.(type) {
	case Strategy:
		if f.Type == strategy.Variant {
			r = variants(f)
		}
		return child(r, value, at)
	case []Strategy:
		list := make([]any, len(value))
		for i, s := range value {
			list[i] = child(r, s, strategy.Element(at, i))
		}
		return list
	case []Weighted:
		list := make([]strategy.Part, len(value))
		for i, part := range value {
			list[i] = strategy.Part{Strategy: child(r, part.Scorer, strategy.Element(at, i)), Weight: part.Weight}
		}
		return list
	case []Settings:
		list := make([]strategy.Args, len(value))
		for i, s := range value {
			list[i] = b.args(r, f.Fields, s, strategy.Element(at, i), failed)
		}
		return list
	}
	return value
}

// isRequired reports whether a setting must be present. An absent list is empty;
// constructors check whether it may be.
func isRequired(f strategy.Field) bool {
	return f.Required && f.Type != strategy.List && f.Type != strategy.Parts
}

func namesOf(fields []strategy.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

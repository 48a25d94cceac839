package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// builder builds the strategies of a policy and collects their problems. A
// strategy that cannot be built is nil and has a problem.
//
// The builder checks the names and the types of settings. The rules for their values
// are in the constructors of strategies, which report all mistakes.
type builder struct {
	env      Environment
	problems problems
	json     bool // settings are those of a document, some of them raw
	limits   limits
	failed   int             // mistakes so far, including those that problems ignores
	missing  map[string]bool // paths of strategies that could not be built
}

// place is where a setting stands in a policy.
type place struct {
	path  string
	depth int // how many settings it is inside
}

func (p place) field(name string) place { return place{field(p.path, name), p.depth + 1} }
func (p place) element(i int) place     { return place{strategy.Element(p.path, i), p.depth} }

func newBuilder(env Environment) *builder {
	return &builder{env: env, problems: problems{at: make(map[string]bool)}, missing: make(map[string]bool)}
}

// config builds what the settings of a policy describe.
func (b *builder) config(s Settings) pipeline.Config {
	config, _ := b.build(whole, document, s, place{depth: -1}).(pipeline.Config)
	return config
}

func (b *builder) fail(at, reason string, cause error) {
	b.failed++
	b.problems.add(at, reason, cause)
}

// strategy builds a strategy of a role. siblings has the names of what a document has
// with its settings.
func (b *builder) strategy(r *role, s Strategy, at place, siblings ...string) (built any) {
	d, ok := strategy.Find(r.all(b.env.Registry), s.Type)
	switch {
	case ok:
		built = b.build(r, d, s.Settings, at, siblings...)
	case s.Type != "":
		b.fail(field(at.path, "type"), fmt.Sprintf("the %s type %q %s", r.name, strategy.Shorten(s.Type), isUnknown(r.known(b.env.Registry))), nil)
	case b.problems.covers(field(at.path, "type")): // reading it has failed
		b.failed++
	default:
		b.fail(at.path, fmt.Sprintf("a %s is required here, for example policy.Strategy{Type: %q}", r.name, r.example), nil)
	}
	if built == nil {
		b.missing[at.path] = true
	}
	return built
}

// build builds a strategy of a type. It calls Build even with settings or inner
// strategies missing because they are invalid, to find further mistakes.
func (b *builder) build(r *role, d strategy.Descriptor, s Settings, at place, siblings ...string) (built any) {
	before := b.failed
	args := b.args(r, d.Fields, s, at, siblings...)
	if b.problems.full() || b.limits.exceeded {
		return nil // nothing more is to be reported
	}
	args.Clock = b.env.Clock
	if d.NeedsClock && args.Clock == nil {
		b.fail(at.path, "needs a clock: set Environment.Clock, to time.Now in production or to a fixed time in tests",
			&cupel.InvalidConfigError{Component: d.Component, Field: "clock", Reason: "clock must not be nil"})
		args.Clock = stillClock
	}
	defer func() {
		if v := recover(); v != nil && b.failed == before {
			cause, _ := v.(error)
			b.fail(at.path, fmt.Sprintf("building it panicked: %v", v), cause)
		}
		if b.failed > before {
			built = nil
		}
	}()
	complete := b.failed == before
	built, err := d.Build(args)
	if err == nil && complete && r.check != nil {
		err = r.check(built)
	}
	if err != nil {
		b.report(d, at.path, err, !complete)
	}
	return built
}

// report records the errors of Build, except those about strategies that could
// not be built and, if partial is set, those about no setting, which may be
// about what is missing.
func (b *builder) report(d strategy.Descriptor, at string, err error, partial bool) {
	for _, err := range strategy.All(err) {
		path, reason := at, fmt.Sprint(err) // fmt survives an Error method that panics
		if invalid, ok := compat.AsType[*cupel.InvalidConfigError](err); ok && invalid != nil {
			name, _, _ := strings.Cut(invalid.Field, ".")
			name, _, _ = strings.Cut(name, "[")
			if slices.Contains(namesOf(d.Fields), name) {
				path = field(at, invalid.Field)
			}
			reason = reasonOf(invalid, at)
		}
		if !b.missing[path] && !(partial && path == at) {
			b.fail(path, reason, err)
		}
	}
}

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

// args returns the settings for Build, without invalid ones. It reads those that are
// raw, and puts what it read into s.
func (b *builder) args(r *role, fields []strategy.Field, s Settings, at place, siblings ...string) strategy.Args {
	args := strategy.Args{Given: make(map[string]any, len(s)), Fields: fields}
	b.checkNames(namesOf(fields), s, at, siblings)
	for _, f := range fields {
		at := at.field(f.Name)
		if text, unread := s[f.Name].(raw); unread {
			read := b.read(r.of(f), f, text, at)
			if read == nil {
				continue
			}
			s[f.Name] = read
		}
		value, given, wrong := setting(s, f)
		switch {
		case wrong != "":
			b.fail(at.path, wrong, nil)
		case given:
			args.Given[f.Name] = b.value(r.of(f), f, value, at)
		case f.Required && f.Type != strategy.List && f.Type != strategy.Parts: // constructors say whether a list may be empty
			b.fail(at.path, "is required", nil)
		case f.Type == strategy.Object:
			args.Given[f.Name] = b.args(r, f.Fields, nil, at)
		}
	}
	return args
}

// checkNames reports the settings that no field describes.
func (b *builder) checkNames(names []string, s Settings, at place, siblings []string) {
	if b.json {
		names = slices.Concat(siblings, names)
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		switch {
		case slices.Contains(names, name):
		case slices.Contains(removed, name):
			b.fail(unknownField(at.path, name), "was removed from policies: delete the line", nil)
		default:
			b.fail(unknownField(at.path, name), isUnknown(names), nil)
		}
	}
}

// value returns a setting in the form that Build takes.
func (b *builder) value(r *role, f strategy.Field, value any, at place) any {
	object := func(s Settings, at place) strategy.Args { return b.args(r, f.Fields, s, at) }
	child := func(s Strategy, at place) any { return b.strategy(r, s, at, "type") }
	switch value := value.(type) {
	case Strategy:
		if b.counted(1, at) {
			return child(value, at)
		}
		return nil
	case []Strategy:
		return eachOf(b, value, at, child)
	case []Weighted:
		return eachOf(b, value, at, func(part Weighted, at place) strategy.Part {
			return strategy.Part{Strategy: b.strategy(r, part.Scorer, at, "type", "weight"), Weight: part.Weight}
		})
	case Settings:
		if b.counted(1, at) {
			return object(value, at)
		}
		return strategy.Args{}
	case []Settings:
		return eachOf(b, value, at, object)
	case []string:
		return slices.Clone(value) // what is built keeps no part of the policy
	case map[string]float64:
		return maps.Clone(value)
	}
	return value
}

// counted counts strategies or entries that were not read from a document, where
// they are counted as they are read. It returns false when there are too many.
func (b *builder) counted(n int, at place) bool {
	if !b.json {
		b.count(n, at)
	}
	return !b.limits.exceeded
}

func (b *builder) count(n int, at place) {
	switch reason := b.limits.more(n, at.depth); reason {
	case "":
	case tooMany:
		b.fail("", reason, nil)
	default:
		b.fail(at.path, reason, nil)
	}
}

func eachOf[S, T any](b *builder, list []S, at place, of func(element S, at place) T) []T {
	all := make([]T, len(list))
	if b.counted(len(list), at) {
		for i, element := range list {
			all[i] = of(element, at.element(i))
		}
	}
	return all
}

func namesOf(fields []strategy.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

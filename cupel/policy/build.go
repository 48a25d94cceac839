package policy

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// builder builds the strategies of a policy and collects their problems. A
// strategy that cannot be built is nil and has a problem.
//
// The rules for the settings of built-in strategies are in their constructors,
// which report all mistakes. Those for registered types are in their fields,
// which the builder enforces: it is strict.
type builder struct {
	env      Environment
	problems *problems
	failed   int             // mistakes so far, including those that problems ignores
	missing  map[string]bool // paths of strategies that could not be built
}

func newBuilder(env Environment, found *problems) *builder {
	return &builder{env: env, problems: found, missing: make(map[string]bool)}
}

// config builds what the settings of a policy describe.
func (b *builder) config(s Settings) cupel.Config {
	config, _ := b.build(whole, document, s, "", false).(cupel.Config)
	return config
}

func (b *builder) fail(at, reason string, cause error) {
	b.failed++
	b.problems.add(at, reason, cause)
}

// strategy builds a strategy of a role. strict says how to check a variant; it
// is ignored for other strategies.
func (b *builder) strategy(r *role, s Strategy, at string, strict bool) (built any) {
	d, builtIn, ok := r.find(b.env.Registry, s.Type)
	switch {
	case ok:
		built = b.build(r, d, s.Settings, at, !builtIn || strict && r.check == nil)
	case s.Type != "":
		b.fail(field(at, "type"), fmt.Sprintf("the %s type %q %s", r.name, strategy.Shorten(s.Type), isUnknown(r.known(b.env.Registry))), nil)
	case b.problems.at[field(at, "type")]: // the reader has reported it
		b.failed++
	default:
		b.fail(at, fmt.Sprintf("a %s is required here, for example policy.Strategy{Type: %q}", r.name, r.example), nil)
	}
	if built == nil {
		b.missing[at] = true
	}
	return built
}

// build builds a strategy of a type. It calls Build even with settings or inner
// strategies missing because they are invalid, to find further mistakes.
func (b *builder) build(r *role, d strategy.Descriptor, s Settings, at string, strict bool) (built any) {
	before := b.failed
	args := b.args(r, d.Fields, s, at, strict)
	args.Clock = b.env.Clock
	if d.NeedsClock && args.Clock == nil {
		b.fail(at, "needs a clock: set Environment.Clock, to time.Now in production or to a fixed time in tests",
			&cupel.InvalidConfigError{Component: d.Component, Field: "clock", Reason: "clock must not be nil"})
		args.Clock = stillClock
	}
	defer func() {
		if v := recover(); v != nil && b.failed == before {
			cause, _ := v.(error)
			b.fail(at, fmt.Sprintf("building it panicked: %v", v), cause)
		}
		if b.failed > before {
			built = nil
		}
	}()
	complete := b.failed == before
	built, err := d.Build(args)
	if err == nil && strict && complete && r.check != nil {
		err = r.check(built)
	}
	if err != nil {
		b.report(d, at, err, strict && !complete)
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

// args returns the settings for Build, without invalid ones.
func (b *builder) args(r *role, fields []strategy.Field, s Settings, at string, strict bool) strategy.Args {
	args := strategy.Args{Given: make(map[string]any, len(s)), Fields: fields}
	names := namesOf(fields)
	for name := range s {
		if !slices.Contains(names, name) {
			b.fail(unknownField(at, name), isUnknown(names), nil)
		}
	}
	for _, f := range fields {
		path := field(at, f.Name)
		value, given, wrong := setting(s, f)
		switch {
		case wrong != "":
			b.fail(path, wrong, nil)
		case given && strict && !b.allowed(f, s, value, path): // reported
		case given:
			args.Given[f.Name] = b.value(r.of(f), f, value, path, strict)
		case strict && b.problems.at[path]: // the reader has reported it
			b.failed++
		case isRequired(f) || strict && f.Required:
			b.fail(path, "is required", nil)
		case f.Type == strategy.Object:
			args.Given[f.Name] = b.args(r, f.Fields, nil, path, strict)
		}
	}
	return args
}

// value returns a setting in the form that Build takes.
func (b *builder) value(r *role, f strategy.Field, value any, at string, strict bool) any {
	switch value := value.(type) {
	case Strategy:
		return b.strategy(r, value, at, strict)
	case []Strategy:
		return eachOf(value, at, func(s Strategy, at string) any { return b.strategy(r, s, at, strict) })
	case []Weighted:
		return eachOf(value, at, func(part Weighted, at string) strategy.Part {
			return strategy.Part{Strategy: b.strategy(r, part.Scorer, at, strict), Weight: part.Weight}
		})
	case Settings:
		return b.args(r, f.Fields, value, at, strict)
	case []Settings:
		return eachOf(value, at, func(s Settings, at string) strategy.Args { return b.args(r, f.Fields, s, at, strict) })
	}
	return value
}

func eachOf[S, T any](list []S, at string, of func(element S, at string) T) []T {
	all := make([]T, len(list))
	for i, element := range list {
		all[i] = of(element, strategy.Element(at, i))
	}
	return all
}

// allowed reports whether a field allows a value, and records why not.
func (b *builder) allowed(f strategy.Field, s Settings, value any, at string) bool {
	before := b.failed
	fail := func(at, reason string) {
		if reason != "" {
			b.fail(at, reason, nil)
		}
	}
	count := -1
	switch v := value.(type) {
	case float64:
		fail(at, outside(f.Range, v))
	case int:
		fail(at, outside(f.Range, float64(v)))
	case bool:
		if _, both := s[f.Excludes]; v && both {
			fail(at, "must not be set together with "+f.Excludes+"; remove one of them")
		}
	case string:
		fail(at, blank(f.Type, v))
	case time.Duration:
		if v <= 0 {
			fail(at, "must be positive, got "+v.String())
		}
	case map[string]float64:
		for name, weight := range v {
			fail(strategy.Key(at, name), blank(f.Keys, name))
			fail(strategy.Key(at, name), outside(strategy.NonNegative, weight))
		}
	case []Weighted:
		count = len(v)
		for i, part := range v {
			fail(strategy.Element(at, i)+".weight", outside(strategy.Positive, part.Weight))
		}
	case []string:
		count = len(v)
	case []Settings:
		count = len(v)
	case []Strategy:
		count = len(v)
	}
	if count == 0 && f.Required {
		fail(at, "must have at least one element")
	}
	return b.failed == before
}

// outside returns the reason for a number that is not in a range, which may be
// nil.
func outside(r *strategy.Range, x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return fmt.Sprintf("must be a finite number, got %v", x)
	case r != nil && (x < r.Min || x > r.Max || r.Above && x == r.Min):
		return fmt.Sprintf("must be %s, got %v", r, x)
	}
	return ""
}

func blank(t strategy.Type, name string) string {
	if t == strategy.Kind && strings.TrimSpace(name) == "" {
		return "must not be blank"
	}
	return ""
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

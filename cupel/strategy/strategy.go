package strategy

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// Descriptor describes a type of strategy, or of a part of one, such as a
// curve.
type Descriptor struct {
	// Name is the type's name in policies: "metadataTrust".
	Name string
	// Component is the specification's name: "MetadataTrustScorer". Errors of
	// Build about settings have it as [cupel.InvalidConfigError.Component].
	Component string
	// Doc says in one sentence what strategies of this type do.
	Doc string
	// Fields are the settings, in the order in which they are shown.
	Fields []Field
	// NeedsClock is set when Build needs [Args.Clock].
	NeedsClock bool
	// Build returns a strategy with the given settings. It fails with
	// everything that is wrong with them, as [Problems.Err] does.
	Build func(Args) (any, error)
	// Settings returns the settings of a strategy of this type, by the names of
	// Fields, and false for a strategy of another type. Strategies inside it are
	// the live ones.
	Settings func(strategy any) (map[string]any, bool)
}

// Type says what values a setting takes.
type Type uint8

// The types of settings.
const (
	Number   Type = iota + 1 // a finite float64
	Int                      // an int
	Bool                     // a bool
	Text                     // a string in UTF-8
	Kind                     // a string that is not blank, a [cupel.ContextKind]
	Enum                     // a string, one of Field.Values
	Duration                 // a positive [time.Duration]
	Weights                  // a map[string]float64, each at least 0
	List                     // a list of objects with Field.Fields
	Variant                  // an object of one of Field.Variants
	Child                    // a strategy of the same role
	Children                 // a list of strategies of the same role
	Parts                    // a list of strategies of the same role with weights
	JSON                     // an object in JSON that only Build reads
)

// String returns the type as messages show it.
func (t Type) String() string {
	names := []string{"", "number", "integer", "boolean", "text", "kind", "name", "duration", "weights", "list", "object", "strategy", "list of strategies", "list of weighted strategies", "JSON object"}
	if int(t) < len(names) {
		return names[t]
	}
	return "Type(" + strconv.Itoa(int(t)) + ")"
}

// Field describes a setting.
type Field struct {
	Name     string // the name in policies: "nullTimestampScore"
	Doc      string // what it does, with the unit
	Type     Type
	Required bool         // of a List or Parts: at least one element
	Default  any          // the value when it is absent, of the type's Go type; nil: Build decides
	Range    *Range       // bounds of a Number or an Int; nil: none
	Values   []string     // of an Enum
	Fields   []Field      // of the elements of a List
	Variants []Descriptor // of a Variant
	Keys     Type         // of Weights: Text or Kind
	// Excludes names a setting that must be absent when this one, a Bool, is
	// true. Build reports the conflict.
	Excludes string
}

// Range is an interval of numbers: from Min, which is outside when Above is
// set, up to and including Max.
type Range struct {
	Min, Max float64
	Above    bool
}

// The ranges of most settings.
var (
	Unit        = &Range{Min: 0, Max: 1}
	Percent     = &Range{Min: 0, Max: 100}
	Positive    = &Range{Min: 0, Max: math.Inf(1), Above: true}
	NonNegative = &Range{Min: 0, Max: math.Inf(1)}
	AtLeastOne  = &Range{Min: 1, Max: math.Inf(1)}
)

// String returns the range as documentation shows it: "in [0, 1]", "above 0",
// "at least 1".
func (r Range) String() string {
	least := strconv.FormatFloat(r.Min, 'g', -1, 64)
	switch {
	case math.IsInf(r.Max, 1) && r.Above:
		return "above " + least
	case math.IsInf(r.Max, 1):
		return "at least " + least
	case r.Above:
		return fmt.Sprintf("in (%s, %g]", least, r.Max)
	}
	return fmt.Sprintf("in [%s, %g]", least, r.Max)
}

// Find returns the descriptor of a name.
func Find(list []Descriptor, name string) (Descriptor, bool) {
	i := slices.IndexFunc(list, func(d Descriptor) bool { return d.Name == name })
	if i < 0 {
		return Descriptor{}, false
	}
	return list[i], true
}

// Describe returns the descriptor of a live strategy and its settings, and
// false when the strategy is of none of the types in list.
func Describe(list []Descriptor, strategy any) (Descriptor, map[string]any, bool) {
	for _, d := range list {
		if settings, ok := d.Settings(strategy); ok {
			return d, settings, true
		}
	}
	return Descriptor{}, nil, false
}

// Args is what [Descriptor.Build] builds a strategy from: the settings that
// were given, the defaults of those that were not, and a clock.
type Args struct {
	// Given has the settings that were given, by name: values of the Go types
	// that [Type] names, a [List] as a []Args, a [Variant] as what its
	// descriptor built, a [Child] as the strategy, [Children] as a []any of
	// them, and [Parts] as a []Part. A strategy that could not be built is nil.
	Given map[string]any
	// Fields have the defaults.
	Fields []Field
	// Clock tells the time; nil when there is none.
	Clock func() time.Time
}

// Part is a strategy and its weight among others.
type Part struct {
	Strategy any
	Weight   float64
}

// Has reports whether a setting was given.
func (a Args) Has(name string) bool {
	_, ok := a.Given[name]
	return ok
}

// Get returns a setting, or its default, or the zero T.
func Get[T any](a Args, name string) T {
	if v, ok := a.Given[name]; ok {
		value, _ := v.(T)
		return value
	}
	for _, f := range a.Fields {
		if f.Name == name {
			value, _ := f.Default.(T)
			return value
		}
	}
	var none T
	return none
}

// Built returns what a constructor returned as [Descriptor.Build] does: without
// a nil pointer where it failed.
func Built[T any](strategy T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return strategy, nil
}

// Only returns a [Descriptor.Settings] for strategies of type T; settings
// returns those of one.
func Only[T any](settings func(T) map[string]any) func(any) (map[string]any, bool) {
	return func(strategy any) (map[string]any, bool) {
		s, ok := strategy.(T)
		if !ok {
			return nil, false
		}
		return settings(s), true
	}
}

// Plain describes a type of strategy that has no settings and of which the
// zero T is ready.
func Plain[T any](name, component, doc string) Descriptor {
	return Descriptor{
		Name: name, Component: component, Doc: doc,
		Build:    func(Args) (any, error) { var s T; return s, nil },
		Settings: Only(func(T) map[string]any { return nil }),
	}
}

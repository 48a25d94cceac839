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
	// Component is the specification's name: "MetadataTrustScorer". It is the
	// Component of a cupel.InvalidConfigError from Build about settings.
	Component string
	// Doc describes in one sentence what strategies of this type do.
	Doc string
	// Fields are the settings, in display order.
	Fields []Field
	// NeedsClock is set when Build needs [Args.Clock].
	NeedsClock bool
	// Build returns a strategy with the given settings. It reports all mistakes
	// in them, joined as by [Problems.Err].
	Build func(Args) (any, error)
	// Settings returns the settings of a strategy of this type, by the names of
	// Fields, and false for a strategy of another type. Inner strategies are the
	// live values, not copies.
	Settings func(strategy any) (map[string]any, bool)
}

// Type is the type of a setting's value.
type Type uint8

// The types of settings.
const (
	Number   Type = iota + 1 // a finite float64
	Int                      // an int
	Bool                     // a bool
	Text                     // a UTF-8 string
	Kind                     // a cupel.ContextKind as a string that is not blank
	Enum                     // a string, one of Field.Values
	Duration                 // a positive [time.Duration]
	Weights                  // a map[string]float64, each at least 0
	Texts                    // a []string
	Object                   // an object with Field.Fields; an absent one is empty
	List                     // a list of objects with Field.Fields
	Variant                  // an object of one of Field.Variants
	Child                    // a strategy of the same role
	Children                 // a list of strategies of the same role
	Parts                    // a list of strategies of the same role with weights
)

// String returns the type as messages show it.
func (t Type) String() string {
	names := []string{"", "number", "integer", "boolean", "text", "kind", "name", "duration", "weights", "list of texts", "object", "list", "object", "strategy", "list of strategies", "list of weighted strategies"}
	if int(t) < len(names) {
		return names[t]
	}
	return "Type(" + strconv.Itoa(int(t)) + ")"
}

// Field describes a setting.
type Field struct {
	Name     string // the name in policies: "nullTimestampScore"
	Doc      string // its meaning, with the unit
	Type     Type
	Required bool         // of a list of any type: at least one element
	Default  any          // the value when it is absent, of the Go type for Type; nil: Build decides
	Range    *Range       // bounds of a Number or an Int; nil: none
	Values   []string     // of an Enum
	Fields   []Field      // of an Object, or of the elements of a List
	Variants []Descriptor // of a Variant
	Keys     Type         // of Weights: Text or Kind
	// Excludes names a setting that must be absent when this one, a Bool, is
	// true. Build reports the conflict.
	Excludes string
}

// Range is an interval of numbers from Min to Max. It includes Max, and Min
// unless Above is set.
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

// Find returns the descriptor with the given name, and whether there is one.
func Find(list []Descriptor, name string) (Descriptor, bool) {
	i := slices.IndexFunc(list, func(d Descriptor) bool { return d.Name == name })
	if i < 0 {
		return Descriptor{}, false
	}
	return list[i], true
}

// Describe returns the descriptor and the settings of a live strategy, and false
// when list does not have its type.
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
	// Given has the settings that were given, by name. Values have the Go types
	// that [Type] lists, except for these: an [Object] is an Args, a [List] a
	// []Args, a [Variant] the value that its descriptor built, a [Child] a
	// strategy, [Children] a []any of strategies, and [Parts] a []Part. A
	// strategy that could not be built is nil. An invalid setting is absent.
	Given map[string]any
	// Fields have the defaults.
	Fields []Field
	// Clock returns the current time. It is nil if there is no clock.
	Clock func() time.Time
}

// Part is a strategy and its weight.
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

// Built turns the results of a constructor into the results that [Descriptor.Build]
// returns: an untyped nil if err is not nil.
func Built[T any](strategy T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return strategy, nil
}

// Only returns a [Descriptor.Settings] for strategies of type T. It calls
// settings for a T, and returns false for other types.
func Only[T any](settings func(T) map[string]any) func(any) (map[string]any, bool) {
	return func(strategy any) (map[string]any, bool) {
		s, ok := strategy.(T)
		if !ok {
			return nil, false
		}
		return settings(s), true
	}
}

// Plain describes a type of strategy that has no settings. Build returns the
// zero T.
func Plain[T any](name, component, doc string) Descriptor {
	return Descriptor{
		Name: name, Component: component, Doc: doc,
		Build:    func(Args) (any, error) { var s T; return s, nil },
		Settings: Only(func(T) map[string]any { return nil }),
	}
}

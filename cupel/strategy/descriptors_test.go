package strategy_test

import (
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// sample returns a right value of a setting.
func sample(t *testing.T, child any, f strategy.Field) any {
	t.Helper()
	switch f.Type {
	case strategy.Number:
		return 0.75
	case strategy.Int:
		return 7
	case strategy.Bool:
		return false
	case strategy.Text, strategy.Kind:
		return "a"
	case strategy.Enum:
		return f.Values[len(f.Values)-1]
	case strategy.Duration:
		return time.Hour
	case strategy.Weights:
		return map[string]float64{"a": 0.5}
	case strategy.List:
		return []strategy.Args{{Given: samples(t, child, f.Fields), Fields: f.Fields}}
	case strategy.Variant:
		return built(t, f.Variants[0], samples(t, child, f.Variants[0].Fields))
	case strategy.Child:
		return child
	case strategy.Parts:
		return []strategy.Part{{Strategy: child, Weight: 1}}
	case strategy.Children, strategy.Texts, strategy.Object: // of types that others register
	}
	t.Fatalf("%s has type %s, which has no sample", f.Name, f.Type)
	return nil
}

func samples(t *testing.T, child any, fields []strategy.Field) map[string]any {
	t.Helper()
	given := make(map[string]any)
	for _, f := range fields {
		given[f.Name] = sample(t, child, f)
	}
	return given
}

func build(d strategy.Descriptor, given map[string]any) (any, error) {
	return d.Build(strategy.Args{Given: given, Fields: d.Fields, Clock: time.Now})
}

func built(t *testing.T, d strategy.Descriptor, given map[string]any) any {
	t.Helper()
	s, err := build(d, given)
	if err != nil {
		t.Fatalf("%s with %v: %v", d.Name, given, err)
	}
	return s
}

// described is every descriptor, with a strategy for it to wrap.
func described() map[any][]strategy.Descriptor {
	return map[any][]strategy.Descriptor{
		scorer.Recency{}: scorer.Descriptors(), slicer.Greedy{}: slicer.Descriptors(), placer.UShaped{}: placer.Descriptors(),
	}
}

// TestDescribedBack builds a strategy of each type, and expects to be told the
// settings that it was built with.
func TestDescribedBack(t *testing.T) {
	for child, list := range described() {
		for _, d := range list {
			for _, variant := range variantsOf(d) {
				given := maps.Clone(samples(t, child, d.Fields))
				if variant.Name != "" {
					given["curve"] = built(t, variant, samples(t, child, variant.Fields))
				}
				s := built(t, d, given)
				found, settings, ok := strategy.Describe(list, s)
				if !ok || found.Name != d.Name {
					t.Errorf("a %s is described as %q, %t", d.Name, found.Name, ok)
				}
				for name, value := range settings {
					want := given[name]
					if args, isList := want.([]strategy.Args); isList {
						want = []map[string]any{args[0].Given}
					}
					if !reflect.DeepEqual(value, want) {
						t.Errorf("%s.%s is described as %v, and was given as %v", d.Name, name, value, want)
					}
				}
				if len(settings) != len(d.Fields) {
					t.Errorf("%s has %d settings, and describes %v", d.Name, len(d.Fields), settings)
				}
			}
		}
	}
	if _, _, ok := strategy.Describe(scorer.Descriptors(), struct{ scorer.Recency }{}); ok {
		t.Error("a type that embeds a scorer is described as that")
	}
}

// variantsOf returns the variants of a descriptor's setting that has any, or the
// zero Descriptor.
func variantsOf(d strategy.Descriptor) []strategy.Descriptor {
	for _, f := range d.Fields {
		if f.Type == strategy.Variant {
			return f.Variants
		}
	}
	return make([]strategy.Descriptor, 1)
}

// TestConstructorsKeepTheBounds gives each number the ends of its range, which
// the constructors take, and what is just outside, which they refuse with the
// name of the setting.
func TestConstructorsKeepTheBounds(t *testing.T) {
	for child, list := range described() {
		for _, d := range list {
			tryFields(t, d.Name, d.Fields, func(name string, value any) error {
				given := samples(t, child, d.Fields)
				if entries, ok := given["entries"].([]strategy.Args); ok && !hasField(d.Fields, name) {
					maps.DeleteFunc(entries[0].Given, func(other string, _ any) bool { return other != "kind" })
					entries[0].Given[name] = value
				} else {
					given[name] = value
				}
				_, err := build(d, given)
				return err
			})
			for _, variant := range variantsOf(d) {
				for _, f := range variant.Fields {
					tryFields(t, variant.Name, f.Fields, func(name string, value any) error {
						given := samples(t, child, variant.Fields)
						given[f.Name].([]strategy.Args)[0].Given[name] = value
						_, err := build(variant, given)
						return err
					})
				}
			}
		}
	}
}

func hasField(fields []strategy.Field, name string) bool {
	return slices.ContainsFunc(fields, func(f strategy.Field) bool { return f.Name == name })
}

func tryFields(t *testing.T, at string, fields []strategy.Field, try func(name string, value any) error) {
	t.Helper()
	for _, f := range fields {
		tryFields(t, at+"."+f.Name, f.Fields, try)
		if f.Range == nil {
			continue
		}
		value := func(n float64) any {
			if f.Type == strategy.Int {
				return int(n)
			}
			return n
		}
		right, wrong := []float64{f.Range.Min}, []float64{f.Range.Min - 1}
		if f.Range.Above {
			right, wrong = []float64{math.SmallestNonzeroFloat64, 1e300}, []float64{f.Range.Min, -1}
		}
		if !math.IsInf(f.Range.Max, 1) {
			right, wrong = append(right, f.Range.Max), append(wrong, math.Nextafter(f.Range.Max, math.Inf(1)))
		}
		if f.Type == strategy.Number {
			wrong = append(wrong, math.NaN(), math.Inf(1))
		}
		for _, n := range right {
			if err := try(f.Name, value(n)); err != nil {
				t.Errorf("%s.%s is %s, and %v is refused: %v", at, f.Name, f.Range, n, err)
			}
		}
		for _, n := range wrong {
			err := try(f.Name, value(n))
			if !errors.Is(err, cupel.ErrInvalidConfig) || !slices.ContainsFunc(fieldsOf(err), func(path string) bool {
				return path == f.Name || len(path) > len(f.Name) && path[len(path)-len(f.Name)-1:] == "."+f.Name
			}) {
				t.Errorf("%s.%s is %s, and %v gives %v", at, f.Name, f.Range, n, err)
			}
		}
	}
}

func fieldsOf(err error) []string {
	var fields []string
	for _, e := range strategy.All(err) {
		if invalid, ok := compat.AsType[*cupel.InvalidConfigError](e); ok {
			fields = append(fields, invalid.Field)
		}
	}
	return fields
}

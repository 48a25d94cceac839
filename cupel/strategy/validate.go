package strategy

import (
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/value"
)

// maxNesting bounds the depth of wrapped strategies. It is far beyond real use,
// and stops at wrappers that make a new child at each call.
const maxNesting = 1000

// maxStrategies bounds how many strategies are visited in all. It is far beyond
// real use. It stops at wrappers that make new pointers at each call, and where values
// are in several places: a value is visited once for each path to it, and n levels
// can have 2^n paths.
const maxStrategies = 100_000

// ValidateScorer checks a scorer and every scorer inside it: none is nil, none has
// [Facts] that say it is invalid, and none contains itself. It returns a
// [cupel.InvalidConfigError]. Constructors of scorers that wrap others use it.
//
// It takes time linear in the number of scorers, and checks a scorer in several
// places once if it is a pointer. Others are checked wherever they occur. More than
// 100,000 scorers are an error.
//
// It implements DETECT-CYCLES of the CompositeScorer chapter.
func ValidateScorer(s Scorer) error {
	return walk("scorer", s, scorersOf, validateOne)
}

// ValidateSlicer checks a slicer and every slicer inside it, as
// [ValidateScorer] does for scorers. It asks their [Facts].
func ValidateSlicer(s Slicer) error {
	return walk("slicer", s, slicersOf, validateOne)
}

// ValidatePlacer checks a placer as [ValidateScorer] does a scorer. Placers contain
// no others.
func ValidatePlacer(p Placer) error {
	return walk("placer", p, func(Placer) []Placer { return nil }, validateOne)
}

// AllSlicers returns an iterator over a slicer and every slicer inside it,
// outer ones first. Use it to find what a wrapper hides. It ends early at a
// slicer that contains itself.
func AllSlicers(s Slicer) iter.Seq[Slicer] {
	return func(yield func(Slicer) bool) {
		_ = walk("slicer", s, slicersOf, func(_ string, s Slicer) error {
			if !yield(s) {
				return errStop
			}
			return nil
		})
	}
}

func scorersOf(s Scorer) []Scorer {
	if inside := FactsOf(s).Scorers; inside != nil {
		return inside
	}
	return embedded[Scorer](s)
}

func slicersOf(s Slicer) []Slicer {
	if inside := FactsOf(s).Slicers; inside != nil {
		return inside
	}
	return embedded[Slicer](s)
}

// embedded returns the strategies in exported embedded interfaces of a struct,
// which hide what their values say about themselves.
func embedded[S any](s S) (inside []S) {
	v := reflect.Indirect(reflect.ValueOf(s))
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.Anonymous || !f.IsExported() || f.Type.Kind() != reflect.Interface {
			continue
		}
		if s, _ := v.Field(i).Interface().(S); !value.IsNil(s) {
			inside = append(inside, s)
		}
	}
	return inside
}

func validateOne[S any](role string, s S) (err error) {
	defer recoverValidation(role, s, &err)
	return invalid(role, s, FactsOf(s).Invalid)
}

// invalid returns the error of a strategy that says why it cannot work.
func invalid(role string, s any, err error) error {
	switch {
	case err == nil:
		return nil
	case value.IsNil(err):
		return invalidStrategy(s, role+" is not valid: its error is a nil "+value.TypeName(err))
	case errors.Is(err, cupel.ErrInvalidConfig):
		return err
	}
	return invalidStrategy(s, role+" is not valid: "+err.Error())
}

func invalidStrategy(s any, reason string) error {
	return &cupel.InvalidConfigError{Component: value.TypeName(s), Reason: reason}
}

var errStop = errors.New("stop")

// walk visits root and everything inside it depth first, each strategy once. It
// does not recover a panic of visit, which may come from the loop around
// [AllSlicers].
func walk[S any](role string, root S, children func(S) []S, visit func(role string, s S) error) error {
	onPath := make(map[any]bool) // every pointer visited: whether it is on the path to this one
	visits := 0
	var down func(s S, depth int) error
	down = func(s S, depth int) error {
		if value.IsNil(s) {
			return invalidStrategy(root, role+" must not be nil")
		}
		if depth > maxNesting {
			return invalidStrategy(root, fmt.Sprintf("%ss are nested more than %d deep", role, maxNesting))
		}
		if reflect.TypeOf(s).Kind() == reflect.Pointer { // others cannot contain themselves
			on, seen := onPath[s]
			if on {
				return invalidStrategy(s, "Cycle detected: "+role+" appears in its own dependency graph")
			}
			if seen {
				return nil
			}
			onPath[s] = true
			defer func() { onPath[s] = false }()
		}
		if visits++; visits > maxStrategies {
			return invalidStrategy(root, fmt.Sprintf(
				"there are more than %d %ss: a type such as %s must return the same ones at each call, and be a pointer if it appears in several places", maxStrategies, role, value.TypeName(s)))
		}
		if err := visit(role, s); err != nil {
			return err
		}
		inside, err := childrenOf(role, s, children)
		if err != nil {
			return err
		}
		for _, child := range inside {
			if err := down(child, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return down(root, 0)
}

func childrenOf[S any](role string, s S, children func(S) []S) (inside []S, err error) {
	defer recoverValidation(role, s, &err)
	return children(s), nil
}

// recoverValidation turns a panic of s into an error. It must be deferred
// directly.
func recoverValidation(role string, s any, err *error) {
	if v := recover(); v != nil {
		*err = invalidStrategy(s, fmt.Sprintf("%s panicked while it was validated: %v", role, v))
	}
}

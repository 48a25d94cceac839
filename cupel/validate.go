package cupel

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"runtime/debug"
	"unsafe"
)

// Validator is implemented by strategies whose zero value or settings may be
// unusable. [New] asks every strategy, through its wrappers, to validate
// itself, so that a strategy built without its constructor is an error and
// never a panic.
type Validator interface {
	// Validate returns nil or what is wrong, preferably as an
	// [InvalidConfigError].
	Validate() error
}

// maxNesting bounds the depth of wrapped strategies. It is far beyond real use,
// and stops at wrappers that make a new child at each call.
const maxNesting = 1000

// maxVisits bounds visits to strategies that are not comparable. A tree that
// holds one of them in several places is walked once for each path to it, and n
// levels can have 2^n paths.
const maxVisits = 10_000

// maxStrategies bounds how many strategies are visited in all. It is far beyond
// real use, and stops at wrappers that make new pointers at each call.
const maxStrategies = 100_000

// maxEmbedding bounds the depth of the search for embedded types.
const maxEmbedding = 16

// ValidateScorer checks a scorer and every scorer inside it: none is nil, each
// [Validator] is valid, and none contains itself. It returns an
// [InvalidConfigError]. Constructors of scorers that wrap others use it.
//
// It takes time linear in the number of scorers. Scorers of types that are not
// comparable cannot be told apart, so it checks them wherever they occur; more
// than 10,000 of them are an error, and so are more than 100,000 scorers in
// all. Pointers are always comparable.
//
// It implements DETECT-CYCLES of the CompositeScorer chapter.
func ValidateScorer(s Scorer) error {
	return walk("scorer", s, scorersOf, validateOne)
}

// ValidateSlicer checks a slicer and every slicer inside it, as
// [ValidateScorer] does for scorers.
func ValidateSlicer(s Slicer) error {
	return walk("slicer", s, slicersOf, validateOne)
}

// AllSlicers returns an iterator over a slicer and every slicer inside it,
// outer ones first. Use it to find what a wrapper hides. It ends early at a
// slicer that contains itself.
func AllSlicers(s Slicer) iter.Seq[Slicer] {
	return func(yield func(Slicer) bool) {
		stop := errors.New("stop")
		_ = walk("slicer", s, slicersOf, func(_ string, s Slicer) error {
			if !yield(s) {
				return stop
			}
			return nil
		})
	}
}

func scorersOf(s Scorer) []Scorer {
	if w, ok := s.(ScorerWrapper); ok {
		return w.Scorers()
	}
	return embedded[Scorer](s)
}

func slicersOf(s Slicer) []Slicer {
	if w, ok := s.(SlicerWrapper); ok {
		return w.Slicers()
	}
	return embedded[Slicer](s)
}

// embedded returns the strategies in embedded interfaces, which hide the
// methods of their values beyond the interface. Other embedded types promote
// all their methods, including those that describe them.
func embedded[S any](s S) []S {
	v := reflect.ValueOf(s)
	if v.Kind() == reflect.Struct {
		v = reflect.New(v.Type()).Elem() // unexported fields can be read by address only
		v.Set(reflect.ValueOf(s))
	}
	return embeddedIn[S](v, 0)
}

func embeddedIn[S any](v reflect.Value, depth int) (inside []S) {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || depth > maxEmbedding { // types can embed each other
		return nil
	}
	for i := range v.NumField() {
		f := v.Field(i)
		switch {
		case !v.Type().Field(i).Anonymous:
		case f.Kind() != reflect.Interface:
			inside = append(inside, embeddedIn[S](f, depth+1)...)
		default:
			if s, ok := reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Interface().(S); ok && !isNil(s) {
				inside = append(inside, s)
			}
		}
	}
	return inside
}

func validateOne[S any](role string, s S) (err error) {
	defer recoverValidation(role, s, &err)
	v, ok := any(s).(Validator)
	if !ok {
		return nil
	}
	err = v.Validate()
	switch {
	case err == nil:
		return nil
	case isNil(err):
		return &InvalidConfigError{Component: typeName(s), Reason: role + " is not valid: its Validate returned a nil " + typeName(err)}
	case errors.Is(err, ErrInvalidConfig):
		return err
	}
	return &InvalidConfigError{Component: typeName(s), Reason: role + " is not valid: " + err.Error()}
}

// identity tells strategies of comparable types apart. Equal identities are the
// same strategy while both are alive.
type identity struct {
	value any
	kind  reflect.Type
	bits  string
}

// identify returns the identity of s, and false when its type is not comparable.
func identify(s any) (identity, bool) {
	t := reflect.TypeOf(s)
	switch {
	case !t.Comparable():
		return identity{}, false
	case holdsInterface(t):
		// Comparing these values would compare the trees inside them, once for
		// each path, and can panic. An interface holds a pointer to such a
		// value, and its bits identify the strategies inside without looking at
		// their contents.
		box := (*[2]unsafe.Pointer)(unsafe.Pointer(&s))[1]
		return identity{kind: t, bits: string(unsafe.Slice((*byte)(box), t.Size()))}, true
	}
	return identity{value: s}, true
}

// holdsInterface reports whether a value of t contains an interface.
func holdsInterface(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Array:
		return holdsInterface(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if holdsInterface(f.Type) {
				return true
			}
		}
	default: // no other type holds values of other types in itself
	}
	return false
}

// walk visits root and everything inside it depth first, each strategy once. It
// does not recover a panic of visit, which may come from the loop around
// [AllSlicers].
func walk[S any](role string, root S, children func(S) []S, visit func(role string, s S) error) error {
	type met struct {
		onPath bool
		s      S // kept alive, so that no other strategy gets its address
	}
	visited := make(map[identity]met)
	nameless := 0 // strategies visited that are not comparable
	var down func(s S, depth int) error
	down = func(s S, depth int) error {
		if isNil(s) {
			return &InvalidConfigError{Component: typeName(root), Reason: role + " must not be nil"}
		}
		if depth > maxNesting {
			return &InvalidConfigError{Component: typeName(root), Reason: fmt.Sprintf("%ss are nested more than %d deep", role, maxNesting)}
		}
		if id, ok := identify(s); ok {
			earlier, seen := visited[id]
			if earlier.onPath {
				return &InvalidConfigError{Component: typeName(s), Reason: "Cycle detected: " + role + " appears in its own dependency graph"}
			}
			if seen {
				return nil
			}
			if len(visited) == maxStrategies {
				return &InvalidConfigError{Component: typeName(root), Reason: fmt.Sprintf(
					"there are more than %d %ss: a wrapper such as %s must return the same ones at each call", maxStrategies, role, typeName(s))}
			}
			visited[id] = met{true, s}
			defer func() { visited[id] = met{false, s} }()
		} else if nameless++; nameless > maxVisits {
			return &InvalidConfigError{Component: typeName(root), Reason: fmt.Sprintf(
				"there are more than %d %ss of types that are not comparable, such as %s: use pointers to them, so that one in several places is known to be the same",
				maxVisits, role, typeName(s))}
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
		*err = &InvalidConfigError{Component: typeName(s), Reason: fmt.Sprintf("%s panicked while it was validated: %v", role, v)}
	}
}

// isNil reports whether v is nil, or a nil pointer, map, slice or function in
// an interface, which only looks like a strategy.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan:
		return r.IsNil()
	default:
		return false
	}
}

func typeName(v any) string {
	if v == nil {
		return "nil"
	}
	return fmt.Sprintf("%T", v)
}

// strategyError wraps an error that a strategy returned, unless the error
// already says what happened or reports the end of the run's own context.
func strategyError(ctx context.Context, role string, s any, err error) error {
	switch {
	case err == nil:
		return nil
	case isNil(err): // a nil pointer of an error type: it says nothing, and its methods may panic
		return &StrategyError{Role: role, Strategy: typeName(s), Reason: "failed with a nil " + typeName(err)}
	case typed(err) || isContextError(ctx, err):
		return err
	}
	return &StrategyError{Role: role, Strategy: typeName(s), Reason: "failed", Err: err}
}

func isContextError(ctx context.Context, err error) bool {
	done, cause := ctx.Err(), context.Cause(ctx)
	if done == nil || err == nil {
		return false
	}
	if is(err, done) || is(err, cause) {
		return true
	}
	// A caller's context may return another Err each time, or one that cannot
	// be compared. Then only its type identifies it.
	return !is(ctx.Err(), done) && errors.As(err, reflect.New(reflect.TypeOf(done)).Interface())
}

// is does what errors.Is does for targets that may not be comparable, for which errors.Is
// could panic.
func is(err, target error) bool {
	return target != nil && reflect.ValueOf(target).Comparable() && errors.Is(err, target)
}

// recoverStrategy turns a panic of s into an error. It must be deferred
// directly.
func recoverStrategy(role string, s any, err *error) {
	if v := recover(); v != nil {
		*err = &StrategyError{Role: role, Strategy: typeName(s), Reason: "panicked", Err: &PanicError{Value: v, Stack: debug.Stack()}}
	}
}

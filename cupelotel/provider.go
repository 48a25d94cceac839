package cupelotel

import (
	"reflect"
	"sync/atomic"
)

// memo caches the value built from a provider until the provider changes, which
// makes looking up the global provider at each run cheap.
type memo[P, V any] struct {
	last atomic.Pointer[memoEntry[P, V]]
}

type memoEntry[P, V any] struct {
	provider P
	value    V
}

func (m *memo[P, V]) get(provider P, build func(P) V) V {
	if e := m.last.Load(); e != nil && same(e.provider, provider) {
		return e.value
	}
	e := &memoEntry[P, V]{provider, build(provider)}
	m.last.Store(e)
	return e.value
}

// same reports whether two providers are identical. It returns false for types
// that cannot be compared: comparing them panics, and checking by reflection
// first would allocate.
func same[P any](a, b P) (equal bool) {
	defer func() { _ = recover() }()
	return any(a) == any(b)
}

// isNil reports whether a provider or an error is nil or holds a nil pointer, such as
// an unset variable of the SDK's type.
func isNil(value any) bool {
	v := reflect.ValueOf(value)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

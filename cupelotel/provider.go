package cupelotel

import (
	"reflect"
	"sync/atomic"
)

// memo remembers what was made from a provider for as long as the provider
// stays the same, so that asking for the global one at each run is cheap.
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

// same reports whether two providers are one. Those whose type cannot be
// compared never are: comparing them panics, which reflection could foresee but
// only at the price of allocations.
func same[P any](a, b P) (equal bool) {
	defer func() {
		if recover() != nil {
			equal = false
		}
	}()
	return any(a) == any(b)
}

// isNil reports whether a provider is nil, or a nil pointer, which is what a
// variable of the SDK's type holds that nobody has set.
func isNil(provider any) bool {
	v := reflect.ValueOf(provider)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

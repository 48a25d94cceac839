// Package value answers questions about values that users hand in: strategies,
// observers and errors.
package value

import (
	"context"
	"errors"
	"fmt"
	"reflect"
)

// IsNil reports whether v is nil, or a nil pointer, map, slice or function in
// an interface, which only looks like a value.
func IsNil(v any) bool {
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

// TypeName returns the Go type of v, or "nil".
func TypeName(v any) string {
	if v == nil {
		return "nil"
	}
	return fmt.Sprintf("%T", v)
}

// IsContextError reports whether err is the end of ctx.
func IsContextError(ctx context.Context, err error) bool {
	done, cause := ctx.Err(), context.Cause(ctx)
	if done == nil {
		return false
	}
	if is(err, done) || is(err, cause) {
		return true
	}
	// A caller's context may return another Err each time, or one that cannot
	// be compared. Then only its type identifies it.
	return !is(ctx.Err(), done) && errors.As(err, reflect.New(reflect.TypeOf(done)).Interface())
}

// is does what errors.Is does for targets that may not be comparable, for which
// errors.Is could panic.
func is(err, target error) bool {
	return reflect.ValueOf(target).Comparable() && errors.Is(err, target)
}

// Quietly calls do while something unwinds the stack. A panic of do ends here, so
// that the caller sees the first one, which is not recovered.
func Quietly(do func()) {
	defer func() { _ = recover() }()
	do()
}

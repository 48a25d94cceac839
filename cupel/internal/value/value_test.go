package value_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/wollax/cupel-go/cupel/internal/value"
)

// TestKinds: what only looks like a value is nil, and names are those of Go's types.
func TestKinds(t *testing.T) {
	for _, row := range []struct {
		v    any
		null bool
		name string
	}{
		{nil, true, "nil"},
		{(*int)(nil), true, "*int"},
		{map[string]int(nil), true, "map[string]int"},
		{[]int(nil), true, "[]int"},
		{(func())(nil), true, "func()"},
		{chan int(nil), true, "chan int"},
		{new(int), false, "*int"},
		{[]int{}, false, "[]int"},
		{0, false, "int"},
		{struct{}{}, false, "struct {}"},
	} {
		if null, name := value.IsNil(row.v), value.TypeName(row.v); null != row.null || name != row.name {
			t.Errorf("%s: nil is %t, the type is %s", row.name, null, name)
		}
	}
}

// ending is a context of a caller whose error is what err returns.
type ending struct {
	context.Context
	err func() error
}

func (e ending) Err() error { return e.err() }

// holding is an error of a type that can be compared, and perhaps of a value that cannot.
type holding struct{ detail any }

func (h holding) Error() string { return fmt.Sprint(h.detail) }

// TestIsContextError has a reason on each row.
func TestIsContextError(t *testing.T) {
	cause, other := errors.New("shutting down"), errors.New("another error")
	ended, end := context.WithCancelCause(t.Context())
	end(cause)
	fresh := ending{t.Context(), func() error { return holding{[]string{"ended"}} }}
	for _, row := range []struct {
		why  string
		ctx  context.Context
		err  error
		want bool
	}{
		{"the context goes on", t.Context(), context.Canceled, false},
		{"no error", ended, nil, false},
		{"the error of the context, wrapped", ended, fmt.Errorf("score: %w", context.Canceled), true},
		{"its cause, wrapped", ended, fmt.Errorf("score: %w", cause), true},
		{"an error of a strategy", ended, other, false},
		{"the type of the context's error, though a comparable one says more", ended, context.DeadlineExceeded, false},
		{"an error that cannot be compared, by its type", fresh, fmt.Errorf("score: %w", holding{[]string{"before"}}), true},
		{"an error of another type", fresh, other, false},
	} {
		if got := value.IsContextError(row.ctx, row.err); got != row.want {
			t.Errorf("%s: %t", row.why, got)
		}
	}
}

// TestQuietly: the panic ends there.
func TestQuietly(t *testing.T) {
	done := false
	value.Quietly(func() { done = true; panic("again") })
	if !done {
		t.Error("not called")
	}
}

package cupel_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

func TestErrorType(t *testing.T) {
	panicked := &cupel.PanicError{Value: errors.New("secret")}
	for _, tt := range []struct {
		err  interface{ ErrorType() string }
		want string // "" for the Go type
		why  string
	}{
		{&cupel.InvalidItemError{}, "", "the Go type, as OpenTelemetry's conventions for Go say"},
		{&cupel.InvalidBudgetError{}, "", "found before a run"},
		{&cupel.InvalidConfigError{}, "", "also returned by strategies"},
		{&cupel.PinnedExceedsBudgetError{}, "", "of classify"},
		{&cupel.OverflowError{}, "", "of place"},
		{&cupel.ScarcityError{}, "", "of slice"},
		{&cupel.AbandonedError{}, "", "told to observers only"},
		{&cupel.ContentError{}, "", "of making forms"},
		{&cupel.DecodeError{}, "", "of reading JSON"},
		{&cupel.EncodeError{}, "", "of writing JSON"},
		{panicked, "", "by itself"},
		{&cupel.StrategyError{Err: errors.New("secret")}, "", "a cause of another package is not named"},
		{&cupel.StrategyError{}, "", "without a cause"},
		{&cupel.StrategyError{Err: panicked}, "*cupel.PanicError", "a bug, not a failure"},
		{&cupel.StrategyError{Err: fmt.Errorf("later: %w", panicked)}, "", "what a strategy wraps is its own affair"},
		{&cupel.ContractError{}, "", "not that of the StrategyError inside"},
		{&cupel.ContractError{StrategyError: cupel.StrategyError{Err: panicked}}, "", "it returned, and so did not panic"},
		{&cupel.SourceError{Err: errors.New("secret")}, "", "a cause of another package is not named"},
		{&cupel.SourceError{Err: panicked}, "*cupel.PanicError", "as with strategies"},
		{&cupel.CanceledError{Err: context.Canceled}, "context.Canceled", "one of two causes with a name"},
		{&cupel.CanceledError{Err: context.DeadlineExceeded, Cause: errors.New("secret")}, "context.DeadlineExceeded", "the cause is text of the caller"},
		{&cupel.CanceledError{Err: errors.New("secret")}, "", "a context with an error of its own"},
		{&cupel.CanceledError{Err: fmt.Errorf("odd: %w", context.Canceled)}, "", "the very error, as the context package returns it"},
	} {
		want := tt.want
		if want == "" {
			want = fmt.Sprintf("%T", tt.err)
		}
		if got := tt.err.ErrorType(); got != want {
			t.Errorf("%T has the type %q, want %q: %s", tt.err, got, want, tt.why)
		}
	}
}

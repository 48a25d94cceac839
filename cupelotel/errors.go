package cupelotel

import (
	"context"
	"fmt"
	"reflect"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// The functions below look at the error of a run and at what it directly wraps,
// never further down the chain: a ScarcityError wrapped by a strategy is that
// strategy's error, and methods of unknown errors may panic.

// errorType returns the value of error.type for the error of a run or a turn: its Go
// type, as in the conventions for Go, or the type of a panic or of a context's end
// inside it.
func errorType(err error) string {
	if isNil(err) { // from a chooser that is not Cupel's
		return other
	}
	if panicked(err) {
		return "*cupel.PanicError"
	}
	cause := err
	if canceled, ok := err.(*pipeline.CanceledError); ok { //nolint:errorlint // see above
		cause = canceled.Err
	}
	switch cause {
	case context.Canceled: //nolint:errorlint // see above
		return "context.Canceled"
	case context.DeadlineExceeded:
		return "context.DeadlineExceeded"
	}
	return fmt.Sprintf("%T", err)
}

// panicked reports whether a strategy or a source panicked.
func panicked(err error) bool {
	var cause error
	switch err := err.(type) { //nolint:errorlint // see above
	case *cupel.StrategyError:
		cause = err.Err
	case *pipeline.SourceError:
		cause = err.Err
	}
	_, ok := cause.(*cupel.PanicError) //nolint:errorlint // see above
	return ok
}

// isNil reports whether a provider or an error is nil or holds a nil pointer, such as
// an unset variable of the SDK's type.
func isNil(value any) bool {
	v := reflect.ValueOf(value)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// description returns the status text for the error of a run.
func (c *TraceCollector) description(err error) string {
	if c.redaction.Show&observe.PartError != 0 {
		// Sprint, since it survives an Error method that panics.
		if text := c.redaction.text(observe.PartError, fmt.Sprint(err)); text != "" {
			return text
		}
	}
	return c.summary(err)
}

// summary describes an error using only Cupel's words, numbers and kinds. It never
// uses texts of an error that a strategy built itself: they may quote an item.
func (c *TraceCollector) summary(err error) string {
	if isNil(err) {
		return "cupel: the run failed"
	}
	did := " failed"
	if panicked(err) {
		did = " panicked"
	}
	switch err := err.(type) { //nolint:errorlint // see above
	case *pipeline.PinnedExceedsBudgetError, *pipeline.OverflowError, *observe.AbandonedError:
		return err.Error() // numbers and a stage only
	case *cupel.ScarcityError:
		kind := c.redaction.text(observe.PartKind, string(err.Kind))
		return fmt.Sprintf("%v: %s has %d of %d required items", cupel.ErrScarcity, kind, err.Satisfied, err.RequireCount)
	case *cupel.ContractError:
		return "cupel: " + role(err.Role) + " broke its contract"
	case *cupel.StrategyError:
		return "cupel: " + role(err.Role) + did
	case *pipeline.SourceError:
		return fmt.Sprintf("cupel: the source%s at item %d", did, err.Index)
	case *pipeline.CanceledError:
		return "cupel: stopped in stage " + string(err.Stage)
	case *cupel.InvalidItemError:
		return fmt.Sprintf("%v at index %d", cupel.ErrInvalidItem, err.Index)
	default:
		return "cupel: the run failed"
	}
}

// role returns the role of a strategy. A strategy can build a StrategyError itself and
// put anything there.
func role(role string) string {
	switch role {
	case "scorer", "slicer", "placer":
		return role
	}
	return "strategy"
}

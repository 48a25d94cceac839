package cupelotel

import (
	"context"
	"fmt"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// The functions below look at the error of a run and at what it directly wraps,
// never further down the chain: a ScarcityError wrapped by a strategy is that
// strategy's error, and methods of unknown errors may panic.

// errorType returns the value of error.type for the error of a run: its Go type, as
// the conventions for Go have it, or that of a panic or of a context's end inside it.
// It looks at the types of Cupel only: the name of another type is text of a caller.
func errorType(err error) string {
	if isNil(err) { // of a chooser that is not Cupel's
		return other
	}
	switch err := err.(type) { //nolint:errorlint // see above
	case *cupel.StrategyError:
		return typeOf(err.Err, err)
	case *pipeline.SourceError:
		return typeOf(err.Err, err)
	case *pipeline.CanceledError:
		if done := errorType(err.Err); done != other {
			return done
		}
		return fmt.Sprintf("%T", err)
	case *cupel.ContractError, *pipeline.PinnedExceedsBudgetError, *pipeline.OverflowError, *pipeline.ContentError, *cupel.ScarcityError,
		*cupel.InvalidItemError, *cupel.InvalidConfigError, *observe.AbandonedError:
		return fmt.Sprintf("%T", err)
	}
	switch err { //nolint:errorlint // see above
	case context.Canceled:
		return "context.Canceled"
	case context.DeadlineExceeded:
		return "context.DeadlineExceeded"
	}
	return other
}

// typeOf returns the type of a panic, or that of the error around it.
func typeOf(cause error, err error) string {
	if panicked(cause) {
		return "*cupel.PanicError"
	}
	return fmt.Sprintf("%T", err)
}

func panicked(err error) bool {
	_, ok := err.(*cupel.PanicError) //nolint:errorlint // see above
	return ok
}

// description returns what the status says about the error of a run, whose stage
// called the given strategies.
func (c *TraceCollector) description(err error, called []observe.StrategyTime) string {
	if c.redact != nil {
		// Sprint, since it survives an Error method that panics.
		if text := c.text(TextError, fmt.Sprint(err)); text != "" {
			return text
		}
	}
	return c.summary(err, called)
}

// summary describes an error using only Cupel's words, numbers, kinds and the
// Go type of a strategy. It never uses the error's text, nor the reason in an
// error that a strategy built itself: both may quote an item.
func (c *TraceCollector) summary(err error, called []observe.StrategyTime) string {
	if isNil(err) {
		return "cupel: the run failed"
	}
	switch err := err.(type) { //nolint:errorlint // see above
	case *pipeline.PinnedExceedsBudgetError:
		return err.Error() // numbers only
	case *pipeline.OverflowError:
		return err.Error() // numbers only
	case *cupel.ScarcityError:
		kind := c.text(TextKind, string(err.Kind))
		return fmt.Sprintf("%v: %s has %d of %d required items", cupel.ErrScarcity, kind, err.Satisfied, err.RequireCount)
	case *cupel.ContractError:
		return "cupel: " + role(err.Role) + typeName(err.Strategy, called) + " broke its contract"
	case *cupel.StrategyError:
		did := "broke its contract"
		switch {
		case panicked(err.Err):
			did = "panicked"
		case err.Err != nil:
			did = "failed"
		}
		return "cupel: " + role(err.Role) + typeName(err.Strategy, called) + " " + did
	case *pipeline.SourceError:
		did := "failed"
		if panicked(err.Err) {
			did = "panicked"
		}
		return fmt.Sprintf("cupel: the source %s at item %d", did, err.Index)
	case *pipeline.CanceledError:
		text := "cupel: stopped in stage " + string(err.Stage)
		switch err.Err {
		case context.Canceled, context.DeadlineExceeded: //nolint:errorlint // see above
			text += ": " + err.Err.Error()
		}
		return text
	case *observe.AbandonedError:
		return err.Error() // a stage only
	case *cupel.InvalidItemError:
		return fmt.Sprintf("%v at index %d", cupel.ErrInvalidItem, err.Index)
	case *cupel.InvalidConfigError:
		return cupel.ErrInvalidConfig.Error()
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

// typeName returns the Go type of a strategy after a space, if it is one of those
// that were called: an error that a strategy built itself may have any text.
func typeName(name string, called []observe.StrategyTime) string {
	for i := range called {
		if called[i].Strategy == name {
			return " " + name
		}
	}
	return ""
}

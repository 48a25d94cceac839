package cupelotel

import (
	"context"
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// errorType returns the value of error.type for the error of a run. It looks at
// types only: methods of foreign errors may panic, and their names would make
// for any number of values.
func errorType(err error) string {
	switch err := err.(type) {
	case *cupel.StrategyError:
		if _, panicked := err.Err.(*cupel.PanicError); panicked {
			return "*cupel.PanicError"
		}
	case *cupel.CanceledError:
		switch err.Err {
		case context.Canceled:
			return "context.Canceled"
		case context.DeadlineExceeded:
			return "context.DeadlineExceeded"
		}
	case *cupel.PinnedExceedsBudgetError, *cupel.OverflowError, *cupel.ScarcityError,
		*cupel.InvalidItemError, *cupel.InvalidConfigError:
	default:
		return other
	}
	return fmt.Sprintf("%T", err)
}

// description returns what the status says about the error of a run.
func (c *TraceCollector) description(err error) string {
	if c.redact != nil {
		// Sprint, since it survives an Error method that panics.
		if text := c.text(ErrorText, fmt.Sprint(err)); text != "" {
			return text
		}
	}
	return c.summary(err)
}

// summary describes an error in words of its own, with numbers, kinds and the
// Go type of a strategy: its text may quote an item, and so may the reason of an
// error that a strategy has made by hand.
func (c *TraceCollector) summary(err error) string {
	switch err := err.(type) {
	case *cupel.PinnedExceedsBudgetError:
		return err.Error() // numbers only
	case *cupel.OverflowError:
		return err.Error() // numbers only
	case *cupel.ScarcityError:
		kind := c.text(KindText, string(err.Kind))
		return fmt.Sprintf("%v: %s has %d of %d required items", cupel.ErrScarcity, kind, err.Satisfied, err.RequireCount)
	case *cupel.StrategyError:
		did := "broke its contract"
		if _, panicked := err.Err.(*cupel.PanicError); panicked {
			did = "panicked"
		} else if err.Err != nil {
			did = "failed"
		}
		return fmt.Sprintf("cupel: %s %s %s", err.Role, err.Strategy, did)
	case *cupel.CanceledError:
		text := "cupel: stopped"
		if slices.Contains(stages[:], err.Stage) {
			text += " in stage " + string(err.Stage)
		}
		if err.Err == context.Canceled || err.Err == context.DeadlineExceeded {
			text += ": " + err.Err.Error()
		}
		return text
	case *cupel.InvalidItemError:
		return fmt.Sprintf("%v at index %d", cupel.ErrInvalidItem, err.Index)
	case *cupel.InvalidConfigError:
		return cupel.ErrInvalidConfig.Error()
	default:
		return "cupel: the run failed"
	}
}

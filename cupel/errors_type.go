package cupel

import "context"

// The methods below give the value of OpenTelemetry's error.type: the Go type, as
// its conventions for Go have it. Values are part of the API, since dashboards count
// by them. They never contain text of a caller.

// ErrorType returns "*cupel.StrategyError", or "*cupel.PanicError" for a strategy that
// panicked.
func (e *StrategyError) ErrorType() string { return typeOf(e.Err, "*cupel.StrategyError") }

// ErrorType returns "*cupel.SourceError", or "*cupel.PanicError" for a source that
// panicked.
func (e *SourceError) ErrorType() string { return typeOf(e.Err, "*cupel.SourceError") }

// ErrorType returns "context.Canceled" or "context.DeadlineExceeded" if that is the
// context's error, else "*cupel.CanceledError".
func (e *CanceledError) ErrorType() string {
	switch e.Err {
	case context.Canceled: //nolint:errorlint // the very error
		return "context.Canceled"
	case context.DeadlineExceeded:
		return "context.DeadlineExceeded"
	}
	return "*cupel.CanceledError"
}

// typeOf returns the type of a panic, or the given one.
func typeOf(cause error, otherwise string) string {
	if panicked, ok := cause.(*PanicError); ok { //nolint:errorlint // not what a strategy wraps
		return panicked.ErrorType()
	}
	return otherwise
}

// ErrorType returns "*cupel.InvalidItemError".
func (*InvalidItemError) ErrorType() string { return "*cupel.InvalidItemError" }

// ErrorType returns "*cupel.InvalidBudgetError".
func (*InvalidBudgetError) ErrorType() string { return "*cupel.InvalidBudgetError" }

// ErrorType returns "*cupel.InvalidConfigError".
func (*InvalidConfigError) ErrorType() string { return "*cupel.InvalidConfigError" }

// ErrorType returns "*cupel.PinnedExceedsBudgetError".
func (*PinnedExceedsBudgetError) ErrorType() string { return "*cupel.PinnedExceedsBudgetError" }

// ErrorType returns "*cupel.OverflowError".
func (*OverflowError) ErrorType() string { return "*cupel.OverflowError" }

// ErrorType returns "*cupel.ScarcityError".
func (*ScarcityError) ErrorType() string { return "*cupel.ScarcityError" }

// ErrorType returns "*cupel.ContentError".
func (*ContentError) ErrorType() string { return "*cupel.ContentError" }

// ErrorType returns "*cupel.DecodeError".
func (*DecodeError) ErrorType() string { return "*cupel.DecodeError" }

// ErrorType returns "*cupel.EncodeError".
func (*EncodeError) ErrorType() string { return "*cupel.EncodeError" }

// ErrorType returns "*cupel.AbandonedError".
func (*AbandonedError) ErrorType() string { return "*cupel.AbandonedError" }

// ErrorType returns "*cupel.PanicError".
func (*PanicError) ErrorType() string { return "*cupel.PanicError" }

// ErrorType returns "*cupel.ContractError".
func (*ContractError) ErrorType() string { return "*cupel.ContractError" }

package cupel

import (
	"errors"
	"fmt"
)

// Sentinels for [errors.Is]. Each is matched by exactly one of the typed errors
// of this package, which carry details that a caller can act on.
var (
	// ErrInvalidItem is matched by [InvalidItemError].
	ErrInvalidItem = errors.New("cupel: invalid item")
	// ErrInvalidBudget is matched by [InvalidBudgetError].
	ErrInvalidBudget = errors.New("cupel: invalid budget")
	// ErrInvalidConfig is matched by [InvalidConfigError].
	ErrInvalidConfig = errors.New("cupel: invalid configuration")
	// ErrScarcity is matched by [ScarcityError].
	ErrScarcity = errors.New("cupel: too few candidates of a required kind")
	// ErrStrategy is matched by [StrategyError], and by [ContractError], which is
	// one.
	ErrStrategy = errors.New("cupel: a strategy failed")
	// ErrContract is matched by [ContractError].
	ErrContract = errors.New("cupel: a strategy broke its contract")
	// ErrInvalidJSON is matched by [DecodeError].
	ErrInvalidJSON = errors.New("cupel: invalid JSON")
	// ErrUnencodable is matched by [EncodeError].
	ErrUnencodable = errors.New("cupel: cannot write JSON")
)

// InvalidItemError reports an item that cannot be built, read or run.
type InvalidItemError struct {
	Index  int    // position in the list that was given, or -1 outside a list
	Field  string // the field's name in the specification, or "" for the item as a whole
	Reason string // what is wrong, and what would be right
}

func (e *InvalidItemError) Error() string {
	msg := "cupel: invalid item"
	if e.Index >= 0 {
		msg = fmt.Sprintf("%s at index %d", msg, e.Index)
	}
	if e.Field != "" {
		return msg + ": " + e.Field + " " + e.Reason
	}
	return msg + ": " + e.Reason
}

// Is reports whether target is [ErrInvalidItem].
func (e *InvalidItemError) Is(target error) bool { return target == ErrInvalidItem }

// InvalidBudgetError reports a budget that breaks a validation rule of the
// ContextBudget chapter.
type InvalidBudgetError struct {
	Field  string // the field's name in the specification
	Reason string // what is wrong, and what would be right
}

func (e *InvalidBudgetError) Error() string {
	return "cupel: invalid budget: " + e.Field + " " + e.Reason
}

// Is reports whether target is [ErrInvalidBudget].
func (e *InvalidBudgetError) Is(target error) bool { return target == ErrInvalidBudget }

// InvalidConfigError reports a strategy or pipeline that cannot be built.
type InvalidConfigError struct {
	Component string // the specification's name: "CompositeScorer", "KnapsackSlice", "Config"
	Field     string // the setting, with its position in a list: "entries[1].weight"
	Value     string // the offending value, or "" when there is none to show
	Reason    string // what is wrong; in the specification's own words if it has any
	Earlier   string // the earlier setting with the same name as Field, or "" if the name is not the mistake
}

func (e *InvalidConfigError) Error() string {
	where := e.Component
	if e.Field != "" {
		where += ", " + e.Field
	}
	if e.Value != "" {
		where += " = " + e.Value
	}
	return "cupel: " + e.Reason + " (" + where + ")"
}

// Is reports whether target is [ErrInvalidConfig].
func (e *InvalidConfigError) Is(target error) bool { return target == ErrInvalidConfig }

// ScarcityError reports that a count slicer that is set to throw found fewer
// candidates of a kind than it requires. The Slice stage fails with it.
type ScarcityError struct {
	Slicer       string      // the specification's name of the slicer
	Kind         ContextKind // the kind that is short, spelled as the entry does
	RequireCount int         // items required
	Satisfied    int         // items found
}

func (e *ScarcityError) Error() string {
	return fmt.Sprintf("cupel: %s: candidate pool for kind '%s' has %d items but RequireCount is %d.",
		e.Slicer, e.Kind, e.Satisfied, e.RequireCount)
}

// Is reports whether target is [ErrScarcity].
func (e *ScarcityError) Is(target error) bool { return target == ErrScarcity }

// StrategyError reports a scorer, slicer or placer that failed or panicked, or
// that could not be called. A [ContractError] reports one that returned what
// its contract forbids.
type StrategyError struct {
	Role     string // "scorer", "slicer", "placer" or "token counter"
	Strategy string // the strategy's Go type, or "nil"
	Reason   string // what it did
	Err      error  // what it returned, or a [PanicError]; nil when it returned no error
}

func (e *StrategyError) Error() string {
	msg := "cupel: " + e.Role
	if e.Strategy != "nil" { // the reason says so
		msg += " " + e.Strategy
	}
	msg += " " + e.Reason
	if e.Err != nil {
		msg += fmt.Sprintf(": %v", e.Err) // fmt survives an Error method that panics
	}
	return msg
}

// Is reports whether target is [ErrStrategy].
func (e *StrategyError) Is(target error) bool { return target == ErrStrategy }

// Unwrap returns the error that the strategy returned, or its panic.
func (e *StrategyError) Unwrap() error { return e.Err }

// ContractError reports a strategy that returned what its contract forbids, such
// as a position twice. The mistake is in the strategy, not in its input.
// [errors.As] also finds it as a [StrategyError], and [errors.Is] as
// [ErrStrategy].
type ContractError struct{ StrategyError }

func (e *ContractError) Error() string {
	return e.StrategyError.Error() + ", which breaks the contract of a " + e.Role
}

// Is reports whether target is [ErrContract] or [ErrStrategy].
func (e *ContractError) Is(target error) bool {
	return target == ErrContract || target == ErrStrategy
}

// Unwrap returns the [StrategyError].
func (e *ContractError) Unwrap() error { return &e.StrategyError }

// PanicError is a panic of a strategy or a source, turned into an error.
type PanicError struct {
	Value any    // the value that the strategy panicked with
	Stack []byte // the stack of the goroutine at the panic, as text
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the panic's value when it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// DecodeError reports JSON that does not hold a value of the wanted type. The
// value to be read is unchanged.
//
// If a field of an item or a budget is wrong, Err is an [InvalidItemError] or
// [InvalidBudgetError], so that [errors.Is] matches [ErrInvalidItem] or
// [ErrInvalidBudget] too. For text that is not JSON at all, [json.Unmarshal]
// returns its own [json.SyntaxError] instead.
type DecodeError struct {
	Path   string // where, such as "included[3].item.tokens"; "" for the value as a whole; a long one ends in "…"
	Reason string // what is wrong, and what would be right
	Err    error  // the cause, or nil
}

func (e *DecodeError) Error() string { return wireError("cupel: invalid JSON", e.Path, e.Reason) }

// Is reports whether target is [ErrInvalidJSON].
func (e *DecodeError) Is(target error) bool { return target == ErrInvalidJSON }

// Unwrap returns the cause.
func (e *DecodeError) Unwrap() error { return e.Err }

// EncodeError reports a value that JSON cannot express: text that is not UTF-8,
// metadata such as a channel or NaN, a timestamp outside the years 0 to 9999,
// or an item that is nil or empty.
type EncodeError struct {
	Path   string // where, such as `included[3].item.metadata["key"]`; "" for the value as a whole; a long one ends in "…"
	Reason string // what is wrong
	Err    error  // the cause, or nil
}

func (e *EncodeError) Error() string { return wireError("cupel: cannot write JSON", e.Path, e.Reason) }

// Is reports whether target is [ErrUnencodable].
func (e *EncodeError) Is(target error) bool { return target == ErrUnencodable }

// Unwrap returns the cause.
func (e *EncodeError) Unwrap() error { return e.Err }

func wireError(what, path, reason string) string {
	if path == "" {
		path = "value"
	}
	return what + ": " + path + " " + reason
}

// join returns nil for no problems, the problem itself for one, and all of them
// joined otherwise.
func join(problems []error) error {
	if len(problems) == 1 {
		return problems[0]
	}
	return errors.Join(problems...)
}

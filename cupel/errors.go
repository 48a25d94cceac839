package cupel

import (
	"errors"
	"fmt"
	"slices"
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
	// ErrPinnedExceedsBudget is matched by [PinnedExceedsBudgetError].
	ErrPinnedExceedsBudget = errors.New("cupel: pinned items exceed the budget")
	// ErrOverflow is matched by [OverflowError].
	ErrOverflow = errors.New("cupel: selected items exceed the target")
	// ErrScarcity is matched by [ScarcityError].
	ErrScarcity = errors.New("cupel: too few candidates of a required kind")
	// ErrStrategy is matched by [StrategyError], and by [ContractError], which is
	// one.
	ErrStrategy = errors.New("cupel: a strategy failed")
	// ErrContract is matched by [ContractError].
	ErrContract = errors.New("cupel: a strategy broke its contract")
	// ErrSource is matched by [SourceError].
	ErrSource = errors.New("cupel: the source of a stream failed")
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
	Earlier   string // the earlier setting with the same name as Field, or "" if the name is not what is wrong
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

// PinnedExceedsBudgetError reports pinned items that do not fit. The Classify
// stage fails with it. Pin less, or raise the budget.
type PinnedExceedsBudgetError struct {
	PinnedTokens    int // tokens of all pinned items, clamped to the range of int
	AvailableTokens int // maxTokens - outputReserve; reserved slots do not count
}

func (e *PinnedExceedsBudgetError) Error() string {
	return fmt.Sprintf("cupel: Pinned items require %d tokens, but only %d are available", e.PinnedTokens, e.AvailableTokens)
}

// Is reports whether target is [ErrPinnedExceedsBudget].
func (e *PinnedExceedsBudgetError) Is(target error) bool { return target == ErrPinnedExceedsBudget }

// OverflowError reports a selection that is larger than the target under
// [OverflowThrow]. The Place stage fails with it.
type OverflowError struct {
	MergedTokens int // tokens of pinned and sliced items, clamped to the range of int
	TargetTokens int // the budget's target
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("cupel: Selected items require %d tokens, exceeding target budget of %d", e.MergedTokens, e.TargetTokens)
}

// Is reports whether target is [ErrOverflow].
func (e *OverflowError) Is(target error) bool { return target == ErrOverflow }

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

// SourceError reports a source of [Pipeline.RunStream] that yielded an error or
// panicked. The Classify stage fails with it.
type SourceError struct {
	Index int   // number of items that it yielded before
	Err   error // what it yielded, or a [PanicError]
}

func (e *SourceError) Error() string {
	return fmt.Sprintf("cupel: the source failed at item %d: %v", e.Index, e.Err)
}

// Is reports whether target is [ErrSource].
func (e *SourceError) Is(target error) bool { return target == ErrSource }

// Unwrap returns the error that the source yielded, or its panic.
func (e *SourceError) Unwrap() error { return e.Err }

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

// CanceledError reports a run that stopped because its context was done. It
// matches [context.Canceled], [context.DeadlineExceeded] and the context's
// cause, as they apply.
type CanceledError struct {
	Stage PipelineStage // the stage that noticed
	Err   error         // the context's error
	Cause error         // the context's cause; equal to Err when none was given
}

func (e *CanceledError) Error() string {
	msg := fmt.Sprintf("cupel: stopped in stage %s: %v", e.Stage, e.Err)
	if e.Cause != nil && e.Cause != e.Err {
		msg += fmt.Sprintf(": %v", e.Cause)
	}
	return msg
}

// Unwrap returns the context's error and its cause.
func (e *CanceledError) Unwrap() []error { return []error{e.Err, e.Cause} }

// typed reports whether an error already says what failed and why, so that
// wrappers on the way up need not wrap it. Errors that only a run makes do not
// count: they would look like errors of the enclosing run.
func typed(err error) bool {
	switch err.(type) {
	case *InvalidConfigError, *ScarcityError, *StrategyError, *ContractError:
		return true
	}
	joined, ok := err.(interface{ Unwrap() []error }) // several settings of one strategy
	return ok && len(joined.Unwrap()) > 0 && !slices.ContainsFunc(joined.Unwrap(), func(e error) bool {
		_, wrong := e.(*InvalidConfigError) //nolint:errorlint // each itself, not what it wraps
		return !wrong
	})
}

// join returns nil for no problems, the problem itself for one, and all of them
// joined otherwise.
func join(problems []error) error {
	if len(problems) == 1 {
		return problems[0]
	}
	return errors.Join(problems...)
}

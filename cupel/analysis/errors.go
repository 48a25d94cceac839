package analysis

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// Sentinels for [errors.Is]. Each is matched by exactly one of the typed
// errors of this package.
var (
	// ErrNonMonotonic is matched by [NonMonotonicError].
	ErrNonMonotonic = errors.New("cupel: inclusion is not monotonic")
	// ErrInvalidArgument is matched by [ArgumentError].
	ErrInvalidArgument = errors.New("cupel: invalid argument")
	// ErrTooManyBudgets is matched by [TooManyBudgetsError].
	ErrTooManyBudgets = errors.New("cupel: too many budgets")
)

// NonMonotonicError reports that a function that requires monotonic inclusion was
// called with a pipeline whose slicer, or a slicer inside it, lacks it.
// [FindMinBudgetForExhaustive] and [Sweep] accept any slicer.
type NonMonotonicError struct {
	Slicer string // the slicer's Go type
	// Declared is true for a slicer that declares itself a [cupel.NonMonotonic],
	// and false for those that the specification names.
	Declared bool
	Reason   string // the specification's own words
}

func (e *NonMonotonicError) Error() string {
	if e.Declared {
		return "cupel: slicer " + e.Slicer + " declares itself non-monotonic: " + e.Reason
	}
	return "cupel: " + e.Reason
}

// Is reports whether target is [ErrNonMonotonic].
func (e *NonMonotonicError) Is(target error) bool { return target == ErrNonMonotonic }

// ArgumentError reports an invalid argument.
type ArgumentError struct {
	Argument string // its name, with its position in a list: "variants[2].label"
	Reason   string // what is wrong; the specification's own words where it has any
}

func (e *ArgumentError) Error() string { return "cupel: " + e.Reason }

// Is reports whether target is [ErrInvalidArgument].
func (e *ArgumentError) Is(target error) bool { return target == ErrInvalidArgument }

// TooManyBudgetsError reports that [Sweep] or [FindMinBudgetForExhaustive] reached
// its limit of budgets before it was done. The limit exists because a range of
// 2^62 budgets is easy to write, and selecting at each of them would never end.
type TooManyBudgetsError struct {
	MaxBudgets int // the limit, from [WithMaxBudgets]
	NextBudget int // the next budget to try, in tokens
}

func (e *TooManyBudgetsError) Error() string {
	return fmt.Sprintf("cupel: gave up before a budget of %d tokens after looking at %d budgets: use a shorter range, a longer stride or WithMaxBudgets", e.NextBudget, e.MaxBudgets)
}

// Is reports whether target is [ErrTooManyBudgets].
func (e *TooManyBudgetsError) Is(target error) bool { return target == ErrTooManyBudgets }

// VariantError reports which variant of a comparison failed, and why.
type VariantError struct {
	Label string
	Err   error
}

func (e *VariantError) Error() string {
	return fmt.Sprintf("cupel: variant %q: %s", e.Label, strings.TrimPrefix(e.Err.Error(), "cupel: "))
}

// Unwrap returns the cause.
func (e *VariantError) Unwrap() error { return e.Err }

// The guards' texts, as the Budget Simulation chapter has them.
const (
	marginalGuard = "GetMarginalItems requires monotonic item inclusion. QuotaSlice produces non-monotonic inclusion as budget changes shift percentage allocations."
	minimumGuard  = "FindMinBudgetFor requires monotonic item inclusion. QuotaSlice and CountQuotaSlice produce non-monotonic inclusion as budget changes shift allocations. Use a GreedySlice or KnapsackSlice inner slicer for budget simulation."
)

// Slicers are recognized by their methods, so that a type that embeds one is
// recognized too.
type (
	quotaSlicer interface{ Entries() []slicer.QuotaEntry }
	countSlicer interface {
		Entries() []slicer.CountQuotaEntry
	}
)

// guard rejects pipelines with a QuotaSlice, at any depth, and with custom slicers
// that declare themselves non-monotonic; counts rejects count slicers too (R40).
func guard(pipeline *cupel.Pipeline, counts bool, reason string) error {
	for s := range cupel.AllSlicers(pipeline.Config().Slicer) {
		if _, ok := s.(quotaSlicer); ok {
			return &NonMonotonicError{Slicer: fmt.Sprintf("%T", s), Reason: reason}
		}
		if _, ok := s.(countSlicer); ok && counts {
			return &NonMonotonicError{Slicer: fmt.Sprintf("%T", s), Reason: reason}
		}
		declared, err := declares(s)
		if err != nil {
			return err
		}
		if declared {
			return &NonMonotonicError{Slicer: fmt.Sprintf("%T", s), Declared: true, Reason: reason}
		}
	}
	return nil
}

// declares asks a slicer whether it is non-monotonic.
func declares(s cupel.Slicer) (declared bool, err error) {
	n, ok := s.(cupel.NonMonotonic)
	if !ok {
		return false, nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = &cupel.StrategyError{Role: "slicer", Strategy: fmt.Sprintf("%T", s),
				Reason: "panicked when asked whether it is monotonic", Err: &cupel.PanicError{Value: v, Stack: debug.Stack()}}
		}
	}()
	return n.NonMonotonic(), nil
}

// failure says why nothing is selected at a budget.
type failure uint8

const (
	noFailure     failure = iota
	unbuildable           // the budget cannot be built
	pinnedTooMany         // the pinned items do not fit
	overflow              // the selection exceeds the target, and the pipeline throws
	notTheBudgets         // any other failure, which every budget would have
)

// failureOf classifies an error by what it says about the budget of the run (R40).
// The same error wrapped in a strategy's error is the strategy's.
func failureOf(err error) failure {
	if err == nil {
		return noFailure
	}
	if _, ok := compat.AsType[*cupel.StrategyError](err); ok {
		return notTheBudgets
	}
	switch {
	case errors.Is(err, cupel.ErrInvalidBudget):
		return unbuildable
	case errors.Is(err, cupel.ErrPinnedExceedsBudget):
		return pinnedTooMany
	case errors.Is(err, cupel.ErrOverflow):
		return overflow
	}
	return notTheBudgets
}

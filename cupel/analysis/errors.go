package analysis

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// NonMonotonicError reports that a function that requires monotonic inclusion was
// called with a pipeline whose slicer, or a slicer inside it, lacks it.
// [FindMinBudgetForExhaustive] accepts any slicer.
type NonMonotonicError struct {
	Slicer string // the slicer's Go type
	Reason string // ends with the specification's own words
}

func (e *NonMonotonicError) Error() string { return "cupel: " + e.Reason }

// ArgumentError reports an invalid argument.
type ArgumentError struct {
	Argument string // its name, with its position in a list: "variants[2].label"
	Reason   string // what is wrong; the specification's own words where it has any
}

func (e *ArgumentError) Error() string { return "cupel: " + e.Reason }

func argumentError(argument, reason string, args ...any) error {
	return &ArgumentError{argument, fmt.Sprintf(reason, args...)}
}

// TooManyBudgetsError reports that [FindMinBudgetForExhaustive] reached its limit of
// budgets before it was done. Without a limit, a search up to a ceiling of 2^62 would
// never end.
type TooManyBudgetsError struct {
	MaxBudgets int // the limit, from [WithMaxBudgets]
	NextBudget int // the next budget to try, in tokens
}

func (e *TooManyBudgetsError) Error() string {
	return fmt.Sprintf("cupel: gave up before a budget of %d tokens after looking at %d budgets: use a lower ceiling or WithMaxBudgets", e.NextBudget, e.MaxBudgets)
}

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

// guard rejects pipelines with a QuotaSlice, at any depth, and with custom slicers
// that declare themselves non-monotonic; counts rejects count slicers too (R40).
func guard(pipeline *pipeline.Pipeline, counts bool, reason string) (err error) {
	var asked strategy.Slicer
	defer func() {
		if v := recover(); v != nil {
			err = &cupel.StrategyError{Role: "slicer", Strategy: fmt.Sprintf("%T", asked),
				Reason: "panicked when asked whether it is monotonic", Err: &cupel.PanicError{Value: v, Stack: debug.Stack()}}
		}
	}()
	for asked = range strategy.AllSlicers(pipeline.Config().Slicer) {
		refused := &NonMonotonicError{Slicer: fmt.Sprintf("%T", asked), Reason: reason}
		switch asked.(type) {
		case *slicer.Quota:
			return refused
		case *slicer.CountQuota, *slicer.CountConstrainedKnapsack:
			if counts {
				return refused
			}
		}
		if strategy.FactsOf(asked).NonMonotonic {
			refused.Reason = "slicer " + refused.Slicer + " declares itself non-monotonic: " + reason
			return refused
		}
	}
	return nil
}

// budgetFailures are the errors of runs that another budget might not have (R40).
var budgetFailures = []error{cupel.ErrInvalidBudget, pipeline.ErrPinnedExceedsBudget, pipeline.ErrOverflow}

// failureOf returns which of budgetFailures an error is, or -1. The same error
// wrapped in a strategy's error is the strategy's.
func failureOf(err error) int {
	if errors.Is(err, cupel.ErrStrategy) {
		return -1
	}
	return slices.IndexFunc(budgetFailures, func(failure error) bool { return errors.Is(err, failure) })
}

// fatal returns an error that every budget would have, and nil for others.
func fatal(err error) error {
	if failureOf(err) >= 0 {
		return nil
	}
	return err
}

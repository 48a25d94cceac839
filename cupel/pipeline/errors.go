package pipeline

import (
	"errors"
	"fmt"

	"github.com/wollax/cupel-go/cupel"
)

// Sentinels for [errors.Is]. Each is matched by exactly one of the typed errors
// of this package, which carry details that a caller can act on.
var (
	// ErrPinnedExceedsBudget is matched by [PinnedExceedsBudgetError].
	ErrPinnedExceedsBudget = errors.New("cupel: pinned items exceed the budget")
	// ErrOverflow is matched by [OverflowError].
	ErrOverflow = errors.New("cupel: selected items exceed the target")
	// ErrSource is matched by [SourceError].
	ErrSource = errors.New("cupel: the source of a stream failed")
	// ErrContent is matched by [ContentError].
	ErrContent = errors.New("cupel: a smaller form has no content")
)

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

// SourceError reports a source of [Pipeline.RunStream] that yielded an error or
// panicked. The Classify stage fails with it.
type SourceError struct {
	Index int   // number of items that it yielded before
	Err   error // what it yielded, or a [cupel.PanicError]
}

func (e *SourceError) Error() string {
	return fmt.Sprintf("cupel: the source failed at item %d: %v", e.Index, e.Err)
}

// Is reports whether target is [ErrSource].
func (e *SourceError) Is(target error) bool { return target == ErrSource }

// Unwrap returns the error that the source yielded, or its panic.
func (e *SourceError) Unwrap() error { return e.Err }

// CanceledError reports a run that stopped because its context was done. It
// matches [context.Canceled], [context.DeadlineExceeded] and the context's
// cause, as they apply.
type CanceledError struct {
	Stage cupel.PipelineStage // the stage that noticed
	Err   error               // the context's error
	Cause error               // the context's cause; equal to Err when none was given
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

// ContentError reports a [cupel.Variant] whose Make failed, panicked, or returned an
// empty text.
type ContentError struct {
	Index int    // position of the item among the candidates
	Field string // the variant as it is used, largest first: "variants[0]", "groupVariants[1]"
	Err   error  // the cause, a [cupel.PanicError] for a panic; nil for an empty text
}

func (e *ContentError) Error() string {
	what := fmt.Sprintf("cupel: item at index %d: the content of %s cannot be made: ", e.Index, e.Field)
	if e.Err == nil {
		return what + "Make returned an empty text"
	}
	return what + e.Err.Error()
}

// Is reports whether target is [ErrContent].
func (e *ContentError) Is(target error) bool { return target == ErrContent }

// Unwrap returns the cause.
func (e *ContentError) Unwrap() error { return e.Err }

package cupel

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrContent is matched by [ContentError].
var ErrContent = errors.New("cupel: a smaller form has no content")

// ContentError reports a [Variant] whose Make failed, panicked, or returned an
// empty text.
type ContentError struct {
	Index int    // position of the item among the candidates
	Field string // the variant as it is used, largest first: "variants[0]", "groupVariants[1]"
	Err   error  // the cause, a [PanicError] for a panic; nil for an empty text
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

// makeContent calls a Make function of the caller.
func makeContent(ctx context.Context, produce func(context.Context) (string, error)) (content string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	content, err = produce(ctx)
	if err != nil && isNil(err) {
		err = fmt.Errorf("failed with a nil %T", err)
	}
	return content, err
}

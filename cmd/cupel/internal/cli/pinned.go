package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/internal/english"
)

// mostPinned is how many pinned items an error lists.
const mostPinned = 5

// pinnedError says which pinned items do not fit, and what to do.
type pinnedError struct {
	err    error
	detail string
}

func (e *pinnedError) Error() string { return e.err.Error() + e.detail }
func (e *pinnedError) Unwrap() error { return e.err }

// selecting marks the error of a run. Of pinned items that do not fit, it says what to
// do and, if list is set, which they are.
func (s *selection) selecting(err error, list bool) error {
	tooLarge, ok := errors.AsType[*pipeline.PinnedExceedsBudgetError](err)
	if !ok {
		return selecting(err)
	}
	var b strings.Builder
	if list {
		var pinned []*cupel.ContextItem
		for _, item := range s.items {
			if item.Pinned() && item.Tokens() > 0 {
				pinned = append(pinned, item)
			}
		}
		slices.SortStableFunc(pinned, func(x, y *cupel.ContextItem) int { return cmp.Compare(y.Tokens(), x.Tokens()) })
		for _, item := range pinned[:min(len(pinned), mostPinned)] {
			fmt.Fprintf(&b, "\n\t%7s  %s", english.Grouped(item.Tokens()), terminal.Excerpt(headline(item), 60))
		}
		if more := len(pinned) - mostPinned; more > 0 {
			fmt.Fprintf(&b, "\n\t%7s  … and %d more", "", more)
		}
	}
	fmt.Fprintf(&b, "\n\tGive a --budget of at least %s", english.Grouped(addTokens(tooLarge.PinnedTokens, s.budget.OutputReserve())))
	if s.budget.OutputReserve() > 0 {
		b.WriteString(", a smaller --reserve")
	}
	if s.Conversation != nil {
		b.WriteString(", or --no-pin, which pins the tool definitions alone.")
	} else {
		b.WriteString(`, or pin less: remove "pinned" from items.`)
	}
	return selecting(&pinnedError{err, b.String()})
}

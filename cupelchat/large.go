package cupelchat

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/internal/english"
)

// TooLargeError is the error for a request that cannot be made to fit: its fixed
// parts need more tokens than the budget has, or no message fits. It matches
// [pipeline.ErrPinnedExceedsBudget].
type TooLargeError struct {
	Budget int         // tokens that the request may have
	Needed int         // tokens of the smallest request that was found
	Parts  []FixedPart // the parts that cannot be shortened, the largest first
	Err    error       // of the chooser, if that failed
}

// FixedPart is a part of a request that is neither left out nor shortened.
type FixedPart struct {
	Path   string // such as system or messages[3]
	What   string // the kind of its item and the tool, such as ToolOutput of bash, or media
	Tokens int
}

// Error returns a text with the missing tokens and the largest parts.
func (e *TooLargeError) Error() string {
	const most = 3
	text := fmt.Sprintf("cupel: the request needs at least %s, %s more than the budget of %s",
		english.Count(e.Needed, "token"), english.Grouped(e.Needed-e.Budget), english.Grouped(e.Budget))
	if errors.Is(e.Err, errEmpty) {
		text = fmt.Sprintf("cupel: the window has no message in a budget of %s", english.Count(e.Budget, "token"))
	}
	var parts []string
	for _, p := range e.Parts[:min(most, len(e.Parts))] {
		parts = append(parts, fmt.Sprintf("%s (%s, %s)", p.Path, p.What, english.Count(p.Tokens, "token")))
	}
	if more := len(e.Parts) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	if len(parts) > 0 {
		text += "; these cannot be shortened: " + strings.Join(parts, ", ")
	}
	return text
}

// Is reports whether target is [pipeline.ErrPinnedExceedsBudget].
func (e *TooLargeError) Is(target error) bool { return target == pipeline.ErrPinnedExceedsBudget }

// Unwrap returns the error of the chooser, or nil.
func (e *TooLargeError) Unwrap() error { return e.Err }

// TooLarge returns a [TooLargeError] if a chooser's error reports that the pinned
// items do not fit, and any other error unchanged. Use it when you choose from the
// items of [Conversation.ItemsFor] for the budget.
func (c *Conversation) TooLarge(budget cupel.ContextBudget, err error) error {
	if c.isMissing() || !errors.Is(err, pipeline.ErrPinnedExceedsBudget) && !errors.Is(err, pipeline.ErrOverflow) {
		return err
	}
	return c.tooLarge(limitOf(budget), 0, err)
}

// tooLarge returns the error for a request of so many tokens.
func (c *Conversation) tooLarge(budget, tokens int, err error) error {
	e := &TooLargeError{Budget: budget, Err: err}
	needed := 0
	for i, item := range c.items {
		p := FixedPart{c.pathOf(i), string(item.Kind()), item.Tokens()}
		if tools := distinct(c.entries[i].names); len(tools) > 0 {
			p.What += " of " + strings.Join(tools, ", ")
		}
		if c.isOurs(i) {
			p.What = "media, thinking and the like"
			p.Tokens, _ = c.entries[i].fixed()
		}
		if c.held(i) && p.Tokens > 0 {
			e.Parts, needed = append(e.Parts, p), add(needed, p.Tokens)
		}
	}
	slices.SortStableFunc(e.Parts, func(a, b FixedPart) int { return cmp.Compare(b.Tokens, a.Tokens) })
	if pinned, ok := errors.AsType[*pipeline.PinnedExceedsBudgetError](err); ok {
		tokens = pinned.PinnedTokens
	}
	e.Needed = max(needed, tokens, budget+1)
	return e
}

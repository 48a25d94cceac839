package cli

import (
	"cmp"
	"fmt"
	"unicode/utf8"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
)

// mcpPage are the arguments of every tool for the size and the page of an
// answer.
type mcpPage struct {
	MaxTokens int `json:"max_tokens,omitempty" jsonschema:"most tokens of this answer (default 8000)"`
	Page      int `json:"page,omitempty" jsonschema:"page of a long answer, from 1"`
}

func (p mcpPage) page() mcpPage { return p }

// The tokens of an answer: by default, the fewest and the most that a call may ask for,
// and the tokens of the line with the page's number.
const (
	answerTokens = 8_000
	leastAnswer  = 100
	mostAnswer   = 1_000_000
	footerTokens = 40
)

// most returns the most tokens of an answer.
func (p mcpPage) most() int {
	if p.MaxTokens <= 0 {
		return answerTokens
	}
	return min(p.MaxTokens, mostAnswer)
}

// check fails for a page that no answer has.
func (p mcpPage) check() error {
	switch {
	case p.MaxTokens < 0 || p.most() < leastAnswer:
		return fmt.Errorf("max_tokens must be at least %d, got %d", leastAnswer, p.MaxTokens)
	case p.Page < 0:
		return fmt.Errorf("page must be at least 1, got %d", p.Page)
	}
	return nil
}

// paged returns a page of a text, with its number and the number of pages.
func (t *mcpTools) paged(text string, p mcpPage) (string, error) {
	most, number := p.most(), cmp.Or(p.Page, 1)
	if number == 1 && t.fits(text, most) == len(text) {
		return text, nil
	}
	page, pages := "", 0
	for rest := text; rest != ""; {
		length := t.fits(rest, most-footerTokens)
		if pages++; pages == number {
			page = rest[:length]
		}
		rest = rest[length:]
	}
	switch {
	case number > pages:
		return "", fmt.Errorf("page must be from 1 to %d, got %d", pages, number)
	case number == pages:
		return fmt.Sprintf("%s\n[page %d of %d, the last]", page, number, pages), nil
	}
	return fmt.Sprintf("%s\n[page %d of %d; page %d goes on]", page, number, pages, number+1), nil
}

// mostBytes is about the length of the longest texts of one token.
const mostBytes = 8

// fits returns the length of a beginning of a text that has at most so many tokens, and
// ends with a line if it can.
func (t *mcpTools) fits(text string, room int) int {
	end := min(len(text), mostBytes*room)
	for {
		end = input.Break(text, end, "\n")
		tokens := t.count(text[:end])
		if tokens <= room || end <= utf8.UTFMax {
			return end
		}
		end = min(end-1, end*room/tokens)
	}
}

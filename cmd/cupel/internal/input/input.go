// Package input reads candidates: items as JSON or JSON Lines, and chat
// transcripts as the OpenAI and Anthropic APIs write them.
package input

import (
	"encoding/json"
	"io"

	"github.com/wollax/cupel-go/cupel"
)

// Format is the form of a file with candidates.
type Format string

// The formats.
const (
	Auto      Format = "auto" // found by looking at the text
	JSON      Format = "json"
	JSONLines Format = "jsonl"
	OpenAI    Format = "openai"
	Anthropic Format = "anthropic"
)

// Options say how candidates are read.
type Options struct {
	Format  Format             // Auto, or the empty string, looks at the text
	Counter cupel.TokenCounter // counts the tokens of items that have no count
}

// Candidates are what was read.
type Candidates struct {
	Items  []*cupel.ContextItem
	Format Format // never Auto
}

// Read reads candidates from r, up to its end.
func Read(r io.Reader, _ Options) (*Candidates, error) {
	var items []*cupel.ContextItem
	if err := json.NewDecoder(r).Decode(&items); err != nil {
		return nil, err
	}
	return &Candidates{Items: items, Format: JSON}, nil
}

// Package input reads candidates: items as JSON or JSON Lines, and chat
// transcripts in the formats of package cupelchat.
package input

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/internal/english"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// Format is the format of a file with candidates: one of these, or the name of one
// of [cupelchat.Formats].
type Format string

// The formats.
const (
	Auto      Format = "auto" // detected from the text
	JSON      Format = "json"
	JSONLines Format = "jsonl"
	Log       Format = "log" // a text whose lines are items
	OpenAI    Format = "openai"
	Anthropic Format = "anthropic"
)

// Formats returns the names of all formats.
func Formats() []string {
	names := []string{string(Auto), string(JSON), string(JSONLines), string(Log)}
	for _, f := range cupelchat.Formats() {
		names = append(names, f.String())
	}
	return names
}

// Options set how candidates are read.
type Options struct {
	Format  Format             // Auto or "" detects the format
	Counter cupel.TokenCounter // counts items without a token count, and messages
	NoPin   bool               // pin only the tool definitions of a transcript
}

// Candidates is the result of reading a file or a folder.
type Candidates struct {
	Items        []*cupel.ContextItem
	Format       Format                  // never Auto
	Conversation *cupelchat.Conversation // of a transcript, otherwise nil
	Model        string                  // that a request names, or ""
	Answer       int                     // the most tokens of the answer that a request allows, or 0
	Pins         []int                   // messages that are pinned, from 0
	Notes        []string                // remarks for the user
}

// Error is a fault of a text, and its place.
type Error = rawjson.Error

// Read reads candidates from r until EOF, in time linear in the text. It fails
// with an [Error], or with an error of r or of the counter.
func Read(r io.Reader, options Options) (*Candidates, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	f := &reading{Options: options}
	text, err := rawjson.NewText(data)
	if err != nil {
		return nil, err
	}
	if err := f.detect(text); err != nil {
		return nil, err
	}
	if f.Format == Log {
		items, err := lineItems(string(data), options.Counter)
		return &Candidates{Items: items, Format: Log, Notes: []string{"the text is read line by line, as " + english.Plural(len(items), "candidate")}}, err
	}
	if f.Format == JSON || f.Format == JSONLines {
		items, err := f.items()
		if err != nil {
			return nil, err
		}
		return &Candidates{Items: items, Format: f.Format, Notes: f.itemNotes(items)}, nil
	}
	var opts []cupelchat.Option
	if options.NoPin {
		opts = append(opts, cupelchat.WithoutPins())
	}
	c, err := cupelchat.Read(data, f.api, options.Counter, opts...)
	if err != nil {
		return nil, err
	}
	return &Candidates{Items: c.Items(), Format: f.Format, Conversation: c, Model: c.Model(), Answer: f.answer(), Notes: append(f.notes, c.Notes()...)}, nil
}

// reading is the state of reading a text.
type reading struct {
	Options                  // with the format that was detected
	api     cupelchat.Format // of messages
	value   rawjson.Value    // the whole text, unless it has one value per line
	lines   []rawjson.Part   // the values of the lines
	notes   []string

	misspelt string // the first field that is
}

// answer returns the most tokens of the answer that a request allows, or 0.
func (f *reading) answer() int {
	var request struct {
		Completion int                           `json:"max_completion_tokens"`
		Output     int                           `json:"max_output_tokens"`
		Tokens     int                           `json:"max_tokens"`
		Gemini     struct{ MaxOutputTokens int } `json:"generationConfig"`
		Bedrock    struct{ MaxTokens int }       `json:"inferenceConfig"`
		Ollama     struct {
			Predict int `json:"num_predict"`
		} `json:"options"`
	}
	if json.Unmarshal(f.value.Raw(), &request) != nil { // an API would refuse it
		return 0
	}
	return max(cmp.Or(request.Completion, request.Output, request.Tokens, request.Gemini.MaxOutputTokens, request.Bedrock.MaxTokens, request.Ollama.Predict), 0)
}

// items reads items: an array, an object that has one, or lines.
func (f *reading) items() ([]*cupel.ContextItem, error) {
	path, parts := "", f.lines
	if f.Format == JSON {
		list := f.value
		if !list.IsArray() {
			o, err := list.Object("")
			if err != nil {
				return nil, err
			}
			path, list = "items", o.Get("items")
			if !list.IsArray() {
				return nil, f.value.Errorf(path, "must be an array, got %s", list.Type())
			}
		}
		parts = list.Elements()
	}
	items := make([]*cupel.ContextItem, 0, len(parts))
	for i, part := range parts {
		at := ""
		if f.Format == JSON {
			at = rawjson.Index(path, i)
		}
		item, err := readItem(part.Value, at, f.Counter)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
		f.lookFor(part.Value, i)
	}
	return items, nil
}

// readItem reads one item and counts its tokens if it has no count.
func readItem(v rawjson.Value, path string, counter cupel.TokenCounter) (*cupel.ContextItem, error) {
	it := new(cupel.ContextItem)
	if v.IsObject() && it.UnmarshalJSON(v.Raw()) == nil { // most items
		return it, nil
	}
	o, err := v.Object(path)
	if err != nil {
		return nil, err
	}
	raw, content := v.Raw(), o.Get("content")
	var wrong error // of the counter
	if !o.Has("tokens") && content.IsString() {
		counted, err := cupel.NewItemFrom(counter, content.String())
		// Do not count an item without content: reading the item reports the
		// mistake.
		raw, wrong = withTokens(o, counted.Tokens()), err
	}
	if err := it.UnmarshalJSON(raw); err != nil {
		return nil, itemError(v, path, err)
	}
	if wrong != nil {
		return nil, &Error{Line: v.Line(), Path: path, Reason: "cannot be counted: " + wrong.Error(), Err: wrong}
	}
	return it, nil
}

// withTokens returns the text of an item, which has a content, with a token count.
func withTokens(o rawjson.Object, tokens int) []byte {
	text := fmt.Appendf(nil, `{"tokens":%d`, tokens)
	for _, m := range o.Members {
		if m.Name != "tokens" { // a null count
			text = append(append(text, ','), m.Outer()...)
		}
	}
	return append(text, '}')
}

// itemError adds the place in the text to an error of package cupel.
func itemError(v rawjson.Value, path string, err error) error {
	if wrong, ok := errors.AsType[*cupel.DecodeError](err); ok {
		return &Error{Line: v.Line(), Path: rawjson.Join(path, wrong.Path), Reason: wrong.Reason, Err: err}
	}
	return &Error{Line: v.Line(), Path: path, Reason: err.Error(), Err: err}
}

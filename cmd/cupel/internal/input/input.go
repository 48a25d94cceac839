// Package input reads candidates: items as JSON or JSON Lines, and chat
// transcripts in the formats of package cupelchat.
package input

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
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
	OpenAI    Format = "openai"
	Anthropic Format = "anthropic"
)

// Formats returns the names of all formats.
func Formats() []string {
	names := []string{string(Auto), string(JSON), string(JSONLines)}
	for _, f := range cupelchat.Formats() {
		names = append(names, f.String())
	}
	return names
}

// Options say how candidates are read.
type Options struct {
	Format      Format             // Auto or "" detects the format
	Counter     cupel.TokenCounter // counts items without a token count, and messages
	NoPin       bool               // pin only the tool definitions of a transcript
	MediaTokens *int               // tokens of each medium in a transcript; nil estimates
	SkipInvalid bool               // leave out items that are not valid, with a note
}

// Candidates is the result of reading a file or a folder.
type Candidates struct {
	Items        []*cupel.ContextItem
	Format       Format                  // never Auto
	Conversation *cupelchat.Conversation // of a transcript, otherwise nil
	Model        string                  // that a request names, or ""
	Notes        []string                // remarks for the user
}

// Error says what is wrong with a text and where.
type Error = rawjson.Error

// InvalidItemError is the error for one item of several; Options.SkipInvalid leaves
// such items out.
type InvalidItemError struct{ Err error }

func (e *InvalidItemError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong with the item.
func (e *InvalidItemError) Unwrap() error { return e.Err }

// Read reads candidates from r until EOF, in time linear in the text. It fails
// with an [Error], or with an error of r or of the counter.
func Read(r io.Reader, options Options) (*Candidates, error) {
	if n := options.MediaTokens; n != nil && *n < 0 {
		return nil, &Error{Reason: fmt.Sprintf("tokens of media must be at least 0, got %d", *n)}
	}
	data, err := readAll(r)
	if err != nil {
		return nil, err
	}
	skipped := &skipped{active: options.SkipInvalid}
	if skipped.active {
		data = skipped.lines(data)
	}
	text, err := rawjson.NewText(data)
	if err != nil {
		return nil, err
	}
	found, err := look(text, options.Format, skipped)
	if err != nil {
		return nil, err
	}
	if found.format == JSON || found.format == JSONLines {
		items, err := found.items(options.Counter)
		if err != nil {
			return nil, err
		}
		return &Candidates{Items: items, Format: found.format, Notes: append(found.notes, skipped.notes()...)}, nil
	}
	if skipped.n > 0 { // without one message it is another conversation
		return nil, skipped.first
	}
	var opts []cupelchat.Option
	if options.NoPin {
		opts = append(opts, cupelchat.WithoutPins())
	}
	if options.MediaTokens != nil {
		opts = append(opts, cupelchat.WithMediaTokens(*options.MediaTokens))
	}
	c, err := cupelchat.Read(data, found.api, options.Counter, opts...)
	if err != nil {
		return nil, err
	}
	return &Candidates{Items: c.Items(), Format: found.format, Conversation: c, Model: found.model(), Notes: append(found.notes, c.Notes()...)}, nil
}

// readAll reads r until EOF, into a buffer of the right size if r is a file.
func readAll(r io.Reader) ([]byte, error) {
	var text bytes.Buffer
	if file, ok := r.(fs.File); ok {
		const most = 1 << 30 // the size is only a hint
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() && info.Size() < most {
			text.Grow(int(info.Size()) + bytes.MinRead)
		}
	}
	_, err := text.ReadFrom(r)
	return text.Bytes(), err
}

// finding is the detected form of a text.
type finding struct {
	format Format
	api    cupelchat.Format // of messages
	value  rawjson.Value    // the whole text, unless it has one value per line
	lines  []rawjson.Part   // the values of the lines
	notes  []string

	skipped *skipped
}

// model returns the model that a request names, or "".
func (f *finding) model() string {
	o, err := f.value.Object("")
	if f.value.IsZero() || err != nil {
		return ""
	}
	return cmp.Or(o.Get("model").String(), o.Get("modelId").String())
}

// items reads items: an array, an object that has one, a report, or lines.
func (f *finding) items(counter cupel.TokenCounter) ([]*cupel.ContextItem, error) {
	if f.format == JSONLines {
		items := make([]*cupel.ContextItem, 0, len(f.lines))
		for _, line := range f.lines {
			item, err := readItem(line.Value, "", counter)
			if err == nil {
				items = append(items, item)
			} else if err := f.skipped.item(err, len(f.lines)); err != nil {
				return nil, err
			}
		}
		return items, nil
	}
	if f.value.IsArray() {
		return f.readList(f.value, "", "", counter)
	}
	o, err := f.value.Object("")
	if err != nil {
		return nil, err
	}
	if o.Has("items") {
		return f.readList(o.Get("items"), "items", "", counter)
	}
	if !o.Has("included") && !o.Has("excluded") {
		return nil, f.value.Errorf("", `an object must have "items", or be a report with "included" and "excluded"`)
	}
	included, err := f.readList(o.Get("included"), "included", "item", counter)
	if err != nil {
		return nil, err
	}
	excluded, err := f.readList(o.Get("excluded"), "excluded", "item", counter)
	if err != nil {
		return nil, err
	}
	return append(included, excluded...), nil
}

// readList reads an array of items, or of objects with an item as a member.
func (f *finding) readList(v rawjson.Value, path, member string, counter cupel.TokenCounter) ([]*cupel.ContextItem, error) {
	if v.IsNull() {
		return nil, nil
	}
	if !v.IsArray() {
		return nil, v.Errorf(path, "must be an array, got %s", v.Type())
	}
	parts := v.Elements()
	items := make([]*cupel.ContextItem, 0, len(parts))
	for i, part := range parts {
		element, inside := part.Value, ""
		if member != "" {
			o, err := element.Object(rawjson.Index(path, i))
			if err != nil {
				return nil, err
			}
			if element = o.Get(member); element.IsNull() {
				return nil, o.Value.Errorf(rawjson.Join(rawjson.Index(path, i), member), "is required")
			}
			inside = "." + member
		}
		item, err := readItem(element, rawjson.Index(path, i)+inside, counter)
		if err == nil {
			items = append(items, item)
		} else if err := f.skipped.item(err, len(parts)); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// complete returns v as an item, or nil if v is not an item or has no token
// count. It is the fast path for most items.
func complete(v rawjson.Value) *cupel.ContextItem {
	it := new(cupel.ContextItem)
	if !v.IsObject() || it.UnmarshalJSON(v.Raw()) != nil {
		return nil
	}
	return it
}

// readItem reads one item and counts its tokens if it has no count.
func readItem(v rawjson.Value, path string, counter cupel.TokenCounter) (*cupel.ContextItem, error) {
	if it := complete(v); it != nil {
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
	it := new(cupel.ContextItem)
	if err := it.UnmarshalJSON(raw); err != nil {
		return nil, itemError(v, path, err)
	}
	if wrong != nil {
		return nil, &Error{Line: v.Line(), Path: path, Reason: "cannot be counted: " + wrong.Error(), Err: wrong}
	}
	return it, nil
}

// withTokens returns the text of an item with a token count, which replaces a
// null count.
func withTokens(o rawjson.Object, tokens int) []byte {
	text := []byte("{\"tokens\":")
	text = strconv.AppendInt(text, int64(tokens), 10)
	for _, m := range o.Members {
		if m.Name != "tokens" {
			text = append(append(text, ','), m.Outer()...)
		}
	}
	return append(text, '}')
}

// itemError adds the place in the text to an error of package cupel.
func itemError(v rawjson.Value, path string, err error) error {
	wrong, ok := errors.AsType[*cupel.DecodeError](err)
	if !ok {
		return &Error{Line: v.Line(), Path: path, Reason: err.Error(), Err: err}
	}
	if wrong.Path != "" {
		path = rawjson.Join(path, wrong.Path)
		if wrong.Path[0] == '[' {
			path = path[:len(path)-len(wrong.Path)-1] + wrong.Path
		}
	}
	return &Error{Line: v.Line(), Path: path, Reason: wrong.Reason, Err: err}
}

package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Conversation is a recorded conversation.
type Conversation struct {
	ID       string
	messages []*Message
}

// ReadError says which line of the data cannot be read, and why.
type ReadError struct {
	Line int // from 1
	Err  error
}

func (e *ReadError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *ReadError) Unwrap() error { return e.Err }

// Read reads recorded conversations: JSON Lines with a conversation on each
// line, {"id": …, "messages": […]}, where the id is optional; or a list of
// conversations; or one conversation as a list of messages or with a message on
// each line.
//
// Messages are those of OpenAI's Chat Completions. Requests and messages of
// OpenAI's Responses, of Anthropic, Gemini, Bedrock and Ollama, the messages of
// spans of OpenTelemetry, and session files of Claude Code and Codex become such
// messages: their words, calls and results. Read fails with a [ReadError] or with
// the error of r.
func Read(r io.Reader) ([]Conversation, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	file := reader{}
	if v, err := decode(string(data)); err == nil { // one value, perhaps on several lines
		return file.finish(file.value(v, 1))
	}
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		if !json.Valid(text) {
			var v any
			return nil, &ReadError{line, json.Unmarshal(text, &v)}
		}
		v, err := decode(string(text))
		if err == nil {
			err = file.value(v, line)
		}
		if err == nil && file.lines > 0 && len(file.conversations) > 0 {
			err = errors.New("some lines are conversations and others messages")
		}
		if err != nil {
			return nil, &ReadError{line, err}
		}
	}
	return file.finish(nil)
}

// reader reads the values of a file.
type reader struct {
	conversations []Conversation
	log           converter // of messages on lines of their own
	lines         int       // of the log
}

// value reads a conversation, a list of them, or a message or list of messages.
func (f *reader) value(v any, line int) error {
	switch v := v.(type) {
	case object:
		var c converter
		is, err := c.request(v)
		if is || err != nil {
			return errors.Join(err, f.add(&c, v.get("id"), line))
		}
		f.lines++
		if !f.log.record(v) {
			if v.get("role") == nil && !isItem(v.text("type")) {
				return errNoConversation
			}
			return f.log.message(v)
		}
		return nil
	case []any:
		if len(v) > 0 {
			if o, ok := v[0].(object); ok && o.get("role") == nil && !isItem(o.text("type")) && o.get("type") == nil {
				for _, e := range v {
					if err := f.value(e, line); err != nil {
						return err
					}
				}
				return nil
			}
		}
		var c converter
		if err := c.list("messages", v); err != nil {
			return err
		}
		return f.add(&c, nil, line)
	default:
		return errNoConversation
	}
}

var errNoConversation = errors.New(`a conversation must be an object with "messages", or a list of messages`)

// add adds a conversation.
func (f *reader) add(c *converter, id any, line int) error {
	name := "line " + strconv.Itoa(line)
	switch id := id.(type) {
	case string:
		name = id
	case json.Number:
		name = id.String()
	}
	conversation := Conversation{ID: name, messages: make([]*Message, len(c.messages))}
	for i, o := range c.messages {
		var err error
		if conversation.messages[i], err = newMessage(o, encode(o)); err != nil {
			return err
		}
	}
	f.conversations = append(f.conversations, conversation)
	return nil
}

// finish returns the conversations, or err as an error of the first line.
func (f *reader) finish(err error) ([]Conversation, error) {
	switch {
	case err != nil:
		return nil, &ReadError{1, err}
	case f.lines == 0:
		return f.conversations, nil
	case len(f.log.messages) == 0:
		return nil, &ReadError{1, errors.New("no line has a message")}
	}
	if err := f.add(&f.log, nil, 1); err != nil {
		return nil, &ReadError{1, err}
	}
	return f.conversations, nil
}

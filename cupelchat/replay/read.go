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
// line, {"id": …, "messages": […]}, where the id is optional and messages are
// those of OpenAI's Chat Completions; or one such conversation; or a list of
// messages, or one message per line. It fails with a [ReadError] or with the
// error of r.
func Read(r io.Reader) ([]Conversation, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if json.Valid(data) { // one value, perhaps on several lines
		c, err := readValue(data, 1)
		return c, err
	}
	var (
		conversations []Conversation
		messages      []*Message // on lines of their own
		line          int
	)
	for text := range bytes.Lines(data) {
		line++
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		if !json.Valid(text) {
			var v any
			return nil, &ReadError{line, json.Unmarshal(text, &v)}
		}
		if isMessage(text) {
			m, err := newMessage(string(text))
			if err != nil {
				return nil, &ReadError{line, err}
			}
			messages = append(messages, m)
			continue
		}
		c, err := readValue(text, line)
		if err != nil {
			return nil, err
		}
		conversations = append(conversations, c...)
	}
	switch {
	case len(messages) == 0:
		return conversations, nil
	case len(conversations) > 0:
		return nil, &ReadError{line, errors.New("some lines are conversations and others messages")}
	}
	return []Conversation{{ID: lineID(1), messages: messages}}, nil
}

// lineID returns the id of a conversation without one.
func lineID(line int) string { return "line " + strconv.Itoa(line) }

func isMessage(text []byte) bool {
	var o struct {
		Role     *json.RawMessage `json:"role"`
		Messages *json.RawMessage `json:"messages"`
	}
	return json.Unmarshal(text, &o) == nil && o.Role != nil && o.Messages == nil
}

// readValue reads a conversation, or a list of messages.
func readValue(text []byte, line int) ([]Conversation, error) {
	var o struct{ ID, Messages json.RawMessage }
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		o.Messages = text
	} else if json.Unmarshal(text, &o) != nil || o.Messages == nil {
		return nil, &ReadError{line, errors.New(`a conversation must be an object with "messages", or a list of messages`)}
	}
	var messages []json.RawMessage
	if json.Unmarshal(o.Messages, &messages) != nil {
		return nil, &ReadError{line, errors.New(`"messages" must be a list of messages`)}
	}
	id := string(o.ID)
	if s := ""; json.Unmarshal(o.ID, &s) == nil {
		id = s
	}
	if id == "" || id == "null" {
		id = lineID(line)
	}
	c := Conversation{ID: id, messages: make([]*Message, len(messages))}
	for i, raw := range messages {
		var err error
		if c.messages[i], err = newMessage(string(raw)); err != nil {
			return nil, &ReadError{line, fmt.Errorf("messages[%d]: %w", i, err)}
		}
	}
	return []Conversation{c}, nil
}

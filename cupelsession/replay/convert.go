package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
)

// All conversations are measured as messages of OpenAI's Chat Completions. This file
// uses package cupelchat to read other formats.

var (
	errNoObject = errors.New("a message must be an object")
	errNoRole   = errors.New("role is required: it must be a string that is not empty")
)

// lists are the names that the list of messages has in requests.
var lists = []string{"messages", "contents", "input", "gen_ai.input.messages"}

// conversation returns the messages of a request of any API, and reports whether v
// is one.
func conversation(v object) ([]*chatMessage, bool, error) {
	if attributes, ok := v.get("attributes").(object); ok { // of a span
		v = attributes.values()
	}
	if !slices.ContainsFunc(lists, func(name string) bool { return v.get(name) != nil }) {
		return nil, false, nil
	}
	list, isList := v.get("messages").([]any)
	switch {
	case v.get("messages") != nil && !isList:
		return nil, false, errors.New(`"messages" must be a list of messages`)
	case isList && v.get("system") == nil && !slices.ContainsFunc(list, foreign):
		messages, err := native(list)
		return messages, true, err
	}
	messages, err := read(encode(v))
	return messages, true, err
}

// values returns the attributes of a span, and decodes texts that contain
// JSON.
func (o object) values() object {
	decoded := slices.Clone(o)
	for i, m := range decoded {
		text, _ := m.value.(string)
		if v, err := decode(text); err == nil {
			decoded[i].value = v
		}
	}
	return decoded
}

// native returns a list of messages that are in the measure's form already.
func native(list []any) ([]*chatMessage, error) {
	messages := make([]*chatMessage, len(list))
	for i, v := range list {
		m, err := newMessage(v, encode(v))
		if err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
		m.number = i + 1
		messages[i] = m
	}
	return messages, nil
}

// foreign reports whether a message is of another API, or a line of a record.
func foreign(v any) bool {
	o, _ := v.(object)
	if o.get("parts") != nil || o.text("type") != "" {
		return true
	}
	return slices.ContainsFunc(o.list("content"), func(part any) bool {
		p, ok := part.(object)
		return ok && !slices.Contains([]string{"text", "image_url", "input_audio", "file", "refusal"}, p.text("type"))
	})
}

// read reads a conversation with package cupelchat.
func read(text string) ([]*chatMessage, error) {
	formats, err := cupelchat.Detect([]byte(text))
	if err != nil {
		return nil, err
	}
	c, err := cupelchat.Read([]byte(text), formats[0], cupel.HeuristicCounter{})
	if err != nil {
		return nil, err
	}
	var messages []*chatMessage
	for _, said := range c.Transcript() {
		v, err := decode(string(said.JSON))
		if err != nil {
			return nil, err
		}
		m, err := newMessage(v, encode(v))
		if err != nil {
			return nil, err
		}
		m.number = said.Index + 1
		messages = append(messages, m)
	}
	return messages, nil
}

// messagesOf returns the messages of a list, or of lines of a record.
func messagesOf(list []any) ([]*chatMessage, error) {
	if !slices.ContainsFunc(list, foreign) {
		return native(list)
	}
	lines := make([]string, len(list))
	for i, v := range list {
		lines[i] = encode(v)
	}
	return read(strings.Join(lines, "\n"))
}

// encode returns the JSON of a value, with numbers as they were read.
func encode(v any) string { return string(appendJSON(nil, v, json.Number.String)) }

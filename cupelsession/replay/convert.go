package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// This file reads messages of other APIs, and of records that programs keep, as
// messages of OpenAI's Chat Completions, so that all conversations are measured
// alike: the words of a message, its calls, and each result as a message. What is
// neither, such as thinking and images, is left out.

// converter makes messages.
type converter struct {
	messages []object
	last     string   // the id of the last message, in records that split messages
	calls    int      // so far
	open     []string // ids that were made up, of calls without a result
}

var (
	errNoObject = errors.New("a message must be an object")
	errNoRole   = errors.New("role is required: it must be a string that is not empty")
)

// said is what one message says.
type said struct {
	words   []string
	calls   []any
	results []object
}

// request adds the messages of a request of any API, and reports whether v is
// one.
func (c *converter) request(v object) (bool, error) {
	if attributes, ok := v.get("attributes").(object); ok { // of a span
		v = attributes
	}
	var list []any
	var name string
	for _, name = range []string{"messages", "contents", "input", "gen_ai.input.messages"} {
		switch value := v.get(name).(type) {
		case []any:
			list = value
		case string:
			switch decoded, err := decode(value); {
			case name == "input" && v.get("role") == nil:
				list = []any{object{{"role", "user"}, {"content", value}}}
			case name == "gen_ai.input.messages" && err == nil:
				list, _ = decoded.([]any)
			}
		}
		if list != nil {
			break
		}
	}
	if list == nil {
		if v.get("messages") != nil {
			return false, errors.New(`"messages" must be a list of messages`)
		}
		return false, nil
	}
	for _, name := range []string{"system", "instructions", "systemInstruction", "system_instruction", "gen_ai.system_instructions"} {
		system := v.get(name)
		if o, ok := system.(object); ok { // of Gemini
			system = o.get("parts")
		}
		if s := c.says(system); len(s.words) > 0 {
			c.add("system", s)
		}
	}
	return true, c.list(name, list)
}

// list adds the messages of a list.
func (c *converter) list(name string, list []any) error {
	for i, m := range list {
		if err := c.message(m); err != nil {
			return fmt.Errorf("%s[%d]: %w", name, i, err)
		}
	}
	return nil
}

// The lines of records that hold a message, and its place in them.
var records = map[string]string{"user": "message", "assistant": "message", "response_item": "payload"}

// record adds the message of a line of a record, and reports whether the line is
// of one. Lines of other types say nothing to the model.
func (c *converter) record(v object) bool {
	kind := v.text("type")
	if kind == "" || v.get("role") != nil {
		return false
	}
	place, ok := records[kind]
	if !ok {
		return !isItem(kind)
	}
	m, ok := v.get(place).(object)
	if !ok {
		return false
	}
	if side, _ := v.get("isSidechain").(bool); side {
		return true // a conversation of another agent
	}
	if place == "payload" {
		return c.message(m) == nil
	}
	// Each part of the assistant's messages may be on a line of its own.
	id, same := m.text("id"), c.last
	c.last = id
	if said := c.says(m.get("content")); id != "" && id == same {
		c.join(said)
	} else {
		c.add(m.text("role"), said)
	}
	return m.text("role") != ""
}

// message adds one message. A message of the form that is wanted stays as it is.
func (c *converter) message(v any) error {
	o, ok := v.(object)
	if !ok {
		return errNoObject
	}
	role := o.text("role")
	switch kind := o.text("type"); {
	case role == "" && isItem(kind):
		c.item(kind, o)
		return nil
	case role == "":
		return errNoRole
	case native(o):
		c.messages = append(c.messages, o)
		return nil
	}
	if role == "model" {
		role = "assistant"
	}
	content := o.get("content")
	if content == nil {
		content = o.get("parts")
	}
	c.add(role, c.says(content))
	return nil
}

// native reports whether a message is of the form that is wanted.
func native(o object) bool {
	if o.get("parts") != nil || o.text("role") == "model" || o.text("type") == "message" {
		return false
	}
	for _, part := range o.list("content") {
		if p, ok := part.(object); ok && !slices.Contains([]string{"text", "image_url", "input_audio", "file", "refusal"}, p.text("type")) {
			return false
		}
	}
	return true
}

// add adds a message: results first, as they answer the message before.
func (c *converter) add(role string, s said) {
	c.messages = append(c.messages, s.results...)
	if len(s.words) == 0 && len(s.calls) == 0 {
		return
	}
	m := object{{"role", role}, {"content", strings.Join(s.words, "\n")}}
	if len(s.words) == 0 {
		m[1].value = nil
	}
	if len(s.calls) > 0 {
		m = append(m, member{"tool_calls", s.calls})
	}
	c.messages = append(c.messages, m)
}

// join adds words and calls to the last message, if that is the assistant's.
func (c *converter) join(s said) {
	if len(c.messages) == 0 || c.messages[len(c.messages)-1].text("role") != "assistant" {
		c.add("assistant", s)
		return
	}
	last := c.messages[len(c.messages)-1]
	if content := last.text("content"); content != "" {
		s.words = append([]string{content}, s.words...)
	}
	s.calls = append(slices.Clone(last.list("tool_calls")), s.calls...)
	c.messages = c.messages[:len(c.messages)-1]
	c.add("assistant", s)
}

// isItem reports whether a type is of an item of OpenAI's Responses that is no
// message.
func isItem(kind string) bool {
	return kind == "reasoning" || strings.HasSuffix(kind, "_call") || strings.HasSuffix(kind, "_call_output")
}

// item adds an item of OpenAI's Responses. Calls belong to the message before.
func (c *converter) item(kind string, o object) {
	id := o.text("call_id")
	switch {
	case strings.HasSuffix(kind, "_output"):
		c.messages = append(c.messages, c.result(id, o.get("output")))
	case kind == "function_call":
		c.join(said{calls: []any{c.call(id, o.text("name"), o.get("arguments"))}})
	case kind == "custom_tool_call":
		c.join(said{calls: []any{c.call(id, o.text("name"), o.get("input"))}})
	case o.get("action") != nil: // such as local_shell_call
		c.join(said{calls: []any{c.call(id, kind, o.get("action"))}})
	}
}

// says reads a content of any API: a text, or a list of parts.
func (c *converter) says(content any) said {
	var s said
	if text, ok := content.(string); ok && text != "" {
		s.words = []string{text}
	}
	list, _ := content.([]any)
	for _, part := range list {
		switch part := part.(type) {
		case string:
			s.words = append(s.words, part)
		case object:
			c.part(&s, part)
		}
	}
	return s
}

// part reads one part of a content.
func (c *converter) part(s *said, o object) {
	inner := func(name string) object {
		v, _ := o.get(name).(object)
		return v
	}
	kind := o.text("type")
	switch use, answer := inner("toolUse"), inner("toolResult"); {
	case kind == "thinking" || kind == "reasoning" || o.get("thought") == true:
	case use != nil: // Bedrock
		s.calls = append(s.calls, c.call(use.text("toolUseId"), use.text("name"), use.get("input")))
	case answer != nil:
		s.results = append(s.results, c.result(answer.text("toolUseId"), answer.get("content")))
	case inner("functionCall") != nil: // Gemini
		f := inner("functionCall")
		s.calls = append(s.calls, c.call(f.text("id"), f.text("name"), f.get("args")))
	case inner("functionResponse") != nil:
		f := inner("functionResponse")
		s.results = append(s.results, c.result(f.text("id"), f.get("response")))
	case strings.HasSuffix(kind, "tool_use"): // Anthropic
		s.calls = append(s.calls, c.call(o.text("id"), o.text("name"), o.get("input")))
	case strings.HasSuffix(kind, "tool_result"):
		s.results = append(s.results, c.result(o.text("tool_use_id"), o.get("content")))
	case kind == "tool_call": // OpenTelemetry
		s.calls = append(s.calls, c.call(o.text("id"), o.text("name"), o.get("arguments")))
	case kind == "tool_call_response":
		response := o.get("response")
		if response == nil {
			response = o.get("result")
		}
		s.results = append(s.results, c.result(o.text("id"), response))
	default:
		text := o.text("text")
		if text == "" && kind == "text" {
			text = o.text("content") // OpenTelemetry
		}
		if text != "" {
			s.words = append(s.words, text)
		}
	}
}

// encode returns the JSON of a value, with numbers as they were read.
func encode(v any) string { return string(appendJSON(nil, v, json.Number.String)) }

// call returns a call. Arguments are a text or a JSON value.
func (c *converter) call(id, name string, arguments any) object {
	text, ok := arguments.(string)
	if !ok && arguments != nil {
		text = encode(arguments)
	}
	c.calls++
	if id == "" {
		id = "call_" + strconv.Itoa(c.calls)
		c.open = append(c.open, id)
	}
	return object{{"id", id}, {"type", "function"}, {"function", object{{"name", name}, {"arguments", text}}}}
}

// result returns the message of a result: a text, the texts of parts, or JSON.
func (c *converter) result(id string, content any) object {
	text, ok := content.(string)
	if list, isList := content.([]any); !ok && isList {
		text, ok = strings.Join(texts(list), "\n"), len(texts(list)) > 0
	}
	if !ok && content != nil {
		text = encode(content)
	}
	if id == "" && len(c.open) > 0 {
		id, c.open = c.open[0], c.open[1:]
	}
	return object{{"role", "tool"}, {"tool_call_id", id}, {"content", text}}
}

// texts returns what the parts of a result say; a part may be JSON.
func texts(parts []any) []string {
	var texts []string
	for _, part := range parts {
		o, _ := part.(object)
		if v := o.get("json"); v != nil {
			texts = append(texts, encode(v))
		} else if text := o.text("text"); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

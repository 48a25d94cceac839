package replay

import "strings"

// chatMessage is a message of a conversation, in the form of OpenAI's Chat
// Completions.
type chatMessage struct {
	role, text string
	raw        string // the JSON
	calls      bool   // has calls of tools
	arguments  []any  // of its calls, if they are JSON
	documents  []any  // all that is a JSON object or array: arguments and content
	id         string // equal for equal messages
	blocks     int    // of content: its text, and calls
	number     int    // position in the file of the message that it comes from, from 1; 0 for none
}

// perMessage is the cost of a message beyond its text, in tokens.
const perMessage = 4

// parseMessage reads a message from its JSON.
func parseMessage(raw string) (*chatMessage, error) {
	v, err := decode(raw)
	if err != nil {
		return nil, err
	}
	return newMessage(v, raw)
}

// newMessage reads a message. raw is its JSON.
func newMessage(v any, raw string) (*chatMessage, error) {
	o, ok := v.(object)
	if !ok {
		return nil, errNoObject
	}
	m := &chatMessage{role: o.text("role"), text: contentOf(o.get("content")), raw: raw}
	if m.role == "" {
		return nil, errNoRole
	}
	m.document(m.text)
	m.blocks = btoi(m.text != "") + len(o.list("tool_calls"))
	if calls := o.list("tool_calls"); len(calls) > 0 {
		m.calls = true
		m.text += "\n" + string(appendJSON(nil, calls, number))
		for _, call := range calls {
			m.call(call)
		}
	}
	m.id = strings.Join([]string{m.role, o.text("tool_call_id"), o.text("name"), m.text}, "\x00")
	return m, nil
}

// contentOf returns the text of a content: a string, or a list of parts.
func contentOf(content any) string {
	switch content := content.(type) {
	case string:
		return content
	case []any:
		var texts []string
		for _, part := range content {
			switch part := part.(type) {
			case string:
				texts = append(texts, part)
			case object:
				if text := part.text("text"); text != "" {
					texts = append(texts, text)
				}
			}
		}
		return strings.Join(texts, "\n")
	default:
		return ""
	}
}

func (m *chatMessage) call(call any) {
	o, _ := call.(object)
	function, _ := o.get("function").(object)
	switch arguments := function.get("arguments").(type) {
	case string:
		if v := m.document(arguments); v != nil {
			m.arguments = append(m.arguments, v)
		}
	case object:
		m.arguments = append(m.arguments, arguments)
		m.documents = append(m.documents, arguments)
	}
}

// document adds a text to the documents if it is JSON, and returns its value.
func (m *chatMessage) document(text string) any {
	v, err := decode(text)
	if err != nil {
		return nil
	}
	switch v.(type) {
	case object, []any:
		m.documents = append(m.documents, v)
	}
	return v
}

// Characters counts ceil(characters / 4) tokens, as the reference does.
type Characters struct{}

// CountTokens returns the tokens of a text. It never fails.
func (Characters) CountTokens(text string) (int, error) { return (characters(text) + 3) / 4, nil }

// tokens returns the tokens of a message with a text.
func tokens(text string) int { return (characters(text)+3)/4 + perMessage }

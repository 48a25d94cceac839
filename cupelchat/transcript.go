package cupelchat

import "encoding/json"

// chatMessage is a message of OpenAI's Chat Completions.
type chatMessage struct {
	Role    string     `json:"role"`
	Content *string    `json:"content"`
	Calls   []chatCall `json:"tool_calls,omitempty"`
	Answers string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Said is a message of a [Conversation.Transcript].
type Said struct {
	JSON  json.RawMessage // a message of OpenAI's Chat Completions
	Index int             // of the message that it comes from, from 0; -1 for a member of the request
}

// Transcript returns a conversation of any format as messages of OpenAI's Chat
// Completions: its words, its calls, and each result as a message. It leaves out
// everything else, such as thinking and images. Calls without words belong to the
// message before them.
func (c *Conversation) Transcript() []Said {
	if c.isMissing() {
		return nil
	}
	var messages []chatMessage
	var said []Said
	for i := range c.entries {
		e := &c.entries[i]
		m := chatMessage{Role: e.role}
		switch {
		case e.returns():
			m.Answers = e.ids[0]
		case isSystem(e.role):
			m.Role = "system"
		}
		if text, _ := e.said(); text != "" || e.returns() {
			m.Content = &text
		}
		for _, p := range e.parts {
			if p.kind == call {
				m.Calls = append(m.Calls, chatCall{p.id, "function", chatFunction{p.name, p.arguments}})
			}
		}
		last := len(messages) - 1
		switch {
		case m.Content == nil && m.Calls == nil:
		case m.Content == nil && last >= 0 && messages[last].Role == "assistant":
			messages[last].Calls = append(messages[last].Calls, m.Calls...)
		default:
			index := none
			if from := &c.messages[e.message]; from.member == "" {
				index = from.index
			}
			messages, said = append(messages, m), append(said, Said{Index: index})
		}
	}
	for i := range messages {
		said[i].JSON, _ = json.Marshal(&messages[i]) //nolint:errchkjson // texts can always be marshaled
	}
	return said
}

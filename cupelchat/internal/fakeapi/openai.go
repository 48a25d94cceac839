package fakeapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

type chatRequest struct {
	Model    string
	Messages []chatMessage
	Tools    []struct {
		Function struct{ Name string }
	}
}

type chatMessage struct {
	Role         string
	Name         *string
	Content      json.RawMessage
	ToolCalls    []chatCall    `json:"tool_calls"`
	ToolCallID   string        `json:"tool_call_id"`
	FunctionCall *chatFunction `json:"function_call"`
	Refusal      json.RawMessage
	Audio        json.RawMessage
}

type chatCall struct {
	ID       string
	Type     string
	Function *chatFunction
	Custom   *struct {
		Name  string
		Input *string
	}
}

type chatFunction struct {
	Name      string
	Arguments *string
}

type chatPart struct {
	Type     string
	Text     *string
	Refusal  *string
	ImageURL *struct {
		URL string
	} `json:"image_url"`
	InputAudio *struct {
		Data, Format string
	} `json:"input_audio"`
	File *struct{}
}

func checkChat(_ *API, body []byte) *refusal {
	var r chatRequest
	if failed := decode(body, &r); failed != nil {
		return failed
	}
	if r.Model == "" {
		return refuse("you must provide a model parameter")
	}
	if len(r.Messages) == 0 {
		return refuse("Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.").at("messages")
	}
	for i := 0; i < len(r.Messages); i++ {
		m := r.Messages[i]
		if failed := m.check(i); failed != nil {
			return failed
		}
		if m.Role == "tool" {
			return refuse("Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.").at("messages.[%d].role", i)
		}
		if m.Role != "assistant" || len(m.ToolCalls) == 0 {
			continue
		}
		n, failed := chatResults(m.ToolCalls, r.Messages[i+1:], i+1)
		if failed != nil {
			return failed
		}
		i += n
	}
	return nil
}

// chatResults checks the results behind a message with calls, and returns how
// many there are.
func chatResults(calls []chatCall, rest []chatMessage, first int) (int, *refusal) {
	waiting := map[string]bool{}
	for _, c := range calls {
		waiting[c.ID] = true
	}
	given := map[string]int{}
	n := 0
	for ; n < len(rest) && rest[n].Role == "tool"; n++ {
		at, id := first+n, rest[n].ToolCallID
		if failed := rest[n].check(at); failed != nil {
			return n, failed
		}
		if before, twice := given[id]; twice {
			return n, refuse("Invalid parameter: Duplicate value for 'tool_call_id' of '%s', in messages[%d] and messages[%d].", id, before, at).at("messages.[%d].tool_call_id", at)
		}
		if !waiting[id] {
			return n, refuse("Invalid parameter: 'tool_call_id' of '%s' not found in 'tool_calls' of previous message.", id).at("messages.[%d].tool_call_id", at)
		}
		given[id] = at
	}
	var missing []string
	for _, c := range calls {
		if _, ok := given[c.ID]; !ok {
			missing = append(missing, c.ID)
		}
	}
	if len(missing) > 0 {
		return n, refuse("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(missing, ", ")).at("messages")
	}
	return n, nil
}

// check checks a message alone.
func (m *chatMessage) check(i int) *refusal {
	if !slices.Contains([]string{"system", "developer", "user", "assistant", "tool", "function"}, m.Role) {
		return refuse("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", m.Role).at("messages[%d].role", i)
	}
	if m.Role == "function" && (m.Name == nil || !spelled(*m.Name, "_-")) {
		return refuse("Missing parameter 'name': messages with role 'function' must have a 'name'.").at("messages.[%d].name", i)
	}
	if m.Name != nil && (*m.Name == "" || strings.ContainsAny(*m.Name, " \t\r\n<|\\/>")) {
		return refuse("Invalid 'messages[%d].name': string does not match pattern. Expected a string that matches the pattern '^[^\\s<|\\\\/>]+$'.", i).at("messages[%d].name", i)
	}
	if m.Role == "tool" && m.ToolCallID == "" {
		return refuse("Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.").at("messages.[%d].tool_call_id", i)
	}
	if failed := m.checkContent(i); failed != nil {
		return failed
	}
	if m.ToolCalls != nil && len(m.ToolCalls) == 0 {
		return refuse("Invalid 'messages[%d].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.", i).at("messages[%d].tool_calls", i)
	}
	seen := map[string]bool{}
	for k, c := range m.ToolCalls {
		at := fmt.Sprintf("messages[%d].tool_calls[%d]", i, k)
		switch {
		case c.ID == "":
			return refuse("Missing required parameter: '%s.id'.", at).at("%s.id", at)
		case len(c.ID) > 40:
			return refuse("Invalid '%s.id': string too long. Expected a string with maximum length 40, but got a string with length %d instead.", at, len(c.ID)).at("%s.id", at)
		case seen[c.ID]:
			return refuse("Invalid parameter: Duplicate value for 'tool_call_id' of '%s'.", c.ID).at("%s.id", at)
		case c.Type == "function" && c.Function != nil:
			if failed := c.Function.check(at + ".function"); failed != nil {
				return failed
			}
		case c.Type == "custom" && c.Custom != nil && c.Custom.Name != "" && c.Custom.Input != nil:
		default:
			return refuse("Missing required parameter: '%s.type'.", at).at("%s.type", at)
		}
		seen[c.ID] = true
	}
	if m.FunctionCall != nil {
		return m.FunctionCall.check(fmt.Sprintf("messages[%d].function_call", i))
	}
	return nil
}

func (f *chatFunction) check(at string) *refusal {
	if f.Name == "" {
		return refuse("Invalid '%s.name': empty string. Expected a string with minimum length 1, but got an empty string instead.", at).at("%s.name", at)
	}
	if !spelled(f.Name, "_-") || len(f.Name) > 64 {
		return refuse("Invalid '%s.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", at).at("%s.name", at)
	}
	if f.Arguments == nil {
		return refuse("Missing required parameter: '%s.arguments'.", at).at("%s.arguments", at)
	}
	return nil
}

func (m *chatMessage) checkContent(i int) *refusal {
	if _, ok := stringOf(m.Content); ok {
		return nil
	}
	if null(m.Content) {
		optional := m.Role == "assistant" && (len(m.ToolCalls) > 0 || m.FunctionCall != nil || !null(m.Refusal) || !null(m.Audio)) ||
			m.Role == "function" && len(m.Content) > 0
		if optional {
			return nil
		}
		return refuse("Invalid value for 'content': expected a string, got null.").at("messages.[%d].content", i)
	}
	var parts []chatPart
	if !isArray(m.Content) || json.Unmarshal(m.Content, &parts) != nil {
		return refuse("Invalid type for 'messages[%d].content': expected one of a string or array of objects.", i).at("messages[%d].content", i)
	}
	if len(parts) == 0 {
		return refuse("Invalid 'messages[%d].content': empty array. Expected an array with minimum length 1, but got an empty array instead.", i).at("messages[%d].content", i)
	}
	for j, p := range parts {
		at := fmt.Sprintf("messages[%d].content[%d]", i, j)
		full := p.Type == "text" && p.Text != nil ||
			p.Type == "refusal" && p.Refusal != nil && m.Role == "assistant" ||
			m.Role == "user" && (p.Type == "image_url" && p.ImageURL != nil && p.ImageURL.URL != "" ||
				p.Type == "input_audio" && p.InputAudio != nil && p.InputAudio.Data != "" && p.InputAudio.Format != "" || p.Type == "file" && p.File != nil)
		switch {
		case full:
		case p.Type == "image_url" && m.Role != "user":
			return refuse("Invalid 'messages[%d]'. Image URLs are only allowed for messages with role 'user', but this message with role '%s' contains an image URL.", i, m.Role).at("messages[%d]", i)
		case p.Type == "text":
			return refuse("Missing required parameter: '%s.text'.", at).at("%s.text", at)
		default:
			return refuse("Invalid value: '%s'.", p.Type).at("%s.type", at)
		}
	}
	return nil
}

func chatTool(body []byte) string {
	var r chatRequest
	if json.Unmarshal(body, &r) != nil || len(r.Tools) == 0 {
		return ""
	}
	return r.Tools[0].Function.Name
}

func replyChat(_ *API, body []byte, x answer) any {
	var r chatRequest
	_ = json.Unmarshal(body, &r)
	message := object{"role": "assistant", "content": x.text, "refusal": nil}
	reason := "stop"
	if x.name != "" {
		reason, message["content"] = "tool_calls", nil
		message["tool_calls"] = []object{{"id": fmt.Sprintf("call_%d", x.step), "type": "function", "function": object{"name": x.name, "arguments": string(x.arguments)}}}
	}
	return object{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": r.Model,
		"choices": []object{{"index": 0, "finish_reason": reason, "logprobs": nil, "message": message}},
		"usage":   object{"prompt_tokens": len(body) / 4, "completion_tokens": 8, "total_tokens": len(body)/4 + 8},
	}
}

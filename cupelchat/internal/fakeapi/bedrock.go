package fakeapi

import (
	"encoding/json"
	"fmt"
	"strings"
)

type converseRequest struct {
	Messages   []converseMessage
	System     []map[string]json.RawMessage
	ToolConfig *struct {
		Tools []struct {
			ToolSpec struct{ Name string }
		}
	}
}

type converseMessage struct {
	Role    string
	Content []map[string]json.RawMessage
}

type toolUse struct {
	ToolUseID string `json:"toolUseId"`
	Name      string
	Input     json.RawMessage
}

type toolResult struct {
	ToolUseID string `json:"toolUseId"`
	Status    *string
	Content   *[]map[string]json.RawMessage
}

const (
	converseBlocks  = " text image document video audio toolUse toolResult guardContent cachePoint reasoningContent citationsContent searchResult "
	converseResults = " text json image document video searchResult "
)

func checkConverse(_ *API, body []byte) *refusal {
	var r converseRequest
	if failed := decode(body, &r); failed != nil {
		return failed
	}
	if len(r.Messages) == 0 || r.Messages[0].Role == "assistant" {
		return refuse("A conversation must start with a user message. Try again with a conversation that starts with a user message.")
	}
	points, tools := 0, false
	for i, s := range r.System {
		if _, ok := s["cachePoint"]; ok {
			points++
		}
		if failed := checkBlank(s["text"], fmt.Sprintf("system.%d", i)); failed != nil {
			return failed
		}
	}
	var open []string
	for i, m := range r.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			return refuse("Value '%s' at 'messages.%d.member.role' failed to satisfy constraint: Member must satisfy enum value set: [user, assistant]", m.Role, i+1)
		}
		if i > 0 && r.Messages[i-1].Role == m.Role {
			return refuse("A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.")
		}
		uses, results, failed := m.check(i, &points)
		if failed != nil {
			return failed
		}
		tools = tools || len(uses)+len(results) > 0
		if failed := pairConverse(open, results, i); failed != nil {
			return failed
		}
		open = uses
	}
	if failed := pairConverse(open, nil, len(r.Messages)); failed != nil {
		return failed
	}
	if points > 4 {
		return refuse("You have exceeded the maximum of 4 cache checkpoints")
	}
	if tools && r.ToolConfig == nil {
		return refuse("The toolConfig field must be defined when using toolUse and toolResult content blocks.")
	}
	return nil
}

// pairConverse wants the results of a message to be those of the calls before.
func pairConverse(calls, results []string, i int) *refusal {
	left := map[string]bool{}
	for _, id := range calls {
		left[id] = true
	}
	seen := map[string]bool{}
	for _, id := range results {
		if seen[id] {
			return refuse("The toolResult blocks at messages.%d.content contain duplicate Ids: %s", i, id)
		}
		if !left[id] {
			return refuse("The number of toolResult blocks at messages.%d.content exceeds the number of toolUse blocks of previous turn.", i)
		}
		seen[id] = true
	}
	var missing []string
	for _, id := range calls {
		if !seen[id] {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		return refuse("Expected toolResult blocks at messages.%d.content for the following Ids: %s", i, strings.Join(missing, ", "))
	}
	return nil
}

// check checks a message alone, and returns the ids of its calls and results.
func (m *converseMessage) check(i int, points *int) (uses, results []string, failed *refusal) {
	if len(m.Content) == 0 {
		return nil, nil, refuse("The content field in the Message object at messages.%d is empty. Add a ContentBlock object to the content field and try again.", i)
	}
	document, text := false, false
	for j, b := range m.Content {
		at := fmt.Sprintf("messages.%d.content.%d", i, j)
		name := only(b, converseBlocks)
		switch name {
		case "":
			return nil, nil, refuse("The ContentBlock object at %s must set one of the following keys:%s.", at, converseBlocks)
		case "text":
			text = true
			failed = checkBlank(b[name], at)
		case "document":
			document = true
		case "cachePoint":
			*points++
		case "toolUse":
			var u toolUse
			if failed = u.check(b[name], m.Role, at); failed == nil {
				for _, id := range uses {
					if id == u.ToolUseID {
						return nil, nil, refuse("The toolUse blocks at messages.%d.content contain duplicate Ids: %s", i, id)
					}
				}
				uses = append(uses, u.ToolUseID)
			}
		case "toolResult":
			var t toolResult
			failed = t.check(b[name], m.Role, at)
			results = append(results, t.ToolUseID)
		}
		if failed != nil {
			return nil, nil, failed
		}
	}
	if document && !text {
		return nil, nil, refuse("A text block must be included when using documents.")
	}
	return uses, results, nil
}

// only returns the one member of an object that is in a list of names, or "".
func only(b map[string]json.RawMessage, names string) string {
	found := ""
	for name, v := range b {
		if null(v) || !strings.Contains(names, " "+name+" ") {
			continue
		}
		if found != "" {
			return ""
		}
		found = name
	}
	return found
}

func checkBlank(m json.RawMessage, at string) *refusal {
	if null(m) {
		return nil
	}
	if text, ok := stringOf(m); !ok || strings.TrimSpace(text) == "" {
		return refuse("The text field in the ContentBlock object at %s is blank. Add text to the text field, and try again.", at)
	}
	return nil
}

func checkToolID(id, at string) *refusal {
	if len(id) > 64 || !spelled(id, "_-.:") {
		return refuse("Value '%s' at '%s.toolUseId' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.:-]+", id, at)
	}
	return nil
}

func (u *toolUse) check(m json.RawMessage, role, at string) *refusal {
	if failed := decode(m, u); failed != nil {
		return failed
	}
	switch {
	case role != "assistant":
		return refuse("%s: toolUse is not allowed in a message of the user", at)
	case len(u.Name) > 64 || !spelled(u.Name, "_-"):
		return refuse("Value '%s' at '%s.toolUse.name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+", u.Name, at)
	case !isObject(u.Input):
		return refuse("The format of the value at %s.toolUse.input is invalid. Provide a json object for the field and try again.", at)
	}
	return checkToolID(u.ToolUseID, at+".toolUse")
}

func (t *toolResult) check(m json.RawMessage, role, at string) *refusal {
	if failed := decode(m, t); failed != nil {
		return failed
	}
	if role != "user" {
		return refuse("%s: toolResult is not allowed in a message of the assistant", at)
	}
	if t.Status != nil && *t.Status != "success" && *t.Status != "error" {
		return refuse("Value '%s' at '%s.toolResult.status' failed to satisfy constraint", *t.Status, at)
	}
	if t.Content == nil {
		return refuse("Value null at '%s.toolResult.content' failed to satisfy constraint: Member must not be null", at)
	}
	if len(*t.Content) == 0 && t.Status != nil && *t.Status == "error" {
		return refuse("The content field at %s.toolResult cannot be empty when status value is error.", at)
	}
	for k, b := range *t.Content {
		inner := fmt.Sprintf("%s.toolResult.content.%d", at, k)
		switch name := only(b, converseResults); name {
		case "":
			return refuse("The ToolResultContentBlock object at %s must set one of the following keys:%s.", inner, converseResults)
		case "json":
			if !isObject(b[name]) {
				return refuse("The format of the value at %s.json is invalid. Provide a json object for the field and try again.", inner)
			}
		case "text":
			if failed := checkBlank(b[name], inner); failed != nil {
				return failed
			}
		}
	}
	return checkToolID(t.ToolUseID, at+".toolResult")
}

func converseTool(body []byte) string {
	var r converseRequest
	if json.Unmarshal(body, &r) != nil || r.ToolConfig == nil || len(r.ToolConfig.Tools) == 0 {
		return ""
	}
	return r.ToolConfig.Tools[0].ToolSpec.Name
}

func replyConverse(_ *API, body []byte, x answer) any {
	content, reason := object{"text": x.text}, "end_turn"
	if x.name != "" {
		content, reason = object{"toolUse": object{"toolUseId": fmt.Sprintf("tooluse_%d", x.step), "name": x.name, "input": x.arguments}}, "tool_use"
	}
	return object{
		"output":     object{"message": object{"role": "assistant", "content": []object{content}}},
		"stopReason": reason, "metrics": object{"latencyMs": 1},
		"usage": object{"inputTokens": len(body) / 4, "outputTokens": 8, "totalTokens": len(body)/4 + 8},
	}
}

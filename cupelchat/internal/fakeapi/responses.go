package fakeapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

type responsesRequest struct {
	Model        string
	Input        json.RawMessage
	Instructions *string
	Previous     string          `json:"previous_response_id"`
	Conversation json.RawMessage `json:"conversation"`
	Prompt       json.RawMessage
	Reasoning    json.RawMessage
	Tools        []struct{ Name string }
}

type responsesItem struct {
	Type      *string
	ID        *string
	Role      string
	Content   json.RawMessage
	CallID    *string `json:"call_id"`
	Name      string
	Arguments json.RawMessage
	Input     json.RawMessage
	Output    json.RawMessage
	Summary   *[]json.RawMessage
}

func (m *responsesItem) kind() string {
	switch {
	case m.Type != nil:
		return *m.Type
	case m.Role != "":
		return "message"
	case m.ID != nil:
		return "item_reference"
	}
	return ""
}

// otherItems are the types that are taken as they are.
const otherItems = " computer_call computer_call_output file_search_call web_search_call code_interpreter_call image_generation_call " +
	"local_shell_call local_shell_call_output shell_call shell_call_output apply_patch_call apply_patch_call_output tool_search_call " +
	"tool_search_output mcp_list_tools mcp_approval_request mcp_approval_response mcp_call additional_tools configuration_update " +
	"compaction compaction_summary compaction_trigger item_reference program program_output "

func checkResponses(a *API, body []byte) *refusal {
	var r responsesRequest
	if failed := decode(body, &r); failed != nil {
		return failed
	}
	if r.Model == "" {
		return refuse("Missing required parameter: 'model'.").at("model")
	}
	stored := r.Previous != "" || !null(r.Conversation)
	if r.Previous != "" && !null(r.Conversation) {
		return refuse("Mutually exclusive parameters: 'previous_response_id' and 'conversation'.").at("previous_response_id")
	}
	if _, text := stringOf(r.Input); text {
		return nil
	}
	if null(r.Input) {
		if stored || !null(r.Prompt) {
			return nil
		}
		return refuse("One of 'input', 'previous_response_id', 'prompt' or 'conversation' must be provided.").at("input")
	}
	var items []responsesItem
	if failed := decode(r.Input, &items); failed != nil {
		return failed.at("input")
	}
	if len(items) == 0 {
		return refuse("Invalid 'input': empty array.").at("input")
	}
	for i := range items {
		if failed := items[i].check(i, i == len(items)-1); failed != nil {
			return failed
		}
	}
	if failed := a.checkReasoning(items); failed != nil {
		return failed
	}
	return checkOutputs(items, stored || !null(r.Prompt))
}

// check checks an item alone.
func (m *responsesItem) check(i int, last bool) *refusal {
	kind := m.kind()
	at := fmt.Sprintf("input[%d]", i)
	prefix := map[string]string{"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}[kind]
	if m.ID != nil && !spelled(*m.ID, "_-") || m.ID == nil && kind == "item_reference" {
		return refuse("Invalid '%s.id': '%s'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.", at, text(m.ID)).at("%s.id", at)
	}
	if m.ID != nil && !strings.HasPrefix(*m.ID, prefix) {
		return refuse("Invalid '%s.id': '%s'. Expected an ID that begins with '%s'.", at, *m.ID, prefix).at("%s.id", at)
	}
	switch kind {
	case "message":
		return m.checkMessage(at)
	case "reasoning":
		if m.Summary == nil {
			return refuse("Missing required parameter: '%s.summary'.", at).at("%s.summary", at)
		}
	case "function_call", "custom_tool_call":
		arguments, name := m.Arguments, "arguments"
		if kind == "custom_tool_call" {
			arguments, name = m.Input, "input"
		}
		if _, ok := stringOf(arguments); !ok {
			return refuse("Invalid type for '%s.%s': expected a string.", at, name).at("%s.%s", at, name)
		}
		if m.Name == "" || kind == "function_call" && !spelled(m.Name, "_-") {
			return refuse("Invalid '%s.name': string does not match pattern.", at).at("%s.name", at)
		}
		return m.checkCallID(at)
	case "function_call_output", "custom_tool_call_output":
		if failed := checkOutput(m.Output, at+".output"); failed != nil {
			return failed
		}
		return m.checkCallID(at)
	case "compaction_trigger":
		if !last {
			return refuse("compaction_trigger must be the final input item").at("%s", at)
		}
	default:
		if kind == "" || !strings.Contains(otherItems, " "+kind+" ") {
			return refuse("Invalid value: '%s'.", kind).at("%s.type", at)
		}
		if strings.HasPrefix(kind, "computer_call") {
			return m.checkCallID(at)
		}
	}
	return nil
}

// text returns a member that may be missing.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (m *responsesItem) checkCallID(at string) *refusal {
	if m.CallID == nil {
		return refuse("Missing required parameter: '%s.call_id'.", at).at("%s.call_id", at)
	}
	if n := len(*m.CallID); n == 0 || n > 64 {
		return refuse("Invalid '%s.call_id': a string of length %d.", at, n).at("%s.call_id", at)
	}
	return nil
}

func (m *responsesItem) checkMessage(at string) *refusal {
	if !slices.Contains([]string{"user", "assistant", "system", "developer"}, m.Role) {
		return refuse("Invalid value: '%s'. Supported values are: 'assistant', 'system', 'developer', and 'user'.", m.Role).at("%s.role", at)
	}
	if _, ok := stringOf(m.Content); ok {
		return nil
	}
	if null(m.Content) {
		return refuse("Missing required parameter: '%s.content'.", at).at("%s.content", at)
	}
	allowed := "'input_text', 'input_image', 'input_file' and 'input_audio'"
	if m.Role == "assistant" {
		allowed = "'output_text' and 'refusal'"
	}
	return checkParts(m.Content, at+".content", allowed)
}

func checkOutput(output json.RawMessage, at string) *refusal {
	if _, ok := stringOf(output); ok {
		return nil
	}
	return checkParts(output, at, "'input_text', 'input_image' and 'input_file'")
}

func checkParts(list json.RawMessage, at, allowed string) *refusal {
	var parts []struct {
		Type    string
		Text    *string
		Refusal *string
	}
	if !isArray(list) || json.Unmarshal(list, &parts) != nil {
		return refuse("Invalid type for '%s': expected one of a string or array of objects.", at).at("%s", at)
	}
	for j, p := range parts {
		if p.Type == "" || !strings.Contains(allowed, "'"+p.Type+"'") {
			return refuse("Invalid value: '%s'. Supported values are: %s.", p.Type, allowed).at("%s[%d]", at, j)
		}
		if strings.HasSuffix(p.Type, "_text") && p.Text == nil || p.Type == "refusal" && p.Refusal == nil {
			return refuse("Missing required parameter: '%s[%d].text'.", at, j).at("%s[%d].text", at, j)
		}
	}
	return nil
}

// checkReasoning checks ids, what follows reasoning, and that calls which this
// server made come with the reasoning that it made before them.
func (a *API) checkReasoning(items []responsesItem) *refusal {
	ids := map[string]bool{}
	for i, m := range items {
		if m.ID == nil || m.kind() == "item_reference" {
			continue
		}
		if ids[*m.ID] {
			return refuse("Duplicate item found with id %s. Remove duplicate items from your input and try again.", *m.ID).at("input")
		}
		ids[*m.ID] = true
		if m.kind() != "reasoning" {
			continue
		}
		follows := false
		if i+1 < len(items) {
			next := items[i+1]
			follows = next.Role == "assistant" || next.kind() != "message" && !strings.HasSuffix(next.kind(), "_output") && !strings.HasSuffix(next.kind(), "_response")
		}
		if !follows {
			return refuse("Item '%s' of type 'reasoning' was provided without its required following item.", *m.ID).at("input")
		}
	}
	for _, m := range items {
		if m.ID == nil {
			continue
		}
		if reasoning, mine := a.issued[*m.ID]; mine && !ids[reasoning] {
			return refuse("Item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'.", *m.ID, m.kind(), reasoning).at("input")
		}
	}
	return nil
}

// checkOutputs pairs calls and outputs. stored says that calls may be in a part
// of the conversation that the API keeps.
func checkOutputs(items []responsesItem, stored bool) *refusal {
	for _, kind := range []string{"function_call", "custom_tool_call", "computer_call"} {
		name := strings.ReplaceAll(kind, "_", " ")
		open := map[string]int{}
		made := map[string]bool{}
		for i, m := range items {
			switch m.kind() {
			case kind:
				if at, twice := open[*m.CallID]; twice {
					return refuse("No tool output found for %s %s.", name, *items[at].CallID).at("input")
				}
				open[*m.CallID], made[*m.CallID] = i, true
			case kind + "_output":
				if !made[*m.CallID] && !stored {
					return refuse("No tool call found for %s output with call_id %s.", name, *m.CallID).at("input")
				}
				delete(open, *m.CallID)
			}
		}
		for _, m := range items {
			if m.kind() == kind {
				if _, waits := open[*m.CallID]; waits {
					return refuse("No tool output found for %s %s.", name, *m.CallID).at("input")
				}
			}
		}
	}
	return nil
}

func replyResponses(a *API, body []byte, x answer) any {
	var r responsesRequest
	_ = json.Unmarshal(body, &r)
	n := len(a.bodies)
	id := fmt.Sprintf("msg_%d", n)
	item := object{"type": "message", "id": id, "role": "assistant", "status": "completed", "content": []object{{"type": "output_text", "text": x.text, "annotations": []any{}}}}
	if x.name != "" {
		id = fmt.Sprintf("fc_%d", n)
		item = object{"type": "function_call", "id": id, "call_id": fmt.Sprintf("call_%d", x.step), "name": x.name, "arguments": string(x.arguments), "status": "completed"}
	}
	output := []object{item}
	if !null(r.Reasoning) {
		reasoning := fmt.Sprintf("rs_%d", n)
		if a.issued == nil {
			a.issued = map[string]string{}
		}
		a.issued[id] = reasoning
		output = []object{{"type": "reasoning", "id": reasoning, "summary": []any{}}, item}
	}
	return object{
		"id": fmt.Sprintf("resp_%d", n), "object": "response", "created_at": 0, "status": "completed", "model": r.Model, "output": output,
		"error": nil, "incomplete_details": nil, "instructions": nil, "metadata": object{}, "parallel_tool_calls": true, "temperature": 1,
		"tool_choice": "auto", "tools": []any{}, "top_p": 1,
		"usage": object{
			"input_tokens": len(body) / 4, "output_tokens": 8, "total_tokens": len(body)/4 + 8,
			"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0},
		},
	}
}

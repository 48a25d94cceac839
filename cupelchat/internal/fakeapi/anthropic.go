package fakeapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

type messagesRequest struct {
	Model        string
	MaxTokens    int               `json:"max_tokens"`
	Messages     []json.RawMessage `json:"messages"`
	System       json.RawMessage
	CacheControl *cacheControl `json:"cache_control"`
	Thinking     struct{ Type string }
	Tools        []struct {
		Name         string
		CacheControl *cacheControl `json:"cache_control"`
	}
}

type cacheControl struct {
	Type string
	TTL  *string
}

// block is any block of content.
type block struct {
	Type         string
	Text         *string
	ID           string
	Name         string
	Input        json.RawMessage
	ToolUseID    string `json:"tool_use_id"`
	Content      json.RawMessage
	Thinking     *string
	Signature    *string
	Data         *string
	CacheControl *cacheControl `json:"cache_control"`
	Source       *struct {
		Type      string
		MediaType string `json:"media_type"`
		Data      string
		URL       string
		FileID    string `json:"file_id"`
	}
	at string // as in error texts
}

func (b *block) thinks() bool { return b.Type == "thinking" || b.Type == "redacted_thinking" }

// turn is messages of one role that follow each other.
type turn struct {
	role   string
	blocks []block
	first  int // index of the first message
	empty  bool
}

func checkMessages(_ *API, body []byte) *refusal {
	var r messagesRequest
	if failed := decode(body, &r); failed != nil {
		return failed
	}
	if r.Model == "" || r.MaxTokens == 0 {
		return refuse("model and max_tokens: Field required")
	}
	if len(r.Messages) == 0 {
		return refuse("messages: at least one message is required")
	}
	if len(r.Messages) > 100_000 {
		return refuse("messages: at most 100000 messages")
	}
	var list []turn
	for i, raw := range r.Messages {
		t, failed := readMessage(raw, i, i == len(r.Messages)-1)
		if failed != nil {
			return failed
		}
		list = append(list, t)
	}
	if failed := checkSystemMessages(list); failed != nil {
		return failed
	}
	if list[0].role != "user" {
		return refuse("messages: first message must use the \"user\" role")
	}
	turns := joinTurns(list)
	if failed := checkToolTurns(turns); failed != nil {
		return failed
	}
	if failed := checkThinking(&r, list, turns); failed != nil {
		return failed
	}
	return checkCache(&r, list)
}

// readMessage decodes a message and checks it alone.
func readMessage(raw json.RawMessage, i int, last bool) (turn, *refusal) {
	var m map[string]json.RawMessage
	if failed := decode(raw, &m); failed != nil {
		return turn{}, failed
	}
	for name := range m {
		if name != "role" && name != "content" {
			return turn{}, refuse("messages.%d.%s: Extra inputs are not permitted", i, name)
		}
	}
	t := turn{first: i}
	t.role, _ = stringOf(m["role"])
	if t.role != "user" && t.role != "assistant" && t.role != "system" {
		return t, refuse("messages.%d.role: Input should be 'user' or 'assistant'", i)
	}
	at := fmt.Sprintf("messages.%d.content", i)
	if text, ok := stringOf(m["content"]); ok {
		t.empty = text == ""
		if !t.empty {
			t.blocks = []block{{Type: "text", Text: &text, at: at}}
		}
	} else if null(m["content"]) {
		return t, refuse("%s: Field required", at)
	} else if failed := decode(m["content"], &t.blocks); failed != nil {
		return t, failed
	} else {
		t.empty = len(t.blocks) == 0
	}
	if t.empty && !(last && t.role == "assistant") {
		return t, refuse("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
	}
	for j := range t.blocks {
		b := &t.blocks[j]
		if b.at == "" {
			b.at = fmt.Sprintf("%s.%d", at, j)
		}
		if failed := b.check(t.role); failed != nil {
			return t, failed
		}
	}
	return t, nil
}

const (
	sharedBlocks    = " text image document search_result container_upload compaction fallback mid_conv_system tool_addition tool_removal mcp_tool_listing "
	assistantBlocks = " tool_use thinking redacted_thinking server_tool_use mcp_tool_use mcp_tool_result web_search_tool_result web_fetch_tool_result " +
		"code_execution_tool_result bash_code_execution_tool_result text_editor_code_execution_tool_result tool_search_tool_result advisor_tool_result "
	resultBlocks = " text image search_result document tool_reference browser_state "
)

// check checks a block alone.
func (b *block) check(role string) *refusal {
	word := " " + b.Type + " "
	switch {
	case b.Type == "":
		return refuse("%s.type: Field required", b.at)
	case strings.Contains(sharedBlocks, word):
	case b.Type == "tool_result" && role != "user":
		return refuse("%s: `tool_result` blocks can only be in `user` messages", b.at)
	case b.Type == "tool_result":
		return b.checkResult()
	case strings.Contains(assistantBlocks, word) && role != "assistant":
		return refuse("%s: `%s` blocks can only be in `assistant` messages", b.at, b.Type)
	case !strings.Contains(assistantBlocks, word):
		return refuse("%s: Input tag '%s' found using 'type' does not match any of the expected tags", b.at, b.Type)
	}
	switch b.Type {
	case "text":
		return b.checkText()
	case "image", "document":
		return b.checkSource()
	case "thinking":
		if b.Thinking == nil || b.Signature == nil {
			return refuse("%s.thinking.signature: Field required", b.at)
		}
		if *b.Signature == "" {
			return refuse("%s: Invalid `signature` in `thinking` block", b.at)
		}
	case "redacted_thinking":
		if b.Data == nil || *b.Data == "" {
			return refuse("%s.redacted_thinking.data: Field required", b.at)
		}
	case "tool_use", "server_tool_use":
		if !spelled(b.ID, "_-") {
			return refuse("%s.%s.id: String should match pattern '^[a-zA-Z0-9_-]+$'", b.at, b.Type)
		}
		if b.Type == "server_tool_use" && !strings.HasPrefix(b.ID, "srvtoolu_") {
			return refuse("%s.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'", b.at)
		}
		if !isObject(b.Input) {
			return refuse("%s.%s.input: Input should be a valid dictionary", b.at, b.Type)
		}
		if n := len([]rune(b.Name)); n == 0 || n > 200 {
			return refuse("%s.tool_use.name: String should have at most 200 characters", b.at)
		}
	}
	return nil
}

func (b *block) checkText() *refusal {
	switch {
	case b.Text == nil:
		return refuse("%s.text.text: Field required", b.at)
	case *b.Text == "" && b.CacheControl != nil:
		return refuse("%s.text: cache_control cannot be set for empty text blocks", b.at)
	case *b.Text == "":
		return refuse("messages: text content blocks must be non-empty")
	case strings.TrimSpace(*b.Text) == "":
		return refuse("messages: text content blocks must contain non-whitespace text")
	}
	return nil
}

func (b *block) checkSource() *refusal {
	if b.Source == nil {
		return refuse("%s.%s.source: Field required", b.at, b.Type)
	}
	s := b.Source
	full := s.Type == "base64" && s.MediaType != "" && s.Data != "" || s.Type == "url" && s.URL != "" ||
		s.Type == "file" && s.FileID != "" || s.Type == "text" && s.MediaType != "" && s.Data != "" || s.Type == "content"
	if !full {
		return refuse("%s.%s.source: Field required", b.at, b.Type)
	}
	return nil
}

func (b *block) checkResult() *refusal {
	if b.ToolUseID == "" {
		return refuse("%s.tool_result.tool_use_id: Field required", b.at)
	}
	if _, ok := stringOf(b.Content); ok || null(b.Content) {
		return nil
	}
	var inner []block
	if failed := decode(b.Content, &inner); failed != nil {
		return failed
	}
	for k := range inner {
		inner[k].at = fmt.Sprintf("%s.tool_result.content.%d", b.at, k)
		if !strings.Contains(resultBlocks, " "+inner[k].Type+" ") {
			return refuse("%s: Input tag '%s' found using 'type' does not match any of the expected tags", inner[k].at, inner[k].Type)
		}
		if inner[k].Type == "text" || inner[k].Type == "image" || inner[k].Type == "document" {
			if failed := inner[k].check("user"); failed != nil {
				return failed
			}
		}
	}
	return nil
}

func checkSystemMessages(list []turn) *refusal {
	for i, t := range list {
		if t.role != "system" {
			continue
		}
		if i == 0 {
			return refuse("messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role.")
		}
		before := list[i-1]
		served := before.role == "assistant" && len(before.blocks) > 0 && strings.HasSuffix(before.blocks[len(before.blocks)-1].Type, "_tool_result")
		if before.role != "user" && !served || i+1 < len(list) && list[i+1].role != "assistant" {
			return refuse("messages.%d: a system message must follow a user message and be last or precede an assistant message", i)
		}
	}
	return nil
}

// joinTurns joins messages of one role; those of the role system count for
// nothing.
func joinTurns(list []turn) []turn {
	var turns []turn
	for _, t := range list {
		switch last := len(turns) - 1; {
		case t.role == "system":
		case last >= 0 && turns[last].role == t.role:
			turns[last].blocks = append(turns[last].blocks, t.blocks...)
		default:
			t.blocks = slices.Clone(t.blocks)
			turns = append(turns, t)
		}
	}
	return turns
}

// checkToolTurns pairs calls with the results of the next turn.
func checkToolTurns(turns []turn) *refusal {
	used, served := map[string]bool{}, map[string]bool{}
	var calls []string
	for i, t := range turns {
		if t.role == "user" {
			if failed := checkResults(t, calls); failed != nil {
				return failed
			}
			continue
		}
		calls = nil
		for _, b := range t.blocks {
			switch {
			case b.Type == "tool_use":
				if used[b.ID] {
					return refuse("%s: `tool_use` ids must be unique", b.at)
				}
				used[b.ID] = true
				calls = append(calls, b.ID)
			case b.Type == "server_tool_use" || b.Type == "mcp_tool_use":
				served[b.ID] = true
			case strings.HasSuffix(b.Type, "_tool_result") && !served[b.ToolUseID]:
				return refuse("%s: unexpected `tool_use_id` found in `%s` blocks: %s. Each `%s` block must have a corresponding `server_tool_use` block before it.", b.at, b.Type, b.ToolUseID, b.Type)
			}
		}
		var results []string
		if i+1 < len(turns) {
			for _, b := range turns[i+1].blocks {
				if b.Type == "tool_result" {
					results = append(results, b.ToolUseID)
				}
			}
		}
		var missing []string
		for _, id := range calls {
			if !slices.Contains(results, id) {
				missing = append(missing, id)
			}
		}
		if len(missing) > 0 {
			return refuse("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", t.first, strings.Join(missing, ", "))
		}
	}
	return nil
}

// checkResults checks a turn of the user behind calls.
func checkResults(t turn, calls []string) *refusal {
	seen := map[string]bool{}
	words := false
	for _, b := range t.blocks {
		switch {
		case b.Type != "tool_result":
			words = true
		case !slices.Contains(calls, b.ToolUseID):
			return refuse("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", b.at, b.ToolUseID)
		case seen[b.ToolUseID]:
			return refuse("%s: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", b.at, b.ToolUseID)
		case words:
			return refuse("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s.", t.first, b.ToolUseID)
		}
		if b.Type == "tool_result" {
			seen[b.ToolUseID] = true
		}
	}
	return nil
}

func checkThinking(r *messagesRequest, list, turns []turn) *refusal {
	final := list[len(list)-1]
	if n := len(final.blocks); final.role == "assistant" && n > 0 {
		last := final.blocks[n-1]
		if last.thinks() {
			return refuse("messages.%d: The final block in an assistant message cannot be `thinking`.", final.first)
		}
		if r.Thinking.Type == "disabled" && slices.ContainsFunc(final.blocks, func(b block) bool { return b.thinks() }) {
			return refuse("messages.%d.content: When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`. To use thinking blocks, enable `thinking` in your request.", final.first)
		}
		if last.Type == "text" && strings.TrimRight(*last.Text, " \t\r\n\v\f") != *last.Text {
			return refuse("messages: final assistant content cannot end with trailing whitespace")
		}
	}
	if r.Thinking.Type != "enabled" || final.role == "assistant" {
		return nil
	}
	// The turn that goes on reaches back over calls and their results.
	var first *turn
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].role == "assistant" {
			first = &turns[i]
		} else if slices.ContainsFunc(turns[i].blocks, func(b block) bool { return b.Type != "tool_result" }) {
			break
		}
	}
	if first != nil && len(first.blocks) > 0 && !first.blocks[0].thinks() {
		return refuse("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceding the lastmost set of `tool_use` and `tool_result` blocks).", first.first, first.blocks[0].Type)
	}
	return nil
}

// checkCache checks what is marked to be cached, in the order in which the API
// reads a request.
func checkCache(r *messagesRequest, list []turn) *refusal {
	var marks []*cacheControl
	mark := func(c *cacheControl) {
		if c != nil {
			marks = append(marks, c)
		}
	}
	for _, t := range r.Tools {
		mark(t.CacheControl)
	}
	if _, ok := stringOf(r.System); !ok && !null(r.System) {
		var system []block
		if failed := decode(r.System, &system); failed != nil {
			return failed
		}
		for i := range system {
			system[i].at = fmt.Sprintf("system.%d", i)
			if system[i].Type != "text" {
				return refuse("system.%d: Input does not match the expected shape.", i)
			}
			if failed := system[i].checkText(); failed != nil {
				return failed
			}
			mark(system[i].CacheControl)
		}
	}
	for _, t := range list {
		for _, b := range t.blocks {
			if b.thinks() && b.CacheControl != nil {
				return refuse("%s.%s.cache_control: Extra inputs are not permitted", b.at, b.Type)
			}
			var inner []block
			if b.Type == "tool_result" && isArray(b.Content) && json.Unmarshal(b.Content, &inner) == nil {
				for _, n := range inner {
					mark(n.CacheControl)
				}
			}
			mark(b.CacheControl)
		}
	}
	mark(r.CacheControl)
	if len(marks) > 4 {
		return refuse("A maximum of 4 blocks with cache_control may be provided. Found %d.", len(marks))
	}
	short := false
	for _, m := range marks {
		long := m.TTL != nil && *m.TTL == "1h"
		if m.Type != "ephemeral" || m.TTL != nil && *m.TTL != "5m" && !long {
			return refuse("cache_control: Input should be 'ephemeral', with a ttl of '5m' or '1h'")
		}
		if long && short {
			return refuse("cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: tools, system, messages.")
		}
		short = short || !long
	}
	return nil
}

func replyMessages(a *API, body []byte, x answer) any {
	var r messagesRequest
	_ = json.Unmarshal(body, &r)
	var content []object
	if r.Thinking.Type == "enabled" {
		content = append(content, object{"type": "thinking", "thinking": "hm", "signature": fmt.Sprintf("signature%d", len(a.bodies))})
	}
	reason := "end_turn"
	if x.name != "" {
		reason = "tool_use"
		content = append(content, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", x.step), "name": x.name, "input": x.arguments})
	} else {
		content = append(content, object{"type": "text", "text": x.text})
	}
	return object{
		"id": fmt.Sprintf("msg_%d", len(a.bodies)), "type": "message", "role": "assistant", "model": r.Model, "content": content,
		"stop_reason": reason, "stop_sequence": nil, "usage": object{"input_tokens": len(body) / 4, "output_tokens": 8},
	}
}

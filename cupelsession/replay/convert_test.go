package replay

import (
	"strings"
	"testing"
)

// tea is one conversation in the form of OpenAI's Chat Completions; TestFormats
// has it as other APIs and records write it.
const tea = `{"role": "system", "content": "Be kind."}
{"role": "user", "content": "Hi!"}
{"role": "assistant", "content": "Let me look.", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{\"q\": \"tea\", \"most\": 1.50}"}}, {"id": "c2", "type": "function", "function": {"name": "find", "arguments": "{\"q\": \"rye\"}"}}]}
{"role": "tool", "tool_call_id": "c1", "content": "{\"sku\": \"TEA-77\"}"}
{"role": "tool", "tool_call_id": "c2", "content": "none"}
{"role": "assistant", "content": "Only tea."}
{"role": "user", "content": "Fine."}`

func TestFormats(t *testing.T) {
	const called = `"{\"q\": \"tea\", \"most\": 1.50}"`
	for _, row := range []struct{ name, text string }{
		{"openai", `{"model": "x", "messages": [` + strings.ReplaceAll(tea, "\n", ",\n") + `]}`},
		{"lines", tea},
		{"responses", `{"model": "x", "instructions": "Be kind.", "input": [
			{"role": "user", "content": [{"type": "input_text", "text": "Hi!"}]},
			{"type": "reasoning", "id": "r", "summary": []},
			{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me look."}]},
			{"type": "function_call", "call_id": "c1", "name": "find", "arguments": ` + called + `},
			{"type": "function_call", "call_id": "c2", "name": "find", "arguments": "{\"q\": \"rye\"}"},
			{"type": "function_call_output", "call_id": "c1", "output": "{\"sku\": \"TEA-77\"}"},
			{"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "none"}]},
			{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Only tea."}]},
			{"role": "user", "content": "Fine."}]}`},
		{"anthropic", `{"model": "x", "system": [{"type": "text", "text": "Be kind."}], "messages": [
			{"role": "user", "content": "Hi!"},
			{"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": "Let me look."},
				{"type": "tool_use", "id": "c1", "name": "find", "input": {"q":"tea","most":1.50}}, {"type": "tool_use", "id": "c2", "name": "find", "input": {"q": "rye"}}]},
			{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "{\"sku\": \"TEA-77\"}"}]}, {"type": "tool_result", "tool_use_id": "c2", "content": "none"}]},
			{"role": "assistant", "content": [{"type": "text", "text": "Only tea."}]},
			{"role": "user", "content": [{"type": "text", "text": "Fine."}, {"type": "image", "source": {}}]}]}`},
		{"gemini", `{"systemInstruction": {"parts": [{"text": "Be kind."}]}, "contents": [
			{"role": "user", "parts": [{"text": "Hi!"}]},
			{"role": "model", "parts": [{"text": "Hm.", "thought": true}, {"text": "Let me look."}, {"functionCall": {"id": "c1", "name": "find", "args": {"q": "tea", "most": 1.50}}, "thoughtSignature": "s"}, {"functionCall": {"id": "c2", "name": "find", "args": {"q": "rye"}}}]},
			{"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "find", "response": {"output": "{\"sku\": \"TEA-77\"}"}}}, {"functionResponse": {"id": "c2", "name": "find", "response": {"output": "none"}}}]},
			{"role": "model", "parts": [{"text": "Only tea."}]},
			{"role": "user", "parts": [{"text": "Fine."}]}]}`},
		{"bedrock", `{"modelId": "x", "system": [{"text": "Be kind."}], "messages": [
			{"role": "user", "content": [{"text": "Hi!"}]},
			{"role": "assistant", "content": [{"reasoningContent": {"reasoningText": {"text": "Hm."}}}, {"text": "Let me look."}, {"toolUse": {"toolUseId": "c1", "name": "find", "input": {"q": "tea", "most": 1.50}}}, {"toolUse": {"toolUseId": "c2", "name": "find", "input": {"q": "rye"}}}]},
			{"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"json": {"sku": "TEA-77"}}]}}, {"toolResult": {"toolUseId": "c2", "content": [{"text": "none"}]}}]},
			{"role": "assistant", "content": [{"text": "Only tea."}]},
			{"role": "user", "content": [{"text": "Fine."}]}]}`},
		{"claude code", `{"type": "summary", "summary": "Tea", "leafUuid": "u"}
{"sessionId": "s", "uuid": "u", "type": "system", "subtype": "init", "content": "started"}
{"sessionId": "s", "uuid": "u", "type": "user", "message": {"role": "system", "content": "Be kind."}}
{"sessionId": "s", "uuid": "u", "type": "user", "message": {"role": "user", "content": "Hi!"}, "uuid": "1"}
{"sessionId": "s", "uuid": "u", "type": "assistant", "message": {"id": "m", "role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}]}}
{"sessionId": "s", "uuid": "u", "type": "assistant", "message": {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "Let me look."}]}}
{"sessionId": "s", "uuid": "u", "type": "assistant", "message": {"id": "m", "role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "find", "input": {"q": "tea", "most": 1.50}}]}}
{"sessionId": "s", "uuid": "u", "type": "user", "isSidechain": true, "message": {"role": "user", "content": "Somebody else's."}}
{"sessionId": "s", "uuid": "u", "type": "assistant", "message": {"id": "m", "role": "assistant", "content": [{"type": "tool_use", "id": "c2", "name": "find", "input": {"q": "rye"}}]}}
{"sessionId": "s", "uuid": "u", "type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "{\"sku\": \"TEA-77\"}"}]}}
{"sessionId": "s", "uuid": "u", "type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c2", "content": "none"}]}}
{"sessionId": "s", "uuid": "u", "type": "assistant", "message": {"id": "n", "role": "assistant", "content": [{"type": "text", "text": "Only tea."}]}}
{"sessionId": "s", "uuid": "u", "type": "user", "message": {"role": "user", "content": "Fine."}}`},
		{"codex", `{"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "s"}}
{"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "Be kind."}]}}
{"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi!"}]}}
{"timestamp": "2026-01-01T00:00:00Z", "type": "event_msg", "payload": {"type": "user_message", "message": "Hi!"}}
{"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me look."}]}}
{"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": {"type": "reasoning", "summary": []}}
{"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": {"type": "function_call", "call_id": "c1", "name": "find", "arguments": ` + called + `}}
{"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": {"type": "custom_tool_call", "call_id": "c2", "name": "find", "input": "{\"q\": \"rye\"}"}}
{"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": {"type": "function_call_output", "call_id": "c1", "output": "{\"sku\": \"TEA-77\"}"}}
{"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": {"type": "custom_tool_call_output", "call_id": "c2", "output": "none"}}
{"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Only tea."}]}}
{"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fine."}]}}`},
		{"opentelemetry", `{"name": "chat", "attributes": {"gen_ai.system_instructions": [{"type": "text", "content": "Be kind."}], "gen_ai.input.messages": [
			{"role": "user", "parts": [{"type": "text", "content": "Hi!"}]},
			{"role": "assistant", "parts": [{"type": "reasoning", "content": "Hm."}, {"type": "text", "content": "Let me look."}, {"type": "tool_call", "id": "c1", "name": "find", "arguments": {"q": "tea", "most": 1.50}}, {"type": "tool_call", "id": "c2", "name": "find", "arguments": "{\"q\": \"rye\"}"}]},
			{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": {"sku": "TEA-77"}}, {"type": "tool_call_response", "id": "c2", "result": "none"}]},
			{"role": "assistant", "parts": [{"type": "text", "content": "Only tea."}]},
			{"role": "user", "parts": [{"type": "text", "content": "Fine."}]}]}}`},
	} {
		conversations, err := Read(strings.NewReader(row.text))
		if err != nil || len(conversations) != 1 {
			t.Errorf("%s: got %d conversations, %v", row.name, len(conversations), err)
			continue
		}
		for i, line := range strings.Split(tea, "\n") {
			want, err := parseMessage(line)
			if err != nil {
				t.Fatal(err)
			}
			if got := conversations[0].messages; i >= len(got) || strings.ReplaceAll(got[i].id, " ", "") != strings.ReplaceAll(want.id, " ", "") {
				t.Errorf("%s: message %d of %d is not %s", row.name, i, len(got), line)
			}
		}
		if n := len(conversations[0].messages); n != 7 {
			t.Errorf("%s: %d messages", row.name, n)
		}
	}
}

// TestWithoutIDs: Gemini's and Ollama's calls may have no ids.
func TestWithoutIDs(t *testing.T) {
	conversations, err := Read(strings.NewReader(`{"contents": [{"parts": [{"text": "Hi!"}], "role": "user"}, {"role": "model", "parts": [{"functionCall": {"name": "a", "args": {}}}, {"functionCall": {"name": "b"}}]}, {"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {"x": 1}}}, {"functionResponse": {"name": "b", "response": {}}}]}]}
{"input": "Hi!"}`))
	if err != nil || len(conversations) != 2 {
		t.Fatalf("got %d conversations, %v", len(conversations), err)
	}
	var got []string
	for _, m := range append(conversations[0].messages, conversations[1].messages...) {
		got = append(got, m.raw)
	}
	const want = `{"role": "user", "content": "Hi!"}
{"role": "assistant", "content": null, "tool_calls": [{"id": "function a", "type": "function", "function": {"name": "a", "arguments": "{}"}}, {"id": "function b", "type": "function", "function": {"name": "b", "arguments": ""}}]}
{"role": "tool", "content": "{\"x\":1}", "tool_call_id": "function a"}
{"role": "tool", "content": "{}", "tool_call_id": "function b"}
{"role": "user", "content": "Hi!"}`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// TestDeepJSON: a text of brackets is no document. Reading it as one would take a
// stack that grows with it, until the process ends.
func TestDeepJSON(t *testing.T) {
	for _, row := range []struct {
		depth int
		is    bool
		why   string
	}{
		{10_000, true, "encoding/json reads it"},
		{10_001, false, "encoding/json does not"},
	} {
		text := strings.Repeat("[", row.depth) + strings.Repeat("]", row.depth)
		if v, err := decode(text); (v != nil) != row.is || (err == nil) != row.is {
			t.Errorf("%d brackets: error %v: %s", row.depth, err, row.why)
		}
	}
}

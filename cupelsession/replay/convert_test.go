package replay

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
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
	for _, row := range []struct{ name, numbers, text string }{
		{"openai", "1 2 3 4 5 6 7", `{"model": "x", "messages": [` + strings.ReplaceAll(tea, "\n", ",\n") + `]}`},
		{"lines", "1 2 3 4 5 6 7", tea},
		{"anthropic", "0 1 2 3 3 4 5", `{"model": "x", "system": [{"type": "text", "text": "Be kind."}], "messages": [
			{"role": "user", "content": "Hi!"},
			{"role": "assistant", "content": [{"type": "text", "text": "Let me look."},
				{"type": "tool_use", "id": "c1", "name": "find", "input": {"q":"tea","most":1.50}}, {"type": "tool_use", "id": "c2", "name": "find", "input": {"q": "rye"}}]},
			{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "{\"sku\": \"TEA-77\"}"}]}, {"type": "tool_result", "tool_use_id": "c2", "content": "none"}]},
			{"role": "assistant", "content": [{"type": "text", "text": "Only tea."}]},
			{"role": "user", "content": [{"type": "text", "text": "Fine."}, {"type": "image", "source": {}}]}]}`},
		{"codex", "2 3 4 7 8 9 10", strings.ReplaceAll(`{@"type": "session_meta", "payload": {"id": "s"}}
{@"type": "response_item", "payload": {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "Be kind."}]}}
{@"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi!"}]}}
{@"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me look."}]}}
{@"type": "response_item", "payload": {"type": "function_call", "call_id": "c1", "name": "find", "arguments": `+called+`}}
{@"type": "response_item", "payload": {"type": "custom_tool_call", "call_id": "c2", "name": "find", "input": "{\"q\": \"rye\"}"}}
{@"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c1", "output": "{\"sku\": \"TEA-77\"}"}}
{@"type": "response_item", "payload": {"type": "custom_tool_call_output", "call_id": "c2", "output": "none"}}
{@"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Only tea."}]}}
{@"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fine."}]}}`, "@", `"timestamp": "2026-01-01T00:00:00Z", `)},
		{"opentelemetry", "0 1 2 3 3 4 5", `{"name": "chat", "attributes": {"gen_ai.system_instructions": "[{\"type\": \"text\", \"content\": \"Be kind.\"}]", "gen_ai.input.messages": [
			{"role": "user", "parts": [{"type": "text", "content": "Hi!"}]},
			{"role": "assistant", "parts": [{"type": "text", "content": "Let me look."}, {"type": "tool_call", "id": "c1", "name": "find", "arguments": {"q": "tea", "most": 1.50}}, {"type": "tool_call", "id": "c2", "name": "find", "arguments": "{\"q\": \"rye\"}"}]},
			{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": {"sku": "TEA-77"}}, {"type": "tool_call_response", "id": "c2", "result": "none"}]},
			{"role": "assistant", "parts": [{"type": "text", "content": "Only tea."}]},
			{"role": "user", "parts": [{"type": "text", "content": "Fine."}]}]}}`},
	} {
		var conversations []Conversation
		for c, err := range Scan("", strings.NewReader(row.text), nil) {
			require.NoError(t, err, row.name)
			conversations = append(conversations, c)
		}
		require.Len(t, conversations, 1, row.name)
		blocks := ""
		for i, line := range strings.Split(tea, "\n") {
			want, err := parseMessage(line)
			require.NoError(t, err)
			blocks += strconv.Itoa(want.blocks)
			got := conversations[0].messages
			require.Less(t, i, len(got), row.name)
			assert.Equal(t, strings.ReplaceAll(want.id, " ", ""), strings.ReplaceAll(got[i].id, " ", ""), row.name)
		}
		assert.Equal(t, "1131111", blocks, "a text, and calls")
		var numbers []string
		for _, m := range conversations[0].messages {
			numbers = append(numbers, strconv.Itoa(m.number))
		}
		assert.Equal(t, row.numbers, strings.Join(numbers, " "), "%s: the numbers of the file", row.name)
	}
}

// TestRoomOfPinnedItems: what is always in has the budget of the conversation, and the
// rest the smaller one that is tried.
func TestRoomOfPinnedItems(t *testing.T) {
	for _, row := range []struct {
		pinned, tried, most, want int
		why                       string
	}{
		{20, 30, 40, 30, "there is room besides"},
		{31, 30, 40, 31, "they are all that fits"},
		{40, 30, 40, 40, "they fill the budget"},
		{41, 30, 40, 30, "they do not fit, and the chooser says so"},
	} {
		first, err := cupel.NewContextItem("x", 7, cupel.WithPinned())
		require.NoError(t, err)
		second, err := cupel.NewContextItem("x", row.pinned-7, cupel.WithGroup("g"))
		require.NoError(t, err)
		other, err := cupel.NewContextItem("x", 99)
		require.NoError(t, err)
		small, err := cupel.NewContextItem("x", 0, cupel.WithPinned(), cupel.WithGroup("g"))
		require.NoError(t, err)
		got := recounted{most: row.most, budget: limitedTo(row.tried)}.forPinned([]*cupel.ContextItem{first, second, other, small})
		require.Equal(t, row.want, got.TargetTokens(), row.why)
	}
}

// TestRecount: items and their smaller forms have the tokens of the measure, at least 0.
func TestRecount(t *testing.T) {
	for _, row := range []struct {
		more, item, smaller int
		why                 string
	}{
		{0, 10, 5, "both count alike"},
		{3, 13, 8, "the measure counts more"},
		{-7, 3, 0, "it counts less than the form has"},
		{-10, 0, 0, "then the form is no smaller"},
	} {
		item, err := cupel.NewContextItem("long", 10, cupel.WithMetadata(map[string]any{"index": 1}), cupel.WithVariants(cupel.Variant{Content: "s", Tokens: 5, Worth: 0.5}))
		require.NoError(t, err)
		got, err := recounted{more: []int{99, row.more}}.recount([]*cupel.ContextItem{item})
		if row.item == 0 {
			require.ErrorIs(t, err, cupel.ErrInvalidItem, row.why)
			continue
		}
		require.NoError(t, err, row.why)
		require.Equal(t, []int{row.item, row.smaller}, []int{got[0].Tokens(), got[0].Variants()[0].Tokens}, row.why)
	}
}

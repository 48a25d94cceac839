package cupelchat

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDetect(t *testing.T) {
	plain := []Format{OpenAI, Anthropic}
	hello := `{"role":"user","content":"x"}`
	tests := []struct {
		name, why, text string
		want            []Format
	}{
		{"plain", "several formats have messages like these", "[" + hello + "]", plain},
		{"lines", "a message on each line", hello + "\n" + hello, plain},
		{"one message", "on its own", hello, plain},
		{"tool role", "a role tells", "[" + hello + `,{"role":"tool","content":"x"}]`, []Format{OpenAI}},
		{"system", "a member of the request tells", `{"system":"s","messages":[` + hello + "]}", []Format{Anthropic}},
		{"part", "a part of a message tells", `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]}]`, []Format{Anthropic}},
		{"input", "the name of the list tells", `{"input":[` + hello + "]}", []Format{Responses}},
		{"input text", "also of a text", `{"input":"x"}`, []Format{Responses}},
		{"items", "the type of an element tells", `[` + hello + `,{"type":"reasoning","summary":[]}]`, []Format{Responses}},
		{"message item", "a type may tell", `[{"type":"message","role":"user","content":"x"}]`, []Format{Responses}},
		{"answer of Anthropic", "its message has the same type, and a reason to stop", `[` + hello + `,{"type":"message","role":"assistant","stop_reason":"end_turn","content":[]}]`, []Format{Anthropic}},
		{"blocks of Anthropic", "or its blocks", `[` + hello + `,{"type":"message","role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"a"}]}]`, []Format{Anthropic}},
		{"a name twice", "nothing tells what such a block is", `[{"role":"user","content":[{"text":"x","text":"y"}]}]`, plain},
		{"model", "a model decides where nothing else does", `{"model":"claude-x","messages":[` + hello + "]}", []Format{Anthropic}},
		{"model of OpenAI", "the same", `{"model":"gpt-x","messages":[` + hello + "]}", []Format{OpenAI}},
		{"model of both", "neither decides", `{"model":"claude-gpt-x","messages":[{"role":"system","content":"s"},` + hello + "]}", plain},
		{"system of Claude", "Anthropic's API does not begin with a system prompt", `{"model":"claude-x","messages":[{"role":"system","content":"s"},` + hello + "]}", plain},
		{"contents", "the name of the list tells", `{"contents":[{"role":"user","parts":[{"text":"x"}]}]}`, []Format{Gemini}},
		{"Gemini's messages", "parts without a type tell", `[{"role":"user","parts":[{"text":"x"}]}]`, []Format{Gemini}},
		{"Bedrock's request", "toolConfig tells, although Anthropic has a system prompt as well", `{"system":[{"text":"s"}],"toolConfig":{},"messages":[{"role":"user","content":[{"text":"x"}]}]}`, []Format{Bedrock}},
		{"Bedrock's messages", "blocks without a type tell", `[{"role":"user","content":[{"text":"x"}]}]`, []Format{Bedrock}},
		{"Ollama's calls", "arguments that are an object tell", `[` + hello + `,{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{}}}]},{"role":"tool","content":"x"}]`, []Format{Ollama}},
		{"tools", "definitions of tools tell", `{"tools":[{"type":"function","function":{"name":"f"}}],"messages":[` + hello + "]}", []Format{OpenAI}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Detect([]byte(tt.text))
			require.NoError(t, err, tt.why)
			require.Equal(t, tt.want, got, tt.why)
		})
	}
}

func TestDetectRefuses(t *testing.T) {
	tests := []struct {
		name, why, text, want string
	}{
		{"number", "it has no messages", "3", "line 1: a conversation must be an array or an object, got a number"},
		{"object", "nor has this", `{"foo":1}`, `line 1: the object is not a conversation: it has none of ["messages" "input" "contents"`},
		{"elements", "a message has a role", "[\n{\"content\":\"x\"}]", "line 2: [0] is not a message in a known format: it has no role"},
		{"two", "no majority decides", `[{"role":"user","content":[{"type":"image","source":{}}]},{"role":"tool"}]`,
			"line 1: [1].role is a sign of OpenAI's Chat Completions API, and [0].content[0] of Anthropic's Messages API"},
		{"stream", "a dump of a stream is no conversation", "event: message_start\ndata: {}\n", "line 1: this is an event stream sent by an API; give the messages of the conversation"},
		{"answer", "an answer has one message, which may not be all", `{"choices":[]}`, "line 1: the object is a response of an API; give the messages of the conversation"},
		{"training data", "a conversation on each line", `{"messages":[]}` + "\n" + `{"messages":[]}`, "line 1: [0] is a whole transcript; give one conversation at a time"},
		{"chunk", "nor has an event of another API", `{"object":"chat.completion.chunk"}`, "line 1: the object is an event of an API's stream"},
		{"event", "nor has this", `[{"type":"response.created"}]`, "line 1: [0] is an event of an API's stream"},
		{"block", "nor has this", `[{"type":"content_block_delta"}]`, "line 1: [0] is an event of an API's stream"},
		{"answer of Gemini", "an answer has candidates for one message", `{"candidates":[]}`, "line 1: the object is a response of an API"},
		{"answer of Responses", "its output is the end of a conversation", `{"output":[]}`, "line 1: the object is a response of an API"},
		{"LangChain's constructor", "the form of its other serializer", `[{"lc":1}]`, "line 1: [0] is a message as LangChain stores it"},
		{"wrapped", "programs keep messages with data of their own", `[{"id":7,"message":{"role":"user","content":"x"}}]`, `line 1: [0] is not a message, but contains one as "message"; give that message`},
		{"two lines", "the line of the other sign is named where it differs", `[{"role":"user","content":[{"type":"image","source":{}}]},` + "\n" + `{"role":"tool"}]`,
			"line 2: [1].role is a sign of OpenAI's Chat Completions API, and [0].content[0] (line 1) of Anthropic's Messages API"},
		{"LangChain", "a framework's own form", `[{"type":"human","data":{"content":"x"}}]`, "line 1: [0] is a message as LangChain stores it; convert the messages first (convert_to_openai_messages)"},
		{"no JSON", "the place of the mistake is named", "[\n", "line 1: unexpected end of JSON input (column 2)"},
		{"not UTF-8", "other encodings are not guessed", "[\"\xe9\"]", "line 1: the text is not valid UTF-8 at byte 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Detect([]byte(tt.text))
			require.ErrorAs(t, err, new(*Error), tt.why)
			require.True(t, strings.HasPrefix(err.Error(), tt.want), "%s:\ngot  %v\nwant %s", tt.why, err, tt.want)
			require.Equal(t, strings.HasPrefix(tt.name, "two"), errors.Is(err, ErrAmbiguousFormat), tt.why)
		})
	}
}

func TestParseFormat(t *testing.T) {
	for _, f := range Formats() {
		got, err := ParseFormat(f.String())
		require.NoError(t, err)
		assert.Equal(t, f, got)
	}
	_, err := ParseFormat("xml")
	require.Regexp(t, `^the format "xml" is unknown; want one of openai, responses, anthropic`, err)
}

package cupelchat

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNotes(t *testing.T) {
	tests := []struct {
		name, why string
		f         Format
		text      string
		want      []string
	}{
		{"record", "no API refuses a record, which is never sent", ClaudeCode, `[{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"y"}]}}]`, nil},
		{"unknown part of OpenAI's", "the same", OpenAI, `[{"role":"user","content":[{"type":"hologram"}]}]`,
			[]string{"messages[0].content[0] is of an unknown type: kept and counted as JSON", `the API refuses messages[0].content[0].type: must be one of text, image_url, input_audio, file, got "hologram" (part-type)`}},
		{"tools of a server", "the API lists tools of servers", Responses, `[{"type":"mcp_list_tools"}]`, nil},
		{"unknown part", "a part of a later version of the API is kept", Anthropic, `[{"role":"user","content":[{"type":"hologram"},{"type":"hologram"}]}]`,
			[]string{"messages[0].content[0] (and 1 more) is of an unknown type: kept and counted as JSON",
				`the API refuses messages[0].content[0].type: the block type "hologram" is unknown (part-type)`, `the API refuses messages[0].content[1].type: the block type "hologram" is unknown (part-type)`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, read(t, tt.f, []byte(tt.text)).Notes(), tt.why)
		})
	}
}

func TestMistakes(t *testing.T) {
	tests := []struct {
		name, why string
		f         Format
		text      string
		want      string
	}{
		{"no object", "a message is an object", OpenAI, "[\n3]", "line 2: messages[0] must be an object, got a number"},
		{"no role", "a message says who speaks", OpenAI, `[{"content":"x"}]`, "line 1: messages[0].role is required"},
		{"other role", "known roles are listed", OpenAI, `[{"role":"bot"}]`, `line 1: messages[0].role must be one of system, developer, user, assistant, tool, function, got "bot"`},
		{"anthropic role", "the roles of the other API are not taken", Anthropic, `[{"role":"tool"}]`, `line 1: messages[0].role must be one of system, user, assistant, got "tool"`},
		{"number for a role", "a role is a string", OpenAI, `[{"role":1}]`, "line 1: messages[0].role must be a string, got a number"},
		{"twice", "a repeated role is ambiguous", OpenAI, `[{"role":"user","role":"user"}]`, "line 1: messages[0].role is given twice"},
		{"content", "content is text or parts", OpenAI, `[{"role":"user","content":{}}]`, "line 1: messages[0].content must be a string or an array of parts, got an object"},
		{"calls", "calls are a list", OpenAI, `[{"role":"assistant","tool_calls":{}}]`, "line 1: messages[0].tool_calls must be an array, got an object"},
		{"call", "a call has a function", OpenAI, "[{\"role\":\"assistant\",\"tool_calls\":[\n{\"id\":\"x\"}]}]", "line 2: messages[0].tool_calls[0].function must be an object, got null"},
		{"nothing", "a transcript is a list or a request", OpenAI, `3`, "line 1: a conversation must be an array or an object, got a number"},
		{"no content", "a message says something", OpenAI, `[{"role":"user"}]`, "line 1: messages[0] has neither content nor tool calls; remove it"},
		{"parts", "nine messages of the AI SDK became empty items, and all but one of them duplicates", OpenAI, `[{"role":"user","parts":[{"type":"text","text":"x"}]}]`,
			"line 1: messages[0].parts looks like a message of the AI SDK or of Gemini; this format has \"content\": convert the messages first (AI SDK: convertToModelMessages)"},
		{"no parts", "nor is there content", Gemini, `[{"role":"user"}]`, "line 1: contents[0] has no parts: it has neither content nor tool calls; remove it"},
		{"previous response", "what the API keeps cannot be selected from", Responses, `{"previous_response_id":"r","input":"x"}`,
			"line 1: previous_response_id refers to text that the API keeps, which cannot be selected from; give the whole conversation as input"},
		{"reference", "nor what is referred to", Responses, `{"input":[{"type":"item_reference","id":"i"}]}`,
			"line 1: input[0] refers to text that the API keeps, which cannot be selected from; give the whole conversation as input"},
		{"document", "a document has a source", Anthropic, `[{"role":"user","content":[{"type":"document"}]}]`, "line 1: messages[0].content[0].source must be an object, got null"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read([]byte(tt.text), tt.f, bytesCounter{})
			require.ErrorAs(t, err, new(*Error), tt.why)
			require.EqualError(t, err, tt.want, tt.why)
		})
	}
}

var errCounter = errors.New("no counter today")

// TestRepeatedNames looks where names are only read to tell media apart.
func TestRepeatedNames(t *testing.T) {
	tests := []struct {
		name, path string
		f          Format
		text       string
	}{
		{"image", "messages[0].content[0].image_url.url", OpenAI, `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"a","url":"b"}}]}]`},
		{"source", "messages[0].content[0].source.type", Anthropic, `[{"role":"user","content":[{"type":"image","source":{"type":"url","type":"file"}}]}]`},
		{"screenshot", "input[0].output.type", Responses, `[{"type":"computer_call_output","call_id":"c","output":{"type":"x","type":"y"}}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read([]byte(tt.text), tt.f, bytesCounter{})
			require.EqualError(t, err, "line 1: "+tt.path+" is given twice")
		})
	}
}

package cupelsession_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelsession"
)

func TestUsageOf(t *testing.T) {
	for _, test := range []struct {
		format   cupelchat.Format
		response string
		want     cupelsession.Usage
		why      string
	}{
		{cupelchat.OpenAI, `{"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":64,"cache_write_tokens":30}}}`, cupelsession.Usage{Input: 100, Read: 64, Written: 30, Cached: true, Output: 7}, "the input has what was in the cache, and what was written"},
		{cupelchat.OpenAI, `{"usage":{"prompt_tokens":100}}`, cupelsession.Usage{Input: 100}, "compatible servers say nothing about a cache"},
		{cupelchat.OpenAI, `{"usage":{"prompt_tokens":100,"prompt_cache_hit_tokens":40,"prompt_cache_miss_tokens":60}}`, cupelsession.Usage{Input: 100, Read: 40, Cached: true}, "DeepSeek says it in its own way"},
		{cupelchat.Responses, `{"metadata":{"a":"b"},"usage":{"input_tokens":100,"output_tokens":7,"input_tokens_details":{"cached_tokens":0}}}`, cupelsession.Usage{Input: 100, Cached: true, Output: 7}, "0 is said"},
		{cupelchat.Responses, `{"type":"response.completed","response":{"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":5}}}}`, cupelsession.Usage{Input: 9, Read: 4, Written: 5, Cached: true}, "the last event of a stream"},
		{cupelchat.Anthropic, `{"usage":{"input_tokens":10,"cache_read_input_tokens":80,"cache_creation_input_tokens":20,"output_tokens":3}}`, cupelsession.Usage{Input: 110, Read: 80, Written: 20, Cached: true, Output: 3}, "the input leaves out what was in the cache"},
		{cupelchat.Bedrock, `{"usage":{"inputTokens":10,"outputTokens":3,"totalTokens":113,"cacheReadInputTokens":80,"cacheWriteInputTokens":20}}`, cupelsession.Usage{Input: 110, Read: 80, Written: 20, Cached: true, Output: 3}, "the input leaves out what was in the cache"},
		{cupelchat.Bedrock, `{"metadata":{"usage":{"inputTokens":10,"outputTokens":3,"totalTokens":13}}}`, cupelsession.Usage{Input: 10, Output: 3}, "the last event of a stream, of a model without a cache"},
		{cupelchat.Gemini, `{"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":5,"thoughtsTokenCount":7}}`, cupelsession.Usage{Input: 100, Read: 60, Cached: true, Output: 12}, "the input has what was in the cache, thoughts are output"},
		{cupelchat.Ollama, `{"done":true,"prompt_eval_count":26,"eval_count":259}`, cupelsession.Usage{Input: 26, Output: 259}, "no cache fields"},
		{cupelchat.Anthropic, `{"usage":{"input_tokens":10,"cache_creation_input_tokens":20}}`, cupelsession.Usage{Input: 30, Written: 20, Cached: true}, "what was written says that there is a cache"},
		{cupelchat.Ollama, `{"prompt_eval_count":9007199254740992}`, cupelsession.Usage{Input: int(math.Exp2(53))}, "the largest number that is exact"},
	} {
		got, err := cupelsession.UsageOf(test.format, []byte(test.response))
		require.NoError(t, err, test.why)
		assert.Equal(t, test.want, got, "%s %s (%s)", test.format, test.response, test.why)
	}
	for _, test := range []struct {
		format         cupelchat.Format
		response, want string
		why            string
	}{
		{cupelchat.OpenAI, `{`, "not a JSON object", "it is cut short"},
		{cupelchat.OpenAI, `{}`, "has none; a stream has it in its last chunk if stream_options.include_usage is set", "what to do"},
		{cupelchat.OpenAI, `{"usage":{"prompt_tokens":-1}}`, "impossible", "nothing has -1 tokens"},
		{cupelchat.OpenAI, `{"usage":{"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":64,"cache_write_tokens":37}}}`, "impossible", "more read and written than there was"},
		{cupelchat.Ollama, `{"prompt_eval_count":9007199254740994}`, "impossible", "it may be another number"},
		{cupelchat.Anthropic, `{"usage":{"input_tokens":9,"output_tokens":1.5}}`, "impossible", "there are no halves"},
		{cupelchat.Anthropic, `{"type":"message_delta","usage":{"output_tokens":15}}`, "has none; a stream has it in message_start", "it has the output alone"},
		{cupelchat.Anthropic, `{"usage":{"input_tokens":9223372036854775807,"cache_read_input_tokens":9223372036854775807,"cache_creation_input_tokens":2}}`, "impossible", "the sum overflows"},
		{cupelchat.Ollama, `{"done":true,"eval_count":259}`, "older releases leave it out", "the whole prompt was in the cache"},
		{cupelchat.ClaudeCode, `{"usage":{}}`, "it has no responses", "a record is not an API"},
	} {
		_, err := cupelsession.UsageOf(test.format, []byte(test.response))
		var usage *cupelsession.UsageError
		require.ErrorAs(t, err, &usage, test.why)
		assert.ErrorContains(t, err, test.want, test.why)
	}
}

// kept is a value of an SDK that keeps the JSON that came, if any did.
type kept struct {
	came  string
	Count int `json:"prompt_eval_count"`
}

func (k kept) RawJSON() string { return k.came }

// A response may be a value of an SDK, and a stream says in several events what it used.
func TestUsageOfValuesAndStreams(t *testing.T) {
	type usage struct {
		Input int `json:"input_tokens"`
		Read  int `json:"cache_read_input_tokens"`
	}
	for _, test := range []struct {
		name     string
		format   cupelchat.Format
		response []any
		want     cupelsession.Usage
		why      string
	}{
		{"value", cupelchat.Anthropic, []any{struct {
			Usage usage `json:"usage"`
		}{usage{7, 5}}}, cupelsession.Usage{Input: 12, Read: 5, Cached: true}, "it marshals to the response"},
		{"text", cupelchat.Ollama, []any{`{"prompt_eval_count":26}`}, cupelsession.Usage{Input: 26}, "it is the response"},
		{"kept", cupelchat.Ollama, []any{kept{`{"prompt_eval_count":9}`, 0}}, cupelsession.Usage{Input: 9}, "an SDK has kept what came"},
		{"made", cupelchat.Ollama, []any{kept{"", 9}}, cupelsession.Usage{Input: 9}, "nothing came"},
		{"Anthropic's stream", cupelchat.Anthropic, []any{
			`{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":1}}}`, json.RawMessage(`{"type":"ping"}`),
			[]byte(`{"type":"message_delta","usage":{"output_tokens":15}}`),
		}, cupelsession.Usage{Input: 15, Read: 5, Cached: true, Output: 15}, "the end of the stream has the whole output"},
		{"OpenAI's stream", cupelchat.OpenAI, []any{`{"choices":[{}],"usage":null}`, `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}`, `{"usage":null}`}, cupelsession.Usage{Input: 9, Output: 2}, "null says nothing"},
		{"Gemini's stream", cupelchat.Gemini, []any{`{"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":1}}`, `{"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":8}}`}, cupelsession.Usage{Input: 4, Output: 8}, "each chunk has the totals until then"},
	} {
		got, err := cupelsession.UsageOf(test.format, test.response...)
		require.NoError(t, err, test.why)
		assert.Equal(t, test.want, got, "%s (%s)", test.name, test.why)
	}
	for want, response := range map[string][]any{"has none": nil, "does not marshal": {func() {}}, "not a JSON object": {`{}`, `[]`}, "the response has none": {(*kept)(nil)}} {
		_, err := cupelsession.UsageOf(cupelchat.OpenAI, response...)
		assert.ErrorContains(t, err, want)
	}
}

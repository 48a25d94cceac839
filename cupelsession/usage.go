package cupelsession

import (
	"encoding/json"
	"fmt"

	"github.com/wollax/cupel-go/cupelchat"
)

// Usage is what a provider reported for a request.
type Usage struct {
	// Input is the number of tokens of the request, those in the cache included.
	Input int
	// Read and Written are those of Input that were read from the cache and written
	// to it.
	Read, Written int
	// Cached reports whether the provider said how much it read from its cache.
	Cached bool
	// Output is the number of tokens of the answer.
	Output int
}

// possible returns the usage without numbers that cannot be: those of the cache
// exceed the input, or one is negative.
func (u Usage) possible() Usage {
	if u.Input < 0 || u.Read < 0 || u.Written < 0 || u.Read > u.Input || u.Written > u.Input-u.Read {
		u.Read, u.Written, u.Cached = 0, 0, false
	}
	u.Input, u.Output = max(0, u.Input), max(0, u.Output)
	return u
}

// UsageError says why a response has no usage.
type UsageError struct {
	Format cupelchat.Format
	Reason string
	Err    error // what encoding/json said, or nil
}

func (e *UsageError) Error() string {
	text := fmt.Sprintf("cupelsession: usage of a response of %s: %s", e.Format, e.Reason)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns what encoding/json said.
func (e *UsageError) Unwrap() error { return e.Err }

// reported are the members of all providers' usage.
type reported struct {
	Prompt        *int     `json:"prompt_tokens"`
	Completion    int      `json:"completion_tokens"`
	Input         *int     `json:"input_tokens"`
	Output        int      `json:"output_tokens"`
	PromptDetails *details `json:"prompt_tokens_details"`
	InputDetails  *details `json:"input_tokens_details"`
	Hit           *int     `json:"prompt_cache_hit_tokens"` // of DeepSeek
	CacheRead     *int     `json:"cache_read_input_tokens"`
	CacheCreated  *int     `json:"cache_creation_input_tokens"`
	// Bedrock
	InputTokens  *int `json:"inputTokens"`
	OutputTokens int  `json:"outputTokens"`
	ReadTokens   *int `json:"cacheReadInputTokens"`
	WriteTokens  *int `json:"cacheWriteInputTokens"`
}

// details are parts of OpenAI's input.
type details struct {
	Cached  *int `json:"cached_tokens"`
	Written int  `json:"cache_write_tokens"` // since GPT-5.6
}

// of takes what OpenAI says about the cache.
func (d *details) of(u *Usage) {
	if d != nil && d.Cached != nil {
		u.Read, u.Written, u.Cached = *d.Cached, d.Written, true
	}
}

// answered is a response, or the event of a stream that has its usage.
type answered struct {
	Usage    *reported `json:"usage"`
	Metadata *struct {
		Prompt     *int `json:"promptTokenCount"`
		Cached     *int `json:"cachedContentTokenCount"`
		Candidates int  `json:"candidatesTokenCount"`
		Thoughts   int  `json:"thoughtsTokenCount"`
	} `json:"usageMetadata"`
	PromptEval *int `json:"prompt_eval_count"`
	Eval       int  `json:"eval_count"`
}

// UsageOf reads the usage from a provider's response, a JSON object: the whole one,
// or the event of a stream that has it. That is the last chunk of OpenAI, if
// stream_options asked to include it, and of Gemini and Ollama; response.completed
// of OpenAI's Responses; message_start of Anthropic, whose message_delta has it only
// in part; and metadata of Bedrock.
//
// What a provider calls its input differs: Anthropic and Bedrock leave out what was
// read from the cache or written to it, the others do not. UsageOf fails with a
// [UsageError] for a format without responses and for a response without usage.
func UsageOf(f cupelchat.Format, response []byte) (Usage, error) {
	var event struct {
		answered
		Message  *answered       `json:"message"`  // of Anthropic
		Response *answered       `json:"response"` // of OpenAI's Responses
		Inner    json.RawMessage `json:"metadata"` // of Bedrock; of the Responses, anything
	}
	if err := json.Unmarshal(response, &event); err != nil {
		return Usage{}, &UsageError{f, "it is not a JSON object with usage", err}
	}
	r := event.answered
	switch name := f.String(); {
	case name == "anthropic" && event.Message != nil:
		r = *event.Message
	case name == "responses" && event.Response != nil:
		r = *event.Response
	case name == "bedrock" && r.Usage == nil && event.Inner != nil:
		if err := json.Unmarshal(event.Inner, &r); err != nil {
			return Usage{}, &UsageError{f, "its metadata is not a JSON object with usage", err}
		}
	}
	var u Usage
	var found bool
	switch f.String() {
	case "openai":
		if found = r.Usage != nil && r.Usage.Prompt != nil; found {
			u.Input, u.Output = *r.Usage.Prompt, r.Usage.Completion
			r.Usage.PromptDetails.of(&u)
			if hit := r.Usage.Hit; hit != nil && !u.Cached {
				u.Read, u.Cached = *hit, true
			}
		}
	case "responses":
		if found = r.Usage != nil && r.Usage.Input != nil; found {
			u.Input, u.Output = *r.Usage.Input, r.Usage.Output
			r.Usage.InputDetails.of(&u)
		}
	case "anthropic":
		if found = r.Usage != nil && r.Usage.Input != nil; found {
			u.Input, u.Output = *r.Usage.Input, r.Usage.Output
			u.plusCached(r.Usage.CacheRead, r.Usage.CacheCreated)
		}
	case "bedrock":
		if found = r.Usage != nil && r.Usage.InputTokens != nil; found {
			u.Input, u.Output = *r.Usage.InputTokens, r.Usage.OutputTokens
			u.plusCached(r.Usage.ReadTokens, r.Usage.WriteTokens)
		}
	case "gemini":
		if found = r.Metadata != nil && r.Metadata.Prompt != nil; found {
			u.Input, u.Output = *r.Metadata.Prompt, r.Metadata.Candidates+r.Metadata.Thoughts
			if r.Metadata.Cached != nil {
				u.Read, u.Cached = *r.Metadata.Cached, true
			}
		}
	case "ollama":
		// Older releases count only what they evaluated, so that Input may lack a
		// prefix that they had, or miss altogether. They say nothing about that.
		if found = r.PromptEval != nil; found {
			u.Input, u.Output = *r.PromptEval, r.Eval
		}
	default:
		return Usage{}, &UsageError{f, "it has no responses", nil}
	}
	switch {
	case !found:
		return Usage{}, &UsageError{f, "the response has none; " + hints[f.String()], nil}
	case u != u.possible():
		return Usage{}, &UsageError{f, fmt.Sprintf("it has impossible numbers: %+v", u), nil}
	}
	return u, nil
}

// hints say where the usage of a format is.
var hints = map[string]string{
	"openai":    "a stream has it in its last chunk if stream_options.include_usage is set",
	"responses": "a stream has it in response.completed",
	"anthropic": "a stream has all of it in message_start",
	"bedrock":   "a stream has it in metadata",
	"gemini":    "a stream has it in its last chunk",
	"ollama":    "a stream has it in its last chunk; older releases leave it out if they had the whole prompt",
}

// plusCached adds what was in the cache to an input that leaves it out.
func (u *Usage) plusCached(read, written *int) {
	if read != nil {
		u.Read, u.Cached = *read, true
		u.Input += *read
	}
	if written != nil {
		u.Written, u.Cached = *written, true
		u.Input += *written
	}
}

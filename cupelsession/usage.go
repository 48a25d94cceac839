package cupelsession

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/wollax/cupel-go/cupelchat"
)

// Usage is what a provider reported for a request.
type Usage struct {
	// Input is the number of tokens of the request, including cached ones.
	Input int
	// Read and Written are the parts of Input that were read from the cache and
	// written to it.
	Read, Written int
	// Cached reports whether the provider reported how much it read from its
	// cache.
	Cached bool
	// Output is the number of tokens of the answer.
	Output int
}

// possible returns the usage without impossible numbers: negative ones, and
// cache numbers that exceed the input.
func (u Usage) possible() Usage {
	if u.Input < 0 || u.Read < 0 || u.Written < 0 || u.Read > u.Input || u.Written > u.Input-u.Read {
		u.Read, u.Written, u.Cached = 0, 0, false
	}
	u.Input, u.Output = max(0, u.Input), max(0, u.Output)
	return u
}

// plus adds what another request took.
func (u Usage) plus(more Usage) Usage {
	return Usage{u.Input + more.Input, u.Read + more.Read, u.Written + more.Written, u.Cached || more.Cached, u.Output + more.Output}.possible()
}

// UsageError is the error for a response without usage.
type UsageError struct {
	Format cupelchat.Format
	Reason string
}

func (e *UsageError) Error() string {
	return fmt.Sprintf("cupelsession: usage of a response of %s: %s", e.Format, e.Reason)
}

// reported has the places of a format's usage numbers, as member names joined
// by dots.
type reported struct {
	event   string   // member of a stream's event that has the response, or ""
	input   string   // without it there is no usage
	output  []string // the parts of the answer
	read    []string // the first one that is there
	written string
	apart   bool   // the input leaves out what was read from the cache or written to it
	hint    string // what to do if there is none
}

var usages = map[string]reported{
	"openai": {
		input: "usage.prompt_tokens", output: []string{"usage.completion_tokens"},
		read:    []string{"usage.prompt_tokens_details.cached_tokens", "usage.prompt_cache_hit_tokens"}, // the other one is DeepSeek's
		written: "usage.prompt_tokens_details.cache_write_tokens",                                       // since GPT-5.6
		hint:    "a stream has it in its last chunk if stream_options.include_usage is set",
	},
	"responses": {
		event: "response", input: "usage.input_tokens", output: []string{"usage.output_tokens"},
		read: []string{"usage.input_tokens_details.cached_tokens"}, written: "usage.input_tokens_details.cache_write_tokens",
		hint: "a stream has it in response.completed",
	},
	"anthropic": {
		event: "message", input: "usage.input_tokens", output: []string{"usage.output_tokens"},
		read: []string{"usage.cache_read_input_tokens"}, written: "usage.cache_creation_input_tokens", apart: true,
		hint: "a stream has it in message_start",
	},
	"bedrock": {
		event: "metadata", input: "usage.inputTokens", output: []string{"usage.outputTokens"},
		read: []string{"usage.cacheReadInputTokens"}, written: "usage.cacheWriteInputTokens", apart: true,
		hint: "a stream has it in metadata",
	},
	"gemini": {
		input: "usageMetadata.promptTokenCount", output: []string{"usageMetadata.candidatesTokenCount", "usageMetadata.thoughtsTokenCount"},
		read: []string{"usageMetadata.cachedContentTokenCount"},
		hint: "a stream has it in its last chunk",
	},
	// Older releases count only the tokens that they evaluated, so that the input
	// may lack a cached prefix, or be missing, without notice.
	"ollama": {
		input: "prompt_eval_count", output: []string{"eval_count"},
		hint: "a stream has it in its last chunk; older releases leave it out if they had the whole prompt",
	},
}

// UsageOf reads the usage that a provider reported, from a whole response or from the
// events of a stream in order. Each is a JSON object, or a value of an SDK that has one
// by its method RawJSON, or marshals to one. In a stream, OpenAI reports usage in its last chunk, if
// stream_options asked to include it. Gemini and Ollama report it in their last events,
// OpenAI's Responses in response.completed, Anthropic in message_start and
// message_delta, and Bedrock in metadata. Other events change nothing.
//
// Anthropic and Bedrock do not count cached tokens as input, unlike the others;
// UsageOf adds them to Input. UsageOf fails with a [UsageError] for a format
// without responses and for a response without usage.
func UsageOf(f cupelchat.Format, response ...any) (Usage, error) {
	at, ok := usages[f.String()]
	if !ok {
		return Usage{}, &UsageError{f, "it has no responses"}
	}
	said := map[string]any{}
	for _, event := range response {
		data, err := bytesOf(event)
		if err != nil {
			return Usage{}, &UsageError{f, "the response does not marshal to JSON: " + err.Error()}
		}
		var r map[string]any
		if err := json.Unmarshal(data, &r); err != nil {
			return Usage{}, &UsageError{f, "it is not a JSON object: " + err.Error()}
		}
		if inner, ok := r[at.event].(map[string]any); ok {
			r = inner
		}
		learn(said, r)
	}
	u, found := at.usage(said)
	switch {
	case !found:
		return Usage{}, &UsageError{f, "the response has none; " + at.hint}
	case u != u.possible():
		return Usage{}, &UsageError{f, fmt.Sprintf("it has impossible numbers: %+v", u)}
	}
	return u, nil
}

// bytesOf returns the JSON of a response: as it came, if an SDK has kept that. Some
// values of SDKs marshal with a zero for each member that did not come, so that the
// last event of a stream would have a usage of 0.
func bytesOf(response any) ([]byte, error) {
	switch r := response.(type) {
	case []byte:
		return r, nil
	case string:
		return []byte(r), nil
	}
	data, err := json.Marshal(response)
	if r, ok := response.(interface{ RawJSON() string }); ok && string(data) != "null" { // not a nil pointer
		if came := r.RawJSON(); came != "" {
			return []byte(came), nil
		}
	}
	return data, err
}

// learn adds an event to those before it. The numbers of a stream are totals, and the
// last one counts.
func learn(said, event map[string]any) {
	for name, value := range event {
		inner, _ := value.(map[string]any)
		if known, ok := said[name].(map[string]any); ok {
			learn(known, inner)
		} else if value != nil {
			said[name] = value
		}
	}
}

// usage returns the usage of a response, if that has one.
func (at *reported) usage(r map[string]any) (u Usage, found bool) {
	u.Input, found = numberAt(r, at.input)
	for _, path := range at.output {
		n, _ := numberAt(r, path)
		u.Output += n
	}
	for _, path := range at.read {
		if !u.Cached {
			u.Read, u.Cached = numberAt(r, path)
		}
	}
	written, ok := numberAt(r, at.written)
	u.Written = written
	if at.apart {
		u.Cached = u.Cached || ok
		u.Input += u.Read + u.Written
	}
	return u, found
}

// numberAt returns the number at a path, if there is one: -1 if it cannot be a
// number of tokens.
func numberAt(r map[string]any, path string) (int, bool) {
	member, rest, inside := strings.Cut(path, ".")
	if inside {
		inner, _ := r[member].(map[string]any)
		return numberAt(inner, rest)
	}
	n, ok := r[member].(float64)
	if ok && !(math.Abs(n) <= 1<<53 && n == math.Trunc(n)) {
		return -1, true
	}
	return int(n), ok
}

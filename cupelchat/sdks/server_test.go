package sdks_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelsession"
)

// server stands in for the APIs of language models. It refuses what
// [cupelchat.Check] finds, and answers other requests as a scripted model: with calls
// of a tool, and then with a text. A model whose tool is
// read_file needs the task and the newest results, or says that it is lost. The
// server's prompt cache is that of [cupelsession.CacheFor].
type server struct {
	steps  int  // how many answers have calls
	marked bool // requests have to mark what a cache of breakpoints is to hold

	mu      sync.Mutex
	calls   int // in the answers so far
	newest  int // of these, in the last answer
	refused []string
	bodies  [][]byte             // the requests that it took
	usages  []cupelsession.Usage // of these
	cost    float64              // of these, in tokens of plain input
	before  []string             // the pieces of the last one
	held    []cupelsession.Prefix
}

// asked is what the server reads of a request of any API.
type asked struct {
	Model  string
	Stream bool
}

// object is a JSON object of an answer.
type object = map[string]any

// answer is what the model says: calls, or a text if there are none.
type answer struct {
	id, model, name, text string
	arguments             []string // of each call
	usage                 cupelsession.Usage
}

// api is how the answers of an API look, whole and as the events of a stream.
type api struct {
	format cupelchat.Format
	whole  func(*answer) object
	events func(object) []object
}

var apis = map[string]api{
	"completions":           {cupelchat.OpenAI, chatReply, chatEvents},
	"responses":             {cupelchat.Responses, responsesReply, responsesEvents},
	"messages":              {cupelchat.Anthropic, anthropicReply, anthropicEvents},
	"generateContent":       {cupelchat.Gemini, geminiReply, nil},
	"streamGenerateContent": {cupelchat.Gemini, geminiReply, geminiEvents},
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	model, verb, _ := strings.Cut(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:], ":") // of Gemini
	if verb == "" {
		model, verb = "", model
	}
	api, known := apis[verb]
	if !known {
		http.NotFound(w, r)
		return
	}
	request := asked{Model: model, Stream: verb == "streamGenerateContent"}
	found := cupelchat.Check(body, api.format)
	if err := json.Unmarshal(body, &request); err != nil || len(found) > 0 {
		s.refused = append(s.refused, fmt.Sprint(found, err))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		write(w, object{"error": object{"message": fmt.Sprint(found, err)}})
		return
	}
	a := s.answer(body, request.Model)
	a.usage = s.use(body, api.format, request.Model)
	if !request.Stream {
		w.Header().Set("Content-Type", "application/json")
		write(w, api.whole(a))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range api.events(api.whole(a)) {
		if kind, ok := event["type"]; ok {
			_, _ = fmt.Fprintf(w, "event: %s\n", kind)
		}
		_, _ = io.WriteString(w, "data: ")
		write(w, event)
		_, _ = io.WriteString(w, "\n\n")
		w.(http.Flusher).Flush()
	}
	if api.format == cupelchat.OpenAI {
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}
}

func write(w io.Writer, v any) { must(w.Write(must(json.Marshal(v)))) }

// answer is what the model says to a request: two calls in every other answer with calls.
func (s *server) answer(body []byte, model string) *answer {
	s.bodies = append(s.bodies, body)
	a := &answer{id: fmt.Sprint(len(s.bodies)), model: model}
	tool, needed := "clock", []string(nil) // the README's
	if bytes.Contains(body, []byte("read_file")) {
		tool, needed = "read_file", []string{task}
		for n := range s.newest {
			needed = append(needed, "middle of "+path(s.calls-n))
		}
	}
	for _, text := range needed {
		if !bytes.Contains(body, []byte(text)) {
			a.text = "lost: " + text
			return a
		}
	}
	if len(s.bodies) > s.steps {
		a.text = fmt.Sprintf("done after %d calls", s.calls)
		return a
	}
	a.name, s.newest = tool, 1+len(s.bodies)%2
	for range s.newest {
		s.calls++
		a.arguments = append(a.arguments, fmt.Sprintf(`{"path":%q}`, path(s.calls)))
	}
	return a
}

// path is the file that a call reads.
func path(call int) string { return fmt.Sprintf("pkg/file%d.go", call) }

// use puts a request into the cache, and counts what that costs.
func (s *server) use(body []byte, f cupelchat.Format, model string) cupelsession.Usage {
	cache := cupelsession.CacheFor(f).For(model)
	pieces, before, marks := piecesOf(body)
	if !s.marked && len(marks) == 0 {
		marks = nil // the cache chooses the best
	}
	request := cupelsession.CacheRequest{System: before, Pinned: before + 1, Breakpoints: marks, Held: s.held}
	for i, piece := range pieces {
		if request.Same == i && i < len(s.before) && piece == s.before[i] {
			request.Same++
		}
		request.Tokens = append(request.Tokens, len(piece)/4)
	}
	use, held := cache.Use(request)
	s.before, s.held = pieces, held
	s.cost += use.Cost
	usage := cupelsession.Usage{Input: use.Read + use.Written + use.Plain, Read: use.Read, Cached: f != cupelchat.Gemini || use.Read > 0, Output: 8}
	if cache.Breakpoints > 0 {
		usage.Written = use.Written
	}
	s.usages = append(s.usages, usage)
	return usage
}

// piecesOf returns the blocks of a request in the order in which a cache has them, how
// many of them are before the messages, and after which of them the request marks the
// end of what is to be cached.
func piecesOf(body []byte) (pieces []string, before int, marks []int) {
	marks = []int{}
	var request map[string]any
	_ = json.Unmarshal(body, &request) // the server has read it
	add := func(value any, where string) {
		if block, ok := value.(object); ok && block["cache_control"] != nil {
			delete(block, "cache_control")
			marks = append(marks, len(pieces)+1)
		}
		pieces = append(pieces, where+string(must(json.Marshal(value))))
	}
	for _, member := range []string{"tools", "system", "instructions", "systemInstruction", "messages", "input", "contents"} {
		list, isList := request[member].([]any)
		if !isList && request[member] != nil {
			list = []any{request[member]}
		}
		for _, value := range list {
			message, _ := value.(object)
			blocks, ok := message["content"].([]any)
			if !ok {
				add(value, "")
			}
			for _, block := range blocks {
				add(block, fmt.Sprint(message["role"]))
			}
		}
		if member == "systemInstruction" {
			before = len(pieces)
		}
	}
	return pieces, before, marks
}

func chatReply(a *answer) object {
	message, reason := object{"role": "assistant", "content": a.text}, "stop"
	var calls []object
	for n, arguments := range a.arguments {
		calls = append(calls, object{"id": fmt.Sprintf("call_%s_%d", a.id, n), "type": "function", "function": object{"name": a.name, "arguments": arguments}})
	}
	if calls != nil {
		message["content"], message["tool_calls"], reason = nil, calls, "tool_calls"
	}
	return object{
		"id": a.id, "object": "chat.completion", "created": 1, "model": a.model, "choices": []object{{"index": 0, "finish_reason": reason, "message": message}},
		"usage": object{
			"prompt_tokens": a.usage.Input, "completion_tokens": a.usage.Output, "total_tokens": a.usage.Input + a.usage.Output,
			"prompt_tokens_details": object{"cached_tokens": a.usage.Read},
		},
	}
}

// chatEvents sends the arguments of calls in two parts.
func chatEvents(whole object) (events []object) {
	choice := whole["choices"].([]object)[0]
	message := choice["message"].(object)
	chunk := func(delta object, reason, usage any) {
		events = append(events, object{
			"id": whole["id"], "object": "chat.completion.chunk", "created": 1, "model": whole["model"], "usage": usage,
			"choices": []object{{"index": 0, "finish_reason": reason, "delta": delta}},
		})
	}
	chunk(object{"role": "assistant", "content": message["content"]}, nil, nil)
	calls, _ := message["tool_calls"].([]object)
	for n, call := range calls {
		function := call["function"].(object)
		arguments := function["arguments"].(string)
		chunk(object{"tool_calls": []object{{"index": n, "id": call["id"], "type": "function", "function": object{"name": function["name"], "arguments": arguments[:5]}}}}, nil, nil)
		chunk(object{"tool_calls": []object{{"index": n, "function": object{"arguments": arguments[5:]}}}}, nil, nil)
	}
	chunk(object{}, choice["finish_reason"], nil)
	chunk(nil, nil, whole["usage"])
	events[len(events)-1]["choices"] = []object{}
	return events
}

func responsesReply(a *answer) object {
	output := []object{{"type": "reasoning", "id": "rs_" + a.id, "summary": []any{}}}
	for n, arguments := range a.arguments {
		output = append(output, object{"type": "function_call", "id": fmt.Sprintf("fc_%s_%d", a.id, n), "call_id": fmt.Sprintf("call_%s_%d", a.id, n), "name": a.name, "arguments": arguments, "status": "completed"})
	}
	if a.name == "" {
		text := object{"type": "output_text", "text": a.text, "annotations": []any{}}
		output = append(output, object{"type": "message", "id": "msg_" + a.id, "role": "assistant", "status": "completed", "content": []object{text}})
	}
	return object{
		"id": "resp_" + a.id, "object": "response", "created_at": 1, "status": "completed", "model": a.model, "output": output,
		"parallel_tool_calls": true, "tool_choice": "auto", "tools": []any{},
		"usage": object{
			"input_tokens": a.usage.Input, "output_tokens": a.usage.Output, "total_tokens": a.usage.Input + a.usage.Output,
			"input_tokens_details": object{"cached_tokens": a.usage.Read}, "output_tokens_details": object{"reasoning_tokens": 0},
		},
	}
}

func responsesEvents(whole object) []object {
	events := []object{{"type": "response.created", "response": object{"id": whole["id"], "object": "response", "created_at": 1, "status": "in_progress", "model": whole["model"], "output": []any{}}}}
	for n, item := range whole["output"].([]object) {
		events = append(events, object{"type": "response.output_item.added", "output_index": n, "item": item}, object{"type": "response.output_item.done", "output_index": n, "item": item})
	}
	events = append(events, object{"type": "response.completed", "response": whole})
	for n, event := range events {
		event["sequence_number"] = n
	}
	return events
}

func anthropicReply(a *answer) object {
	content, reason := []object{{"type": "text", "text": a.text}}, "end_turn"
	if a.name != "" {
		content, reason = nil, "tool_use"
	}
	for n, arguments := range a.arguments {
		content = append(content, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%s_%d", a.id, n), "name": a.name, "input": json.RawMessage(arguments)})
	}
	return object{
		"id": "msg_" + a.id, "type": "message", "role": "assistant", "model": a.model, "content": content, "stop_reason": reason, "stop_sequence": nil,
		"usage": object{
			"input_tokens": a.usage.Input - a.usage.Read - a.usage.Written, "output_tokens": a.usage.Output,
			"cache_read_input_tokens": a.usage.Read, "cache_creation_input_tokens": a.usage.Written,
		},
	}
}

// anthropicEvents sends the input of calls in two parts.
func anthropicEvents(whole object) []object {
	content, reason := whole["content"], whole["stop_reason"]
	whole["content"], whole["stop_reason"] = []any{}, nil
	events := []object{{"type": "message_start", "message": whole}}
	for n, block := range content.([]object) {
		deltas := []object{{"type": "text_delta", "text": block["text"]}}
		if block["type"] == "tool_use" {
			input := block["input"].(json.RawMessage)
			deltas = []object{{"type": "input_json_delta", "partial_json": string(input[:5])}, {"type": "input_json_delta", "partial_json": string(input[5:])}}
			block["input"] = object{}
		} else {
			block["text"] = ""
		}
		events = append(events, object{"type": "content_block_start", "index": n, "content_block": block})
		for _, delta := range deltas {
			events = append(events, object{"type": "content_block_delta", "index": n, "delta": delta})
		}
		events = append(events, object{"type": "content_block_stop", "index": n})
	}
	return append(events,
		object{"type": "message_delta", "delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": object{"output_tokens": 8}},
		object{"type": "message_stop"})
}

func geminiReply(a *answer) object {
	parts := []object{{"text": a.text}}
	if a.name != "" {
		parts = nil
	}
	for _, arguments := range a.arguments {
		parts = append(parts, object{"functionCall": object{"name": a.name, "args": json.RawMessage(arguments)}})
	}
	parts[0]["thoughtSignature"] = "c2lnbmF0dXJl"
	usage := object{"promptTokenCount": a.usage.Input, "candidatesTokenCount": a.usage.Output, "totalTokenCount": a.usage.Input + a.usage.Output}
	if a.usage.Cached {
		usage["cachedContentTokenCount"] = a.usage.Read
	}
	return object{
		"modelVersion": a.model, "usageMetadata": usage,
		"candidates": []object{{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": parts}}},
	}
}

// geminiEvents sends a part in each event.
func geminiEvents(whole object) (events []object) {
	for _, part := range whole["candidates"].([]object)[0]["content"].(object)["parts"].([]object) {
		events = append(events, object{"modelVersion": whole["modelVersion"], "candidates": []object{{"index": 0, "content": object{"role": "model", "parts": []object{part}}}}})
	}
	last := events[len(events)-1]
	last["usageMetadata"] = whole["usageMetadata"]
	last["candidates"].([]object)[0]["finishReason"] = "STOP"
	return events
}

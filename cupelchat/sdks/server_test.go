package sdks_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/wollax/cupel-go/cupelchat"
)

// server stands in for the APIs of language models. It refuses what
// [cupelchat.Check] finds, and answers other requests with calls of the first tool
// of the request, and then with a text. It does not stream.
type server struct {
	mu     sync.Mutex
	calls  int
	bodies [][]byte // the requests that it took
}

// asked is what the server reads of a request of any API.
type asked struct {
	Model string
	Tools []struct {
		Name                 string
		Function             struct{ Name string }
		FunctionDeclarations []struct{ Name string }
	}
}

// tool returns the name of the first tool, or "".
func (a *asked) tool() string {
	if len(a.Tools) == 0 {
		return ""
	}
	t := a.Tools[0]
	if len(t.FunctionDeclarations) > 0 {
		return t.FunctionDeclarations[0].Name
	}
	return t.Name + t.Function.Name
}

// object is a JSON object of an answer.
type object = map[string]any

// answer is what the model says: a call, or a text if the name is empty.
type answer struct {
	id, model, name, arguments, text string
	tokens                           int // of the request
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var format cupelchat.Format
	var reply func(answer) object
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/chat/completions"):
		format, reply = cupelchat.OpenAI, chatReply
	case strings.HasSuffix(path, "/responses"):
		format, reply = cupelchat.Responses, responsesReply
	case strings.HasSuffix(path, "/messages"):
		format, reply = cupelchat.Anthropic, anthropicReply
	case strings.HasSuffix(path, ":generateContent"):
		format, reply = cupelchat.Gemini, geminiReply
	default:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if found := cupelchat.Check(body, format); len(found) > 0 {
		w.WriteHeader(http.StatusBadRequest)
		write(w, object{"error": object{"message": found[0].String()}})
		return
	}
	var request asked
	if err := json.Unmarshal(body, &request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.bodies = append(s.bodies, body)
	a := answer{id: fmt.Sprint(len(s.bodies)), model: request.Model, tokens: len(body) / 4}
	if s.calls < steps {
		s.calls++
		a.name, a.arguments = request.tool(), fmt.Sprintf(`{"path":"pkg/file%d.go"}`, s.calls)
	} else {
		a.text = fmt.Sprintf("done after %d calls", s.calls)
	}
	write(w, reply(a))
}

func write(w io.Writer, v any) { must(w.Write(must(json.Marshal(v)))) }

func chatReply(a answer) object {
	message, reason := object{"role": "assistant", "content": a.text}, "stop"
	if a.name != "" {
		message["content"], reason = nil, "tool_calls"
		message["tool_calls"] = []object{{"id": "call_" + a.id, "type": "function", "function": object{"name": a.name, "arguments": a.arguments}}}
	}
	return object{
		"id": a.id, "object": "chat.completion", "model": a.model, "choices": []object{{"index": 0, "finish_reason": reason, "message": message}},
		"usage": object{"prompt_tokens": a.tokens, "completion_tokens": 8, "total_tokens": a.tokens + 8},
	}
}

func responsesReply(a answer) object {
	output := []object{{"type": "reasoning", "id": "rs_" + a.id, "summary": []any{}}}
	if a.name != "" {
		output = append(output, object{"type": "function_call", "id": "fc_" + a.id, "call_id": "call_" + a.id, "name": a.name, "arguments": a.arguments, "status": "completed"})
	} else {
		text := object{"type": "output_text", "text": a.text, "annotations": []any{}}
		output = append(output, object{"type": "message", "id": "msg_" + a.id, "role": "assistant", "status": "completed", "content": []object{text}})
	}
	return object{
		"id": "resp_" + a.id, "object": "response", "status": "completed", "model": a.model, "output": output,
		"usage": object{"input_tokens": a.tokens, "output_tokens": 8, "total_tokens": a.tokens + 8},
	}
}

func anthropicReply(a answer) object {
	content, reason := object{"type": "text", "text": a.text}, "end_turn"
	if a.name != "" {
		content, reason = object{"type": "tool_use", "id": "toolu_" + a.id, "name": a.name, "input": json.RawMessage(a.arguments)}, "tool_use"
	}
	return object{
		"id": "msg_" + a.id, "type": "message", "role": "assistant", "model": a.model, "content": []object{content},
		"stop_reason": reason, "usage": object{"input_tokens": a.tokens, "output_tokens": 8},
	}
}

func geminiReply(a answer) object {
	part := object{"text": a.text}
	if a.name != "" {
		part = object{"functionCall": object{"name": a.name, "args": json.RawMessage(a.arguments)}, "thoughtSignature": "c2lnbmF0dXJl"}
	}
	return object{
		"candidates":    []object{{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []object{part}}}},
		"usageMetadata": object{"promptTokenCount": a.tokens, "candidatesTokenCount": 8, "totalTokenCount": a.tokens + 8},
	}
}

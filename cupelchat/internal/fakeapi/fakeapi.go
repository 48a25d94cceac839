// Package fakeapi is a server for tests that stands in for the APIs of language
// models. It refuses the conversations that they refuse, in their words, and
// answers the others with calls of the first tool that a request has, and then
// with a text.
//
// It decodes requests into structs of its own and shares no code with
// cupelchat.Check, so that the two can be compared.
package fakeapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// API serves OpenAI's Chat Completions (POST …/chat/completions) and Responses
// (…/responses), Anthropic's Messages (…/messages), Gemini's generateContent
// (…:generateContent), Bedrock's Converse (…/converse) and Ollama (…/api/chat).
// The beginning of the path does not matter. It does not stream.
type API struct {
	// Steps is the number of requests with tools that are answered with a call
	// before one is answered with a text.
	Steps int

	// Arguments returns the arguments of the call of a step, from 1, as a JSON
	// object. Nil is {"step":N}.
	Arguments func(step int) string

	mu     sync.Mutex
	steps  int
	bodies [][]byte
	issued map[string]string // calls of the Responses API with the reasoning before them
}

// Bodies returns the requests that were taken, in order.
func (a *API) Bodies() [][]byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.bodies
}

// refusal is why a request is refused.
type refusal struct {
	message string
	param   string // of OpenAI
}

func refuse(format string, args ...any) *refusal {
	return &refusal{message: fmt.Sprintf(format, args...)}
}

// at says which parameter is wrong.
func (r *refusal) at(format string, args ...any) *refusal {
	r.param = fmt.Sprintf(format, args...)
	return r
}

// answer is what the model says: a call, or a text if name is empty.
type answer struct {
	step      int
	name      string
	arguments json.RawMessage
	text      string
}

// service is one of the APIs.
type service struct {
	suffix string
	check  func(a *API, body []byte) *refusal
	fail   func(*refusal) any
	tool   func(body []byte) string // the name of the first tool, or ""
	reply  func(a *API, body []byte, x answer) any
}

var services = []service{
	{"/chat/completions", checkChat, failOpenAI, chatTool, replyChat},
	{"/responses", checkResponses, failOpenAI, firstTool, replyResponses},
	{"/messages", checkMessages, failAnthropic, firstTool, replyMessages},
	{":generateContent", checkGemini, failGemini, geminiTool, replyGemini},
	{"/converse", checkConverse, failBedrock, converseTool, replyConverse},
	{"/api/chat", checkOllama, failOllama, chatTool, replyOllama},
}

func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for _, s := range services {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, s.suffix) {
			a.serve(w, s, body)
			return
		}
	}
	http.NotFound(w, r)
}

func (a *API) serve(w http.ResponseWriter, s service, body []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	failed := s.check(a, body)
	var stream struct{ Stream bool }
	if failed == nil && s.suffix != "/api/chat" && json.Unmarshal(body, &stream) == nil && stream.Stream {
		failed = refuse("this test server does not stream")
	}
	if failed != nil {
		w.Header().Set("X-Amzn-Errortype", "ValidationException")
		w.WriteHeader(http.StatusBadRequest)
		write(w, s.fail(failed))
		return
	}
	a.bodies = append(a.bodies, body)
	x := answer{text: fmt.Sprintf("done after %d calls", a.steps), name: s.tool(body)}
	if x.name != "" && a.steps < a.Steps {
		a.steps++
		x.step, x.arguments = a.steps, json.RawMessage(fmt.Sprintf(`{"step":%d}`, a.steps))
		if a.Arguments != nil {
			x.arguments = json.RawMessage(a.Arguments(a.steps))
		}
	} else {
		x.name = ""
	}
	write(w, s.reply(a, body, x))
}

func write(w io.Writer, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		data = []byte(`{"error":"the arguments are not JSON"}`)
	}
	_, _ = w.Write(append(data, '\n'))
}

// object is a JSON object of an answer.
type object = map[string]any

func failOpenAI(r *refusal) any {
	var param any
	if r.param != "" {
		param = r.param
	}
	return object{"error": object{"message": r.message, "type": "invalid_request_error", "param": param, "code": nil}}
}

func failAnthropic(r *refusal) any {
	return object{"type": "error", "error": object{"type": "invalid_request_error", "message": r.message}, "request_id": "req_1"}
}

func failGemini(r *refusal) any {
	return object{"error": object{"code": http.StatusBadRequest, "message": r.message, "status": "INVALID_ARGUMENT"}}
}

func failBedrock(r *refusal) any { return object{"message": r.message} }

func failOllama(r *refusal) any { return object{"error": r.message} }

// firstTool returns the name of the first tool of a request that has names in the
// elements of its tools.
func firstTool(body []byte) string {
	var r struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if json.Unmarshal(body, &r) != nil || len(r.Tools) == 0 {
		return ""
	}
	return r.Tools[0].Name
}

// decode decodes a body or a part of it.
func decode(data []byte, v any) *refusal {
	if err := json.Unmarshal(data, v); err != nil {
		return refuse("%v", err)
	}
	return nil
}

// null reports whether a member is null or missing.
func null(m json.RawMessage) bool { return len(m) == 0 || string(m) == "null" }

// stringOf decodes a string.
func stringOf(m json.RawMessage) (string, bool) {
	var s string
	if len(m) == 0 || m[0] != '"' || json.Unmarshal(m, &s) != nil {
		return "", false
	}
	return s, true
}

// isObject and isArray look at the first character of a member.
func isObject(m json.RawMessage) bool { return len(m) > 0 && m[0] == '{' }
func isArray(m json.RawMessage) bool  { return len(m) > 0 && m[0] == '[' }

// spelled reports whether a name has letters, digits and the other characters
// only.
func spelled(name, others string) bool {
	for _, c := range name {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune(others, c)) {
			return false
		}
	}
	return name != ""
}

package fakeapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupelchat/internal/cases"
)

// root is the folder of the module.
const root = "../../.."

var paths = map[string]string{
	"openai": "/v1/chat/completions", "responses": "/v1/responses", "anthropic": "/v1/messages",
	"gemini": "/v1beta/models/m:generateContent", "bedrock": "/model/m/converse", "ollama": "/api/chat",
}

func post(t *testing.T, a *API, path string, body []byte) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body)))
	return w.Code, w.Body.String()
}

// TestCases asks the server about the bodies that cupelchat.Check is tested with.
func TestCases(t *testing.T) {
	for _, format := range cases.Formats {
		for kind, want := range map[string]int{"bad": http.StatusBadRequest, "good": http.StatusOK} {
			for _, c := range cases.Load(t, root, format, kind) {
				t.Run(format+"/"+kind+"/"+c.Name, func(t *testing.T) {
					if got, says := post(t, &API{}, paths[format], c.Body); got != want {
						t.Errorf("%s%s: got %d %swant %d\n%s", c.Says, c.Why, got, says, want, c.Body)
					}
				})
			}
		}
	}
}

// TestLoop runs an agent against the server, which answers with calls and then
// with a text.
func TestLoop(t *testing.T) {
	a := &API{Steps: 2}
	messages := []any{object{"role": "user", "content": "hi"}}
	tools := []object{{"type": "function", "function": object{"name": "f", "parameters": object{"type": "object"}}}}
	for i, want := range []string{`{"step":1}`, `{"step":2}`, ""} {
		body, err := json.Marshal(object{"model": "m", "messages": messages, "tools": tools})
		if err != nil {
			t.Fatal(err)
		}
		status, says := post(t, a, paths["openai"], body)
		var reply struct {
			Choices []struct {
				Message struct {
					Content   *string
					ToolCalls []chatCall `json:"tool_calls"`
				}
			}
		}
		if err := json.Unmarshal([]byte(says), &reply); err != nil || status != http.StatusOK {
			t.Fatalf("request %d: %d, %v, %s", i, status, err, says)
		}
		message := reply.Choices[0].Message
		if want == "" {
			if message.Content == nil || *message.Content != "done after 2 calls" || len(message.ToolCalls) > 0 {
				t.Errorf("the last answer is %s", says)
			}
			break
		}
		if got := *message.ToolCalls[0].Function.Arguments; got != want {
			t.Errorf("request %d: arguments %s, want %s", i, got, want)
		}
		messages = append(messages,
			object{"role": "assistant", "content": nil, "tool_calls": message.ToolCalls[:1]},
			object{"role": "tool", "tool_call_id": message.ToolCalls[0].ID, "content": "x"})
	}
	if n := len(a.Bodies()); n != 3 {
		t.Errorf("%d requests were taken, want 3", n)
	}
}

// TestReasoning wants the reasoning back that came with a call.
func TestReasoning(t *testing.T) {
	a := &API{Steps: 1}
	const start = `{"model":"m","reasoning":{},"tools":[{"type":"function","name":"f"}],"input":[{"role":"user","content":"hi"}`
	if status, says := post(t, a, paths["responses"], []byte(start+"]}")); status != http.StatusOK || !strings.Contains(says, `"rs_1"`) || !strings.Contains(says, `"fc_1"`) {
		t.Fatalf("got %d %s", status, says)
	}
	const call = `{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"call_1","output":"x"}]}`
	if status, says := post(t, a, paths["responses"], []byte(start+","+call)); status != http.StatusBadRequest || !strings.Contains(says, "without its required 'reasoning' item: 'rs_1'") {
		t.Errorf("without reasoning: got %d %s", status, says)
	}
	if status, says := post(t, a, paths["responses"], []byte(start+`,{"type":"reasoning","id":"rs_1","summary":[]},`+call)); status != http.StatusOK {
		t.Errorf("with reasoning: got %d %s", status, says)
	}
}

// TestReplies has a call and a text of every API.
func TestReplies(t *testing.T) {
	tests := map[string]string{
		"openai":    `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"tool_f"}}]}`,
		"responses": `{"model":"m","input":"hi","tools":[{"type":"function","name":"tool_f"}]}`,
		"anthropic": `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"tool_f"}],"thinking":{"type":"enabled"}}`,
		"gemini":    `{"contents":[{"parts":[{"text":"hi"}]}],"tools":[{"functionDeclarations":[{"name":"tool_f"}]}]}`,
		"bedrock":   `{"messages":[{"role":"user","content":[{"text":"hi"}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"tool_f"}}]}}`,
		"ollama":    `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"function":{"name":"tool_f"}}]}`,
	}
	for format, body := range tests {
		t.Run(format, func(t *testing.T) {
			a := &API{Steps: 1, Arguments: func(int) string { return `{"path":"go.mod"}` }}
			for _, want := range []string{"tool_f", "done after 1 calls"} {
				status, says := post(t, a, paths[format], []byte(body))
				if status != http.StatusOK || !strings.Contains(says, want) {
					t.Errorf("got %d %s, want %s", status, says, want)
				}
			}
			if status, _ := post(t, a, paths[format], []byte("{")); status != http.StatusBadRequest {
				t.Errorf("what is no JSON: got %d", status)
			}
		})
	}
	if status, _ := post(t, &API{}, "/v1/embeddings", nil); status != http.StatusNotFound {
		t.Errorf("another API: got %d", status)
	}
}

package fakeapi

import "encoding/json"

// ollamaRequest is decoded as the real server does it, which checks nothing else.
type ollamaRequest struct {
	Model    string
	Messages []struct {
		Role       string
		Content    string
		Thinking   string
		Images     [][]byte
		ToolName   string `json:"tool_name"`
		ToolCallID string `json:"tool_call_id"`
		ToolCalls  []struct {
			ID       string
			Function struct {
				Index     int
				Name      string
				Arguments map[string]any
			}
		} `json:"tool_calls"`
	}
}

func checkOllama(_ *API, body []byte) *refusal {
	var r ollamaRequest
	if failed := decode(body, &r); failed != nil {
		return failed
	}
	if r.Model == "" {
		return refuse("model is required")
	}
	return nil
}

func replyOllama(_ *API, body []byte, x answer) any {
	var r ollamaRequest
	_ = json.Unmarshal(body, &r)
	message := object{"role": "assistant", "content": x.text}
	if x.name != "" {
		message = object{"role": "assistant", "content": "", "tool_calls": []object{{"function": object{"name": x.name, "arguments": x.arguments}}}}
	}
	return object{"model": r.Model, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": true, "done_reason": "stop"}
}

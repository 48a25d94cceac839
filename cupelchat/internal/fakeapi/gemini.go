package fakeapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

type geminiRequest struct {
	Contents []geminiContent
	System   json.RawMessage `json:"systemInstruction"`
	System2  json.RawMessage `json:"system_instruction"`
	Model    string
	Tools    []map[string]json.RawMessage
}

type geminiContent struct {
	Role  string
	Parts []map[string]json.RawMessage
	more  []string // names that a message does not have
}

func (c *geminiContent) UnmarshalJSON(data []byte) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	for name, v := range m {
		var err error
		switch name {
		case "role":
			err = json.Unmarshal(v, &c.Role)
		case "parts":
			err = json.Unmarshal(v, &c.Parts)
		default:
			c.more = append(c.more, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// camel joins words without underscores, as the API does.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

const (
	geminiOneOf = " text inlineData fileData functionCall functionResponse executableCode codeExecutionResult toolCall toolResponse "
	geminiExtra = " thought thoughtSignature partMetadata videoMetadata mediaResolution mediaProcessing speechMetadata audioTranscription "
)

// geminiTurn says what a message has.
type geminiTurn struct {
	role           string
	calls, results int
	signed         bool
}

const geminiCount = "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."

func checkGemini(_ *API, body []byte) *refusal {
	var r geminiRequest
	if failed := decode(body, &r); failed != nil {
		return failed
	}
	for _, system := range []json.RawMessage{r.System, r.System2} {
		var content geminiContent
		if null(system) {
			continue
		}
		if json.Unmarshal(system, &content) != nil || len(content.Parts) == 0 {
			return refuse("Invalid value at 'system_instruction'")
		}
	}
	if len(r.Contents) == 0 {
		return refuse("* GenerateContentRequest.contents: contents is not specified")
	}
	turns := make([]geminiTurn, len(r.Contents))
	for i, c := range r.Contents {
		var failed *refusal
		if turns[i], failed = c.check(i); failed != nil {
			return failed
		}
	}
	for i, t := range turns {
		var before, after geminiTurn
		if i > 0 {
			before = turns[i-1]
		}
		if i < len(turns)-1 {
			after = turns[i+1]
		}
		switch {
		case t.calls > 0 && (i == 0 || before.role == "model"):
			return refuse("Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		case t.calls > 0 && after.results != t.calls:
			return refuse(geminiCount)
		case t.results > 0 && before.calls == 0:
			return refuse("Please ensure that function response turn comes immediately after a function call turn.")
		}
	}
	if turns[len(turns)-1].role == "model" {
		return refuse("Please ensure that multiturn requests ends with a user role or a function response.")
	}
	return checkSignatures(turns, r.Model)
}

func checkSignatures(turns []geminiTurn, model string) *refusal {
	if strings.Contains(model, "gemini-2") || strings.Contains(model, "gemini-1") {
		return nil
	}
	signed, bare := false, -1
	for i, t := range slices.Backward(turns) {
		if t.role != "model" && t.results == 0 {
			break
		}
		if t.calls > 0 {
			signed = signed || t.signed
			if !t.signed {
				bare = i
			}
		}
	}
	if signed && bare >= 0 {
		return refuse("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, position %d.", bare+1)
	}
	return nil
}

func (c *geminiContent) check(i int) (geminiTurn, *refusal) {
	t := geminiTurn{role: c.Role}
	if len(c.more) > 0 {
		return t, refuse("Invalid JSON payload received. Unknown name %q at 'contents[%d]': Cannot find field.", c.more[0], i)
	}
	switch c.Role {
	case "", "user", "function", "model":
	default:
		return t, refuse("Please use a valid role: user, model.")
	}
	if len(c.Parts) == 0 {
		return t, refuse("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.", i)
	}
	for j, part := range c.Parts {
		at := fmt.Sprintf("contents[%d].parts[%d]", i, j)
		p := map[string]json.RawMessage{}
		set := 0
		for name, v := range part {
			short := camel(name)
			switch {
			case strings.Contains(geminiOneOf, " "+short+" "):
				if !null(v) {
					set++
				}
			case !strings.Contains(geminiExtra, " "+short+" "):
				return t, refuse("Invalid JSON payload received. Unknown name %q at '%s': Cannot find field.", name, at)
			}
			p[short] = v
		}
		if set > 1 {
			return t, refuse("Invalid value at '%s' (oneof), oneof field 'data' is already set.", at)
		}
		if set == 0 || string(p["text"]) == `""` && null(p["thoughtSignature"]) {
			return t, refuse("* GenerateContentRequest.%s.data: required oneof field 'data' must have one initialized field", at)
		}
		if failed := checkGeminiPart(p, at, &t); failed != nil {
			return t, failed
		}
	}
	return t, nil
}

func checkGeminiPart(p map[string]json.RawMessage, at string, t *geminiTurn) *refusal {
	var f struct {
		Name      string
		Args      map[string]any
		Response  map[string]any
		MIMEType  string `json:"mimeType"`
		MIMEType2 string `json:"mime_type"`
	}
	switch {
	case !null(p["text"]):
		if _, ok := stringOf(p["text"]); !ok {
			return refuse("Invalid value at '%s.text' (TYPE_STRING)", at)
		}
	case !null(p["functionCall"]):
		if json.Unmarshal(p["functionCall"], &f) != nil {
			return refuse("Invalid value at '%s.function_call.args' (type.googleapis.com/google.protobuf.Struct)", at)
		}
		if f.Name == "" {
			return refuse("* GenerateContentRequest.%s.function_call.name: Name cannot be empty.", at)
		}
		if t.calls == 0 {
			t.signed = !null(p["thoughtSignature"])
		}
		t.calls++
	case !null(p["functionResponse"]):
		if json.Unmarshal(p["functionResponse"], &f) != nil || f.Response == nil {
			return refuse("Invalid value at '%s.function_response.response' (type.googleapis.com/google.protobuf.Struct)", at)
		}
		if f.Name == "" {
			return refuse("* GenerateContentRequest.%s.function_response.name: Name cannot be empty.", at)
		}
		t.results++
	case !null(p["inlineData"]):
		if json.Unmarshal(p["inlineData"], &f) != nil || f.MIMEType == "" && f.MIMEType2 == "" {
			return refuse("Invalid value at '%s.inline_data.mime_type'", at)
		}
	}
	return nil
}

func geminiTool(body []byte) string {
	var r geminiRequest
	if json.Unmarshal(body, &r) != nil {
		return ""
	}
	for _, tool := range r.Tools {
		for name, v := range tool {
			var declarations []struct{ Name string }
			if camel(name) == "functionDeclarations" && json.Unmarshal(v, &declarations) == nil && len(declarations) > 0 {
				return declarations[0].Name
			}
		}
	}
	return ""
}

func replyGemini(a *API, body []byte, x answer) any {
	part := object{"text": x.text}
	if x.name != "" {
		part = object{"functionCall": object{"name": x.name, "args": x.arguments}, "thoughtSignature": "c2lnbmF0dXJl"}
	}
	return object{
		"candidates":   []object{{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []object{part}}}},
		"modelVersion": "test", "responseId": fmt.Sprintf("r%d", len(a.bodies)),
		"usageMetadata": object{"promptTokenCount": len(body) / 4, "candidatesTokenCount": 8, "totalTokenCount": len(body)/4 + 8},
	}
}

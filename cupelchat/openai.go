package cupelchat

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// chatCodec is OpenAI's Chat Completions.
type chatCodec struct{}

func (chatCodec) name() string { return "OpenAI's Chat Completions API" }
func (chatCodec) list() string { return "messages" }
func (chatCodec) rules() rules { return rules{} }

func (chatCodec) signs() signs {
	return signs{
		request: []string{"functions", "response_format", "max_completion_tokens", "logit_bias", "stop"},
		message: []string{"tool_calls", "function_call", "tool_call_id", "refusal"},
		roles:   []string{"tool", "function"},
		parts:   []string{"image_url", "input_audio", "file"},
	}
}

func (chatCodec) note(text string) []byte {
	return slices.Concat([]byte(`{"role": "user", "content": `), quoted(text), []byte("}"))
}

func (chatCodec) text(text string) []byte { return textBlock("text", text) }

func (chatCodec) request(r *reader, body *rawjson.Object) error {
	return r.tools(body, 0, "tools", "functions")
}

// tools reads the definitions of tools, which cost some tokens more.
func (r *reader) tools(body *rawjson.Object, more int, names ...string) error {
	for _, m := range body.Members {
		if !slices.Contains(names, m.Name) || len(m.Value.Elements()) == 0 {
			continue
		}
		r.beginMember(m, "tools")
		r.spend(more)
		if err := r.keepJSON(m.Value); err != nil {
			return err
		}
	}
	return nil
}

// quoted returns a text as JSON.
func quoted(text string) []byte {
	var b bytes.Buffer
	w := json.NewEncoder(&b)
	w.SetEscapeHTML(false)
	if err := w.Encode(text); err != nil {
		return []byte(`""`) // a string can always be written
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// textBlock returns a part of a type that says a text.
func textBlock(kind, text string) []byte {
	return slices.Concat([]byte(`{"type": "`+kind+`", "text": `), quoted(text), []byte("}"))
}

// role reads the role of a message.
func (r *reader) role(o *rawjson.Object, path string, known ...string) (string, error) {
	role, err := str(o, path, "role")
	if err == nil && !slices.Contains(known, role) {
		err = o.Get("role").Errorf(path+".role", "must be one of %s, got %.40q", strings.Join(known, ", "), role)
	}
	r.message().role = role
	return role, err
}

func (chatCodec) message(r *reader, o *rawjson.Object, path string) error {
	role, err := r.role(o, path, "system", "developer", "user", "assistant", "tool", "function")
	if err != nil {
		return err
	}
	name, err := optionalStr(o, path, "name")
	if err != nil {
		return err
	}
	returns := role == "tool" || role == "function"
	if returns {
		role = "tool"
	}
	e := r.entry(role)
	if name != "" && !returns {
		r.spend(nameTokens)
		if err := r.count(name); err != nil {
			return err
		}
	}
	if err := r.content(o.Get("content"), path+".content"); err != nil {
		return err
	}
	if err := r.sayOptional(o, path, "refusal"); err != nil {
		return err
	}
	if audio := o.Get("audio"); !audio.IsNull() {
		r.medium("audio", audioTokens, audio)
	}
	e.words, e.asks = !returns, role == "user"
	switch r.message().role {
	case "tool":
		id, err := optionalStr(o, path, "tool_call_id")
		if err != nil {
			return err
		}
		r.returned(id)
	case "function":
		r.returned("function " + name)
	}
	if err := r.chatCalls(o, path); err != nil {
		return err
	}
	if len(r.current().parts) == 0 && !r.current().tool && o.Get("content").IsNull() {
		return empty(o, path)
	}
	return nil
}

// empty returns the error for a message that says nothing.
func empty(o *rawjson.Object, path string) error {
	if o.Get("parts").IsArray() {
		return o.Get("parts").Errorf(rawjson.Join(path, "parts"), "looks like a message of the AI SDK or of Gemini; this format has \"content\": convert the messages first (AI SDK: convertToModelMessages)")
	}
	return o.Value.Errorf(path, "has neither content nor tool calls; remove it")
}

func (r *reader) chatCalls(o *rawjson.Object, path string) error {
	path += ".tool_calls"
	if calls := o.Get("tool_calls"); !calls.IsNull() && !calls.IsArray() {
		return calls.Errorf(path, "must be an array, got %s", calls.Type())
	}
	for i, part := range o.Get("tool_calls").Elements() {
		path := rawjson.Index(path, i)
		c, err := part.Value.Object(path)
		if err != nil {
			return err
		}
		id, err := optionalStr(&c, path, "id")
		if err != nil {
			return err
		}
		kind, arguments := "function", "arguments"
		if c.Has("custom") {
			kind, arguments = "custom", "input"
		}
		f, err := c.Get(kind).Object(rawjson.Join(path, kind))
		if err != nil {
			return at(err, c.Value)
		}
		if err := r.useMember(id, &f, rawjson.Join(path, kind), arguments); err != nil {
			return err
		}
	}
	if !o.Has("function_call") {
		return nil
	}
	path = strings.TrimSuffix(path, "tool_calls") + "function_call"
	f, err := o.Get("function_call").Object(path)
	if err != nil {
		return err
	}
	return r.useMember("function "+f.Get("name").String(), &f, path, "arguments")
}

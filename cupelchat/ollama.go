package cupelchat

import (
	"encoding/base64"
	"slices"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// ollamaCodec is Ollama's chat API: messages as OpenAI's, with the arguments of
// calls as objects, and no ids. The server refuses values of another type than it
// decodes them to. It does not ask for results of calls, and takes null for every
// member.
type ollamaCodec struct{ chatCodec }

func (*ollamaCodec) name() string { return "Ollama's chat API" }
func (*ollamaCodec) rules() rules { return rules{nulls: true} }
func (*ollamaCodec) end(*reader)  {}

func (*ollamaCodec) signs() signs {
	return signs{
		request: []string{"keep_alive", "think"},
		message: []string{"tool_name"},
		// Its calls are OpenAI's with other arguments.
		over: func(other Format, _ string) bool { return other == OpenAI },
		element: func(o *rawjson.Object) string {
			if images := o.Get("images").Elements(); len(images) > 0 && images[0].Value.IsString() {
				return "images"
			}
			if o.Get("thinking").IsString() {
				return "thinking"
			}
			for _, part := range o.Get("tool_calls").Elements() {
				c, _ := part.Value.Fields()
				if f, _ := c.Get("function").Fields(); f.Get("arguments").IsObject() {
					return "tool_calls"
				}
			}
			return ""
		},
	}
}

func (c *ollamaCodec) message(r *reader, o *rawjson.Object, path string) {
	role := r.member(o, path, "role", c.ruleOf(o.Get("role")))
	r.message().role = role
	if known := []string{"system", "user", "assistant", "tool"}; !slices.Contains(known, role) {
		r.broken(o.Get("role"), rawjson.Join(path, "role"), "", "must be one of system, user, assistant, tool, got %s", quote(role))
	}
	e := r.entry(role)
	e.words, e.asks = role != "tool", role == "user"
	if thinking := r.optional(o, path, "thinking", "field-type"); thinking != "" {
		r.keep(thinking)
	}
	r.sayOptional(o, path, "content", "field-type")
	c.images(r, o, path)
	name := r.optional(o, path, "tool_name", "field-type")
	id := r.optional(o, path, "tool_call_id", "field-type")
	if role == "tool" {
		r.returned(r.callOf(id, name))
	}
	path = rawjson.Join(path, "tool_calls")
	calls := o.Get("tool_calls")
	if !calls.IsNull() && !calls.IsArray() {
		r.broken(calls, path, "field-type", "must be an array, got %s", calls.Type())
	}
	for i, part := range calls.Elements() {
		c.call(r, part.Value, rawjson.Index(path, i))
	}
	if e := r.current(); len(e.parts) == 0 && !e.tool {
		r.fail(empty(o, path[:len(path)-len(".tool_calls")]))
	}
}

func (*ollamaCodec) images(r *reader, o *rawjson.Object, path string) {
	images := o.Get("images")
	path = rawjson.Join(path, "images")
	if !images.IsNull() && !images.IsArray() {
		r.wrong(path, "field-type", "must be an array, got %s", images.Type())
	}
	for i, image := range images.Elements() {
		v := image.Value
		r.medium("image", openAIImageTokens, v)
		if v.IsString() {
			if _, err := base64.StdEncoding.DecodeString(v.String()); err != nil {
				r.wrong(rawjson.Index(path, i), "image", "an image must be in base64, without the beginning of a data URL: %v", err)
			}
			continue
		}
		// An array of numbers, and of nulls, is taken as bytes.
		numbers := v.IsArray() && !slices.ContainsFunc(v.Elements(), func(n rawjson.Part) bool { return !n.Value.IsNumber() && !n.Value.IsNull() })
		if !v.IsNull() && !numbers {
			r.wrong(rawjson.Index(path, i), "image", "an image must be a string in base64, got %s", v.Type())
		}
	}
}

func (c *ollamaCodec) call(r *reader, v rawjson.Value, path string) {
	o, ok := r.object(v, path, c.ruleOf(v))
	if !ok {
		return
	}
	id := r.optional(o, path, "id", "field-type")
	f, ok := r.inner(o, path, "function", c.ruleOf(o.Get("function")))
	if !ok {
		return
	}
	path = rawjson.Join(path, "function")
	name := r.member(f, path, "name", c.ruleOf(f.Get("name")))
	if v := f.Get("index"); !v.IsNull() && !v.IsNumber() {
		r.wrong(rawjson.Join(path, "index"), "field-type", "must be a number, got %s", v.Type())
	}
	if v := f.Get("arguments"); !v.IsNull() && !v.IsObject() {
		r.wrong(rawjson.Join(path, "arguments"), "arguments", "must be an object, got %s", v.Type())
	}
	if id == "" {
		id = "function " + name
	}
	r.use(id, name, f.Get("arguments"))
}

// ruleOf returns the rule that a value of another type breaks: null breaks none.
func (*ollamaCodec) ruleOf(v rawjson.Value) string {
	if v.IsNull() {
		return ""
	}
	return "field-type"
}

// callOf returns the id under which a call waits for a result: its own, or that of
// the first call of the function that has none yet.
func (r *reader) callOf(id, name string) string {
	if _, ok := r.pending[id]; ok && id != "" {
		return id
	}
	for _, c := range r.calls {
		if !c.answered && (name == "" || c.name == name) {
			return "function " + c.name
		}
	}
	return "function " + name
}

package cupelchat

import (
	"cmp"
	"encoding/base64"
	"slices"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// ollamaCodec is Ollama's chat API: messages like OpenAI's, with the arguments of
// calls as objects, and no ids. The server refuses values of types that it cannot
// decode. It requires no results of calls, and accepts null for every member.
type ollamaCodec struct{ chatCodec }

func (*ollamaCodec) end(*reader) {}

func (c *ollamaCodec) fork() codec { return &ollamaCodec{chatCodec{c.within, c.calls.fork()}} }

var ollamaRules = rules{
	name: "Ollama's chat API", list: "messages", content: "content", text: "text", nulls: true,
	signs: signs{
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
	},
}

func (c *ollamaCodec) message(o cursor) {
	role := o.member("role", c.ruleOf(o.Get("role")))
	o.message().role = role
	if known := []string{"system", "user", "assistant", "tool"}; !slices.Contains(known, role) {
		o.unreadable("role", "", "must be one of system, user, assistant, tool, got %s", quote(role))
	}
	e := o.entry(role)
	e.words, e.asks = role != "tool", role == "user"
	if thinking := o.optional("thinking", "field-type"); thinking != "" {
		o.keep(thinking)
	}
	o.optional("content", "field-type")
	if o.Get("content").IsString() {
		o.say(o.Get("content"))
	}
	c.images(o)
	name := o.optional("tool_name", "field-type")
	id := o.optional("tool_call_id", "field-type")
	if role == "tool" {
		o.returned(o.callOf(id, name))
	}
	calls := o.Get("tool_calls")
	if !calls.IsNull() && !calls.IsArray() {
		o.unreadable("tool_calls", "field-type", "must be an array, got %s", calls.Type())
	}
	for i, part := range calls.Elements() {
		if call, ok := o.object(part.Value, rawjson.Index(o.where("tool_calls"), i), c.ruleOf(part.Value)); ok {
			c.call(call)
		}
	}
	if e := o.current(); !e.tool && !slices.ContainsFunc(e.parts, func(p part) bool { return p.text != "" }) {
		o.fail(o.empty())
	}
}

func (*ollamaCodec) images(o cursor) {
	images := o.Get("images")
	if !images.IsNull() && !images.IsArray() {
		o.wrong("images", "field-type", "must be an array, got %s", images.Type())
	}
	o.each(images, o.where("images"), func(v rawjson.Value, path string) {
		if !o.Get("content").IsString() {
			o.place = place{none, 0} // without words the images stay
		}
		o.medium("image", openAIImageTokens, v)
		if v.IsString() {
			if _, err := base64.StdEncoding.DecodeString(v.String()); err != nil {
				o.refuse(path, "image", "an image must be in base64, without the beginning of a data URL: %v", err)
			}
			return
		}
		// An array of numbers and nulls is accepted as bytes.
		numbers := v.IsArray() && !slices.ContainsFunc(v.Elements(), func(n rawjson.Part) bool { return !n.Value.IsNumber() && !n.Value.IsNull() })
		if !v.IsNull() && !numbers {
			o.refuse(path, "image", "an image must be a string in base64, got %s", v.Type())
		}
	})
}

func (c *ollamaCodec) call(o cursor) {
	id := o.optional("id", "field-type")
	f, ok := o.inner("function", c.ruleOf(o.Get("function")))
	if !ok {
		return
	}
	name := f.member("name", c.ruleOf(f.Get("name")))
	if v := f.Get("index"); !v.IsNull() && !v.IsNumber() {
		f.wrong("index", "field-type", "must be a number, got %s", v.Type())
	}
	if f.Has("arguments") {
		f.wantObject("arguments", "arguments")
	}
	o.use(cmp.Or(id, "function "+name), name, f.Get("arguments"))
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

package cupelchat

import (
	"encoding/base64"
	"slices"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// ollamaCodec is Ollama's chat API: messages as OpenAI's, with the arguments of
// calls as objects, and no ids.
type ollamaCodec struct{ chatCodec }

func (ollamaCodec) name() string { return "Ollama's chat API" }

func (ollamaCodec) signs() signs {
	return signs{
		request: []string{"keep_alive", "think"},
		message: []string{"tool_name"},
		element: func(o *rawjson.Object) string {
			if images := o.Get("images").Elements(); len(images) > 0 && images[0].Value.IsString() {
				return "images"
			}
			if o.Get("thinking").IsString() {
				return "thinking"
			}
			for _, part := range o.Get("tool_calls").Elements() {
				c, err := part.Value.Object("")
				if err != nil {
					return ""
				}
				f, err := c.Get("function").Object("")
				if err == nil && f.Get("arguments").IsObject() {
					return "tool_calls"
				}
			}
			return ""
		},
	}
}

func (ollamaCodec) message(r *reader, o *rawjson.Object, path string) error {
	role, err := r.role(o, path, "system", "user", "assistant", "tool")
	if err != nil {
		return err
	}
	e := r.entry(role)
	e.words, e.asks = role != "tool", role == "user"
	if thinking := o.Get("thinking"); thinking.IsString() && thinking.String() != "" {
		if err := r.keep(thinking.String()); err != nil {
			return err
		}
	}
	if err := r.sayOptional(o, path, "content"); err != nil {
		return err
	}
	for _, image := range o.Get("images").Elements() {
		r.medium("image", openAIImageTokens, image.Value)
	}
	if role == "tool" {
		name, err := optionalStr(o, path, "tool_name")
		if err != nil {
			return err
		}
		id, err := optionalStr(o, path, "tool_call_id")
		if err != nil {
			return err
		}
		r.returned(r.callOf(id, name))
	}
	if err := r.ollamaCalls(o, path); err != nil {
		return err
	}
	if e := r.current(); len(e.parts) == 0 && !e.tool {
		return empty(o, path)
	}
	return nil
}

func (r *reader) ollamaCalls(o *rawjson.Object, path string) error {
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
		f, err := c.Get("function").Object(path + ".function")
		if err != nil {
			return at(err, c.Value)
		}
		id, err := optionalStr(&c, path, "id")
		if err != nil {
			return err
		}
		if id == "" {
			id = "function " + f.Get("name").String()
		}
		if err := r.useMember(id, &f, path+".function", "arguments"); err != nil {
			return err
		}
	}
	return nil
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

// What the API refuses.

// check returns what Ollama's /api/chat refuses: values of another type than
// the server decodes them to. It does not ask for results of calls, and takes
// null for every member.
func (ollamaCodec) check(r *checker) {
	if r.isRequest() {
		v := r.body.Get("messages")
		if !v.IsNull() && !v.IsArray() {
			r.add("messages", "list-type", "must be an array, got %s", v.Type())
			return
		}
		r.messages = values(v)
	}
	for i, v := range r.messages {
		if v.IsNull() {
			continue
		}
		if o, ok := r.message(i); ok {
			r.ollamaMessage(o, r.path(i))
		}
	}
}

func (r *checker) ollamaMessage(o *rawjson.Object, path string) {
	r.strings(o, path, "role", "content", "thinking", "tool_name", "tool_call_id")
	images := o.Get("images")
	if r.array(images, rawjson.Join(path, "images")) {
		for i, v := range values(images) {
			at := rawjson.Index(rawjson.Join(path, "images"), i)
			if !v.IsString() {
				numbers := v.IsArray() && !slices.ContainsFunc(values(v), func(n rawjson.Value) bool { return !n.IsNumber() && !n.IsNull() })
				if !v.IsNull() && !numbers { // an array of numbers, and of nulls, is taken as bytes
					r.add(at, "image", "an image must be a string in base64, got %s", v.Type())
				}
			} else if _, err := base64.StdEncoding.DecodeString(v.String()); err != nil {
				r.add(at, "image", "an image must be in base64, without the beginning of a data URL: %v", err)
			}
		}
	}
	calls := o.Get("tool_calls")
	if r.array(calls, rawjson.Join(path, "tool_calls")) {
		for i, v := range values(calls) {
			r.ollamaCall(v, rawjson.Index(rawjson.Join(path, "tool_calls"), i))
		}
	}
}

func (r *checker) ollamaCall(v rawjson.Value, path string) {
	o, ok := r.object(v, path)
	if !ok {
		if !v.IsNull() {
			r.add(path, "field-type", "a call must be an object, got %s", v.Type())
		}
		return
	}
	r.strings(o, path, "id")
	path = rawjson.Join(path, "function")
	f := o.Get("function")
	function, ok := r.object(f, path)
	if !ok {
		if !f.IsNull() {
			r.add(path, "field-type", "function must be an object, got %s", f.Type())
		}
		return
	}
	r.strings(function, path, "name")
	if v := function.Get("index"); !v.IsNull() && !v.IsNumber() {
		r.add(rawjson.Join(path, "index"), "field-type", "index must be a number, got %s", v.Type())
	}
	if v := function.Get("arguments"); !v.IsNull() && !v.IsObject() {
		r.add(rawjson.Join(path, "arguments"), "arguments", "arguments must be an object, got %s", v.Type())
	}
}

// strings requires that members are strings, if there are any.
func (r *checker) strings(o *rawjson.Object, path string, names ...string) {
	for _, name := range names {
		if v := o.Get(name); !v.IsNull() && !v.IsString() {
			r.add(rawjson.Join(path, name), "field-type", "%s must be a string, got %s", name, v.Type())
		}
	}
}

// array requires an array, and reports whether there is one.
func (r *checker) array(v rawjson.Value, path string) bool {
	if !v.IsNull() && !v.IsArray() {
		r.add(path, "field-type", "must be an array, got %s", v.Type())
	}
	return v.IsArray()
}

package cupelchat

import "github.com/wollax/cupel-go/internal/rawjson"

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

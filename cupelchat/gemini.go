package cupelchat

import (
	"slices"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// geminiCodec is Gemini's generateContent, in the spelling of its documentation
// (functionCall) or that of its protocol (function_call).
type geminiCodec struct{}

func (geminiCodec) name() string { return "Gemini's generateContent API" }
func (geminiCodec) list() string { return "contents" }

func (geminiCodec) rules() rules {
	return rules{userFirst: true, alternate: true, neighbours: true, content: "parts"}
}

func (geminiCodec) signs() signs {
	return signs{
		request: []string{"systemInstruction", "system_instruction", "generationConfig", "generation_config", "safetySettings", "cachedContent"},
		element: func(o *rawjson.Object) string {
			for _, part := range o.Get("parts").Elements() {
				p, err := part.Value.Object("")
				if err != nil || p.Has("type") { // the AI SDK's have a type
					return ""
				}
			}
			if len(o.Get("parts").Elements()) > 0 {
				return "parts"
			}
			return ""
		},
	}
}

func (geminiCodec) note(text string) []byte {
	return slices.Concat([]byte(`{"role": "user", "parts": [`), geminiCodec{}.text(text), []byte("]}"))
}

func (geminiCodec) text(text string) []byte {
	return slices.Concat([]byte(`{"text": `), quoted(text), []byte("}"))
}

func (geminiCodec) request(r *reader, body *rawjson.Object) error {
	if v := either(body, "cachedContent", "cached_content"); !v.IsNull() {
		return v.Errorf("cachedContent", "refers to content that the provider keeps, which cannot be counted; send it with the request")
	}
	if err := r.tools(body, 0, "tools"); err != nil {
		return err
	}
	for _, m := range body.Members {
		if m.Name != "systemInstruction" && m.Name != "system_instruction" || m.Value.IsNull() {
			continue
		}
		r.beginMember(m, "system")
		r.current().words = true
		o, err := m.Value.Object(m.Name)
		if err != nil {
			return err
		}
		if err := r.each(o.Get("parts"), rawjson.Join(m.Name, "parts"), r.geminiPart); err != nil {
			return err
		}
	}
	return nil
}

func (geminiCodec) message(r *reader, o *rawjson.Object, path string) error {
	role, err := optionalStr(o, path, "role")
	switch {
	case err != nil:
		return err
	case role == "":
		role = "user"
	case role != "user" && role != "model" && role != "function":
		return o.Get("role").Errorf(path+".role", "must be one of user, model, got %.40q", role)
	}
	r.message().role = "user"
	if role == "model" {
		r.message().role = "assistant"
	}
	parts := o.Get("parts")
	switch {
	case parts.IsNull() && o.Has("content"):
		return o.Get("content").Errorf(rawjson.Join(path, "content"), "Gemini has \"parts\" here; give the format of the conversation, which is another one")
	case parts.IsNull(), parts.IsArray() && len(parts.Elements()) == 0:
		return o.Value.Errorf(path, "has no parts: it has neither content nor tool calls; remove it")
	case !parts.IsArray():
		return parts.Errorf(path+".parts", "must be an array of parts, got %s", parts.Type())
	}
	path += ".parts"
	if role == "model" {
		r.entry("assistant")
		return r.each(parts, path, r.geminiPart)
	}
	return r.results(parts, path, func(o *rawjson.Object) bool { return !either(o, "functionResponse", "function_response").IsNull() }, r.geminiPart)
}

// results reads a message in which each result of a tool is an entry, and
// everything else together is one of the user's.
func (r *reader) results(list rawjson.Value, path string, isResult func(o *rawjson.Object) bool, read func(v rawjson.Value, path string) error) error {
	own := none // the entry of what is not a result
	var owners []int
	err := r.each(list, path, func(v rawjson.Value, path string) error {
		o, err := v.Object(path)
		if err != nil {
			return err
		}
		if isResult(&o) {
			r.entry("tool")
			owners = append(owners, r.at)
			return read(v, path)
		}
		if own == none {
			r.entry("user").asks = true
			own = r.at
		}
		owners, r.at = append(owners, own), own
		return read(v, path)
	})
	r.message().owners = owners
	return err
}

// either returns a member that has two spellings.
func either(o *rawjson.Object, name, other string) rawjson.Value {
	if o.Has(name) {
		return o.Get(name)
	}
	return o.Get(other)
}

// geminiPart reads one part. What is signed stays as it is.
func (r *reader) geminiPart(v rawjson.Value, path string) error {
	o, err := v.Object(path)
	if err != nil {
		return err
	}
	signed := !either(&o, "thoughtSignature", "thought_signature").IsNull() || string(o.Get("thought").Raw()) == "true"
	switch {
	case o.Has("text") && signed:
		r.current().words = true
		return r.keepMember(&o, path, "text")
	case o.Has("text"):
		r.current().words = true
		return r.sayMember(&o, path, "text")
	case o.Has("functionCall"), o.Has("function_call"):
		return r.geminiCall(&o, path)
	case o.Has("functionResponse"), o.Has("function_response"):
		return r.geminiResult(&o, path)
	}
	r.current().words = true
	for _, name := range []string{"inlineData", "inline_data", "fileData", "file_data"} {
		if !o.Has(name) {
			continue
		}
		data, err := o.Get(name).Object(rawjson.Join(path, name))
		if err != nil {
			return err
		}
		where := either(&data, "fileUri", "file_uri")
		if where.IsNull() {
			where = data.Value
		}
		medium, tokens := geminiMedium(either(&data, "mimeType", "mime_type").String())
		r.medium(medium, tokens, where)
		return nil
	}
	for _, name := range []string{"executableCode", "executable_code", "codeExecutionResult", "code_execution_result"} {
		if o.Has(name) {
			return r.keepJSON(o.Get(name))
		}
	}
	if signed && len(o.Members) == 1 {
		r.hidden("thinking", v)
		return nil
	}
	return r.unknownPart("part without text", v)
}

// geminiMedium returns the name of a kind of media, and the tokens that it is
// estimated at.
func geminiMedium(kind string) (name string, tokens int) {
	switch {
	case len(kind) > 6 && kind[:6] == "image/":
		return "image", geminiImageTokens
	case len(kind) > 6 && kind[:6] == "audio/":
		return "audio", audioTokens
	default:
		return "file", fileTokens
	}
}

func (r *reader) geminiCall(part *rawjson.Object, path string) error {
	f, name, err := r.geminiFunction(part, path, "functionCall", "function_call")
	if err != nil {
		return err
	}
	id, err := optionalStr(&f, path, "id")
	if err != nil {
		return err
	}
	if id == "" {
		id = "function " + name
	}
	return r.use(id, name, f.Get("args"))
}

func (r *reader) geminiResult(part *rawjson.Object, path string) error {
	f, name, err := r.geminiFunction(part, path, "functionResponse", "function_response")
	if err != nil {
		return err
	}
	id, err := optionalStr(&f, path, "id")
	if err != nil {
		return err
	}
	if _, known := r.pending[id]; id == "" || !known {
		id = "function " + name
	}
	r.returned(id)
	response := f.Get("response")
	switch {
	case response.IsNull():
		return nil
	case !response.IsObject():
		return response.Errorf(path+".response", "must be an object, got %s", response.Type())
	}
	only, err := response.Object(path + ".response")
	if err != nil {
		return err
	}
	if len(only.Members) == 1 && only.Members[0].Value.IsString() {
		err = r.say(only.Members[0].Value)
	} else {
		err = r.sayJSON(response, "output")
	}
	r.current().words = false // the text is the tool's
	return err
}

// geminiFunction returns a call or a result, and its name.
func (r *reader) geminiFunction(part *rawjson.Object, path, name, other string) (rawjson.Object, string, error) {
	path = rawjson.Join(path, name)
	f, err := either(part, name, other).Object(path)
	if err != nil {
		return f, "", err
	}
	function, err := str(&f, path, "name")
	return f, function, err
}

// sayJSON adds words that are JSON: a smaller form is a text in an object with one
// member.
func (r *reader) sayJSON(v rawjson.Value, member string) error {
	text := v.Compact()
	n, err := counted(r.counter, text)
	r.spend(n)
	r.put(part{kind: words, text: text, value: v, tokens: n, member: member})
	return err
}

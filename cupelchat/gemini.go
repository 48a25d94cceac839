package cupelchat

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// geminiCodec is Gemini's generateContent, in the spelling of its documentation
// (functionCall) or that of its protocol (function_call).
type geminiCodec struct{ contents []geminiContent }

// geminiContent is what the rules about places need of a message.
type geminiContent struct {
	path    string
	role    string
	calls   []string // paths
	results []string // paths
	signed  bool     // the first call has a thought signature
	broken  bool     // has calls or results that could not be read
}

func (*geminiCodec) name() string { return "Gemini's generateContent API" }
func (*geminiCodec) list() string { return "contents" }

func (*geminiCodec) rules() rules {
	return rules{userFirst: true, alternate: true, neighbours: true, content: "parts"}
}

func (*geminiCodec) signs() signs {
	return signs{
		request: []string{"systemInstruction", "system_instruction", "generationConfig", "generation_config", "safetySettings", "cachedContent"},
		element: func(o *rawjson.Object) string { return untyped(o, "parts") }, // the AI SDK's have a type
	}
}

func (c *geminiCodec) note(text string) []byte {
	return slices.Concat([]byte(`{"role": "user", "parts": [`), c.text(text), []byte("]}"))
}

func (*geminiCodec) text(text string) []byte {
	return slices.Concat([]byte(`{"text": `), quoted(text), []byte("}"))
}

// geminiNames are the members of a part by either spelling, and whether they hold
// its data.
var geminiNames = map[string]bool{
	"text": true, "inlineData": true, "inline_data": true, "fileData": true, "file_data": true,
	"functionCall": true, "function_call": true, "functionResponse": true, "function_response": true,
	"executableCode": true, "executable_code": true, "codeExecutionResult": true, "code_execution_result": true,
	"toolCall": true, "tool_call": true, "toolResponse": true, "tool_response": true,

	"thought": false, "thoughtSignature": false, "thought_signature": false, "partMetadata": false, "part_metadata": false,
	"videoMetadata": false, "video_metadata": false, "mediaResolution": false, "media_resolution": false,
	"mediaProcessing": false, "media_processing": false, "speechMetadata": false, "speech_metadata": false,
	"audioTranscription": false, "audio_transcription": false,
}

func (c *geminiCodec) request(r *reader, body *rawjson.Object) {
	if _, v := firstOf(body, "cachedContent", "cached_content"); !v.IsNull() {
		r.fail(v.Errorf("cachedContent", "refers to content that the provider keeps, which cannot be counted; send it with the request"))
	}
	r.tools(body, 0, "tools")
	r.system(body, func(m rawjson.Part) {
		o, ok := r.object(m.Value, m.Name, "system")
		if !ok {
			return
		}
		path := rawjson.Join(m.Name, "parts")
		if r.each(o.Get("parts"), path, func(v rawjson.Value, path string) { c.read(r, v, path) }) == 0 {
			r.wrong(path, "system", "the system prompt needs parts")
		}
	}, "systemInstruction", "system_instruction")
}

func (c *geminiCodec) message(r *reader, o *rawjson.Object, path string) {
	c.contents = append(c.contents, geminiContent{path: path, role: "user"})
	m := &c.contents[len(c.contents)-1]
	for _, member := range o.Members {
		if member.Name != "role" && member.Name != "parts" {
			r.wrong(rawjson.Join(path, clip(member.Name)), "unknown-field", "a message has a role and parts, and nothing else")
		}
	}
	if o.Has("role") && string(o.Get("role").Raw()) != `""` {
		m.role, _ = r.role(o, path, "user", "model", "function")
	}
	r.message().role = "user"
	if m.role == "model" {
		r.message().role = "assistant"
	}
	parts := o.Get("parts")
	at := rawjson.Join(path, "parts")
	read := func(v rawjson.Value, path string) { c.part(r, v, path, m) }
	switch {
	case parts.IsNull() && o.Has("content"):
		r.fail(o.Get("content").Errorf(rawjson.Join(path, "content"), "Gemini has \"parts\" here; give the format of the conversation, which is another one"))
		r.wrong(at, "parts-empty", "a message needs a part")
	case parts.IsNull(), parts.IsArray() && len(parts.Elements()) == 0:
		r.fail(o.Value.Errorf(path, "has no parts: it has neither content nor tool calls; remove it"))
		r.wrong(at, "parts-empty", "a message needs a part")
	case !parts.IsArray():
		r.broken(parts, at, "content-type", "must be an array of parts, got %s", parts.Type())
	case m.role == "model":
		r.entry("assistant")
		r.each(parts, at, read)
	default:
		r.results(parts, at, func(o *rawjson.Object) bool {
			_, result := firstOf(o, "functionResponse", "function_response")
			return !result.IsNull()
		}, read)
	}
}

// part reads a part of a message.
func (c *geminiCodec) part(r *reader, v rawjson.Value, path string, m *geminiContent) {
	o, ok := r.object(v, path, "part-type")
	if !ok {
		return
	}
	data := 0
	for _, member := range o.Members {
		isData, known := geminiNames[member.Name]
		if !known {
			r.wrong(rawjson.Join(path, clip(member.Name)), "unknown-field", "a part has no member of that name")
		}
		if isData && !member.Value.IsNull() {
			data++
		}
	}
	_, signature := firstOf(o, "thoughtSignature", "thought_signature")
	_, call := firstOf(o, "functionCall", "function_call")
	_, result := firstOf(o, "functionResponse", "function_response")
	text := o.Get("text")
	switch {
	case data > 1:
		r.wrong(path, "part-data", "a part is one thing: text, a call, a result or a file; this one is %d", data)
		m.broken = true
	case data == 0 || text.IsString() && text.String() == "" && signature.IsNull():
		r.wrong(path, "part-data", "the part is empty: leave it out")
	case !call.IsNull():
		if len(m.calls) == 0 {
			m.signed = !signature.IsNull()
		}
		m.calls = append(m.calls, path)
	case !result.IsNull():
		m.results = append(m.results, path)
	}
	c.read(r, v, path)
}

// read reads one part. What is signed stays as it is.
func (c *geminiCodec) read(r *reader, v rawjson.Value, path string) {
	o, _ := v.Fields()
	_, signature := firstOf(&o, "thoughtSignature", "thought_signature")
	signed := !signature.IsNull() || string(o.Get("thought").Raw()) == "true"
	call, arguments := firstOf(&o, "functionCall", "function_call")
	result, response := firstOf(&o, "functionResponse", "function_response")
	name, data := firstOf(&o, "inlineData", "inline_data", "fileData", "file_data")
	_, code := firstOf(&o, "executableCode", "executable_code", "codeExecutionResult", "code_execution_result")
	if !o.Has("text") && !arguments.IsNull() {
		c.call(r, &o, path, call)
		return
	}
	if !o.Has("text") && !response.IsNull() {
		c.result(r, &o, path, result)
		return
	}
	r.current().words = true
	switch {
	case o.Has("text") && signed:
		r.keepMember(&o, path, "text", "part-field")
	case o.Has("text"):
		r.sayMember(&o, path, "text")
	case !data.IsNull():
		c.file(r, &o, path, name)
	case !code.IsNull():
		r.keepJSON(code)
	case signed && len(o.Members) == 1:
		r.hidden("thinking", v)
	default:
		r.unknownPart("part without text", v)
	}
}

// file reads a file, or what stands for one.
func (c *geminiCodec) file(r *reader, o *rawjson.Object, path, name string) {
	data, ok := r.inner(o, path, name, "part-field")
	if !ok {
		return
	}
	member, kind := firstOf(data, "mimeType", "mime_type")
	if strings.HasPrefix(name, "inline") && kind.String() == "" {
		r.wrong(rawjson.Join(rawjson.Join(path, name), member), "part-field", "data needs a mimeType")
	}
	_, where := firstOf(data, "fileUri", "file_uri")
	if where.IsNull() {
		where = data.Value
	}
	medium, tokens := geminiMedium(kind.String())
	r.medium(medium, tokens, where)
}

// geminiMedium returns the name of a kind of media, and the tokens that it is
// estimated at.
func geminiMedium(kind string) (name string, tokens int) {
	switch {
	case strings.HasPrefix(kind, "image/"):
		return "image", geminiImageTokens
	case strings.HasPrefix(kind, "audio/"):
		return "audio", audioTokens
	default:
		return "file", fileTokens
	}
}

func (c *geminiCodec) call(r *reader, part *rawjson.Object, path, member string) {
	f, name, id := c.function(r, part, path, member)
	path = rawjson.Join(path, member)
	if v := f.Get("args"); !v.IsNull() && !v.IsObject() {
		r.wrong(rawjson.Join(path, "args"), "arguments", "must be an object, got %s", v.Type())
	}
	if id == "" {
		id = "function " + name
	}
	r.use(id, name, f.Get("args"))
}

func (c *geminiCodec) result(r *reader, part *rawjson.Object, path, member string) {
	f, name, id := c.function(r, part, path, member)
	if _, known := r.pending[id]; id == "" || !known {
		id = "function " + name
	}
	r.returned(id)
	response := f.Get("response")
	path = rawjson.Join(rawjson.Join(path, member), "response")
	if response.IsNull() {
		r.wrong(path, "result-content", "must be an object, got null")
		return
	}
	only, ok := r.object(response, path, "result-content")
	switch {
	case !ok:
	case len(only.Members) == 1 && only.Members[0].Value.IsString():
		r.say(only.Members[0].Value)
	default:
		r.sayAs(response.Compact(), response, "output")
	}
	r.current().words = false // the text is the tool's
}

// function returns a call or a result with its name and its id.
func (c *geminiCodec) function(r *reader, part *rawjson.Object, path, member string) (f *rawjson.Object, name, id string) {
	f, ok := r.inner(part, path, member, "call-form")
	if ok {
		path = rawjson.Join(path, member)
		name, _ = r.need(f, path, "name", "call-name")
		id = r.optional(f, path, "id", "")
	}
	return f, name, id
}

func (c *geminiCodec) end(r *reader) {
	for i := range c.contents {
		c.place(r, i)
	}
	c.signatures(r)
	if len(c.contents) == 0 {
		return
	}
	if m := c.contents[len(c.contents)-1]; m.role == "model" && len(m.calls) == 0 {
		r.wrong(rawjson.Join(m.path, "role"), "last-role", "the last message must be the user's")
	}
}

// place checks a message against its neighbours.
func (c *geminiCodec) place(r *reader, i int) {
	m := &c.contents[i]
	var before, after geminiContent
	if i > 0 {
		before = c.contents[i-1]
	}
	if i+1 < len(c.contents) {
		after = c.contents[i+1]
	}
	if len(m.calls) > 0 {
		if i == 0 || before.role == "model" {
			r.wrong(m.path, "call-place", "a call must come right after a message of the user or after results")
		}
		switch {
		case m.broken || after.broken:
		case len(after.results) == 0:
			r.wrong(m.calls[0], "call-without-result", "a call needs a functionResponse in the next message")
		case len(after.results) < len(m.calls):
			r.wrong(rawjson.Join(after.path, "parts"), "call-without-result", "the message before has %d calls, and there are %d results", len(m.calls), len(after.results))
		case len(after.results) > len(m.calls):
			r.wrong(after.results[len(m.calls)], "result-without-call", "the message before has %d calls, and there are %d results", len(m.calls), len(after.results))
		}
	}
	if len(m.results) > 0 && len(before.calls) == 0 && !before.broken {
		r.wrong(m.results[0], "result-without-call", "a functionResponse must come right after the message with the call")
	}
}

// signatures checks the calls of the turn that the model goes on with: when one
// of them has a thought signature, the first call of each message has one.
func (c *geminiCodec) signatures(r *reader) {
	if model := r.body.Get("model").String(); strings.Contains(model, "gemini-1") || strings.Contains(model, "gemini-2") {
		return
	}
	start, signed := len(c.contents), false
	for start > 0 && (c.contents[start-1].role == "model" || len(c.contents[start-1].results) > 0) {
		start--
		signed = signed || c.contents[start].signed
	}
	for i := start; signed && i < len(c.contents); i++ {
		if m := c.contents[i]; len(m.calls) > 0 && !m.signed {
			r.wrong(m.calls[0], "signature", "the first call of the message has lost its thoughtSignature, which others of the turn have")
		}
	}
}

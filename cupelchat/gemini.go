package cupelchat

import (
	"cmp"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// geminiCodec is Gemini's generateContent, in the spelling of its documentation
// (functionCall) or that of its protocol (function_call).
type geminiCodec struct{ contents []geminiContent }

// geminiContent is the part of a message that the rules about places need.
type geminiContent struct {
	path    string
	role    string
	calls   []string // paths
	results []string // paths
	signed  bool     // the first call has a thought signature
	broken  bool     // has calls or results that could not be read
	entry   int      // the first one
}

var geminiRules = rules{
	name: "Gemini's generateContent API", list: "contents", content: "parts", model: "model", onlyParts: true,
	userFirst: true, alternate: true, neighbours: true, signed: true,
	signs: signs{
		request: []string{"systemInstruction", "system_instruction", "generationConfig", "generation_config", "safetySettings", "cachedContent"},
		element: func(o *rawjson.Object) string { return untyped(o, "parts") }, // the AI SDK's have a type
	},
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

func (c *geminiCodec) fork() codec { return &geminiCodec{slices.Clip(c.contents)} }

func (c *geminiCodec) request(body cursor) {
	if name, v := body.firstOf("cachedContent", "cached_content"); !v.IsNull() {
		body.fail(elsewhere(v, name))
	}
	body.tools(0, "tools")
	body.system(func(name string) {
		o, ok := body.inner(name, "system")
		if ok && o.parts("parts", "system", c.read) == 0 {
			o.wrong("parts", "system", "the system prompt needs parts")
		}
	}, "systemInstruction", "system_instruction")
}

func (c *geminiCodec) message(o cursor) {
	c.contents = append(c.contents, geminiContent{path: o.path, role: "user"})
	m := &c.contents[len(c.contents)-1]
	o.only("unknown-field", "a message has a role and parts, and nothing else", "role", "parts")
	if o.Has("role") && string(o.Get("role").Raw()) != `""` {
		m.role, _ = o.role("user", "model", "function")
	}
	o.message().role = "user"
	if m.role == "model" {
		o.message().role = "assistant"
	}
	parts := o.Get("parts")
	read := func(part cursor) { c.part(part, m) }
	switch {
	case parts.IsNull() && o.Has("content"):
		o.fail(o.Get("content").Errorf(o.where("content"), "is not a field of Gemini, which has \"parts\": give the conversation's own format"))
		o.wrong("parts", "parts-empty", "a message needs a part")
	case parts.IsNull(), parts.IsArray() && len(parts.Elements()) == 0:
		o.fail(o.Value.Errorf(o.path, "has no parts: it has neither content nor tool calls; remove it"))
		o.wrong("parts", "parts-empty", "a message needs a part")
	case !parts.IsArray():
		o.unreadable("parts", "content-type", "must be an array of parts, got %s", parts.Type())
	case m.role == "model":
		o.entry("assistant")
		o.parts("parts", "part-type", read)
	default:
		o.results("parts", "part-type", func(part *rawjson.Object) bool { return part.Has("functionResponse") || part.Has("function_response") }, read)
		if len(m.calls) > 0 { // the role was forgotten
			o.message().role = "assistant"
		}
	}
	m.entry = o.message().from
	c.follow(o.reader)
}

// follow joins results with the calls of the message before: the API counts them, and
// does not look at their names.
func (c *geminiCodec) follow(r *reader) {
	before := len(c.contents) - 2
	if before < 0 || len(c.contents[before].calls) == 0 {
		return
	}
	for at := r.message().from; at < r.message().to; at++ {
		if r.entries[at].returns() {
			r.links.join(c.contents[before].entry, at)
		}
	}
}

// part reads a part of a message.
func (c *geminiCodec) part(o cursor, m *geminiContent) {
	data := 0
	for _, member := range o.Members {
		isData, known := geminiNames[member.Name]
		if !known {
			o.wrong(clip(member.Name), "unknown-field", "a part has no member of that name")
		}
		if isData && !member.Value.IsNull() {
			data++
		}
	}
	text, signed := o.Get("text"), o.hasAny("thoughtSignature", "thought_signature")
	switch {
	case data > 1:
		o.wrong("", "part-data", "a part must be one of text, a call, a result or a file; this one has %d of them", data)
		m.broken = true
	case data == 0 || text.IsString() && text.String() == "" && !signed:
		o.wrong("", "part-data", "the part is empty: leave it out")
	case o.hasAny("functionCall", "function_call"):
		if len(m.calls) == 0 {
			m.signed, o.current().thinks = signed, signed
		}
		m.calls = append(m.calls, o.path)
	case o.hasAny("functionResponse", "function_response"):
		m.results = append(m.results, o.path)
	}
	c.read(o)
}

// read reads one part. Signed parts stay as they are.
func (c *geminiCodec) read(o cursor) {
	signed := o.hasAny("thoughtSignature", "thought_signature") || string(o.Get("thought").Raw()) == "true"
	call, arguments := o.firstOf("functionCall", "function_call")
	result, response := o.firstOf("functionResponse", "function_response")
	name, data := o.firstOf("inlineData", "inline_data", "fileData", "file_data")
	_, code := o.firstOf("executableCode", "executable_code", "codeExecutionResult", "code_execution_result")
	if !o.Has("text") && !arguments.IsNull() {
		c.call(o, call)
		return
	}
	if !o.Has("text") && !response.IsNull() {
		c.result(o, result)
		return
	}
	o.current().words = true
	switch {
	case o.Has("text") && signed:
		o.keepMember("text", "part-field")
	case o.Has("text"):
		o.sayMember("text")
	case !data.IsNull():
		c.file(o, name)
	case !code.IsNull():
		o.keepJSON(code)
	case signed && len(o.Members) == 1:
		o.hidden("thinking", o.Value)
	default:
		o.unknownPart(o.path, o.Value)
	}
}

// file reads a file, or a reference to one.
func (c *geminiCodec) file(o cursor, name string) {
	data, ok := o.inner(name, "part-field")
	if !ok {
		return
	}
	member, kind := data.firstOf("mimeType", "mime_type")
	if strings.HasPrefix(name, "inline") && kind.String() == "" {
		data.wrong(member, "part-field", "data needs a mimeType")
	}
	_, where := data.firstOf("fileUri", "file_uri")
	if where.IsNull() {
		where = data.Value
	}
	medium, tokens := geminiMedium(kind.String())
	o.medium(medium, tokens, where)
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

func (c *geminiCodec) call(o cursor, member string) {
	f, name, id := c.function(o, member)
	if f.Has("args") {
		f.wantObject("args", "arguments")
	}
	o.use(cmp.Or(id, "function "+name), name, f.Get("args"))
}

func (c *geminiCodec) result(o cursor, member string) {
	f, name, id := c.function(o, member)
	if _, known := o.pending[id]; id == "" || !known {
		id = "function " + name
	}
	o.returned(id)
	response := f.Get("response")
	if response.IsNull() {
		f.wrong("response", "result-content", "must be an object, got null")
		return
	}
	only, ok := f.inner("response", "result-content")
	switch {
	case !ok:
	case len(only.Members) == 1 && only.Members[0].Value.IsString():
		o.say(only.Members[0].Value)
	default:
		o.sayAs(response.Compact(), response, "output")
	}
	f.parts("parts", "part-type", c.read)
}

// function returns a call or a result with its name and its id.
func (c *geminiCodec) function(o cursor, member string) (f cursor, name, id string) {
	f, ok := o.inner(member, "call-form")
	if ok {
		name, _ = f.need("name", "call-name")
		id = f.optional("id", "")
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
		r.refuse(rawjson.Join(m.path, "role"), "last-role", "the last message must be the user's")
	}
}

// place checks a message against its neighbors.
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
			r.refuse(m.path, "call-place", "a call must directly follow a user message or results")
		}
		switch {
		case m.broken || after.broken:
		case len(after.results) == 0:
			r.refuse(m.calls[0], "call-without-result", "a call needs a functionResponse in the next message")
		case len(after.results) < len(m.calls):
			r.refuse(rawjson.Join(after.path, "parts"), "call-without-result", "the message before has %d calls, and there are %d results", len(m.calls), len(after.results))
		case len(after.results) > len(m.calls):
			r.refuse(after.results[len(m.calls)], "result-without-call", "the message before has %d calls, and there are %d results", len(m.calls), len(after.results))
		}
	}
	if len(m.results) > 0 && len(before.calls) == 0 && !before.broken {
		r.refuse(m.results[0], "result-without-call", "a functionResponse must directly follow the message with its call")
	}
}

// wantsSignatures reports whether the model of a request may be one that checks
// signatures: those before Gemini 3 do not.
func wantsSignatures(body rawjson.Object) bool {
	model := body.Get("model").String()
	return !strings.Contains(model, "gemini-1") && !strings.Contains(model, "gemini-2")
}

// signatures checks the calls of the turn that the model goes on with: when one
// of them has a thought signature, the first call of each message has one.
func (c *geminiCodec) signatures(r *reader) {
	if !wantsSignatures(r.body) {
		return
	}
	start, signed := len(c.contents), false
	for start > 0 && (c.contents[start-1].role == "model" || len(c.contents[start-1].results) > 0) {
		start--
		signed = signed || c.contents[start].signed
	}
	for i := start; signed && i < len(c.contents); i++ {
		if m := c.contents[i]; len(m.calls) > 0 && !m.signed {
			r.refuse(m.calls[0], "signature", "the first call of the message has lost its thoughtSignature, which others of the turn have")
		}
	}
}

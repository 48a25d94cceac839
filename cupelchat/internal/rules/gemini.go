package rules

import (
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// Rules of Gemini's generateContent alone.
const (
	rulePartsEmpty = "parts-empty"   // a message has parts
	rulePartData   = "part-data"     // a part is one thing
	ruleField      = "unknown-field" // no other members
	ruleCallPlace  = "call-place"    // what a call follows
	ruleSignature  = "signature"     // calls of the turn keep their thought signatures
)

// geminiData are the members that hold the data of a part, with their names in
// snake case, which the API takes as well.
var geminiData = map[string]string{
	"text": "text", "inlineData": "inline_data", "fileData": "file_data",
	"functionCall": "function_call", "functionResponse": "function_response",
	"executableCode": "executable_code", "codeExecutionResult": "code_execution_result",
	"toolCall": "tool_call", "toolResponse": "tool_response",
}

// geminiMore are the other members of a part.
var geminiMore = map[string]string{
	"thought": "thought", "thoughtSignature": "thought_signature", "partMetadata": "part_metadata",
	"videoMetadata": "video_metadata", "mediaResolution": "media_resolution",
	"mediaProcessing": "media_processing", "speechMetadata": "speech_metadata", "audioTranscription": "audio_transcription",
}

// geminiNames are the names of a part's members, by either spelling.
var geminiNames = func() map[string]string {
	names := map[string]string{}
	for _, list := range []map[string]string{geminiData, geminiMore} {
		for camel, snake := range list {
			names[camel], names[snake] = camel, camel
		}
	}
	return names
}()

// Gemini returns what Gemini's generateContent refuses.
func Gemini(body []byte) []Violation {
	r, ok := parse(body, "contents")
	if !ok {
		return r.found
	}
	c := gemini{request: r}
	c.system()
	if !r.readList() {
		return r.found
	}
	c.contents = make([]geminiContent, len(r.messages))
	for i := range r.messages {
		c.content(i)
	}
	for i := range c.contents {
		c.place(i)
	}
	c.signatures()
	if last := len(c.contents) - 1; c.contents[last].role == "model" && len(c.contents[last].calls) == 0 {
		c.add(rawjson.Join(c.path(last), "role"), ruleLastRole, "the last message must be the user's")
	}
	return r.found
}

type gemini struct {
	*request
	contents []geminiContent
}

// geminiContent is what the rules about places need of a message.
type geminiContent struct {
	role    string
	calls   []string // paths
	results []string // paths
	signed  bool     // the first call has a thought signature
	says    bool     // has a part that is neither
	broken  bool     // has calls or results that could not be read
}

// system checks the system prompt.
func (c *gemini) system() {
	name, v := c.body.first("systemInstruction", "system_instruction")
	if v.IsNull() {
		return
	}
	o, ok := c.object(v, name)
	if !ok {
		c.add(name, ruleSystem, "the system prompt must be an object with parts, got %s", v.Type())
		return
	}
	if len(o.get("parts").Elements()) == 0 {
		c.add(rawjson.Join(name, "parts"), ruleSystem, "the system prompt needs parts")
	}
}

func (c *gemini) content(i int) {
	m := &c.contents[i]
	path := c.path(i)
	o, ok := c.message(i)
	if !ok {
		return
	}
	for _, member := range o.members {
		if member.Name != "role" && member.Name != "parts" {
			c.add(rawjson.Join(path, clip(member.Name)), ruleField, "a message has a role and parts, and nothing else")
		}
	}
	m.role = "user"
	if v := o.get("role"); !v.IsNull() && string(v.Raw()) != `""` {
		m.role, _ = c.role(o, path, "user", "model", "function")
	}
	v := o.get("parts")
	path = rawjson.Join(path, "parts")
	parts := values(v)
	switch {
	case !v.IsNull() && !v.IsArray():
		c.add(path, ruleContentType, "the parts must be an array, got %s", v.Type())
	case len(parts) == 0:
		c.add(path, rulePartsEmpty, "a message needs a part")
	}
	for j, p := range parts {
		c.part(p, rawjson.Index(path, j), m)
	}
}

func (c *gemini) part(v rawjson.Value, path string, m *geminiContent) {
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, rulePartType, "a part must be an object, got %s", v.Type())
		return
	}
	data := 0
	for _, member := range o.members {
		name, known := geminiNames[member.Name]
		if !known {
			c.add(rawjson.Join(path, clip(member.Name)), ruleField, "a part has no member of that name")
		}
		if geminiData[name] != "" && !member.Value.IsNull() {
			data++
		}
	}
	_, signature := o.first("thoughtSignature", "thought_signature")
	if data > 1 {
		c.add(path, rulePartData, "a part is one thing: text, a call, a result or a file; this one is %d", data)
		m.broken = true
		return
	}
	text := o.get("text")
	if data == 0 || text.IsString() && text.String() == "" && signature.IsNull() {
		c.add(path, rulePartData, "the part is empty: leave it out")
		m.says = true
		return
	}
	if !text.IsNull() && !text.IsString() {
		c.add(rawjson.Join(path, "text"), rulePartField, "text must be a string, got %s", text.Type())
	}
	if name, call := o.first("functionCall", "function_call"); !call.IsNull() {
		if len(m.calls) == 0 {
			m.signed = !signature.IsNull()
		}
		m.calls = append(m.calls, path)
		c.function(call, rawjson.Join(path, name), "args", false)
		return
	}
	if name, result := o.first("functionResponse", "function_response"); !result.IsNull() {
		m.results = append(m.results, path)
		c.function(result, rawjson.Join(path, name), "response", true)
		return
	}
	if name, inline := o.first("inlineData", "inline_data"); !inline.IsNull() {
		c.file(inline, rawjson.Join(path, name))
	}
	m.says = true
}

// function checks a call or the result of one. member holds the arguments or
// what the function returned.
func (c *gemini) function(v rawjson.Value, path, member string, needed bool) {
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, ruleCallForm, "must be an object, got %s", v.Type())
		return
	}
	c.str(o, path, "name", ruleCallName)
	if v := o.get(member); needed && v.IsNull() || !v.IsNull() && !v.IsObject() {
		rule := ruleArguments
		if needed {
			rule = ruleResultContent
		}
		c.add(rawjson.Join(path, member), rule, "%s must be an object, got %s", member, v.Type())
	}
}

func (c *gemini) file(v rawjson.Value, path string) {
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, rulePartField, "must be an object, got %s", v.Type())
		return
	}
	if name, kind := o.first("mimeType", "mime_type"); kind.String() == "" {
		c.add(rawjson.Join(path, name), rulePartField, "data needs a mimeType")
	}
}

// place checks a message against its neighbours.
func (c *gemini) place(i int) {
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
			c.add(c.path(i), ruleCallPlace, "a call must come right after a message of the user or after results")
		}
		switch {
		case m.broken || after.broken:
		case len(after.results) == 0:
			c.add(m.calls[0], ruleCallWithoutResult, "a call needs a functionResponse in the next message")
		case len(after.results) < len(m.calls):
			c.add(rawjson.Join(c.path(i+1), "parts"), ruleCallWithoutResult, "the message before has %d calls, and there are %d results", len(m.calls), len(after.results))
		case len(after.results) > len(m.calls):
			c.add(after.results[len(m.calls)], ruleResultWithoutCall, "the message before has %d calls, and there are %d results", len(m.calls), len(after.results))
		}
	}
	if len(m.results) > 0 && len(before.calls) == 0 && !before.broken {
		c.add(m.results[0], ruleResultWithoutCall, "a functionResponse must come right after the message with the call")
	}
}

// signatures checks the calls of the turn that the model goes on with: when one
// of them has a thought signature, the first call of each message has one.
func (c *gemini) signatures() {
	if model := c.body.get("model").String(); strings.Contains(model, "gemini-1") || strings.Contains(model, "gemini-2") {
		return
	}
	start, signed := len(c.contents), false
	for start > 0 && (c.contents[start-1].role == "model" || len(c.contents[start-1].results) > 0) {
		start--
		signed = signed || c.contents[start].signed
	}
	for i := start; signed && i < len(c.contents); i++ {
		if m := c.contents[i]; len(m.calls) > 0 && !m.signed {
			c.add(m.calls[0], ruleSignature, "the first call of the message has lost its thoughtSignature, which others of the turn have")
		}
	}
}

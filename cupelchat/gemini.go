package cupelchat

import (
	"slices"
	"strings"

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

// What the API refuses.

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

// check returns what Gemini's generateContent refuses.
func (geminiCodec) check(r *checker) {
	c := geminiChecker{checker: r}
	c.system()
	if !r.readList() {
		return
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
		c.add(rawjson.Join(c.path(last), "role"), "last-role", "the last message must be the user's")
	}
}

type geminiChecker struct {
	*checker
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
func (c *geminiChecker) system() {
	name, v := firstOf(&c.body, "systemInstruction", "system_instruction")
	if v.IsNull() {
		return
	}
	o, ok := c.object(v, name)
	if !ok {
		c.add(name, "system", "the system prompt must be an object with parts, got %s", v.Type())
		return
	}
	if len(o.Get("parts").Elements()) == 0 {
		c.add(rawjson.Join(name, "parts"), "system", "the system prompt needs parts")
	}
}

func (c *geminiChecker) content(i int) {
	m := &c.contents[i]
	path := c.path(i)
	o, ok := c.message(i)
	if !ok {
		return
	}
	for _, member := range o.Members {
		if member.Name != "role" && member.Name != "parts" {
			c.add(rawjson.Join(path, clip(member.Name)), "unknown-field", "a message has a role and parts, and nothing else")
		}
	}
	m.role = "user"
	if v := o.Get("role"); !v.IsNull() && string(v.Raw()) != `""` {
		m.role, _ = c.role(o, path, "user", "model", "function")
	}
	v := o.Get("parts")
	path = rawjson.Join(path, "parts")
	parts := values(v)
	switch {
	case !v.IsNull() && !v.IsArray():
		c.add(path, "content-type", "the parts must be an array, got %s", v.Type())
	case len(parts) == 0:
		c.add(path, "parts-empty", "a message needs a part")
	}
	for j, p := range parts {
		c.part(p, rawjson.Index(path, j), m)
	}
}

func (c *geminiChecker) part(v rawjson.Value, path string, m *geminiContent) {
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, "part-type", "a part must be an object, got %s", v.Type())
		return
	}
	data := 0
	for _, member := range o.Members {
		name, known := geminiNames[member.Name]
		if !known {
			c.add(rawjson.Join(path, clip(member.Name)), "unknown-field", "a part has no member of that name")
		}
		if geminiData[name] != "" && !member.Value.IsNull() {
			data++
		}
	}
	_, signature := firstOf(o, "thoughtSignature", "thought_signature")
	if data > 1 {
		c.add(path, "part-data", "a part is one thing: text, a call, a result or a file; this one is %d", data)
		m.broken = true
		return
	}
	text := o.Get("text")
	if data == 0 || text.IsString() && text.String() == "" && signature.IsNull() {
		c.add(path, "part-data", "the part is empty: leave it out")
		m.says = true
		return
	}
	if !text.IsNull() && !text.IsString() {
		c.add(rawjson.Join(path, "text"), "part-field", "text must be a string, got %s", text.Type())
	}
	if name, call := firstOf(o, "functionCall", "function_call"); !call.IsNull() {
		if len(m.calls) == 0 {
			m.signed = !signature.IsNull()
		}
		m.calls = append(m.calls, path)
		c.function(call, rawjson.Join(path, name), "args", false)
		return
	}
	if name, result := firstOf(o, "functionResponse", "function_response"); !result.IsNull() {
		m.results = append(m.results, path)
		c.function(result, rawjson.Join(path, name), "response", true)
		return
	}
	if name, inline := firstOf(o, "inlineData", "inline_data"); !inline.IsNull() {
		c.file(inline, rawjson.Join(path, name))
	}
	m.says = true
}

// function checks a call or the result of one. member holds the arguments or
// what the function returned.
func (c *geminiChecker) function(v rawjson.Value, path, member string, needed bool) {
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, "call-form", "must be an object, got %s", v.Type())
		return
	}
	c.str(o, path, "name", "call-name")
	if v := o.Get(member); needed && v.IsNull() || !v.IsNull() && !v.IsObject() {
		rule := "arguments"
		if needed {
			rule = "result-content"
		}
		c.add(rawjson.Join(path, member), rule, "%s must be an object, got %s", member, v.Type())
	}
}

func (c *geminiChecker) file(v rawjson.Value, path string) {
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, "part-field", "must be an object, got %s", v.Type())
		return
	}
	if name, kind := firstOf(o, "mimeType", "mime_type"); kind.String() == "" {
		c.add(rawjson.Join(path, name), "part-field", "data needs a mimeType")
	}
}

// place checks a message against its neighbours.
func (c *geminiChecker) place(i int) {
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
			c.add(c.path(i), "call-place", "a call must come right after a message of the user or after results")
		}
		switch {
		case m.broken || after.broken:
		case len(after.results) == 0:
			c.add(m.calls[0], "call-without-result", "a call needs a functionResponse in the next message")
		case len(after.results) < len(m.calls):
			c.add(rawjson.Join(c.path(i+1), "parts"), "call-without-result", "the message before has %d calls, and there are %d results", len(m.calls), len(after.results))
		case len(after.results) > len(m.calls):
			c.add(after.results[len(m.calls)], "result-without-call", "the message before has %d calls, and there are %d results", len(m.calls), len(after.results))
		}
	}
	if len(m.results) > 0 && len(before.calls) == 0 && !before.broken {
		c.add(m.results[0], "result-without-call", "a functionResponse must come right after the message with the call")
	}
}

// signatures checks the calls of the turn that the model goes on with: when one
// of them has a thought signature, the first call of each message has one.
func (c *geminiChecker) signatures() {
	if model := c.body.Get("model").String(); strings.Contains(model, "gemini-1") || strings.Contains(model, "gemini-2") {
		return
	}
	start, signed := len(c.contents), false
	for start > 0 && (c.contents[start-1].role == "model" || len(c.contents[start-1].results) > 0) {
		start--
		signed = signed || c.contents[start].signed
	}
	for i := start; signed && i < len(c.contents); i++ {
		if m := c.contents[i]; len(m.calls) > 0 && !m.signed {
			c.add(m.calls[0], "signature", "the first call of the message has lost its thoughtSignature, which others of the turn have")
		}
	}
}

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

// What the API refuses.

// openAIName is the form of a function's name.
var openAIName = spelling{most: 64}

// check returns what OpenAI's Chat Completions API refuses.
func (chatCodec) check(r *checker) {
	if !r.readList() {
		return
	}
	c := openAIChecker{checker: r}
	for i := range r.messages {
		if o, ok := r.message(i); ok {
			c.message(o, r.path(i))
		} else {
			c.close()
		}
	}
	c.close()
}

// openAIChecker checks one message after another. Between a message with calls and the
// next message that is not a result, calls are open.
type openAIChecker struct {
	*checker
	within bool              // behind a message with calls
	open   []openCall        // in the order of the calls
	byID   map[string]int    // of the calls of that message, in open
	asked  map[string]string // paths of the results by call
}

type openCall struct {
	id, path string
	answered bool
}

// close ends the results of a message with calls.
func (c *openAIChecker) close() {
	for _, call := range c.open {
		if !call.answered {
			c.add(call.path, "call-without-result", "the call %s has no result: a message of the role tool must follow for each call, before any other message", quote(call.id))
		}
	}
	c.within, c.open, c.byID, c.asked = false, nil, nil, nil
}

func (c *openAIChecker) message(o *rawjson.Object, path string) {
	role, ok := c.role(o, path, "system", "developer", "user", "assistant", "tool", "function")
	if !ok {
		c.close()
		return
	}
	if role != "tool" {
		c.close()
	}
	c.author(o, path, role)
	c.content(o, path, role)
	switch role {
	case "assistant":
		c.calls(o, path)
	case "tool":
		c.result(o, path)
	}
}

// author checks the name of who speaks.
func (c *openAIChecker) author(o *rawjson.Object, path, role string) {
	v := o.Get("name")
	if role == "function" {
		c.id(o, path, "name", "author", openAIName)
		return
	}
	if v.IsNull() {
		return
	}
	name, ok := c.str(o, path, "name", "author")
	if ok && strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`<|\/>`, r) }) {
		c.add(rawjson.Join(path, "name"), "author", `the name %s must not have white space, <, |, \, / or >`, quote(name))
	}
}

// content checks what a message says.
func (c *openAIChecker) content(o *rawjson.Object, path, role string) {
	v := o.Get("content")
	at := rawjson.Join(path, "content")
	switch {
	case v.IsString():
	case v.IsArray():
		parts := values(v)
		if len(parts) == 0 {
			c.add(at, "content-empty", "the content is an empty array; it needs a part")
		}
		for i, p := range parts {
			c.part(p, rawjson.Index(at, i), role)
		}
	case !v.IsNull():
		c.add(at, "content-type", "the content must be a string or an array of parts, got %s", v.Type())
	case role == "assistant":
		if !o.Has("tool_calls") && !o.Has("function_call") && !o.Has("refusal") && !o.Has("audio") {
			c.add(at, "content-required", "a message of the assistant needs content, unless it has calls")
		}
	case role == "function" && !v.IsZero():
		// Null is what a function returns that returns nothing.
	default:
		c.add(at, "content-required", "a message of the role %s needs content", role)
	}
}

// openAIParts are the types of parts that a role may have.
var openAIParts = map[string][]string{
	"system":    {"text"},
	"developer": {"text"},
	"user":      {"text", "image_url", "input_audio", "file"},
	"assistant": {"text", "refusal"},
	"tool":      {"text"},
	"function":  {"text"},
}

func (c *openAIChecker) part(v rawjson.Value, path, role string) {
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, "part-type", "a part must be an object, got %s", v.Type())
		return
	}
	kind, ok := c.str(o, path, "type", "part-type")
	if !ok {
		return
	}
	if !slices.Contains(openAIParts[role], kind) {
		if slices.Contains(openAIParts["user"], kind) || slices.Contains(openAIParts["assistant"], kind) {
			c.add(path, "part-role", "a message of the role %s cannot have a part of the type %s", role, kind)
		} else {
			c.add(rawjson.Join(path, "type"), "part-type", "the type must be one of %s, got %s", strings.Join(openAIParts[role], ", "), quote(kind))
		}
		return
	}
	at := rawjson.Join(path, kind)
	switch kind {
	case "text", "refusal":
		if member := o.Get(kind); !member.IsString() {
			c.add(at, "part-field", "%s must be a string, got %s", kind, member.Type())
		}
	case "image_url":
		c.fields(o, path, kind, "url")
	case "input_audio":
		c.fields(o, path, kind, "data", "format")
	case "file":
		c.fields(o, path, kind)
	}
}

// fields requires a member that is an object with strings.
func (r *checker) fields(o *rawjson.Object, path, name string, members ...string) {
	v := o.Get(name)
	path = rawjson.Join(path, name)
	inner, ok := r.object(v, path)
	if !ok {
		r.add(path, "part-field", "%s must be an object, got %s", name, v.Type())
		return
	}
	for _, m := range members {
		r.str(inner, path, m, "part-field")
	}
}

// calls checks the calls of a message, which are open from here on.
func (c *openAIChecker) calls(o *rawjson.Object, path string) {
	if v := o.Get("function_call"); !v.IsNull() {
		c.function(v, rawjson.Join(path, "function_call"))
	}
	v := o.Get("tool_calls")
	path = rawjson.Join(path, "tool_calls")
	if v.IsNull() {
		return
	}
	if !v.IsArray() {
		c.add(path, "call-form", "tool_calls must be an array, got %s", v.Type())
		return
	}
	list := values(v)
	if len(list) == 0 {
		c.add(path, "calls-empty", "tool_calls is an empty array: leave it out if there are no calls")
		return
	}
	c.within, c.byID, c.asked = true, map[string]int{}, map[string]string{}
	for i, call := range list {
		c.call(call, rawjson.Index(path, i))
	}
}

func (c *openAIChecker) call(v rawjson.Value, path string) {
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, "call-form", "a call must be an object, got %s", v.Type())
		return
	}
	if id, ok := c.str(o, path, "id", "call-id"); ok {
		c.idLength(id, rawjson.Join(path, "id"), 40)
		if _, twice := c.byID[id]; twice {
			c.add(rawjson.Join(path, "id"), "call-id-twice", "another call of the message has the id %s", quote(id))
		} else {
			c.byID[id] = len(c.open)
			c.open = append(c.open, openCall{id: id, path: path})
		}
	}
	switch kind := o.Get("type"); kind.String() {
	case "function":
		c.function(o.Get("function"), rawjson.Join(path, "function"))
	case "custom":
		c.custom(o.Get("custom"), rawjson.Join(path, "custom"))
	default:
		c.add(rawjson.Join(path, "type"), "call-form", "the type of a call must be function or custom")
	}
}

func (r *checker) idLength(id, path string, most int) {
	if n := len([]rune(id)); n > most {
		r.add(path, "call-id", "the id has %d characters, at most %d are allowed", n, most)
	}
}

// function checks the function of a call.
func (c *openAIChecker) function(v rawjson.Value, path string) {
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, "call-form", "function must be an object, got %s", v.Type())
		return
	}
	c.id(o, path, "name", "call-name", openAIName)
	c.argumentText(o, path, "arguments")
}

func (c *openAIChecker) custom(v rawjson.Value, path string) {
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, "call-form", "custom must be an object, got %s", v.Type())
		return
	}
	c.str(o, path, "name", "call-name")
	c.argumentText(o, path, "input")
}

// argumentText requires the arguments of a call as a string, which may be empty.
func (r *checker) argumentText(o *rawjson.Object, path, name string) {
	if v := o.Get(name); !v.IsString() {
		r.add(rawjson.Join(path, name), "arguments", "%s must be a string with JSON in it, got %s", name, v.Type())
	}
}

// result checks a message of the role tool.
func (c *openAIChecker) result(o *rawjson.Object, path string) {
	if !c.within {
		c.add(rawjson.Join(path, "role"), "result-without-call", "a message of the role tool must follow the message with the call, with nothing but other results between")
		return
	}
	at := rawjson.Join(path, "tool_call_id")
	id, ok := c.str(o, path, "tool_call_id", "result-id")
	if !ok {
		return
	}
	i, known := c.byID[id]
	switch {
	case !known:
		c.add(at, "result-without-call", "the message with calls before it has no call %s", quote(id))
	case c.open[i].answered:
		c.add(at, "result-twice", "the call %s has a result already, %s", quote(id), c.asked[id])
	default:
		c.open[i].answered = true
		c.asked[id] = path
	}
}

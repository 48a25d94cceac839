package cupelchat

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// chatCodec is OpenAI's Chat Completions. Between a message with calls and the next
// message that is not a result, calls are open.
type chatCodec struct {
	within bool // after a message with calls
	calls  openCalls
}

func (*chatCodec) name() string { return "OpenAI's Chat Completions API" }
func (*chatCodec) list() string { return "messages" }
func (*chatCodec) rules() rules { return rules{} }

func (*chatCodec) signs() signs {
	return signs{
		request: []string{"functions", "response_format", "max_completion_tokens", "logit_bias", "stop"},
		message: []string{"tool_calls", "function_call", "tool_call_id", "refusal"},
		roles:   []string{"tool", "function"},
		parts:   []string{"image_url", "input_audio", "file"},
	}
}

func (*chatCodec) note(text string) []byte {
	return slices.Concat([]byte(`{"role": "user", "content": `), quoted(text), []byte("}"))
}

func (*chatCodec) text(text string) []byte { return textBlock("text", text) }

func (*chatCodec) request(r *reader, body *rawjson.Object) { r.tools(body, 0, "tools", "functions") }

func (c *chatCodec) end(r *reader) {
	c.calls.close(r, "a message of the role tool must follow for each call, before any other message")
	c.within = false
}

func (c *chatCodec) message(r *reader, o *rawjson.Object, path string) {
	role, known := r.role(o, path, "system", "developer", "user", "assistant", "tool", "function")
	if role != "tool" {
		c.end(r)
	}
	if !known {
		return
	}
	returns := role == "tool" || role == "function"
	if returns {
		r.entry("tool")
	} else {
		r.entry(role)
	}
	name := c.author(r, o, path, role)
	if name != "" && !returns {
		r.spend(nameTokens)
		r.count(name)
	}
	c.content(r, o, path, role)
	r.sayOptional(o, path, "refusal", "")
	if audio := o.Get("audio"); !audio.IsNull() {
		r.medium("audio", audioTokens, audio)
	}
	e := r.current()
	e.words, e.asks = !returns, role == "user"
	switch role {
	case "tool":
		r.returned(c.result(r, o, path))
	case "function":
		r.returned("function " + name)
	}
	c.toolCalls(r, o, path)
	if e := r.current(); len(e.parts) == 0 && !e.tool && o.Get("content").IsNull() {
		r.fail(empty(o, path))
	}
}

// openAIName is the spelling of a function's name.
var openAIName = spelling{most: 64}

// author reads the name of who speaks.
func (c *chatCodec) author(r *reader, o *rawjson.Object, path, role string) string {
	name := r.optional(o, path, "name", "")
	path = rawjson.Join(path, "name")
	switch {
	case role == "function":
		if _, ok := r.want(o, strings.TrimSuffix(path, ".name"), "name", "author"); ok {
			r.spelled(name, path, "author", openAIName)
		}
	case o.Has("name") && (name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`<|\/>`, r) })):
		r.wrong(path, "author", `must be a string without white space, <, |, \, / and >, got %s`, quote(name))
	}
	return name
}

// content reads what a message says.
func (c *chatCodec) content(r *reader, o *rawjson.Object, path, role string) {
	v := o.Get("content")
	path = rawjson.Join(path, "content")
	r.content(v, path, "content-type", func(v rawjson.Value, path string) { c.part(r, v, path, role) })
	switch {
	case v.IsArray() && len(r.message().lists[0]) == 0:
		r.wrong(path, "content-empty", "the content is an empty array; it needs a part")
	case !v.IsNull():
	case role == "assistant":
		if !o.Has("tool_calls") && !o.Has("function_call") && !o.Has("refusal") && !o.Has("audio") {
			r.wrong(path, "content-required", "a message of the assistant needs content, unless it has calls")
		}
	case role == "function" && !v.IsZero():
		// Null is what a function returns that returns nothing.
	default:
		r.wrong(path, "content-required", "a message of the role %s needs content", role)
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

func (c *chatCodec) part(r *reader, v rawjson.Value, path, role string) {
	o, ok := r.object(v, path, "part-type")
	if !ok {
		return
	}
	kind, ok := r.need(o, path, "type", "part-type")
	switch {
	case !ok, slices.Contains(openAIParts[role], kind):
	case slices.Contains(openAIParts["user"], kind) || slices.Contains(openAIParts["assistant"], kind):
		r.wrong(path, "part-role", "a message of the role %s cannot have a part of the type %s", role, kind)
	default:
		r.wrong(rawjson.Join(path, "type"), "part-type", "must be one of %s, got %s", strings.Join(openAIParts[role], ", "), quote(kind))
	}
	switch kind {
	case "image_url":
		c.fields(r, o, path, kind, "url")
	case "input_audio":
		c.fields(r, o, path, kind, "data", "format")
	case "file":
		c.fields(r, o, path, kind)
	}
	r.openAIPart(o, path, kind)
}

// fields wants a member that is an object with strings.
func (c *chatCodec) fields(r *reader, o *rawjson.Object, path, name string, members ...string) {
	v := o.Get(name)
	path = rawjson.Join(path, name)
	if !v.IsObject() {
		r.wrong(path, "part-field", "must be an object, got %s", v.Type())
		return
	}
	inner, _ := v.Fields()
	for _, m := range members {
		r.want(&inner, path, m, "part-field")
	}
}

// openAIPart reads one part of a content of either of OpenAI's APIs.
func (r *reader) openAIPart(o *rawjson.Object, path, kind string) {
	r.current().words = true
	switch kind {
	case "text", "input_text", "output_text":
		r.sayMember(o, path, "text")
	case "refusal":
		r.sayMember(o, path, "refusal")
	case "summary_text", "reasoning_text":
		r.keepMember(o, path, "text", "")
	case "image_url", "input_image": // {"image_url": {"url", "detail"}} and {"image_url", "detail"}
		tokens, where, detail := openAIImageTokens, o.Get("image_url"), o.Get("detail").String()
		if where.IsObject() {
			image, _ := r.inner(o, path, "image_url", "part-field")
			where, detail = image.Get("url"), image.Get("detail").String()
		}
		if where.IsNull() {
			where = o.Value
		}
		if detail == "low" {
			tokens = openAILowImageTokens
		}
		r.medium("image", tokens, where)
	case "input_audio":
		r.medium("audio", audioTokens, o.Value)
	case "file", "input_file":
		r.medium("file", fileTokens, o.Value)
	case "image", "document", "container_upload", "thinking", "redacted_thinking", "tool_use", "search_result", "compaction", "server_tool_use", "mcp_tool_use":
		r.foreign.read(r, o, path, kind) // as some servers take them
	default:
		if strings.HasSuffix(kind, "_tool_result") {
			r.foreign.read(r, o, path, kind)
		} else {
			r.unknownPart(kind, o.Value)
		}
	}
}

// toolCalls reads the calls of a message, which are open from here on.
func (c *chatCodec) toolCalls(r *reader, o *rawjson.Object, path string) {
	if o.Has("function_call") {
		f, _ := r.inner(o, path, "function_call", "call-form")
		c.use(r, "function "+f.Get("name").String(), f, rawjson.Join(path, "function_call"), "arguments")
	}
	calls := o.Get("tool_calls")
	path = rawjson.Join(path, "tool_calls")
	switch list := calls.Elements(); {
	case calls.IsNull():
	case !calls.IsArray():
		r.broken(calls, path, "call-form", "must be an array, got %s", calls.Type())
	case len(list) == 0:
		r.wrong(path, "calls-empty", "is an empty array: leave it out if there are no calls")
	default:
		c.within = true
		for i, p := range list {
			c.call(r, p.Value, rawjson.Index(path, i))
		}
	}
}

func (c *chatCodec) call(r *reader, v rawjson.Value, path string) {
	o, ok := r.object(v, path, "call-form")
	if !ok {
		return
	}
	id := r.optional(o, path, "id", "")
	if _, ok := r.want(o, path, "id", "call-id"); ok {
		at := rawjson.Join(path, "id")
		r.limit(id, at, 40)
		if c.calls.has(id) {
			r.wrong(at, "call-id-twice", "another call of the message has the id %s", quote(id))
		} else {
			c.calls.open(id, path)
		}
	}
	kind, arguments := "function", "arguments"
	if o.Has("custom") {
		kind, arguments = "custom", "input"
	}
	if o.Get("type").String() != kind {
		r.wrong(rawjson.Join(path, "type"), "call-form", "must be function or custom")
	}
	if f, ok := r.inner(o, path, kind, "call-form"); ok {
		c.use(r, id, f, rawjson.Join(path, kind), arguments)
	}
}

// limit checks the length of an id.
func (r *reader) limit(id, path string, most int) {
	if n := len([]rune(id)); n > most {
		r.wrong(path, "call-id", "has %d characters, at most %d are allowed", n, most)
	}
}

// use reads the function of a call.
func (c *chatCodec) use(r *reader, id string, f *rawjson.Object, path, arguments string) {
	name, ok := r.need(f, path, "name", "call-name")
	if ok && arguments == "arguments" {
		r.spelled(name, rawjson.Join(path, "name"), "call-name", openAIName)
	}
	r.argumentText(f, path, arguments)
	r.use(id, name, f.Get(arguments))
}

// argumentText wants the arguments of a call as a string, which may be empty.
func (r *reader) argumentText(o *rawjson.Object, path, name string) {
	if v := o.Get(name); !v.IsString() {
		r.wrong(rawjson.Join(path, name), "arguments", "must be a string with JSON in it, got %s", v.Type())
	}
}

// result reads the id of the call that a message of the role tool answers.
func (c *chatCodec) result(r *reader, o *rawjson.Object, path string) string {
	id := r.optional(o, path, "tool_call_id", "")
	if !c.within {
		r.wrong(rawjson.Join(path, "role"), "result-without-call", "a message of the role tool must follow the message with the call, with nothing but other results between")
	} else if _, ok := r.want(o, path, "tool_call_id", "result-id"); ok {
		c.calls.answer(r, id, rawjson.Join(path, "tool_call_id"))
	}
	return id
}

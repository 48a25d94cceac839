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

var openAIRules = rules{
	name: "OpenAI's Chat Completions API", list: "messages", content: "content", text: "text",
	signs: signs{
		request: []string{"functions", "response_format", "max_completion_tokens", "logit_bias", "stop"},
		message: []string{"tool_calls", "function_call", "tool_call_id", "refusal"},
		roles:   []string{"tool", "function"},
		parts:   []string{"image_url", "input_audio", "file"},
	},
}

func (*chatCodec) request(body cursor) { body.tools(0, "tools", "functions") }

func (c *chatCodec) fork() codec { return &chatCodec{c.within, c.calls.fork()} }

func (c *chatCodec) end(r *reader) {
	c.calls.close(r, "a tool message must follow for each call, before any other message")
	c.within = false
}

func (c *chatCodec) message(o cursor) {
	role, known := o.role("system", "developer", "user", "assistant", "tool", "function")
	if role != "tool" {
		c.end(o.reader)
	}
	if !known {
		return
	}
	returns := role == "tool" || role == "function"
	if returns {
		o.entry("tool")
	} else {
		o.entry(role)
	}
	name := c.author(o, role)
	if name != "" && !returns {
		o.spend(nameTokens)
		o.count(name)
	}
	c.content(o, role)
	o.sayOptional("refusal", "")
	if audio := o.Get("audio"); !audio.IsNull() {
		o.medium("audio", audioTokens, audio)
	}
	e := o.current()
	e.words, e.asks = !returns, role == "user"
	switch role {
	case "tool":
		o.returned(c.result(o))
	case "function":
		o.returned("function " + name)
	}
	c.toolCalls(o)
	if e := o.current(); len(e.parts) == 0 && !e.tool && !o.Has("content") {
		o.fail(o.empty())
	}
}

// openAIName is the spelling of a function's name.
var openAIName = spelling{most: 64}

// author reads the name of the speaker.
func (c *chatCodec) author(o cursor, role string) string {
	name := o.optional("name", "")
	switch {
	case role == "function":
		if _, ok := o.want("name", "author"); ok {
			o.spelled("name", "author", openAIName)
		}
	case o.Has("name") && (name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`<|\/>`, r) })):
		o.wrong("name", "author", `must be a string without white space, <, |, \, / and >, got %s`, quote(name))
	}
	return name
}

// content reads the content of a message.
func (c *chatCodec) content(o cursor, role string) {
	v := o.Get("content")
	o.content("content", "content-type", "part-type", func(part cursor) { c.part(part, role) })
	switch {
	case v.IsArray() && len(v.Elements()) == 0:
		o.wrong("content", "content-empty", "the content is an empty array; it needs a part")
	case !v.IsNull():
	case role == "assistant":
		if !o.hasAny("tool_calls", "function_call", "refusal", "audio") {
			o.wrong("content", "content-required", "an assistant message needs content, unless it has calls")
		}
	case role == "function" && !v.IsZero():
		// Null is the result of a function without a result.
	default:
		o.wrong("content", "content-required", "a message with the role %s needs content", role)
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

func (c *chatCodec) part(o cursor, role string) {
	kind, ok := o.need("type", "part-type")
	switch {
	case !ok, slices.Contains(openAIParts[role], kind):
	case slices.Contains(openAIParts["user"], kind) || slices.Contains(openAIParts["assistant"], kind):
		o.wrong("", "part-role", "a message with the role %s cannot have a part of type %s", role, kind)
	default:
		o.wrong("type", "part-type", "must be one of %s, got %s", strings.Join(openAIParts[role], ", "), quote(kind))
	}
	switch kind {
	case "image_url":
		c.fields(o, kind, "url")
	case "input_audio":
		c.fields(o, kind, "data", "format")
	case "file":
		c.fields(o, kind)
	}
	o.openAIPart(kind)
}

// fields wants a member that is an object with strings.
func (c *chatCodec) fields(o cursor, name string, members ...string) {
	if !o.wantObject(name, "part-field") {
		return
	}
	inner := o.peek(name)
	for _, m := range members {
		inner.want(m, "part-field")
	}
}

// openAIPart reads one part of a content in either of OpenAI's APIs.
func (o cursor) openAIPart(kind string) {
	switch kind {
	case "text", "input_text", "output_text":
		o.sayMember("text")
	case "refusal":
		o.sayMember("refusal")
	case "summary_text", "reasoning_text":
		o.keepMember("text", "")
	case "image_url", "input_image": // {"image_url": {"url", "detail"}} and {"image_url", "detail"}
		tokens, where, detail := openAIImageTokens, o.Get("image_url"), o.Get("detail").String()
		if where.IsObject() {
			image, _ := o.inner("image_url", "part-field")
			where, detail = image.Get("url"), image.Get("detail").String()
		}
		if where.IsNull() {
			where = o.Value
		}
		if detail == "low" {
			tokens = openAILowImageTokens
		}
		o.medium("image", tokens, where)
	case "input_audio":
		o.medium("audio", audioTokens, o.Value)
	case "file", "input_file":
		o.medium("file", fileTokens, o.Value)
	default:
		o.unknownPart(o.path, o.Value)
	}
}

// toolCalls reads the calls of a message, which are open from here on.
func (c *chatCodec) toolCalls(o cursor) {
	if o.Has("function_call") {
		f, _ := o.inner("function_call", "call-form")
		c.use(f, "function "+f.Get("name").String(), "arguments")
	}
	calls := o.Get("tool_calls")
	switch list := calls.Elements(); {
	case calls.IsNull():
	case !calls.IsArray():
		o.unreadable("tool_calls", "call-form", "must be an array, got %s", calls.Type())
	case len(list) == 0:
		o.wrong("tool_calls", "calls-empty", "is an empty array: leave it out if there are no calls")
	default:
		c.within = true
		for i, p := range list {
			if call, ok := o.object(p.Value, rawjson.Index(o.where("tool_calls"), i), "call-form"); ok {
				c.call(call)
			}
		}
	}
}

func (c *chatCodec) call(o cursor) {
	id := o.optional("id", "")
	if _, ok := o.want("id", "call-id"); ok {
		o.limit("id", "call-id", 40)
		if c.calls.has(id) {
			o.wrong("id", "call-id-twice", "another call of the message has the id %s", quote(id))
		} else {
			c.calls.open(id, o.path)
		}
	}
	kind, arguments := "function", "arguments"
	if o.Has("custom") {
		kind, arguments = "custom", "input"
	}
	if o.Get("type").String() != kind {
		o.wrong("type", "call-form", "must be function or custom")
	}
	if f, ok := o.inner(kind, "call-form"); ok {
		c.use(f, id, arguments)
	}
}

// use reads the function of a call.
func (c *chatCodec) use(f cursor, id, arguments string) {
	name, ok := f.need("name", "call-name")
	if ok && arguments == "arguments" {
		f.spelled("name", "call-name", openAIName)
	}
	f.wantText(arguments)
	f.use(id, name, f.Get(arguments))
}

// result reads the id of the call that a message with the role tool answers.
func (c *chatCodec) result(o cursor) string {
	id := o.optional("tool_call_id", "")
	if !c.within {
		o.wrong("role", "result-without-call", "a tool message must follow the message with its call, with only other results between")
	} else if _, ok := o.want("tool_call_id", "result-id"); ok {
		c.calls.answer(o, "tool_call_id")
	}
	return id
}

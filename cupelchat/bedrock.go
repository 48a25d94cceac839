package cupelchat

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// bedrockCodec is the Converse API of Amazon Bedrock.
type bedrockCodec struct {
	before string    // the role of the message before
	tools  bool      // there are calls or results
	calls  openCalls // of the message before
	next   openCalls // of the message
	cached int
}

func (*bedrockCodec) name() string { return "Bedrock's Converse API" }
func (*bedrockCodec) list() string { return "messages" }

func (*bedrockCodec) rules() rules {
	return rules{userFirst: true, alternate: true, content: "content", thinking: true, cache: true}
}

func (*bedrockCodec) signs() signs {
	return signs{
		request: []string{"toolConfig", "inferenceConfig", "guardrailConfig", "additionalModelRequestFields", "modelId"},
		element: func(o *rawjson.Object) string { return untyped(o, "content") },
		over:    func(other Format, path string) bool { return other == Anthropic && path == "system" },
	}
}

// untyped returns the name of a list if it has parts, and none of them has a type.
func untyped(o *rawjson.Object, name string) string {
	list := o.Get(name).Elements()
	for _, part := range list {
		if p, twice := part.Value.Fields(); !part.Value.IsObject() || len(twice) > 0 || p.Has("type") {
			return ""
		}
	}
	if len(list) == 0 {
		return ""
	}
	return name
}

func (c *bedrockCodec) note(text string) []byte {
	return slices.Concat([]byte(`{"role": "user", "content": [`), c.text(text), []byte("]}"))
}

func (*bedrockCodec) text(text string) []byte { return (&geminiCodec{}).text(text) }

var (
	bedrockBlocks = []string{
		"text", "image", "document", "video", "audio", "toolUse", "toolResult", "guardContent",
		"cachePoint", "reasoningContent", "citationsContent", "searchResult",
	}
	bedrockResults = []string{"text", "json", "image", "document", "video", "searchResult"}
	bedrockID      = spelling{extra: ".:", most: 64}
	bedrockName    = spelling{most: 64}
)

func (c *bedrockCodec) request(r *reader, body *rawjson.Object) {
	r.tools(body, 0, "toolConfig")
	r.system(body, func(m rawjson.Part) {
		if !m.Value.IsArray() {
			r.broken(m.Value, m.Name, "system", "must be an array of content blocks, got %s", m.Value.Type())
		}
		r.each(m.Value, m.Name, func(v rawjson.Value, path string) {
			if o, ok := r.object(v, path, "system"); ok {
				c.read(r, o, path, c.union(r, o, path, bedrockBlocks, "system"), "")
			}
		})
	}, "system")
}

func (c *bedrockCodec) message(r *reader, o *rawjson.Object, path string) {
	role, known := r.role(o, path, "user", "assistant")
	switch {
	case !known:
	case r.message().index == 0 && role == "assistant":
		r.wrong(rawjson.Join(path, "role"), "first-role", "the first message must be the user's")
	case role == c.before:
		r.wrong(rawjson.Join(path, "role"), "alternation", "roles must alternate: the message before is the %s's too", role)
	}
	c.before = role
	content := o.Get("content")
	at := rawjson.Join(path, "content")
	kinds := map[string]bool{}
	read := func(v rawjson.Value, path string) { c.block(r, v, path, role, kinds) }
	switch {
	case content.IsNull():
		r.fail(empty(o, path))
		r.wrong(at, "content-required", "a message needs content")
	case !content.IsArray():
		r.broken(content, at, "content-type", "must be an array of content blocks, got %s", content.Type())
	case len(content.Elements()) == 0:
		r.fail(empty(o, path))
		r.wrong(at, "content-empty", "the content is empty; it needs a block")
	case role == "assistant":
		r.entry(role)
		r.each(content, at, read)
	default:
		r.results(content, at, func(o *rawjson.Object) bool { return o.Has("toolResult") }, read)
	}
	if kinds["document"] && !kinds["text"] {
		r.wrong(at, "document-text", "a document needs a block of text with it")
	}
	c.close(r)
	c.calls, c.next = c.next, openCalls{}
}

// close ends the message after calls.
func (c *bedrockCodec) close(r *reader) {
	c.calls.close(r, "the next message must have a toolResult for each call")
}

func (c *bedrockCodec) end(r *reader) {
	c.close(r)
	if c.tools && !r.body.Value.IsZero() && !r.body.Has("toolConfig") {
		r.wrong("toolConfig", "tool-config", "a request with toolUse or toolResult needs toolConfig")
	}
}

// block reads a block of a message.
func (c *bedrockCodec) block(r *reader, v rawjson.Value, path, role string, kinds map[string]bool) {
	o, ok := r.object(v, path, "part-type")
	if !ok {
		return
	}
	kind := c.union(r, o, path, bedrockBlocks, "part-type")
	kinds[kind] = true
	c.read(r, o, path, kind, role)
}

// union checks an object that must have one member out of several, and returns its
// name, or else that of the first member.
func (c *bedrockCodec) union(r *reader, o *rawjson.Object, path string, names []string, rule string) string {
	var has []string
	for _, m := range o.Members {
		if slices.Contains(names, m.Name) && !m.Value.IsNull() {
			has = append(has, m.Name)
		}
	}
	if len(has) != 1 {
		r.wrong(path, rule, "a block must have one of %s, and this one has %d", strings.Join(names, ", "), len(has))
	}
	switch {
	case len(has) > 0:
		return has[0]
	case len(o.Members) > 0:
		return o.Members[0].Name
	}
	r.fail(o.Value.Errorf(path, "is an empty content block"))
	return ""
}

// read reads a block. role is that of its message; it is "" elsewhere.
func (c *bedrockCodec) read(r *reader, o *rawjson.Object, path, kind, role string) {
	e := r.current()
	v := o.Get(kind)
	switch kind {
	case "":
	case "text":
		e.words = true
		c.say(r, o, path)
	case "json":
		r.sayAs(v.Compact(), o.Value, "text")
	case cachePoint:
		if c.cached++; c.cached > maxBreakpoints {
			r.wrong(rawjson.Join(path, kind), "cache-limit", "a request has at most four cache points; this is number %d", c.cached)
		}
	case "toolUse":
		if role == "user" {
			r.wrong(path, "part-role", "a message of the user cannot have a toolUse")
		}
		if use, ok := r.inner(o, path, kind, "call-form"); ok {
			c.call(r, use, rawjson.Join(path, kind), role, path)
		}
		c.tools = true
	case "toolResult":
		if role == "assistant" {
			r.wrong(path, "part-role", "a message of the assistant cannot have a toolResult")
		}
		if result, ok := r.inner(o, path, kind, "result-content"); ok {
			c.result(r, result, rawjson.Join(path, kind), role)
		}
		c.tools = true
	case "reasoningContent":
		e.words = true
		e.thinks = e.thinks || len(e.parts) == 0
		thought, _ := r.inner(o, path, kind, "")
		if text := thought.Get("reasoningText"); text.IsObject() {
			inner, _ := text.Fields()
			r.keepMember(&inner, rawjson.Join(path, kind+".reasoningText"), "text", "")
		} else {
			r.hidden("thinking", thought.Value)
		}
	case "image", "video", "document", "audio":
		e.words = true
		tokens := map[string]int{"image": anthropicImageTokens, "audio": audioTokens}[kind]
		if tokens == 0 {
			tokens = fileTokens
		}
		r.medium(kind, tokens, v)
	default:
		e.words = true
		r.unknownPart(kind, o.Value)
	}
}

// say reads a text.
func (c *bedrockCodec) say(r *reader, o *rawjson.Object, path string) {
	r.sayMember(o, path, "text")
	if v := o.Get("text"); v.IsString() && blank(v.String()) {
		r.wrong(rawjson.Join(path, "text"), "text-blank", "the text is blank: leave the block out")
	}
}

// call reads a call, whose block is at outer.
func (c *bedrockCodec) call(r *reader, o *rawjson.Object, path, role, outer string) {
	id, named := r.need(o, path, "toolUseId", "call-id")
	name, ok := r.need(o, path, "name", "call-name")
	if ok {
		r.spelled(name, rawjson.Join(path, "name"), "call-name", bedrockName)
	}
	if v := o.Get("input"); !v.IsObject() {
		r.wrong(rawjson.Join(path, "input"), "arguments", "must be an object, got %s", v.Type())
	}
	if at := rawjson.Join(path, "toolUseId"); named {
		r.spelled(id, at, "call-id", bedrockID)
		switch {
		case role == "user":
		case c.next.has(id):
			r.wrong(at, "call-id-twice", "another call of the message has the id %s", quote(id))
		default:
			c.next.open(id, outer)
		}
	}
	r.use(id, name, o.Get("input"))
}

// result reads the result of a call.
func (c *bedrockCodec) result(r *reader, o *rawjson.Object, path, role string) {
	id, ok := r.need(o, path, "toolUseId", "result-id")
	if at := rawjson.Join(path, "toolUseId"); ok {
		r.spelled(id, at, "result-id", bedrockID)
		if role == "user" {
			c.calls.answer(r, id, at)
		}
	}
	r.returned(id)
	status := o.Get("status")
	if s := status.String(); !status.IsNull() && s != "success" && s != "error" {
		r.wrong(rawjson.Join(path, "status"), "result-status", "the status must be success or error, got %s", quote(s))
	}
	list := o.Get("content")
	at := rawjson.Join(path, "content")
	switch {
	case list.IsNull():
		r.wrong(at, "result-content", "the content must be an array of blocks, got null")
	case !list.IsArray():
		r.broken(list, at, "result-content", "must be an array of content blocks, got %s", list.Type())
	}
	n := r.each(list, at, func(v rawjson.Value, path string) { c.resultBlock(r, v, path) })
	if n == 0 && list.IsArray() && status.String() == "error" {
		r.wrong(at, "result-content", "the content of a result with the status error must not be empty")
	}
	r.current().words = false // the text is the tool's
}

func (c *bedrockCodec) resultBlock(r *reader, v rawjson.Value, path string) {
	o, ok := r.object(v, path, "result-content")
	if !ok {
		return
	}
	kind := c.union(r, o, path, bedrockResults, "result-content")
	if kind == "json" && !o.Get(kind).IsObject() {
		r.wrong(rawjson.Join(path, kind), "result-content", "json must be an object, got %s", o.Get(kind).Type())
	}
	c.read(r, o, path, kind, "")
}

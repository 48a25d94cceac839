package cupelchat

import (
	"cmp"
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

var bedrockRules = rules{
	name: "Bedrock's Converse API", list: "messages", content: "content", onlyParts: true,
	userFirst: true, alternate: true, thinking: true, cache: true,
	signs: signs{
		request: []string{"toolConfig", "inferenceConfig", "guardrailConfig", "additionalModelRequestFields", "modelId"},
		element: func(o *rawjson.Object) string { return untyped(o, "content") },
		over:    func(other Format, path string) bool { return other == Anthropic && path == "system" },
	},
}

// untyped returns the name of a list that has parts if none of them has a
// type.
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

var (
	bedrockBlocks = []string{
		"text", "image", "document", "video", "audio", "toolUse", "toolResult", "guardContent",
		"cachePoint", "reasoningContent", "citationsContent", "searchResult",
	}
	bedrockResults = []string{"text", "json", "image", "document", "video", "searchResult"}
	bedrockID      = spelling{extra: ".:", most: 64}
	bedrockName    = spelling{most: 64}
)

func (c *bedrockCodec) fork() codec {
	f := *c
	f.calls, f.next = c.calls.fork(), c.next.fork()
	return &f
}

func (c *bedrockCodec) request(body cursor) {
	body.tools(0, "toolConfig")
	body.system(func(name string) {
		if v := body.Get(name); !v.IsArray() {
			body.unreadable(name, "system", "must be an array of content blocks, got %s", v.Type())
		}
		body.parts(name, "system", func(o cursor) { c.read(o, c.union(o, bedrockBlocks, "system"), "") })
	}, "system")
}

func (c *bedrockCodec) message(o cursor) {
	role, known := o.role("user", "assistant")
	switch {
	case !known:
	case o.message().index == 0 && role == "assistant":
		o.wrong("role", "first-role", "the first message must be the user's")
	case role == c.before:
		o.wrong("role", "alternation", "roles must alternate: the message before has the role %s too", role)
	}
	c.before = role
	content := o.Get("content")
	kinds := map[string]bool{}
	read := func(part cursor) {
		kind := c.union(part, bedrockBlocks, "part-type")
		kinds[kind] = true
		c.read(part, kind, role)
	}
	switch {
	case content.IsNull():
		o.fail(o.empty())
		o.wrong("content", "content-required", "a message needs content")
	case !content.IsArray():
		o.unreadable("content", "content-type", "must be an array of content blocks, got %s", content.Type())
	case len(content.Elements()) == 0:
		o.fail(o.empty())
		o.wrong("content", "content-empty", "the content is empty; it needs a block")
	case role == "assistant":
		o.entry(role)
		o.parts("content", "part-type", read)
	default:
		o.results("content", "part-type", func(part *rawjson.Object) bool { return part.Has("toolResult") }, read)
	}
	if kinds["document"] && !kinds["text"] {
		o.wrong("content", "document-text", "a document needs a block of text with it")
	}
	c.close(o.reader)
	c.calls, c.next = c.next, openCalls{}
}

// close ends the message after calls.
func (c *bedrockCodec) close(r *reader) {
	c.calls.close(r, "the next message must have a toolResult for each call")
}

func (c *bedrockCodec) end(r *reader) {
	c.close(r)
	if c.tools && !r.body.Value.IsZero() && !r.body.Has("toolConfig") {
		r.refuse("toolConfig", "tool-config", "a request with toolUse or toolResult needs toolConfig")
	}
}

// union checks an object that must have exactly one of several members, and
// returns its name. If there is none or several, it returns the name of the first.
func (c *bedrockCodec) union(o cursor, names []string, rule string) string {
	var has []string
	for _, m := range o.Members {
		if slices.Contains(names, m.Name) && !m.Value.IsNull() {
			has = append(has, m.Name)
		}
	}
	if len(has) != 1 {
		o.wrong("", rule, "a block must have one of %s, and this one has %d", strings.Join(names, ", "), len(has))
	}
	switch {
	case len(has) > 0:
		return has[0]
	case len(o.Members) > 0:
		return o.Members[0].Name
	}
	o.fail(o.Value.Errorf(o.path, "is an empty content block"))
	return ""
}

// read reads a block. role is that of its message; it is "" elsewhere.
func (c *bedrockCodec) read(o cursor, kind, role string) {
	e := o.current()
	v := o.Get(kind)
	switch kind {
	case "":
	case "text":
		e.words = true
		o.sayMember("text")
		if v.IsString() && blank(v.String()) {
			o.wrong("text", "text-blank", "the text is blank: leave the block out")
		}
	case "json":
		o.sayAs(v.Compact(), o.Value, "text")
	case cachePoint:
		if c.cached++; c.cached > maxBreakpoints {
			o.wrong(kind, "cache-limit", "a request has at most four cache points; this is number %d", c.cached)
		}
	case "toolUse":
		if role == "user" {
			o.wrong("", "part-role", "a user message cannot have a toolUse")
		}
		if use, ok := o.inner(kind, "call-form"); ok {
			c.call(use, role, o.path)
		}
		c.tools = true
	case "toolResult":
		if role == "assistant" {
			o.wrong("", "part-role", "an assistant message cannot have a toolResult")
		}
		if result, ok := o.inner(kind, "result-content"); ok {
			c.result(result, role)
		}
		c.tools = true
	case "reasoningContent":
		e.words = true
		e.thinks = e.thinks || len(e.parts) == 0
		thought, _ := o.inner(kind, "")
		if thought.Get("reasoningText").IsObject() {
			text, _ := thought.inner("reasoningText", "")
			text.keepMember("text", "")
		} else {
			o.hidden("thinking", thought.Value)
		}
	case "document":
		e.words = true
		c.document(o, v)
	case "image", "video", "audio":
		e.words = true
		tokens := map[string]int{"image": anthropicImageTokens, "audio": audioTokens}[kind]
		o.medium(kind, cmp.Or(tokens, fileTokens), v)
	default:
		e.words = true
		o.unknownPart(o.path, o.Value)
	}
}

// document reads a document: text, a list of texts, or a file.
func (c *bedrockCodec) document(o cursor, v rawjson.Value) {
	document, _ := o.inner("document", "")
	switch source := document.peek("source"); {
	case source.Get("text").IsString():
		source.keepMember("text", "")
	case source.Get("content").IsArray():
		source.keepJSON(source.Get("content"))
	default:
		o.medium("document", fileTokens, v)
	}
}

// call reads a call, whose block is at outer.
func (c *bedrockCodec) call(o cursor, role, outer string) {
	id, named := o.need("toolUseId", "call-id")
	name, ok := o.need("name", "call-name")
	if ok {
		o.spelled("name", "call-name", bedrockName)
	}
	o.wantObject("input", "arguments")
	if named {
		o.spelled("toolUseId", "call-id", bedrockID)
		switch {
		case role == "user":
		case c.next.has(id):
			o.wrong("toolUseId", "call-id-twice", "another call of the message has the id %s", quote(id))
		default:
			c.next.open(id, outer)
		}
	}
	o.use(id, name, o.Get("input"))
}

// result reads the result of a call.
func (c *bedrockCodec) result(o cursor, role string) {
	id, ok := o.need("toolUseId", "result-id")
	if ok {
		o.spelled("toolUseId", "result-id", bedrockID)
		if role == "user" {
			c.calls.answer(o, "toolUseId")
		}
	}
	o.returned(id)
	status := o.Get("status")
	if s := status.String(); !status.IsNull() && s != "success" && s != "error" {
		o.wrong("status", "result-status", "the status must be success or error, got %s", quote(s))
	}
	list := o.Get("content")
	switch {
	case list.IsNull():
		o.wrong("content", "result-content", "the content must be an array of blocks, got null")
	case !list.IsArray():
		o.unreadable("content", "result-content", "must be an array of content blocks, got %s", list.Type())
	}
	n := o.parts("content", "result-content", c.resultBlock)
	if n == 0 && list.IsArray() && status.String() == "error" {
		o.wrong("content", "result-content", "the content of a result with the status error must not be empty")
	}
}

func (c *bedrockCodec) resultBlock(o cursor) {
	kind := c.union(o, bedrockResults, "result-content")
	if kind == "json" && !o.Get(kind).IsObject() {
		o.wrong(kind, "result-content", "json must be an object, got %s", o.Get(kind).Type())
	}
	c.read(o, kind, "")
}

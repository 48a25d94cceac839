package cupelchat

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// bedrockCodec is the Converse API of Amazon Bedrock.
type bedrockCodec struct{}

func (bedrockCodec) name() string { return "Bedrock's Converse API" }
func (bedrockCodec) list() string { return "messages" }

func (bedrockCodec) rules() rules {
	return rules{userFirst: true, alternate: true, content: "content", thinking: true, cache: true}
}

func (bedrockCodec) signs() signs {
	return signs{
		request: []string{"toolConfig", "inferenceConfig", "guardrailConfig", "additionalModelRequestFields", "modelId"},
		element: func(o *rawjson.Object) string {
			for _, part := range o.Get("content").Elements() {
				p, err := part.Value.Object("")
				if err != nil || p.Has("type") {
					return ""
				}
			}
			if len(o.Get("content").Elements()) > 0 {
				return "content"
			}
			return ""
		},
	}
}

func (bedrockCodec) note(text string) []byte {
	return slices.Concat([]byte(`{"role": "user", "content": [`), bedrockCodec{}.text(text), []byte("]}"))
}

func (bedrockCodec) text(text string) []byte { return geminiCodec{}.text(text) }

func (bedrockCodec) request(r *reader, body *rawjson.Object) error {
	for _, m := range body.Members {
		if m.Name == "toolConfig" && !m.Value.IsNull() {
			r.beginMember(m, "tools")
			if err := r.keepJSON(m.Value); err != nil {
				return err
			}
		}
	}
	for _, m := range body.Members {
		if m.Name != "system" || m.Value.IsNull() {
			continue
		}
		if !m.Value.IsArray() {
			return m.Value.Errorf("system", "must be an array of content blocks, got %s", m.Value.Type())
		}
		r.beginMember(m, "system")
		r.current().words = true
		if err := r.each(m.Value, "system", r.bedrockBlock); err != nil {
			return err
		}
	}
	return nil
}

func (bedrockCodec) message(r *reader, o *rawjson.Object, path string) error {
	role, err := r.role(o, path, "user", "assistant")
	if err != nil {
		return err
	}
	content := o.Get("content")
	path += ".content"
	switch {
	case content.IsNull(), content.IsArray() && len(content.Elements()) == 0:
		return o.Value.Errorf(strings.TrimSuffix(path, ".content"), "has neither content nor tool calls; remove it")
	case !content.IsArray():
		return content.Errorf(path, "must be an array of content blocks, got %s", content.Type())
	}
	if role == "assistant" {
		r.entry(role)
		return r.each(content, path, r.bedrockBlock)
	}
	return r.results(content, path, func(o *rawjson.Object) bool { return o.Has("toolResult") }, r.bedrockBlock)
}

// bedrockBlock reads one block: an object with one member, which says what it is.
func (r *reader) bedrockBlock(v rawjson.Value, path string) error {
	o, err := v.Object(path)
	if err != nil {
		return err
	}
	if len(o.Members) == 0 {
		return v.Errorf(path, "is an empty content block")
	}
	kind := o.Members[0].Name
	if r.depth > deepest {
		return r.unknownPart(kind, v)
	}
	inner := rawjson.Join(path, kind)
	e := r.current()
	switch kind {
	case "text":
		e.words = true
		return r.sayMember(&o, path, "text")
	case "json":
		return r.sayPart(v, o.Get("json"), "text")
	case "cachePoint":
		return nil
	case "toolUse":
		use, err := o.Get(kind).Object(inner)
		if err != nil {
			return err
		}
		id, err := str(&use, inner, "toolUseId")
		if err != nil {
			return err
		}
		return r.useMember(id, &use, inner, "input")
	case "toolResult":
		result, err := o.Get(kind).Object(inner)
		if err != nil {
			return err
		}
		id, err := str(&result, inner, "toolUseId")
		if err != nil {
			return err
		}
		r.returned(id)
		list := result.Get("content")
		if !list.IsArray() && !list.IsNull() {
			return list.Errorf(inner+".content", "must be an array of content blocks, got %s", list.Type())
		}
		err = r.each(list, inner+".content", r.bedrockBlock)
		r.current().words = false // the text is the tool's
		return err
	case "reasoningContent":
		e.words = true
		e.thinks = e.thinks || len(e.parts) == 0
		thought, err := o.Get(kind).Object(inner)
		if err != nil {
			return err
		}
		if text, err := thought.Get("reasoningText").Object(inner + ".reasoningText"); err == nil {
			return r.keepMember(&text, inner+".reasoningText", "text")
		}
		r.hidden("thinking", thought.Value)
		return nil
	case "image", "video", "document", "audio":
		e.words = true
		tokens := map[string]int{"image": anthropicImageTokens, "audio": audioTokens}[kind]
		if tokens == 0 {
			tokens = fileTokens
		}
		r.medium(kind, tokens, o.Get(kind))
		return nil
	}
	e.words = true
	return r.unknownPart(kind, v)
}

// sayPart adds words that are JSON in a block of its own: a smaller form is a
// block with a text.
func (r *reader) sayPart(block, v rawjson.Value, member string) error {
	text := v.Compact()
	n, err := counted(r.counter, text)
	r.spend(n)
	r.put(part{kind: words, text: text, value: block, tokens: n, member: member})
	return err
}

// What the API refuses.

var (
	bedrockBlocks = []string{
		"text", "image", "document", "video", "audio", "toolUse", "toolResult", "guardContent",
		"cachePoint", "reasoningContent", "citationsContent", "searchResult",
	}
	bedrockResults = []string{"text", "json", "image", "document", "video", "searchResult"}
	bedrockID      = spelling{extra: ".:", most: 64}
	bedrockName    = spelling{most: 64}
)

// check returns what Amazon Bedrock's Converse refuses.
func (bedrockCodec) check(r *checker) {
	c := bedrockChecker{checker: r}
	c.system()
	if !r.readList() {
		return
	}
	before := ""
	for i := range r.messages {
		before = c.message(i, before)
	}
	c.close()
	if c.tools && r.isRequest() && !r.body.Has("toolConfig") {
		c.add("toolConfig", "tool-config", "a request with toolUse or toolResult needs toolConfig")
	}
}

type bedrockChecker struct {
	*checker
	tools   bool // there are calls or results
	open    []openCall
	openAt  map[string]int
	results map[string]bool // ids of the results in the message
	cached  int
}

func (c *bedrockChecker) system() {
	v := c.body.Get("system")
	if !v.IsNull() && !v.IsArray() {
		c.add("system", "system", "the system prompt must be an array of blocks, got %s", v.Type())
	}
	for i, b := range values(v) {
		path := rawjson.Index("system", i)
		o, ok := c.object(b, path)
		if !ok {
			c.add(path, "system", "a block of the system prompt must be an object, got %s", b.Type())
			continue
		}
		c.text(o, path)
		c.cache(o, path)
	}
}

func (c *bedrockChecker) text(o *rawjson.Object, path string) {
	v := o.Get("text")
	switch {
	case v.IsNull():
	case !v.IsString():
		c.add(rawjson.Join(path, "text"), "part-field", "text must be a string, got %s", v.Type())
	case blank(v.String()):
		c.add(rawjson.Join(path, "text"), "text-blank", "the text is blank: leave the block out")
	}
}

func (c *bedrockChecker) cache(o *rawjson.Object, path string) {
	if !o.Has("cachePoint") {
		return
	}
	if c.cached++; c.cached > 4 {
		c.add(rawjson.Join(path, "cachePoint"), "cache-limit", "a request has at most four cache points; this is number %d", c.cached)
	}
}

// close ends the message behind calls.
func (c *bedrockChecker) close() {
	for _, call := range c.open {
		if !call.answered {
			c.add(call.path, "call-without-result", "the call %s has no result: the next message must have a toolResult for each call", quote(call.id))
		}
	}
	c.open, c.openAt = nil, nil
}

// message checks a message and returns its role.
func (c *bedrockChecker) message(i int, before string) string {
	path := c.path(i)
	o, ok := c.checker.message(i)
	if !ok {
		return ""
	}
	role, known := c.role(o, path, "user", "assistant")
	switch {
	case !known:
	case i == 0 && role == "assistant":
		c.add(rawjson.Join(path, "role"), "first-role", "the first message must be the user's")
	case role == before:
		c.add(rawjson.Join(path, "role"), "alternation", "roles must alternate: the message before is the %s's too", role)
	}
	calls, callsAt := []openCall(nil), map[string]int{}
	c.results = map[string]bool{}
	v := o.Get("content")
	at := rawjson.Join(path, "content")
	blocks := values(v)
	switch {
	case v.IsNull():
		c.add(at, "content-required", "a message needs content")
	case !v.IsArray():
		c.add(at, "content-type", "the content must be an array of blocks, got %s", v.Type())
	case len(blocks) == 0:
		c.add(at, "content-empty", "the content is empty; it needs a block")
	}
	document, text := false, false
	for j, b := range blocks {
		where := rawjson.Index(at, j)
		block, kind, ok := c.union(b, where, bedrockBlocks, "part-type")
		if !ok {
			continue
		}
		document, text = document || kind == "document", text || kind == "text"
		switch kind {
		case "text":
			c.text(block, where)
		case "cachePoint":
			c.cache(block, where)
		case "toolUse":
			if role != "user" {
				calls = c.call(block.Get(kind), rawjson.Join(where, kind), calls, callsAt)
			} else {
				c.add(where, "part-role", "a message of the user cannot have a toolUse")
			}
		case "toolResult":
			if role != "assistant" {
				c.result(block.Get(kind), rawjson.Join(where, kind))
			} else {
				c.add(where, "part-role", "a message of the assistant cannot have a toolResult")
			}
		}
	}
	if document && !text {
		c.add(at, "document-text", "a document needs a block of text with it")
	}
	c.close()
	c.open, c.openAt = calls, callsAt
	return role
}

// union reads an object with one member out of several.
func (c *bedrockChecker) union(v rawjson.Value, path string, names []string, rule string) (*rawjson.Object, string, bool) {
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, rule, "a block must be an object, got %s", v.Type())
		return o, "", false
	}
	var has []string
	for _, m := range o.Members {
		if slices.Contains(names, m.Name) && !m.Value.IsNull() {
			has = append(has, m.Name)
		}
	}
	if len(has) != 1 {
		c.add(path, rule, "a block must have one of %s, and this one has %d", strings.Join(names, ", "), len(has))
		return o, "", false
	}
	return o, has[0], true
}

func (c *bedrockChecker) call(v rawjson.Value, path string, calls []openCall, at map[string]int) []openCall {
	c.tools = true
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, "call-form", "toolUse must be an object, got %s", v.Type())
		return calls
	}
	c.id(o, path, "name", "call-name", bedrockName)
	if v := o.Get("input"); !v.IsObject() {
		c.add(rawjson.Join(path, "input"), "arguments", "input must be an object, got %s", v.Type())
	}
	id, ok := c.id(o, path, "toolUseId", "call-id", bedrockID)
	if !ok {
		return calls
	}
	if _, twice := at[id]; twice {
		c.add(rawjson.Join(path, "toolUseId"), "call-id-twice", "another call of the message has the id %s", quote(id))
		return calls
	}
	at[id] = len(calls)
	return append(calls, openCall{id: id, path: strings.TrimSuffix(path, ".toolUse")})
}

func (c *bedrockChecker) result(v rawjson.Value, path string) {
	c.tools = true
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, "result-content", "toolResult must be an object, got %s", v.Type())
		return
	}
	status := o.Get("status")
	if s := status.String(); !status.IsNull() && s != "success" && s != "error" {
		c.add(rawjson.Join(path, "status"), "result-status", "the status must be success or error, got %s", quote(s))
	}
	content := o.Get("content")
	at := rawjson.Join(path, "content")
	blocks := values(content)
	switch {
	case !content.IsArray():
		c.add(at, "result-content", "the content must be an array of blocks, got %s", content.Type())
	case len(blocks) == 0 && status.String() == "error":
		c.add(at, "result-content", "the content of a result with the status error must not be empty")
	}
	for i, b := range blocks {
		where := rawjson.Index(at, i)
		block, kind, ok := c.union(b, where, bedrockResults, "result-content")
		switch {
		case !ok:
		case kind == "text":
			c.text(block, where)
		case kind == "json" && !block.Get(kind).IsObject():
			c.add(rawjson.Join(where, kind), "result-content", "json must be an object, got %s", block.Get(kind).Type())
		}
	}
	id, ok := c.id(o, path, "toolUseId", "result-id", bedrockID)
	if !ok {
		return
	}
	at = rawjson.Join(path, "toolUseId")
	i, known := c.openAt[id]
	switch {
	case c.results[id]:
		c.add(at, "result-twice", "the message has another result of the call %s", quote(id))
	case !known:
		c.add(at, "result-without-call", "the message before has no call %s", quote(id))
	default:
		c.open[i].answered = true
	}
	c.results[id] = true
}

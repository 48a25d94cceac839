package cupelchat

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// anthropicCodec is Anthropic's Messages API. Messages of one role that follow each
// other are one turn.
type anthropicCodec struct {
	turns  []anthropicTurn
	ids    map[string]string // paths of calls by id, of the whole conversation
	server map[string]int    // entries with calls of tools that the API runs, by id

	calls   openCalls // of the assistant's turn before or at the message
	results bool      // after the assistant's turn
	said    string    // the path of what the user said before the results, or ""

	cached int  // members cache_control so far
	short  bool // one of them is kept for five minutes
}

// anthropicTurn is the part of a message that the rules about places need.
type anthropicTurn struct {
	role   string
	first  string // type of the first block
	last   string // type of the last one
	lastAt string // its path, or that of its text
	text   string // of the last block, if it is text
	thinks string // path of the first block with thinking, or ""
	says   bool   // has something other than results
	empty  bool
}

var anthropicRules = rules{
	name: "Anthropic's Messages API", list: "messages", content: "content", text: "text",
	onlyParts: true, userFirst: true, alternate: true, thinking: true, cache: true,
	signs: signs{
		request: []string{"system", "anthropic_version", "anthropic_beta", "stop_sequences", "mcp_servers"},
		message: []string{"stop_reason"},
		parts:   slices.DeleteFunc(slices.Collect(maps.Keys(anthropicBlocks)), func(kind string) bool { return kind == "text" }),
	},
}

// anthropicBlocks are the types of blocks and the roles that may have them: u is
// the user, a the assistant.
var anthropicBlocks = map[string]string{
	"text": "ua", "image": "ua", "document": "ua", "search_result": "ua", "container_upload": "ua",
	"tool_result": "u", "tool_use": "a", "thinking": "a", "redacted_thinking": "a",
	"server_tool_use": "a", "mcp_tool_use": "a", "mcp_tool_result": "a",
	"web_search_tool_result": "a", "web_fetch_tool_result": "a", "code_execution_tool_result": "a",
	"bash_code_execution_tool_result": "a", "text_editor_code_execution_tool_result": "a",
	"tool_search_tool_result": "a", "advisor_tool_result": "a", "compaction": "ua", "fallback": "ua",
	"mid_conv_system": "ua", "tool_addition": "ua", "tool_removal": "ua", "mcp_tool_listing": "ua",
}

// anthropicResults are the types of blocks in a result.
var anthropicResults = []string{"text", "image", "search_result", "document", "tool_reference", "browser_state"}

func (c *anthropicCodec) fork() codec {
	f := *c
	f.turns, f.ids, f.server, f.calls = slices.Clip(c.turns), maps.Clone(c.ids), maps.Clone(c.server), c.calls.fork()
	return &f
}

func (c *anthropicCodec) request(body cursor) {
	for i, tool := range body.Get("tools").Elements() {
		if tool.Value.IsObject() {
			o, _ := body.object(tool.Value, rawjson.Index("tools", i), "")
			c.cache(o)
		}
	}
	body.tools(anthropicToolsTokens, "tools")
	body.system(func(name string) {
		body.content(name, "system", "system", func(o cursor) {
			kind := o.member("type", "")
			if kind != "text" {
				o.wrong("", "system", "a block of the system prompt must be text")
			} else {
				c.checkText(o)
			}
			c.read(o, kind)
		})
	}, "system")
}

func (c *anthropicCodec) message(o cursor) {
	c.turns = append(c.turns, anthropicTurn{})
	m := &c.turns[len(c.turns)-1]
	o.only("extra-field", "a message has a role and content, and nothing else", "role", "content")
	role, known := o.role("system", "user", "assistant")
	if !known {
		return
	}
	if m.role = role; role == "assistant" && c.results {
		c.close(o.reader)
	}
	c.results = c.results || role == "user"
	c.content(o, m)
}

// close ends the turn with results to the calls of the turn before.
func (c *anthropicCodec) close(r *reader) {
	c.calls.close(r, "the user's next message must begin with a tool_result for each call")
	c.results, c.said = false, ""
}

func (c *anthropicCodec) content(o cursor, m *anthropicTurn) {
	mayBeEmpty := len(c.turns) == o.size && m.role == "assistant"
	content, at := o.Get("content"), o.where("content")
	read := func(part cursor) { c.block(part, m) }
	switch {
	case content.IsNull():
		o.fail(o.empty())
		o.wrong("content", "content-required", "a message needs content")
		m.empty, mayBeEmpty = true, true
	case content.IsString():
		o.entry(m.role).asks = m.role == "user"
		o.content("content", "", "", nil)
		m.first, m.last, m.lastAt, m.text = "text", "text", at, content.String()
		m.empty, m.says = m.text == "", true
		c.say(m.role, at)
		if m.text != "" && blank(m.text) {
			o.wrong("content", "text-blank", "the text has only white space")
		}
	case m.role == "user" && len(content.Elements()) > 0:
		o.results("content", "part-type", func(part *rawjson.Object) bool { return part.Get("type").String() == "tool_result" }, read)
	default:
		o.entry(m.role)
		o.content("content", "content-type", "part-type", read)
		m.empty = content.IsArray() && len(content.Elements()) == 0
	}
	if m.empty && !mayBeEmpty {
		o.wrong("content", "content-empty", "the content of a message must not be empty")
	}
}

// say records that the user says something other than results.
func (c *anthropicCodec) say(role, path string) {
	if role == "user" && c.said == "" {
		c.said = path
	}
}

func (c *anthropicCodec) block(o cursor, m *anthropicTurn) {
	kind := o.Get("type").String()
	who, known := anthropicBlocks[kind]
	if m.first == "" {
		m.first = kind
	}
	m.last, m.lastAt, m.text = kind, o.path, ""
	switch {
	case !known:
		o.member("type", "")
		o.wrong("type", "part-type", "the block type %s is unknown", quote(kind))
	case len(who) == 1 && m.role[:1] != who:
		o.wrong("", "part-role", "a message with the role %s cannot have a block of type %s", m.role, kind)
	default:
		if kind != "tool_result" {
			m.says = true
			c.say(m.role, o.path)
		}
		c.check(o, kind, m)
	}
	if kind == "tool_result" && o.current().role == "tool" {
		o.returned(o.member("tool_use_id", ""))
		o.content("content", "result-content", "result-content", c.resultBlock)
		c.cache(o)
		return
	}
	c.read(o, kind)
}

// check notes the faults of a block in its place.
func (c *anthropicCodec) check(o cursor, kind string, m *anthropicTurn) {
	switch kind {
	case "text":
		m.text, m.lastAt = o.Get("text").String(), o.where("text")
		c.checkText(o)
		return
	case "thinking", "redacted_thinking":
		m.thinks = cmp.Or(m.thinks, o.path)
		if o.Has(cacheControl) {
			o.wrong(cacheControl, "cache-place", "thinking cannot have cache_control")
		}
		if kind == "thinking" {
			o.want("signature", "thinking-signature")
		} else {
			o.want("data", "part-field")
		}
		return
	case "tool_use":
		c.call(o)
	case "tool_result":
		c.result(o)
		return // its blocks come before it
	case "image", "document":
		c.source(o)
	case "server_tool_use", "mcp_tool_use":
		if id, ok := o.want("id", "call-id"); ok {
			o.spelled("id", "call-id", spelling{})
			if kind == "server_tool_use" && !strings.HasPrefix(id, "srvtoolu_") {
				o.wrong("id", "call-id", "the id of a server_tool_use begins with srvtoolu_, got %s", quote(id))
			}
		}
		c.input(o)
	}
	c.cache(o)
}

// read reads a block.
func (c *anthropicCodec) read(o cursor, kind string) {
	e := o.current()
	if kind != "tool_use" {
		e.words = true
	}
	switch kind {
	case "text":
		o.sayMember("text")
	case "tool_use":
		id := o.member("id", "")
		o.use(id, o.member("name", ""), o.Get("input"))
	case "thinking":
		e.thinks = e.thinks || len(e.parts) == 0
		o.keepMember("thinking", "part-field")
	case "redacted_thinking":
		e.thinks = e.thinks || len(e.parts) == 0
		o.hidden("thinking", o.Get("data"))
	case "compaction":
		e.compact = true
		o.keepMember("content", "")
	case "server_tool_use", "mcp_tool_use":
		if c.server == nil {
			c.server = map[string]int{}
		}
		c.server[o.optional("id", "")] = o.at
		o.serverUse()
	case "image":
		where := o.Value
		if o.Get("source").IsObject() {
			source, _ := o.inner("source", "")
			where = c.address(source)
		}
		o.medium("image", anthropicImageTokens, where)
	case "document":
		c.document(o)
	case "container_upload":
		o.medium("file", fileTokens, o.Value)
	case "search_result":
		o.keepJSON(o.Value)
	default:
		if !strings.HasSuffix(kind, "_tool_result") {
			o.unknownPart(o.path, o.Value)
			return
		}
		// After a pause, or a wait for a tool of the client, the result is in a
		// later message than the call.
		id, given := o.want("tool_use_id", "result-id")
		if call, ok := c.server[id]; ok {
			o.links.join(call, o.at)
		} else if given {
			o.wrong("tool_use_id", "result-without-call", "no call %s comes before the %s", quote(id), kind)
		}
		o.keepJSON(o.Value)
	}
}

// checkText checks a block of text.
func (c *anthropicCodec) checkText(o cursor) {
	v := o.Get("text")
	switch text := v.String(); {
	case !v.IsString():
	case text == "" && o.Has(cacheControl):
		o.wrong(cacheControl, "cache-place", "an empty text cannot have cache_control")
		return
	case text == "":
		o.wrong("text", "text-empty", "the text is empty: leave the block out")
	case blank(text):
		o.wrong("text", "text-blank", "the text has only white space: leave the block out")
	}
	c.cache(o)
}

// input checks the arguments and the name of a call.
func (c *anthropicCodec) input(o cursor) {
	o.wantObject("input", "arguments")
	if name, ok := o.want("name", "call-name"); ok && len([]rune(name)) > 200 {
		o.wrong("name", "call-name", "has more than 200 characters")
	}
}

// call checks a call, which is open from here on.
func (c *anthropicCodec) call(o cursor) {
	c.input(o)
	id, ok := o.want("id", "call-id")
	if !ok {
		return
	}
	o.spelled("id", "call-id", spelling{})
	if first, seen := c.ids[id]; seen {
		o.wrong("id", "call-id-twice", "%s has the same id, %s", first, quote(id))
		return
	}
	if c.ids == nil {
		c.ids = map[string]string{}
	}
	c.ids[id] = o.path
	c.calls.open(id, o.path)
}

// result checks which call a result answers.
func (c *anthropicCodec) result(o cursor) {
	if _, ok := o.want("tool_use_id", "result-id"); ok && c.calls.answer(o, "tool_use_id") && c.said != "" {
		o.refuse(c.said, "results-first", "tool results must come before anything else in the user's message")
		c.said = ""
	}
}

func (c *anthropicCodec) resultBlock(o cursor) {
	kind := o.member("type", "")
	switch {
	case !slices.Contains(anthropicResults, kind):
		o.wrong("", "result-content", "a block of a result must be one of %s, got %s", strings.Join(anthropicResults, ", "), quote(kind))
	case kind == "text":
		c.checkText(o)
	default:
		if kind == "image" || kind == "document" {
			c.source(o)
		}
		c.cache(o)
	}
	c.read(o, kind)
}

// anthropicSources are the members that each type of source needs.
var anthropicSources = map[string][]string{
	"base64": {"media_type", "data"}, "url": {"url"}, "file": {"file_id"}, "text": {"media_type", "data"}, "content": nil,
}

// source checks the source of an image or a document.
func (c *anthropicCodec) source(o cursor) {
	if !o.wantObject("source", "part-field") {
		return
	}
	source := o.peek("source")
	needs, known := anthropicSources[source.Get("type").String()]
	if !known {
		source.wrong("type", "part-field", "the type of a source must be base64, url, file, text or content")
	}
	for _, name := range needs {
		source.want(name, "part-field")
	}
}

// address returns the URL of a source, or else the whole source.
func (c *anthropicCodec) address(source cursor) rawjson.Value {
	if url := source.Get("url"); url.IsString() {
		return url
	}
	return source.Value
}

// document reads a document: text, a list of parts, or a file.
func (c *anthropicCodec) document(o cursor) {
	for _, name := range []string{"title", "context"} {
		if text := o.optional(name, ""); text != "" {
			o.keep(text)
		}
	}
	source, ok := o.inner("source", "")
	if !ok {
		return
	}
	switch source.Get("type").String() {
	case "text":
		source.keepMember("data", "")
	case "content":
		c.chunks(source)
	default:
		o.medium("document", fileTokens, c.address(source))
	}
}

// chunks reads the parts of a document, which stay as they are.
func (c *anthropicCodec) chunks(source cursor) {
	if source.Get("content").IsString() {
		source.keepMember("content", "")
		return
	}
	source.parts("content", "", func(part cursor) {
		part.place = place{none, 0}
		if kind := part.member("type", ""); kind == "text" {
			part.keepMember("text", "")
		} else {
			c.read(part, kind)
		}
	})
}

// cache checks the cache_control of an object.
func (c *anthropicCodec) cache(o cursor) {
	if !o.Has(cacheControl) {
		return
	}
	control := o.peek(cacheControl)
	ttl := control.Get("ttl").String()
	if control.Get("type").String() != "ephemeral" || control.Has("ttl") && ttl != fiveMinutes && ttl != oneHour {
		o.wrong(cacheControl, "cache-form", `cache_control must be {"type":"ephemeral"}, with a ttl of 5m or 1h or none`)
		return
	}
	if c.cached++; c.cached > maxBreakpoints {
		o.wrong(cacheControl, "cache-limit", "a request has at most four cache_control members; this is number %d", c.cached)
	}
	switch {
	case ttl != oneHour:
		c.short = true
	case c.short:
		control.wrong("ttl", "cache-order", "a cache_control with a ttl of 1h must come before those of 5m, in the order tools, system, messages")
	}
}

func (c *anthropicCodec) end(r *reader) {
	c.close(r)
	if r.size > 100_000 {
		r.refuse(rawjson.Index(r.rules.list, 100_000), "list-long", "a request has at most 100,000 messages, got %d", r.size)
	}
	if len(c.turns) == 0 {
		return
	}
	thinking, _ := r.body.Get("thinking").Fields()
	c.places(r)
	c.last(r, thinking.Get("type").String())
	c.cache(cursor{reader: r, Object: r.body})
}

// places checks the order of the roles.
func (c *anthropicCodec) places(r *reader) {
	role := func(i int) string { return rawjson.Join(rawjson.Index(r.rules.list, i), "role") }
	if c.turns[0].role == "assistant" {
		r.refuse(role(0), "first-role", "the first message must be the user's")
	}
	for i, m := range c.turns {
		if m.role != "system" {
			continue
		}
		follows := i > 0 && (c.turns[i-1].role == "user" || c.turns[i-1].role == "assistant" && strings.HasSuffix(c.turns[i-1].last, "_tool_result"))
		if !follows || i+1 < len(c.turns) && c.turns[i+1].role != "assistant" {
			r.refuse(role(i), "system-place", "a system message must follow a user message, and come last or before an assistant message")
		}
	}
}

// last checks the turn that the model continues: after results, if thinking is
// enabled, or after the last message, if it is the model's own.
func (c *anthropicCodec) last(r *reader, thinking string) {
	m := c.turns[len(c.turns)-1]
	switch {
	case m.role != "assistant" && thinking == "enabled":
		c.thinkingFirst(r)
		return
	case m.role != "assistant":
		return
	case m.last == "thinking" || m.last == "redacted_thinking":
		r.refuse(m.lastAt, "thinking-last", "the last message cannot end with thinking")
	case m.thinks != "" && thinking == "disabled":
		r.refuse(m.thinks, "thinking-off", "thinking is disabled: the last message cannot have any")
	}
	if m.last == "text" && !blank(m.text) && strings.TrimRightFunc(m.text, unicode.IsSpace) != m.text {
		r.refuse(m.lastAt, "trailing-space", "the last message cannot end with white space")
	}
}

// thinkingFirst checks the beginning of the turn. It goes back over calls and their
// results, up to the user's words.
func (c *anthropicCodec) thinkingFirst(r *reader) {
	first := none
	for i, m := range slices.Backward(c.turns) {
		if m.role == "user" && m.says {
			break
		}
		if m.role == "assistant" {
			first = i
		}
	}
	if first == none {
		return
	}
	if m := c.turns[first]; !m.empty && m.first != "thinking" && m.first != "redacted_thinking" {
		r.refuse(rawjson.Join(rawjson.Index(r.rules.list, first), "content"), "thinking-first", "thinking is enabled: the unfinished turn must begin with its original thinking")
	}
}

// serverUse reads a call of a tool that the API runs itself. The client sends no
// result for it, and its arguments stay as they are.
func (o cursor) serverUse() {
	p := o.useOf("", o.member("name", ""), o.Get("input"))
	p.value, p.tokens = rawjson.Value{}, 0
	o.put(p)
	o.spend(callTokens)
}

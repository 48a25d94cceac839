package cupelchat

import (
	"cmp"
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

// anthropicTurn is what the rules about places need of a message.
type anthropicTurn struct {
	role   string
	first  string // type of the first block
	last   string // type of the last one
	lastAt string // its path
	text   string // of the last block, if it is text
	thinks string // path of the first block with thinking, or ""
	says   bool   // has something other than results
	empty  bool
}

func (*anthropicCodec) name() string { return "Anthropic's Messages API" }
func (*anthropicCodec) list() string { return "messages" }

func (*anthropicCodec) rules() rules {
	return rules{userFirst: true, alternate: true, content: "content", thinking: true, cache: true}
}

// anthropicBlocks are the types of blocks and who may have them: u is the user, a
// the assistant.
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

func (*anthropicCodec) signs() signs {
	own := make([]string, 0, len(anthropicBlocks))
	for kind := range anthropicBlocks {
		if kind != "text" {
			own = append(own, kind)
		}
	}
	return signs{
		request: []string{"system", "anthropic_version", "anthropic_beta", "stop_sequences", "mcp_servers"},
		message: []string{"stop_reason"},
		parts:   own,
	}
}

func (*anthropicCodec) note(text string) []byte { return (&chatCodec{}).note(text) }

func (*anthropicCodec) text(text string) []byte { return textBlock("text", text) }

func (c *anthropicCodec) request(r *reader, body *rawjson.Object) {
	for i, tool := range body.Get("tools").Elements() {
		if tool.Value.IsObject() {
			path := rawjson.Index("tools", i)
			o, _ := r.object(tool.Value, path, "")
			c.cache(r, o, path)
		}
	}
	r.tools(body, anthropicToolsTokens, "tools")
	r.system(body, func(m rawjson.Part) {
		r.content(m.Value, m.Name, "system", func(v rawjson.Value, path string) {
			o, ok := r.object(v, path, "system")
			if !ok {
				return
			}
			kind := r.member(o, path, "type", "")
			if kind != "text" {
				r.wrong(path, "system", "a block of the system prompt must be text")
			} else {
				c.checkText(r, o, path)
			}
			c.read(r, o, path, kind)
		})
	}, "system")
}

func (c *anthropicCodec) message(r *reader, o *rawjson.Object, path string) {
	c.turns = append(c.turns, anthropicTurn{})
	m := &c.turns[len(c.turns)-1]
	for _, member := range o.Members {
		if member.Name != "role" && member.Name != "content" {
			r.wrong(rawjson.Join(path, clip(member.Name)), "extra-field", "a message has a role and content, and nothing else")
		}
	}
	role, known := r.role(o, path, "system", "user", "assistant")
	if !known {
		return
	}
	if m.role = role; role == "assistant" && c.results {
		c.close(r)
	}
	c.results = c.results || role == "user"
	c.content(r, o, path, m)
}

// close ends the turn with results to the calls of the turn before.
func (c *anthropicCodec) close(r *reader) {
	c.calls.close(r, "the user's next message must begin with a tool_result for each call")
	c.results, c.said = false, ""
}

func (c *anthropicCodec) content(r *reader, o *rawjson.Object, path string, m *anthropicTurn) {
	mayBeEmpty := len(c.turns) == r.size && m.role == "assistant"
	content := o.Get("content")
	at := rawjson.Join(path, "content")
	read := func(v rawjson.Value, path string) { c.block(r, v, path, m) }
	switch {
	case content.IsNull():
		r.fail(empty(o, path))
		r.wrong(at, "content-required", "a message needs content")
		m.empty = true
	case content.IsString():
		r.entry(m.role).asks = m.role == "user"
		r.content(content, at, "", nil)
		m.first, m.last, m.lastAt, m.text = "text", "text", at, content.String()
		m.empty, m.says = m.text == "", true
		c.say(m.role, at)
		if m.text != "" && blank(m.text) {
			r.wrong(at, "text-blank", "the text has only white space")
		}
	case content.IsArray() && m.role == "user" && len(content.Elements()) > 0:
		r.results(content, at, func(o *rawjson.Object) bool { return o.Get("type").String() == "tool_result" }, read)
	default:
		r.entry(m.role)
		r.content(content, at, "content-type", read)
		m.empty = content.IsArray() && len(r.message().lists[0]) == 0
	}
	if m.empty && !mayBeEmpty && !content.IsNull() {
		r.wrong(at, "content-empty", "the content of a message must not be empty")
	}
}

// say notes that the user says something other than results.
func (c *anthropicCodec) say(role, path string) {
	if role == "user" && c.said == "" {
		c.said = path
	}
}

func (c *anthropicCodec) block(r *reader, v rawjson.Value, path string, m *anthropicTurn) {
	o, ok := r.object(v, path, "part-type")
	if !ok {
		return
	}
	kind := o.Get("type").String()
	who, known := anthropicBlocks[kind]
	if m.first == "" {
		m.first = kind
	}
	m.last, m.lastAt, m.text = kind, path, ""
	switch {
	case !known:
		r.member(o, path, "type", "")
		r.wrong(rawjson.Join(path, "type"), "part-type", "the type %s is not that of a block", quote(kind))
	case len(who) == 1 && m.role[:1] != who:
		r.wrong(path, "part-role", "a message of the role %s cannot have a block of the type %s", m.role, kind)
	default:
		if kind != "tool_result" {
			m.says = true
			c.say(m.role, path)
		}
		c.check(r, o, path, kind, m)
	}
	if kind == "tool_result" && r.current().role == "tool" {
		r.returned(r.member(o, path, "tool_use_id", ""))
		r.content(o.Get("content"), rawjson.Join(path, "content"), "result-content", func(v rawjson.Value, path string) { c.resultBlock(r, v, path) })
		r.current().words = false // the text is the tool's
		c.cache(r, o, path)
		return
	}
	c.read(r, o, path, kind)
}

// check notes what the API refuses in a block that has its place.
func (c *anthropicCodec) check(r *reader, o *rawjson.Object, path, kind string, m *anthropicTurn) {
	switch kind {
	case "text":
		m.text = o.Get("text").String()
		c.checkText(r, o, path)
		return
	case "thinking", "redacted_thinking":
		m.thinks = cmp.Or(m.thinks, path)
		if o.Has(cacheControl) {
			r.wrong(rawjson.Join(path, cacheControl), "cache-place", "thinking cannot have cache_control")
		}
		if kind == "thinking" {
			r.want(o, path, "signature", "thinking-signature")
		} else {
			r.want(o, path, "data", "part-field")
		}
		return
	case "tool_use":
		c.call(r, o, path)
	case "tool_result":
		c.result(r, o, path)
		return // its blocks come before it
	case "image", "document":
		c.source(r, o, path)
	case "server_tool_use", "mcp_tool_use":
		if id, ok := r.want(o, path, "id", "call-id"); ok {
			r.spelled(id, rawjson.Join(path, "id"), "call-id", spelling{})
			if kind == "server_tool_use" && !strings.HasPrefix(id, "srvtoolu_") {
				r.wrong(rawjson.Join(path, "id"), "call-id", "the id of a server_tool_use begins with srvtoolu_, got %s", quote(id))
			}
		}
		c.input(r, o, path)
	}
	c.cache(r, o, path)
}

// read reads a block.
func (c *anthropicCodec) read(r *reader, o *rawjson.Object, path, kind string) {
	e := r.current()
	if kind != "tool_use" {
		e.words = true
	}
	switch kind {
	case "text":
		r.sayMember(o, path, "text")
	case "tool_use":
		id := r.member(o, path, "id", "")
		r.use(id, r.member(o, path, "name", ""), o.Get("input"))
	case "thinking":
		e.thinks = e.thinks || len(e.parts) == 0
		r.keepMember(o, path, "thinking", "part-field")
	case "redacted_thinking":
		e.thinks = e.thinks || len(e.parts) == 0
		r.hidden("thinking", o.Get("data"))
	case "compaction":
		e.compact = true
		r.keepMember(o, path, "content", "")
	case "server_tool_use", "mcp_tool_use":
		if c.server == nil {
			c.server = map[string]int{}
		}
		c.server[r.optional(o, path, "id", "")] = r.at
		r.serverUse(o, path)
	case "image":
		r.medium("image", anthropicImageTokens, c.address(r, o, path))
	case "document":
		c.document(r, o, path)
	case "container_upload":
		r.medium("file", fileTokens, o.Value)
	case "search_result":
		r.keepJSON(o.Value)
	default:
		if !strings.HasSuffix(kind, "_tool_result") {
			r.openAIPart(o, path, kind)
			return
		}
		// After a pause, or a wait for a tool of the client, the result is in a
		// later message than the call.
		id, given := r.want(o, path, "tool_use_id", "result-id")
		if call, ok := c.server[id]; ok {
			r.links.join(call, r.at)
		} else if given {
			r.wrong(rawjson.Join(path, "tool_use_id"), "result-without-call", "no call %s comes before the %s", quote(id), kind)
		}
		r.keepJSON(o.Value)
	}
}

// checkText checks a block of text.
func (c *anthropicCodec) checkText(r *reader, o *rawjson.Object, path string) {
	v := o.Get("text")
	at := rawjson.Join(path, "text")
	switch text := v.String(); {
	case !v.IsString():
	case text == "" && o.Has(cacheControl):
		r.wrong(rawjson.Join(path, cacheControl), "cache-place", "an empty text cannot have cache_control")
		return
	case text == "":
		r.wrong(at, "text-empty", "the text is empty: leave the block out")
	case blank(text):
		r.wrong(at, "text-blank", "the text has only white space: leave the block out")
	}
	c.cache(r, o, path)
}

// input checks the arguments and the name of a call.
func (c *anthropicCodec) input(r *reader, o *rawjson.Object, path string) {
	if v := o.Get("input"); !v.IsObject() {
		r.wrong(rawjson.Join(path, "input"), "arguments", "must be an object, got %s", v.Type())
	}
	if name, ok := r.want(o, path, "name", "call-name"); ok && len([]rune(name)) > 200 {
		r.wrong(rawjson.Join(path, "name"), "call-name", "has more than 200 characters")
	}
}

// call checks a call, which is open from here on.
func (c *anthropicCodec) call(r *reader, o *rawjson.Object, path string) {
	c.input(r, o, path)
	id, ok := r.want(o, path, "id", "call-id")
	if !ok {
		return
	}
	at := rawjson.Join(path, "id")
	r.spelled(id, at, "call-id", spelling{})
	if first, seen := c.ids[id]; seen {
		r.wrong(at, "call-id-twice", "%s has the same id, %s", first, quote(id))
		return
	}
	if c.ids == nil {
		c.ids = map[string]string{}
	}
	c.ids[id] = path
	c.calls.open(id, path)
}

// result checks which call a result answers.
func (c *anthropicCodec) result(r *reader, o *rawjson.Object, path string) {
	id, ok := r.want(o, path, "tool_use_id", "result-id")
	if ok && c.calls.answer(r, id, rawjson.Join(path, "tool_use_id")) && c.said != "" {
		r.wrong(c.said, "results-first", "results of calls come before anything else that the user says")
		c.said = ""
	}
}

func (c *anthropicCodec) resultBlock(r *reader, v rawjson.Value, path string) {
	o, ok := r.object(v, path, "result-content")
	if !ok {
		return
	}
	kind := r.member(o, path, "type", "")
	switch {
	case !slices.Contains(anthropicResults, kind):
		r.wrong(path, "result-content", "a block of a result must be one of %s, got %s", strings.Join(anthropicResults, ", "), quote(kind))
	case kind == "text":
		c.checkText(r, o, path)
	default:
		if kind == "image" || kind == "document" {
			c.source(r, o, path)
		}
		c.cache(r, o, path)
	}
	c.read(r, o, path, kind)
}

// anthropicSources are the members that each type of source needs.
var anthropicSources = map[string][]string{
	"base64": {"media_type", "data"}, "url": {"url"}, "file": {"file_id"}, "text": {"media_type", "data"}, "content": nil,
}

// source checks the source of an image or a document.
func (c *anthropicCodec) source(r *reader, o *rawjson.Object, path string) {
	path = rawjson.Join(path, "source")
	if v := o.Get("source"); !v.IsObject() {
		r.wrong(path, "part-field", "must be an object, got %s", v.Type())
		return
	}
	source, _ := o.Get("source").Fields()
	needs, known := anthropicSources[source.Get("type").String()]
	if !known {
		r.wrong(rawjson.Join(path, "type"), "part-field", "the type of a source must be base64, url, file, text or content")
	}
	for _, name := range needs {
		r.want(&source, path, name, "part-field")
	}
}

// address returns the URL of a source, or else the whole source.
func (c *anthropicCodec) address(r *reader, o *rawjson.Object, path string) rawjson.Value {
	if !o.Get("source").IsObject() {
		return o.Value
	}
	source, _ := r.inner(o, path, "source", "")
	if url := source.Get("url"); url.IsString() {
		return url
	}
	return source.Value
}

// document reads a document: text, a list of parts, or a file.
func (c *anthropicCodec) document(r *reader, o *rawjson.Object, path string) {
	for _, name := range []string{"title", "context"} {
		if text := r.optional(o, path, name, ""); text != "" {
			r.keep(text)
		}
	}
	source, ok := r.inner(o, path, "source", "")
	if !ok {
		return
	}
	path = rawjson.Join(path, "source")
	switch source.Get("type").String() {
	case "text":
		r.keepMember(source, path, "data", "")
	case "content":
		r.content(source.Get("content"), rawjson.Join(path, "content"), "", func(v rawjson.Value, path string) {
			if o, ok := r.object(v, path, ""); ok {
				c.read(r, o, path, r.member(o, path, "type", ""))
			}
		})
	default:
		where := source.Value
		if url := source.Get("url"); url.IsString() {
			where = url
		}
		r.medium("document", fileTokens, where)
	}
}

// cache checks the cache_control of an object.
func (c *anthropicCodec) cache(r *reader, o *rawjson.Object, path string) {
	v := o.Get(cacheControl)
	if v.IsNull() {
		return
	}
	path = rawjson.Join(path, cacheControl)
	control, _ := v.Fields()
	ttl := control.Get("ttl").String()
	if control.Get("type").String() != "ephemeral" || control.Has("ttl") && ttl != fiveMinutes && ttl != oneHour {
		r.wrong(path, "cache-form", `cache_control must be {"type":"ephemeral"}, with a ttl of 5m or 1h or none`)
		return
	}
	if c.cached++; c.cached > maxBreakpoints {
		r.wrong(path, "cache-limit", "a request has at most four members cache_control; this is number %d", c.cached)
	}
	switch {
	case ttl != oneHour:
		c.short = true
	case c.short:
		r.wrong(rawjson.Join(path, "ttl"), "cache-order", "what is kept for an hour must come before what is kept for five minutes, in the order tools, system, messages")
	}
}

func (c *anthropicCodec) end(r *reader) {
	c.close(r)
	if r.size > 100_000 {
		r.wrong(rawjson.Index(c.list(), 100_000), "list-long", "a request has at most 100,000 messages, got %d", r.size)
	}
	if len(c.turns) == 0 {
		return
	}
	thinking, _ := r.body.Get("thinking").Fields()
	c.places(r)
	c.last(r, thinking.Get("type").String())
	c.cache(r, &r.body, "")
}

// places checks the order of the roles.
func (c *anthropicCodec) places(r *reader) {
	role := func(i int) string { return rawjson.Join(rawjson.Index(c.list(), i), "role") }
	if c.turns[0].role == "assistant" {
		r.wrong(role(0), "first-role", "the first message must be the user's")
	}
	for i, m := range c.turns {
		if m.role != "system" {
			continue
		}
		follows := i > 0 && (c.turns[i-1].role == "user" || c.turns[i-1].role == "assistant" && strings.HasSuffix(c.turns[i-1].last, "_tool_result"))
		if !follows || i+1 < len(c.turns) && c.turns[i+1].role != "assistant" {
			r.wrong(role(i), "system-place", "a message of the role system must follow a message of the user, and come last or before a message of the assistant")
		}
	}
}

// last checks the turn that the model goes on with: after results, if thinking is
// enabled, or after the last message, if that is its own.
func (c *anthropicCodec) last(r *reader, thinking string) {
	m := c.turns[len(c.turns)-1]
	switch {
	case m.role != "assistant" && thinking == "enabled":
		c.thinkingFirst(r)
		return
	case m.role != "assistant":
		return
	case m.last == "thinking" || m.last == "redacted_thinking":
		r.wrong(m.lastAt, "thinking-last", "the last message cannot end with thinking")
	case m.thinks != "" && thinking == "disabled":
		r.wrong(m.thinks, "thinking-off", "thinking is disabled: the last message cannot have any")
	}
	if m.last == "text" && !blank(m.text) && strings.TrimRightFunc(m.text, unicode.IsSpace) != m.text {
		at := m.lastAt
		if strings.HasSuffix(at, "]") {
			at = rawjson.Join(at, "text")
		}
		r.wrong(at, "trailing-space", "the last message cannot end with white space")
	}
}

// thinkingFirst checks the beginning of the turn: back over calls and their results,
// up to what the user said.
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
		r.wrong(rawjson.Join(rawjson.Index(c.list(), first), "content"), "thinking-first", "thinking is enabled: the turn that goes on must begin with the thinking that it began with")
	}
}

// serverUse reads a call of a tool that the API runs itself: it has no result of
// the client's.
func (r *reader) serverUse(o *rawjson.Object, path string) {
	name := r.member(o, path, "name", "")
	r.spend(callTokens)
	r.count(name)
	text := ""
	if input := o.Get("input"); !input.IsNull() {
		text = input.Compact()
	}
	e := r.current()
	e.names = append(e.names, name)
	r.put(part{kind: call, text: name + "(" + text + ")", name: name, arguments: text})
	r.count(text)
}

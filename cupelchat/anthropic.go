package cupelchat

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// anthropicCodec is Anthropic's Messages API.
type anthropicCodec struct{}

func (anthropicCodec) name() string { return "Anthropic's Messages API" }
func (anthropicCodec) list() string { return "messages" }

func (anthropicCodec) rules() rules {
	return rules{userFirst: true, alternate: true, content: "content", thinking: true, cache: true}
}

func (anthropicCodec) signs() signs {
	return signs{
		request: []string{"system", "anthropic_version", "anthropic_beta", "stop_sequences", "mcp_servers"},
		message: []string{"stop_reason"},
		parts: []string{
			"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document", "search_result", "server_tool_use",
			"web_search_tool_result", "mcp_tool_use", "mcp_tool_result", "container_upload", "compaction",
		},
	}
}

func (anthropicCodec) note(text string) []byte {
	return slices.Concat([]byte(`{"role": "user", "content": `), quoted(text), []byte("}"))
}

func (anthropicCodec) text(text string) []byte { return textBlock("text", text) }

func (anthropicCodec) request(r *reader, body *rawjson.Object) error {
	if err := r.tools(body, anthropicToolsTokens, "tools"); err != nil {
		return err
	}
	return r.system(body, "system")
}

// system reads a system prompt that is a member of the request.
func (r *reader) system(body *rawjson.Object, name string) error {
	for _, m := range body.Members {
		if m.Name != name || m.Value.IsNull() {
			continue
		}
		r.beginMember(m, "system")
		r.current().words = true
		if err := r.content(m.Value, name); err != nil {
			return err
		}
	}
	return nil
}

func (anthropicCodec) message(r *reader, o *rawjson.Object, path string) error {
	role, err := r.role(o, path, "system", "user", "assistant")
	if err != nil {
		return err
	}
	content := o.Get("content")
	if content.IsNull() {
		return empty(o, path)
	}
	if role != "user" || !content.IsArray() {
		e := r.entry(role)
		e.asks = role == "user"
		return r.content(content, path+".content")
	}
	if len(content.Elements()) == 0 {
		r.entry(role)
		return nil
	}
	return r.userBlocks(content, path+".content")
}

// userBlocks reads a message of the user's.
func (r *reader) userBlocks(content rawjson.Value, path string) error {
	isResult := func(o *rawjson.Object) bool { return o.Get("type").String() == "tool_result" }
	return r.results(content, path, isResult, func(v rawjson.Value, path string) error {
		o, err := v.Object(path)
		if err == nil && isResult(&o) {
			return r.toolResult(&o, path)
		}
		return r.part(v, path)
	})
}

// toolResult reads a tool_result of Anthropic's API.
func (r *reader) toolResult(o *rawjson.Object, path string) error {
	id, err := str(o, path, "tool_use_id")
	if err != nil {
		return err
	}
	r.returned(id)
	err = r.content(o.Get("content"), path+".content")
	r.current().words = false // the text is the tool's
	return err
}

// What the API refuses.

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

// check returns what Anthropic's Messages API refuses.
func (anthropicCodec) check(r *checker) {
	c := anthropicChecker{checker: r, ids: map[string]string{}, server: map[string]bool{}, openAt: map[string]int{}}
	c.before()
	if !r.readList() {
		return
	}
	if len(r.messages) > 100_000 {
		r.add(r.path(100_000), "list-long", "a request has at most 100,000 messages, got %d", len(r.messages))
	}
	for i := range r.messages {
		c.message(i)
	}
	c.close()
	c.places()
	c.thinkingFirst()
	c.end()
	if r.isRequest() {
		c.cache(&r.body, "")
	}
}

// anthropicChecker checks one message after another. Messages of one role that follow
// each other are one turn.
type anthropicChecker struct {
	*checker
	turns []anthropicTurn
	ids   map[string]string // paths of calls by id, of the whole conversation

	server map[string]bool // ids of calls of tools that the API runs

	open    []openCall     // of the assistant's turn before or at the message
	openAt  map[string]int // by id
	results bool           // behind the assistant's turn
	said    string         // the path of what the user said before the results, or ""

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

// before checks the members of a request that come before the messages.
func (c *anthropicChecker) before() {
	for i, v := range values(c.body.Get("tools")) {
		path := rawjson.Index("tools", i)
		if o, ok := c.object(v, path); ok {
			c.cache(o, path)
		}
	}
	v := c.body.Get("system")
	switch {
	case v.IsNull(), v.IsString():
	case !v.IsArray():
		c.add("system", "system", "the system prompt must be a string or an array of blocks, got %s", v.Type())
	default:
		for i, b := range values(v) {
			path := rawjson.Index("system", i)
			o, ok := c.object(b, path)
			if !ok || o.Get("type").String() != "text" {
				c.add(path, "system", "a block of the system prompt must be text")
				continue
			}
			c.text(o, path)
		}
	}
}

// close ends the turn with results to the calls of the turn before.
func (c *anthropicChecker) close() {
	for _, call := range c.open {
		if !call.answered {
			c.add(call.path, "call-without-result", "the call %s has no result: the user's next message must begin with a tool_result for each call", quote(call.id))
		}
	}
	clear(c.openAt)
	c.open, c.results, c.said = nil, false, ""
}

func (c *anthropicChecker) message(i int) {
	var m anthropicTurn
	defer func() { c.turns = append(c.turns, m) }()
	path := c.path(i)
	o, ok := c.checker.message(i)
	if !ok {
		return
	}
	for _, member := range o.Members {
		if member.Name != "role" && member.Name != "content" {
			c.add(rawjson.Join(path, clip(member.Name)), "extra-field", "a message has a role and content, and nothing else")
		}
	}
	if m.role, ok = c.role(o, path, "user", "assistant", "system"); !ok {
		m.role = ""
		return
	}
	if m.role == "assistant" && c.results {
		c.close()
	}
	c.results = c.results || m.role == "user"
	c.content(o.Get("content"), rawjson.Join(path, "content"), &m, i == len(c.messages)-1)
}

func (c *anthropicChecker) content(v rawjson.Value, path string, m *anthropicTurn, last bool) {
	mayBeEmpty := last && m.role == "assistant"
	switch {
	case v.IsNull():
		c.add(path, "content-required", "a message needs content")
		m.empty = true
	case v.IsString():
		m.first, m.last, m.lastAt, m.text = "text", "text", path, v.String()
		switch {
		case m.text == "" && !mayBeEmpty:
			c.add(path, "content-empty", "the content of a message must not be empty")
		case m.text != "" && blank(m.text):
			c.add(path, "text-blank", "the text has only white space")
		}
		m.empty, m.says = m.text == "", true
		c.say(m.role, path)
	case !v.IsArray():
		c.add(path, "content-type", "the content must be a string or an array of blocks, got %s", v.Type())
	default:
		blocks := values(v)
		m.empty = len(blocks) == 0
		if m.empty && !mayBeEmpty {
			c.add(path, "content-empty", "the content of a message must not be empty")
		}
		for i, b := range blocks {
			c.block(b, rawjson.Index(path, i), m)
		}
	}
}

// say notes that the user says something other than results.
func (c *anthropicChecker) say(role, path string) {
	if role == "user" && c.said == "" {
		c.said = path
	}
}

func (c *anthropicChecker) block(v rawjson.Value, path string, m *anthropicTurn) {
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, "part-type", "a block must be an object, got %s", v.Type())
		return
	}
	kind := o.Get("type").String()
	who, known := anthropicBlocks[kind]
	if !known {
		c.add(rawjson.Join(path, "type"), "part-type", "the type %s is not that of a block", quote(kind))
		return
	}
	if m.first == "" {
		m.first = kind
	}
	m.last, m.lastAt, m.text = kind, path, ""
	if len(who) == 1 && m.role[:1] != who {
		c.add(path, "part-role", "a message of the role %s cannot have a block of the type %s", m.role, kind)
		return
	}
	if kind != "tool_result" {
		m.says = true
		c.say(m.role, path)
	}
	switch kind {
	case "text":
		m.text = o.Get("text").String()
		c.text(o, path)
		return
	case "thinking":
		m.thinks = cmp.Or(m.thinks, path)
		c.uncached(o, path)
		if v := o.Get("thinking"); !v.IsString() {
			c.add(rawjson.Join(path, "thinking"), "part-field", "thinking must be a string, got %s", v.Type())
		}
		c.str(o, path, "signature", "thinking-signature")
		return
	case "redacted_thinking":
		m.thinks = cmp.Or(m.thinks, path)
		c.uncached(o, path)
		c.str(o, path, "data", "part-field")
		return
	case "tool_use":
		c.call(o, path)
	case "tool_result":
		c.result(o, path)
	case "image", "document":
		c.source(o, path)
	case "server_tool_use", "mcp_tool_use":
		c.serverCall(o, path, kind)
	default:
		if strings.HasSuffix(kind, "_tool_result") {
			c.serverResult(o, path, kind)
		}
	}
	c.cache(o, path)
}

// text checks a block of text.
func (c *anthropicChecker) text(o *rawjson.Object, path string) {
	v := o.Get("text")
	at := rawjson.Join(path, "text")
	text := v.String()
	switch {
	case !v.IsString():
		c.add(at, "part-field", "text must be a string, got %s", v.Type())
	case text == "" && o.Has("cache_control"):
		c.add(rawjson.Join(path, "cache_control"), "cache-place", "an empty text cannot have cache_control")
		return
	case text == "":
		c.add(at, "text-empty", "the text is empty: leave the block out")
	case blank(text):
		c.add(at, "text-blank", "the text has only white space: leave the block out")
	}
	c.cache(o, path)
}

// call checks a call, which is open from here on.
func (c *anthropicChecker) call(o *rawjson.Object, path string) {
	if v := o.Get("input"); !v.IsObject() {
		c.add(rawjson.Join(path, "input"), "arguments", "input must be an object, got %s", v.Type())
	}
	if name, ok := c.str(o, path, "name", "call-name"); ok && utf8.RuneCountInString(name) > 200 {
		c.add(rawjson.Join(path, "name"), "call-name", "the name has more than 200 characters")
	}
	id, ok := c.id(o, path, "id", "call-id", spelling{})
	if !ok {
		return
	}
	if first, seen := c.ids[id]; seen {
		c.add(rawjson.Join(path, "id"), "call-id-twice", "%s has the same id, %s", first, quote(id))
		return
	}
	c.ids[id] = path
	c.openAt[id] = len(c.open)
	c.open = append(c.open, openCall{id: id, path: path})
}

// result checks the result of a call.
func (c *anthropicChecker) result(o *rawjson.Object, path string) {
	at := rawjson.Join(path, "content")
	switch v := o.Get("content"); {
	case v.IsArray():
		for i, b := range values(v) {
			c.resultBlock(b, rawjson.Index(at, i))
		}
	case !v.IsNull() && !v.IsString():
		c.add(at, "result-content", "the content must be a string or an array of blocks, got %s", v.Type())
	}
	id, ok := c.str(o, path, "tool_use_id", "result-id")
	if !ok {
		return
	}
	at = rawjson.Join(path, "tool_use_id")
	i, known := c.openAt[id]
	switch {
	case !known:
		c.add(at, "result-without-call", "the assistant's message before has no call %s", quote(id))
	case c.open[i].answered:
		c.add(at, "result-twice", "the call %s has a result already", quote(id))
	default:
		c.open[i].answered = true
		if c.said != "" {
			c.add(c.said, "results-first", "results of calls come before anything else that the user says")
			c.said = ""
		}
	}
}

func (c *anthropicChecker) resultBlock(v rawjson.Value, path string) {
	o, ok := c.object(v, path)
	kind := o.Get("type").String()
	if !ok || !slices.Contains(anthropicResults, kind) {
		c.add(path, "result-content", "a block of a result must be one of %s, got %s", strings.Join(anthropicResults, ", "), quote(kind))
		return
	}
	switch kind {
	case "text":
		c.text(o, path)
		return
	case "image", "document":
		c.source(o, path)
	}
	c.cache(o, path)
}

// anthropicSources are the members that each type of source needs.
var anthropicSources = map[string][]string{
	"base64": {"media_type", "data"}, "url": {"url"}, "file": {"file_id"}, "text": {"media_type", "data"}, "content": nil,
}

func (c *anthropicChecker) source(o *rawjson.Object, path string) {
	path = rawjson.Join(path, "source")
	source, ok := c.object(o.Get("source"), path)
	if !ok {
		c.add(path, "part-field", "source must be an object, got %s", o.Get("source").Type())
		return
	}
	needs, known := anthropicSources[source.Get("type").String()]
	if !known {
		c.add(rawjson.Join(path, "type"), "part-field", "the type of a source must be base64, url, file, text or content")
	}
	for _, name := range needs {
		c.str(source, path, name, "part-field")
	}
}

// serverCall checks a call of a tool that the API runs.
func (c *anthropicChecker) serverCall(o *rawjson.Object, path, kind string) {
	id, ok := c.id(o, path, "id", "call-id", spelling{})
	if !ok {
		return
	}
	if kind == "server_tool_use" && !strings.HasPrefix(id, "srvtoolu_") {
		c.add(rawjson.Join(path, "id"), "call-id", "the id of a server_tool_use begins with srvtoolu_, got %s", quote(id))
	}
	if v := o.Get("input"); !v.IsObject() {
		c.add(rawjson.Join(path, "input"), "arguments", "input must be an object, got %s", v.Type())
	}
	c.str(o, path, "name", "call-name")
	c.server[id] = true
}

func (c *anthropicChecker) serverResult(o *rawjson.Object, path, kind string) {
	if id, ok := c.str(o, path, "tool_use_id", "result-id"); ok && !c.server[id] {
		c.add(rawjson.Join(path, "tool_use_id"), "result-without-call", "no call %s comes before the %s", quote(id), kind)
	}
}

// cache checks the cache_control of an object.
func (c *anthropicChecker) cache(o *rawjson.Object, path string) {
	v := o.Get("cache_control")
	if v.IsNull() {
		return
	}
	path = rawjson.Join(path, "cache_control")
	control, ok := c.object(v, path)
	ttl := control.Get("ttl").String()
	if !ok || control.Get("type").String() != "ephemeral" || control.Has("ttl") && ttl != "5m" && ttl != "1h" {
		c.add(path, "cache-form", `cache_control must be {"type":"ephemeral"}, with a ttl of 5m or 1h or none`)
		return
	}
	if c.cached++; c.cached > 4 {
		c.add(path, "cache-limit", "a request has at most four members cache_control; this is number %d", c.cached)
	}
	switch {
	case ttl != "1h":
		c.short = true
	case c.short:
		c.add(rawjson.Join(path, "ttl"), "cache-order", "what is kept for an hour must come before what is kept for five minutes, in the order tools, system, messages")
	}
}

// uncached checks a block that cannot have cache_control.
func (c *anthropicChecker) uncached(o *rawjson.Object, path string) {
	if o.Has("cache_control") {
		c.add(rawjson.Join(path, "cache_control"), "cache-place", "thinking cannot have cache_control")
	}
}

// places checks the order of the roles.
func (c *anthropicChecker) places() {
	if c.turns[0].role == "assistant" {
		c.add(rawjson.Join(c.path(0), "role"), "first-role", "the first message must be the user's")
	}
	for i, m := range c.turns {
		if m.role != "system" {
			continue
		}
		behind := i > 0 && (c.turns[i-1].role == "user" || c.turns[i-1].role == "assistant" && strings.HasSuffix(c.turns[i-1].last, "_tool_result"))
		if !behind || i+1 < len(c.turns) && c.turns[i+1].role != "assistant" {
			c.add(rawjson.Join(c.path(i), "role"), "system-place", "a message of the role system must follow a message of the user, and come last or before a message of the assistant")
		}
	}
}

// thinkingFirst checks the turn that the model goes on with behind results, if
// thinking is enabled.
func (c *anthropicChecker) thinkingFirst() {
	if c.thinking() != "enabled" || c.turns[len(c.turns)-1].role == "assistant" {
		return
	}
	// Back over calls and their results, up to what the user said.
	first := len(c.turns)
	for i, m := range slices.Backward(c.turns) {
		if m.role == "user" && m.says {
			break
		}
		if m.role == "assistant" {
			first = i
		}
	}
	if first == len(c.turns) {
		return
	}
	if m := c.turns[first]; !m.empty && m.first != "thinking" && m.first != "redacted_thinking" {
		c.add(rawjson.Join(c.path(first), "content"), "thinking-first", "thinking is enabled: the turn that goes on must begin with the thinking that it began with")
	}
}

func (c *anthropicChecker) thinking() string {
	for _, m := range c.body.Get("thinking").Members() {
		if m.Name == "type" {
			return m.Value.String()
		}
	}
	return ""
}

// end checks the last message.
func (c *anthropicChecker) end() {
	m := c.turns[len(c.turns)-1]
	if m.role != "assistant" {
		return
	}
	switch {
	case m.last == "thinking" || m.last == "redacted_thinking":
		c.add(m.lastAt, "thinking-last", "the last message cannot end with thinking")
	case m.thinks != "" && c.thinking() == "disabled":
		c.add(m.thinks, "thinking-off", "thinking is disabled: the last message cannot have any")
	}
	if m.last == "text" && !blank(m.text) && strings.TrimRightFunc(m.text, unicode.IsSpace) != m.text {
		at := m.lastAt
		if strings.HasSuffix(at, "]") {
			at = rawjson.Join(at, "text")
		}
		c.add(at, "trailing-space", "the last message cannot end with white space")
	}
}

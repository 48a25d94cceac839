package rules

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// Rules of Bedrock's Converse alone.
const (
	ruleToolConfig   = "tool-config"   // a conversation with calls has tools
	ruleDocumentText = "document-text" // a document comes with text
	ruleResultStatus = "result-status" // success or error
)

var (
	bedrockBlocks = []string{
		"text", "image", "document", "video", "audio", "toolUse", "toolResult", "guardContent",
		"cachePoint", "reasoningContent", "citationsContent", "searchResult",
	}
	bedrockResults = []string{"text", "json", "image", "document", "video", "searchResult"}
	bedrockID      = form{extra: ".:", most: 64}
	bedrockName    = form{most: 64}
)

// Bedrock returns what Amazon Bedrock's Converse refuses.
func Bedrock(body []byte) []Violation {
	r, ok := parse(body, "messages")
	if !ok {
		return r.found
	}
	c := bedrock{request: r}
	c.system()
	if !r.readList() {
		return r.found
	}
	before := ""
	for i := range r.messages {
		before = c.message(i, before)
	}
	c.close()
	if c.tools && r.body.at != nil && !r.body.has("toolConfig") {
		c.add("toolConfig", ruleToolConfig, "a request with toolUse or toolResult needs toolConfig")
	}
	return r.found
}

type bedrock struct {
	*request
	tools   bool // there are calls or results
	open    []openCall
	openAt  map[string]int
	results map[string]bool // ids of the results in the message
	cached  int
}

func (c *bedrock) system() {
	v := c.body.get("system")
	if !v.IsNull() && !v.IsArray() {
		c.add("system", ruleSystem, "the system prompt must be an array of blocks, got %s", v.Type())
	}
	for i, b := range values(v) {
		path := rawjson.Index("system", i)
		o, ok := c.object(b, path)
		if !ok {
			c.add(path, ruleSystem, "a block of the system prompt must be an object, got %s", b.Type())
			continue
		}
		c.text(o, path)
		c.cache(o, path)
	}
}

func (c *bedrock) text(o object, path string) {
	v := o.get("text")
	switch {
	case v.IsNull():
	case !v.IsString():
		c.add(rawjson.Join(path, "text"), rulePartField, "text must be a string, got %s", v.Type())
	case blank(v.String()):
		c.add(rawjson.Join(path, "text"), ruleTextBlank, "the text is blank: leave the block out")
	}
}

func (c *bedrock) cache(o object, path string) {
	if !o.has("cachePoint") {
		return
	}
	if c.cached++; c.cached > 4 {
		c.add(rawjson.Join(path, "cachePoint"), ruleCacheLimit, "a request has at most four cache points; this is number %d", c.cached)
	}
}

// close ends the message behind calls.
func (c *bedrock) close() {
	for _, call := range c.open {
		if !call.answered {
			c.add(call.path, ruleCallWithoutResult, "the call %s has no result: the next message must have a toolResult for each call", quote(call.id))
		}
	}
	c.open, c.openAt = nil, nil
}

// message checks a message and returns its role.
func (c *bedrock) message(i int, before string) string {
	path := c.path(i)
	o, ok := c.request.message(i)
	if !ok {
		return ""
	}
	role, known := c.role(o, path, "user", "assistant")
	switch {
	case !known:
	case i == 0 && role == "assistant":
		c.add(rawjson.Join(path, "role"), ruleFirstRole, "the first message must be the user's")
	case role == before:
		c.add(rawjson.Join(path, "role"), ruleAlternation, "roles must alternate: the message before is the %s's too", role)
	}
	calls, callsAt := []openCall(nil), map[string]int{}
	c.results = map[string]bool{}
	v := o.get("content")
	at := rawjson.Join(path, "content")
	blocks := values(v)
	switch {
	case v.IsNull():
		c.add(at, ruleContentRequired, "a message needs content")
	case !v.IsArray():
		c.add(at, ruleContentType, "the content must be an array of blocks, got %s", v.Type())
	case len(blocks) == 0:
		c.add(at, ruleContentEmpty, "the content is empty; it needs a block")
	}
	document, text := false, false
	for j, b := range blocks {
		where := rawjson.Index(at, j)
		block, kind, ok := c.union(b, where, bedrockBlocks, rulePartType)
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
				calls = c.call(block.get(kind), rawjson.Join(where, kind), calls, callsAt)
			} else {
				c.add(where, rulePartRole, "a message of the user cannot have a toolUse")
			}
		case "toolResult":
			if role != "assistant" {
				c.result(block.get(kind), rawjson.Join(where, kind))
			} else {
				c.add(where, rulePartRole, "a message of the assistant cannot have a toolResult")
			}
		}
	}
	if document && !text {
		c.add(at, ruleDocumentText, "a document needs a block of text with it")
	}
	c.close()
	c.open, c.openAt = calls, callsAt
	return role
}

// union reads an object with one member out of several.
func (c *bedrock) union(v rawjson.Value, path string, names []string, rule string) (object, string, bool) {
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, rule, "a block must be an object, got %s", v.Type())
		return o, "", false
	}
	var has []string
	for _, m := range o.members {
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

func (c *bedrock) call(v rawjson.Value, path string, calls []openCall, at map[string]int) []openCall {
	c.tools = true
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, ruleCallForm, "toolUse must be an object, got %s", v.Type())
		return calls
	}
	c.id(o, path, "name", ruleCallName, bedrockName)
	if v := o.get("input"); !v.IsObject() {
		c.add(rawjson.Join(path, "input"), ruleArguments, "input must be an object, got %s", v.Type())
	}
	id, ok := c.id(o, path, "toolUseId", ruleCallID, bedrockID)
	if !ok {
		return calls
	}
	if _, twice := at[id]; twice {
		c.add(rawjson.Join(path, "toolUseId"), ruleCallIDTwice, "another call of the message has the id %s", quote(id))
		return calls
	}
	at[id] = len(calls)
	return append(calls, openCall{id: id, path: strings.TrimSuffix(path, ".toolUse")})
}

func (c *bedrock) result(v rawjson.Value, path string) {
	c.tools = true
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, ruleResultContent, "toolResult must be an object, got %s", v.Type())
		return
	}
	status := o.get("status")
	if s := status.String(); !status.IsNull() && s != "success" && s != "error" {
		c.add(rawjson.Join(path, "status"), ruleResultStatus, "the status must be success or error, got %s", quote(s))
	}
	content := o.get("content")
	at := rawjson.Join(path, "content")
	blocks := values(content)
	switch {
	case !content.IsArray():
		c.add(at, ruleResultContent, "the content must be an array of blocks, got %s", content.Type())
	case len(blocks) == 0 && status.String() == "error":
		c.add(at, ruleResultContent, "the content of a result with the status error must not be empty")
	}
	for i, b := range blocks {
		where := rawjson.Index(at, i)
		block, kind, ok := c.union(b, where, bedrockResults, ruleResultContent)
		switch {
		case !ok:
		case kind == "text":
			c.text(block, where)
		case kind == "json" && !block.get(kind).IsObject():
			c.add(rawjson.Join(where, kind), ruleResultContent, "json must be an object, got %s", block.get(kind).Type())
		}
	}
	id, ok := c.id(o, path, "toolUseId", ruleResultID, bedrockID)
	if !ok {
		return
	}
	at = rawjson.Join(path, "toolUseId")
	i, known := c.openAt[id]
	switch {
	case c.results[id]:
		c.add(at, ruleResultTwice, "the message has another result of the call %s", quote(id))
	case !known:
		c.add(at, ruleResultWithoutCall, "the message before has no call %s", quote(id))
	default:
		c.open[i].answered = true
	}
	c.results[id] = true
}

package rules

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// Rules of OpenAI's Chat Completions alone.
const (
	ruleAuthor = "author" // the name of who speaks
)

// openAIName is the form of a function's name.
var openAIName = form{most: 64}

// OpenAI returns what OpenAI's Chat Completions API refuses.
func OpenAI(body []byte) []Violation {
	r, ok := parse(body, "messages")
	if !ok || !r.readList() {
		return r.found
	}
	c := openAI{request: r}
	for i := range r.messages {
		if o, ok := r.message(i); ok {
			c.message(o, r.path(i))
		} else {
			c.close()
		}
	}
	c.close()
	return r.found
}

// openAI checks one message after another. Between a message with calls and the
// next message that is not a result, calls are open.
type openAI struct {
	*request
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
func (c *openAI) close() {
	for _, call := range c.open {
		if !call.answered {
			c.add(call.path, ruleCallWithoutResult, "the call %s has no result: a message of the role tool must follow for each call, before any other message", quote(call.id))
		}
	}
	c.within, c.open, c.byID, c.asked = false, nil, nil, nil
}

func (c *openAI) message(o object, path string) {
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
func (c *openAI) author(o object, path, role string) {
	v := o.get("name")
	if role == "function" {
		c.id(o, path, "name", ruleAuthor, openAIName)
		return
	}
	if v.IsNull() {
		return
	}
	name, ok := c.str(o, path, "name", ruleAuthor)
	if ok && strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`<|\/>`, r) }) {
		c.add(rawjson.Join(path, "name"), ruleAuthor, `the name %s must not have white space, <, |, \, / or >`, quote(name))
	}
}

// content checks what a message says.
func (c *openAI) content(o object, path, role string) {
	v := o.get("content")
	at := rawjson.Join(path, "content")
	switch {
	case v.IsString():
	case v.IsArray():
		parts := values(v)
		if len(parts) == 0 {
			c.add(at, ruleContentEmpty, "the content is an empty array; it needs a part")
		}
		for i, p := range parts {
			c.part(p, rawjson.Index(at, i), role)
		}
	case !v.IsNull():
		c.add(at, ruleContentType, "the content must be a string or an array of parts, got %s", v.Type())
	case role == "assistant":
		if !o.has("tool_calls") && !o.has("function_call") && !o.has("refusal") && !o.has("audio") {
			c.add(at, ruleContentRequired, "a message of the assistant needs content, unless it has calls")
		}
	case role == "function" && !v.IsZero():
		// Null is what a function returns that returns nothing.
	default:
		c.add(at, ruleContentRequired, "a message of the role %s needs content", role)
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

func (c *openAI) part(v rawjson.Value, path, role string) {
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, rulePartType, "a part must be an object, got %s", v.Type())
		return
	}
	kind, ok := c.str(o, path, "type", rulePartType)
	if !ok {
		return
	}
	if !slices.Contains(openAIParts[role], kind) {
		if slices.Contains(openAIParts["user"], kind) || slices.Contains(openAIParts["assistant"], kind) {
			c.add(path, rulePartRole, "a message of the role %s cannot have a part of the type %s", role, kind)
		} else {
			c.add(rawjson.Join(path, "type"), rulePartType, "the type must be one of %s, got %s", strings.Join(openAIParts[role], ", "), quote(kind))
		}
		return
	}
	at := rawjson.Join(path, kind)
	switch kind {
	case "text", "refusal":
		if member := o.get(kind); !member.IsString() {
			c.add(at, rulePartField, "%s must be a string, got %s", kind, member.Type())
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
func (r *request) fields(o object, path, name string, members ...string) {
	v := o.get(name)
	path = rawjson.Join(path, name)
	inner, ok := r.object(v, path)
	if !ok {
		r.add(path, rulePartField, "%s must be an object, got %s", name, v.Type())
		return
	}
	for _, m := range members {
		r.str(inner, path, m, rulePartField)
	}
}

// calls checks the calls of a message, which are open from here on.
func (c *openAI) calls(o object, path string) {
	if v := o.get("function_call"); !v.IsNull() {
		c.function(v, rawjson.Join(path, "function_call"))
	}
	v := o.get("tool_calls")
	path = rawjson.Join(path, "tool_calls")
	if v.IsNull() {
		return
	}
	if !v.IsArray() {
		c.add(path, ruleCallForm, "tool_calls must be an array, got %s", v.Type())
		return
	}
	list := values(v)
	if len(list) == 0 {
		c.add(path, ruleCallsEmpty, "tool_calls is an empty array: leave it out if there are no calls")
		return
	}
	c.within, c.byID, c.asked = true, map[string]int{}, map[string]string{}
	for i, call := range list {
		c.call(call, rawjson.Index(path, i))
	}
}

func (c *openAI) call(v rawjson.Value, path string) {
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, ruleCallForm, "a call must be an object, got %s", v.Type())
		return
	}
	if id, ok := c.str(o, path, "id", ruleCallID); ok {
		c.idLength(id, rawjson.Join(path, "id"), 40)
		if _, twice := c.byID[id]; twice {
			c.add(rawjson.Join(path, "id"), ruleCallIDTwice, "another call of the message has the id %s", quote(id))
		} else {
			c.byID[id] = len(c.open)
			c.open = append(c.open, openCall{id: id, path: path})
		}
	}
	switch kind := o.get("type"); kind.String() {
	case "function":
		c.function(o.get("function"), rawjson.Join(path, "function"))
	case "custom":
		c.custom(o.get("custom"), rawjson.Join(path, "custom"))
	default:
		c.add(rawjson.Join(path, "type"), ruleCallForm, "the type of a call must be function or custom")
	}
}

func (r *request) idLength(id, path string, most int) {
	if n := len([]rune(id)); n > most {
		r.add(path, ruleCallID, "the id has %d characters, at most %d are allowed", n, most)
	}
}

// function checks the function of a call.
func (c *openAI) function(v rawjson.Value, path string) {
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, ruleCallForm, "function must be an object, got %s", v.Type())
		return
	}
	c.id(o, path, "name", ruleCallName, openAIName)
	c.argumentText(o, path, "arguments")
}

func (c *openAI) custom(v rawjson.Value, path string) {
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, ruleCallForm, "custom must be an object, got %s", v.Type())
		return
	}
	c.str(o, path, "name", ruleCallName)
	c.argumentText(o, path, "input")
}

// argumentText requires the arguments of a call as a string, which may be empty.
func (r *request) argumentText(o object, path, name string) {
	if v := o.get(name); !v.IsString() {
		r.add(rawjson.Join(path, name), ruleArguments, "%s must be a string with JSON in it, got %s", name, v.Type())
	}
}

// result checks a message of the role tool.
func (c *openAI) result(o object, path string) {
	if !c.within {
		c.add(rawjson.Join(path, "role"), ruleResultWithoutCall, "a message of the role tool must follow the message with the call, with nothing but other results between")
		return
	}
	at := rawjson.Join(path, "tool_call_id")
	id, ok := c.str(o, path, "tool_call_id", ruleResultID)
	if !ok {
		return
	}
	i, known := c.byID[id]
	switch {
	case !known:
		c.add(at, ruleResultWithoutCall, "the message with calls before it has no call %s", quote(id))
	case c.open[i].answered:
		c.add(at, ruleResultTwice, "the call %s has a result already, %s", quote(id), c.asked[id])
	default:
		c.open[i].answered = true
		c.asked[id] = path
	}
}

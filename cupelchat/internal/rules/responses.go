package rules

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// Rules of OpenAI's Responses alone.
const (
	ruleStateTwice       = "state-twice"       // one reference to state elsewhere
	ruleItemType         = "item-type"         // known types of items
	ruleItemID           = "item-id"           // the form of an item's id
	ruleItemTwice        = "item-twice"        // ids are unique
	ruleReasoningSummary = "reasoning-summary" // reasoning has a summary
	ruleReasoningFollow  = "reasoning-follow"  // what the model made follows reasoning
	ruleCompactionLast   = "compaction-last"   // a trigger of compaction is the last item
)

// responsesItems are the types of items; the value is the beginning of an id of
// the type, if the API asks for one.
var responsesItems = map[string]string{
	"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc",
	"function_call_output": "", "custom_tool_call_output": "", "computer_call": "", "computer_call_output": "",
	"file_search_call": "", "web_search_call": "", "code_interpreter_call": "", "image_generation_call": "",
	"local_shell_call": "", "local_shell_call_output": "", "shell_call": "", "shell_call_output": "",
	"apply_patch_call": "", "apply_patch_call_output": "", "tool_search_call": "", "tool_search_output": "",
	"mcp_list_tools": "", "mcp_approval_request": "", "mcp_approval_response": "", "mcp_call": "",
	"additional_tools": "", "configuration_update": "", "compaction": "", "compaction_summary": "",
	"compaction_trigger": "", "item_reference": "", "program": "", "program_output": "",
}

// responsesCalls are the types of calls that the program answers, with their
// results.
var responsesCalls = map[string]string{
	"function_call":    "function_call_output",
	"custom_tool_call": "custom_tool_call_output",
	"computer_call":    "computer_call_output",
}

// Responses returns what OpenAI's Responses API refuses.
func Responses(body []byte) []Violation {
	r, ok := parse(body, "input")
	if !ok {
		return r.found
	}
	c := responses{request: r, calls: map[string]*responsesCall{}, ids: map[string]string{}}
	if !c.whole() || !r.readList() {
		return r.found
	}
	for i := range r.messages {
		if o, ok := r.message(i); ok {
			c.item(o, i)
		}
	}
	c.unanswered()
	return r.found
}

type responses struct {
	*request
	elsewhere bool                      // a part of the conversation is not in the body
	calls     map[string]*responsesCall // by type of result and id
	order     []*responsesCall
	ids       map[string]string // paths of items by id
}

type responsesCall struct {
	id, path string
	answered bool
}

// whole checks the request apart from its items, and reports whether it has any.
func (c *responses) whole() bool {
	if c.body.at == nil {
		return true
	}
	o := c.body
	if v := o.get("instructions"); !v.IsNull() && !v.IsString() {
		c.add("instructions", ruleSystem, "instructions must be a string, got %s", v.Type())
	}
	previous, conversation := o.get("previous_response_id").String() != "", o.has("conversation")
	if previous && conversation {
		c.add("previous_response_id", ruleStateTwice, "a request has previous_response_id or conversation, not both")
	}
	c.elsewhere = previous || conversation || o.has("prompt")
	v := o.get("input")
	switch {
	case v.IsString(), v.IsNull() && c.elsewhere:
		return false
	case !v.IsArray() && !v.IsNull():
		c.add("input", ruleListType, "the input must be a string or an array of items, got %s", v.Type())
		return false
	}
	return true
}

func (c *responses) item(o object, i int) {
	path := c.path(i)
	kind := o.get("type").String()
	if !o.has("type") && o.has("role") {
		kind = "message"
	} else if !o.has("type") && o.has("id") {
		kind = "item_reference"
	}
	if _, known := responsesItems[kind]; !known {
		c.add(rawjson.Join(path, "type"), ruleItemType, "the type %s is not that of an item", quote(kind))
		return
	}
	c.itemID(o, path, kind)
	switch kind {
	case "message":
		c.message(o, path)
	case "reasoning":
		if v := o.get("summary"); !v.IsArray() {
			c.add(rawjson.Join(path, "summary"), ruleReasoningSummary, "reasoning needs a summary, which may be an empty array")
		}
		c.follow(o, i)
	case "function_call":
		c.id(o, path, "name", ruleCallName, form{})
		c.argumentText(o, path, "arguments")
	case "custom_tool_call":
		c.str(o, path, "name", ruleCallName)
		c.argumentText(o, path, "input")
	case "function_call_output", "custom_tool_call_output":
		c.output(o, path)
	case "compaction_trigger":
		if i < len(c.messages)-1 {
			c.add(path, ruleCompactionLast, "a compaction_trigger must be the last item")
		}
	}
	c.pair(o, path, kind)
}

// itemID checks the id of an item, which it need not have.
func (c *responses) itemID(o object, path, kind string) {
	v := o.get("id")
	at := rawjson.Join(path, "id")
	if kind == "item_reference" {
		c.id(o, path, "id", ruleItemID, form{})
		return
	}
	if v.IsNull() {
		return
	}
	id := v.String()
	prefix := responsesItems[kind]
	switch first, seen := c.ids[id]; {
	case !v.IsString() || id == "" || strings.ContainsFunc(id, func(r rune) bool { return !word(r) }):
		c.add(at, ruleItemID, "the id of an item has letters, digits, _ and - only, got %s", quote(id))
	case !strings.HasPrefix(id, prefix):
		c.add(at, ruleItemID, "the id of a %s begins with %s, got %s", kind, prefix, quote(id))
	case seen:
		c.add(at, ruleItemTwice, "%s has the same id, %s", first, quote(id))
	default:
		c.ids[id] = path
	}
}

func (c *responses) message(o object, path string) {
	role, ok := c.role(o, path, "user", "assistant", "system", "developer")
	if !ok {
		return
	}
	v := o.get("content")
	at := rawjson.Join(path, "content")
	switch {
	case v.IsString():
	case v.IsNull():
		c.add(at, ruleContentRequired, "a message needs content")
	case !v.IsArray():
		c.add(at, ruleContentType, "the content must be a string or an array of parts, got %s", v.Type())
	default:
		kinds := []string{"input_text", "input_image", "input_file", "input_audio"}
		if role == "assistant" {
			kinds = []string{"output_text", "refusal"}
		}
		for i, p := range values(v) {
			c.part(p, rawjson.Index(at, i), kinds)
		}
	}
}

// part checks a part of a message or of a result.
func (c *responses) part(v rawjson.Value, path string, kinds []string) {
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, rulePartType, "a part must be an object, got %s", v.Type())
		return
	}
	kind := o.get("type").String()
	if !slices.Contains(kinds, kind) {
		c.add(path, rulePartType, "the type must be one of %s, got %s", strings.Join(kinds, ", "), quote(kind))
		return
	}
	name := map[string]string{"input_text": "text", "output_text": "text", "refusal": "refusal"}[kind]
	if name != "" && !o.get(name).IsString() {
		c.add(rawjson.Join(path, name), rulePartField, "%s must be a string, got %s", name, o.get(name).Type())
	}
}

// follow checks what comes after reasoning, if the API keeps it under an id.
func (c *responses) follow(o object, i int) {
	if o.get("id").String() == "" {
		return
	}
	if i+1 < len(c.messages) {
		next := c.messages[i+1]
		kind, role, id := "", "", false
		for _, m := range next.Members() {
			switch m.Name {
			case "type":
				kind = m.Value.String()
			case "role":
				role = m.Value.String()
			case "id":
				id = !m.Value.IsNull()
			}
		}
		made := kind != "message" && kind != "" && !strings.HasSuffix(kind, "_output") && !strings.HasSuffix(kind, "_response")
		reference := kind == "" && role == "" && id
		if made || reference || role == "assistant" {
			return
		}
	}
	c.add(c.path(i), ruleReasoningFollow, "reasoning must be followed by the item that it led to: a message of the assistant or a call")
}

// output checks what a tool returned.
func (c *responses) output(o object, path string) {
	v := o.get("output")
	at := rawjson.Join(path, "output")
	switch {
	case v.IsString():
	case v.IsArray():
		for i, p := range values(v) {
			c.part(p, rawjson.Index(at, i), []string{"input_text", "input_image", "input_file"})
		}
	default:
		c.add(at, ruleResultContent, "the output must be a string or an array of parts, got %s", v.Type())
	}
}

// pair puts a result to its call.
func (c *responses) pair(o object, path, kind string) {
	output := responsesCalls[kind]
	isCall := output != ""
	if !isCall {
		output = kind
		if !slices.Contains([]string{"function_call_output", "custom_tool_call_output", "computer_call_output"}, kind) {
			return
		}
	}
	at := rawjson.Join(path, "call_id")
	id, ok := c.str(o, path, "call_id", ruleCallID)
	if !ok {
		return
	}
	c.idLength(id, at, 64)
	key := output + " " + id
	call, known := c.calls[key]
	switch {
	case isCall:
		call = &responsesCall{id: id, path: path}
		c.calls[key] = call
		c.order = append(c.order, call)
	case known:
		call.answered = true
	case !c.elsewhere:
		c.add(at, ruleResultWithoutCall, "no call before it has the call_id %s", quote(id))
	}
}

// unanswered looks for calls without results.
func (c *responses) unanswered() {
	for _, call := range c.order {
		if !call.answered {
			c.add(call.path, ruleCallWithoutResult, "the call %s has no output", quote(call.id))
		}
	}
}

package cupelchat

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// responsesCodec is OpenAI's Responses API.
type responsesCodec struct {
	run       int  // the first entry of a run of reasoning, plus 1
	elsewhere bool // a part of the conversation is not in the body
	calls     openCalls
	ids       map[string]string // paths of items by id
	reasoning string            // the path of reasoning that an item must follow, or ""
}

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

var responsesRules = rules{
	name: "OpenAI's Responses API", list: "input", content: "content", text: "input_text",
	signs: signs{
		parts: []string{"input_text", "output_text", "input_image", "input_file"},
		element: func(o *rawjson.Object) string {
			if isResponseItem(o.Get("type").String()) && !ofMessages(o) && !(o.Get("role").IsNull() && o.Get("content").IsString()) {
				return "type"
			}
			return ""
		},
	},
}

// isResponseItem reports whether a type is one of the API's items.
func isResponseItem(kind string) bool {
	_, known := responsesItems[kind]
	return known
}

// ofMessages reports whether an object of type "message" is a response of
// Anthropic's API rather than an item of this one; both have that type.
func ofMessages(o *rawjson.Object) bool {
	if o.Get("type").String() != "message" {
		return false
	}
	if o.Has("stop_reason") {
		return true
	}
	for _, part := range o.Get("content").Elements() {
		p, _ := part.Value.Fields()
		if kind := p.Get("type").String(); anthropicBlocks[kind] != "" {
			return true
		}
	}
	return false
}

func (c *responsesCodec) fork() codec {
	f := *c
	f.calls, f.ids = c.calls.fork(), maps.Clone(c.ids)
	return &f
}

func (c *responsesCodec) request(body cursor) {
	previous, conversation := body.Get("previous_response_id").String() != "", body.Has("conversation")
	if previous && conversation {
		body.wrong("previous_response_id", "state-twice", "a request has previous_response_id or conversation, not both")
	}
	c.elsewhere = previous || conversation || body.Has("prompt")
	if name, v := body.firstOf("previous_response_id", "conversation", "prompt"); !v.IsNull() {
		body.fail(elsewhere(v, name))
	}
	body.tools(0, "tools")
	body.system(func(name string) {
		if v := body.Get(name); !v.IsString() {
			body.wrong(name, "system", "must be a string, got %s", v.Type())
		}
		body.content(name, "", "part-type", func(part cursor) { c.part(part, nil) })
	}, "instructions")
	for _, m := range body.Members {
		if m.Name == body.rules.list && m.Value.IsString() { // a message of the user
			body.beginMember(m, "user")
			body.current().words, body.current().asks = true, true
			body.say(m.Value)
		}
	}
}

// ErrElsewhere is matched by the error of [Read] for a conversation that refers to text
// that the API keeps, such as a previous response.
var ErrElsewhere = errors.New("cupel: a part of the conversation is elsewhere")

// elsewhere returns the error for a reference to text that the API keeps.
func elsewhere(v rawjson.Value, path string) error {
	return &Error{Line: v.Line(), Path: path, Reason: "refers to text that the API keeps, which cannot be selected from; give the whole conversation as input", Err: ErrElsewhere}
}

func (c *responsesCodec) message(o cursor) {
	kind := o.Get("type").String()
	switch {
	case !o.Has("type") && o.Has("role"):
		kind = "message"
	case !o.Has("type") && o.Has("id"):
		kind = "item_reference"
	}
	c.led(o, kind)
	if _, known := responsesItems[kind]; known {
		c.itemID(o, kind)
	} else {
		o.wrong("type", "item-type", "the item type %s is unknown", quote(kind))
	}
	if kind != "message" {
		c.item(o, kind)
		return
	}
	role, known := o.role("system", "developer", "user", "assistant")
	if !known {
		return
	}
	if !o.Has("content") {
		o.fail(o.empty())
		o.wrong("content", "content-required", "a message needs content")
		return
	}
	e := o.entry(role)
	e.asks = role == "user"
	c.follow(o.reader, role == "assistant")
	kinds := []string{"input_text", "input_image", "input_file", "input_audio"}
	if role == "assistant" {
		kinds = []string{"output_text", "refusal"}
	}
	o.content("content", "content-type", "part-type", func(part cursor) { c.part(part, kinds) })
	o.current().words = true
}

// part reads a part of a message or of a result; kinds are its types, or nil where
// the API does not look.
func (c *responsesCodec) part(o cursor, kinds []string) {
	kind := o.member("type", "")
	if kinds != nil && !slices.Contains(kinds, kind) {
		o.wrong("", "part-type", "the type must be one of %s, got %s", strings.Join(kinds, ", "), quote(kind))
	}
	o.openAIPart(kind)
}

// itemID checks the id of an item, which it need not have.
func (c *responsesCodec) itemID(o cursor, kind string) {
	v := o.Get("id")
	if kind == "item_reference" {
		if _, ok := o.want("id", "item-id"); ok {
			o.spelled("id", "item-id", spelling{})
		}
		return
	}
	if v.IsNull() {
		return
	}
	id := v.String()
	prefix := responsesItems[kind]
	switch first, seen := c.ids[id]; {
	case !v.IsString() || id == "" || strings.ContainsFunc(id, func(r rune) bool { return !word(r) }):
		o.wrong("id", "item-id", "the id of an item has letters, digits, _ and - only, got %s", quote(id))
	case !strings.HasPrefix(id, prefix):
		o.wrong("id", "item-id", "the id of a %s begins with %s, got %s", kind, prefix, quote(id))
	case seen:
		o.wrong("id", "item-twice", "%s has the same id, %s", first, quote(id))
	default:
		if c.ids == nil {
			c.ids = map[string]string{}
		}
		c.ids[id] = o.path
	}
}

// led checks that an item belongs to the reasoning before it, if the API keeps
// the reasoning under an id.
func (c *responsesCodec) led(o cursor, kind string) {
	returns := strings.HasSuffix(kind, "_output") || strings.HasSuffix(kind, "_response")
	if returns || kind == "" || kind == "message" && o.Get("role").String() != "assistant" {
		c.unled(o.reader)
	}
	c.reasoning = ""
}

// unled refuses reasoning that no item follows.
func (c *responsesCodec) unled(r *reader) {
	if c.reasoning != "" {
		r.refuse(c.reasoning, "reasoning-follow", "reasoning must be followed by the item that it led to: an assistant message or a call")
	}
}

func (c *responsesCodec) end(r *reader) {
	c.unled(r)
	c.calls.close(r, "an output must follow")
}

// follow joins output of the model with the reasoning before it: the API refuses
// one without the other.
func (c *responsesCodec) follow(r *reader, model bool) {
	switch {
	case !model:
		c.run = 0
	case c.run > 0:
		r.links.join(c.run-1, r.at)
	}
}

// item reads an item that is not a message.
func (c *responsesCodec) item(o cursor, kind string) {
	returns := strings.HasSuffix(kind, "_output") || kind == "mcp_approval_response"
	role := "assistant"
	switch {
	case kind == "item_reference", kind == "":
		o.fail(elsewhere(o.Value, o.path))
		return
	case returns:
		role = "tool"
	}
	o.message().role = role
	o.entry(role)
	if kind == "reasoning" && (o.at == 0 || c.run == 0 || o.entries[o.at-1].role != kind) {
		c.run = o.at + 1
	}
	c.follow(o.reader, !returns)
	c.pair(o, kind)
	switch kind {
	case "function_call", "custom_tool_call":
		c.call(o, kind)
	case "function_call_output", "custom_tool_call_output":
		c.output(o)
	case "reasoning":
		c.thoughts(o)
	case "image_generation_call":
		e := o.current()
		e.tool = true
		e.names = append(e.names, "image_generation")
		o.medium("image", openAIImageTokens, o.Value)
	default:
		c.other(o, kind, returns)
	}
}

// call reads a call of a function or of a tool with free text.
func (c *responsesCodec) call(o cursor, kind string) {
	id := o.member("call_id", "")
	name, ok := o.need("name", "call-name")
	arguments := "input"
	if kind == "function_call" {
		arguments = "arguments"
		if ok {
			o.spelled("name", "call-name", spelling{})
		}
	}
	o.wantText(arguments)
	o.use(id, name, o.Get(arguments))
}

// output reads the result of a tool.
func (c *responsesCodec) output(o cursor) {
	o.returned(o.member("call_id", ""))
	if !o.Has("output") {
		o.wrong("output", "result-content", "the output must be a string or an array of parts, got null")
	}
	kinds := []string{"input_text", "input_image", "input_file"}
	o.content("output", "result-content", "part-type", func(part cursor) { c.part(part, kinds) })
}

// other reads items of tools that the API runs itself, of tools other than
// functions, and of unknown types.
func (c *responsesCodec) other(o cursor, kind string, returns bool) {
	e := o.current()
	id := o.Get("call_id").String()
	switch kind {
	case "mcp_approval_request":
		id = "approval " + o.Get("id").String()
	case "mcp_approval_response":
		id = "approval " + o.Get("approval_request_id").String()
	case "compaction_trigger":
		if o.message().index < o.size-1 {
			o.wrong("", "compaction-last", "a compaction_trigger must be the last item")
		}
	}
	name, isCall := strings.CutSuffix(strings.TrimSuffix(kind, "_output"), "_call")
	switch {
	case returns:
		o.returned(id)
	case id != "":
		o.called(id, name, name)
	case isCall:
		e.tool = true // the item includes the result
	case kind == "compaction":
		e.compact = true
	case kind == "mcp_list_tools":
	default:
		o.unknownPart(o.path, o.Value)
		return
	}
	if isCall {
		e.names = append(e.names, name)
	}
	if o.Get("output").IsObject() {
		output, _ := o.inner("output", "")
		if output.Get("type").String() == "computer_screenshot" {
			o.medium("image", openAIImageTokens, output.Value)
			return
		}
	}
	if hidden := o.Get("encrypted_content"); kind == "compaction" && hidden.IsString() {
		o.hidden(kind, hidden)
		return
	}
	o.keepJSON(o.Value)
}

// thoughts reads a reasoning item.
func (c *responsesCodec) thoughts(o cursor) {
	o.current().role = "reasoning"
	if !o.Get("summary").IsArray() {
		o.wrong("summary", "reasoning-summary", "reasoning needs a summary, which may be an empty array")
	}
	if o.Get("id").String() != "" {
		c.reasoning = o.path
	}
	for _, name := range []string{"summary", "content"} {
		o.content(name, "", "part-type", func(part cursor) { c.part(part, nil) })
	}
	if hidden := o.Get("encrypted_content"); hidden.IsString() {
		o.hidden("reasoning", hidden)
	}
}

// pair matches the result of a client's tool with its call.
func (c *responsesCodec) pair(o cursor, kind string) {
	call, isResult := strings.CutSuffix(kind, "_output")
	if call != "function_call" && call != "custom_tool_call" && call != "computer_call" {
		return
	}
	id, ok := o.want("call_id", "call-id")
	if !ok {
		return
	}
	o.limit("call_id", "call-id", 64)
	key := call + " " + id
	switch i, known := c.calls.at[key]; {
	case !isResult:
		c.calls.open(key, o.path)
	case known:
		c.calls.list[i].answered = true
	case !c.elsewhere:
		o.wrong("call_id", "result-without-call", "no call before it has the call_id %s", quote(id))
	}
}

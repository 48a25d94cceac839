package cupelchat

import (
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

func (*responsesCodec) name() string { return "OpenAI's Responses API" }
func (*responsesCodec) list() string { return "input" }
func (*responsesCodec) rules() rules { return rules{anywhere: true} }

func (*responsesCodec) signs() signs {
	return signs{
		parts: []string{"input_text", "output_text", "input_image", "input_file"},
		element: func(o *rawjson.Object) string {
			if isResponseItem(o.Get("type").String()) && !ofMessages(o) && !(o.Get("role").IsNull() && o.Get("content").IsString()) {
				return "type"
			}
			return ""
		},
	}
}

// isResponseItem reports whether a type is one of the API's items.
func isResponseItem(kind string) bool {
	switch kind {
	case "message", "reasoning", "item_reference", "compaction", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response":
		return true
	}
	return strings.HasSuffix(kind, "_call") || strings.HasSuffix(kind, "_call_output")
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
		if !part.Value.IsObject() {
			continue
		}
		p, _ := part.Value.Fields()
		if kind := p.Get("type").String(); anthropicBlocks[kind] != "" {
			return true
		}
	}
	return false
}

func (*responsesCodec) note(text string) []byte { return (&chatCodec{}).note(text) }

func (*responsesCodec) text(text string) []byte { return textBlock("input_text", text) }

func (c *responsesCodec) request(r *reader, body *rawjson.Object) {
	previous, conversation := body.Get("previous_response_id").String() != "", body.Has("conversation")
	if previous && conversation {
		r.wrong("previous_response_id", "state-twice", "a request has previous_response_id or conversation, not both")
	}
	c.elsewhere = previous || conversation || body.Has("prompt")
	for _, name := range []string{"previous_response_id", "conversation", "prompt"} {
		if body.Has(name) {
			r.fail(elsewhere(body.Get(name), name))
		}
	}
	r.tools(body, 0, "tools")
	r.system(body, func(m rawjson.Part) {
		if !m.Value.IsString() {
			r.wrong(m.Name, "system", "must be a string, got %s", m.Value.Type())
		}
		r.content(m.Value, m.Name, "", func(v rawjson.Value, path string) { c.part(r, v, path, nil) })
	}, "instructions")
	for _, m := range body.Members {
		if m.Name == c.list() && m.Value.IsString() { // a message of the user
			r.beginMember(m, "user")
			r.current().words, r.current().asks = true, true
			r.say(m.Value)
		}
	}
}

// elsewhere returns the error for what refers to text that the API keeps.
func elsewhere(v rawjson.Value, path string) error {
	return v.Errorf(path, "refers to text that the API keeps, which cannot be selected from; give the whole conversation as input")
}

func (c *responsesCodec) message(r *reader, o *rawjson.Object, path string) {
	kind := o.Get("type").String()
	switch {
	case !o.Has("type") && o.Has("role"):
		kind = "message"
	case !o.Has("type") && o.Has("id"):
		kind = "item_reference"
	}
	c.led(r, o, kind)
	if _, known := responsesItems[kind]; known {
		c.itemID(r, o, path, kind)
	} else {
		r.wrong(rawjson.Join(path, "type"), "item-type", "the type %s is not that of an item", quote(kind))
	}
	if kind != "message" {
		c.item(r, o, path, kind)
		return
	}
	role, known := r.role(o, path, "system", "developer", "user", "assistant")
	if !known {
		return
	}
	content := o.Get("content")
	at := rawjson.Join(path, "content")
	if content.IsNull() {
		r.fail(empty(o, path))
		r.wrong(at, "content-required", "a message needs content")
		return
	}
	e := r.entry(role)
	e.asks = role == "user"
	c.follow(r, role == "assistant")
	kinds := []string{"input_text", "input_image", "input_file", "input_audio"}
	if role == "assistant" {
		kinds = []string{"output_text", "refusal"}
	}
	r.content(content, at, "content-type", func(v rawjson.Value, path string) { c.part(r, v, path, kinds) })
	r.current().words = true
}

// part reads a part of a message or of a result; kinds are its types, or nil where
// the API does not look.
func (c *responsesCodec) part(r *reader, v rawjson.Value, path string, kinds []string) {
	o, ok := r.object(v, path, "part-type")
	if !ok {
		return
	}
	kind := r.member(o, path, "type", "")
	if kinds != nil && !slices.Contains(kinds, kind) {
		r.wrong(path, "part-type", "the type must be one of %s, got %s", strings.Join(kinds, ", "), quote(kind))
	}
	r.openAIPart(o, path, kind)
}

// itemID checks the id of an item, which it need not have.
func (c *responsesCodec) itemID(r *reader, o *rawjson.Object, path, kind string) {
	v := o.Get("id")
	at := rawjson.Join(path, "id")
	if kind == "item_reference" {
		if id, ok := r.want(o, path, "id", "item-id"); ok {
			r.spelled(id, at, "item-id", spelling{})
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
		r.wrong(at, "item-id", "the id of an item has letters, digits, _ and - only, got %s", quote(id))
	case !strings.HasPrefix(id, prefix):
		r.wrong(at, "item-id", "the id of a %s begins with %s, got %s", kind, prefix, quote(id))
	case seen:
		r.wrong(at, "item-twice", "%s has the same id, %s", first, quote(id))
	default:
		if c.ids == nil {
			c.ids = map[string]string{}
		}
		c.ids[id] = path
	}
}

// led checks that an item is one that the reasoning before it led to, if the API
// keeps that under an id.
func (c *responsesCodec) led(r *reader, o *rawjson.Object, kind string) {
	returns := strings.HasSuffix(kind, "_output") || strings.HasSuffix(kind, "_response")
	if c.reasoning != "" && (returns || kind == "" || kind == "message" && o.Get("role").String() != "assistant") {
		c.unled(r)
	}
	c.reasoning = ""
}

func (c *responsesCodec) unled(r *reader) {
	r.wrong(c.reasoning, "reasoning-follow", "reasoning must be followed by the item that it led to: a message of the assistant or a call")
}

func (c *responsesCodec) end(r *reader) {
	if c.reasoning != "" {
		c.unled(r)
	}
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
func (c *responsesCodec) item(r *reader, o *rawjson.Object, path, kind string) {
	returns := strings.HasSuffix(kind, "_output") || kind == "mcp_approval_response"
	role := "assistant"
	switch {
	case kind == "item_reference", kind == "":
		r.fail(elsewhere(o.Value, path))
		return
	case returns:
		role = "tool"
	}
	r.message().role = role
	r.entry(role)
	if kind == "reasoning" && (r.at == 0 || c.run == 0 || r.entries[r.at-1].role != kind) {
		c.run = r.at + 1
	}
	c.follow(r, !returns)
	c.pair(r, o, path, kind)
	switch kind {
	case "function_call", "custom_tool_call":
		c.call(r, o, path, kind)
	case "function_call_output", "custom_tool_call_output":
		c.output(r, o, path)
	case "reasoning":
		c.thoughts(r, o, path)
	case "image_generation_call":
		e := r.current()
		e.tool = true
		e.names = append(e.names, "image_generation")
		r.medium("image", openAIImageTokens, o.Value)
	default:
		c.other(r, o, path, kind, returns)
	}
}

// call reads a call of a function or of a tool with free text.
func (c *responsesCodec) call(r *reader, o *rawjson.Object, path, kind string) {
	id := r.member(o, path, "call_id", "")
	name, ok := r.need(o, path, "name", "call-name")
	arguments := "input"
	if kind == "function_call" {
		arguments = "arguments"
		if ok {
			r.spelled(name, rawjson.Join(path, "name"), "call-name", spelling{})
		}
	}
	r.argumentText(o, path, arguments)
	r.use(id, name, o.Get(arguments))
}

// output reads what a tool returned.
func (c *responsesCodec) output(r *reader, o *rawjson.Object, path string) {
	r.returned(r.member(o, path, "call_id", ""))
	v := o.Get("output")
	path = rawjson.Join(path, "output")
	if v.IsNull() {
		r.wrong(path, "result-content", "the output must be a string or an array of parts, got null")
	}
	r.content(v, path, "result-content", func(v rawjson.Value, path string) {
		c.part(r, v, path, []string{"input_text", "input_image", "input_file"})
	})
	r.current().words = false // the text is the tool's
}

// other reads items of tools that the API runs itself, of tools other than
// functions, and of unknown types.
func (c *responsesCodec) other(r *reader, o *rawjson.Object, path, kind string, returns bool) {
	e := r.current()
	id := o.Get("call_id").String()
	switch kind {
	case "mcp_approval_request":
		id = "approval " + o.Get("id").String()
	case "mcp_approval_response":
		id = "approval " + o.Get("approval_request_id").String()
	case "compaction_trigger":
		if r.message().index < r.size-1 {
			r.wrong(path, "compaction-last", "a compaction_trigger must be the last item")
		}
	}
	name, isCall := strings.CutSuffix(strings.TrimSuffix(kind, "_output"), "_call")
	switch {
	case returns:
		r.returned(id)
	case id != "":
		r.called(id, name, name)
	case isCall:
		e.tool = true // the item includes the result
	case kind == "compaction":
		e.compact = true
	case kind == "mcp_list_tools":
	default:
		r.unknownPart(kind, o.Value)
		return
	}
	if isCall {
		e.names = append(e.names, name)
	}
	if o.Get("output").IsObject() {
		output, _ := r.inner(o, path, "output", "")
		if output.Get("type").String() == "computer_screenshot" {
			r.medium("image", openAIImageTokens, output.Value)
			return
		}
	}
	if hidden := o.Get("encrypted_content"); kind == "compaction" && hidden.IsString() {
		r.hidden(kind, hidden)
		return
	}
	r.keepJSON(o.Value)
}

// thoughts reads a reasoning item.
func (c *responsesCodec) thoughts(r *reader, o *rawjson.Object, path string) {
	r.current().role = "reasoning"
	if !o.Get("summary").IsArray() {
		r.wrong(rawjson.Join(path, "summary"), "reasoning-summary", "reasoning needs a summary, which may be an empty array")
	}
	if o.Get("id").String() != "" {
		c.reasoning = path
	}
	for _, name := range []string{"summary", "content"} {
		r.content(o.Get(name), rawjson.Join(path, name), "", func(v rawjson.Value, path string) { c.part(r, v, path, nil) })
	}
	if hidden := o.Get("encrypted_content"); hidden.IsString() {
		r.hidden("reasoning", hidden)
	}
}

// pair puts the result of a tool of the client's to its call.
func (c *responsesCodec) pair(r *reader, o *rawjson.Object, path, kind string) {
	call, isResult := strings.CutSuffix(kind, "_output")
	if call != "function_call" && call != "custom_tool_call" && call != "computer_call" {
		return
	}
	id, ok := r.want(o, path, "call_id", "call-id")
	if !ok {
		return
	}
	at := rawjson.Join(path, "call_id")
	r.limit(id, at, 64)
	key := call + " " + id
	switch i, known := c.calls.at[key]; {
	case !isResult:
		c.calls.open(key, path)
	case known:
		c.calls.list[i].answered = true
	case !c.elsewhere:
		r.wrong(at, "result-without-call", "no call before it has the call_id %s", quote(id))
	}
}

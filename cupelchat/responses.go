package cupelchat

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// responsesCodec is OpenAI's Responses API.
type responsesCodec struct{}

func (responsesCodec) name() string { return "OpenAI's Responses API" }
func (responsesCodec) list() string { return "input" }
func (responsesCodec) rules() rules { return rules{anywhere: true} }

func (responsesCodec) signs() signs {
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
		p, err := part.Value.Object("")
		if err != nil {
			return false // reported later, with its path
		}
		if kind := p.Get("type").String(); kind == "text" || slices.Contains(anthropicCodec{}.signs().parts, kind) {
			return true
		}
	}
	return false
}

func (responsesCodec) note(text string) []byte {
	return slices.Concat([]byte(`{"role": "user", "content": `), quoted(text), []byte("}"))
}

func (responsesCodec) text(text string) []byte { return textBlock("input_text", text) }

func (responsesCodec) request(r *reader, body *rawjson.Object) error {
	for _, name := range []string{"previous_response_id", "conversation", "prompt"} {
		if body.Has(name) {
			return elsewhere(body.Get(name), name)
		}
	}
	if err := r.tools(body, 0, "tools"); err != nil {
		return err
	}
	if err := r.system(body, "instructions"); err != nil {
		return err
	}
	for _, m := range body.Members {
		if m.Name == "input" && m.Value.IsString() { // a message of the user
			r.beginMember(m, "user")
			r.current().words, r.current().asks = true, true
			return r.say(m.Value)
		}
	}
	return nil
}

// elsewhere returns the error for what refers to text that the API keeps.
func elsewhere(v rawjson.Value, path string) error {
	return v.Errorf(path, "refers to text that the API keeps, which cannot be selected from; give the whole conversation as input")
}

func (responsesCodec) message(r *reader, o *rawjson.Object, path string) error {
	if kind := o.Get("type").String(); kind != "message" && (kind != "" || !o.Has("role")) {
		return r.responseItem(o, path, kind)
	}
	role, err := r.role(o, path, "system", "developer", "user", "assistant")
	if err != nil {
		return err
	}
	content := o.Get("content")
	if content.IsNull() {
		return empty(o, path)
	}
	e := r.entry(role)
	e.asks = role == "user"
	r.follow(role == "assistant")
	err = r.content(content, path+".content")
	r.current().words = true
	return err
}

// follow joins output of the model with the reasoning before it: the API refuses
// one without the other.
func (r *reader) follow(model bool) {
	switch {
	case !model:
		r.run = 0
	case r.run > 0:
		r.links.join(r.run-1, r.at)
	}
}

// responseItem reads an item of the Responses API that is not a message.
func (r *reader) responseItem(o *rawjson.Object, path, kind string) error {
	returns := strings.HasSuffix(kind, "_output") || kind == "mcp_approval_response"
	role := "assistant"
	switch {
	case kind == "item_reference", kind == "":
		return elsewhere(o.Value, path)
	case returns:
		role = "tool"
	}
	r.message().role = role
	r.entry(role)
	if kind == "reasoning" {
		if r.at == 0 || r.run == 0 || !r.reasoning(r.at-1) {
			r.run = r.at + 1
		}
	}
	r.follow(!returns)
	switch kind {
	case "function_call", "custom_tool_call":
		id, err := str(o, path, "call_id")
		if err != nil {
			return err
		}
		arguments := "arguments"
		if kind == "custom_tool_call" {
			arguments = "input"
		}
		return r.useMember(id, o, path, arguments)
	case "function_call_output", "custom_tool_call_output":
		id, err := str(o, path, "call_id")
		if err != nil {
			return err
		}
		r.returned(id)
		err = r.content(o.Get("output"), path+".output")
		r.current().words = false // the text is the tool's
		return err
	case "reasoning":
		return r.thoughts(o, path)
	case "image_generation_call":
		e := r.current()
		e.tool = true
		e.names = append(e.names, "image_generation")
		r.medium("image", openAIImageTokens, o.Value)
		return nil
	}
	return r.otherItem(o, path, kind, returns)
}

// otherItem reads items of tools that the API runs itself, of tools other than
// functions, and of unknown types.
func (r *reader) otherItem(o *rawjson.Object, path, kind string, returns bool) error {
	e := r.current()
	id := o.Get("call_id").String()
	switch kind {
	case "mcp_approval_request":
		id = "approval " + o.Get("id").String()
	case "mcp_approval_response":
		id = "approval " + o.Get("approval_request_id").String()
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
		return r.unknownPart(kind, o.Value)
	}
	if isCall {
		e.names = append(e.names, name)
	}
	if o.Get("output").IsObject() {
		output, err := o.Get("output").Object(path + ".output")
		if err != nil {
			return err
		}
		if output.Get("type").String() == "computer_screenshot" {
			r.medium("image", openAIImageTokens, output.Value)
			return nil
		}
	}
	if hidden := o.Get("encrypted_content"); kind == "compaction" && hidden.IsString() {
		r.hidden(kind, hidden)
		return nil
	}
	return r.keepJSON(o.Value)
}

// reasoning reports whether an entry is an item of that type.
func (r *reader) reasoning(at int) bool { return r.entries[at].role == "reasoning" }

// thoughts reads a reasoning item.
func (r *reader) thoughts(o *rawjson.Object, path string) error {
	r.current().role = "reasoning"
	for _, name := range []string{"summary", "content"} {
		if err := r.content(o.Get(name), rawjson.Join(path, name)); err != nil {
			return err
		}
	}
	if hidden := o.Get("encrypted_content"); hidden.IsString() {
		r.hidden("reasoning", hidden)
	}
	return nil
}

// What the API refuses.

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

// check returns what OpenAI's Responses API refuses.
func (responsesCodec) check(r *checker) {
	c := responsesChecker{checker: r, calls: map[string]*responsesCall{}, ids: map[string]string{}}
	if !c.whole() || !r.readList() {
		return
	}
	for i := range r.messages {
		if o, ok := r.message(i); ok {
			c.item(o, i)
		}
	}
	c.unanswered()
}

type responsesChecker struct {
	*checker
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
func (c *responsesChecker) whole() bool {
	if !c.isRequest() {
		return true
	}
	o := &c.body
	if v := o.Get("instructions"); !v.IsNull() && !v.IsString() {
		c.add("instructions", "system", "instructions must be a string, got %s", v.Type())
	}
	previous, conversation := o.Get("previous_response_id").String() != "", o.Has("conversation")
	if previous && conversation {
		c.add("previous_response_id", "state-twice", "a request has previous_response_id or conversation, not both")
	}
	c.elsewhere = previous || conversation || o.Has("prompt")
	v := o.Get("input")
	switch {
	case v.IsString(), v.IsNull() && c.elsewhere:
		return false
	case !v.IsArray() && !v.IsNull():
		c.add("input", "list-type", "the input must be a string or an array of items, got %s", v.Type())
		return false
	}
	return true
}

func (c *responsesChecker) item(o *rawjson.Object, i int) {
	path := c.path(i)
	kind := o.Get("type").String()
	if !o.Has("type") && o.Has("role") {
		kind = "message"
	} else if !o.Has("type") && o.Has("id") {
		kind = "item_reference"
	}
	if _, known := responsesItems[kind]; !known {
		c.add(rawjson.Join(path, "type"), "item-type", "the type %s is not that of an item", quote(kind))
		return
	}
	c.itemID(o, path, kind)
	switch kind {
	case "message":
		c.message(o, path)
	case "reasoning":
		if v := o.Get("summary"); !v.IsArray() {
			c.add(rawjson.Join(path, "summary"), "reasoning-summary", "reasoning needs a summary, which may be an empty array")
		}
		c.follow(o, i)
	case "function_call":
		c.id(o, path, "name", "call-name", spelling{})
		c.argumentText(o, path, "arguments")
	case "custom_tool_call":
		c.str(o, path, "name", "call-name")
		c.argumentText(o, path, "input")
	case "function_call_output", "custom_tool_call_output":
		c.output(o, path)
	case "compaction_trigger":
		if i < len(c.messages)-1 {
			c.add(path, "compaction-last", "a compaction_trigger must be the last item")
		}
	}
	c.pair(o, path, kind)
}

// itemID checks the id of an item, which it need not have.
func (c *responsesChecker) itemID(o *rawjson.Object, path, kind string) {
	v := o.Get("id")
	at := rawjson.Join(path, "id")
	if kind == "item_reference" {
		c.id(o, path, "id", "item-id", spelling{})
		return
	}
	if v.IsNull() {
		return
	}
	id := v.String()
	prefix := responsesItems[kind]
	switch first, seen := c.ids[id]; {
	case !v.IsString() || id == "" || strings.ContainsFunc(id, func(r rune) bool { return !word(r) }):
		c.add(at, "item-id", "the id of an item has letters, digits, _ and - only, got %s", quote(id))
	case !strings.HasPrefix(id, prefix):
		c.add(at, "item-id", "the id of a %s begins with %s, got %s", kind, prefix, quote(id))
	case seen:
		c.add(at, "item-twice", "%s has the same id, %s", first, quote(id))
	default:
		c.ids[id] = path
	}
}

func (c *responsesChecker) message(o *rawjson.Object, path string) {
	role, ok := c.role(o, path, "user", "assistant", "system", "developer")
	if !ok {
		return
	}
	v := o.Get("content")
	at := rawjson.Join(path, "content")
	switch {
	case v.IsString():
	case v.IsNull():
		c.add(at, "content-required", "a message needs content")
	case !v.IsArray():
		c.add(at, "content-type", "the content must be a string or an array of parts, got %s", v.Type())
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
func (c *responsesChecker) part(v rawjson.Value, path string, kinds []string) {
	o, ok := c.object(v, path)
	if !ok {
		c.add(path, "part-type", "a part must be an object, got %s", v.Type())
		return
	}
	kind := o.Get("type").String()
	if !slices.Contains(kinds, kind) {
		c.add(path, "part-type", "the type must be one of %s, got %s", strings.Join(kinds, ", "), quote(kind))
		return
	}
	name := map[string]string{"input_text": "text", "output_text": "text", "refusal": "refusal"}[kind]
	if name != "" && !o.Get(name).IsString() {
		c.add(rawjson.Join(path, name), "part-field", "%s must be a string, got %s", name, o.Get(name).Type())
	}
}

// follow checks what comes after reasoning, if the API keeps it under an id.
func (c *responsesChecker) follow(o *rawjson.Object, i int) {
	if o.Get("id").String() == "" {
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
	c.add(c.path(i), "reasoning-follow", "reasoning must be followed by the item that it led to: a message of the assistant or a call")
}

// output checks what a tool returned.
func (c *responsesChecker) output(o *rawjson.Object, path string) {
	v := o.Get("output")
	at := rawjson.Join(path, "output")
	switch {
	case v.IsString():
	case v.IsArray():
		for i, p := range values(v) {
			c.part(p, rawjson.Index(at, i), []string{"input_text", "input_image", "input_file"})
		}
	default:
		c.add(at, "result-content", "the output must be a string or an array of parts, got %s", v.Type())
	}
}

// pair puts a result to its call.
func (c *responsesChecker) pair(o *rawjson.Object, path, kind string) {
	output := responsesCalls[kind]
	isCall := output != ""
	if !isCall {
		output = kind
		if !slices.Contains([]string{"function_call_output", "custom_tool_call_output", "computer_call_output"}, kind) {
			return
		}
	}
	at := rawjson.Join(path, "call_id")
	id, ok := c.str(o, path, "call_id", "call-id")
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
		c.add(at, "result-without-call", "no call before it has the call_id %s", quote(id))
	}
}

// unanswered looks for calls without results.
func (c *responsesChecker) unanswered() {
	for _, call := range c.order {
		if !call.answered {
			c.add(call.path, "call-without-result", "the call %s has no output", quote(call.id))
		}
	}
}

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

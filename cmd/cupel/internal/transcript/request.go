package transcript

import (
	"errors"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// request reads the parts of a request outside its messages: tool definitions,
// and the system prompt in the APIs that keep it separate.
func (r *reader) request(body *rawjson.Object) error {
	for _, m := range body.Members {
		if (m.Name != "tools" && m.Name != "functions") || len(m.Value.Elements()) == 0 {
			continue
		}
		r.begin(entry{part: m, member: "tools", role: "tools"})
		if r.api == Messages {
			r.spend(anthropicToolsTokens)
		}
		if err := r.sayJSON(m.Value); err != nil {
			return err
		}
	}
	for _, m := range body.Members {
		// The name is empty for Chat Completions, which has no such member.
		if r.api == Chat || m.Name != r.api.system() || m.Value.IsNull() {
			continue
		}
		r.begin(entry{part: m, member: m.Name, role: "system", words: true})
		r.spend(messageTokens)
		if err := r.content(m.Value, m.Name); err != nil {
			return err
		}
	}
	for _, name := range []string{"previous_response_id", "conversation", "prompt"} {
		if r.api == Responses && body.Has(name) {
			r.noteAt(name, "refers to text that is not in the file and is not counted")
		}
	}
	return nil
}

// onlyInput reads an input that is a string, which is a message of the user.
func (r *reader) onlyInput(m rawjson.Part) error {
	r.begin(entry{part: m, member: m.Name, role: "user", words: true})
	r.spend(messageTokens)
	return r.say(m.Value.String())
}

// message reads one message of the list.
func (r *reader) message(part rawjson.Part, index int) error {
	path := rawjson.Index(r.api.list(), index)
	o, err := part.Value.Object(path)
	if err != nil {
		return err
	}
	e := r.begin(entry{part: part, index: index})
	r.when(&o)
	r.spend(messageTokens)
	if kind := o.Get("type").String(); r.api == Responses && kind != "message" && (kind != "" || !o.Has("role")) {
		return r.responseItem(&o, path, kind)
	}
	if e.role, err = r.role(&o, path); err != nil {
		return err
	}
	if e.role == "user" {
		r.userBefore, r.user = r.user, len(r.entries)-1
	}
	switch r.api {
	case Chat:
		err = r.chatMessage(&o, path)
	case Responses:
		r.follow(e.role == "assistant")
		err = r.content(o.Get("content"), path+".content")
		r.current().words = true
	case Messages:
		err = r.content(o.Get("content"), path+".content")
	}
	return err
}

func (r *reader) role(o *rawjson.Object, path string) (string, error) {
	known := []string{"system", "user", "assistant"}
	switch r.api {
	case Chat:
		known = []string{"system", "developer", "user", "assistant", "tool", "function"}
	case Responses:
		known = []string{"system", "developer", "user", "assistant"}
	case Messages:
	}
	role, err := str(o, path, "role")
	if err == nil && !slices.Contains(known, role) {
		err = o.Get("role").Errorf(path+".role", "must be one of %s, got %.40q", strings.Join(known, ", "), role)
	}
	return role, err
}

// chatMessage reads a message of Chat Completions.
func (r *reader) chatMessage(o *rawjson.Object, path string) error {
	name, err := optionalStr(o, path, "name")
	if err != nil {
		return err
	}
	e := r.current()
	returns := e.role == "tool" || e.role == "function"
	e.words = !returns
	if name != "" && !returns {
		r.spend(nameTokens)
		if err := r.count(name); err != nil {
			return err
		}
	}
	if err := r.content(o.Get("content"), path+".content"); err != nil {
		return err
	}
	refusal, err := optionalStr(o, path, "refusal")
	if err != nil {
		return err
	}
	if err := r.say(refusal); err != nil {
		return err
	}
	if audio := o.Get("audio"); !audio.IsNull() {
		r.medium("audio", audioTokens, audio)
	}
	switch e.role {
	case "tool":
		id, err := optionalStr(o, path, "tool_call_id")
		if err != nil {
			return err
		}
		r.returned(id)
	case "function":
		r.returned("function " + name)
	}
	return r.chatCalls(o, path)
}

func (r *reader) chatCalls(o *rawjson.Object, path string) error {
	path += ".tool_calls"
	if calls := o.Get("tool_calls"); !calls.IsNull() && !calls.IsArray() {
		return calls.Errorf(path, "must be an array, got %s", calls.Type())
	}
	for i, part := range o.Get("tool_calls").Elements() {
		path := rawjson.Index(path, i)
		c, err := part.Value.Object(path)
		if err != nil {
			return err
		}
		id, err := optionalStr(&c, path, "id")
		if err != nil {
			return err
		}
		r.called(id)
		kind, arguments := "function", "arguments"
		if c.Has("custom") {
			kind, arguments = "custom", "input"
		}
		f, err := c.Get(kind).Object(rawjson.Join(path, kind))
		if err != nil {
			return at(err, c.Value)
		}
		if err := r.use(&f, rawjson.Join(path, kind), arguments); err != nil {
			return err
		}
	}
	if !o.Has("function_call") {
		return nil
	}
	path = strings.TrimSuffix(path, "tool_calls") + "function_call"
	f, err := o.Get("function_call").Object(path)
	if err != nil {
		return err
	}
	r.called("function " + f.Get("name").String())
	return r.use(&f, path, "arguments")
}

// use reads the name and the arguments of a tool call.
func (r *reader) use(f *rawjson.Object, path, arguments string) error {
	name, err := str(f, path, "name")
	if err != nil {
		return err
	}
	if err := r.count(name); err != nil {
		return err
	}
	given := f.Get(arguments)
	text := given.String()
	if !given.IsNull() && !given.IsString() {
		text = given.Compact()
	}
	if err := r.count(text); err != nil {
		return err
	}
	e := r.current()
	e.names = append(e.names, name)
	e.text = append(e.text, name+"("+text+")")
	return nil
}

// at returns an error about a missing value with the line of its parent.
func at(err error, v rawjson.Value) error {
	if e, ok := errors.AsType[*rawjson.Error](err); ok && e.Line == 0 {
		e.Line = v.Line()
	}
	return err
}

// follow joins output of the model with the reasoning before it: the API refuses
// one without the other.
func (r *reader) follow(model bool) {
	at := len(r.entries) - 1
	r.current().model = model
	switch {
	case !model:
		r.run = 0
	case r.run > 0:
		r.links.join(r.run-1, at)
	}
}

// responseItem reads an item of the Responses API that is not a message.
func (r *reader) responseItem(o *rawjson.Object, path, kind string) error {
	e := r.current()
	e.role = "assistant"
	returns := strings.HasSuffix(kind, "_output") || kind == "mcp_approval_response"
	if kind == "reasoning" {
		if at := len(r.entries) - 1; at == 0 || r.run == 0 || !r.reasoning(at-1) {
			r.run = at + 1
		}
	}
	r.follow(!returns)
	switch kind {
	case "function_call", "custom_tool_call":
		id, err := str(o, path, "call_id")
		if err != nil {
			return err
		}
		r.called(id)
		arguments := "arguments"
		if kind == "custom_tool_call" {
			arguments = "input"
		}
		return r.use(o, path, arguments)
	case "function_call_output", "custom_tool_call_output":
		e.role = "tool"
		id, err := str(o, path, "call_id")
		if err != nil {
			return err
		}
		r.returned(id)
		return r.content(o.Get("output"), path+".output")
	case "reasoning":
		return r.thoughts(o, path)
	case "image_generation_call":
		e.tool = true
		e.names = append(e.names, "image_generation")
		r.medium("image", openAIImageTokens, o.Value)
		return nil
	case "item_reference", "":
		r.noteAt(path, "refers to text that is not in the file and is not counted")
		return r.sayJSON(o.Value)
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
		e.role = "tool"
		r.returned(id)
	case id != "":
		r.called(id)
	case isCall:
		e.tool = true // the item includes the result
	case kind == "compaction", kind == "mcp_list_tools":
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
		return r.hidden(kind, hidden)
	}
	return r.sayJSON(o.Value)
}

// reasoning reports whether an entry is an item of that type.
func (r *reader) reasoning(at int) bool {
	return r.entries[at].role == "reasoning"
}

// thoughts reads a reasoning item.
func (r *reader) thoughts(o *rawjson.Object, path string) error {
	r.current().role = "reasoning"
	for _, name := range []string{"summary", "content"} {
		if err := r.content(o.Get(name), rawjson.Join(path, name)); err != nil {
			return err
		}
	}
	if hidden := o.Get("encrypted_content"); hidden.IsString() {
		return r.hidden("reasoning", hidden)
	}
	return nil
}

// hidden counts text that only the API can read.
func (r *reader) hidden(name string, v rawjson.Value) error {
	r.spend(len(v.Raw()) / bytesPerHiddenToken)
	r.current().text = append(r.current().text, "["+name+" "+label(v)+"]")
	return nil
}

package input

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// look detects the format of a text. It never guesses silently: signs of two
// formats are an error, and a note says when there are signs of none.
func look(text rawjson.Text, format Format) (*finding, error) {
	f := &finding{format: format}
	if format == "" {
		f.format = Auto
	}
	switch f.format {
	case Auto, JSON, JSONLines, OpenAI, Anthropic:
	default:
		return nil, &Error{Reason: fmt.Sprintf("the format %.40q is unknown; want one of auto, json, jsonl, openai, anthropic", string(format))}
	}
	if err := f.split(text); err != nil {
		return nil, err
	}
	if f.format == JSON || f.format == JSONLines {
		return f, nil
	}
	seen, err := f.signs()
	if err != nil {
		return nil, err
	}
	if f.format == Auto {
		if err := f.decide(seen); err != nil {
			return nil, err
		}
		return f, nil
	}
	f.api = cupelchat.Anthropic
	if f.format == OpenAI {
		f.api = cupelchat.OpenAI
		if seen[responses].path == "input" || seen.has(responses) && !seen.has(chat) {
			f.api = cupelchat.Responses
		}
	}
	return f, nil
}

// split parses the text as one value, or as one value per line.
func (f *finding) split(text rawjson.Text) error {
	var err error
	if f.format == JSONLines {
		f.lines, err = text.Lines()
		return err
	}
	if f.value, err = text.Value(); err == nil {
		if f.format == JSON || !f.value.IsObject() {
			return nil
		}
		return f.splitObject()
	}
	if isStream(text) {
		return &Error{Line: 1, Reason: "this is an event stream sent by an API; give the messages of the conversation", Err: err}
	}
	if f.format == JSON || !severalLines(text) {
		return err
	}
	f.value = rawjson.Value{}
	f.lines, err = text.Lines()
	return err
}

// splitObject distinguishes a request from a single item or message, which is a
// file with one line, even if it is spread over several.
func (f *finding) splitObject() error {
	o, err := f.value.Object("")
	if err != nil {
		return err
	}
	for _, name := range []string{"content", "role"} {
		if !o.Has(name) {
			continue
		}
		if list, _ := listOf(&o); list != "" {
			return o.Get(list).Errorf("", "the object has both %q and %q: it could be one candidate or hold them all; set --format, or remove one of them", name, list)
		}
		f.lines, f.value = []rawjson.Part{f.value.Alone()}, rawjson.Value{}
		return nil
	}
	return nil
}

// isStream reports whether a text is a stream of server-sent events.
func isStream(text rawjson.Text) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return bytes.HasPrefix(text, []byte("data:")) || bytes.HasPrefix(text, []byte("event:"))
}

// severalLines reports whether the first line that is not blank is a complete
// JSON object: then the text has one object per line.
func severalLines(text rawjson.Text) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	end := bytes.IndexByte(text, '\n')
	if end < 0 || text[0] != '{' {
		return false
	}
	_, err := text[:end].Value()
	return err == nil
}

// listOf returns the name of the member that holds an object's candidates, and
// the names of all members that could.
func listOf(o *rawjson.Object) (name string, all []string) {
	for _, known := range []string{"items", "included", "messages", "input"} {
		if v := o.Get(known); v.IsArray() || known == "input" && v.IsString() {
			all = append(all, known)
		}
	}
	if len(all) == 0 {
		if o.Get("excluded").IsArray() {
			return "included", nil
		}
		return "", nil
	}
	return all[0], all
}

// sign is what a member of a text, or a part of a message, reveals about the
// format.
type sign int

const (
	item    sign = iota // an item of Cupel's
	message             // a message of any API
	chat                // of Chat Completions
	responses
	anthropic
	openAI      // one of OpenAI's APIs, unknown which
	systemFirst // a system prompt as the first message, which Anthropic's API does not have
	openAIModel // a model name, which either of OpenAI's APIs may have
	claudeModel
	signs
)

// signals maps signs to where they were first seen.
type signals [signs]place

// place is a value and its path.
type place struct {
	path  string
	value rawjson.Value
}

func (s *signals) has(what sign) bool { return !s[what].value.IsZero() }

func (s *signals) see(what sign, path string, v rawjson.Value) {
	if !s.has(what) {
		s[what] = place{path, v}
	}
}

// messageSigns are the names that only messages of one API have.
var messageSigns = map[string]sign{
	"tool_calls": chat, "function_call": chat, "tool_call_id": chat, "refusal": chat,
	"stop_reason": anthropic,
}

// itemNames are the names that distinguish an item from a message.
var itemNames = map[string]bool{
	"tokens": true, "kind": true, "source": true, "pinned": true, "priority": true, "futureRelevanceHint": true, "originalTokens": true,
}

var roleSigns = map[string]sign{"tool": chat, "function": chat, "developer": openAI}

// partSigns are the types of the parts of a message.
var partSigns = map[string]sign{
	"image_url": chat, "input_audio": chat, "file": chat,
	"input_text": responses, "output_text": responses, "input_image": responses, "input_file": responses,
	"tool_use": anthropic, "tool_result": anthropic, "thinking": anthropic, "redacted_thinking": anthropic,
	"image": anthropic, "document": anthropic, "search_result": anthropic, "server_tool_use": anthropic,
	"web_search_tool_result": anthropic, "mcp_tool_use": anthropic, "mcp_tool_result": anthropic, "container_upload": anthropic,
}

// requestSigns are the names that only requests of one API have.
var requestSigns = map[string]sign{
	"system": anthropic, "anthropic_version": anthropic, "anthropic_beta": anthropic, "stop_sequences": anthropic, "mcp_servers": anthropic,
	"functions": chat, "response_format": chat, "max_completion_tokens": chat, "logit_bias": chat, "stop": chat,
}

// responsesTypes are items of the Responses API that are not messages.
func responsesType(kind string) bool {
	switch kind {
	case "message", "reasoning", "item_reference", "compaction", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response":
		return true
	}
	return strings.HasSuffix(kind, "_call") || strings.HasSuffix(kind, "_call_output")
}

// signs collects the signs of the request, its messages and their parts.
func (f *finding) signs() (*signals, error) {
	seen := new(signals)
	elements, path := f.lines, ""
	switch {
	case f.value.IsArray():
		elements = f.value.Elements()
	case f.value.IsObject():
		o, err := f.value.Object("")
		if err != nil {
			return nil, err
		}
		name, all := listOf(&o)
		if len(all) > 1 && f.format == Auto {
			return nil, f.value.Errorf("", "the object has both %q and %q, and either could be the candidates; set --format, or remove one of them", all[0], all[1])
		}
		if f.format == Auto {
			switch name {
			case "":
				return nil, noList(&o)
			case "items", "included":
				seen.see(item, name, o.Get(name))
				return seen, nil
			}
		}
		if err := requestOf(&o, seen); err != nil {
			return nil, err
		}
		path = "messages"
		if !o.Has(path) {
			path = "input"
		}
		elements = o.Get(path).Elements()
	}
	for i, part := range elements {
		if err := f.elementOf(part.Value, path, i, seen); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// noList returns the error for an object without candidates.
func noList(o *rawjson.Object) error {
	for _, name := range []string{"items", "included", "messages", "input"} {
		if v := o.Get(name); !v.IsNull() {
			return v.Errorf(name, "must be an array, got %s", v.Type())
		}
	}
	reason := `the object has none of "items", "messages", "input" and "included": it is neither items nor a transcript`
	if what := foreign(o); what != "" {
		reason = "the object is " + what
	}
	return o.Value.Errorf("", "%s", reason)
}

// foreign recognizes inputs that are often mistaken for a transcript, and says
// what to give instead. It returns "" for anything else.
func foreign(o *rawjson.Object) string {
	kind := o.Get("type").String()
	switch {
	case strings.HasSuffix(o.Get("object").String(), ".chunk"), strings.HasPrefix(kind, "response."),
		strings.HasPrefix(kind, "message_"), strings.HasPrefix(kind, "content_block_"):
		return "an event of an API's stream; give the messages of the conversation"
	case o.Get("choices").IsArray(), o.Get("output").IsArray() && !responsesType(kind):
		return "a response of an API; give the messages of the conversation"
	case o.Get("messages").IsArray():
		return "a whole transcript; give one conversation at a time"
	case o.Get("message").IsObject():
		return `no message, but has one as "message"; give those themselves`
	}
	return ""
}

// requestOf collects the signs of a request's members.
func requestOf(o *rawjson.Object, seen *signals) error {
	for _, m := range o.Members {
		if what, ok := requestSigns[m.Name]; ok && !m.Value.IsNull() {
			seen.see(what, m.Name, m.Value)
		}
	}
	if o.Has("input") && !o.Has("messages") {
		seen.see(responses, "input", o.Get("input"))
	} else if o.Has("messages") {
		seen.see(message, "messages", o.Get("messages"))
	}
	model := o.Get("model").String()
	switch {
	case strings.HasPrefix(model, "claude"):
		seen.see(claudeModel, "model", o.Get("model"))
	case strings.HasPrefix(model, "gpt-"), strings.HasPrefix(model, "o1"), strings.HasPrefix(model, "o3"), strings.HasPrefix(model, "o4"), strings.HasPrefix(model, "chatgpt"):
		seen.see(openAIModel, "model", o.Get("model"))
	}
	for i, part := range o.Get("tools").Elements() {
		if !part.Value.IsObject() {
			continue
		}
		path := rawjson.Index("tools", i)
		tool, err := part.Value.Object(path)
		switch {
		case err != nil:
			return err
		case tool.Has("input_schema"):
			seen.see(anthropic, path+".input_schema", tool.Get("input_schema"))
		case tool.Has("function"):
			seen.see(chat, path+".function", tool.Get("function"))
		}
	}
	return nil
}

// elementOf collects the signs of the item or message at index i.
func (f *finding) elementOf(v rawjson.Value, list string, i int, seen *signals) error {
	path, inRequest := rawjson.Index(list, i), list != ""
	o, err := v.Object(path)
	if err != nil {
		return err
	}
	kind := o.Get("type").String()
	role := o.Get("role")
	// No item of the Responses API has string content and no role.
	isItem := role.IsNull() && (!responsesType(kind) || kind == "message" || o.Get("content").IsString())
	switch {
	case isItem && !inRequest:
		if what := foreign(&o); what != "" && f.format == Auto && !o.Has("content") {
			return v.Errorf(path, "is %s", what)
		}
		seen.see(item, path, v)
		return nil
	case responsesType(kind) && !ofMessages(&o):
		seen.see(responses, path+".type", o.Get("type"))
	case !role.IsNull():
		seen.see(message, path+".role", role)
	}
	if what, ok := roleSigns[role.String()]; ok {
		seen.see(what, path+".role", role)
	}
	if i == 0 && role.String() == "system" {
		seen.see(systemFirst, path+".role", role)
	}
	for _, m := range o.Members {
		if what, ok := messageSigns[m.Name]; ok && !m.Value.IsNull() {
			seen.see(what, rawjson.Join(path, m.Name), m.Value)
		}
		if itemNames[m.Name] && !inRequest {
			seen.see(item, rawjson.Join(path, m.Name), m.Value)
		}
	}
	for i, part := range o.Get("content").Elements() {
		if !part.Value.IsObject() {
			continue
		}
		p, err := part.Value.Object(rawjson.Index(path+".content", i))
		if err != nil {
			return err
		}
		if what, ok := partSigns[p.Get("type").String()]; ok {
			seen.see(what, rawjson.Index(path+".content", i), part.Value)
		}
	}
	return nil
}

// ofMessages reports whether an object of type "message" is a response of
// Anthropic's API rather than an item of the Responses API; both have that type.
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
		if kind := p.Get("type").String(); kind == "text" || partSigns[kind] == anthropic {
			return true
		}
	}
	return false
}

// decide returns the only format that the signs allow.
func (f *finding) decide(seen *signals) error {
	type claim struct {
		what  sign
		words string
	}
	var claims []claim
	for _, c := range []claim{
		{chat, "a transcript of OpenAI's Chat Completions API"},
		{responses, "a transcript of OpenAI's Responses API"},
		{anthropic, "a transcript of Anthropic's API"},
		{item, "an item"},
	} {
		if seen.has(c.what) {
			claims = append(claims, c)
		}
	}
	if len(claims) == 1 && claims[0].what == item && seen.has(message) {
		claims = append(claims, claim{message, "a message"})
	}
	if len(claims) > 1 {
		one, other := seen[claims[0].what], seen[claims[1].what]
		where := other.path
		if line := other.value.Line(); line != one.value.Line() {
			where = fmt.Sprintf("%s (line %d)", where, line)
		}
		return one.value.Errorf(one.path, "is a sign of %s, and %s of %s: set --format", claims[0].words, where, claims[1].words)
	}
	f.format, f.api = OpenAI, cupelchat.OpenAI
	if len(claims) == 1 {
		f.claim(claims[0].what)
		return nil
	}
	switch {
	case seen.has(openAI):
	case seen.has(claudeModel) && !seen.has(systemFirst):
		f.format, f.api = Anthropic, cupelchat.Anthropic
	case seen.has(openAIModel):
	case seen.has(message):
		f.notes = append(f.notes, "the messages are valid for both OpenAI's and Anthropic's API; they are read as OpenAI's (--format anthropic changes that)")
	default:
		f.claim(item) // of an empty list
	}
	return nil
}

func (f *finding) claim(what sign) {
	switch what {
	case responses:
		f.api = cupelchat.Responses
	case anthropic:
		f.format, f.api = Anthropic, cupelchat.Anthropic
	case item:
		f.format = JSON
		if f.value.IsZero() {
			f.format = JSONLines
		}
	default:
	}
}

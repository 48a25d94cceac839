package input

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input/rawjson"
	"github.com/wollax/cupel-go/cmd/cupel/internal/transcript"
)

// look finds out what a text is. It never guesses in silence: signs of two
// formats are an error, and signs of none are told of.
func look(text rawjson.Text, format Format) (*finding, error) {
	f := &finding{format: format}
	if format == "" {
		f.format = Auto
	}
	switch f.format {
	case Auto, JSON, JSONLines, OpenAI, Anthropic:
	default:
		return nil, &Error{Reason: fmt.Sprintf("the format %.40q is unknown; known are auto, json, jsonl, openai, anthropic", string(format))}
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
	f.api = transcript.Messages
	if f.format == OpenAI {
		f.api = transcript.Chat
		if seen[responses] == "input" || seen.has(responses) && !seen.has(chat) {
			f.api = transcript.Responses
		}
	}
	return f, nil
}

// split takes the text as one value, or as one on each line.
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
		o, err := f.value.Object("")
		if err != nil {
			return err
		}
		// One item or one message is a text of one line, however it is broken.
		if list, _ := listOf(&o); list == "" && (o.Has("content") || o.Has("role")) {
			f.lines = []rawjson.Part{f.value.Alone()}
			f.value = rawjson.Value{}
		}
		return nil
	}
	if f.format == JSON || !severalLines(text) {
		return err
	}
	f.value = rawjson.Value{}
	f.lines, err = text.Lines()
	return err
}

// severalLines reports whether the first line that is not blank is a JSON
// object of its own: then the text has one on each line.
func severalLines(text rawjson.Text) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	end := bytes.IndexByte(text, '\n')
	if end < 0 || text[0] != '{' {
		return false
	}
	_, err := text[:end].Value()
	return err == nil
}

// listOf returns the name of the member of an object that has its candidates,
// and the names of all members that could.
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

// sign is what a member of a text or a part of a message says about its format.
type sign int

const (
	item    sign = iota // an item of Cupel's
	message             // a message of any API
	chat                // of Chat Completions
	responses
	anthropic
	openAIModel // names of models are what either API may have
	claudeModel
	signs
)

// signals are where signs were seen first.
type signals [signs]string

func (s *signals) has(what sign) bool { return s[what] != "" }

func (s *signals) see(what sign, where string) {
	if s[what] == "" {
		s[what] = where
	}
}

// messageSigns are the names that only messages of one API have.
var messageSigns = map[string]sign{
	"tool_calls": chat, "function_call": chat, "tool_call_id": chat, "refusal": chat,
}

// itemNames are the names that tell an item from a message.
var itemNames = map[string]bool{
	"tokens": true, "kind": true, "source": true, "pinned": true, "priority": true, "futureRelevanceHint": true, "originalTokens": true,
}

var roleSigns = map[string]sign{"tool": chat, "function": chat}

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

// responsesTypes are items of the Responses API that are no messages.
func responsesType(kind string) bool {
	switch kind {
	case "message", "reasoning", "item_reference", "compaction", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response":
		return true
	}
	return strings.HasSuffix(kind, "_call") || strings.HasSuffix(kind, "_call_output")
}

// signs looks at the request, at every message and at every part.
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
			return nil, f.value.Errorf("", "the object has both %q and %q: which are the candidates? Say what it is with --format, or leave one out", all[0], all[1])
		}
		if f.format == Auto {
			switch name {
			case "":
				return nil, f.value.Errorf("", `the object has none of "items", "messages", "input" and "included": it is neither items nor a transcript`)
			case "items", "included":
				seen.see(item, name)
				return seen, nil
			}
		}
		requestOf(&o, seen)
		path = "messages"
		if !o.Has(path) {
			path = "input"
		}
		elements = o.Get(path).Elements()
	}
	for i, part := range elements {
		if err := elementOf(part.Value, rawjson.Index(path, i), path != "", seen); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// requestOf sees what the members of a request say.
func requestOf(o *rawjson.Object, seen *signals) {
	for _, m := range o.Members {
		if what, ok := requestSigns[m.Name]; ok && !m.Value.IsNull() {
			seen.see(what, m.Name)
		}
	}
	if o.Has("input") && !o.Has("messages") {
		seen.see(responses, "input")
	} else if o.Has("messages") {
		seen.see(message, "messages")
	}
	model := o.Get("model").String()
	switch {
	case strings.HasPrefix(model, "claude"):
		seen.see(claudeModel, "model")
	case strings.HasPrefix(model, "gpt-"), strings.HasPrefix(model, "o1"), strings.HasPrefix(model, "o3"), strings.HasPrefix(model, "o4"), strings.HasPrefix(model, "chatgpt"):
		seen.see(openAIModel, "model")
	}
	for i, part := range o.Get("tools").Elements() {
		path := rawjson.Index("tools", i)
		tool, err := part.Value.Object(path)
		switch {
		case err != nil:
		case tool.Has("input_schema"):
			seen.see(anthropic, path+".input_schema")
		case tool.Has("function"):
			seen.see(chat, path+".function")
		}
	}
}

// elementOf sees what an item or a message says.
func elementOf(v rawjson.Value, path string, inRequest bool, seen *signals) error {
	o, err := v.Object(path)
	if err != nil {
		return err
	}
	kind := o.Get("type").String()
	role := o.Get("role")
	switch {
	case responsesType(kind) && (kind != "message" || role.IsString()):
		seen.see(responses, path+".type")
	case role.IsString():
		seen.see(message, path+".role")
	case !inRequest:
		seen.see(item, path)
		return nil
	}
	if what, ok := roleSigns[role.String()]; ok {
		seen.see(what, path+".role")
	}
	for _, m := range o.Members {
		if what, ok := messageSigns[m.Name]; ok && !m.Value.IsNull() {
			seen.see(what, rawjson.Join(path, m.Name))
		}
		if itemNames[m.Name] && !inRequest {
			seen.see(item, rawjson.Join(path, m.Name))
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
			seen.see(what, rawjson.Index(path+".content", i))
		}
	}
	return nil
}

// decide finds the one format that the signs speak for.
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
		return &Error{Reason: fmt.Sprintf("%s is a sign of %s, and %s of %s: say what it is with --format",
			seen[claims[0].what], claims[0].words, seen[claims[1].what], claims[1].words)}
	}
	f.format, f.api = OpenAI, transcript.Chat
	if len(claims) == 1 {
		f.claim(claims[0].what)
		return nil
	}
	switch {
	case seen.has(claudeModel):
		f.format, f.api = Anthropic, transcript.Messages
	case seen.has(openAIModel):
	case seen.has(message):
		f.notes = append(f.notes, "the messages are the same in OpenAI's and Anthropic's API; they are taken for OpenAI's (--format anthropic takes them for the other's)")
	default:
		f.claim(item) // of an empty list
	}
	return nil
}

func (f *finding) claim(what sign) {
	switch what {
	case responses:
		f.api = transcript.Responses
	case anthropic:
		f.format, f.api = Anthropic, transcript.Messages
	case item:
		f.format = JSON
		if f.value.IsZero() {
			f.format = JSONLines
		}
	default:
	}
}

package cupelchat

import (
	"slices"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// record is what formats share that are only read.
type record struct{}

func (record) list() string                           { return "messages" }
func (record) request(*reader, *rawjson.Object) error { return nil }
func (record) note(text string) []byte                { return chatCodec{}.note(text) }
func (record) text(text string) []byte                { return chatCodec{}.text(text) }
func (record) rules() rules                           { return rules{alternate: true, content: "content", record: true} }

// skipped passes over a line that is no message, with a note if its type is
// unknown.
func skipped(r *reader, path, kind string, known ...string) error {
	if !slices.Contains(known, kind) {
		r.noteAt(path, "is of an unknown type and was skipped")
	}
	return nil
}

// claudeCodec is a session of Claude Code: a line for each message of Anthropic's
// API, or for each block of one, and lines of other types between.
type claudeCodec struct{ record }

func (claudeCodec) name() string { return "Claude Code's session files" }

func (claudeCodec) signs() signs {
	return signs{element: func(o *rawjson.Object) string {
		switch {
		case o.Has("sessionId") && (o.Has("uuid") || o.Has("parentUuid")):
			return "sessionId"
		case o.Get("type").String() == "summary" && o.Has("leafUuid"):
			return "leafUuid"
		}
		return ""
	}}
}

func (claudeCodec) message(r *reader, o *rawjson.Object, path string) error {
	kind := o.Get("type").String()
	switch {
	case string(o.Get("isSidechain").Raw()) == "true":
		return nil // of another agent, with a conversation of its own
	case kind != "user" && kind != "assistant":
		return skipped(r, path, kind, "summary", "system", "file-history-snapshot", "queue-operation", "progress", "attachment", "ai-title", "last-prompt", "permission-mode")
	}
	inner, err := o.Get("message").Object(path + ".message")
	if err != nil {
		return err
	}
	if content := inner.Get("content"); content.IsString() && content.String() == "" {
		return nil
	}
	if err := (anthropicCodec{}).message(r, &inner, path+".message"); err != nil {
		return err
	}
	if string(o.Get("isCompactSummary").Raw()) == "true" {
		r.current().compact = true
	}
	return nil
}

// codexCodec is a session of Codex: a line for each item of OpenAI's Responses
// API, as the payload of a record, and records of other types between.
type codexCodec struct{ record }

func (codexCodec) name() string { return "Codex's session files" }
func (codexCodec) rules() rules { return rules{anywhere: true, record: true} }

func (codexCodec) signs() signs {
	return signs{element: func(o *rawjson.Object) string {
		if o.Get("payload").IsObject() && o.Has("timestamp") {
			return "payload"
		}
		return ""
	}}
}

func (codexCodec) message(r *reader, o *rawjson.Object, path string) error {
	kind := o.Get("type").String()
	if kind != "response_item" && kind != "compacted" {
		return skipped(r, path, kind, "session_meta", "event_msg", "turn_context", "session_state", "ghost_snapshot")
	}
	inner := path + ".payload"
	payload, err := o.Get("payload").Object(inner)
	if err != nil {
		return err
	}
	if kind == "compacted" {
		r.message().role = "user"
		e := r.entry("user")
		e.words, e.compact = true, true
		return r.keepMember(&payload, inner, "message")
	}
	return responsesCodec{}.message(r, &payload, inner)
}

// telemetryCodec is the messages that OpenTelemetry's conventions for generative
// AI record, as the value of gen_ai.input.messages.
type telemetryCodec struct{ record }

const (
	inputMessages      = "gen_ai.input.messages"
	systemInstructions = "gen_ai.system_instructions"
)

func (telemetryCodec) name() string { return "OpenTelemetry's " + inputMessages }
func (telemetryCodec) list() string { return inputMessages }

func (telemetryCodec) signs() signs {
	return signs{
		request: []string{systemInstructions},
		element: func(o *rawjson.Object) string {
			for _, part := range o.Get("parts").Elements() {
				p, err := part.Value.Object("")
				if err != nil {
					return ""
				}
				switch p.Get("type").String() {
				case "tool_call", "tool_call_response":
					return "parts"
				case "text", "reasoning":
					if p.Has("content") {
						return "parts"
					}
				}
			}
			return ""
		},
	}
}

func (telemetryCodec) request(r *reader, body *rawjson.Object) error {
	if v := body.Get(inputMessages); v.IsString() {
		return v.Errorf(inputMessages, "is JSON in a string; give the value of that string")
	}
	for _, m := range body.Members {
		if m.Name != systemInstructions || !m.Value.IsArray() {
			continue
		}
		r.beginMember(m, "system")
		r.current().words = true
		if err := r.each(m.Value, m.Name, r.telemetryPart); err != nil {
			return err
		}
	}
	return nil
}

func (telemetryCodec) message(r *reader, o *rawjson.Object, path string) error {
	role, err := r.role(o, path, "system", "user", "assistant", "tool")
	if err != nil {
		return err
	}
	parts := o.Get("parts")
	path += ".parts"
	switch {
	case parts.IsNull(), parts.IsArray() && len(parts.Elements()) == 0:
		return o.Value.Errorf(path, "is required: it says what the message says")
	case !parts.IsArray():
		return parts.Errorf(path, "must be an array of parts, got %s", parts.Type())
	case role == "assistant", role == "system":
		r.entry(role)
		return r.each(parts, path, r.telemetryPart)
	}
	return r.results(parts, path, func(o *rawjson.Object) bool { return o.Get("type").String() == "tool_call_response" }, r.telemetryPart)
}

// telemetryPart reads one part.
func (r *reader) telemetryPart(v rawjson.Value, path string) error {
	o, err := v.Object(path)
	if err != nil {
		return err
	}
	kind, err := str(&o, path, "type")
	if err != nil {
		return err
	}
	id := ""
	if kind == "tool_call" || kind == "tool_call_response" {
		if id, err = optionalStr(&o, path, "id"); err != nil {
			return err
		}
	}
	switch kind {
	case "tool_call":
		return r.useMember(id, &o, path, "arguments")
	case "tool_call_response":
		r.returned(id)
		result := either(&o, "response", "result")
		switch {
		case result.IsNull():
		case result.IsString():
			err = r.say(result)
		default:
			err = r.sayJSON(result, "output")
		}
		r.current().words = false // the text is the tool's
		return err
	}
	r.current().words = true
	switch kind {
	case "text":
		return r.sayMember(&o, path, "content")
	case "reasoning":
		return r.keepMember(&o, path, "content")
	case "blob", "file", "uri":
		name, tokens := geminiMedium(o.Get("mime_type").String())
		if modality := o.Get("modality").String(); modality != "" {
			name = modality
		}
		r.medium(name, tokens, either(&o, "uri", "content"))
		return nil
	}
	return r.unknownPart(kind, v)
}

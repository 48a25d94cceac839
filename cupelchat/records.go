package cupelchat

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// record is what formats share that are only read.
type record struct{}

func (record) list() string                     { return "messages" }
func (record) request(*reader, *rawjson.Object) {}
func (record) end(*reader)                      {}
func (record) note(text string) []byte          { return (&chatCodec{}).note(text) }
func (record) text(text string) []byte          { return (&chatCodec{}).text(text) }
func (record) rules() rules                     { return rules{alternate: true, content: "content", record: true} }

// skipped passes over a line that is no message, with a note if its type is
// unknown.
func skipped(r *reader, path, kind string, known ...string) {
	if !slices.Contains(known, kind) {
		r.noteAt(path, "is of an unknown type and was skipped")
	}
}

// claudeCodec is a session of Claude Code: a line for each message of Anthropic's
// API, or for each block of one, and lines of other types between.
type claudeCodec struct {
	record
	messages anthropicCodec
}

func (*claudeCodec) name() string { return "Claude Code's session files" }

func (*claudeCodec) signs() signs {
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

func (c *claudeCodec) message(r *reader, o *rawjson.Object, path string) {
	kind := o.Get("type").String()
	switch {
	case string(o.Get("isSidechain").Raw()) == "true":
		return // of another agent, with a conversation of its own
	case kind != "user" && kind != "assistant":
		skipped(r, path, kind, "summary", "system", "file-history-snapshot", "queue-operation", "progress", "attachment", "ai-title", "last-prompt", "permission-mode")
		return
	}
	inner, ok := r.inner(o, path, "message", "")
	if !ok {
		return
	}
	if content := inner.Get("content"); content.IsString() && content.String() == "" {
		return
	}
	c.messages.message(r, inner, rawjson.Join(path, "message"))
	if string(o.Get("isCompactSummary").Raw()) == "true" && r.err == nil {
		r.current().compact = true
	}
}

// codexCodec is a session of Codex: a line for each item of OpenAI's Responses
// API, as the payload of a record, and records of other types between.
type codexCodec struct {
	record
	items responsesCodec
}

func (*codexCodec) name() string { return "Codex's session files" }
func (*codexCodec) rules() rules { return rules{anywhere: true, record: true} }

func (*codexCodec) signs() signs {
	return signs{element: func(o *rawjson.Object) string {
		if o.Get("payload").IsObject() && o.Has("timestamp") {
			return "payload"
		}
		return ""
	}}
}

func (c *codexCodec) message(r *reader, o *rawjson.Object, path string) {
	kind := o.Get("type").String()
	if kind != "response_item" && kind != "compacted" {
		skipped(r, path, kind, "session_meta", "event_msg", "turn_context", "session_state", "ghost_snapshot")
		return
	}
	payload, ok := r.inner(o, path, "payload", "")
	path = rawjson.Join(path, "payload")
	switch {
	case !ok:
	case kind == "compacted":
		r.message().role = "user"
		e := r.entry("user")
		e.words, e.compact = true, true
		r.keepMember(payload, path, "message", "")
	default:
		c.items.message(r, payload, path)
	}
}

// telemetryCodec is the messages that OpenTelemetry's conventions for generative
// AI record, as the value of gen_ai.input.messages.
type telemetryCodec struct{ record }

const (
	inputMessages      = "gen_ai.input.messages"
	systemInstructions = "gen_ai.system_instructions"
)

func (*telemetryCodec) name() string { return "OpenTelemetry's " + inputMessages }
func (*telemetryCodec) list() string { return inputMessages }

func (*telemetryCodec) signs() signs {
	return signs{
		request: []string{systemInstructions},
		// It has the same roles.
		over: func(other Format, path string) bool { return other == OpenAI && strings.HasSuffix(path, ".role") },
		element: func(o *rawjson.Object) string {
			for _, part := range o.Get("parts").Elements() {
				p, _ := part.Value.Fields()
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

func (c *telemetryCodec) request(r *reader, body *rawjson.Object) {
	if v := body.Get(inputMessages); v.IsString() {
		r.fail(v.Errorf(inputMessages, "is JSON in a string; give the value of that string"))
	}
	r.system(body, func(m rawjson.Part) {
		r.each(m.Value, m.Name, func(v rawjson.Value, path string) { c.part(r, v, path) })
	}, systemInstructions)
}

func (c *telemetryCodec) message(r *reader, o *rawjson.Object, path string) {
	role, known := r.role(o, path, "system", "user", "assistant", "tool")
	if !known {
		return
	}
	parts := o.Get("parts")
	path = rawjson.Join(path, "parts")
	read := func(v rawjson.Value, path string) { c.part(r, v, path) }
	switch {
	case parts.IsNull(), parts.IsArray() && len(parts.Elements()) == 0:
		r.fail(o.Value.Errorf(path, "is required: it says what the message says"))
	case !parts.IsArray():
		r.broken(parts, path, "", "must be an array of parts, got %s", parts.Type())
	case role == "assistant", role == "system":
		r.entry(role)
		r.each(parts, path, read)
	default:
		r.results(parts, path, func(o *rawjson.Object) bool { return o.Get("type").String() == "tool_call_response" }, read)
	}
}

// part reads one part.
func (*telemetryCodec) part(r *reader, v rawjson.Value, path string) {
	o, ok := r.object(v, path, "")
	if !ok {
		return
	}
	kind := r.member(o, path, "type", "")
	if kind != "tool_call" && kind != "tool_call_response" {
		r.current().words = true
	}
	switch kind {
	case "tool_call":
		r.use(r.optional(o, path, "id", ""), r.member(o, path, "name", ""), o.Get("arguments"))
	case "tool_call_response":
		r.returned(r.optional(o, path, "id", ""))
		switch _, result := firstOf(o, "response", "result"); {
		case result.IsString():
			r.say(result)
		case !result.IsNull():
			r.sayAs(result.Compact(), result, "output")
		}
		r.current().words = false // the text is the tool's
	case "text":
		r.member(o, path, "content", "")
		r.say(o.Get("content"))
	case "reasoning":
		r.keepMember(o, path, "content", "")
	case "blob", "file", "uri":
		name, tokens := geminiMedium(o.Get("mime_type").String())
		if modality := o.Get("modality").String(); modality != "" {
			name = modality
		}
		_, where := firstOf(o, "uri", "content")
		r.medium(name, tokens, where)
	default:
		r.unknownPart(kind, v)
	}
}

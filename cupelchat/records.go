package cupelchat

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// record is the common part of the formats that are only read.
type record struct{}

func (record) request(cursor) {}
func (record) end(*reader)    {}
func (record) fork() codec    { return nil } // sessions append lines

// skip skips a line that is not a message, with a note if its type is unknown.
func (o cursor) skip(known ...string) {
	if !slices.Contains(known, o.Get("type").String()) {
		o.noteAt(o.path, "is of an unknown type and was skipped")
	}
}

// claudeCodec is a session of Claude Code: a line for each message of Anthropic's
// API, or for each block of one, and lines of other types between.
type claudeCodec struct {
	record
	messages anthropicCodec
}

var claudeRules = rules{
	name: "Claude Code's session files", list: "messages", content: "content", alternate: true, record: true,
	signs: signs{element: func(o *rawjson.Object) string {
		switch {
		case o.Has("sessionId") && (o.Has("uuid") || o.Has("parentUuid")):
			return "sessionId"
		case o.Get("type").String() == "summary" && o.Has("leafUuid"):
			return "leafUuid"
		}
		return ""
	}},
}

func (c *claudeCodec) message(o cursor) {
	kind := o.Get("type").String()
	switch {
	case string(o.Get("isSidechain").Raw()) == "true":
		return // of another agent, with a conversation of its own
	case kind != "user" && kind != "assistant":
		o.skip("summary", "system", "file-history-snapshot", "queue-operation", "progress", "attachment", "ai-title", "last-prompt", "permission-mode")
		return
	}
	inner, ok := o.inner("message", "")
	if !ok {
		return
	}
	if content := inner.Get("content"); content.IsString() && content.String() == "" {
		return
	}
	c.messages.message(inner)
	if string(o.Get("isCompactSummary").Raw()) == "true" && o.err == nil {
		o.current().compact = true
	}
}

// codexCodec is a session of Codex: a line for each item of OpenAI's Responses
// API, as the payload of a record, and records of other types between.
type codexCodec struct {
	record
	items responsesCodec
}

var codexRules = rules{
	name: "Codex's session files", list: "messages", record: true,
	signs: signs{element: func(o *rawjson.Object) string {
		if o.Get("payload").IsObject() && o.Has("timestamp") {
			return "payload"
		}
		return ""
	}},
}

func (c *codexCodec) message(o cursor) {
	kind := o.Get("type").String()
	if kind != "response_item" && kind != "compacted" {
		o.skip("session_meta", "event_msg", "turn_context", "session_state", "ghost_snapshot")
		return
	}
	payload, ok := o.inner("payload", "")
	switch {
	case !ok:
	case kind == "compacted":
		o.message().role = "user"
		e := o.entry("user")
		e.words, e.compact = true, true
		payload.keepMember("message", "")
	default:
		c.items.message(payload)
	}
}

// telemetryCodec is the messages that OpenTelemetry's conventions for generative
// AI record, as the value of gen_ai.input.messages.
type telemetryCodec struct{ record }

const (
	inputMessages      = "gen_ai.input.messages"
	systemInstructions = "gen_ai.system_instructions"
)

var telemetryRules = rules{
	name: "OpenTelemetry's " + inputMessages, list: inputMessages, content: "content", alternate: true, record: true,
	signs: signs{
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
	},
}

func (c *telemetryCodec) request(body cursor) {
	body.system(func(name string) { body.parts(name, "", c.part) }, systemInstructions)
}

func (c *telemetryCodec) message(o cursor) {
	role, known := o.role("system", "user", "assistant", "tool")
	if !known {
		return
	}
	parts := o.Get("parts")
	switch {
	case parts.IsNull(), parts.IsArray() && len(parts.Elements()) == 0:
		o.fail(o.Value.Errorf(o.where("parts"), "is required: it has the words of the message"))
	case !parts.IsArray():
		o.unreadable("parts", "", "must be an array of parts, got %s", parts.Type())
	case role == "assistant", role == "system":
		o.entry(role)
		o.parts("parts", "", c.part)
	default:
		o.results("parts", "", func(part *rawjson.Object) bool { return part.Get("type").String() == "tool_call_response" }, c.part)
	}
}

// part reads one part.
func (*telemetryCodec) part(o cursor) {
	kind := o.member("type", "")
	o.current().words = true
	switch kind {
	case "tool_call":
		o.use(o.optional("id", ""), o.member("name", ""), o.Get("arguments"))
	case "tool_call_response":
		o.returned(o.optional("id", ""))
		switch _, result := o.firstOf("response", "result"); {
		case result.IsString():
			o.say(result)
		case !result.IsNull():
			o.sayAs(result.Compact(), result, "output")
		}
	case "text":
		o.member("content", "")
		o.say(o.Get("content"))
	case "reasoning":
		o.keepMember("content", "")
	case "blob", "file", "uri":
		name, tokens := geminiMedium(o.Get("mime_type").String())
		if modality := o.Get("modality").String(); modality != "" {
			name = modality
		}
		_, where := o.firstOf("uri", "content")
		o.medium(name, tokens, where)
	default:
		o.unknownPart(o.path, o.Value)
	}
}

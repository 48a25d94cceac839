package cupelchat

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Format is the format of a conversation: of an API's requests, or of the
// records that a program keeps.
type Format uint8

// The formats of APIs, which are read and written.
const (
	OpenAI    Format = iota + 1 // OpenAI's Chat Completions
	Responses                   // OpenAI's Responses
	Anthropic                   // Anthropic's Messages
	Gemini                      // Gemini's generateContent
	Bedrock                     // Amazon Bedrock's Converse
	Ollama                      // Ollama's chat
)

// The formats of records, which are only read.
const (
	ClaudeCode    Format = iota + Ollama + 1 // Claude Code's session files
	Codex                                    // Codex's session files
	OpenTelemetry                            // gen_ai.input.messages of OpenTelemetry
)

// codec is the part of the package that differs by format. It reads messages
// into entries and parts, and notes faults that the API refuses; everything
// else works on entries and parts. A codec reads one conversation.
type codec interface {
	// request reads the other members of a request that the model sees, such as
	// the system prompt and the tools, and refuses requests that cannot be
	// selected from.
	request(body cursor)
	// message reads one message of the list, which r.begin has begun.
	message(o cursor)
	// end notes faults of the messages as a whole; there is at least one
	// message.
	end(r *reader)
	// fork returns a copy that continues from here, or nil if the codec
	// cannot.
	fork() codec
}

// rules are a format's names for its parts, and its API's requirements for the
// messages of a request.
type rules struct {
	name      string // in errors and notes
	list      string // the member of a request that holds the messages
	content   string // the member of a message with its words, which joining appends to
	text      string // the type of a part that says a text; "" if parts have none
	onlyParts bool   // a new message has a list of parts, even if it is one text: SDKs write that
	model     string // the role of the model's messages, if that is not assistant
	userFirst bool   // the first message is the user's
	alternate bool   // messages of one role that become adjacent are joined
	// neighbours reports whether messages of one role are joined although they
	// were next to each other: a call must come right after the user's message or
	// a result.
	neighbours bool
	cache      bool  // has breakpoints of a prompt cache
	record     bool  // is only read
	nulls      bool  // null may stand in any place, and the list may be empty
	thinking   bool  // a turn of the model that began with thinking keeps its first message
	signed     bool  // the calls of a turn all have signatures, or none
	signs      signs // features that no other format has
}

// part returns a part of a content with a text.
func (u *rules) part(text string) []byte {
	kind := ""
	if u.text != "" {
		kind = `"type": "` + u.text + `", `
	}
	return slices.Concat([]byte("{"+kind+`"text": `), quoted(text), []byte("}"))
}

// message returns a message with a text.
func (u *rules) message(role, text string) []byte {
	said := quoted(text)
	if u.onlyParts {
		said = enclose('[', [][]byte{u.part(text)}, ']')
	}
	return slices.Concat([]byte(`{"role": "`+role+`", "`+u.content+`": `), said, []byte("}"))
}

// formats are the formats that are known, by their number.
var formats = map[Format]struct {
	name  string
	rules *rules
	codec func() codec
}{
	OpenAI:    {"openai", &openAIRules, func() codec { return &chatCodec{} }},
	Responses: {"responses", &responsesRules, func() codec { return &responsesCodec{} }},
	Anthropic: {"anthropic", &anthropicRules, func() codec { return &anthropicCodec{} }},
	Gemini:    {"gemini", &geminiRules, func() codec { return &geminiCodec{} }},
	Bedrock:   {"bedrock", &bedrockRules, func() codec { return &bedrockCodec{} }},
	Ollama:    {"ollama", &ollamaRules, func() codec { return &ollamaCodec{} }},

	ClaudeCode:    {"claude-code", &claudeRules, func() codec { return &claudeCodec{} }},
	Codex:         {"codex", &codexRules, func() codec { return &codexCodec{} }},
	OpenTelemetry: {"opentelemetry", &telemetryRules, func() codec { return &telemetryCodec{} }},
}

// Formats returns all formats that [Read] reads.
func Formats() []Format { return slices.Sorted(maps.Keys(formats)) }

// ParseFormat returns the format with a name, such as "anthropic". It fails with
// an [Error] that lists the names.
func ParseFormat(name string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if f.String() == name {
			return f, nil
		}
		names = append(names, f.String())
	}
	return 0, &Error{Reason: fmt.Sprintf("the format %.40q is unknown; want one of %s", name, strings.Join(names, ", "))}
}

// String returns the name of the format in small letters.
func (f Format) String() string {
	if known, ok := formats[f]; ok {
		return known.name
	}
	return fmt.Sprintf("format %d", uint8(f))
}

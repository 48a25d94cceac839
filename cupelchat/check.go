package cupelchat

import (
	"fmt"

	apirules "github.com/wollax/cupel-go/cupelchat/internal/rules"
)

// Violation is something in the body of a request that the API refuses.
type Violation struct {
	// Path is where it is, such as "messages[3].tool_calls[0].id". It is empty
	// for the body as a whole.
	Path string
	// Rule is the name of the rule, such as "call-without-result". The rules of
	// each API, what it answers, and where that is written are in
	// docs/chat-rules.md.
	Rule string
	// Message says what is wrong and what the API wants.
	Message string
}

// String returns the violation on one line.
func (v Violation) String() string {
	if v.Path == "" {
		return fmt.Sprintf("%s (%s)", v.Message, v.Rule)
	}
	return fmt.Sprintf("%s: %s (%s)", v.Path, v.Message, v.Rule)
}

// checks are the rules of the formats that are sent to an API, by name.
var checks = map[string]func([]byte) []apirules.Violation{
	"openai":    apirules.OpenAI,
	"responses": apirules.Responses,
	"anthropic": apirules.Anthropic,
	"gemini":    apirules.Gemini,
	"bedrock":   apirules.Bedrock,
	"ollama":    apirules.Ollama,
}

// Check returns what the API of a format refuses in a body: a request, an array
// of its messages, or one message per line. It looks at the conversation and the
// system prompt, not at parameters such as the model; what an API knows but a
// body does not show, such as whether a signature is genuine, it takes. It
// returns nothing for a body that the API takes, and takes time linear in the
// size of the body. A format that only records have is never sent, and its only
// violation is that.
//
// Check shares no code with what reads and writes conversations, so that it can
// judge them: every result of [Window.Body] passes, unless the conversation
// that was read fails for the same rule.
func Check(body []byte, f Format) []Violation {
	check, ok := checks[f.String()]
	if !ok {
		return []Violation{{Rule: "format", Message: fmt.Sprintf("no API takes %s", f)}}
	}
	var list []Violation
	for _, v := range check(body) {
		list = append(list, Violation(v))
	}
	return list
}

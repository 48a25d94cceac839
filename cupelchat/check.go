package cupelchat

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// Violation is a fault for which the API refuses the body of a request.
type Violation struct {
	// Path is the place of the fault, such as "messages[3].tool_calls[0].id".
	// It is empty for the body as a whole.
	Path string
	// Rule is the name of the rule, such as "call-without-result".
	// docs/chat-rules.md lists the rules of each API, its answers, and their
	// sources.
	Rule string
	// Message states the fault and what the API requires.
	Message string
}

// String returns the violation on one line.
func (v Violation) String() string {
	if v.Path == "" {
		return fmt.Sprintf("%s (%s)", v.Message, v.Rule)
	}
	return fmt.Sprintf("%s: %s (%s)", v.Path, v.Message, v.Rule)
}

// Check returns the faults for which the API of a format refuses a body: a
// request, an array of its messages, or one message per line. It checks the
// conversation and the system prompt, not parameters such as the model. It
// cannot check facts that only the API knows, such as whether a signature is
// genuine. It returns nil for a body that the API accepts. A format of records
// cannot be sent, which is then the only violation. Check takes time linear in
// the size of the body.
//
// Every result of [Window.Body] passes, unless the original conversation
// violates the same rule, or a note says that the API may refuse what is pinned.
func Check(body []byte, f Format) []Violation {
	known, ok := formats[f]
	if !ok || known.rules.record {
		return []Violation{{Rule: "format", Message: fmt.Sprintf("no API takes %s", f)}}
	}
	r := newReader(f, nil, settings{})
	r.read(body)
	return r.found
}

// fail keeps the first reason why a conversation cannot be read.
func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// refuse notes a fault that the API refuses.
func (r *reader) refuse(path, rule, format string, args ...any) {
	r.found = append(r.found, Violation{path, rule, fmt.Sprintf(format, args...)})
}

// broken notes a value that the API refuses and that cannot be read either. The
// message begins with value. With the rule "" the API accepts it.
func (r *reader) broken(v rawjson.Value, path, rule, format string, args ...any) {
	r.fail(v.Errorf(path, format, args...))
	if rule != "" {
		r.refuse(path, rule, format, args...)
	}
}

// openCalls are the calls that still need results, in their order.
type openCalls struct {
	list []openCall
	at   map[string]int // by id
}

type openCall struct {
	id, path string
	answered bool
}

// open notes a call.
func (c *openCalls) open(id, path string) {
	if c.at == nil {
		c.at = map[string]int{}
	}
	c.at[id] = len(c.list)
	c.list = append(c.list, openCall{id: id, path: path})
}

func (c *openCalls) fork() openCalls { return openCalls{slices.Clone(c.list), maps.Clone(c.at)} }

// has reports whether there is a call of this id.
func (c *openCalls) has(id string) bool {
	_, ok := c.at[id]
	return ok
}

// answer notes the result of the call whose id a member is. It reports whether it is
// the first.
func (c *openCalls) answer(o cursor, name string) bool {
	id := o.Get(name).String()
	i, known := c.at[id]
	switch {
	case !known:
		o.wrong(name, "result-without-call", "there is no call %s that waits for its result", quote(id))
	case c.list[i].answered:
		o.wrong(name, "result-twice", "the call %s has a result already", quote(id))
	default:
		c.list[i].answered = true
		return true
	}
	return false
}

// close ends the place for results, where the API wants them.
func (c *openCalls) close(r *reader, wants string) {
	for _, call := range c.list {
		if !call.answered {
			r.refuse(call.path, "call-without-result", "the call %s has no result: %s", quote(call.id), wants)
		}
	}
	*c = openCalls{}
}

func word(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// blank reports whether a text has white space only.
func blank(text string) bool { return strings.TrimSpace(text) == "" }

// quote quotes a text that the body holds, which may be long.
func quote(text string) string { return fmt.Sprintf("%q", clip(text)) }

// clip shortens a text for a path or a message.
func clip(text string) string { return short(text, 60) }

package cupelchat

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// Rule decides about some messages. It applies to messages that match Role, Tool and
// Text; an empty field matches all.
type Rule struct {
	// Role is "system", "user", "assistant", or "tool" for results.
	Role string `json:"role,omitempty" toml:"role"`
	// Tool is the name of a tool, or a pattern as in [path.Match]. It matches calls and
	// results.
	Tool string `json:"tool,omitempty" toml:"tool"`
	// Text is a text that the message contains.
	Text string `json:"text,omitempty" toml:"text"`
	// Match, if not nil, selects only messages for which it returns true. It gets the role, as
	// above, and the text. It must return the same for the same arguments, and may be called
	// by several goroutines at once.
	Match func(role, text string) bool `json:"-" toml:"-"`

	// Keep keeps the messages in the window, whole.
	Keep bool `json:"keep,omitempty" toml:"keep"`
	// Latest keeps this many of the newest messages, whole. An exchange counts
	// once.
	Latest int `json:"latest,omitempty" toml:"latest"`
	// Never leaves the messages out before anything else. The exchange that the
	// model still works on stays, and so do messages that another rule keeps. The
	// preset agent follows the rule.
	Never bool `json:"never,omitempty" toml:"never"`
}

// WithRules adds rules for messages. A message that a rule keeps is in the window with its
// exchange, as if [WithPins] named it. Other messages are left out to make room; if it
// does not fit by itself, the error is a [TooLargeError].
func WithRules(rules ...Rule) Option {
	return func(s *settings) error {
		for n, r := range rules {
			if reason := r.damage(); reason != "" {
				text, _ := json.Marshal(r)
				return &cupel.InvalidConfigError{Component: "cupelchat.Read", Field: fmt.Sprintf("rules[%d]", n), Value: string(text), Reason: reason}
			}
		}
		s.keeping = append(slices.Clip(s.keeping), rules...)
		return nil
	}
}

// damage describes the fault of a rule, or returns "".
func (r *Rule) damage() string {
	_, err := path.Match(r.Tool, "")
	switch {
	case err != nil:
		return "the tool is not a valid pattern: " + err.Error()
	case r.Role != "" && !slices.Contains([]string{"system", "user", "assistant", "tool"}, r.Role):
		return "the role must be system, user, assistant or tool"
	case r.Latest < 0:
		return "latest must be at least 0"
	case !r.Keep && r.Latest == 0 && !r.Never:
		return "it does nothing: set keep, latest or never"
	case r.Never && (r.Keep || r.Latest > 0):
		return "it both keeps messages and leaves them out"
	case r.Role == "" && r.Tool == "" && r.Text == "" && r.Match == nil:
		return "it selects every message: set role, tool or text"
	}
	return ""
}

// selects reports whether a rule applies to an entry.
func (r *Rule) selects(e *entry) bool {
	role := e.role
	switch {
	case e.role == "tools":
		return false // definitions are always sent
	case e.returns():
		role = "tool"
	case isSystem(role):
		role = "system"
	}
	named := func(tool string) bool {
		matches, _ := path.Match(r.Tool, tool)
		return matches
	}
	if r.Role != "" && r.Role != role || r.Tool != "" && !slices.ContainsFunc(e.names, named) {
		return false
	}
	text := e.content()
	return strings.Contains(text, r.Text) && (r.Match == nil || r.Match(role, text))
}

// follow pins the entries that the rules keep, and finds those that they leave
// out first.
func (c *Conversation) follow(pins []bool) {
	if len(c.keeping) == 0 {
		return
	}
	c.ruled, c.never = make([]bool, len(c.entries)), make([]bool, len(c.entries))
	for n := range c.keeping {
		r := &c.keeping[n]
		seen := map[int]bool{} // groups, the newest first
		for i := range slices.Backward(c.entries) {
			if !r.selects(&c.entries[i]) {
				continue
			}
			seen[c.groupOf[i]] = true
			c.ruled[i] = c.ruled[i] || r.Keep || len(seen) <= r.Latest
			c.never[i] = c.never[i] || r.Never
		}
	}
	for i, kept := range c.ruled {
		pins[i] = pins[i] || kept
	}
}

// leavesFirst reports whether a rule leaves an entry out before anything else.
func (c *Conversation) leavesFirst(i int) bool { return len(c.never) > i && c.never[i] }

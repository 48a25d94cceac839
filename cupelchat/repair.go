package cupelchat

import (
	"math"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/rawjson"
)

// WithRepair leaves out parts that the API would refuse, with a note for each message:
// results without their calls or with a duplicate id, empty texts, and a last message of
// the model if the API does not allow it. Calls without results become texts of the
// model that say so. Faults that cannot be repaired this way stay, and notes name them.
func WithRepair() Option {
	return func(s *settings) error {
		s.repairs = true
		return nil
	}
}

// mostRepairs is how often a conversation is repaired: leaving something out may reveal
// another fault.
const mostRepairs = 8

// repaired are the rules whose violations are repaired, and whether the repair removes
// the whole exchange.
var repaired = map[string]bool{
	"result-without-call": false, "result-twice": false, "result-id": false, "text-empty": false, "text-blank": false, "content-empty": false,
	"thinking-last": false, "trailing-space": false, "call-without-result": true, "call-id-twice": true, "item-twice": false, "reasoning-follow": false,
}

// repair returns the body without what the API refuses, and notes. It returns nil if
// there is nothing that it can do.
func (c *Conversation) repair() (body []byte, notes []string) {
	n := &notesOf{}
	w := &writer{Conversation: c, notesOf: n, states: make([]state, len(c.entries)), broken: map[int]bool{}, room: math.MaxInt / 2}
	for i := range w.states {
		w.states[i].in = true
	}
	for _, v := range c.found {
		if v.Rule == "alternation" {
			w.joins = true
			n.note("joined %s with the message before: %s (%s)", strings.TrimSuffix(v.Path, ".role"), v.Message, v.Rule)
			continue
		}
		exchange, known := repaired[v.Rule]
		at := c.entryAt(v.Path)
		if !known || at == none || !w.states[at].in || w.states[at].note {
			continue
		}
		if text, rest := c.entries[at].withoutBlanks(); rest && (v.Rule == "text-empty" || v.Rule == "text-blank") {
			w.states[at] = state{in: true, short: true, text: text}
			n.note("left out a text of %s: %s (%s)", c.pathOf(at), v.Message, v.Rule)
			continue
		}
		if !exchange {
			w.states[at], w.broken[at] = state{}, true
			n.note("left out %s: %s (%s)", c.pathOf(at), v.Message, v.Rule)
			continue
		}
		titles, said, _ := c.summary(c.group(at))
		for k, i := range c.group(at) {
			w.states[i] = state{in: true, short: true, note: true}
			if k == 0 {
				w.states[i].text = strings.TrimSpace(noteLabel + ": " + titles + "; not answered]\n" + said)
			}
		}
		n.note("%s has become a text: %s (%s)", c.pathOf(at), v.Message, v.Rule)
	}
	if w.whole() && !w.joins {
		return nil, nil
	}
	if w.rules.userFirst {
		w.startWithUser()
	}
	if w.empty() {
		return nil, nil
	}
	return w.assemble(), n.notes()
}

// withoutBlanks returns the content of an entry without empty texts, and whether anything
// is left.
func (e *entry) withoutBlanks() (content string, rest bool) {
	var lines []string
	for _, p := range e.parts {
		if p.kind == words && strings.TrimSpace(p.text) != "" {
			lines = append(lines, p.text)
		}
		rest = rest || p.kind != words || strings.TrimSpace(p.text) != ""
	}
	return e.with(strings.Join(lines, "\n")), rest
}

// entryAt returns the entry that a path leads to, or none.
func (c *Conversation) entryAt(path string) int {
	at := none
	for i := range c.entries {
		e := &c.entries[i]
		inside, ok := strings.CutPrefix(path, c.pathOf(i))
		switch {
		case !ok || inside != "" && !strings.ContainsAny(inside[:1], ".["):
			continue
		case at == none, slices.ContainsFunc(e.parts, func(p part) bool {
			return p.list == 0 && strings.Contains(inside, rawjson.Index("", p.at))
		}):
			at = i
		}
	}
	return at
}

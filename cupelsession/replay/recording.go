package replay

import (
	"strconv"
	"strings"
)

// unit is a message, or an assistant's calls with all their results.
type unit struct {
	id     string // of the unit as a piece
	role   string // of the first message
	text   string
	tokens int
	parts  []*chatMessage
	pieces window // the parts
	keys   keys
}

// step is a message of the assistant, with everything that its window is
// measured by.
type step struct {
	message *chatMessage
	units   int // said before it
	values  []value
	tokens  int // of all units before it
}

// recording is a conversation, ready to be measured. It is not changed once it
// is made.
type recording struct {
	id     string
	units  []unit
	steps  []step
	system int // tokens of the system prompts
	tokens int // of all units
	first  int // the unit of the first message of the user, or -1
}

// record prepares a conversation.
func record(c *Conversation) *recording {
	r := &recording{id: c.ID, first: -1}
	textual := true // the agent makes no calls, and acts in its text
	open := false   // the last unit has calls, and may have more results
	for _, message := range c.messages {
		textual = textual && !message.calls
		if message.role == "assistant" && len(r.units) > 0 {
			r.steps = append(r.steps, step{message: message, units: len(r.units)})
		}
		if message.role == "tool" && open {
			u := &r.units[len(r.units)-1]
			u.parts = append(u.parts, message)
			continue
		}
		open = message.calls
		r.units = append(r.units, unit{role: message.role, parts: []*chatMessage{message}})
	}
	for i := range r.units {
		u := &r.units[i]
		u.finish()
		u.id = strconv.Itoa(i) + "\x00" + u.text
		r.tokens += u.tokens
		if u.role == "system" {
			r.system += u.tokens
		}
		if r.first < 0 && u.role == "user" {
			r.first = i
		}
	}
	for k := range r.steps {
		s := &r.steps[k]
		for i := range s.units {
			s.tokens += r.units[i].tokens
		}
		if s.message.calls || textual {
			s.values = r.needed(s.message, s.units)
		}
	}
	return r
}

// blocks returns how many content blocks a unit has.
func (u *unit) blocks() int {
	n := 0
	for i := range u.pieces {
		n += u.pieces[i].blocks
	}
	return n
}

func (u *unit) finish() {
	u.keys = make(keys)
	texts := make([]string, len(u.parts))
	u.pieces = make(window, len(u.parts))
	for i, part := range u.parts {
		texts[i] = part.text
		u.pieces[i] = part.piece()
		u.tokens += u.pieces[i].tokens
		for _, document := range part.documents {
			u.keys.add("", document)
		}
	}
	u.text = strings.Join(texts, "\n")
}

// needed returns the values that a message uses and that earlier messages
// have, but neither the system prompt nor the newest unit.
func (r *recording) needed(message *chatMessage, n int) []value {
	var values []value
	seen := make(map[string]bool)
	used(message, func(text string) {
		if seen[text] {
			return
		}
		seen[text] = true
		earlier := false
		for i := range r.units[:n] {
			if !strings.Contains(r.units[i].text, text) {
				continue
			}
			if i == n-1 || r.units[i].role == "system" {
				return
			}
			earlier = true
		}
		if earlier {
			values = append(values, newValue(text, r.units[:n]))
		}
	})
	return values
}

// pinned reports whether unit i of the first n is always sent: the system
// prompts and the newest unit.
func (r *recording) pinned(i, n int) bool { return r.units[i].role == "system" || i == n-1 }

// fixed returns the tokens of the pinned units among the first n.
func (r *recording) fixed(n int) int {
	sum := 0
	for i := range n {
		if r.pinned(i, n) {
			sum += r.units[i].tokens
		}
	}
	return sum
}

// limit returns the budget at a share: the system prompts plus that share of
// the rest of the conversation.
func (r *recording) limit(share float64) int {
	return r.system + int(share*float64(r.tokens-r.system))
}

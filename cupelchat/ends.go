package cupelchat

import (
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/internal/english"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// startWithUser makes the first kept message a message of the user.
func (w *writer) startWithUser() {
	first := 0
	for ; first < len(w.states) && (!w.states[first].in || !w.spoken(first)); first++ {
	}
	if first == len(w.states) || w.opens(first) {
		return // there is none, or it is the user's
	}
	opening := w.openingBefore(first)
	if opening == none && !w.entries[first].asks {
		first = w.firstCall(first) // the model spoke first, but its calls follow the user
		if opening = w.openingBefore(first); opening == none {
			return
		}
	}
	if opening != none && w.restore(opening, "first") || w.begin() {
		return
	}
	if opening != none {
		w.required = append(w.required, opening)
	}
	var gone dropped
	for i := first; i < len(w.states) && !(w.states[i].in && w.opens(i)); i++ {
		if w.states[i].in && w.spoken(i) {
			gone.drop(w, w.groupOf[i])
		}
	}
	gone.note(w, "from %s on", first, "the user speaks first, and the user's message before does not fit")
}

// openingBefore returns the latest entry before one with which a conversation may
// begin, or none.
func (w *writer) openingBefore(i int) int {
	for i--; i >= 0; i-- {
		if w.opens(i) {
			return i
		}
	}
	return none
}

// firstCall returns the first call in the run of messages of the model that begins
// with an entry, or none. A call follows the user in every API, and messages of
// the model become one when everything between them is out.
func (w *writer) firstCall(i int) int {
	for ; i < len(w.states); i++ {
		switch s := w.states[i]; {
		case !s.in || s.note || !w.spoken(i):
		case w.roleOf(i) != "assistant":
			return none
		case w.entries[i].tool:
			return i
		}
	}
	return none
}

// restore puts an entry and its group back, if there is room, because the user
// must speak first or last.
func (w *writer) restore(at int, speaks string) bool {
	group, tokens := w.group(at), 0
	for _, i := range group {
		if w.broken[i] {
			return false
		}
		tokens = add(tokens, w.items[i].Tokens())
	}
	if tokens > w.room {
		return false
	}
	for _, i := range group {
		w.states[i] = state{in: true}
	}
	w.room -= tokens
	w.note("restored %s (%s), because the API requires that the user speaks %s", w.pathOf(at), english.Plural(tokens, "token"), speaks)
	return true
}

// earlier is the user's first message if there is no room for more.
const earlier = "[earlier messages left out]"

// begin adds a first message of the user that something is left out, if it
// fits.
func (w *writer) begin() bool {
	n, err := counted(w.counter, earlier)
	if err != nil || add(n, messageTokens) > w.room {
		return false
	}
	w.begins, w.room = true, w.room-n-messageTokens
	w.note("added a user message that says %q, because the API requires that the user speaks first", earlier)
	return true
}

// dropped counts what was dropped.
type dropped struct{ items, tokens int }

// drop leaves a group out.
func (d *dropped) drop(w *writer, group int) {
	for _, i := range w.groups[group] {
		if w.states[i].in {
			w.states[i] = state{}
			d.items, d.tokens = d.items+1, add(d.tokens, w.items[i].Tokens())
		}
	}
}

// note adds a note on what was dropped, from an entry on or up to it, and on
// the API's rule.
func (d *dropped) note(w *writer, where string, entry int, required string) {
	where = fmt.Sprintf(where, w.pathOf(entry))
	text := fmt.Sprintf("dropped %s %s (%s), because the API requires that %s", english.Plural(d.items, "item"), where, english.Plural(d.tokens, "token"), required)
	w.note("%s", text)
	w.dropped = append(w.dropped, text)
}

// endWithUser makes the last kept message a message of the user, if it was in
// the conversation. Otherwise the API would continue the model's own words, or
// refuse.
func (w *writer) endWithUser() {
	last := len(w.states) - 1
	if w.roleOf(last) != "user" || w.lastRole() != "assistant" {
		return
	}
	if w.restore(last, "last") {
		return
	}
	w.required = append(w.required, last)
	var gone dropped
	from := none
	for i := last; w.lastRole() == "assistant"; i-- {
		if w.states[i].in {
			gone.drop(w, w.groupOf[i])
			from = i
		}
	}
	gone.note(w, "from %s on", from, "the user speaks last, and the user's last message does not fit")
}

// opens reports whether a conversation may begin with the entry.
func (w *writer) opens(i int) bool {
	e := &w.entries[i]
	return w.messageOf(i).member == "" && e.asks && !w.states[i].note
}

func (c *Conversation) pathOf(entry int) string {
	m := c.messageOf(entry)
	if m.member != "" {
		return m.member
	}
	return rawjson.Index(c.rules.list, m.index)
}

// empty reports whether no message is left.
func (w *writer) empty() bool {
	for i, s := range w.states {
		if m := w.messageOf(i); s.in && (m.member == "" || m.member == w.rules.list) {
			return false
		}
	}
	return true
}

func (c *Conversation) roleOf(i int) string { return c.messageOf(i).role }

// lastRole returns the role of the last message kept.
func (w *writer) lastRole() string {
	for i, s := range slices.Backward(w.states) {
		if s.in {
			return w.said(i)
		}
	}
	return ""
}

// finishTurn leaves out exchanges that the API refuses in the turn at the end, while
// there are some: they became part of it because messages are out. If one of them is
// pinned, the API refuses the turn in any case, and all stay. mustBe is what the API
// requires of the turn, which it has with the required entries.
func (w *writer) finishTurn(refused func() (groups []int), mustBe string, required ...int) {
	var gone dropped
	before, last := slices.Clone(w.states), none
	pinned := func(i int) bool { return w.items[i].Pinned() }
	for groups := refused(); len(groups) > 0; groups = refused() {
		for _, g := range groups {
			if slices.ContainsFunc(w.groups[g], pinned) {
				w.states = before
				w.note("the API may refuse the turn at the end with what is pinned: it requires that %s", mustBe)
				return
			}
			last = max(last, slices.Max(w.groups[g]))
			gone.drop(w, g)
		}
	}
	if gone.items > 0 {
		w.required = append(w.required, required...)
		gone.note(w, "up to %s", last, mustBe)
	}
}

// thinks reports whether thinking is enabled, or, if the request does not state
// it, whether there is some. Adaptive thinking may be missing.
func (c *Conversation) thinks() bool {
	if c.body.Has("thinking") {
		thinking, err := c.body.Get("thinking").Object("")
		return err == nil && thinking.Get("type").String() == "enabled"
	}
	return slices.ContainsFunc(c.entries, func(e entry) bool { return e.thinks })
}

// thoughtless returns the exchanges before the first one that begins with thinking in the
// turn at the end, if the model answers results. The turn reaches back to what the user
// said last.
func (w *writer) thoughtless() (groups []int) {
	answers := false
	for i := range slices.Backward(w.states) {
		switch {
		case !w.writes(i):
			continue
		case w.said(i) == "assistant" && !answers:
			return nil // the model goes on with its own words
		case w.said(i) == "assistant" && w.entries[i].thinks && !w.states[i].note:
			groups = groups[:0]
			continue
		case w.said(i) == "assistant":
			groups = append(groups, w.groupOf[i])
			continue
		case w.entries[i].returns():
			answers = true
			continue
		}
		break
	}
	return groups
}

// unlike returns the exchanges of the turn at the end whose calls are signed where those
// of its newest exchange are not, or the reverse. The turn reaches back to a message of
// the user without results.
func (w *writer) unlike() (groups []int) {
	newest, user, results := none, false, true
	for i, s := range slices.Backward(w.states) {
		if !w.writes(i) {
			continue
		}
		after := user
		user = w.said(i) != "assistant"
		switch {
		case user:
			results = after && results || w.entries[i].returns()
		case !results:
			return groups
		case s.note || !w.entries[i].tool:
		case newest == none:
			newest = i
		case w.entries[i].thinks != w.entries[newest].thinks:
			groups = append(groups, w.groupOf[i])
		}
	}
	return groups
}

// writes reports whether an entry is written among the messages of the user and the
// model.
func (w *writer) writes(i int) bool {
	s := &w.states[i]
	return s.in && w.spoken(i) && (!s.note || s.text != "")
}

// said returns the role with which an entry is written.
func (w *writer) said(i int) string {
	if w.states[i].note {
		return "assistant"
	}
	return w.roleOf(i)
}

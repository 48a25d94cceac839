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
	w.note("added a message of the user that says %q, because the API requires that the user speaks first", earlier)
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
	w.note("dropped %s %s (%s), because the API requires that %s", english.Plural(d.items, "item"), where, english.Plural(d.tokens, "token"), required)
}

// endWithUser makes the last kept message a message of the user, if it was in
// the conversation. Otherwise the API would continue the model's own words, or
// refuse.
func (w *writer) endWithUser() {
	last := len(w.states) - 1
	if last < 0 || w.roleOf(last) != "user" || w.lastRole() != "assistant" {
		return
	}
	if w.restore(last, "last") {
		return
	}
	var gone dropped
	from := none
	for i := last; i >= 0 && w.lastRole() == "assistant"; i-- {
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
		switch {
		case s.note:
			return "assistant"
		case s.in:
			return w.roleOf(i)
		}
	}
	return ""
}

// keepThinking leaves out exchanges at the end whose turn no longer begins with
// thinking. They became the end because everything after them is out. If
// thinking is enabled, the API refuses to continue them.
func (w *writer) keepThinking() {
	if !w.thinks() {
		return
	}
	var gone dropped
	from := none
	pinned := func(i int) bool { return w.items[i].Pinned() }
	for {
		groups := w.unfinished(w.runs(false))
		if len(groups) == 0 {
			groups = w.unfinished(w.runs(true))
		}
		if len(groups) == 0 {
			break
		}
		at := slices.IndexFunc(groups, func(g int) bool { return !slices.ContainsFunc(w.groups[g], pinned) })
		if at < 0 {
			w.note("the model's turn at the end does not begin with thinking: the API refuses that if thinking is enabled")
			break
		}
		for _, i := range w.groups[groups[at]] {
			if w.states[i].in {
				from = i
			}
		}
		gone.drop(w, groups[at])
	}
	if gone.items > 0 {
		gone.note(w, "up to %s", from, "a turn at the end begins with thinking")
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

// run is a sequence of messages of one side.
type run struct {
	user    bool
	says    bool  // the user says something
	results []int // the exchanges whose results it has
	first   int   // its first entry
}

// runs returns the sides that speak in turn. Messages that were neighbours in the
// conversation stay apart if they are to stay as written.
func (w *writer) runs(written bool) []run {
	var runs []run
	last := none // the index of the message before
	for i, s := range w.states {
		if !s.in || !w.spoken(i) || s.note && s.text == "" {
			continue
		}
		user := !s.note && w.roleOf(i) != "assistant"
		index := w.messageOf(i).index
		if n := len(runs); n == 0 || runs[n-1].user != user || written && !s.note && index == last+1 {
			runs = append(runs, run{user: user, first: i})
		}
		in := &runs[len(runs)-1]
		switch {
		case !user:
		case w.entries[i].returns():
			in.results = append(in.results, w.groupOf[i])
		default:
			in.says = true
		}
		if last = index; s.note {
			last = none
		}
	}
	return runs
}

// unfinished returns the exchanges of the turn at the end, the last one first, if
// the model answers results and its turn does not begin with thinking. The turn
// reaches back to the user's last words. If it begins with a note, unfinished
// returns the exchange that the note replaces.
func (w *writer) unfinished(runs []run) (groups []int) {
	first := none
	for i, r := range slices.Backward(runs) {
		switch {
		case !r.user && i == len(runs)-1:
			return nil // the model continues its own words
		case !r.user:
			first = r.first
			continue
		case !r.says:
			groups = append(groups, r.results...)
			continue
		}
		break
	}
	switch {
	case first == none:
		return nil
	case w.states[first].note:
		return []int{w.groupOf[first]}
	case w.entries[first].thinks:
		return nil
	}
	return groups
}

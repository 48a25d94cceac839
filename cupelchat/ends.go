package cupelchat

import (
	"slices"

	"github.com/wollax/cupel-go/internal/english"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// startWithUser makes the first message kept one of the user's.
func (c *Conversation) startWithUser(states []state, room int, n *notesOf) {
	first := 0
	for ; first < len(states) && (!states[first].in || !c.spoken(first)); first++ {
	}
	if first == len(states) || c.opens(first, states) {
		return // there is none, or it is the user's
	}
	opening := first - 1
	for opening >= 0 && !c.opens(opening, states) {
		opening--
	}
	if opening < 0 {
		return // the conversation has no user message before it
	}
	if c.restore(opening, states, room, "first", n) {
		return
	}
	var gone dropped
	for i := first; i < len(states) && !(states[i].in && c.opens(i, states)); i++ {
		if states[i].in && c.spoken(i) {
			gone.drop(c, states, c.groupOf[i])
		}
	}
	n.note("dropped %s from %s on (%s), because the API requires that the user speaks first, and the user's message before does not fit",
		english.Plural(gone.items, "item"), c.pathOf(first), english.Plural(gone.tokens, "token"))
}

// restore puts an entry back with its group, if there is room, because the user
// speaks first or last.
func (c *Conversation) restore(at int, states []state, room int, speaks string, n *notesOf) bool {
	group, tokens := c.group(at), 0
	for _, i := range group {
		tokens = add(tokens, c.items[i].Tokens())
	}
	if tokens > room {
		return false
	}
	for _, i := range group {
		states[i] = state{in: true}
	}
	n.note("restored %s (%s), because the API requires that the user speaks %s", c.pathOf(at), english.Plural(tokens, "token"), speaks)
	return true
}

// dropped counts what was dropped.
type dropped struct{ items, tokens int }

// drop leaves a group out.
func (d *dropped) drop(c *Conversation, states []state, group int) {
	for _, i := range c.groups[group] {
		if states[i].in {
			states[i] = state{}
			d.items, d.tokens = d.items+1, add(d.tokens, c.items[i].Tokens())
		}
	}
}

// endWithUser makes the last message kept one of the user's, if it was in the
// conversation: the API would go on with the model's own words, or refuse to.
func (c *Conversation) endWithUser(states []state, room int, n *notesOf) {
	last := len(states) - 1
	if last < 0 || c.roleOf(last) != "user" || c.lastRole(states) != "assistant" {
		return
	}
	if c.restore(last, states, room, "last", n) {
		return
	}
	var gone dropped
	from := none
	for i := last; i >= 0 && c.lastRole(states) == "assistant"; i-- {
		if states[i].in {
			gone.drop(c, states, c.groupOf[i])
			from = i
		}
	}
	n.note("dropped %s from %s on (%s), because the API requires that the user speaks last, and the user's last message does not fit",
		english.Plural(gone.items, "item"), c.pathOf(from), english.Plural(gone.tokens, "token"))
}

// opens reports whether a conversation may begin with the entry.
func (c *Conversation) opens(i int, states []state) bool {
	e := &c.entries[i]
	return c.messageOf(i).member == "" && (e.asks || states[i].note)
}

func (c *Conversation) pathOf(entry int) string {
	m := c.messageOf(entry)
	if m.member != "" {
		return m.member
	}
	return rawjson.Index(c.rules.list, m.index)
}

// noteEmpty adds a note if nothing is left.
func (c *Conversation) noteEmpty(states []state, n *notesOf) {
	kept := false
	for i, s := range states {
		m := c.messageOf(i)
		kept = kept || s.in && (m.member == "" || m.member == c.rules.list)
	}
	if !kept {
		n.note("no message is left; the API refuses a request without one")
	}
}

func (c *Conversation) roleOf(i int) string { return c.messageOf(i).role }

// lastRole returns the role of the last message kept.
func (c *Conversation) lastRole(states []state) string {
	for i, s := range slices.Backward(states) {
		if s.note {
			return "user"
		}
		if s.in {
			return c.roleOf(i)
		}
	}
	return ""
}

// keepThinking leaves out exchanges at the end whose turn no longer begins with
// thinking: they became the end because what was after them is out. The API
// refuses to go on with them if thinking is enabled.
func (c *Conversation) keepThinking(states []state, n *notesOf) {
	if !c.thinks() {
		return
	}
	var gone dropped
	from := none
	pinned := func(i int) bool { return c.items[i].Pinned() }
	for {
		groups := c.unfinished(c.runs(states, false))
		if len(groups) == 0 {
			groups = c.unfinished(c.runs(states, true))
		}
		if len(groups) == 0 {
			break
		}
		at := slices.IndexFunc(groups, func(g int) bool { return !slices.ContainsFunc(c.groups[g], pinned) })
		if at < 0 {
			n.note("the model's turn at the end does not begin with thinking: the API refuses that if thinking is enabled")
			break
		}
		for _, i := range c.groups[groups[at]] {
			if states[i].in {
				from = i
			}
		}
		gone.drop(c, states, groups[at])
	}
	if gone.items > 0 {
		n.note("dropped %s up to %s (%s), because the API requires that a turn at the end begins with thinking",
			english.Plural(gone.items, "item"), c.pathOf(from), english.Plural(gone.tokens, "token"))
	}
}

// thinks reports whether thinking is enabled, or there is some where the request
// does not say. Thinking that is adaptive need not be there.
func (c *Conversation) thinks() bool {
	if c.body.Has("thinking") {
		thinking, err := c.body.Get("thinking").Object("")
		return err == nil && thinking.Get("type").String() == "enabled"
	}
	return slices.ContainsFunc(c.entries, func(e entry) bool { return e.thinks })
}

// run is a number of messages in a row of one side.
type run struct {
	user    bool
	says    bool  // the user says something, or a note does
	results []int // the exchanges that it has results of
	first   int   // its first entry
}

// runs returns the sides that speak in turn. Messages that were neighbours in the
// conversation stay apart if they are to be as they are written.
func (c *Conversation) runs(states []state, written bool) []run {
	var runs []run
	last := none // the index of the message before
	for i, s := range states {
		if !s.in || !c.spoken(i) || s.note && (s.text == "" || c.group(i)[0] != i) {
			continue
		}
		user := s.note || c.roleOf(i) != "assistant"
		index := c.messageOf(i).index
		if n := len(runs); n == 0 || runs[n-1].user != user || written && !s.note && index == last+1 {
			runs = append(runs, run{user: user, first: i})
		}
		if !s.note && c.entries[i].returns() {
			in := &runs[len(runs)-1]
			in.results = append(in.results, c.groupOf[i])
		} else if user {
			runs[len(runs)-1].says = true
		}
		if last = index; s.note {
			last = none
		}
	}
	return runs
}

// unfinished returns the exchanges of the turn at the end, the last one first, if
// the model answers results and its turn does not begin with thinking. The turn
// reaches back to what the user said last.
func (c *Conversation) unfinished(runs []run) (groups []int) {
	first := none
	for i, r := range slices.Backward(runs) {
		switch {
		case !r.user && i == len(runs)-1:
			return nil // the model goes on with its own words
		case !r.user:
			first = r.first
			continue
		case !r.says:
			groups = append(groups, r.results...)
			continue
		}
		break
	}
	if first == none || c.entries[first].thinks {
		return nil
	}
	return groups
}

package cupelchat

import "slices"

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
	if item := c.items[opening]; item.Tokens() <= room {
		states[opening] = state{in: true}
		n.note("restored %s (%s), because the API requires that the user speaks first", c.pathOf(opening), plural(item.Tokens(), "token"))
		return
	}
	count, tokens := 0, 0
	for i := first; i < len(states) && !(states[i].in && c.opens(i, states)); i++ {
		if !states[i].in || !c.spoken(i) {
			continue
		}
		for _, member := range c.groups[c.groupOf[i]] {
			if states[member].in {
				states[member] = state{}
				count, tokens = count+1, add(tokens, c.items[member].Tokens())
			}
		}
	}
	n.note("dropped %s from %s on (%s), because the API requires that the user speaks first, and the user's message before does not fit",
		plural(count, "item"), c.pathOf(first), plural(tokens, "token"))
}

// opens reports whether a conversation may begin with the entry.
func (c *Conversation) opens(i int, states []state) bool {
	e := &c.entries[i]
	return c.messages[e.message].member == "" && (e.asks || states[i].note)
}

func (c *Conversation) pathOf(entry int) string {
	return c.messages[c.entries[entry].message].path(c.codec)
}

// noteEnd adds notes about what the API would refuse or take differently.
func (c *Conversation) noteEnd(states []state, n *notesOf) {
	rules := c.codec.rules()
	kept, last := false, len(c.entries)-1
	for i, s := range states {
		m := &c.messages[c.entries[i].message]
		kept = kept || s.in && (m.member == "" || m.member == c.codec.list())
	}
	switch {
	case !kept:
		n.note("no message is left; the API refuses a request without one")
	case rules.alternate && c.roleOf(last) == "user" && !states[last].in && c.lastRole(states) == "assistant":
		n.note("the last message is now the model's: the API continues it or refuses it")
	case rules.thinking && c.lostThinking(states):
		n.note("the model's turn at the end no longer begins with its thinking: the API refuses that if thinking is enabled")
	}
}

func (c *Conversation) roleOf(i int) string { return c.messages[c.entries[i].message].role }

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

// lostThinking reports whether the selection left the model in the middle of a
// turn that no longer begins with thinking, in a conversation with thinking.
func (c *Conversation) lostThinking(states []state) bool {
	whole := func(i int) bool { return states[i].in && !states[i].note }
	last := len(states) - 1
	for last >= 0 && !whole(last) {
		last--
	}
	if last < 0 || !c.entries[last].tool || !slices.ContainsFunc(c.entries, func(e entry) bool { return e.thinks }) {
		return false
	}
	asked, latest := last, none
	for asked >= 0 && !(c.entries[asked].asks && whole(asked) || states[asked].note) {
		asked--
	}
	for i := range c.entries {
		if c.entries[i].asks && c.entries[i].words {
			latest = i
		}
	}
	first := c.turn(asked)
	for first >= 0 && !whole(first) {
		first = c.turn(first)
	}
	return first >= 0 && !c.entries[first].thinks && first != c.turn(latest)
}

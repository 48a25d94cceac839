package cupelchat

import "slices"

// pins returns the entries that are pinned: system prompts and definitions of
// tools; the first and the last message in which the user says something; the
// calls that the model waits for or answers; the latest compaction; and the
// entries that the API requires with these.
func (c *Conversation) pins() ([]bool, error) {
	pins := make([]bool, len(c.entries))
	first, last := none, none
	for i := range c.entries {
		e := &c.entries[i]
		pins[i] = e.role == "tools" || isSystem(e.role) && !c.noPins
		if e.asks && e.words {
			if first == none {
				first = i
			}
			last = i
		}
	}
	c.asked = first
	c.follow(pins)
	if err := c.pinMessages(pins); err != nil || c.noPins {
		return pins, err
	}
	if c.first && first != none {
		pins[first] = true
	}
	if c.last && last != none {
		pins[last] = true
	}
	c.pinOpen(pins)
	if i := c.compaction(); i != none {
		pins[i] = true
	}
	for _, i := range c.thinking() {
		pins[i] = true
	}
	if c.rules.userFirst {
		c.pinOpening(pins)
	}
	return pins, nil
}

// pinMessages pins the messages that the caller named.
func (c *Conversation) pinMessages(pins []bool) error {
	for _, n := range c.pinned {
		at := slices.IndexFunc(c.messages, func(m message) bool { return m.member == "" && m.index == n })
		if at < 0 {
			return invalid("WithPins", n, "the conversation does not have this message")
		}
		for i := c.messages[at].from; i < c.messages[at].to; i++ {
			pins[i] = true
		}
	}
	return nil
}

// pinOpen pins the exchange at the end, which the model answers. It pins the
// calls, so that results can become smaller if there is no room for them.
// Parallel calls may be exchanges of their own.
func (c *Conversation) pinOpen(pins []bool) {
	open := c.open()
	if len(open) == 0 {
		return
	}
	// The user's words with the results stay as well.
	for i, e := range slices.Backward(c.entries) {
		if e.message != c.entries[len(pins)-1].message {
			break
		}
		pins[i] = pins[i] || e.asks
	}
	for _, group := range open {
		called := false
		for _, i := range c.groups[group] {
			if !c.entries[i].returns() {
				pins[i], called = true, true
			}
		}
		if !called {
			pins[c.groups[group][0]] = true
		}
	}
}

// open returns the groups of the exchange at the end.
func (c *Conversation) open() []int {
	i := len(c.entries) - 1
	for i >= 0 && !c.entries[i].tool { // the user may say something with the results
		if i--; i < 0 || c.entries[i].message != c.entries[i+1].message {
			return nil
		}
	}
	if i < 0 {
		return nil
	}
	groups := []int{c.groupOf[i]}
	for ; i >= 0 && c.entries[i].returns(); i-- {
		groups = append(groups, c.groupOf[i])
	}
	for ; i >= 0 && c.entries[i].tool && c.entries[i].role == "assistant"; i-- {
		groups = append(groups, c.groupOf[i])
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

// compaction returns the latest entry that replaces everything before it.
func (c *Conversation) compaction() int {
	for i, e := range slices.Backward(c.entries) {
		if e.compact {
			return i
		}
	}
	return none
}

// thinking returns the first message of the model in the turn at the end, and what the user
// said before it, if the API requires them: the turn goes on and began with thinking.
func (c *Conversation) thinking() []int {
	if !c.rules.thinking || !c.answers() {
		return nil
	}
	first := none
	for i, e := range slices.Backward(c.entries) {
		switch {
		case e.role == "assistant":
			first = i
		case e.asks && first != none && c.entries[first].thinks:
			return []int{i, first}
		case e.asks:
			return nil
		}
	}
	if first != none && c.entries[first].thinks {
		return []int{first}
	}
	return nil
}

// answers reports whether the model answers results, so that its turn
// continues.
func (c *Conversation) answers() bool {
	last := len(c.entries) - 1
	return last >= 0 && c.roleOf(last) == "user" && !c.entries[last].asks
}

// pinOpening pins the user's message before the first pinned message if the
// latter is the model's: the API would refuse the pinned messages without it.
func (c *Conversation) pinOpening(pins []bool) {
	opening := none
	for i := range c.entries {
		switch e := &c.entries[i]; {
		case !c.spoken(i):
		case e.asks:
			opening = i
			if pins[i] {
				return
			}
		case slices.ContainsFunc(c.group(i), func(i int) bool { return pins[i] }):
			if opening != none {
				pins[opening] = true
			}
			return
		}
	}
}

// spoken reports whether an entry is of a message of the user or the model.
func (c *Conversation) spoken(i int) bool {
	return c.messageOf(i).member == "" && !isSystem(c.entries[i].role)
}

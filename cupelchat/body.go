package cupelchat

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/english"
	"github.com/wollax/cupel-go/internal/rawjson"
)

// state describes what becomes of an entry.
type state struct {
	in    bool
	short bool   // has the content of a smaller form
	note  bool   // is part of an exchange that a note replaces
	text  string // of a smaller form, or of the note at its first entry

	tokens int // as it is written
}

// whole reports whether an entry is in as it is.
func (s state) whole() bool { return s.in && !s.short }

// candidates are the items that the chooser got.
type candidates struct {
	items []*cupel.ContextItem
	at    []int // the entry of each
}

// states finds the outcome of each entry in the report, by the position of its item
// (the items may be the chooser's own).
func (c *Conversation) states(report *cupel.SelectionReport, given candidates) ([]state, error) {
	states := make([]state, len(c.entries))
	silent := make([]bool, len(c.entries)) // entries of a note but the first have no tokens
	if report == nil {
		return nil, errNoPositions
	}
	for _, in := range report.Included {
		n := in.Candidate
		if n < 0 || n >= len(given.items) {
			return nil, errNoPositions
		}
		at := given.at[n]
		s := &states[at]
		s.in, s.short, s.text = true, in.Form > 0 || given.items[n].Content() != c.items[at].Content(), in.Item.Content()
		silent[at] = in.Form > 0 && in.Item.Tokens() == 0
	}
	for _, group := range c.groups {
		first := group[0]
		if !states[first].in || !states[first].short {
			continue
		}
		note := c.loses(first, states[first].text)
		if len(group) > 1 {
			note = !slices.ContainsFunc(group[1:], func(i int) bool { return !silent[i] || states[i].text != states[first].text })
		}
		for _, i := range group {
			states[i].note = note
			if note && i != first {
				states[i].text = ""
			}
		}
	}
	return states, nil
}

// loses reports whether a text lacks the calls of an exchange of one entry. Such a
// text is a note in place of the entry, not a form of it.
func (c *Conversation) loses(i int, text string) bool {
	return c.items[i].Group() != "" && len(c.group(i)) == 1 && !c.entries[i].returns() && !c.entries[i].saidBy(text).called
}

// writer writes a conversation.
type writer struct {
	*Conversation
	*notesOf
	states   []state
	room     int          // how many tokens there still are
	dropped  []string     // notes of what was dropped,
	required []int        // because these are out
	begins   bool         // with a message of the user that the conversation does not have
	joins    bool         // messages of one role that were neighbors
	broken   map[int]bool // entries that are left out because the API refuses them
}

// price finds the tokens of each included entry as it is written, and returns
// the sum.
func (c *Conversation) price(states []state) (total int, err error) {
	for i := range states {
		s := &states[i]
		switch {
		case s.whole():
			s.tokens = c.entries[i].tokens
		case s.note && s.text != "":
			s.tokens, err = counted(c.counter, s.text)
			s.tokens = add(s.tokens, messageTokens)
		case s.in && !s.note:
			s.tokens, err = c.cost(i, s.text)
		}
		if err != nil {
			return 0, err
		}
		total = add(total, s.tokens)
	}
	return total, nil
}

// finish writes the conversation with the included entries, and with those that
// the API also requires.
func (w *writer) finish() ([]byte, error) {
	rules := w.rules
	if rules.record {
		return nil, &Error{Reason: "the conversation is " + rules.name + ", which is only read; write the items of the window yourself"}
	}
	if w.whole() {
		return w.text, nil
	}
	if rules.userFirst {
		w.startWithUser()
		w.endWithUser()
	}
	if rules.thinking && w.thinks() {
		w.finishTurn(w.thoughtless, "a turn at the end begins with thinking", w.thinking()...)
	}
	if rules.signed && wantsSignatures(w.body) {
		w.finishTurn(w.unlike, "all calls of a turn are signed, or none")
	}
	if w.empty() {
		return nil, errEmpty
	}
	return w.assemble(), nil
}

// whole reports whether everything is in as it is.
func (w *writer) whole() bool {
	return !slices.ContainsFunc(w.states, func(s state) bool { return !s.whole() })
}

// assemble puts the included messages into the rest of the body.
func (w *writer) assemble() []byte {
	messages := w.keptMessages()
	if w.value.IsZero() {
		text := bytes.Join(messages, []byte("\n"))
		if bytes.HasSuffix(w.text, []byte("\n")) && !bytes.HasSuffix(text, []byte("\n")) {
			text = append(text, '\n')
		}
		return text
	}
	before, after := w.value.Around()
	list := enclose('[', messages, ']')
	if w.value.IsArray() {
		return slices.Concat(before, list, after)
	}
	return slices.Concat(before, enclose('{', w.keptMembers(list), '}'), after)
}

// keptMembers returns the members of a request, with a list of messages.
func (w *writer) keptMembers(list []byte) [][]byte {
	name := w.rules.list
	entries := make(map[string]int)
	for _, m := range w.messages {
		if m.member != "" {
			entries[m.member] = m.from
		}
	}
	var members [][]byte
	for _, m := range w.body.Members {
		at, has := entries[m.Name]
		switch {
		case m.Name == name && m.Value.IsArray():
			members = append(members, m.With(list))
		case has && w.states[at].in:
			members = append(members, w.message(w.messageOf(at)))
		case !has || w.entries[at].role == "tools":
			members = append(members, m.Outer())
		}
	}
	return members
}

func enclose(opening byte, parts [][]byte, closing byte) []byte {
	size := 2
	for _, p := range parts {
		size += len(p) + 1
	}
	text := append(make([]byte, 0, size), opening)
	for i, p := range parts {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, p...)
	}
	return append(text, closing)
}

// keptMessages returns the texts of the messages that are in, joined where the API
// requires it.
func (w *writer) keptMessages() [][]byte {
	j := joiner{rules: w.rules, neighbours: w.rules.neighbours || w.joins}
	if w.begins {
		j.add(w.rules.message("user", earlier), "user", none)
	}
	for i := range w.messages {
		m := &w.messages[i]
		if m.member != "" {
			continue
		}
		for at := m.from; at < m.to; at++ {
			// No API gives the model's own words more authority than a result, and
			// the text may come from a result.
			if s := &w.states[at]; s.note && s.text != "" {
				j.add(w.rules.message(cmp.Or(w.rules.model, "assistant"), strings.TrimSpace(s.text)), "assistant", none)
			}
		}
		if text := w.message(m); text != nil {
			j.add(text, m.role, m.index)
		}
	}
	if j.joined > 0 {
		w.note("joined %s with the one before, because the messages between were dropped", english.Plural(j.joined, "message"))
	}
	return j.texts()
}

// message writes the entries of a message that are in, or nil if there are none.
func (w *writer) message(m *message) []byte {
	var edits rawjson.Edits
	out := make(map[place]bool)
	some := m.from == m.to
	for i := m.from; i < m.to; i++ {
		s := &w.states[i]
		kept := s.in && !s.note
		some = some || kept
		if kept && s.short {
			w.shorten(&edits, out, m, &w.entries[i], s.text)
		}
		for at, owner := range m.owners {
			if owner == i && !kept {
				out[place{0, at}] = true
			}
		}
	}
	if !some {
		return nil
	}
	if len(out) > 0 {
		for i, list := range m.lists {
			edits.Drop(list, func(at int) bool { return out[place{i, at}] })
		}
	}
	return edits.Outer(m.raw)
}

// shorten replaces the words of an entry with those of a smaller form. They
// replace its first words; other parts with words go, and so do media that the
// form lacks. Calls get the form's arguments.
func (c *Conversation) shorten(edits *rawjson.Edits, out map[place]bool, m *message, e *entry, content string) {
	says := e.saidBy(content)
	text := says.text
	first := slices.IndexFunc(e.parts, func(p part) bool { return p.kind == words })
	for i, p := range e.parts {
		if p.list != none && (p.kind == words && i != first || says.gone[i]) {
			out[place{p.list, p.at}] = true
		}
		if short, ok := says.calls[i]; ok {
			edits.Replace(p.value, p.calling(short))
		}
	}
	switch {
	case first >= 0:
		edits.Replace(e.parts[first].value, e.parts[first].saying(cmp.Or(text, leftOut)))
		delete(out, place{e.parts[first].list, e.parts[first].at})
	case text != "":
		// There are media alone: the words go before the first one.
		for i, p := range e.parts {
			if p.kind != media || p.list == none {
				continue
			}
			at := place{p.list, p.at}
			v := m.lists[p.list][p.at].Value
			with := c.rules.part(text)
			if !says.gone[i] {
				with = slices.Concat(with, []byte(", "), v.Raw())
			}
			delete(out, at)
			edits.Replace(v, with)
			return
		}
	}
}

// saying returns the JSON that replaces words with another text.
func (p *part) saying(text string) []byte {
	if p.member == "" {
		return quoted(text)
	}
	return slices.Concat([]byte("{"), quoted(p.member), []byte(": "), quoted(text), []byte("}"))
}

// calling returns the JSON that replaces the arguments of a call: a value, or a
// string that contains JSON.
func (p *part) calling(arguments string) []byte {
	if p.value.IsString() {
		return quoted(arguments)
	}
	return []byte(arguments)
}

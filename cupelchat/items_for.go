package cupelchat

import (
	"cmp"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/english"
)

// ItemsFor returns the items of a session for its chooser and a budget, with notes about its
// changes. The list has the length and the order of [Conversation.Items].
//
// If the conversation does not fit, a first message of the user that exceeds a third
// of the room that system prompts and definitions of tools leave is shortened to this
// third, or to its first 300 characters, unless [WithPins] names it. The line that these
// end in stays whole if there is room. The text depends only on the budget and these
// items, so that it is the same in each turn. If the pinned items still do not fit,
// the others that this package pins are shortened. Other items keep their contents,
// so that a session recognizes them.
func (c *Conversation) ItemsFor(chooser Chooser, budget cupel.ContextBudget) (items []*cupel.ContextItem, notes []string, err error) {
	items, notes, _, err = c.ItemsAfter(chooser, budget, 0)
	return items, notes, err
}

// ItemsAfter is [Conversation.ItemsFor] for a turn after one whose first message was
// shortened for a window of so many tokens, or 0 if it was not. A larger budget does not
// change the message, which a cache may hold, unless its share has room for all of it.
// ItemsAfter also returns the tokens for the next turn.
func (c *Conversation) ItemsAfter(chooser Chooser, budget cupel.ContextBudget, window int) (items []*cupel.ContextItem, notes []string, next int, err error) {
	if c.isMissing() {
		return nil, nil, 0, errNil
	}
	if c, err = c.toChoose(chooser); err != nil {
		return nil, nil, 0, err
	}
	n, limit := &notesOf{}, limitOf(budget)
	session := min(limit, cmp.Or(window, limit))
	items, err = c.itemsFor(budget, n, session)
	chosen := *c
	if chosen.items = items; !c.all && chosen.tokens(true) > limit {
		// A preset makes no forms of items that are sent with a pinned message. The
		// conversation's forms may fit, and a chooser other than a preset gets them.
		return c.ItemsAfter(nil, budget, window)
	}
	if err == nil && c.asked != none && items[c.asked] != c.items[c.asked] {
		next = session
	}
	return slices.Clone(items), n.notes(), next, err
}

// limitOf returns the tokens that a window may have.
func limitOf(budget cupel.ContextBudget) int {
	return min(budget.TargetTokens(), budget.MaxTokens()-budget.OutputReserve())
}

// itemsFor returns the items for a budget, with pinned items shortened to fit. In a
// session the first message of the user has a share of so many tokens of its own.
// Without one they are none.
func (c *Conversation) itemsFor(budget cupel.ContextBudget, n *notesOf, session int) ([]*cupel.ContextItem, error) {
	limit, task := limitOf(budget), false
	n.noteDefinitions(c, limit)
	s := &squeeze{*c, n, counting{counter: c.counter}}
	s.items = slices.Clone(c.items)
	for i, item := range c.longer {
		s.items[i] = item
	}
	if session != none && s.tokens(false) > limit && c.isOurs(c.asked) {
		var err error
		if task, err = s.task(limit, session); err != nil {
			return nil, err
		}
	}
	if err := s.fit(limit, task); err != nil {
		return nil, err
	}
	switch {
	case s.tokens(true) <= limit:
		return s.items, nil
	case task: // not with that size
		n.list = nil
		return c.itemsFor(budget, n, none)
	case s.spare > 0:
		return nil, errEmpty // they fit without the spare room
	}
	return s.items, s.release(limit)
}

// isOurs reports whether this package, and not the caller, pins an entry or
// another one of its exchange.
func (c *Conversation) isOurs(i int) bool {
	return i != none && c.held(i) && !c.entries[i].compact && c.entries[i].role != "tools" && !isSystem(c.entries[i].role) &&
		!slices.ContainsFunc(c.group(i), c.named)
}

// named reports whether the caller pins the message of an entry by its index, or keeps
// it by a rule.
func (c *Conversation) named(i int) bool {
	m := c.messageOf(i)
	return len(c.ruled) > i && c.ruled[i] || m.member == "" && slices.Contains(c.pinned, m.index)
}

// squeeze shortens the pinned items of a conversation.
type squeeze struct {
	Conversation
	*notesOf
	counting counting
}

// tokens returns the tokens of all items, or those that items which are always in have
// at least: of what the caller pins, results in the same exchange may become smaller.
func (c *Conversation) tokens(held bool) (tokens int) {
	for i, item := range c.items {
		if held && !c.held(i) {
			continue
		}
		least := item.Tokens()
		if forms := item.Variants(); held && len(forms) > 0 && !item.Pinned() && !c.isOurs(i) {
			least = forms[len(forms)-1].Tokens
		}
		tokens = add(tokens, least)
	}
	return tokens
}

// The reserved shares of the room: a third for the first message of the user, and
// a fifth for items that are not pinned.
const (
	taskShare = 3
	restShare = 5
)

// task shortens the first message of the user to its share of the room that system
// prompts and definitions of tools leave of a session's window, if it has more than that
// of the limit as well.
func (s *squeeze) task(limit, session int) (done bool, err error) {
	fixed := 0
	for i, item := range s.items {
		if e := &s.entries[i]; item.Pinned() && (e.role == "tools" || isSystem(e.role)) {
			fixed += item.Tokens()
		}
	}
	text, tokens := s.entries[s.asked].said()
	whole := s.items[s.asked].Tokens()
	over := whole - max(max(session-fixed, 0)/taskShare, s.beginning(text))
	if over <= 0 || text == "" || whole <= (limit-fixed)/taskShare {
		return false, nil
	}
	return true, s.shorten(s.asked, map[int]int{none: tokens - over})
}

// beginning returns the tokens that the first message of the user keeps at least, if it
// has these words: its first characters, and what says that it is shortened.
func (s *squeeze) beginning(said string) int {
	if said == "" {
		return 0
	}
	return s.counting.count(firstCharacters(said, keptCharacters)+leftOut+shortened(1000)) + messageTokens
}

// text is a text that may be shortened, or a medium that may be left out: a part of
// an entry, or its words at none.
type text struct{ at, part, tokens int }

// fit shortens the items that this package pins to a number of tokens. Small texts
// stay whole, and large ones get the same number of tokens each.
func (s *squeeze) fit(limit int, task bool) error {
	pinned := s.tokens(true)
	if pinned <= limit {
		return nil
	}
	var texts []text
	room := limit - pinned
	for i := range s.items {
		if s.isOurs(i) && !(task && i == s.asked) {
			texts = append(texts, s.textsOf(i)...)
		}
	}
	for _, t := range texts {
		room += t.tokens
	}
	most := 0
	if s.asked != none {
		said, _ := s.entries[s.asked].said()
		most = max(room/taskShare, min(room-smallestForm, s.beginning(said)))
	}
	room -= max(0, min(s.tokens(false)-pinned, room/restShare)-s.spare)
	slices.SortStableFunc(texts, func(a, b text) int { return a.tokens - b.tokens })
	if at := slices.IndexFunc(texts, func(t text) bool { return t.at == s.asked && t.part == none && t.tokens <= most }); at >= 0 {
		room -= texts[at].tokens
		texts = slices.Delete(texts, at, at+1)
	}
	sizes := map[int]map[int]int{} // of shortened texts, by entry and part
	give := func(t text, size int) {
		if sizes[t.at] == nil {
			sizes[t.at] = map[int]int{}
		}
		sizes[t.at][t.part] = size
	}
	isMedium := func(t text) bool { return t.part != none && s.entries[t.at].parts[t.part].kind == media }
	for n, left := 0, room; n < len(texts); n++ {
		t, level := texts[n], max(left, 0)/(len(texts)-n)
		switch {
		case t.tokens <= level:
			delete(sizes[t.at], t.part)
			left -= t.tokens
		case isMedium(t): // the largest one goes, and the others share its room
			largest := len(texts) - 1
			for !isMedium(texts[largest]) {
				largest--
			}
			give(texts[largest], 0)
			texts, n, left = slices.Delete(texts, largest, largest+1), -1, room
		default:
			give(t, level)
			left -= level
		}
	}
	for i := range s.items {
		if len(sizes[i]) == 0 {
			continue
		}
		if err := s.shorten(i, sizes[i]); err != nil {
			return err
		}
	}
	return nil
}

// textsOf returns the texts of an entry that may be shortened, and the media that may
// be left out: those of older messages.
func (s *squeeze) textsOf(i int) (texts []text) {
	e := &s.entries[i]
	newest := e.message == s.entries[len(s.entries)-1].message || slices.Contains(s.open(), s.groupOf[i])
	if said, tokens := e.said(); said != "" {
		texts = append(texts, text{i, none, tokens})
	}
	for n, p := range e.parts {
		if p.kind == call && !p.value.IsZero() || p.kind == media && p.list != none && !newest {
			texts = append(texts, text{i, n, p.tokens})
		}
	}
	return texts
}

// shorten gives an item texts of some sizes, with words at none and calls at
// their parts, and leaves out the media that have sizes.
func (s *squeeze) shorten(i int, sizes map[int]int) error {
	e := s.entries[i]
	e.parts = slices.Clone(e.parts)
	said, tokens := e.said()
	for n, size := range sizes {
		if n == none {
			mark := s.markOf(&e)
			said = marked(s.words(&e, said, tokens, size-s.counting.count(mark)), mark)
			continue
		}
		if p := &e.parts[n]; p.kind == call {
			p.text = p.name + "(" + s.arguments(p, size) + ")"
		} else {
			p.text = ""
		}
	}
	content := cmp.Or(e.with(said), leftOut)
	n, err := s.cost(i, content)
	if err := cmp.Or(err, s.counting.err); err != nil {
		return err
	}
	was := s.items[i].Tokens()
	if n >= was {
		return nil
	}
	s.items[i], err = s.items[i].With(cupel.WithVariants(), cupel.WithContent(content, n), cupel.WithOriginalTokens(was))
	s.note("%s was shortened from %s to %d, because it does not fit beside the other pinned messages", s.pathOf(i), english.Plural(was, "token"), n)
	return err
}

// release unpins the user's messages before the newest one, the first message
// last, if even the smallest texts do not fit.
func (s *squeeze) release(limit int) error {
	last := s.entries[len(s.entries)-1].message
	for _, first := range []bool{false, true} {
		for i := range s.items {
			e := &s.entries[i]
			if s.tokens(true) <= limit || !e.asks || e.message == last || !s.isOurs(i) || (i == s.asked) != first || first && s.rules.userFirst {
				continue
			}
			item, err := s.makeItem(i, false)
			if err != nil {
				return err
			}
			s.items[i] = item
			s.note("%s is not pinned, because it does not fit beside the other pinned messages", s.pathOf(i))
		}
	}
	return nil
}

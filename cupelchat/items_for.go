package cupelchat

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelreduce"
	"github.com/wollax/cupel-go/internal/english"
)

// A first message of the user is too large for a session above these shares of the
// room that system prompts and tools leave, and of the target. It is reduced a little
// further than that, so that it stays next to a larger result, too.
const (
	taskShare = 0.25
	taskSmall = 0.05
	taskForm  = 0.8 // of the larger one
)

// ItemsFor returns the items of a session for a budget, with notes about what it
// changed. The list has the length and the order of [Conversation.Items].
//
// If the conversation does not fit, a first message of the user that takes more than
// a quarter of the room that system prompts and definitions of tools leave is
// reduced to a fifth of that room, unless [WithPins] names it. The text depends on
// the budget and these items alone, so that it is the same in each turn. If the
// pinned items still do not fit, the last message of the user is no longer pinned,
// unless it is the newest of all, and then the first one. Other items keep their
// contents, so that a session recognizes them.
func (c *Conversation) ItemsFor(budget cupel.ContextBudget) (items []*cupel.ContextItem, notes []string, err error) {
	if c == nil {
		return nil, nil, errNil
	}
	n := &notesOf{}
	items, err = c.itemsFor(budget, n, false)
	return slices.Clone(items), n.notes(), err
}

// named reports whether the caller pins the message of an entry by its index.
func (c *Conversation) named(i int) bool { return slices.Contains(c.pinned, c.messageOf(i).index) }

// limitOf returns the tokens that a window may have.
func limitOf(budget cupel.ContextBudget) int {
	return min(budget.TargetTokens(), budget.MaxTokens()-budget.OutputReserve())
}

// smallTask returns the items with the first message of the user in a form for all
// turns of a session, if it is too large for that.
func (c *Conversation) smallTask(limit int, n *notesOf) ([]*cupel.ContextItem, error) {
	if c.asked == none || c.asked == len(c.items)-1 || !c.items[c.asked].Pinned() || c.named(c.asked) {
		return c.items, nil
	}
	all, fixed := 0, 0
	for i, item := range c.items {
		all = add(all, item.Tokens())
		if e := &c.entries[i]; item.Pinned() && (e.role == "tools" || isSystem(e.role)) {
			fixed = add(fixed, item.Tokens())
		}
	}
	most := max(int(taskShare*float64(limit-fixed)), int(taskSmall*float64(limit)))
	if all <= limit || most <= 0 || c.items[c.asked].Tokens() <= most {
		return c.items, nil
	}
	items := slices.Clone(c.items)
	return items, c.reduceTask(items, int(taskForm*float64(most)), 0, n)
}

// itemsFor returns the items for a budget. The first message of the user is reduced
// to what is left for it, if reduce is set.
func (c *Conversation) itemsFor(budget cupel.ContextBudget, n *notesOf, reduce bool) ([]*cupel.ContextItem, error) {
	limit := limitOf(budget)
	from := c.items
	if !reduce {
		var err error
		if from, err = c.smallTask(limit, n); err != nil {
			return nil, err
		}
	}
	pinned, total := 0, 0
	last := none
	held := make([]bool, len(c.groups)) // the results of open calls are in with the calls
	for i, item := range from {
		held[c.groupOf[i]] = held[c.groupOf[i]] || item.Pinned()
	}
	for i, item := range from {
		total = add(total, item.Tokens())
		if held[c.groupOf[i]] {
			pinned = add(pinned, item.Tokens())
			if e := &c.entries[i]; e.asks && e.words {
				last = i
			}
		}
	}
	if pinned <= limit || c.asked == none || !from[c.asked].Pinned() {
		return from, nil
	}
	items := slices.Clone(from)
	if last != c.asked && last != len(items)-1 && !c.named(last) && len(c.group(last)) == 1 {
		free, err := c.makeItem(last, false)
		if err != nil {
			return nil, err
		}
		items[last] = free
		if pinned -= free.Tokens(); pinned <= limit {
			return items, nil
		}
	}
	left := 0
	if reduce {
		left = limit - (pinned - items[c.asked].Tokens())
	}
	return items, c.reduceTask(items, left, total-pinned, n)
}

// reduceTask puts the first message of the user into half of the tokens that are
// left, or more if the rest of the conversation needs less than the other half. It
// frees the message if that is next to nothing.
func (c *Conversation) reduceTask(items []*cupel.ContextItem, left, rest int, n *notesOf) error {
	task := items[c.asked]
	e := &c.entries[c.asked]
	said, tokens := e.said()
	free := func() error {
		if c.named(c.asked) {
			return nil // the chooser says what does not fit
		}
		if c.rules.userFirst { // the API wants it, if only as a mark
			mark := shortened(tokens)
			n, err := c.cost(c.asked, mark)
			if err == nil {
				items[c.asked], err = task.With(cupel.WithVariants(), cupel.WithContent(mark, n), cupel.WithOriginalTokens(c.items[c.asked].Tokens()))
			}
			return err
		}
		item, err := c.makeItem(c.asked, false)
		if err == nil && task != c.items[c.asked] {
			item, err = item.With(cupel.WithVariants(), cupel.WithContent(task.Content(), task.Tokens()), cupel.WithOriginalTokens(item.Tokens()))
		}
		if err == nil {
			items[c.asked] = item
			n.note("the first message of the user is not pinned, because it does not fit with what else is pinned")
		}
		return err
	}
	if left <= 0 || said == "" {
		return free()
	}
	texts := counting{counter: c.counter}
	count := texts.count
	mark := shortened(tokens)
	most := left - (e.tokens - tokens) - count("\n"+mark)
	// Half of it is for what was done about the task, if there is that much. In steps
	// of two thirds: the size rarely changes from turn to turn.
	most -= min(most/2, rest)
	size := tokens
	for size > most && size > 0 {
		size = size * 2 / 3
	}
	small := cupelreduce.Reduce(said, size, cupelreduce.WithCounter(count))
	// An outline cuts long lines; a task may be one.
	if whole := beginning(said, size, count); count(whole) > 2*count(small) {
		small = whole
	}
	switch {
	case texts.err != nil:
		return texts.err
	case small == "":
		return free()
	}
	small += "\n" + mark
	reduced := e.tokens - tokens + count(small)
	if reduced > left {
		return free()
	}
	item, err := task.With(cupel.WithVariants(), cupel.WithContent(e.with(small), reduced), cupel.WithOriginalTokens(task.Tokens()))
	if err != nil {
		return err
	}
	items[c.asked] = item
	n.note("the first message of the user was reduced from %s to %d, because it does not fit with what else is pinned", english.Plural(task.Tokens(), "token"), reduced)
	return nil
}

// beginning returns the first words of a text, about as many as fit.
func beginning(text string, tokens int, count func(string) int) string {
	for n := len(text); n > 0 && tokens > 0; n /= 2 {
		if cut := strings.ToValidUTF8(text[:n], "") + "…"; count(cut) <= tokens {
			return cut
		}
	}
	return ""
}

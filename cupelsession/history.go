package cupelsession

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/internal/english"
)

// HistoryError is the error for items that are not the conversation that the session
// has seen before. Either the messages that were sent replaced it, or no answer was
// ever appended to it.
type HistoryError struct {
	// Lost is how many items of the previous turn were replaced with their smaller
	// forms, as they were sent.
	Lost int
	// Turns is how many turns were committed while the conversation did not
	// change.
	Turns int
}

func (e *HistoryError) Error() string {
	if e.Lost > 0 {
		return fmt.Sprintf("cupelsession: the conversation has the shortened forms that were sent in place of %s: append answers to the whole history, not to the request that the session returned", english.Plural(e.Lost, "item"))
	}
	return fmt.Sprintf("cupelsession: the conversation has not changed for %d turns: append each answer, and the messages after it, to the conversation before the next turn", e.Turns)
}

const (
	// mostRepeats is how many turns in a row [Fit] proposes of one conversation.
	mostRepeats = 2
	// mostProposed is how many turns are proposed before the session asks for commits.
	mostProposed = 3
	// leastForm is the least length at which a form shows where a text is
	// from.
	leastForm = 16
)

// history detects a conversation that was replaced with what was sent. It fails if
// forms that were sent stand where items are gone. If the only missing items were out
// of the window, the caller may have cut the conversation, and history adds a note, as
// it does if nothing of the conversation is left.
func (p *proposal) history() error {
	before, there := p.before, make([]bool, len(p.before.keys))
	lost := len(there)
	for _, k := range p.were {
		if k >= 0 {
			there[k] = true
			lost--
		}
	}
	if lost == 0 {
		return nil
	}
	var forms []string // of what is gone
	all := true        // that was out is gone, and nothing else is
	for k, n := range before.at {
		all = all && there[k] == (n != out)
		switch {
		case there[k] || n < 0:
		case len(before.window[n].Form) >= leastForm: // not of a whole item
			forms = append(forms, before.window[n].Form)
		}
	}
	another := true // nothing but tools and system prompts is there again
	for i, item := range p.items {
		another = another && (p.were[i] < 0 || isFixed(item))
		stands := func(form string) bool { return strings.Contains(item.Content(), form) }
		if p.were[i] < 0 && !p.tail[i] && slices.ContainsFunc(forms, stands) {
			return &HistoryError{Lost: lost}
		}
	}
	switch {
	case another:
		p.turn.Notes = append(p.turn.Notes, "the conversation has nothing of the previous turn's: use one session for each conversation")
	case all:
		p.turn.Notes = append(p.turn.Notes, fmt.Sprintf("the conversation lacks %s, exactly those that the previous window left out: give the session the whole conversation, not the request that it returned", english.Plural(lost, "item")))
	}
	return nil
}

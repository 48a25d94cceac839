package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelreduce"
	"github.com/wollax/cupel-go/internal/english"
)

// sent is what became of a candidate.
type sent uint8

const (
	sentWhole sent = iota
	sentCut        // the window has a smaller form
	sentNoted      // the window has a note of its exchange, in the place of another item
	sentOut        // the window has nothing of it
)

// String returns how people call it.
func (f sent) String() string {
	return [...]string{"whole", "cut", "in a note of its exchange", "out"}[f]
}

// result is what became of a candidate.
type result struct {
	sent sent
	item *cupel.ContextItem // as the window has it, or its note; nil if it is out
}

// results are those of all candidates.
type results struct {
	items  []*cupel.ContextItem // as they were read
	each   []result
	budget cupel.ContextBudget
}

// places returns where the candidates are among the items as they were read: those before
// a compaction may be missing, and others shortened.
func (s *selection) places() []int {
	at, next := make([]int, len(s.given)), 0
	for i, item := range s.given {
		for next < len(s.Items)-1 && !sameMessage(s.Items[next], item) {
			next++
		}
		at[i] = min(next, len(s.Items)-1)
		next++
	}
	return at
}

// sameMessage reports whether two items are of the same part of a message.
func sameMessage(a, b *cupel.ContextItem) bool {
	return a == b || messageNumber(a) == messageNumber(b) && a.Kind() == b.Kind() && textOf(a, "role") == textOf(b, "role") &&
		textOf(a, "tool_call_id") == textOf(b, "tool_call_id")
}

// results says what a report of the selection made of the items as they were read.
func (s *selection) results(report *cupel.SelectionReport) *results {
	at, items := s.places(), s.Items
	o := &results{items: items, each: make([]result, len(items)), budget: s.budget}
	for i := range o.each {
		o.each[i].sent = sentOut
	}
	notes := make(map[string]*cupel.ContextItem) // by group
	for _, in := range report.Included {
		switch each := &o.each[at[in.Candidate]]; {
		case in.Item.Content() == items[at[in.Candidate]].Content():
			*each = result{sentWhole, in.Item}
		case in.Item.Tokens() > 0:
			*each = result{sentCut, in.Item}
			notes[in.Item.Group()] = in.Item
		}
	}
	for _, in := range report.Included {
		each, note := &o.each[at[in.Candidate]], notes[in.Item.Group()]
		if each.item == nil && note != nil && in.Item.Group() != "" {
			*each = result{sentNoted, note}
		}
	}
	return o
}

// tokens returns the tokens of the candidates and of the window.
func (o *results) tokens() (before, after int) {
	for i, each := range o.each {
		before = addTokens(before, max(o.items[i].Tokens(), 0))
		if each.sent < sentNoted {
			after = addTokens(after, max(each.item.Tokens(), 0))
		}
	}
	return before, after
}

// summary says what was done, such as 252 → 106 messages, 62,760 → 19,999 tokens.
func (o *results) summary() string {
	noun, whole := "item", true
	read, kept := make(map[int]bool), make(map[int]bool) // messages, which may be several items
	for i, item := range o.items {
		if item.Kind() == cupelchat.KindTools {
			continue
		}
		if textOf(item, "role") != "" {
			noun = "message"
		}
		whole = whole && o.each[i].sent == sentWhole
		number := cmp.Or(messageNumber(item), -1-i)
		read[number] = true
		if o.each[i].sent < sentNoted {
			kept[number] = true
		}
	}
	before, after := o.tokens()
	if whole {
		return fmt.Sprintf("%s, %s tokens: all fit a budget of %s", english.Count(len(read), noun), english.Grouped(before), english.Grouped(o.budget.MaxTokens()-o.budget.OutputReserve()))
	}
	text := fmt.Sprintf("%s → %s, %s → %s tokens", english.Grouped(len(read)), english.Count(len(kept), noun), english.Grouped(before), english.Grouped(after))
	if used, lost := o.facts(); used > 0 {
		text += fmt.Sprintf("; lost %s of %s that later messages used", english.Grouped(lost), english.Count(used, "fact"))
	}
	return text
}

// facts counts the values of the messages that a later message of the assistant has, and
// those of them that the window has no longer.
func (o *results) facts() (used, lost int) {
	first, later := make(map[string]int), make(map[string]bool)
	for i, item := range o.items {
		for fact := range cupelreduce.Facts(item.Content()) {
			at, known := first[fact]
			switch {
			case !known:
				first[fact] = i
			case at < i && textOf(item, "role") == "assistant":
				later[fact] = true
			}
		}
	}
	var window strings.Builder
	for _, each := range o.each {
		if each.sent >= sentNoted {
			continue
		}
		fmt.Fprintln(&window, each.item.Content())
		for fact := range cupelreduce.Facts(each.item.Content()) {
			first[fact] = len(o.items) // it is there
		}
	}
	for value := range later {
		if first[value] < len(o.items) && !strings.Contains(window.String(), value) {
			lost++
		}
	}
	return len(later), lost
}

// summary says how many contents differ.
func (d *difference) summary() string {
	return fmt.Sprintf("%s between %s and %s", english.Count(len(d.Changes), "difference"), d.A.Label, d.B.Label)
}

// summary says how many contents differ.
func (d *corpusDifference) summary() string {
	return english.Count(d.Runs, "run") + " compared"
}

// summary says at how many budgets something changes.
func (r *sweepResult) summary() string {
	return fmt.Sprintf("%s of %s from %d to %d tokens", english.Count(len(r.Steps), "selection"), english.Count(r.Candidates, "candidate"), r.From, r.To)
}

// summary says which candidate was explained.
func (w *jsonAnswer) summary() string {
	return fmt.Sprintf("explained a candidate of %s tokens: %s", english.Grouped(w.Tokens), w.Reason)
}

// summary says how many values are still there.
func (w whereAnswer) summary() string {
	there := 0
	for _, f := range w.Facts {
		if f.Sent {
			there++
		}
	}
	return fmt.Sprintf("%s of %s in the window of %s tokens", english.Grouped(there), english.Count(len(w.Facts), "value"), english.Grouped(w.Tokens))
}

// summary counts the checks.
func (c checkedFiles) summary() string {
	return fmt.Sprintf("%s: %s ok, %s failed", english.Count(c.Checks, "check"), english.Grouped(c.Checks-c.Failed), english.Grouped(c.Failed))
}

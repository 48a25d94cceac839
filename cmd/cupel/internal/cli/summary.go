package cli

import (
	"fmt"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/internal/english"
)

// fate is what became of a candidate.
type fate uint8

const (
	fateWhole fate = iota
	fateCut        // the window has a smaller form
	fateOut        // the window has nothing of it
)

// String returns the name of a fate.
func (f fate) String() string { return [...]string{"whole", "cut", "out"}[f] }

// result is what became of a candidate.
type result struct {
	fate fate
	item *cupel.ContextItem // as the window has it, or nil
}

// results are those of all candidates.
type results struct {
	items  []*cupel.ContextItem // as they were read
	each   []result
	budget cupel.ContextBudget
}

// results says what a report of a selection made of the candidates. Of an exchange that
// became a note, one item has the note, and nothing is left of the others.
func (s *selection) results(report *cupel.SelectionReport) *results {
	o := &results{items: s.Items, each: make([]result, len(s.Items)), budget: s.budget}
	for i := range o.each {
		o.each[i].fate = fateOut
	}
	for _, in := range report.Included {
		switch {
		case in.Item.Content() == s.Items[in.Candidate].Content():
			o.each[in.Candidate] = result{fateWhole, in.Item}
		case in.Item.Tokens() > 0:
			o.each[in.Candidate] = result{fateCut, in.Item}
		}
	}
	return o
}

// count returns how many candidates have each fate.
func (o *results) count() (count [fateOut + 1]int) {
	for _, each := range o.each {
		count[each.fate]++
	}
	return count
}

// tokens returns the tokens of the candidates and of the window.
func (o *results) tokens() (before, after int) {
	for i, each := range o.each {
		before = addTokens(before, max(o.items[i].Tokens(), 0))
		if each.item != nil {
			after = addTokens(after, max(each.item.Tokens(), 0))
		}
	}
	return before, after
}

// detail says what became of the candidates. Its numbers add up.
func (o *results) detail() string {
	count := o.count()
	before, after := o.tokens()
	return fmt.Sprintf("%s: %s whole, %s cut, %s out; %s → %s tokens of %s", english.Count(len(o.each), "message"),
		english.Grouped(count[fateWhole]), english.Grouped(count[fateCut]), english.Grouped(count[fateOut]),
		english.Grouped(before), english.Grouped(after), english.Grouped(o.budget.MaxTokens()))
}

// messageNumber returns the number of a message in the list of its conversation, from 0,
// or "" for any other item.
func messageNumber(item *cupel.ContextItem) any {
	if n, ok := item.MetadataInt("index"); ok && textOf(item, "role") != "" {
		return n
	}
	return ""
}

package cli

import (
	"cmp"
	"fmt"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
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

// newResults says what a report of a selection made of the candidates. Of an exchange
// that became a note, one item has the note, and nothing is left of the others.
func newResults(items []*cupel.ContextItem, budget cupel.ContextBudget, report *cupel.SelectionReport) *results {
	o := &results{items: items, each: make([]result, len(items)), budget: budget}
	for i := range o.each {
		o.each[i].fate = fateOut
	}
	for _, in := range report.Included {
		switch {
		case in.Item.Content() == items[in.Candidate].Content():
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

// summary says what was done, such as 252 → 106 messages, 62,760 → 19,999 tokens.
func (o *results) summary() string {
	noun := "item"
	read, kept := make(map[int]bool), make(map[int]bool) // messages, which may be several items
	for i, item := range o.items {
		if item.Kind() == cupelchat.KindTools {
			continue
		}
		if textOf(item, "role") != "" {
			noun = "message"
		}
		number := cmp.Or(messageNumber(item), -1-i)
		read[number] = true
		if o.each[i].fate != fateOut {
			kept[number] = true
		}
	}
	before, after := o.tokens()
	if o.count()[fateWhole] == len(o.each) {
		return fmt.Sprintf("%s, %s tokens: all fit a budget of %s", english.Count(len(read), noun), english.Grouped(before), english.Grouped(o.budget.MaxTokens()-o.budget.OutputReserve()))
	}
	return fmt.Sprintf("%s → %s, %s → %s tokens", english.Grouped(len(read)), english.Count(len(kept), noun), english.Grouped(before), english.Grouped(after))
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

// summary says how many values are sent.
func (w *whereAnswer) summary() string {
	sent := 0
	for _, f := range w.Facts {
		if f.Sent {
			sent++
		}
	}
	return fmt.Sprintf("%s found, %s sent", english.Count(len(w.Facts), "value"), english.Grouped(sent))
}

// summary counts the checks.
func (c checkedFiles) summary() string {
	return fmt.Sprintf("%s: %s ok, %s failed", english.Count(c.Checks, "check"), english.Grouped(c.Checks-c.Failed), english.Grouped(c.Failed))
}

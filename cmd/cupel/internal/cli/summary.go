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

// kept is what became of a candidate.
type kept uint8

const (
	keptWhole kept = iota
	keptCut        // the window has a smaller form
	keptNoted      // the window has a note of its exchange, in the place of another item
	keptOut        // the window has nothing of it
)

// String returns how people call it.
func (k kept) String() string {
	return [...]string{"whole", "cut", "in a note of its exchange", "out"}[k]
}

// result is what became of a candidate.
type result struct {
	kept kept
	item *cupel.ContextItem // as the window has it, or its note; nil if it is out
}

// results are those of all candidates.
type results struct {
	items  []*cupel.ContextItem // as they were read
	each   []result
	budget cupel.ContextBudget
}

// part names a part of a message: its text, or one of its results.
type part struct {
	number   int
	kind     cupel.ContextKind
	role, id string
}

func partOf(item *cupel.ContextItem) part {
	return part{messageNumber(item), item.Kind(), textOf(item, "role"), textOf(item, "tool_call_id")}
}

// results says what a report of the selection made of the items as they were read. Reports
// of conversations may be about fewer or shortened items, which are found by their parts.
func (s *selection) results(report *cupel.SelectionReport) *results {
	o := &results{items: s.Items, each: make([]result, len(s.Items)), budget: s.budget}
	places := make(map[part][]int)
	for i, item := range s.Items {
		places[partOf(item)] = append(places[partOf(item)], i)
	}
	find := func(in *cupel.IncludedItem) int {
		at := places[partOf(in.Item)]
		if s.Conversation == nil || len(at) == 0 {
			return in.Candidate
		}
		places[partOf(in.Item)] = at[1:]
		return at[0]
	}
	for i := range o.each {
		o.each[i].kept = keptOut
	}
	notes := make(map[string]*cupel.ContextItem) // by group
	noted := make(map[int]string)                // groups of what may be in a note
	for i := range report.Included {
		in := &report.Included[i]
		at := find(in)
		switch {
		case in.Item.Content() == s.Items[at].Content():
			o.each[at] = result{keptWhole, in.Item}
		case in.Item.Tokens() > 0:
			o.each[at] = result{keptCut, in.Item}
			notes[in.Item.Group()] = in.Item
		case in.Item.Group() != "":
			noted[at] = in.Item.Group()
		}
	}
	for at, group := range noted {
		if note := notes[group]; note != nil {
			o.each[at] = result{keptNoted, note}
		}
	}
	return o
}

// tokens returns the tokens of the candidates and of the window.
func (o *results) tokens() (before, after int) {
	for i, each := range o.each {
		before = addTokens(before, max(o.items[i].Tokens(), 0))
		if each.kept < keptNoted {
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
		whole = whole && o.each[i].kept == keptWhole
		number := cmp.Or(messageNumber(item), -1-i)
		read[number] = true
		if o.each[i].kept < keptNoted {
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
		if each.kept >= keptNoted {
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

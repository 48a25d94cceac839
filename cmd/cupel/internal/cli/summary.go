package cli

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelreduce"
	"github.com/wollax/cupel-go/internal/english"
)

// kept returns, for each item that was read, its entry in the window of a report, or nil.
// If an exchange became a note, one of its items has the note.
func (s *selection) kept(report *cupel.SelectionReport) []*cupel.ContextItem {
	kept := make([]*cupel.ContextItem, len(s.Items))
	for _, in := range report.Included {
		if in.Item.Tokens() > 0 || in.Item.Content() == s.Items[in.Candidate].Content() {
			kept[in.Candidate] = in.Item
		}
	}
	return kept
}

// summary describes the result, such as 252 → 106 messages, 62,760 → 19,999
// tokens.
func (s *selection) summary(report *cupel.SelectionReport) string {
	window := s.kept(report)
	noun, whole := "item", true
	read, kept := make(map[int]bool), make(map[int]bool) // messages, which may be several items
	before, after := 0, 0
	for i, item := range s.Items {
		before = addTokens(before, max(item.Tokens(), 0))
		if window[i] != nil {
			after = addTokens(after, max(window[i].Tokens(), 0))
		}
		if item.Kind() == cupelchat.KindTools {
			continue
		}
		if textOf(item, "role") != "" {
			noun = "message"
		}
		whole = whole && window[i] != nil && window[i].Content() == item.Content()
		number := cmp.Or(messageNumber(item), -i) // others are apart
		read[number] = true
		if window[i] != nil {
			kept[number] = true
		}
	}
	if whole {
		return fmt.Sprintf("%s, %s tokens: all fit a budget of %s", english.Count(len(read), noun), english.Grouped(before), english.Grouped(s.budget.MaxTokens()-s.budget.OutputReserve()))
	}
	text := fmt.Sprintf("%s → %s, %s → %s tokens", english.Grouped(len(read)), english.Count(len(kept), noun), english.Grouped(before), english.Grouped(after))
	if used, lost := factsOf(s.Items, window); used > 0 {
		text += fmt.Sprintf("; lost %s of %s that later messages used", english.Grouped(lost), english.Count(used, "fact"))
	}
	return text
}

// factsOf counts the values of messages that a later message of the assistant has, and
// how many of them the window has lost.
func factsOf(items, window []*cupel.ContextItem) (used, lost int) {
	first, later := make(map[string]int), make(map[string]bool)
	for i, item := range items {
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
	used = len(later)
	for _, item := range window {
		if item == nil {
			continue
		}
		maps.DeleteFunc(later, func(fact string, _ bool) bool { return strings.Contains(item.Content(), fact) })
	}
	return used, len(later)
}

// summary returns how many contents differ.
func (d *difference) summary() string {
	return fmt.Sprintf("%s between %s and %s", english.Count(len(d.Changes), "difference"), d.A.Label, d.B.Label)
}

// summary returns how many runs were compared.
func (d *corpusDifference) summary() string {
	return english.Count(d.Runs, "run") + " compared"
}

// summary returns at how many budgets something changes.
func (r *sweepResult) summary() string {
	return fmt.Sprintf("%s of %s from %d to %d tokens", english.Count(len(r.Steps), "selection"), english.Count(r.Candidates, "candidate"), r.From, r.To)
}

// summary names the explained candidate.
func (w *jsonAnswer) summary() string {
	return fmt.Sprintf("explained %s: %s", w.Name, w.Why)
}

// summary returns how many values are sent.
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

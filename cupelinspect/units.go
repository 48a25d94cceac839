package cupelinspect

import (
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

// isSmaller reports whether a candidate is in the window with something other than
// its whole content.
func isSmaller(e *analysis.Entry) bool {
	if e.Included == nil || e.Form > 0 {
		return e.Included != nil
	}
	full, ok := e.Included.Item.OriginalTokens()
	return ok && full > e.Tokens
}

// form is a text that is in some window in place of a content.
type form struct {
	text   string
	tokens int
	shared bool // the text stands for all of the group
}

// form returns the number of a form among those of a candidate, from 1.
func (l *inspector) form(at int, f form) int {
	n := slices.Index(l.forms[at], f)
	if n < 0 {
		n = len(l.forms[at])
		l.forms[at] = append(l.forms[at], f)
	}
	return n + 1
}

// wireForms returns the forms as the edits of the contents that a page has.
func (s *Selection) wireForms(contents []string) map[int][]wireForm {
	all := make(map[int][]wireForm)
	groups := make(map[string][]int)
	for at, forms := range s.forms {
		if len(forms) > 0 {
			all[at] = make([]wireForm, len(forms))
		}
		if group := s.items[at].Group(); group != "" {
			groups[group] = append(groups[group], at)
		}
	}
	for at, forms := range s.forms {
		for n, f := range forms {
			members := []int{at}
			if f.shared {
				members = groups[s.items[at].Group()]
			}
			texts := make([]string, len(members))
			for i, member := range members {
				texts[i] = contents[member]
			}
			shares := align(texts, strings.ToValidUTF8(f.text, "\uFFFD"))
			all[at][n] = wireForm{shares[slices.Index(members, at)], f.tokens}
		}
	}
	return all
}

// unmade is the content in place of one that a function would make.
const unmade = "made when it is chosen"

// withoutFunctions returns the items with texts in place of functions that make
// the contents of smaller forms: a sweep selects at many budgets, and a function
// may be as expensive as a question to a model. It returns items if none has one.
func withoutFunctions(items []*cupel.ContextItem) []*cupel.ContextItem {
	var swept []*cupel.ContextItem
	made := make(map[*cupel.ContextItem]*cupel.ContextItem) // one for each pointer
	for i, item := range items {
		own, ofOwn := withTexts(item.Variants())
		group, ofGroup := withTexts(item.GroupVariants())
		if !ofOwn && !ofGroup {
			continue
		}
		if swept == nil {
			swept = slices.Clone(items)
		}
		if made[item] == nil {
			with, err := item.With(cupel.WithVariants(own...), cupel.WithGroupVariants(group...))
			if err != nil { // a variant that was valid stays so
				with = item
			}
			made[item] = with
		}
		swept[i] = made[item]
	}
	if swept == nil {
		return items
	}
	return swept
}

// withTexts replaces functions by texts, and reports whether there was one.
func withTexts(variants []cupel.Variant) (_ []cupel.Variant, functions bool) {
	for i := range variants {
		if variants[i].Make != nil {
			variants[i].Make, variants[i].Content, functions = nil, unmade, true
		}
	}
	return variants, functions
}

// formsOf returns the smaller forms that a report has in its window, by candidate,
// and the tokens of the pinned items. It records the forms, and the stale
// candidates in w; the run comes before its sweep.
func (l *inspector) formsOf(ledger *analysis.Ledger, w *wireSelection, run bool) (forms map[int]int, pinned *int) {
	pinned = new(int)
	shared := make(map[string]bool) // groups that one text replaces
	for _, e := range ledger.Entries {
		if e.Included != nil && e.Included.Shared {
			shared[e.Item.Group()] = true
		}
	}
	for at := range ledger.Entries {
		e := &ledger.Entries[at]
		if run && e.Stale {
			w.Stale = append(w.Stale, at)
		}
		if e.Included == nil {
			continue
		}
		if e.Included.Reason == cupel.IncludePinned {
			*pinned = add(*pinned, max(0, e.Tokens))
		}
		if !isSmaller(e) {
			continue
		}
		if forms == nil {
			forms = make(map[int]int)
		}
		if e.Item == e.Included.Item { // of a report: the item is the form
			forms[at] = 1
			if full, ok := e.Item.OriginalTokens(); ok {
				if w.Full == nil {
					w.Full = make(map[int]int)
				}
				if e.Included.Shared { // the first member has the tokens of all
					full = 0
				}
				w.Full[at] = full
			}
			continue
		}
		item := e.Included.Item
		forms[at] = l.form(at, form{item.Content(), item.Tokens(), shared[e.Item.Group()]})
	}
	return forms, pinned
}

// adopt makes a report refer to candidates by their positions: its items may be
// candidates as they were prepared for it. An item with another content than the
// candidate's is a smaller form.
func adopt(report *cupel.SelectionReport, items []*cupel.ContextItem) *cupel.SelectionReport {
	adopted := *report
	adopted.Included, adopted.Excluded = slices.Clone(report.Included), slices.Clone(report.Excluded)
	for i := range adopted.Included {
		e := &adopted.Included[i]
		if e.Candidate < 0 || e.Candidate >= len(items) {
			continue
		}
		switch item := items[e.Candidate]; {
		case e.Item.Content() != item.Content():
			e.Form = max(e.Form, 1)
		case e.Form == 0:
			e.Item = item
		}
	}
	for i := range adopted.Excluded {
		if at := adopted.Excluded[i].Candidate; at >= 0 && at < len(items) {
			adopted.Excluded[i].Item = items[at]
		}
	}
	return &adopted
}

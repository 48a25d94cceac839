package cupelinspect

import (
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

// hasUnits reports whether the candidates have groups, smaller forms or version
// keys, or the report says that they had.
func (l *inspector) hasUnits(ledger *analysis.Ledger) bool {
	for _, item := range l.items {
		if item.Group() != "" || item.VersionOf() != "" || len(item.Variants()) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(ledger.Entries, func(e analysis.Entry) bool { return e.Form > 0 })
}

// unmade is the content that stands for what a function would make.
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

// originsOf returns the positions that the candidates of a report have in its run,
// or nil if it does not say.
func originsOf(ledger *analysis.Ledger) []int {
	origins, known := make([]int, len(ledger.Entries)), false
	for i := range ledger.Entries {
		origins[i] = -1
		if e := &ledger.Entries[i]; e.Included != nil {
			origins[i] = e.Included.Candidate
		} else if e.Excluded != nil {
			origins[i] = e.Excluded.Candidate
		}
		known = known || origins[i] >= 0
	}
	if !known {
		return nil
	}
	return origins
}

// formsOf returns the smaller forms that a report has in its window, by candidate,
// and the tokens of the pinned items. It records the forms and what is stale in w;
// the run comes before its sweep.
func (l *inspector) formsOf(ledger *analysis.Ledger, w *wireSelection, limit int, run bool) (forms map[int]int, pinned *int) {
	pinned = new(int)
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
		n := e.Form
		if n == 0 {
			continue
		}
		if forms == nil {
			forms = make(map[int]int)
		}
		forms[at] = n
		if e.Item == e.Included.Item { // of a report: the item is the form
			if full, ok := e.Item.OriginalTokens(); ok {
				if w.Full == nil {
					w.Full = make(map[int]int)
				}
				w.Full[at] = full
			}
			continue
		}
		if w.Forms == nil {
			w.Forms = make(map[int]map[int]wireForm)
		}
		if w.Forms[at] == nil {
			w.Forms[at] = make(map[int]wireForm)
		}
		if _, known := w.Forms[at][n]; known {
			continue
		}
		item := e.Included.Item
		form := wireForm{Tokens: item.Tokens()}
		if form.Unmade = !run && item.Content() == unmade; !form.Unmade {
			form.Content, form.Cut = prefix(item.Content(), limit)
		}
		w.Forms[at][n] = form
	}
	return forms, pinned
}

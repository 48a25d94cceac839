package analysis

import (
	"cmp"
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// Ledger is a report by candidate: what it says about each, by position. A
// report lists its entries by place and by score, and one pointer may be several
// candidates. Build it with [NewLedger].
type Ledger struct {
	Entries []Entry // by candidate
	Window  []int   // the candidates included, in the order of the window
	Out     []int   // the candidates excluded, in the order of the report
	Ranked  int     // how many candidates have a rank

	survivors map[string]int // by content; nil until they are asked for
}

// Entry is what a report says about one candidate.
type Entry struct {
	Candidate int                 // its position among the candidates, from 0
	Item      *cupel.ContextItem  // the candidate
	Place     int                 // in the window, from 1; 0 when it is not included
	Rank      int                 // by score among all that were scored, from 1; 0 when it was not, or the run failed
	Included  *cupel.IncludedItem // the report's entry; nil when it is not included
	Excluded  *cupel.ExcludedItem // the report's entry; nil when it is not excluded
}

// NewLedger returns the ledger of a report of a run with these candidates, which
// may have failed: then it lacks entries, and nothing has a rank. When items is
// nil, as for a report that was read from JSON, the candidates are those of the
// report, in its order. Entries that are not about one of items are left out.
//
// The ledger points into the lists of the report. It takes time O(N log N).
func NewLedger(report *cupel.SelectionReport, items []*cupel.ContextItem) *Ledger {
	l := &Ledger{}
	if report == nil {
		report = &cupel.SelectionReport{}
	}
	inOrder := items == nil
	if inOrder {
		l.Entries = make([]Entry, len(report.Included)+len(report.Excluded))
	} else {
		l.Entries = make([]Entry, len(items))
		for i, item := range items {
			l.Entries[i] = Entry{Candidate: i, Item: item}
		}
	}
	next := 0
	entry := func(candidate int, item *cupel.ContextItem, form int) *Entry {
		switch {
		case inOrder:
			l.Entries[next] = Entry{Candidate: next, Item: item}
			next++
			return &l.Entries[next-1]
		case candidate < 0 || candidate >= len(items) || items[candidate] != item && form == 0: // a smaller form is another item
			return nil
		}
		return &l.Entries[candidate]
	}
	for place := range report.Included {
		in := &report.Included[place]
		if e := entry(in.Candidate(), in.Item, in.Form()); e != nil {
			e.Place, e.Included = place+1, in
			l.Window = append(l.Window, e.Candidate)
		}
	}
	for i := range report.Excluded {
		out := &report.Excluded[i]
		if e := entry(out.Candidate(), out.Item, 0); e != nil {
			e.Excluded = out
			l.Out = append(l.Out, e.Candidate)
		}
	}
	if len(report.Included)+len(report.Excluded) >= report.TotalCandidates { // ranks among some would mislead
		l.rank()
	}
	return l
}

func (l *Ledger) rank() {
	scored := make([]int, 0, len(l.Entries))
	for i := range l.Entries {
		if l.Entries[i].scored() {
			scored = append(scored, i)
		}
	}
	slices.SortFunc(scored, func(i, j int) int {
		// NaN is less than any number to cmp.Compare, and last here as in reports.
		return cmp.Or(cmp.Compare(l.Entries[j].Score(), l.Entries[i].Score()), cmp.Compare(i, j))
	})
	for rank, i := range scored {
		l.Entries[i].Rank = rank + 1
	}
	l.Ranked = len(scored)
}

// Survivor returns the candidate that stays in place of one that was left out as
// a duplicate: the first with the same content that was not, and false when
// there is none.
func (l *Ledger) Survivor(duplicate int) (candidate int, ok bool) {
	if l.survivors == nil {
		l.survivors = make(map[string]int)
		for i := range slices.Backward(l.Entries) { // the first one counts
			if e := &l.Entries[i]; e.Code() != string(cupel.ExcludeDeduplicated) && !e.Item.Pinned() && e.Item.Tokens() >= 0 {
				l.survivors[e.Item.Content()] = i
			}
		}
	}
	candidate, ok = l.survivors[l.Entries[duplicate].Item.Content()]
	return candidate, ok
}

// Score returns the score of the report, 0 when it has no entry.
func (e *Entry) Score() float64 {
	switch {
	case e.Included != nil:
		return e.Included.Score
	case e.Excluded != nil:
		return e.Excluded.Score
	}
	return 0
}

// Code returns the reason without its data, such as "Scored" or
// "BudgetExceeded", and "" when the report has no entry: the run failed before
// it came to the candidate.
func (e *Entry) Code() string {
	switch {
	case e.Included != nil:
		return string(e.Included.Reason)
	case e.Excluded != nil:
		return string(e.Excluded.Reason.Code)
	}
	return ""
}

// Why returns the reason with its data, such as "BudgetExceeded: 30 tokens
// requested, 5 available", without the content of any item.
func (e *Entry) Why() string {
	if e.Excluded != nil {
		return e.Excluded.Reason.String()
	}
	return e.Code()
}

// Data returns the data of an exclusion, all zero when there are none.
func (e *Entry) Data() cupel.ReasonData {
	if e.Excluded == nil {
		return cupel.ReasonData{}
	}
	return e.Excluded.Reason.Data()
}

// scored reports whether the score is a scorer's.
func (e *Entry) scored() bool {
	return e.Included != nil && e.Included.Reason != cupel.IncludePinned ||
		e.Excluded != nil && e.Excluded.Reason.Code != cupel.ExcludeNegativeTokens
}

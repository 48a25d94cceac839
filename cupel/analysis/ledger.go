package analysis

import (
	"cmp"
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// Ledger indexes a report by the position of the candidates. A report lists its
// entries by place and by score, and one pointer may occur as several candidates.
// Build a Ledger with [NewLedger].
type Ledger struct {
	Entries []Entry // by candidate
	Window  []int   // the candidates included, in the order of the window
	Out     []int   // the candidates excluded, in the order of the report
	Ranked  int     // how many candidates have a rank

	survivors map[string]int // by content; built on first use
}

// Entry is what a report says about one candidate.
type Entry struct {
	Candidate int                 // its position among the candidates, from 0
	Item      *cupel.ContextItem  // the candidate
	Place     int                 // in the window, from 1; 0 if not included
	Rank      int                 // by score among the scored candidates, from 1; 0 if not scored, or the run failed
	Included  *cupel.IncludedItem // the report's entry; nil if not included
	Excluded  *cupel.ExcludedItem // the report's entry; nil if not excluded
}

// NewLedger returns the ledger of a report of a run with these candidates. If the
// run failed, entries are missing and no candidate has a rank. If items is nil, as
// for a report read from JSON, the candidates are those of the report, in its
// order. Entries whose item is not in items are ignored.
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
	if len(report.Included)+len(report.Excluded) >= report.TotalCandidates { // ranks need all candidates
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
		// cmp.Compare orders NaN before any number; descending, it comes last as in reports.
		return cmp.Or(cmp.Compare(l.Entries[j].Score(), l.Entries[i].Score()), cmp.Compare(i, j))
	})
	for rank, i := range scored {
		l.Entries[i].Rank = rank + 1
	}
	l.Ranked = len(scored)
}

// Survivor returns the candidate that was kept in place of a duplicate: the first
// one with the same content that is not a duplicate. It returns false if there is
// none.
func (l *Ledger) Survivor(duplicate int) (candidate int, ok bool) {
	if l.survivors == nil {
		l.survivors = make(map[string]int)
		for i := range slices.Backward(l.Entries) { // so that the first one wins
			if e := &l.Entries[i]; e.Code() != string(cupel.ExcludeDeduplicated) && !e.Item.Pinned() && e.Item.Tokens() >= 0 {
				l.survivors[e.Item.Content()] = i
			}
		}
	}
	candidate, ok = l.survivors[l.Entries[duplicate].Item.Content()]
	return candidate, ok
}

// Score returns the score in the report, or 0 if it has no entry.
func (e *Entry) Score() float64 {
	switch {
	case e.Included != nil:
		return e.Included.Score
	case e.Excluded != nil:
		return e.Excluded.Score
	}
	return 0
}

// Code returns the reason without its data, such as "Scored" or "BudgetExceeded".
// It returns "" if the report has no entry because the run failed earlier.
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

// Data returns the data of an exclusion, or the zero value if there are none.
func (e *Entry) Data() cupel.ReasonData {
	if e.Excluded == nil {
		return cupel.ReasonData{}
	}
	return e.Excluded.Reason.Data()
}

// scored reports whether the score comes from a scorer.
func (e *Entry) scored() bool {
	return e.Included != nil && e.Included.Reason != cupel.IncludePinned ||
		e.Excluded != nil && e.Excluded.Reason.Code != cupel.ExcludeNegativeTokens
}

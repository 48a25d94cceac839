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

	survivors map[survivorKey]int // built on first use
}

// Entry is what a report says about one candidate.
type Entry struct {
	Candidate int                 // its position among the candidates, from 0
	Item      *cupel.ContextItem  // the candidate; as it is in the window if the ledger has no items of its own
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

// Survivor returns the candidate that was kept in place of a duplicate: the one
// that the reason names, or, for a report that was read from JSON, the first with
// the same content that can be it. For an older version it returns the newest, and
// for a near copy what it is a copy of. It returns false for other candidates, and
// if there is none.
func (l *Ledger) Survivor(candidate int) (survivor int, ok bool) {
	if l == nil || candidate < 0 || candidate >= len(l.Entries) {
		return 0, false
	}
	if l.survivors == nil {
		l.indexSurvivors()
	}
	e := &l.Entries[candidate]
	if item := e.Data().Survivor; item != nil {
		if survivor, ok = l.survivors[survivorKey{item: item}]; ok {
			return survivor, true
		}
	}
	switch e.Code() {
	case string(cupel.ExcludeDeduplicated):
		survivor, ok = l.survivors[survivorKey{text: e.Item.Content(), grouped: e.Item.Group() != ""}]
	case string(cupel.ExcludeSuperseded):
		survivor, ok = l.survivors[survivorKey{text: e.Item.VersionOf(), newest: true}]
	case string(cupel.ExcludeNearDuplicate):
		if survivor, ok = l.survivors[survivorKey{text: e.Data().Of}]; !ok {
			survivor, ok = l.survivors[survivorKey{text: e.Data().Of, grouped: true}]
		}
	}
	return survivor, ok
}

// survivorKey finds an entry by its item, by its content among lone items or
// among those in groups, or as the newest version of a key.
type survivorKey struct {
	item            *cupel.ContextItem
	text            string
	grouped, newest bool
}

func (l *Ledger) indexSurvivors() {
	l.survivors = make(map[survivorKey]int, len(l.Entries))
	for i := range slices.Backward(l.Entries) { // so that the first one wins
		e := &l.Entries[i]
		if e.Item.Tokens() < 0 {
			continue
		}
		if key := e.Item.VersionOf(); key != "" && !e.Stale() { // it may be a duplicate itself
			l.survivors[survivorKey{text: key, newest: true}] = i
		}
		grouped := e.Item.Group() != ""
		older := e.Stale() && !grouped && !e.Item.Pinned()
		if older || e.Code() == string(cupel.ExcludeDeduplicated) || e.Code() == string(cupel.ExcludeNegativeTokens) {
			continue
		}
		l.survivors[survivorKey{item: e.Item}] = i
		if !e.Item.Pinned() && e.Code() != string(cupel.IncludePinned) {
			l.survivors[survivorKey{text: e.Item.Content(), grouped: grouped}] = i
		}
	}
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

// Form returns the form of the candidate in the window, as
// [cupel.IncludedItem.Form] counts: 0 for the full one, and if it is not included.
func (e *Entry) Form() int {
	if e.Included == nil {
		return 0
	}
	return e.Included.Form()
}

// Tokens returns the tokens that the candidate has in the window, in its form, or
// those of the candidate in full if it is not included.
func (e *Entry) Tokens() int {
	if e.Included == nil {
		return e.Item.Tokens()
	}
	return e.Included.Item.Tokens()
}

// Stale reports whether a newer version of the candidate was among the candidates.
func (e *Entry) Stale() bool {
	return e.Included != nil && e.Included.Stale() || e.Excluded != nil && e.Excluded.Stale()
}

// scored reports whether the score comes from a scorer.
func (e *Entry) scored() bool {
	return e.Included != nil && e.Included.Reason != cupel.IncludePinned ||
		e.Excluded != nil && e.Excluded.Reason.Code != cupel.ExcludeNegativeTokens
}

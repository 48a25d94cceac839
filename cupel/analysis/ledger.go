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

// Entry is a report's entry for one candidate.
type Entry struct {
	Candidate int                // its position among the candidates, from 0
	Item      *cupel.ContextItem // the candidate; as it is in the window if the ledger has no items of its own
	Place     int                // in the window, from 1; 0 if not included
	Rank      int                // by score among the scored candidates, from 1; 0 if not scored, or the run failed
	Score     float64            // in the report; 0 if it has no entry
	// Code is the reason without its data, such as "Scored" or "BudgetExceeded". It
	// is "" if the report has no entry because the run failed earlier.
	Code   string
	Tokens int  // in the window, in its form; of the candidate in full if not included
	Form   int  // in the window, as [cupel.IncludedItem] counts; 0 for the full one, and if not included
	Stale  bool // a newer version was among the candidates

	Included *cupel.IncludedItem   // the report's entry; nil if not included
	Excluded *cupel.ExcludedItem   // the report's entry; nil if not excluded
	Reason   cupel.ExclusionReason // of the report's entry; zero if not excluded

	origin int // the position that the report has, or -1
}

// NewLedger returns the ledger of a report of a run with these candidates. If the
// run failed, entries are missing and no candidate has a rank. If items is nil, as
// for a report read from JSON, the candidates are those of the report, in its
// order. Entries whose item is not in items are ignored.
//
// The ledger points into the lists of the report. It takes time O(N log N).
func NewLedger(report *cupel.SelectionReport, items []*cupel.ContextItem) *Ledger {
	if report == nil {
		report = &cupel.SelectionReport{}
	}
	inOrder := items == nil
	if inOrder {
		for _, in := range report.Included {
			items = append(items, in.Item)
		}
		for _, out := range report.Excluded {
			items = append(items, out.Item)
		}
	}
	l := &Ledger{Entries: make([]Entry, len(items))}
	for i, item := range items {
		l.Entries[i] = Entry{Candidate: i, Item: item, Tokens: item.Tokens(), origin: -1}
	}
	next := 0
	entry := func(candidate int, item *cupel.ContextItem, form int) *Entry {
		if inOrder {
			candidate = next
			next++
		}
		if candidate < 0 || candidate >= len(items) || items[candidate] != item && form == 0 { // a smaller form is another item
			return nil
		}
		return &l.Entries[candidate]
	}
	for place := range report.Included {
		in := &report.Included[place]
		if e := entry(in.Candidate, in.Item, in.Form); e != nil {
			e.Included, e.origin, e.Place, e.Score, e.Code = in, in.Candidate, place+1, in.Score, string(in.Reason)
			e.Tokens, e.Form, e.Stale = in.Item.Tokens(), in.Form, in.Stale
			l.Window = append(l.Window, e.Candidate)
		}
	}
	for i := range report.Excluded {
		out := &report.Excluded[i]
		if e := entry(out.Candidate, out.Item, 0); e != nil {
			e.Excluded, e.Reason, e.origin, e.Score, e.Code, e.Stale = out, out.Reason, out.Candidate, out.Score, string(out.Reason.Code), out.Stale
			l.Out = append(l.Out, e.Candidate)
		}
	}
	if len(report.Included)+len(report.Excluded) >= report.TotalCandidates { // ranks need all candidates
		l.rank()
	}
	return l
}

func (l *Ledger) rank() {
	var scored []int
	for i, e := range l.Entries {
		switch e.Code {
		case "", string(cupel.IncludePinned), string(cupel.ExcludeNegativeTokens): // their scores are no scorer's
		default:
			scored = append(scored, i)
		}
	}
	slices.SortStableFunc(scored, func(i, j int) int {
		// cmp.Compare orders NaN before any number; descending, it comes last as in reports.
		return cmp.Compare(l.Entries[j].Score, l.Entries[i].Score)
	})
	for rank, i := range scored {
		l.Entries[i].Rank = rank + 1
	}
	l.Ranked = len(scored)
}

// Survivor returns the candidate that was kept in place of a duplicate, an older
// version or a near copy: the one that the reason names, or, for a report that was read
// from JSON, the first possible one with the content that the reason names. It returns
// false for other candidates, and if there is none.
func (l *Ledger) Survivor(candidate int) (survivor int, ok bool) {
	if l == nil || candidate < 0 || candidate >= len(l.Entries) {
		return 0, false
	}
	e := &l.Entries[candidate]
	data := e.Reason.Data()
	content := e.Item.Content()
	switch cupel.ExclusionCode(e.Code) {
	case cupel.ExcludeDeduplicated:
	case cupel.ExcludeSuperseded:
		content = data.SupersededBy
	case cupel.ExcludeNearDuplicate:
		content = data.Of
	default:
		return 0, false
	}
	if l.survivors == nil {
		l.indexSurvivors()
	}
	grouped := e.Item.Group() != ""
	for _, key := range []survivorKey{{item: data.Survivor}, {content: content, grouped: grouped}, {content: content, grouped: !grouped}} {
		if survivor, ok = l.survivors[key]; ok && survivor != candidate {
			return survivor, true
		}
	}
	return 0, false
}

// survivorKey finds an entry by its item, or by its content among lone items or
// among those in groups.
type survivorKey struct {
	item    *cupel.ContextItem
	content string
	grouped bool
}

// indexSurvivors prefers the first of several entries. Pinned items and duplicates,
// which can be newest versions, count only if no other entry has their content.
func (l *Ledger) indexSurvivors() {
	l.survivors = make(map[survivorKey]int, len(l.Entries))
	for _, preferred := range []bool{false, true} {
		for i := range slices.Backward(l.Entries) {
			e := &l.Entries[i]
			pinned := e.Item.Pinned() || e.Code == string(cupel.IncludePinned)
			grouped := e.Item.Group() != ""
			older := e.Stale && !grouped && !e.Item.Pinned()
			if older || e.Code == string(cupel.ExcludeNegativeTokens) || preferred == (pinned || e.Code == string(cupel.ExcludeDeduplicated)) {
				continue
			}
			l.survivors[survivorKey{item: e.Item}] = i
			l.survivors[survivorKey{content: e.Item.Content(), grouped: grouped}] = i
		}
	}
}

// Why returns the reason with its data, such as "BudgetExceeded: 30 tokens
// requested, 5 available", without the content of any item.
func (e *Entry) Why() string {
	if e.Excluded != nil {
		return e.Reason.String()
	}
	return e.Code
}

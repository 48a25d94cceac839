package analysis

import (
	"cmp"
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// ReportDiff lists the differences between two reports, a and b.
type ReportDiff struct {
	Came []ReportChange // included in b and not in a, in b's order
	Went []ReportChange // included in a and not in b, in a's order
	// Moved are items included in both whose order differs: the fewest without
	// which the other shared items have the same order. In a's order.
	Moved []ReportChange
	// Reasons are items that both include or both exclude, with different reason
	// codes. In a's order.
	Reasons []ReportChange
	// Forms are items included in both in different forms, such as in full and as
	// an outline. In a's order.
	Forms []ReportChange
}

// ReportChange is an item on which two reports differ.
type ReportChange struct {
	Content string // of the item in full, if a report has that
	A, B    *Entry // the entry in each report; nil if it has none
}

// DiffReports compares two reports, for example of different policies, budgets or
// days. It matches items by content, so reports may come from JSON and candidates
// may be in a different order. Of several items with one content, it matches the
// first ones: included ones come first, then excluded ones, then duplicates, each in
// the order of the report.
//
// The content of a smaller form differs from its item's: it is matched with the
// candidate at the same position in the other run, if that has the same size in full,
// group, version key and other fields. Otherwise it is an item of its own. DiffReports
// takes time O(N log N).
func DiffReports(a, b *cupel.SelectionReport) *ReportDiff {
	d := &ReportDiff{}
	var both []ReportChange // included in both
	var places []int        // of both, in b
	for _, c := range match(NewLedger(a, nil), NewLedger(b, nil)) {
		was, is := c.A != nil && c.A.Place > 0, c.B != nil && c.B.Place > 0
		switch {
		case was && is:
			both, places = append(both, c), append(places, c.B.Place)
			if c.A.Form != c.B.Form || c.A.Item.Content() != c.B.Item.Content() {
				d.Forms = append(d.Forms, c)
			}
		case was:
			d.Went = append(d.Went, c)
		case is:
			d.Came = append(d.Came, c)
		}
		if c.A != nil && c.B != nil && was == is && c.A.Code != c.B.Code {
			d.Reasons = append(d.Reasons, c)
		}
	}
	slices.SortFunc(d.Came, func(x, y ReportChange) int { return cmp.Compare(x.B.Place, y.B.Place) })
	for i, stays := range longestRising(places) {
		if !stays {
			d.Moved = append(d.Moved, both[i])
		}
	}
	return d
}

// match returns the items of two reports: those of a, its duplicates last, and then
// those that only b has, in no order.
func match(a, b *Ledger) (changes []ReportChange) {
	formOf := otherForms(a, b)
	waiting := make(map[string][]*Entry) // of b, by content
	for _, y := range b.duplicatesLast() {
		if content := y.Item.Content(); formOf[y] == nil {
			waiting[content] = append(waiting[content], y)
		}
	}
	for _, x := range a.duplicatesLast() {
		c := ReportChange{Content: x.Item.Content(), A: x, B: formOf[x]}
		if list := waiting[c.Content]; c.B == nil && len(list) > 0 {
			c.B, waiting[c.Content] = list[0], list[1:]
		}
		if c.B != nil && c.B.Form == 0 {
			c.Content = c.B.Item.Content()
		}
		changes = append(changes, c)
	}
	for content, list := range waiting {
		for _, y := range list {
			changes = append(changes, ReportChange{Content: content, B: y})
		}
	}
	return changes
}

// otherForms pairs entries of one candidate that is in a smaller form in one report at
// least, each with the other one.
func otherForms(a, b *Ledger) map[*Entry]*Entry {
	pairs := make(map[*Entry]*Entry)
	at := make(map[int]*Entry, len(a.Entries)) // entries of a by position
	for i := range a.Entries {
		at[a.Entries[i].origin] = &a.Entries[i]
	}
	delete(at, -1)
	for i := range b.Entries {
		y := &b.Entries[i]
		if x := at[y.origin]; x != nil && max(x.Form, y.Form) > 0 && sameInFull(x.Item, y.Item) {
			pairs[x], pairs[y] = y, x
		}
	}
	return pairs
}

// sameInFull reports whether two items, one of them a smaller form, can be of the
// same item: everything but the content is the same. A form of a group has the
// fields of the first member in place of each.
func sameInFull(x, y *cupel.ContextItem) bool {
	if x.Group() != "" || y.Group() != "" {
		return x.Group() == y.Group()
	}
	return sizeInFull(x) == sizeInFull(y) && withoutContent(x).Equal(withoutContent(y))
}

func sizeInFull(item *cupel.ContextItem) int {
	if tokens, ok := item.OriginalTokens(); ok {
		return tokens
	}
	return item.Tokens()
}

// withoutContent returns the item without what differs between its forms. It cannot
// fail, since the item is valid.
func withoutContent(item *cupel.ContextItem) *cupel.ContextItem {
	same, _ := item.With(cupel.WithContent("-", 0), cupel.WithOriginalTokens(0), cupel.WithVariants(), cupel.WithGroupVariants())
	return same
}

// duplicatesLast returns the entries in the order of the report, but duplicates after
// all others.
func (l *Ledger) duplicatesLast() (entries []*Entry) {
	var duplicates []*Entry
	for i := range l.Entries {
		e := &l.Entries[i]
		if e.Code == string(cupel.ExcludeDeduplicated) {
			duplicates = append(duplicates, e)
		} else {
			entries = append(entries, e)
		}
	}
	return append(entries, duplicates...)
}

// longestRising marks the positions of a longest increasing subsequence of
// distinct numbers.
func longestRising(numbers []int) []bool {
	var ends []int // by length: the position of the smallest end of an increasing subsequence
	before := make([]int, len(numbers))
	for i, n := range numbers {
		at, _ := slices.BinarySearchFunc(ends, n, func(end, n int) int { return cmp.Compare(numbers[end], n) })
		before[i] = -1
		if at > 0 {
			before[i] = ends[at-1]
		}
		if at == len(ends) {
			ends = append(ends, i)
		}
		ends[at] = i
	}
	marks := make([]bool, len(numbers))
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			marks[i] = true
		}
	}
	return marks
}

package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// ReportDiff is the differences between two reports, a and b.
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
	// Copy numbers the items with this content, from 1. In each report the
	// included ones come first, then the excluded ones, then duplicates; ties keep
	// the order of the report.
	Copy int
	A, B *Entry // the entry in each report; nil if it has none
}

// Format implements [fmt.Formatter]. Every verb prints the beginning of the
// content, quoted, and which copy it is.
func (c ReportChange) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "%s, copy %d", shortened(c.Content), c.Copy)
}

// DiffReports compares two reports, for example of different policies, budgets or
// days. It matches items by content, so reports may come from JSON and candidates
// may be in a different order. A smaller form has another content than its item:
// it is matched with the candidate at the same position of the other run, if that
// has the same size in full, group, version key and other fields. Otherwise it is
// an item of its own. DiffReports takes time O(N log N).
func DiffReports(a, b *cupel.SelectionReport) *ReportDiff {
	ledgerA, ledgerB := NewLedger(a, nil), NewLedger(b, nil)
	pairs := pairForms(ledgerA, ledgerB)
	inA, orderA := copies(ledgerA, pairs, false)
	inB, orderB := copies(ledgerB, pairs, true)
	d := &ReportDiff{}
	var both []ReportChange // included in both, in a's order
	for _, key := range orderA {
		change := ReportChange{key.content, key.n, inA[key], inB[key]}
		was, is := change.A.Place > 0, change.B != nil && change.B.Place > 0
		switch {
		case was && !is:
			d.Went = append(d.Went, change)
		case was:
			both = append(both, change)
			if change.A.Form() != change.B.Form() || change.A.Item.Content() != change.B.Item.Content() {
				d.Forms = append(d.Forms, change)
			}
		}
		if change.B != nil && was == is && change.A.Code() != change.B.Code() {
			d.Reasons = append(d.Reasons, change)
		}
	}
	for _, key := range orderB {
		if e := inA[key]; inB[key].Place > 0 && (e == nil || e.Place == 0) {
			d.Came = append(d.Came, ReportChange{key.content, key.n, e, inB[key]})
		}
	}
	places := make([]int, len(both))
	for i, change := range both {
		places[i] = change.B.Place
	}
	for i, stays := range longestRising(places) {
		if !stays {
			d.Moved = append(d.Moved, both[i])
		}
	}
	return d
}

// Empty reports whether there is no difference.
func (d *ReportDiff) Empty() bool {
	return len(d.Came)+len(d.Went)+len(d.Moved)+len(d.Reasons)+len(d.Forms) == 0
}

// String returns one line per difference, for people: + for items that came, - for
// items that went, ~ for items that moved, changed their reason or are in another
// form. The lines contain the beginning of item contents.
func (d *ReportDiff) String() string {
	if d.Empty() {
		return "no difference"
	}
	var lines []string
	line := func(sign string, c ReportChange, e *Entry, text string) {
		copied := ""
		if c.Copy > 1 {
			copied = fmt.Sprintf(", copy %d", c.Copy)
		}
		lines = append(lines, fmt.Sprintf("%s %s (%s, %d tokens%s): %s", sign, shortened(c.Content), e.Item.Kind(), e.Item.Tokens(), copied, text))
	}
	why := func(e *Entry) string {
		if e == nil {
			return "not a candidate"
		}
		return e.Why()
	}
	for _, c := range d.Came {
		line("+", c, c.B, "was "+why(c.A))
	}
	for _, c := range d.Went {
		line("-", c, c.A, "is "+why(c.B))
	}
	for _, c := range d.Moved {
		line("~", c, c.A, fmt.Sprintf("moved to place %d, was %d", c.B.Place, c.A.Place))
	}
	for _, c := range d.Reasons {
		line("~", c, c.A, c.B.Why()+", was "+c.A.Why())
	}
	for _, c := range d.Forms {
		line("~", c, c.A, "is "+formText(c.B)+", was "+formText(c.A))
	}
	return strings.Join(lines, "\n")
}

// formText says in which form a candidate is in the window.
func formText(e *Entry) string {
	if e.Form() == 0 {
		return fmt.Sprintf("in full, %d tokens", e.Tokens())
	}
	return fmt.Sprintf("in form %d, %d tokens", e.Form(), e.Tokens())
}

// copyOf is an item of a report: the n-th with a content.
type copyOf struct {
	content string
	n       int
}

// copies returns the entries of a ledger by copy, and the copies in the order of
// the report. Entries that are paired already keep the copy that they got there.
func copies(l *Ledger, pairs []formPair, second bool) (entries map[copyOf]*Entry, order []copyOf) {
	entries, order = make(map[copyOf]*Entry, len(l.Entries)), make([]copyOf, len(l.Entries))
	counts := make(map[string]int, len(l.Entries))
	for _, pair := range pairs {
		i := pair.a
		if second {
			i = pair.b
		}
		order[i] = pair.copyOf
		entries[order[i]] = &l.Entries[i]
	}
	for _, duplicates := range []bool{false, true} { // duplicates come last
		for i := range l.Entries {
			e := &l.Entries[i]
			if order[i].n > 0 || duplicates != (e.Code() == string(cupel.ExcludeDeduplicated)) {
				continue
			}
			content := e.Item.Content()
			counts[content]++
			order[i] = copyOf{content, counts[content]}
			entries[order[i]] = e
		}
	}
	return entries, order
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
		} else {
			ends[at] = i
		}
	}
	marks := make([]bool, len(numbers))
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			marks[i] = true
		}
	}
	return marks
}

package cupeltest

import (
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// IncludeNoItemMatching holds if the predicate is true for no included entry: no
// secret, ever. It sees each item in the form that is in the window.
//
// It is an addition to the vocabulary of the specification.
func (c *SelectionReportAssertionChain) IncludeNoItemMatching(predicate func(cupel.IncludedItem) bool) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("IncludeNoItemMatching", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		if predicate == nil {
			return nilPredicate("IncludeNoItemMatching")
		}
		matching := 0
		for _, entry := range r.Included {
			if predicate(entry) {
				matching++
			}
		}
		if matching == 0 {
			return nil
		}
		actual := fmt.Sprintf("%d of %d included item(s) matched the predicate", matching, len(r.Included))
		return &SelectionReportAssertionError{
			Expected: "no included item that matches the predicate",
			Actual:   actual,
			message:  fmt.Sprintf("IncludeNoItemMatching failed: %s.", actual),
			Nearest:  c.included(r, predicate),
		}
	})
}

// ExcludeNoItemMatching holds if the predicate is true for no excluded item:
// nothing urgent is ever lost. It also holds if no candidate matches.
//
// It is an addition to the vocabulary of the specification.
func (c *SelectionReportAssertionChain) ExcludeNoItemMatching(predicate func(*cupel.ContextItem) bool) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("ExcludeNoItemMatching", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		if predicate == nil {
			return nilPredicate("ExcludeNoItemMatching")
		}
		matching := excludedMatching(r, predicate)
		if len(matching) == 0 {
			return nil
		}
		actual := fmt.Sprintf("%d of %d excluded item(s) matched the predicate", len(matching), len(r.Excluded))
		return &SelectionReportAssertionError{
			Expected: "no excluded item that matches the predicate",
			Actual:   actual,
			message:  fmt.Sprintf("ExcludeNoItemMatching failed: %s.", actual),
			Nearest:  c.lost(matching),
		}
	})
}

// Satisfy holds if check returns nil. Use it for checks of your own; what names
// the check in the failure, such as "half is code". check must not change the
// report.
//
// It is an addition to the vocabulary of the specification.
func (c *SelectionReportAssertionChain) Satisfy(what string, check func(report *cupel.SelectionReport) error) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("Satisfy", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		failure := &SelectionReportAssertionError{Expected: what}
		if check == nil {
			failure.Actual = "a nil check"
			failure.message = fmt.Sprintf("Satisfy(%s) failed: the check is nil.", oneLine(what))
			return failure
		}
		err := check(r)
		if err == nil {
			return nil
		}
		failure.Actual, failure.cause = err.Error(), err
		failure.message = fmt.Sprintf("Satisfy(%s) failed: %s.", oneLine(what), oneLine(err.Error()))
		return failure
	})
}

// PrefixKept checks that the window after begins with all of the window before, so
// that a provider's prompt cache keeps what it has: the same contents, kinds and
// sources in the same order. It reports where they part, and lets the test
// continue. [Run] returns windows.
//
// It is an addition to the vocabulary of the specification.
func PrefixKept(t T, before, after []*cupel.ContextItem, opts ...ChainOption) {
	t.Helper()
	c := newChain(new(SelectionReportAssertionChain), opts)
	same := func(a, b *cupel.ContextItem) bool {
		return a.Content() == b.Content() && a.Kind() == b.Kind() && a.Source() == b.Source()
	}
	at := 0
	for at < len(before) && at < len(after) && same(before[at], after[at]) {
		at++
	}
	if at == len(before) {
		return
	}
	lost := windowTokens(before[at:])
	text := fmt.Sprintf("PrefixKept failed: the windows part at index %d of %d, and %d of %d tokens come after it.", at, len(before), lost, windowTokens(before))
	text += "\n\tbefore: " + c.describeWindowItem(before[at])
	if at < len(after) {
		text += "\n\tafter: " + c.describeWindowItem(after[at])
		next := at + 1
		if more := slices.IndexFunc(after[next:], func(item *cupel.ContextItem) bool { return same(before[at], item) }); more >= 0 {
			text += fmt.Sprintf("\n\tthe item of before is now at index %d", next+more)
		}
	} else {
		text += fmt.Sprintf("\n\tafter: nothing; it has %d items", len(after))
	}
	t.Errorf("%s", text)
}

func (c *SelectionReportAssertionChain) describeWindowItem(item *cupel.ContextItem) string {
	return fmt.Sprintf("%s (%s, %s, %d tokens)", c.name(item.Content()), oneLine(string(item.Kind())), oneLine(string(item.Source())), item.Tokens())
}

func windowTokens(items []*cupel.ContextItem) int {
	report := new(cupel.SelectionReport)
	for _, item := range items {
		report.Included = append(report.Included, cupel.IncludedItem{Item: item})
	}
	return includedTokens(report)
}

package cupeltest_test

import (
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltest"
)

// four is a report with four exclusions for three reasons.
func four() report {
	return report{Excluded: []cupel.ExcludedItem{
		out(cupel.KindToolOutput, 500, 0.9, exceeded(500, 120)),
		out(cupel.KindMessage, 80, 0.75, cupel.NewExclusionReason(cupel.ExcludeDeduplicated, cupel.ReasonData{DeduplicatedAgainst: "Message 80"})),
		out(cupel.KindToolOutput, 300, 0.5, exceeded(300, 120)),
		out("Sketch", 10, 0.5, cupel.ExclusionReason{Code: "Mislaid"}),
	}}
}

func TestExcludeItemWithReason(t *testing.T) {
	with := func(code cupel.ExclusionCode) func(c *chain) *chain {
		return func(c *chain) *chain { return c.ExcludeItemWithReason(code) }
	}
	check(t, []assertion{
		{"custom", "a code of a custom strategy is a code", four(), with("Mislaid"), ""},
		{"other case", "codes are compared as they are", four(), with("mislaid"),
			"ExcludeItemWithReason(mislaid) failed: no excluded item had reason mislaid. Excluded had 4 items with reasons: [BudgetExceeded, Deduplicated, Mislaid]."},
	})
}

func TestExcludeItemMatchingWithReason(t *testing.T) {
	with := func(predicate func(*cupel.ContextItem) bool, code cupel.ExclusionCode) func(c *chain) *chain {
		return func(c *chain) *chain { return c.ExcludeItemMatchingWithReason(predicate, code) }
	}
	all := func(*cupel.ContextItem) bool { return true }
	check(t, []assertion{
		{"second of several", "any item that matches may have the reason", four(), with(all, "Mislaid"), ""},
		{"no predicate", "a mistake in the test is not an item that does not match", four(), with(nil, cupel.ExcludeBudgetExceeded),
			"ExcludeItemMatchingWithReason failed: the predicate is nil."},
	})
}

func TestExcludeItemWithBudgetDetails(t *testing.T) {
	with := func(predicate func(*cupel.ContextItem) bool, item, available int) func(c *chain) *chain {
		return func(c *chain) *chain { return c.ExcludeItemWithBudgetDetails(predicate, item, available) }
	}
	tools := cupeltest.ByKind(cupel.KindToolOutput)
	negative := report{Excluded: []cupel.ExcludedItem{out("A", 7, 1, exceeded(7, -3))}}
	check(t, []assertion{
		{"second", "all items that match are looked at (R43)", four(), with(tools, 300, 120), ""},
		{"negative", "what is left may be negative (R29)", negative, with(cupeltest.ByKind("a"), 7, -3), ""},
		{"numbers of two items", "both numbers are those of one entry",
			report{Excluded: []cupel.ExcludedItem{out("A", 1, 1, exceeded(1, 2)), out("A", 3, 1, exceeded(3, 4))}}, with(cupeltest.ByKind("A"), 1, 4),
			"ExcludeItemWithBudgetDetails failed: expected BudgetExceeded with item_tokens=1, available_tokens=4, but found item_tokens=1, available_tokens=2."},
		{"other reason with these numbers", "zeros are the data of BudgetExceeded only in that reason", four(), with(cupeltest.ByKind("Sketch"), 0, 0),
			"ExcludeItemWithBudgetDetails failed: expected BudgetExceeded with item_tokens=0, available_tokens=0, but no matching item had reason BudgetExceeded. Predicate matched 1 excluded item(s) with reasons: [Mislaid]."},
		{"no predicate", "a mistake in the test", four(), with(nil, 500, 120),
			"ExcludeItemWithBudgetDetails failed: the predicate is nil."},
	})
}

func TestHaveNoExclusionsForKind(t *testing.T) {
	without := func(kind cupel.ContextKind) func(c *chain) *chain {
		return func(c *chain) *chain { return c.HaveNoExclusionsForKind(kind) }
	}
	check(t, []assertion{
		{"absent", "none of the excluded items has the kind", four(), without(cupel.KindMemory), ""},
		{"other case", "kinds compare without ASCII case", four(), without("sKETCH"),
			"HaveNoExclusionsForKind(sKETCH) failed: found 1 excluded item(s) with Kind=sKETCH. First: score=0.5, reason=Mislaid."},
	})
}

// hashOfX61 is what `printf 'x%.0s' $(seq 61) | sha256sum | cut -c1-12` prints.
const hashOfX61 = "c508e75f24e2"

package cupeltest_test

import (
	"math"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

// two is a report with two kinds, one of them in a spelling of its own.
func two() report {
	return report{Included: []cupel.IncludedItem{
		in(cupel.KindMessage, 10, 0.5), in("Sketch", 20, 0.25), in(cupel.KindMessage, 30, 0.125), in("SKETCH", 40, 1),
	}}
}

func TestIncludeItemWithKind(t *testing.T) {
	check(t, []assertion{
		{"other case", "kinds compare without ASCII case", two(),
			func(c *chain) *chain { return c.IncludeItemWithKind("sketch") }, ""},
	})
}

func TestIncludeItemMatching(t *testing.T) {
	never := func(cupel.IncludedItem) bool { return false }
	many := report{Included: []cupel.IncludedItem{
		in("A", 1, 0.1), in("B", 2, math.NaN()), in("C", 3, math.Inf(1)), in("D", 4, 1e21), in("E", 5, -0.5), in("F", 6, 0),
	}}
	many.Included[4].Reason = cupel.IncludePinned
	check(t, []assertion{
		{"none of six", "at most five are shown, scores in shortest form", many,
			func(c *chain) *chain { return c.IncludeItemMatching(never) },
			"IncludeItemMatching failed: no item in Included matched the predicate. Included had 6 items." +
				" The first 5: [(kind=A, score=0.1, reason=Scored), (kind=B, score=NaN, reason=Scored), (kind=C, score=+Inf, reason=Scored), (kind=D, score=1e+21, reason=Scored), (kind=E, score=-0.5, reason=Pinned)]."},
		{"nothing included", "there is nothing to show", report{},
			func(c *chain) *chain { return c.IncludeItemMatching(never) },
			"IncludeItemMatching failed: no item in Included matched the predicate. Included had 0 items."},
		{"no predicate", "a mistake in the test is not a missing item", two(),
			func(c *chain) *chain { return c.IncludeItemMatching(nil) },
			"IncludeItemMatching failed: the predicate is nil."},
	})
}

func TestIncludeExactlyNItemsWithKind(t *testing.T) {
	exactly := func(kind cupel.ContextKind, n int) func(c *chain) *chain {
		return func(c *chain) *chain { return c.IncludeExactlyNItemsWithKind(kind, n) }
	}
	check(t, []assertion{
		{"both spellings", "kinds compare without ASCII case", two(), exactly("sketch", 2), ""},
		{"0 of an absent kind", "n = 0 asks that there is none", two(), exactly(cupel.KindMemory, 0), ""},
		{"a group", "its items count as one", report{Included: []cupel.IncludedItem{grouped("call", 1), grouped("result", 1), in("B", 1, 1)}}, exactly("A", 2),
			"IncludeExactlyNItemsWithKind(A, 2) failed: expected 2 items with Kind=A in Included, but found 1. Included had 2 items total. Each group counts as one item; without groups there are 3."},
	})
}

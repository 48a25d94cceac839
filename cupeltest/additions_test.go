package cupeltest_test

import (
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltest"
)

// Each addition holds up to some arguments and fails from others on. ASSERTIONS.md has
// their texts.
func TestAdditions(t *testing.T) {
	three := report{
		Included:                   []cupel.IncludedItem{in("A", 1, 1), in("B", 1, 1), in("C", 1, 1)},
		CountRequirementShortfalls: []cupel.CountRequirementShortfall{{Kind: "Memory", RequiredCount: 3}},
	}
	lost := report{Excluded: []cupel.ExcludedItem{out("A", 1, 0, because(cupel.ExcludeFiltered))}}
	const none = " failed: the predicate is nil."
	check(t, []assertion{
		{"no such item", "none has the kind", three, func(c *chain) *chain { return c.IncludeNoItemMatching(cupeltest.ByKind("D").Included) }, ""},
		{"no predicate", "a mistake in the test", three, func(c *chain) *chain { return c.IncludeNoItemMatching(nil) }, "IncludeNoItemMatching" + none},
		{"no such exclusion", "none has the kind", lost, func(c *chain) *chain { return c.ExcludeNoItemMatching(cupeltest.ByKind("B")) }, ""},
		{"no predicate of exclusions", "a mistake in the test", lost, func(c *chain) *chain { return c.ExcludeNoItemMatching(nil) }, "ExcludeNoItemMatching" + none},
		{"tokens", "at most is not less than", three, func(c *chain) *chain { return c.HaveTokensAtMost(3) }, ""},
		{"no order", "nothing is asked for", three, func(c *chain) *chain { return c.IncludeInOrder() }, ""},
		{"order", "others may be between", three, func(c *chain) *chain { return c.IncludeInOrder("A 1", "C 1") }, ""},
		{"once", "one item is not two", three, func(c *chain) *chain { return c.IncludeInOrder("A 1", "A 1") },
			`IncludeInOrder failed: expected ["A 1", "A 1"] in this order, but found ["A 1", "B 1", "C 1"], where "A 1" does not come next.`},
		{"shortfall", "kinds compare without ASCII case", three, func(c *chain) *chain { return c.HaveShortfallForKind("memory") }, ""},
		{"no such shortfall", "the kinds that are short are listed", three, func(c *chain) *chain { return c.HaveShortfallForKind("A") },
			"HaveShortfallForKind failed: expected a shortfall of Kind=A, but found 1 shortfalls of kinds: [Memory]."},
		{"no exclusions", "all are included", three, (*chain).HaveNoExclusions, ""},
	})
}

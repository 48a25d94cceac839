package cupeltest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltest"
)

// Each addition holds for some arguments and fails for others, and names itself.
// ASSERTIONS.md has the texts.
func TestAdditions(t *testing.T) {
	three := &report{
		Included:                   []cupel.IncludedItem{in("A", 1, 1), in("B", 1, 1), in("C", 1, 1)},
		CountRequirementShortfalls: []cupel.CountRequirementShortfall{{Kind: "Memory", RequiredCount: 3}},
	}
	lost := &report{Excluded: []cupel.ExcludedItem{out("A", 1, 0, because(cupel.ExcludeFiltered))}}
	a, b := cupeltest.ByKind("A"), cupeltest.ByKind("B")
	for name, row := range map[string]struct {
		over         *report
		holds, fails []func(c *chain) *chain
	}{
		"IncludeNoItemMatching": {three, links(func(c *chain) *chain { return c.IncludeNoItemMatching(cupeltest.ByKind("D").Included) }),
			links(func(c *chain) *chain { return c.IncludeNoItemMatching(b.Included) }, func(c *chain) *chain { return c.IncludeNoItemMatching(nil) })},
		"ExcludeNoItemMatching": {lost, links(func(c *chain) *chain { return c.ExcludeNoItemMatching(b) }),
			links(func(c *chain) *chain { return c.ExcludeNoItemMatching(a) }, func(c *chain) *chain { return c.ExcludeNoItemMatching(nil) })},
		"HaveTokensAtMost": {three, links(func(c *chain) *chain { return c.HaveTokensAtMost(3) }), links(func(c *chain) *chain { return c.HaveTokensAtMost(2) })},
		"IncludeInOrder": {three, links(func(c *chain) *chain { return c.IncludeInOrder() }, func(c *chain) *chain { return c.IncludeInOrder("A 1", "C 1") }), links(
			func(c *chain) *chain { return c.IncludeInOrder("B 1", "A 1") },
			func(c *chain) *chain { return c.IncludeInOrder("A 1", "A 1") },
			func(c *chain) *chain { return c.IncludeInOrder("x") })},
		"HaveShortfallForKind": {three, links(func(c *chain) *chain { return c.HaveShortfallForKind("memory") }), links(func(c *chain) *chain { return c.HaveShortfallForKind("A") })},
		"HaveNoExclusions":     {lost, nil, links((*chain).HaveNoExclusions)},
	} {
		for _, link := range row.holds {
			require.NoError(t, errOf(row.over, link), name)
		}
		for _, link := range row.fails {
			var failure *cupeltest.SelectionReportAssertionError
			require.ErrorAs(t, errOf(row.over, link), &failure)
			require.Equal(t, name, failure.Assertion)
			require.Contains(t, failure.Message, name+" failed: ")
		}
	}
	require.NoError(t, errOf(three, (*chain).HaveNoExclusions))
	require.ErrorContains(t, errOf(three, func(c *chain) *chain { return c.HaveShortfallForKind("A") }), "Memory")
}

func links(links ...func(c *chain) *chain) []func(c *chain) *chain { return links }

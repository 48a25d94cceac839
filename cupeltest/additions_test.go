package cupeltest_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltest"
)

// Each addition holds for some arguments and fails for others, and names itself, what
// was expected and what was found. ASSERTIONS.md has the texts.
func TestAdditions(t *testing.T) {
	units, split := unitsReport(t), splitReport()
	scattered := &report{Included: []cupel.IncludedItem{grouped("a", 1), in("B", 1, 1), grouped("b", 1)}}
	short := &report{CountRequirementShortfalls: []cupel.CountRequirementShortfall{{Kind: "Memory", RequiredCount: 3}}}
	document, old, secret := cupeltest.ByContent("its outline").Included, cupeltest.ByTag("old").Included, cupeltest.ByTag("secret")
	file := cupeltest.ByVersionOf("file")
	nan := func(threshold float64) cupel.ExclusionReason {
		return cupel.NewExclusionReason(cupel.ExcludeScoredTooLow, cupel.ReasonData{Score: math.NaN(), Threshold: threshold})
	}
	low := &report{Excluded: []cupel.ExcludedItem{out("A", 1, 0, nan(0.5))}}
	odd := errors.New("odd\nlines")
	for name, row := range map[string]struct {
		over         *report
		holds, fails []func(c *chain) *chain
	}{
		"IncludeNoItemMatching": {units, links(func(c *chain) *chain { return c.IncludeNoItemMatching(secret.Included) }),
			links(func(c *chain) *chain { return c.IncludeNoItemMatching(old) }, func(c *chain) *chain { return c.IncludeNoItemMatching(nil) })},
		"ExcludeNoItemMatching": {units, links(func(c *chain) *chain { return c.ExcludeNoItemMatching(secret) }),
			links(func(c *chain) *chain { return c.ExcludeNoItemMatching(file) }, func(c *chain) *chain { return c.ExcludeNoItemMatching(nil) })},
		"HaveNoExclusions": {scattered, links((*chain).HaveNoExclusions), nil},
		"HaveTokensAtMost": {scattered, links(func(c *chain) *chain { return c.HaveTokensAtMost(3) }), links(func(c *chain) *chain { return c.HaveTokensAtMost(2) })},
		"IncludeInOrder": {scattered, links(func(c *chain) *chain { return c.IncludeInOrder() }, func(c *chain) *chain { return c.IncludeInOrder("a", "b") }),
			links(func(c *chain) *chain { return c.IncludeInOrder("b", "a") }, func(c *chain) *chain { return c.IncludeInOrder("a", "a") }, func(c *chain) *chain { return c.IncludeInOrder("x") })},
		"ExcludeItemWithReasonData": {low, links(func(c *chain) *chain { return c.ExcludeItemWithReasonData(nan(0.5)) }),
			links(func(c *chain) *chain { return c.ExcludeItemWithReasonData(nan(0.4)) }, func(c *chain) *chain { return c.ExcludeItemWithReasonData(exceeded(1, 2)) })},
		"HaveShortfallForKind": {short, links(func(c *chain) *chain { return c.HaveShortfallForKind("memory") }), links(func(c *chain) *chain { return c.HaveShortfallForKind("A") })},
		"Satisfy": {units, links(func(c *chain) *chain { return c.Satisfy("all", func(*report) error { return nil }) }),
			links(func(c *chain) *chain { return c.Satisfy("none", func(*report) error { return odd }) }, func(c *chain) *chain { return c.Satisfy("none", nil) })},
		"IncludeGroup": {units, links(func(c *chain) *chain { return c.IncludeGroup("call_1") }),
			links(func(c *chain) *chain { return c.IncludeGroup("call_2") }, func(c *chain) *chain { return c.IncludeGroup("CALL_1") }, func(c *chain) *chain { return c.IncludeGroup("") })},
		"ExcludeGroup": {units, links(func(c *chain) *chain { return c.ExcludeGroup("call_2") }),
			links(func(c *chain) *chain { return c.ExcludeGroup("call_1") }, func(c *chain) *chain { return c.ExcludeGroup("call_3") })},
		"KeepGroupsWhole":    {scattered, links((*chain).KeepGroupsWhole), nil},
		"KeepGroupsTogether": {units, links((*chain).KeepGroupsTogether), nil},
		"IncludeItemInForm": {units, links(func(c *chain) *chain { return c.IncludeItemInForm(document, 2) }, func(c *chain) *chain { return c.IncludeItemInForm(old, 0) }),
			links(func(c *chain) *chain { return c.IncludeItemInForm(document, 1) }, func(c *chain) *chain { return c.IncludeItemInForm(nil, 1) })},
		"IncludeItemInSmallerForm": {units, links(func(c *chain) *chain { return c.IncludeItemInSmallerForm(document) }),
			links(func(c *chain) *chain { return c.IncludeItemInSmallerForm(old) }, func(c *chain) *chain { return c.IncludeItemInSmallerForm(secret.Included) })},
		"IncludeStaleItem":        {units, links(func(c *chain) *chain { return c.IncludeStaleItem(old) }), links(func(c *chain) *chain { return c.IncludeStaleItem(document) })},
		"HaveNoStaleItems":        {scattered, links((*chain).HaveNoStaleItems), nil},
		"ExcludeItemSupersededBy": {units, links(func(c *chain) *chain { return c.ExcludeItemSupersededBy(file, "file, version 2") }), links(func(c *chain) *chain { return c.ExcludeItemSupersededBy(file, "file") })},
	} {
		for _, link := range row.holds {
			require.NoError(t, errOf(row.over, link), name)
		}
		for _, link := range row.fails {
			failure, ok := errors.AsType[*cupeltest.SelectionReportAssertionError](errOf(row.over, link))
			require.True(t, ok, name)
			require.Equal(t, name, failure.Assertion)
			require.NotContains(t, failure.Expected+failure.Actual, "\n")
		}
	}
	for over, link := range map[*report]func(c *chain) *chain{split: (*chain).HaveNoExclusions, units: (*chain).HaveNoStaleItems, scattered: (*chain).KeepGroupsTogether} {
		require.Error(t, errOf(over, link))
	}
	require.Error(t, errOf(split, (*chain).KeepGroupsWhole))
	require.Error(t, errOf(split, (*chain).KeepGroupsTogether))
	require.ErrorIs(t, errOf(units, func(c *chain) *chain { return c.Satisfy("none", func(*report) error { return odd }) }), odd)
}

func links(links ...func(c *chain) *chain) []func(c *chain) *chain { return links }

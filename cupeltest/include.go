package cupeltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

// IncludeItemWithKind holds if at least one included item has the kind, under
// ASCII case folding.
//
// It implements pattern 1 of the Testing Vocabulary chapter.
func (c *SelectionReportAssertionChain) IncludeItemWithKind(kind cupel.ContextKind) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("IncludeItemWithKind", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		if slices.ContainsFunc(r.Included, ByKind(kind).Included) {
			return nil
		}
		kinds, _ := includedKinds(r.Included)
		return failure(c.nearIncluded(r, ByKind(kind).Included),
			"IncludeItemWithKind(%s) failed: Included contained 0 items with Kind=%s. Included had %d items with kinds: [%s].",
			kind, kind, len(r.Included), kinds)
	})
}

// IncludeItemMatching holds if the predicate is true for at least one included
// entry (item, score and reason). The message shows up to 5 of the included
// entries.
//
// It implements pattern 2 of the Testing Vocabulary chapter.
func (c *SelectionReportAssertionChain) IncludeItemMatching(predicate func(cupel.IncludedItem) bool) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.linkOf("IncludeItemMatching", predicate == nil, func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		if slices.ContainsFunc(r.Included, predicate) {
			return nil
		}
		var shown []string
		for _, entry := range r.Included[:min(mostShown, len(r.Included))] {
			shown = append(shown, fmt.Sprintf("(kind=%s, score=%s, reason=%s)", entry.Item.Kind(), score(entry.Score), entry.Reason))
		}
		message := fmt.Sprintf("IncludeItemMatching failed: no item in Included matched the predicate. Included had %d items.", len(r.Included))
		switch {
		case len(shown) < len(r.Included):
			message += fmt.Sprintf(" The first %d: [%s].", len(shown), strings.Join(shown, ", "))
		case len(shown) > 0:
			message += fmt.Sprintf(" They are: [%s].", strings.Join(shown, ", "))
		}
		return failure(c.nearIncluded(r, predicate), "%s", message)
	})
}

// IncludeExactlyNItemsWithKind holds if exactly n included items have the kind,
// under ASCII case folding. With n = 0 it holds if no item of the kind is
// included. It never holds for a negative n.
//
// As for count slicers, a group counts as one item. Its kind is the kind with
// the most full tokens, on a tie the first. A group variant has the
// kind of the first item.
//
// It implements pattern 3 of the Testing Vocabulary chapter.
func (c *SelectionReportAssertionChain) IncludeExactlyNItemsWithKind(kind cupel.ContextKind, n int) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("IncludeExactlyNItemsWithKind", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		actual := 0
		units := analysis.IncludedUnits(r)
		for _, unit := range units {
			if unit.Kind().Equal(kind) {
				actual++
			}
		}
		if actual == n {
			return nil
		}
		nearest := c.included(r, ByKind(kind).Included)
		if matching := excludedMatching(r, ByKind(kind)); actual < n && len(matching) > 0 {
			nearest = c.lost(matching)
		}
		return failure(nearest, "IncludeExactlyNItemsWithKind(%s, %d) failed: expected %d items with Kind=%s in Included, but found %d. Included had %d items total.%s",
			kind, n, n, kind, actual, len(units), unitsNote(r, units))
	})
}

// unitsNote ends a message that counts units, not items.
func unitsNote(r *cupel.SelectionReport, units []analysis.IncludedUnit) string {
	if len(units) == len(r.Included) {
		return ""
	}
	return fmt.Sprintf(" Each group counts as one item; without groups there are %d.", len(r.Included))
}

package cupeltest

import (
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// The assertions of this file are additions to the vocabulary of the specification.

// IncludeNoItemMatching holds if the predicate is true for no included entry,
// such as one with a secret. The predicate sees each item in the form that is in
// the window.
func (c *SelectionReportAssertionChain) IncludeNoItemMatching(predicate func(cupel.IncludedItem) bool) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.linkOf("IncludeNoItemMatching", predicate == nil, func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		nearest := c.included(r, predicate)
		if len(nearest) == 0 {
			return nil
		}
		return failure(nearest, "IncludeNoItemMatching failed: expected no included item that matches the predicate, but found some among %d.", len(r.Included))
	})
}

// ExcludeNoItemMatching holds if the predicate is true for no excluded item,
// such as an urgent one. It also holds if no candidate matches.
func (c *SelectionReportAssertionChain) ExcludeNoItemMatching(predicate func(*cupel.ContextItem) bool) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.linkOf("ExcludeNoItemMatching", predicate == nil, func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		matching := excludedMatching(r, predicate)
		if len(matching) == 0 {
			return nil
		}
		return failure(c.lost(matching), "ExcludeNoItemMatching failed: expected no excluded item that matches the predicate, but found %d of %d.", len(matching), len(r.Excluded))
	})
}

// HaveNoExclusions holds if every candidate is included.
func (c *SelectionReportAssertionChain) HaveNoExclusions() *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("HaveNoExclusions", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		if len(r.Excluded) == 0 {
			return nil
		}
		return failure(c.lost(r.Excluded), "HaveNoExclusions failed: expected no excluded items, but found %d.", len(r.Excluded))
	})
}

// HaveTokensAtMost holds if the included items have at most n tokens together.
func (c *SelectionReportAssertionChain) HaveTokensAtMost(n int) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("HaveTokensAtMost", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		tokens := includedTokens(r)
		if tokens <= n {
			return nil
		}
		return failure(c.included(r, func(cupel.IncludedItem) bool { return true }),
			"HaveTokensAtMost failed: expected at most %d included tokens, but found %d in %d items.", n, tokens, len(r.Included))
	})
}

// IncludeInOrder holds if items with these contents are included in this order;
// other items may come between them. A content given twice requires two items.
// Without contents it always holds.
func (c *SelectionReportAssertionChain) IncludeInOrder(contents ...string) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("IncludeInOrder", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		var all []string
		for _, entry := range r.Included {
			all = append(all, entry.Item.Content())
		}
		rest := all
		for _, content := range contents {
			at := slices.Index(rest, content)
			if at >= 0 {
				rest = rest[at+1:]
				continue
			}
			nearest := c.included(r, ByContent(content).Included)
			if len(nearest) == 0 {
				nearest = c.nearIncluded(r, ByContent(content).Included)
			}
			return failure(nearest, "IncludeInOrder failed: expected [%s] in this order, but found [%s], where %s does not come next.",
				c.quoteAll(contents), c.quoteAll(all), c.quote(content))
		}
		return nil
	})
}

// HaveShortfallForKind holds if a count slicer found fewer candidates of the
// kind, under ASCII case folding, than it requires.
func (c *SelectionReportAssertionChain) HaveShortfallForKind(kind cupel.ContextKind) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("HaveShortfallForKind", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		var kinds []string
		for _, shortfall := range r.CountRequirementShortfalls {
			if shortfall.Kind.Equal(kind) {
				return nil
			}
			kinds = append(kinds, string(shortfall.Kind))
		}
		return failure(c.nearExcluded(r, ByKind(kind)), "HaveShortfallForKind failed: expected a shortfall of Kind=%s, but found %d shortfalls of kinds: [%s].", kind, len(kinds), joined(kinds))
	})
}

package cupeltest

import (
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

// The assertions of this file are additions to the vocabulary of the specification.

// unexpected is the failure of an addition.
func unexpected(nearest []string, expected, actual string, args ...any) *SelectionReportAssertionError {
	return &SelectionReportAssertionError{Nearest: nearest, Expected: expected, Actual: fmt.Sprintf(actual, args...)}
}

// IncludeNoItemMatching holds if the predicate is true for no included entry: no
// secret, ever. It sees each item in the form that is in the window.
func (c *SelectionReportAssertionChain) IncludeNoItemMatching(predicate func(cupel.IncludedItem) bool) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.linkOf("IncludeNoItemMatching", predicate == nil, func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		nearest := c.included(r, predicate)
		if len(nearest) == 0 {
			return nil
		}
		return unexpected(nearest, "no included item that matches the predicate", "some among %d", len(r.Included))
	})
}

// ExcludeNoItemMatching holds if the predicate is true for no excluded item:
// nothing urgent is ever lost. It also holds if no candidate matches.
func (c *SelectionReportAssertionChain) ExcludeNoItemMatching(predicate func(*cupel.ContextItem) bool) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.linkOf("ExcludeNoItemMatching", predicate == nil, func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		matching := excludedMatching(r, predicate)
		if len(matching) == 0 {
			return nil
		}
		return unexpected(c.lost(matching), "no excluded item that matches the predicate", "%d of %d", len(matching), len(r.Excluded))
	})
}

// HaveNoExclusions holds if every candidate is included.
func (c *SelectionReportAssertionChain) HaveNoExclusions() *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("HaveNoExclusions", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		if len(r.Excluded) == 0 {
			return nil
		}
		return unexpected(c.lost(r.Excluded), "no excluded items", "%d", len(r.Excluded))
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
		return unexpected(c.largest(r), fmt.Sprintf("at most %d included tokens", n), "%d in %d items", tokens, len(r.Included))
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
			return unexpected(nearest, fmt.Sprintf("[%s] in this order", c.quoteAll(contents)), "[%s], where %s does not come next", c.quoteAll(all), c.quote(content))
		}
		return nil
	})
}

// ExcludeItemWithReasonData holds if at least one excluded item has this reason
// with exactly these data. Kinds are compared under ASCII case folding, and NaN
// equals NaN. Survivor is compared only if it is set.
func (c *SelectionReportAssertionChain) ExcludeItemWithReasonData(reason cupel.ExclusionReason) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("ExcludeItemWithReasonData", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		if slices.ContainsFunc(r.Excluded, func(entry cupel.ExcludedItem) bool { return sameReason(reason, entry.Reason) }) {
			return nil
		}
		return unexpected(c.anyExcluded(r), fmt.Sprintf("an excluded item with [%s]", describeReason(reason, c.quote)),
			"%d excluded items with other data and reasons: [%s]", len(r.Excluded), reasonNames(r.Excluded))
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
		nearest := append(c.included(r, ByKind(kind).Included), c.excluded(excludedMatching(r, ByKind(kind)))...)
		return unexpected(nearest, fmt.Sprintf("a shortfall of Kind=%s", kind), "%d shortfalls of kinds: [%s]", len(kinds), joined(kinds))
	})
}

// Satisfy holds if check returns nil. Use it for checks of your own; what names
// the check in the failure, such as "half is code". check must not change the
// report.
func (c *SelectionReportAssertionChain) Satisfy(what string, check func(report *cupel.SelectionReport) error) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("Satisfy", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		if check == nil {
			return unexpected(nil, what, "a nil check")
		}
		err := check(r)
		if err == nil {
			return nil
		}
		failure := unexpected(nil, what, "%s", oneLine(err.Error()))
		failure.cause = err
		return failure
	})
}

// IncludeGroup holds if the whole group is in the window: at least one item of
// it is included, and none is excluded. Groups compare byte for byte.
func (c *SelectionReportAssertionChain) IncludeGroup(group string) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("IncludeGroup", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		in, out := c.included(r, ByGroup(group).Included), excludedMatching(r, ByGroup(group))
		if len(in) > 0 && len(out) == 0 {
			return nil
		}
		return unexpected(c.nearIncluded(r, ByGroup(group).Included), fmt.Sprintf("all items of group %s included", quote(group)), "%d excluded", len(out))
	})
}

// ExcludeGroup holds if the whole group is out: at least one item of it is
// excluded, and none is included. Groups compare byte for byte.
func (c *SelectionReportAssertionChain) ExcludeGroup(group string) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("ExcludeGroup", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		in, out := c.included(r, ByGroup(group).Included), excludedMatching(r, ByGroup(group))
		switch {
		case len(in) == 0 && len(out) > 0:
			return nil
		case len(in) == 0:
			in = c.nothing(r)
		}
		return unexpected(in, fmt.Sprintf("all items of group %s excluded", quote(group)), "%d", len(out))
	})
}

// KeepGroupsWhole holds if no group is split: its items are all included or all
// excluded, wherever they are in the window. It also holds without groups.
func (c *SelectionReportAssertionChain) KeepGroupsWhole() *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("KeepGroupsWhole", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		for _, entry := range r.Excluded {
			group := entry.Item.Group()
			if in := c.included(r, ByGroup(group).Included); len(in) > 0 {
				return unexpected(append(c.excluded(excludedMatching(r, ByGroup(group))), in...), "no group split", "group %s in part", quote(group))
			}
		}
		return nil
	})
}

// KeepGroupsTogether holds if no group is split, as for
// [SelectionReportAssertionChain.KeepGroupsWhole], and the items of each follow one
// another. Every report of a pipeline passes; the assertion is for other
// implementations and for reports built in tests.
func (c *SelectionReportAssertionChain) KeepGroupsTogether() *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("KeepGroupsTogether", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		last := make(map[string]int) // position of the last included item of a group
		for i, entry := range r.Included {
			group := entry.Item.Group()
			if at, ok := last[group]; ok && at != i-1 && group != "" {
				return unexpected(c.atPlaces(r, []int{at, i}), "no group split", "others between items of group %s", quote(group))
			}
			last[group] = i
		}
		for _, entry := range r.Excluded {
			if _, ok := last[entry.Item.Group()]; ok && entry.Item.Group() != "" {
				return unexpected(c.excluded([]cupel.ExcludedItem{entry}), "no group split", "group %s in part", quote(entry.Item.Group()))
			}
		}
		return nil
	})
}

// IncludeItemInForm holds if the predicate is true for at least one included
// entry in this form: 0 is the full item, n the n-th of its variants, largest
// first, as [cupel.IncludedItem.Form] counts. The predicate sees the item as
// the window has it, with the content and the tokens of its form.
func (c *SelectionReportAssertionChain) IncludeItemInForm(predicate func(cupel.IncludedItem) bool, form int) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.linkOf("IncludeItemInForm", predicate == nil, func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		return c.includedAs(r, fmt.Sprintf("in form %d", form), predicate, func(e cupel.IncludedItem) bool { return e.Form == form })
	})
}

// IncludeItemInSmallerForm holds if the predicate is true for at least one
// included entry that is not the full item.
func (c *SelectionReportAssertionChain) IncludeItemInSmallerForm(predicate func(cupel.IncludedItem) bool) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.linkOf("IncludeItemInSmallerForm", predicate == nil, func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		return c.includedAs(r, "in a smaller form", predicate, func(e cupel.IncludedItem) bool { return e.Form > 0 })
	})
}

// IncludeStaleItem holds if the predicate is true for at least one included
// entry whose newer version was among the candidates.
func (c *SelectionReportAssertionChain) IncludeStaleItem(predicate func(cupel.IncludedItem) bool) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.linkOf("IncludeStaleItem", predicate == nil, func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		return c.includedAs(r, "and is stale", predicate, func(e cupel.IncludedItem) bool { return e.Stale })
	})
}

// includedAs fails if no included entry that matches the predicate is as wanted.
func (c *SelectionReportAssertionChain) includedAs(r *cupel.SelectionReport, want string, predicate, holds func(cupel.IncludedItem) bool) *SelectionReportAssertionError {
	matched := 0
	for _, entry := range r.Included {
		if !predicate(entry) {
			continue
		}
		if holds(entry) {
			return nil
		}
		matched++
	}
	nearest := c.included(r, predicate)
	if matched == 0 {
		nearest = c.nearIncluded(r, predicate)
	}
	return unexpected(nearest, "an included item that matches the predicate "+want, "%d that match and are not so", matched)
}

// HaveNoStaleItems holds if the window has the newest version of everything: no
// included item had a newer version among the candidates.
func (c *SelectionReportAssertionChain) HaveNoStaleItems() *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("HaveNoStaleItems", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		stale := c.included(r, func(e cupel.IncludedItem) bool { return e.Stale })
		if len(stale) == 0 {
			return nil
		}
		return unexpected(stale, "no stale included item", "some among %d", len(r.Included))
	})
}

// ExcludeItemSupersededBy holds if the predicate is true for an excluded item
// with reason [cupel.ExcludeSuperseded], and the newest version has exactly
// this content.
func (c *SelectionReportAssertionChain) ExcludeItemSupersededBy(predicate func(*cupel.ContextItem) bool, newest string) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.linkOf("ExcludeItemSupersededBy", predicate == nil, func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		matching := excludedMatching(r, predicate)
		for _, entry := range matching {
			if entry.Reason.Code == cupel.ExcludeSuperseded && entry.Reason.Data().SupersededBy == newest {
				return nil
			}
		}
		return unexpected(c.nearExcluded(r, predicate), fmt.Sprintf("a matching item superseded by %s", c.quote(newest)),
			"%d excluded items that match, with reasons: [%s]", len(matching), reasonNames(matching))
	})
}

// unitsNote ends a message whose numbers are not those of the items.
func unitsNote(r *cupel.SelectionReport, units []analysis.IncludedUnit) string {
	if len(units) == len(r.Included) {
		return ""
	}
	return fmt.Sprintf(" Each group counts as one item; without groups there are %d.", len(r.Included))
}

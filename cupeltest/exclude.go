package cupeltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
)

// ExcludeItemWithReason holds if at least one excluded item has a reason with
// this code, regardless of its data. The code may be reserved or belong to a
// custom strategy.
//
// It implements pattern 4 of the Testing Vocabulary chapter.
func (c *SelectionReportAssertionChain) ExcludeItemWithReason(reason cupel.ExclusionCode) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("ExcludeItemWithReason", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		if slices.ContainsFunc(r.Excluded, func(entry cupel.ExcludedItem) bool { return entry.Reason.Code == reason }) {
			return nil
		}
		return failure(c.anyExcluded(r), "ExcludeItemWithReason(%s) failed: no excluded item had reason %s. Excluded had %d items with reasons: [%s].",
			reason, reason, len(r.Excluded), reasonNames(r.Excluded))
	})
}

// excludedMatching returns the excluded entries whose items match the
// predicate.
func excludedMatching(r *cupel.SelectionReport, predicate ItemPredicate) []cupel.ExcludedItem {
	var matching []cupel.ExcludedItem
	for _, entry := range r.Excluded {
		if predicate(entry.Item) {
			matching = append(matching, entry)
		}
	}
	return matching
}

// ExcludeItemMatchingWithReason holds if the predicate is true for at least one
// excluded item whose reason has this code. The message distinguishes an item
// that is not excluded from one that is excluded for another reason.
//
// It implements pattern 5 of the Testing Vocabulary chapter.
func (c *SelectionReportAssertionChain) ExcludeItemMatchingWithReason(predicate func(*cupel.ContextItem) bool, reason cupel.ExclusionCode) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.linkOf("ExcludeItemMatchingWithReason", predicate == nil, func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		matching := excludedMatching(r, predicate)
		if slices.ContainsFunc(matching, func(entry cupel.ExcludedItem) bool { return entry.Reason.Code == reason }) {
			return nil
		}
		return failure(c.nearExcluded(r, predicate),
			"ExcludeItemMatchingWithReason(reason=%s) failed: predicate matched %d excluded item(s) but none had reason %s. Matched items had reasons: [%s].",
			reason, len(matching), reason, reasonNames(matching))
	})
}

// ExcludeItemWithBudgetDetails holds if the predicate is true for an excluded
// item with reason [cupel.ExcludeBudgetExceeded] and exactly these data:
// expectedItemTokens is the item's size and expectedAvailableTokens the budget
// that was left when it was excluded, both in tokens. All matching items are
// checked; the message describes the first with reason BudgetExceeded.
//
// It implements pattern 6 of the Testing Vocabulary chapter.
func (c *SelectionReportAssertionChain) ExcludeItemWithBudgetDetails(predicate func(*cupel.ContextItem) bool, expectedItemTokens, expectedAvailableTokens int) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.linkOf("ExcludeItemWithBudgetDetails", predicate == nil, func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		matching := excludedMatching(r, predicate)
		var first *cupel.ReasonData
		for _, entry := range matching {
			if entry.Reason.Code != cupel.ExcludeBudgetExceeded {
				continue
			}
			data := entry.Reason.Data()
			if data.ItemTokens == expectedItemTokens && data.AvailableTokens == expectedAvailableTokens {
				return nil
			}
			if first == nil {
				first = &data
			}
		}
		nearest, expected := c.nearExcluded(r, predicate), fmt.Sprintf("BudgetExceeded with item_tokens=%d, available_tokens=%d", expectedItemTokens, expectedAvailableTokens)
		if first != nil {
			return failure(nearest, "ExcludeItemWithBudgetDetails failed: expected %s, but found item_tokens=%d, available_tokens=%d.",
				expected, first.ItemTokens, first.AvailableTokens)
		}
		return failure(nearest,
			"ExcludeItemWithBudgetDetails failed: expected %s, but no matching item had reason BudgetExceeded. Predicate matched %d excluded item(s) with reasons: [%s].",
			expected, len(matching), reasonNames(matching))
	})
}

// HaveNoExclusionsForKind holds if no excluded item has the kind, under ASCII
// case folding. It also holds if the kind had no candidates.
//
// It implements pattern 7 of the Testing Vocabulary chapter.
func (c *SelectionReportAssertionChain) HaveNoExclusionsForKind(kind cupel.ContextKind) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("HaveNoExclusionsForKind", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		found := excludedMatching(r, ByKind(kind))
		if len(found) == 0 {
			return nil
		}
		return failure(c.lost(found), "HaveNoExclusionsForKind(%s) failed: found %d excluded item(s) with Kind=%s. First: score=%s, reason=%s.",
			kind, len(found), kind, score(found[0].Score), found[0].Reason.Code)
	})
}

// anyExcluded describes the excluded items.
func (c *SelectionReportAssertionChain) anyExcluded(r *cupel.SelectionReport) []string {
	if len(r.Excluded) == 0 {
		return []string{fmt.Sprintf("all %d candidates are included", len(r.Included))}
	}
	return c.excluded(r.Excluded)
}

// describeReason returns the reason with its data, contents too.
func describeReason(r cupel.ExclusionReason, quote func(string) string) string {
	parts := []string{r.String()}
	for f := range r.Fields() {
		if f.Content {
			parts = append(parts, strings.ReplaceAll(f.Name, "_", " ")+" "+quote(f.Value.(string)))
		}
	}
	return strings.Join(parts, ", ")
}

package cupeltest

import (
	"fmt"
	"maps"
	"reflect"
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
		reasons := reasonNames(r.Excluded)
		return &SelectionReportAssertionError{
			Expected: fmt.Sprintf("at least 1 excluded item with reason %s", reason),
			Actual:   fmt.Sprintf("%d excluded items with reasons: [%s]", len(r.Excluded), reasons),
			message: fmt.Sprintf("ExcludeItemWithReason(%s) failed: no excluded item had reason %s. Excluded had %d items with reasons: [%s].",
				reason, reason, len(r.Excluded), reasons),
			Nearest: c.anyExcluded(r),
		}
	})
}

// excludedMatching returns the excluded entries whose items match the
// predicate.
func excludedMatching(r *cupel.SelectionReport, predicate ItemPredicate) []cupel.ExcludedItem {
	var matching []cupel.ExcludedItem
	for _, entry := range r.Excluded {
		if predicate.Excluded(entry) {
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
		reasons := reasonNames(matching)
		return &SelectionReportAssertionError{
			Expected: fmt.Sprintf("an excluded item that matches the predicate, with reason %s", reason),
			Actual:   fmt.Sprintf("%d excluded items that match, with reasons: [%s]", len(matching), reasons),
			message: fmt.Sprintf("ExcludeItemMatchingWithReason(reason=%s) failed: predicate matched %d excluded item(s) but none had reason %s. Matched items had reasons: [%s].",
				reason, len(matching), reason, reasons),
			Nearest: c.nearExcluded(r, predicate),
		}
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
		failure := &SelectionReportAssertionError{
			Expected: fmt.Sprintf("BudgetExceeded with item_tokens=%d, available_tokens=%d", expectedItemTokens, expectedAvailableTokens),
			Nearest:  c.nearExcluded(r, predicate),
		}
		if first != nil {
			failure.Actual = fmt.Sprintf("item_tokens=%d, available_tokens=%d", first.ItemTokens, first.AvailableTokens)
			return failure
		}
		failure.Actual = fmt.Sprintf("%d excluded items that match, with reasons: [%s]", len(matching), reasonNames(matching))
		failure.message = fmt.Sprintf("ExcludeItemWithBudgetDetails failed: expected %s, but no matching item had reason BudgetExceeded. Predicate matched %d excluded item(s) with reasons: [%s].",
			failure.Expected, len(matching), reasonNames(matching))
		return failure
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
		first := fmt.Sprintf("score=%s, reason=%s", score(found[0].Score), found[0].Reason.Code)
		return &SelectionReportAssertionError{
			Expected: fmt.Sprintf("no excluded item with Kind=%s", kind),
			Actual:   fmt.Sprintf("%d excluded items, the first with %s", len(found), first),
			message: fmt.Sprintf("HaveNoExclusionsForKind(%s) failed: found %d excluded item(s) with Kind=%s. First: %s.",
				kind, len(found), kind, first),
			Nearest: c.lost(found),
		}
	})
}

// anyExcluded says what is excluded at all.
func (c *SelectionReportAssertionChain) anyExcluded(r *cupel.SelectionReport) []string {
	switch {
	case len(r.Included)+len(r.Excluded) == 0:
		return noCandidates
	case len(r.Excluded) == 0:
		return []string{fmt.Sprintf("all %d candidates are included", len(r.Included))}
	}
	return c.excluded(r.Excluded)
}

func sameReason(want, got cupel.ExclusionReason) bool {
	survivor := want.Data().Survivor
	return sameData(want, got) && (survivor == nil || survivor == got.Data().Survivor)
}

// sameData compares codes and data. Data that only one reason has are compared
// with zero.
func sameData(want, got cupel.ExclusionReason) bool {
	set := func(r cupel.ExclusionReason) map[string]any {
		values := make(map[string]any)
		for f := range r.Fields() {
			if !reflect.ValueOf(f.Value).IsZero() {
				values[f.Name] = f.Value
			}
		}
		return values
	}
	return want.Code == got.Code && maps.EqualFunc(set(want), set(got), sameValue)
}

func sameValue(want, got any) bool {
	switch want := want.(type) {
	case float64:
		return want == got.(float64) || want != want && got.(float64) != got.(float64)
	case cupel.ContextKind:
		return want.Equal(got.(cupel.ContextKind))
	}
	return want == got
}

// describeReason returns the reason with its data. It shows a content instead
// of the sentence, which only says that there is one.
func describeReason(r cupel.ExclusionReason, quote func(string) string) string {
	named := r.Code.Fields()
	text := r.String()
	for f := range r.Fields() {
		if !f.Content {
			continue
		}
		label := strings.TrimPrefix(f.Name, strings.ToLower(string(r.Code))+"_") + " " + quote(f.Value.(string))
		if !slices.Contains(named, f.Name) {
			text += ", " + label
			continue
		}
		_, others, found := strings.Cut(text, " (")
		text = string(r.Code) + ": " + strings.ReplaceAll(label, "displaced_by ", "displaced by ")
		if found {
			text += " (" + others
		}
	}
	return text
}

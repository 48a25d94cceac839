package cupel

import (
	"fmt"
	"reflect"
	"testing"
)

// TestKeptReportIsTheReport: what a collector keeps makes the same report
// again, for any sequence of reasons, and shares nothing with it.
func TestKeptReportIsTheReport(t *testing.T) {
	it := func(tokens int) *ContextItem {
		i, err := NewContextItem(fmt.Sprintf("%d tokens", tokens), tokens)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	a, b, c := it(5), it(7), it(-1)
	out := func(item *ContextItem, reason ExclusionReason) ExcludedItem {
		return ExcludedItem{Item: item, Score: 0.5, Reason: reason, at: originOf(len(item.content))}
	}
	capped := ReasonData{Kind: "tool", Cap: 2, Count: 2}
	tests := []struct {
		name   string
		report SelectionReport
		why    string
	}{
		{"failed early", SelectionReport{TotalCandidates: 3}, "a run that fails in Classify includes nothing"},
		{"empty", SelectionReport{Included: []IncludedItem{}, Excluded: []ExcludedItem{}}, "an empty window is not a missing one"},
		{"inclusions", SelectionReport{Included: []IncludedItem{{Item: a, Score: 1, Reason: IncludePinned, at: 3}, {Item: b, Score: 0.5, Reason: IncludeScored}, {Item: a, Score: 0.25, Reason: IncludeScored}, {Item: b, Reason: IncludeZeroToken, at: 1}}},
			"runs of one and of two"},
		{"budget", SelectionReport{Excluded: []ExcludedItem{out(a, budgetExceeded(5, 1)), out(b, budgetExceeded(7, 1)), out(a, budgetExceeded(5, 2)), out(b, budgetExceeded(6, 2)), out(b, budgetExceeded(7, 2)), out(b, budgetExceeded(0, 2)), out(b, budgetExceeded(0, 2))}},
			"tokens may be the item's or not, and what was left may change"},
		{"all codes", SelectionReport{Excluded: []ExcludedItem{
			out(c, negativeTokens(-1)), out(c, negativeTokens(-2)), out(a, deduplicated(b)), out(a, deduplicated(a)), out(b, pinnedOverride(a)), out(b, pinnedOverride(a)),
			out(a, NewExclusionReason(ExcludeCountCapExceeded, capped)), out(b, NewExclusionReason(ExcludeCountCapExceeded, capped)), out(b, ExclusionReason{Code: "Boring"}), out(b, ExclusionReason{Code: "Dull"})}},
			"nothing is lost of any reason"},
		{"the rest", SelectionReport{TotalTokensConsidered: 9, CountRequirementShortfalls: []CountRequirementShortfall{{Kind: "tool", RequiredCount: 3}},
			Overflow: &OverflowEvent{TokensOverBudget: 2, OverflowingItems: []*ContextItem{a, b}}}, "a report is more than its items"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			original := tt.report.clone()
			kept := keep(original)
			clear(original.Included) // its owner may change it
			clear(original.Excluded)
			clear(original.CountRequirementShortfalls)
			if original.Overflow != nil {
				clear(original.Overflow.OverflowingItems)
			}
			for range 2 {
				got := kept.report()
				if !reflect.DeepEqual(*got, tt.report) {
					t.Fatalf("got\n%+v\nwant\n%+v\n%s", *got, tt.report, tt.why)
				}
				clear(got.Included)
				clear(got.Excluded)
				clear(got.CountRequirementShortfalls)
			}
		})
	}
}

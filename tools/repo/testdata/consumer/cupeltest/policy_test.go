package main

import (
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

// Scores: the urgent tool output 1, everything else 1/(2 + length), scaled so
// that the lowest, the contents of ten letters, get 0. Two tool outputs are
// allowed, so "tool three" is dropped; no memory is there to require; and the
// document of 900 tokens does not fit the 90 that the pinned item leaves.
func TestPolicy(t *testing.T) {
	policy, err := newPolicy()
	if err != nil {
		t.Fatal(err)
	}
	budget := cupeltest.Budget(200, 100)
	items := candidates()

	report, _ := cupeltest.Run(t, policy, items, budget)
	cupeltest.Should(t, report).
		IncludeItemWithKind(cupel.KindSystemPrompt).
		IncludeItemMatching(cupeltest.ByTag("urgent").Included).
		IncludeExactlyNItemsWithKind(cupel.KindToolOutput, 2).
		ExcludeItemWithReason(cupel.ExcludeCountCapExceeded).
		ExcludeItemMatchingWithReason(cupeltest.ByContent("tool three"), cupel.ExcludeCountCapExceeded).
		ExcludeItemWithBudgetDetails(cupeltest.ByKind(cupel.KindDocument), 900, 40).
		HaveNoExclusionsForKind(cupel.KindMessage).
		HaveAtLeastNExclusions(2).
		ExcludedItemsAreSortedByScoreDescending().
		HaveBudgetUtilizationAbove(0.25, budget).
		HaveKindCoverageCount(3).
		PlaceItemAtEdge(cupeltest.ByContentPrefix("Answer").Included).
		PlaceTopNScoredAtEdges(4)

	cupeltest.Expect(t, report).
		IncludeInOrder("Answer briefly.", "tool two").
		HaveTokensAtMost(100).
		HaveShortfallForKind(cupel.KindMemory).
		MatchGolden("policy")

	cupeltest.Deterministic(t, policy, items, budget, 5)
}

func TestByUrgency(t *testing.T) {
	cupeltest.TestScorer(t, func() strategy.Scorer { return byUrgency{} }, cupeltest.WithItems(candidates()...))
}

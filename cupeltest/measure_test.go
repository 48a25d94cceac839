package cupeltest_test

import (
	"math"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltest"
)

func TestHaveAtLeastNExclusions(t *testing.T) {
	atLeast := func(n int) func(c *chain) *chain {
		return func(c *chain) *chain { return c.HaveAtLeastNExclusions(n) }
	}
	check(t, []assertion{
		{"as many", "at least is not more than", four(), atLeast(4), ""},
		{"more", "more is at least", four(), atLeast(1), ""},
		{"0 of nothing", "n = 0 always holds", report{}, atLeast(0), ""},
		{"negative", "every list has at least -1", report{}, atLeast(-1), ""},
		{"fewer", "one is missing", four(), atLeast(5),
			"HaveAtLeastNExclusions(5) failed: expected at least 5 excluded items, but Excluded had 4."},
		{"1 of nothing", "an empty list has 0", two(), atLeast(1),
			"HaveAtLeastNExclusions(1) failed: expected at least 1 excluded items, but Excluded had 0."},
	})
}

func TestExcludedItemsAreSortedByScoreDescending(t *testing.T) {
	scores := func(scores ...float64) report {
		var r report
		for _, s := range scores {
			r.Excluded = append(r.Excluded, out("A", 1, s, because(cupel.ExcludeBudgetExceeded)))
		}
		return r
	}
	sorted := func(c *chain) *chain { return c.ExcludedItemsAreSortedByScoreDescending() }
	inf, nan := math.Inf(1), math.NaN()
	check(t, []assertion{
		{"nothing", "no pair is out of order", report{}, sorted, ""},
		{"one", "one item is in order", scores(0.5), sorted, ""},
		{"falling", "each is lower than the one before", scores(0.9, 0.5, -1), sorted, ""},
		{"ties", "equal scores are in order", scores(0.5, 0.5, 0.5), sorted, ""},
		{"zeros", "-0 and 0 are equal (R8)", scores(math.Copysign(0, -1), 0, math.Copysign(0, -1)), sorted, ""},
		{"NaN last", "a report has NaN last (R8)", scores(inf, 0, -inf, nan, nan), sorted, ""},
		{"rising", "the first pair out of order is shown", scores(0.9, 0.5, 0.625, 1), sorted,
			"ExcludedItemsAreSortedByScoreDescending failed: item at index 2 (score=0.625) is higher than item at index 1 (score=0.5). Expected non-increasing scores."},
		{"rising at once", "the first pair counts", scores(0.1, 0.3), sorted,
			"ExcludedItemsAreSortedByScoreDescending failed: item at index 1 (score=0.3) is higher than item at index 0 (score=0.1). Expected non-increasing scores."},
		{"NaN first", "NaN is the lowest score", scores(nan, -inf), sorted,
			"ExcludedItemsAreSortedByScoreDescending failed: item at index 1 (score=-Inf) is higher than item at index 0 (score=NaN). Expected non-increasing scores."},
	})
}

func TestHaveBudgetUtilizationAbove(t *testing.T) {
	above := func(threshold float64, maxTokens, target int) func(c *chain) *chain {
		return func(c *chain) *chain {
			return c.HaveBudgetUtilizationAbove(threshold, cupeltest.Budget(maxTokens, target))
		}
	}
	huge := report{Included: []cupel.IncludedItem{in("A", math.MaxInt, 1), in("A", math.MaxInt, 1)}}
	check(t, []assertion{
		{"above", "100 of 125 tokens are 0.8", two(), above(0.75, 125, 100), ""},
		{"equal", "at least is not more than", two(), above(0.8, 125, 100), ""},
		{"not of the target", "100 of 200 tokens are 0.5 at any target (PD-2)", two(), above(0.75, 200, 100),
			"HaveBudgetUtilizationAbove(0.75) failed: computed utilization was 0.500000 (includedTokens=100, budget.MaxTokens=200)."},
		{"an ULP above", "there is no tolerance (PD-3)", two(), above(math.Nextafter(0.8, 1), 125, 100),
			"HaveBudgetUtilizationAbove(0.8000000000000002) failed: computed utilization was 0.800000 (includedTokens=100, budget.MaxTokens=125)."},
		{"six decimals", "100 of 300 tokens", two(), above(0.5, 300, 300),
			"HaveBudgetUtilizationAbove(0.5) failed: computed utilization was 0.333333 (includedTokens=100, budget.MaxTokens=300)."},
		{"more than everything", "a threshold above 1 is one", two(), above(1.5, 100, 100),
			"HaveBudgetUtilizationAbove(1.5) failed: computed utilization was 1.000000 (includedTokens=100, budget.MaxTokens=100)."},
		{"over budget", "150 % are more than 120 %", report{Included: []cupel.IncludedItem{in("A", 150, 1)}}, above(1.2, 100, 100), ""},
		{"0 of nothing", "0 is at least 0", report{}, above(0, 100, 100), ""},
		{"something of nothing", "nothing included is 0", report{}, above(0.1, 100, 100),
			"HaveBudgetUtilizationAbove(0.1) failed: computed utilization was 0.000000 (includedTokens=0, budget.MaxTokens=100)."},
		{"budget of 0", "nothing is divided by 0 (R43)", two(), above(0.1, 0, 0),
			"HaveBudgetUtilizationAbove(0.1) failed: computed utilization was 0.000000 (includedTokens=100, budget.MaxTokens=0)."},
		{"budget of 0, threshold 0", "0 is at least 0 (R43)", two(), above(0, 0, 0), ""},
		{"threshold NaN", "nothing is at least NaN", two(), above(math.NaN(), 100, 100),
			"HaveBudgetUtilizationAbove(NaN) failed: computed utilization was 1.000000 (includedTokens=100, budget.MaxTokens=100)."},
		{"huge", "the sum does not wrap (R5)", huge, above(1, math.MaxInt, math.MaxInt), ""},
	})
}

func TestHaveKindCoverageCount(t *testing.T) {
	cover := func(n int) func(c *chain) *chain {
		return func(c *chain) *chain { return c.HaveKindCoverageCount(n) }
	}
	check(t, []assertion{
		{"as many", "two spellings are one kind", two(), cover(2), ""},
		{"fewer wanted", "more is at least", two(), cover(1), ""},
		{"0 of nothing", "n = 0 always holds", report{}, cover(0), ""},
		{"negative", "every list has at least -1", report{}, cover(-1), ""},
		{"more wanted", "kinds are listed once, where they first appear", two(), cover(3),
			"HaveKindCoverageCount(3) failed: expected at least 3 distinct ContextKind values in Included, but found 2: [Message, Sketch]."},
		{"one kind", "two items of one kind are one", report{Included: []cupel.IncludedItem{in("A", 1, 1), in("A", 2, 1)}}, cover(2),
			"HaveKindCoverageCount(2) failed: expected at least 2 distinct ContextKind values in Included, but found 1: [A]."},
		{"1 of nothing", "excluded items do not count", four(), cover(1),
			"HaveKindCoverageCount(1) failed: expected at least 1 distinct ContextKind values in Included, but found 0: []."},
	})
}

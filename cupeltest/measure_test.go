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
	check(t, []assertion{
		{"rising", "the first pair out of order is shown", scores(0.9, 0.5, 0.625, 1), sorted,
			"ExcludedItemsAreSortedByScoreDescending failed: item at index 2 (score=0.625) is higher than item at index 1 (score=0.5). Expected non-increasing scores."},
	})
}

func TestHaveBudgetUtilizationAbove(t *testing.T) {
	above := func(threshold float64, maxTokens, target int) func(c *chain) *chain {
		return func(c *chain) *chain {
			return c.HaveBudgetUtilizationAbove(threshold, cupeltest.Budget(maxTokens, target))
		}
	}
	check(t, []assertion{
		{"equal", "at least is not more than", two(), above(0.8, 125, 100), ""},
		{"an ULP above", "there is no tolerance (PD-3)", two(), above(math.Nextafter(0.8, 1), 125, 100),
			"HaveBudgetUtilizationAbove(0.8000000000000002) failed: computed utilization was 0.800000 (includedTokens=100, budget.MaxTokens=125)."},
		{"budget of 0", "nothing is divided by 0 (R43)", two(), above(0.1, 0, 0),
			"HaveBudgetUtilizationAbove(0.1) failed: computed utilization was 0.000000 (includedTokens=100, budget.MaxTokens=0)."},
	})
}

func TestHaveKindCoverageCount(t *testing.T) {
	cover := func(n int) func(c *chain) *chain {
		return func(c *chain) *chain { return c.HaveKindCoverageCount(n) }
	}
	check(t, []assertion{
		{"as many", "two spellings are one kind", two(), cover(2), ""},
		{"fewer wanted", "more is at least", two(), cover(1), ""},
	})
}

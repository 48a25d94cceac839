package cupeltest

import (
	"cmp"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

// HaveAtLeastNExclusions holds if at least n items are excluded. It always
// holds for n of 0 or less.
//
// It implements pattern 8 of the Testing Vocabulary chapter.
func (c *SelectionReportAssertionChain) HaveAtLeastNExclusions(n int) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("HaveAtLeastNExclusions", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		if len(r.Excluded) >= n {
			return nil
		}
		return failure(c.anyExcluded(r), "HaveAtLeastNExclusions(%d) failed: expected at least %d excluded items, but Excluded had %d.", n, n, len(r.Excluded))
	})
}

// ExcludedItemsAreSortedByScoreDescending holds if no excluded item has a
// higher score than the one before it. -0.0 equals 0.0, and NaN is the lowest
// score, as in a report. Every report of a pipeline passes; the assertion is
// for other implementations and for reports built in tests.
//
// It implements pattern 9 of the Testing Vocabulary chapter.
func (c *SelectionReportAssertionChain) ExcludedItemsAreSortedByScoreDescending() *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("ExcludedItemsAreSortedByScoreDescending", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		for i := range max(0, len(r.Excluded)-1) {
			this, next := r.Excluded[i].Score, r.Excluded[i+1].Score
			if cmp.Compare(this, next) >= 0 {
				continue
			}
			return failure(c.excluded(r.Excluded[i:i+2]),
				"ExcludedItemsAreSortedByScoreDescending failed: item at index %d (score=%s) is higher than item at index %d (score=%s). Expected non-increasing scores.",
				i+1, score(next), i, score(this))
		}
		return nil
	})
}

// HaveBudgetUtilizationAbove holds if the tokens of the included items, as a
// fraction of budget.MaxTokens (not of the target), are at least threshold,
// without tolerance. A threshold above 1 requires more than the ceiling. A
// budget of 0 tokens has utilization 0.
//
// It implements pattern 10 of the Testing Vocabulary chapter.
func (c *SelectionReportAssertionChain) HaveBudgetUtilizationAbove(threshold float64, budget cupel.ContextBudget) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("HaveBudgetUtilizationAbove", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		utilization := analysis.BudgetUtilization(r, budget)
		if utilization >= threshold {
			return nil
		}
		return failure(c.anyExcluded(r), "HaveBudgetUtilizationAbove(%s) failed: computed utilization was %.6f (includedTokens=%d, budget.MaxTokens=%d).",
			score(threshold), utilization, includedTokens(r), budget.MaxTokens())
	})
}

// HaveKindCoverageCount holds if the included items have at least n distinct
// kinds, under ASCII case folding. It always holds for n of 0 or less.
//
// It implements pattern 11 of the Testing Vocabulary chapter.
func (c *SelectionReportAssertionChain) HaveKindCoverageCount(n int) *SelectionReportAssertionChain {
	c.tester().Helper()
	return c.link("HaveKindCoverageCount", func(r *cupel.SelectionReport) *SelectionReportAssertionError {
		kinds, actual := includedKinds(r.Included)
		if actual >= n {
			return nil
		}
		return failure(c.otherKinds(r), "HaveKindCoverageCount(%d) failed: expected at least %d distinct ContextKind values in Included, but found %d: [%s].",
			n, n, actual, kinds)
	})
}

// otherKinds names excluded items of kinds that the window lacks.
func (c *SelectionReportAssertionChain) otherKinds(r *cupel.SelectionReport) []string {
	seen := make(map[string]bool)
	for _, entry := range r.Included {
		seen[entry.Item.Kind().Key()] = true
	}
	var missing []cupel.ExcludedItem // the best of each kind
	for _, entry := range r.Excluded {
		if key := entry.Item.Kind().Key(); !seen[key] {
			seen[key] = true
			missing = append(missing, entry)
		}
	}
	if len(missing) == 0 {
		return []string{"no candidate has another kind"}
	}
	return c.lost(missing)
}

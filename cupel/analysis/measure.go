package analysis

import (
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/exact"
)

// BudgetUtilization returns the tokens of the included items as a share of the
// budget's ceiling, not of its target. It is in [0,1], or above 1 if the selection
// exceeds the ceiling, and 0 if the ceiling is 0 tokens.
func BudgetUtilization(report *cupel.SelectionReport, budget cupel.ContextBudget) float64 {
	if report == nil || budget.MaxTokens() == 0 {
		return 0
	}
	var tokens exact.Sum
	for _, i := range report.Included {
		tokens.Add(i.Item.Tokens())
	}
	return float64(tokens.Int()) / float64(budget.MaxTokens())
}

// KindDiversity returns the number of different kinds among the included items.
// Kinds are compared without ASCII case.
func KindDiversity(report *cupel.SelectionReport) int {
	if report == nil {
		return 0
	}
	kinds := make(map[string]struct{})
	for _, i := range report.Included {
		kinds[i.Item.Kind().Key()] = struct{}{}
	}
	return len(kinds)
}

// TimestampCoverage returns the share of the included items that have a
// timestamp, in [0,1]; 0 if nothing is included.
func TimestampCoverage(report *cupel.SelectionReport) float64 {
	if report == nil || len(report.Included) == 0 {
		return 0
	}
	dated := 0
	for _, i := range report.Included {
		if _, ok := i.Item.Timestamp(); ok {
			dated++
		}
	}
	return float64(dated) / float64(len(report.Included))
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/examples/coding-agent/repocontext"
)

// own is the label of the example's own policy beside a preset.
const own = "this one"

// printWhatIf tells what a preset would select in place of this policy, and
// what the best item that is left out would need.
func (s settings) printWhatIf(ctx context.Context, out io.Writer, pipeline *cupel.Pipeline, items []*cupel.ContextItem, report *cupel.SelectionReport) error {
	preset, err := policy.NewRegistry().Lookup(s.whatIf)
	if err != nil {
		return err
	}
	other, err := preset.Pipeline(policy.Environment{})
	if err != nil {
		return err
	}
	compared, err := analysis.PolicySensitivityOfPipelines(ctx, items, s.budget,
		analysis.PipelineVariant{Label: own, Pipeline: pipeline}, analysis.PipelineVariant{Label: s.whatIf, Pipeline: other})
	if err != nil {
		return err
	}
	came, went := 0, 0
	for _, diff := range compared.Diffs {
		if diff.Statuses[0].Status == analysis.Excluded {
			came++
		} else {
			went++
		}
	}
	fmt.Fprintf(out, "\nWhat if\n  the preset %s chose instead: %d contents would come and %d go\n", visible(s.whatIf), came, went)
	for _, v := range compared.Variants {
		fmt.Fprintf(out, "  %-12s uses %5.1f%% of the budget, for %d kinds\n", visible(v.Label),
			100*analysis.BudgetUtilization(v.Report, s.budget), analysis.KindDiversity(v.Report))
	}
	return s.printNeeded(ctx, out, pipeline, items, report)
}

// printNeeded tells the smallest window that has the best item left out.
func (s settings) printNeeded(ctx context.Context, out io.Writer, pipeline *cupel.Pipeline, items []*cupel.ContextItem, report *cupel.SelectionReport) error {
	for _, ex := range report.Excluded {
		if ex.Reason.Code == cupel.Deduplicated || ex.Item.Tokens() < 0 {
			continue // no window would have it
		}
		where := visible(repocontext.Origin(ex.Item))
		ceiling := max(4*s.budget.MaxTokens(), ex.Item.Tokens())
		needed, found, err := analysis.FindMinBudgetForExhaustive(ctx, pipeline, items, ex.Item, ceiling, analysis.WithBaseBudget(s.budget))
		switch {
		case errors.Is(err, analysis.ErrTooManyBudgets):
			fmt.Fprintf(out, "  the best item left out, %s, needs more windows tried than is worth it\n", where)
		case err != nil:
			return err
		case found:
			fmt.Fprintf(out, "  the best item left out, %s, would be in from %s tokens on\n", where, thousands(needed))
		default:
			fmt.Fprintf(out, "  the best item left out, %s, would be in at no window of up to %s tokens\n", where, thousands(ceiling))
		}
		return nil
	}
	return nil
}

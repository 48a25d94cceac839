// Package analysis answers questions about selections: how well a report uses
// its budget, what a larger or smaller budget would change, and how policies
// compare on the same candidates.
//
//	answer, err := analysis.WhyNot(ctx, pipeline, items, budget, 2) // about the third item
//	fmt.Println(answer.Rule, answer.Smallest)
//
// For one report:
//
//   - [BudgetUtilization], [KindDiversity] and [TimestampCoverage] are measures;
//   - [NewLedger] finds a report's entry for each candidate.
//
// For one candidate, [WhyNot] explains why it is not included, which items were
// chosen instead, and which budget would include it.
//
// For one pipeline at many budgets:
//
//   - [GetMarginalItems] lists the items that a slightly smaller budget loses;
//   - [FindMinBudgetFor] searches for the smallest budget that includes an item, and
//     [FindMinBudgetForExhaustive] finds it even if that search would miss it.
//
// For several policies or pipelines at one budget:
//
//   - [PolicySensitivity] lists the contents on which policies disagree, and
//     [PolicySensitivityOfPipelines] the same for pipelines;
//   - [DiffReports] lists the items that came, went, moved or changed their
//     reason, for any two reports;
//   - [DryRunWithPolicy] runs one policy without building a pipeline first.
//
// No function calls an overflow observer. Scores do not depend on the budget, so
// each function calls a scorer once for each pipeline, regardless of the number of
// budgets; a Decay scorer also reads its clock once. All functions stop with a
// [pipeline.CanceledError] when their context is done. None retains its arguments,
// except that results refer to the items.
//
// # Monotonic inclusion
//
// The specification calls the inclusion of an item monotonic if a larger budget
// never loses the item. [GetMarginalItems] and [FindMinBudgetFor] reject the
// slicers that it lists as not monotonic. It does not list GreedySlice and
// KnapsackSlice, but they are not monotonic either: docs/operations.md has an example.
// If that matters, use [FindMinBudgetForExhaustive], which accepts any slicer.
package analysis

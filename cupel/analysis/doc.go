// Package analysis answers questions about selections: how well a report uses
// its budget, what a larger or smaller budget would change, and how policies
// compare on the same candidates.
//
// Of one report:
//
//   - [BudgetUtilization], [KindDiversity] and [TimestampCoverage] are figures;
//   - [QuotaUtilization] compares what each kind got with what a quota or count
//     slicer demands for it;
//   - [NewLedger] looks up what a report says about each candidate.
//
// Of one candidate, [WhyNot] says why it is not included, what was chosen
// instead, and which budget would include it.
//
// Of one pipeline at many budgets:
//
//   - [GetMarginalItems] lists what a little less budget would lose;
//   - [FindMinBudgetFor] searches the smallest budget that includes an item, and
//     [FindMinBudgetForExhaustive] finds it even where that search can miss it;
//   - [Sweep] follows the selection over a whole range of budgets.
//
// Of several policies or pipelines at one budget:
//
//   - [PolicySensitivity] lists the contents on which policies disagree, and
//     [PolicySensitivityOfPipelines] the same for pipelines;
//   - [DiffReports] lists what came, what went, what moved and what has another
//     reason, for reports of all kinds;
//   - [DryRunWithPolicy] runs one policy without building a pipeline first.
//
// Nothing here calls an overflow observer. Scores do not depend on the
// budget, so that each function asks a scorer once, however many budgets and
// pipelines it looks at; in a Decay scorer's case that is one reading of its
// clock as well. All functions stop with a [cupel.CanceledError] when their
// context is done, and none keeps what it is given, apart from the items
// themselves in results.
//
// # Monotonic inclusion
//
// The specification calls the inclusion of an item monotonic when a larger
// budget never loses it, and has [GetMarginalItems] and [FindMinBudgetFor] refuse
// slicers that it knows not to be so. It counts GreedySlice and KnapsackSlice
// among the others, but their inclusion is not monotonic either: with an
// item of 11 tokens and score 0.99 and one of 5 tokens and score 0.1, Greedy
// includes the second at a budget of 10 and the first alone at 11. Where that
// matters, use [FindMinBudgetForExhaustive] and [Sweep], which assume nothing
// and take every slicer.
package analysis

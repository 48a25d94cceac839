// Package slicer has the specification's strategies for choosing which items
// fit a budget, and ScoreGreedy:
//
//   - [Greedy] takes the best score per token first (GreedySlice);
//   - [ScoreGreedy] takes the best score first, whatever it costs;
//   - [Knapsack] finds the best total score (KnapsackSlice);
//   - [Quota] shares the budget out between kinds, by percentages, and has
//     another slicer choose within each share (QuotaSlice);
//   - [CountQuota] guarantees and limits numbers of items by kind around another
//     slicer (CountQuotaSlice);
//   - [CountConstrainedKnapsack] does the same around a Knapsack
//     (CountConstrainedKnapsackSlice).
//
// All of them are immutable and safe for concurrent use: what they have to say
// about a call is in the [cupel.Selection] that the call returns. They
// work on positions, so that an item given twice is two candidates. They
// choose nothing when there is nothing to choose from or the target is 0, and
// they never choose an item whose token count is negative: the pipeline
// excludes such items earlier, and in a direct call they must not make room for
// others.
//
// Wrappers pass on the drops and shortfalls of the slicers inside them, in terms
// of their own list.
package slicer

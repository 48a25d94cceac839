// Package slicer implements the specification's strategies for choosing the
// items that go into a budget, and others.
//
//	quota, err := slicer.NewQuota(slicer.Greedy{}, // the best score per token
//		slicer.Require(cupel.KindMessage, 50),     // at least half for messages
//		slicer.Cap(cupel.KindToolOutput, 40))      // at most 40 % for tools
//	selector, err := pipeline.New(pipeline.Config{
//		Scorer: scorer.Recency{},
//		Slicer: quota,
//		Placer: placer.Chronological{},
//	})
//
// Start with Greedy, ScoreGreedy or Quota:
//
//   - [Greedy] takes the best score per token first (GreedySlice);
//   - [ScoreGreedy] takes the best score first, regardless of tokens;
//   - [Diverse] does the same, but puts off items that repeat an earlier choice;
//   - [Knapsack] finds the best total score (KnapsackSlice);
//   - [MultipleChoice] chooses among the smaller forms of items as well
//     (MULTIPLE-CHOICE-SLICE of the Units chapter);
//   - [Quota] divides the budget between kinds by percentages, and another slicer
//     chooses within each share (QuotaSlice);
//   - [CountQuota] guarantees and limits numbers of items by kind around another
//     slicer (CountQuotaSlice);
//   - [CountConstrainedKnapsack] does the same around a Knapsack
//     (CountConstrainedKnapsackSlice).
//
// All of them are immutable and safe for concurrent use: the result of a call is
// in its [strategy.Selection] alone. Slicers work on positions, so an item that
// occurs twice is two candidates. They choose nothing when there are no items or
// the target is 0. They never choose an item with a negative token count: the
// pipeline excludes such items earlier, and in a direct call they must not make
// room for others.
//
// Wrappers return the drops and shortfalls of their inner slicers with the
// positions of their own list.
package slicer

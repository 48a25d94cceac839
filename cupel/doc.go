// Package cupel selects the context for a language model: from more messages,
// documents, tool outputs and memories than fit a context window it decides
// what goes in and in which order, and says why for each of them.
//
// A [Pipeline] always runs the same stages:
//
//  1. Classify. Items with a negative token count are left out. Pinned items
//     skip everything up to Place; together they must fit the ceiling.
//  2. Score. The [Scorer] says how relevant each item is.
//  3. Deduplicate. Of items with the same bytes the best scored goes on.
//  4. Sort. Highest score first, ties in the order of the candidates.
//  5. Slice. The [Slicer] selects what fits the budget.
//  6. Place. Pinned and selected items are merged, an overflow is dealt with,
//     and the [Placer] orders them as they will stand in the prompt.
//
// Strategies come from the packages scorer, slicer and placer, or are your
// own. Token counts are the caller's: of a [TokenCounter] such as the estimating
// [HeuristicCounter] or the exact ones of the module cupeltiktoken, or of
// whatever knows them already.
//
// [Pipeline.RunStream] selects from items as they arrive, in bounded memory.
//
// # Guarantees
//
// Same input, same result: no stage depends on map order, on the clock, or on
// how a processor fuses arithmetic. Items, budgets, pipelines and strategies
// never change and may be shared between goroutines. An item is identified by
// its pointer, and each position of the candidate list stands for itself. Time
// grows with n·log n for n items, apart from what a knapsack's table takes and
// from the scorer Frequency for items with more than four tags each; both say
// how they grow. A run that nobody observes builds no diagnostics. A
// strategy that fails, panics or breaks its contract is reported as an error
// that names it. The package starts no goroutine and imports the standard
// library only.
//
// # Why was it dropped
//
// [Pipeline.DryRun] returns a [SelectionReport]: every item that is in or out,
// with its score and the reason. [Pipeline.RunReport] returns the window of a
// real run and its report together. Reports read and write JSON and
// are [log/slog] values.
//
// # Many budgets
//
// Scores do not depend on the budget. [Pipeline.Prepare] does everything up to
// the slicer once, for runs with many budgets; package analysis answers what
// such runs are made for.
//
// # Errors
//
// Every failure is a typed error with the data to act on, such as
// [OverflowError], and matches a sentinel, such as [ErrOverflow].
//
// # Specification
//
// The package implements the Cupel specification 1.0.0 with the additions of
// 1.3.0. Where the text is silent or contradicts itself, docs/rulings.md in the
// repository says what holds.
package cupel

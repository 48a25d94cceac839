// Package cupel has the data of context selection for language models: items,
// budgets, and reports. From more messages, documents, tool outputs and memories
// than fit a context window, package pipeline chooses what to include and in which
// order, and says why each item was included or dropped.
//
//	selector, err := pipeline.New(pipeline.Config{
//		Scorer: scorer.Recency{},
//		Slicer: slicer.Greedy{},
//		Placer: placer.Chronological{},
//	})
//	item, err := cupel.NewContextItem("The valve did not close.", 7, cupel.WithKind(cupel.KindToolOutput))
//	budget, err := cupel.NewContextBudget(8000, 7000, cupel.WithOutputReserve(1000))
//	window, err := selector.Run(ctx, []*cupel.ContextItem{item}, budget)
//
// Package policy has presets, and reads and writes policies as JSON. The rooms of
// the core, from the bottom up:
//
//   - cupel: data and reports.
//   - strategy: what scorers, slicers and placers implement, and how to call one.
//   - observe and turn: what observers of runs, and of a session's turns, implement.
//   - scorer, slicer, placer: the strategies.
//   - pipeline: a run.
//   - policy: pipelines as data. analysis: questions about reports and pipelines.
//
// # Data
//
// A [ContextItem] has a content, a size in tokens, a [ContextKind], a
// [ContextSource] and optional fields, each set by an [ItemOption]. The caller
// supplies token counts: from a [TokenCounter], such as the estimating
// [HeuristicCounter] or the exact counters of the module cupeltiktoken, or from any
// other source. A [ContextBudget] with its [BudgetOption] settings says how much may
// be selected.
//
// Items that are worthless apart share a group ([WithGroup]). An item, or a group,
// can have smaller forms ([WithVariants], [WithGroupVariants]), each a [Variant]. Of
// the versions of one thing the newest counts ([WithVersionOf]). docs/spec/units.md in the
// repository says exactly how.
//
// # Reports
//
// A [SelectionReport] has an [IncludedItem] or an [ExcludedItem] for each candidate,
// with its score and the reason: an [InclusionReason] or an [ExclusionReason] with an
// [ExclusionCode] and [ReasonData]. Reports and items read and write JSON, and print
// and log without their contents.
//
// # Guarantees
//
// Same input, same result: nothing depends on map order, on the clock, or on how a
// processor fuses arithmetic. Items, budgets, pipelines and strategies never change
// and may be shared between goroutines. An item is identified by its pointer, and
// each position of the candidate list is a candidate of its own. Time is O(n log n)
// for n items, except for a knapsack's table and for the scorer Frequency with more
// than four tags per item, which document their cost. A run without observers builds
// no diagnostics. The core starts no goroutine and imports the standard library only.
//
// Every failure is a typed error with the data to act on, such as
// [InvalidItemError], and matches a sentinel, such as [ErrInvalidItem].
//
// # Specification
//
// The core implements the Cupel specification 1.0.0 with the additions of 1.3.0.
// Where the text is silent or contradicts itself, docs/spec/rulings.md in the repository
// says what holds.
package cupel

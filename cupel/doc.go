// Package cupel selects the context for a language model. From more messages,
// documents, tool outputs and memories than fit a context window, it chooses what
// to include and in which order, and says why each item was included or dropped.
//
//	pipeline, err := cupel.New(cupel.Config{
//		Scorer: scorer.Recency{},
//		Slicer: slicer.Greedy{},
//		Placer: placer.Chronological{},
//	})
//	budget, err := cupel.NewContextBudget(8000, 7000, cupel.WithOutputReserve(1000))
//	window, err := pipeline.Run(ctx, items, budget)
//
// A [Pipeline] always runs the same stages:
//
//  1. Classify. Items with a negative token count are dropped. Pinned items skip
//     everything up to Place; together they must fit the ceiling.
//  2. Score. The [Scorer] says how relevant each item is.
//  3. Deduplicate. Of items with equal content, only the best scored is kept.
//  4. Sort. Highest score first, ties in the order of the candidates.
//  5. Slice. The [Slicer] selects what fits the budget.
//  6. Place. Pinned and selected items are merged, an overflow is handled, and
//     the [Placer] orders them for the prompt.
//
// Strategies come from the packages scorer, slicer and placer, or are your own.
// The caller supplies token counts: from a [TokenCounter], such as the estimating
// [HeuristicCounter] or the exact counters of the module cupeltiktoken, or from
// any other source.
//
// [Pipeline.RunStream] selects from items as they arrive, in bounded memory.
//
// # Guarantees
//
// Same input, same result: no stage depends on map order, on the clock, or on
// how a processor fuses arithmetic. Items, budgets, pipelines and strategies
// never change and may be shared between goroutines. An item is identified by
// its pointer, and each position of the candidate list is a candidate of its own.
// Time is O(n log n) for n items, except for a knapsack's table and for the scorer
// Frequency with more than four tags per item, which document their cost. A run
// without observers builds no diagnostics. A strategy that fails, panics or breaks
// its contract is reported as an error that names it. The package starts no
// goroutine and imports the standard library only.
//
// # Groups, smaller forms, versions
//
// Items that are worthless apart share a group ([WithGroup]). An item, or a group,
// can have smaller forms ([WithVariants], [WithGroupVariants]): what the slicer
// leaves of the budget goes to them, and pinned members and an overflow shrink
// before anything is left out. Of the versions of one thing the newest counts
// ([WithVersionOf]). Slicers and placers see one stand-in for a group
// ([ContextItem.Members], [ContextItem.Forms]), so that kinds, quotas and counts
// speak of groups; reports have an entry for each candidate, with the form that is
// in the window. docs/units.md in the repository says exactly how.
//
// # Why was it dropped
//
// [Pipeline.DryRun] returns a [SelectionReport]: every included and every dropped
// item with its score and the reason. [Pipeline.RunReport] returns the window of a
// real run and its report together. Reports read and write JSON and
// are [log/slog] values. A package that makes a report of several runs, such as
// cupelsession, gives its entries an [Origin].
//
// # Many budgets
//
// Scores do not depend on the budget. [Pipeline.Prepare] does everything up to
// the slicer once, for runs with many budgets. Package analysis answers questions
// about such runs.
//
// # Errors
//
// Every failure is a typed error with the data to act on, such as
// [OverflowError], and matches a sentinel, such as [ErrOverflow].
//
//   - Building: [InvalidItemError], [InvalidBudgetError], [InvalidConfigError].
//   - Running: [PinnedExceedsBudgetError], [OverflowError], [ScarcityError],
//     [CanceledError]; [ContentError] of a smaller form; [SourceError] of a stream.
//   - Strategies at fault: [StrategyError], [ContractError], [PanicError].
//   - JSON: [DecodeError], [EncodeError].
//   - For observers only: [AbandonedError].
//
// # Using the package
//
// Most programs need only these.
//
// What is selected: [ContextItem] with [ContextKind], [ContextSource] and its
// [ItemOption] settings, counted by a [TokenCounter]. An item can have a
// smaller [Variant]; a [Form] is what one costs and is worth.
//
// How: [Config] and [OverflowStrategy] make a [Pipeline]. A [ContextBudget] with
// its [BudgetOption] settings says how much, and each run takes a [RunOption], or
// a [StreamOption]. [Prepared] runs with many budgets.
//
// What came of it: [SelectionReport] with an [IncludedItem] and [InclusionReason]
// or an [ExcludedItem], [ExclusionCode] and [ExclusionReason] for each candidate;
// [ReasonData] and [ReasonField] are the data of a reason. A report also has each
// [CountRequirementShortfall] and the [OverflowEvent]. [StreamResult] is that of a
// stream.
//
// # Writing strategies
//
// A scorer, slicer or placer of your own needs one method, or a function:
// [ScorerFunc], [BatchScorerFunc], [SlicerFunc], [PlacerFunc]. It is given a
// [ScoredItem] list and a [SliceBudget], and a slicer returns a [Selection] with
// each [Drop] that has a reason of its own, and each [SmallerForm] that it chose. The module cupeltest tests strategies.
//
// Everything else here is optional. The engine and the wrappers of package slicer
// find it by type assertion, which is why it is in this package:
//
//   - [Validator] rejects a strategy that cannot work.
//   - [BatchScorer] and [AppendPlacer] save passes and memory.
//   - [SweepSlicer] returns a [SliceSweep] for many budgets. A [Cursor] follows it,
//     and reports each [SelectionChange].
//   - [LeftOverSlicer] has the rest of its target filled with smaller forms.
//   - [SliceExplainer] says why an item was not taken, as an [Obstacle].
//   - [NonMonotonic] and [KindNarrower] say what a slicer guarantees to searches by
//     budget and to a QuotaSlice around it.
//   - [ScorerWrapper] and [SlicerWrapper] show what a strategy has inside it.
//
// Strategies around other strategies call them as the engine does, with contracts
// checked and panics recovered: [ScoreAll], [Slice], [SliceSubset], [Place],
// [ExplainSlice] and [Sweep]. Their constructors check what is inside with
// [ValidateScorer] and [ValidateSlicer], and look through it with [AllSlicers].
//
// # Observing runs
//
// A [DiagnosticTraceCollector] with its [DiagnosticOption] settings records each
// [TraceEvent] of each [PipelineStage], at a [TraceDetailLevel]. [TraceFuncs] calls
// functions, [MultiTraceCollector] makes one collector of several, and
// [NullTraceCollector] is disabled.
//
// A [TraceCollector] of your own gets events. One that is a [RunObserver] too, such
// as those of the module cupelotel, follows a run with contexts and times: it gets
// [RunInfo] and returns a [RunTrace], which embeds [NoTrace], asks for its
// [TraceDetail], and gets [StageStart], [StageEnd] with each [ReasonCount] and
// [StrategyTime], and [RunEnd]. A [TurnObserver] follows the turns of a session, which runs a pipeline
// several times or not at all: it gets [TurnInfo] and returns a [TurnTrace], which
// gets [TurnEnd] and, if the turn was committed, [TurnCommit].
//
// # Specification
//
// The package implements the Cupel specification 1.0.0 with the additions of
// 1.3.0. Where the text is silent or contradicts itself, docs/rulings.md in the
// repository says what holds.
package cupel

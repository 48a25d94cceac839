// Package cupel defines the data types of context selection for language models:
// items, budgets and reports. Package pipeline selects the items that fit a budget,
// orders them for the prompt, and reports why each is in or out.
//
//	selector, err := pipeline.New(pipeline.Config{
//		Scorer: scorer.Reflexive{},    // the hint below
//		Slicer: slicer.Greedy{},       // the best score per token
//		Placer: placer.UShaped{},      // the best items at both ends
//	})
//	item, err := cupel.NewContextItem("The valve did not close.", 7,
//		cupel.WithKind(cupel.KindToolOutput), cupel.WithFutureRelevanceHint(0.9))
//	budget, err := cupel.NewContextBudget(8000, 7000, cupel.WithOutputReserve(1000))
//	report, err := selector.DryRun(ctx, []*cupel.ContextItem{item}, budget)
//	fmt.Println(report)          // each candidate with its score and reason
//	window := report.Window()    // the items to send, in prompt order
//
// Three types matter most. A [ContextItem] has a content, a size in tokens, a
// [ContextKind] and optional fields. The caller supplies token counts, from any
// [TokenCounter]. Items can share a group ([WithGroup]), have smaller forms
// ([WithVariants]) and replace earlier versions ([WithVersionOf]). A
// [ContextBudget] states how many tokens may be selected. A [SelectionReport] has
// an [IncludedItem] or an [ExcludedItem] for each candidate, with an
// [InclusionReason] or an [ExclusionReason]. Items and reports read and write JSON;
// they print and log without their contents.
//
// Package policy provides presets and policies as data, and package analysis
// answers questions about reports. Packages scorer, slicer and placer hold the
// strategies, package strategy defines the interfaces for your own, and package
// observe provides the collectors.
//
// # Guarantees
//
// The same input gives the same result on every processor. Items, budgets, pipelines
// and strategies never change and may be shared between goroutines. An item is
// identified by its pointer; an item listed twice is two candidates. A run takes O(n
// log n) time for n items, except for strategies that document their cost. It starts no
// goroutine, and builds no diagnostics without an observer.
//
// Every failure is a typed error, such as [InvalidItemError], and matches a
// sentinel, such as [ErrInvalidItem].
//
// The core is Cupel Fully Conformant (1.0.0 with the additions of 1.3.0).
// docs/spec in the repository has the specification, and rulings where it is silent.
package cupel

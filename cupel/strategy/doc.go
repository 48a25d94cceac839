// Package strategy defines the interfaces of scorers, slicers and placers, and
// functions that call them.
//
// A strategy has one method, for its work: [Scorer], [Slicer] or [Placer]. A function
// is a strategy too: [ScorerFunc], [SlicerFunc], [PlacerFunc]. The strategy's [Facts]
// state the rest: whether it is invalid, which strategies are inside it, what it
// guarantees, and how it explains itself.
//
//	type shortest struct{}
//
//	func (shortest) Score(_ context.Context, items []*cupel.ContextItem, scores []float64) error {
//		for i, item := range items {
//			scores[i] = 1 / (1 + float64(max(0, item.Tokens())))
//		}
//		return nil
//	}
//
// Strategies around others call them as a pipeline does, with contracts checked and
// panics recovered: [CallScorer], [CallSlicer], [AppendSlicerOn] and [CallPlacer]. Their
// constructors check what is inside with [ValidateScorer] and [ValidateSlicer], and
// look through it with [AllSlicers]. The module cupeltest tests strategies.
//
// A [Descriptor] is a type of strategy as data: its name, its settings with bounds and
// defaults, and how to build one. Packages scorer, slicer and placer declare one for
// each of theirs. All code that lists, reads, writes, checks or shows strategies uses
// the descriptors: policies and their JSON Schema, conformance vectors, the command
// and the inspector.
package strategy

// Package placer implements the specification's strategies for ordering the
// selected items in the prompt.
//
//	selector, err := pipeline.New(pipeline.Config{
//		Scorer: scorer.Reflexive{},
//		Slicer: slicer.Greedy{},
//		Placer: placer.UShaped{}, // the best first, the second best last
//	})
//
// There are two placers:
//
//   - [Chronological] puts the oldest first (ChronologicalPlacer);
//   - [UShaped] puts the best at both edges (UShapedPlacer).
//
// Both are stable, have no settings, and are ready as their zero values and
// safe for concurrent use.
package placer

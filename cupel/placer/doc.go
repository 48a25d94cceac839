// Package placer has the specification's strategies for the order in which the
// selected items appear in the prompt:
//
//   - [Chronological] puts the oldest first (ChronologicalPlacer);
//   - [UShaped] puts the best at both edges (UShapedPlacer).
//
// Both are stable, have no settings, and are ready as their zero values and
// safe for concurrent use.
package placer

// Package scorer holds the eleven scorers of the specification. Each is a
// [strategy.Scorer] that rates how relevant an item is, conventionally in [0,1].
//
// Absolute scorers use only the item itself: [Kind], [Tag], [Reflexive],
// [MetadataTrust], [Decay], [MetadataKey]. Relative ones compare it with the
// rest of the list: [Recency], [Priority], [Frequency]. [Composite] and [Scaled]
// wrap other scorers:
//
//	s, err := scorer.NewComposite(
//		scorer.Weighted{Scorer: scorer.Recency{}, Weight: 0.6},
//		scorer.Weighted{Scorer: scorer.Priority{}, Weight: 0.4},
//	)
//
// The zero values of Recency, Priority, Frequency, Kind and Reflexive are
// ready for use. The others come from constructors, which check their
// settings and fail with a [cupel.InvalidConfigError]; their zero values fail
// validation, in pipeline.New and in Score, and never panic.
//
// All scorers are immutable and safe for concurrent use, and keep no reference
// to an item after they return. They score a nil item as an item without fields.
package scorer

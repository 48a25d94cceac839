package conformance

import (
	"context"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Implementation is an implementation of the specification to run vectors
// against. Each method builds the described strategy or pipeline and runs it
// once. Errors must match the sentinels of package cupel, such as
// [cupel.ErrInvalidConfig], by which vectors identify error classes.
//
// [Engine] is the implementation of this project.
type Implementation interface {
	// Score returns the score of every item, by position.
	Score(ctx context.Context, scorer ScorerSpec, items []*cupel.ContextItem) ([]float64, error)
	// Slice selects from scored items, in the order given.
	Slice(ctx context.Context, slicer SlicerSpec, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error)
	// Place returns the positions of items in prompt order.
	Place(ctx context.Context, placer string, items []cupel.ScoredItem) ([]int, error)
	// Run runs the whole pipeline. If the run fails, the outcome may still hold
	// a report.
	Run(ctx context.Context, pipeline PipelineSpec, items []*cupel.ContextItem, budget cupel.ContextBudget) (Outcome, error)
}

// Outcome is the result of a pipeline.
type Outcome struct {
	Window []*cupel.ContextItem // in prompt order
	Report *cupel.SelectionReport
	// Included and Excluded belong to the entries of the report, one each. They
	// are nil for a run without groups, variants and version keys that keeps near
	// copies.
	Included, Excluded []Decision
}

// Decision is what the Units chapter adds to an entry of the report.
type Decision struct {
	Candidate int  // position among the candidates
	Form      int  // of an included item; 0 is full
	Stale     bool // a newer version or near copy was among the candidates
}

// PipelineSpec describes a pipeline. A nil strategy is one that the vector does
// not name, which is a configuration error.
type PipelineSpec struct {
	Scorer         *ScorerSpec
	Slicer         *SlicerSpec
	Placer         string // "chronological", "u-shaped", or "" for none
	KeepDuplicates bool
	Overflow       pipeline.OverflowStrategy
	NearDuplicates float64 // the threshold; 0 keeps near copies
}

// ScorerSpec describes a scorer. Fields that its type does not have are zero;
// nil means that the vector does not set the field.
type ScorerSpec struct {
	Type string // such as "recency", "priority", "kind", "tag", "frequency", "reflexive", "composite", "scaled", "metadata_trust", "decay", "metadata_key"

	Children []ChildSpec // composite
	Inner    *ScorerSpec // scaled; nil is a configuration error

	Weights    []KindWeight // kind; nil for the default weights
	TagWeights []TagWeight  // tag

	Curve              *CurveSpec // decay
	ReferenceTime      *time.Time // decay
	NullTimestampScore *float64   // decay

	DefaultScore *float64 // metadata_trust
	Key, Value   string   // metadata_key
	Boost        float64  // metadata_key

	// Settings of a type that the specification does not have, as the vector
	// gives them, by the names of the fields of its [strategy.Descriptor].
	Settings map[string]any
}

// ChildSpec is a scorer of a composite with its raw weight.
type ChildSpec struct {
	Scorer ScorerSpec
	Weight float64
}

// KindWeight is a weight of a KindScorer.
type KindWeight struct {
	Kind   cupel.ContextKind
	Weight float64
}

// TagWeight is a weight of a TagScorer.
type TagWeight struct {
	Tag    string
	Weight float64
}

// CurveSpec describes a decay curve. Times are in seconds.
type CurveSpec struct {
	Type         string  // "exponential", "step" or "window"
	HalfLifeSecs float64 // exponential
	MaxAgeSecs   float64 // window
	Windows      []WindowSpec
}

// WindowSpec is a window of a step curve.
type WindowSpec struct {
	MaxAgeSecs float64
	Score      float64
}

// SlicerSpec describes a slicer. Fields that its type does not have are zero;
// nil means that the vector does not set the field.
type SlicerSpec struct {
	Type string // such as "greedy", "knapsack", "quota", "count_quota", "count_constrained_knapsack"

	Inner      *SlicerSpec // quota, count_quota; never nil there
	BucketSize *int        // knapsack, count_constrained_knapsack

	Quotas  []QuotaSpec // quota
	Entries []EntrySpec // count_quota, count_constrained_knapsack
	Throw   bool        // count_quota, count_constrained_knapsack: scarcity is an error

	// Settings of a type that the specification does not have, as those of a
	// [ScorerSpec].
	Settings map[string]any
}

// QuotaSpec is an entry of a QuotaSlice, in percent.
type QuotaSpec struct {
	Kind    cupel.ContextKind
	Require float64
	Cap     float64
}

// EntrySpec is an entry of a count slicer, in items.
type EntrySpec struct {
	Kind         cupel.ContextKind
	RequireCount int
	CapCount     int
}

package policy

import (
	"encoding/json"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// Slicer describes a slicer: [Greedy], [ScoreGreedy], [Knapsack], [Quota],
// [CountQuota], [CountConstrainedKnapsack] or a [CustomSlicer], by value and not
// by pointer.
type Slicer interface{ slicer() }

// Greedy describes a [slicer.Greedy].
type Greedy struct{}

// ScoreGreedy describes a [slicer.ScoreGreedy].
type ScoreGreedy struct{}

// Knapsack describes a [slicer.Knapsack].
type Knapsack struct {
	// BucketSize is the number of tokens in which sizes are counted, positive.
	// nil means the default, [slicer.DefaultBucketSize], unless AutoBucket is set.
	BucketSize *int
	// AutoBucket has each run choose the bucket size from its items and its
	// target, as [slicer.WithAutoBucket] says. BucketSize must be nil then.
	AutoBucket bool
	// TopUp has each run spend what the buckets leave, as [slicer.WithTopUp] says.
	TopUp bool
	// MemoryLimit is how many bytes a call may use, positive. nil means the
	// default, [slicer.DefaultMemoryLimit].
	MemoryLimit *int
}

// Quota describes a [slicer.Quota]: shares of the budget for kinds, around
// another slicer.
type Quota struct {
	Inner   Slicer
	Entries []QuotaEntry // at most one a kind
}

// QuotaEntry is what a [Quota] demands for one kind.
type QuotaEntry struct {
	Kind    cupel.ContextKind
	Require float64 // percent of the target, in [0,100] and at most Cap
	// Cap is the most that the kind may have, in percent of the target, in
	// [0,100]; 0 leaves the kind out. nil means the default, 100.
	Cap *float64
}

// CountQuota describes a [slicer.CountQuota]: numbers of items for kinds,
// around another slicer that contains no knapsack.
type CountQuota struct {
	Inner    Slicer
	Entries  []CountEntry // at most one a kind
	Scarcity slicer.ScarcityBehavior
}

// CountConstrainedKnapsack describes a [slicer.CountConstrainedKnapsack]:
// numbers of items for kinds, around a knapsack.
type CountConstrainedKnapsack struct {
	Knapsack Knapsack
	Entries  []CountEntry // at most one a kind
	Scarcity slicer.ScarcityBehavior
}

// CountEntry is what a [CountQuota] or a [CountConstrainedKnapsack] demands
// for one kind, in numbers of items.
type CountEntry struct {
	Kind         cupel.ContextKind
	RequireCount int // at least 0 and at most CapCount
	// CapCount is the largest number of items, at least 0; 0 leaves the kind
	// out. nil means no limit.
	CapCount *int
}

// CustomSlicer describes a slicer of a type that a [Registry] knows.
type CustomSlicer struct {
	Type     string          // the name under which the factory was registered
	Settings json.RawMessage // a JSON object, or nil when there are no settings
	Children []Slicer        // the slicers that this one wraps, if it is a wrapper
}

func (Greedy) slicer()                   {}
func (ScoreGreedy) slicer()              {}
func (Knapsack) slicer()                 {}
func (Quota) slicer()                    {}
func (CountQuota) slicer()               {}
func (CountConstrainedKnapsack) slicer() {}
func (CustomSlicer) slicer()             {}

// Placer describes a placer: [Chronological], [UShaped] or a [CustomPlacer],
// by value and not by pointer.
type Placer interface{ placer() }

// Chronological describes a [placer.Chronological].
type Chronological struct{}

// UShaped describes a [placer.UShaped].
type UShaped struct{}

// CustomPlacer describes a placer of a type that a [Registry] knows.
type CustomPlacer struct {
	Type     string          // the name under which the factory was registered
	Settings json.RawMessage // a JSON object, or nil when there are no settings
	Children []Placer        // the placers that this one wraps, if it is a wrapper
}

func (Chronological) placer() {}
func (UShaped) placer()       {}
func (CustomPlacer) placer()  {}

// unreadable stands for a strategy or curve of which is known already that it
// cannot be read, so that nothing more is said about it.
type unreadable struct{}

func (unreadable) scorer() {}
func (unreadable) curve()  {}
func (unreadable) slicer() {}
func (unreadable) placer() {}

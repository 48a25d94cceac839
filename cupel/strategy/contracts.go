package strategy

import (
	"context"

	"github.com/wollax/cupel-go/cupel"
)

// Scorer rates each item of a list, in comparison with the others. Scores are
// conventionally in [0,1], higher is more relevant; any float64 is allowed.
//
// Score writes scores[i] for each items[i]; len(scores) equals len(items), and a
// score not written is 0. The scores depend on nothing but the items. items holds
// every scoreable item. Score must neither change it nor retain either slice, and
// must be safe for concurrent use. ctx is the run's context, with the values that
// an observer has added; long work should stop when ctx is done.
//
// [ScorerFunc] makes a scorer of the specification's score(item, all). A scorer
// that contains others, or that can be invalid, is a [Describer] too. To call a
// scorer, use [CallScorer].
//
// It implements the Scorers chapter of the specification.
type Scorer interface {
	Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error
}

// Slicer selects items that fit a budget.
//
// items are sorted by score, highest first, and must be neither changed nor
// retained. The result is a subset, given as positions in items. Its tokens should
// not exceed budget.TargetTokens, and it is empty if items is empty or the target
// is 0. A slicer must be safe for concurrent use and keep no state between calls.
// ctx is the run's context; long work should stop when it is done.
//
// A slicer that contains others, that wants the left-over pass, or that can explain
// itself is a [Describer] too. To call a slicer, use [CallSlicer].
//
// It implements the Slicers chapter of the specification.
type Slicer interface {
	Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (Selection, error)
}

// Placer decides the order in which the selected items appear in the prompt.
//
// items holds the pinned items, with score 1.0, followed by the sliced items by
// score, highest first. order holds their positions: 0, 1, 2 and so on. Place sorts
// order: the position that comes first in the prompt, the second, and so on. It must
// neither change items nor retain either slice, and must be deterministic and safe
// for concurrent use. ctx is the run's context; long work should stop when it is
// done. To call a placer, use [CallPlacer].
//
// It implements the Placers chapter of the specification.
type Placer interface {
	Place(ctx context.Context, items []cupel.ScoredItem, order []int) error
}

// Selection is what a slicer decided.
type Selection struct {
	// Indices are the positions of the selected items, each at most once, in
	// any order: the pipeline merges by score.
	Indices []int
	// Smaller are the positions that are selected in a smaller form, none of them
	// in Indices or Drops. A slicer that wraps another passes them on, or loses
	// what they select.
	Smaller []SmallerForm
	// Drops are the positions that the slicer dropped for a reason of its own.
	// Everything else that is not selected is reported as
	// [cupel.ExcludeBudgetExceeded].
	Drops []Drop
	// Shortfalls are requirements that the candidates could not meet, in the
	// order found.
	Shortfalls []cupel.CountRequirementShortfall
	// StaysUntil is the largest target, in tokens, up to which the slicer would
	// make the same choice from the same items with any ceiling. A number that is
	// not above the target is ignored. Searches by budget skip the targets that it
	// covers.
	StaysUntil int
}

// SmallerForm is a position that a slicer chose in a smaller form.
type SmallerForm struct {
	Index int // position in the list that the slicer got
	// Form is one of [cupel.ContextItem.Forms], counted from 1. Older versions of the
	// item have the numbers after those; only the left-over pass chooses them.
	Form int
}

// Drop is an item that a slicer dropped for a reason other than the budget.
type Drop struct {
	Index  int // position in the list that the slicer was given
	Reason cupel.ExclusionReason
}

// Obstacle is what kept a slicer from selecting an item.
type Obstacle struct {
	// Rule explains in sentences how the slicer decided, without the content of any
	// item: "GreedySlice takes the highest score per token first. When its turn
	// came, 10 of 70 tokens were left.". It is empty for an item that is selected.
	Rule string
	// Before are the positions of the items chosen instead, in the order of choice
	// if there is one. Some of them may have been dropped again.
	Before []int
	// OutUntil is the largest target, in tokens, up to which the slicer would leave the
	// item out of the same items, at any ceiling. A number that is not above the target
	// is ignored. Searches by budget skip the targets that it covers.
	OutUntil int
}

// ScorerFunc adapts the specification's score(item, all) to a [Scorer]: it returns the
// score of one item among all of them, which include it. It must be a pure function.
type ScorerFunc func(item *cupel.ContextItem, all []*cupel.ContextItem) float64

// Score calls f for each item. It fails only when ctx is done.
func (f ScorerFunc) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	for i, item := range items {
		if i%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		scores[i] = f(item, items)
	}
	return nil
}

// SlicerFunc adapts a function to a [Slicer].
type SlicerFunc func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (Selection, error)

// Slice calls f.
func (f SlicerFunc) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (Selection, error) {
	return f(ctx, items, budget)
}

// PlacerFunc adapts a function to a [Placer].
type PlacerFunc func(ctx context.Context, items []cupel.ScoredItem, order []int) error

// Place calls f.
func (f PlacerFunc) Place(ctx context.Context, items []cupel.ScoredItem, order []int) error {
	return f(ctx, items, order)
}

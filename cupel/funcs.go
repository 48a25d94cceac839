package cupel

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// ScorerFunc is a function as a [Scorer].
type ScorerFunc func(item *ContextItem, all []*ContextItem) float64

// Score calls f.
func (f ScorerFunc) Score(item *ContextItem, all []*ContextItem) float64 { return f(item, all) }

// BatchScorerFunc is a function as a [BatchScorer]: it scores a whole list and
// can fail, as a call to a model can.
type BatchScorerFunc func(ctx context.Context, all []*ContextItem, scores []float64) error

// ScoreAll calls f.
func (f BatchScorerFunc) ScoreAll(ctx context.Context, all []*ContextItem, scores []float64) error {
	return f(ctx, all, scores)
}

// Score calls f for the whole list and returns the score of item, or 0 when f
// fails or item is not in the list. A pipeline does not use it.
func (f BatchScorerFunc) Score(item *ContextItem, all []*ContextItem) float64 {
	at := slices.Index(all, item)
	scores := make([]float64, len(all))
	if at < 0 || f(context.Background(), all, scores) != nil {
		return 0
	}
	return scores[at]
}

// SlicerFunc is a function as a [Slicer].
type SlicerFunc func(ctx context.Context, items []ScoredItem, budget SliceBudget) (Selection, error)

// Slice calls f.
func (f SlicerFunc) Slice(ctx context.Context, items []ScoredItem, budget SliceBudget) (Selection, error) {
	return f(ctx, items, budget)
}

// PlacerFunc is a function as a [Placer].
type PlacerFunc func(ctx context.Context, items []ScoredItem) ([]int, error)

// Place calls f.
func (f PlacerFunc) Place(ctx context.Context, items []ScoredItem) ([]int, error) {
	return f(ctx, items)
}

// SliceSubset runs a slicer on some of the items, given by their positions in
// the order in which the slicer is to see them, and returns its selection,
// smaller forms included, and its drops as positions in items. Slicers that give others a part of their list use
// it.
//
// It fails as [Slice] does, and with an [InvalidConfigError] when a position is
// out of range or given twice. Besides s it takes time linear in the number of
// positions when they ascend, and in the number of items otherwise.
func SliceSubset(ctx context.Context, s Slicer, items []ScoredItem, positions []int, budget SliceBudget) (Selection, error) {
	subset := subsetPool.Get().(*[]ScoredItem)
	*subset = resize(*subset, len(positions))
	list := *subset
	if err := checkPositions(positions, len(items)); err != nil {
		return Selection{}, err
	}
	for i, at := range positions {
		list[i] = items[at]
	}
	inner, err := Slice(ctx, s, list, budget)
	if err != nil {
		return Selection{}, err // a slicer that panicked may still hold the list
	}
	clear(list) // pooled memory must not keep items alive
	subsetPool.Put(subset)

	// The lists may be the slicer's own: they are copied, not changed.
	sel := Selection{Shortfalls: inner.Shortfalls}
	if len(inner.Indices) > 0 {
		sel.Indices = make([]int, len(inner.Indices))
		for i, at := range inner.Indices {
			sel.Indices[i] = positions[at]
		}
	}
	for _, f := range inner.Smaller {
		sel.Smaller = append(sel.Smaller, SmallerForm{Index: positions[f.Index], Form: f.Form})
	}
	if len(inner.Drops) > 0 {
		sel.Drops = make([]Drop, len(inner.Drops))
		for i, d := range inner.Drops {
			sel.Drops[i] = Drop{Index: positions[d.Index], Reason: d.Reason}
		}
	}
	return sel, nil
}

// checkPositions returns what is wrong with positions in a list of n.
func checkPositions(positions []int, n int) error {
	last := -1
	for _, at := range positions {
		if at <= last {
			last = n
			break
		}
		last = at
	}
	if last < n { // all ascend, from 0 on
		return nil
	}
	seen := newPositions(n)
	defer seen.free()
	for i, at := range positions {
		if problem := seen.take(at); problem != "" {
			return &InvalidConfigError{Component: "SliceSubset", Field: fmt.Sprintf("positions[%d]", i), Value: fmt.Sprint(at),
				Reason: fmt.Sprintf("position is given %s for a list of %d items", problem, n)}
		}
	}
	return nil
}

var subsetPool = sync.Pool{New: func() any { return new([]ScoredItem) }}

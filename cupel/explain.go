package cupel

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel/internal/promoted"
)

// Obstacle is what kept a slicer from selecting an item.
type Obstacle struct {
	// Rule says in sentences how the slicer decided, without the content of any
	// item: "GreedySlice takes the highest score per token first. When its turn
	// came, 10 of 70 tokens were left.". It is empty for an item that is selected.
	Rule string
	// Before are the positions of what was chosen instead, in the order chosen
	// where there is one. Some of it may have been dropped again.
	Before []int
}

// SliceExplainer is an optional interface of a [Slicer] that can say why it did
// not select an item. [ExplainSlice] uses it, and says of any other slicer only
// what holds for all.
//
// A type that embeds a SliceExplainer and declares its own Slice needs its own
// ExplainSlice too: the one that it inherits is ignored.
type SliceExplainer interface {
	Slicer
	// ExplainSlice returns what kept the item at a position of items from being
	// selected. items and budget are those of a call of Slice, chosen is what it
	// returned, and at is not one of its indices. The positions of the result are
	// among those that chosen selects or drops, each once.
	ExplainSlice(ctx context.Context, items []ScoredItem, budget SliceBudget, chosen Selection, at int) (Obstacle, error)
}

// ExplainSlice returns what keeps the item at a position of items from being
// selected by s, and a zero Obstacle when it is selected. Slicers that wrap
// others use it. It costs a [Slice] and what the slicer needs to explain itself.
//
// It fails as [Slice] does, and with a [StrategyError] when the explanation names
// items that were not chosen.
func ExplainSlice(ctx context.Context, s Slicer, items []ScoredItem, budget SliceBudget, at int) (o Obstacle, err error) {
	if at < 0 || at >= len(items) {
		return Obstacle{}, &InvalidConfigError{Component: "ExplainSlice", Field: "at", Value: fmt.Sprint(at), Reason: fmt.Sprintf("at must be a position in the list of %d items", len(items))}
	}
	chosen, err := Slice(ctx, s, items, budget)
	if err != nil {
		return Obstacle{}, err
	}
	known := newPositions(len(items))
	defer known.free()
	for _, i := range chosen.Indices {
		known.take(i)
	}
	for _, f := range chosen.Smaller {
		known.take(f.Index)
	}
	if known.has(at) {
		return Obstacle{}, nil
	}
	explainer, ok := s.(SliceExplainer)
	if !ok || !promoted.ExplainSlice.Agree(s) {
		before := chosen.Indices
		for _, f := range chosen.Smaller {
			before = append(slices.Clip(before), f.Index)
		}
		return Obstacle{fmt.Sprintf("%s chose others, with %d tokens.", shortTypeName(s), budget.TargetTokens), before}, nil
	}
	defer recoverStrategy("slicer", s, &err)
	if o, err = explainer.ExplainSlice(ctx, items, budget, chosen, at); err != nil {
		return Obstacle{}, strategyError(ctx, "slicer", s, err)
	}
	for _, d := range chosen.Drops {
		known.take(d.Index)
	}
	seen := newPositions(len(items))
	defer seen.free()
	for _, i := range o.Before {
		problem := seen.take(i)
		if problem == "" && (i == at || !known.has(i)) {
			problem = "as an obstacle that it did not choose,"
		}
		if problem != "" {
			return Obstacle{}, brokenContract("slicer", s, problem, i, len(items))
		}
	}
	return o, nil
}

// shortTypeName returns the name of the type of s without its package, or "The
// slicer" for a type without a name.
func shortTypeName(s Slicer) string {
	t := reflect.TypeOf(s)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name, _, _ := strings.Cut(t.Name(), "[") // of a generic type
	return cmp.Or(name, "The slicer")
}

// Explain returns what keeps a candidate from being selected with a budget, once
// it is scored: the slicer's own account, or the overflow that took the candidate
// out again. Its positions are those of candidates. It returns a zero Obstacle for
// a candidate that is in, and for one that the slicer never saw: pinned, with
// negative tokens, or a duplicate.
//
// It costs two selections, and fails as [Prepared.Select] does.
func (p *Prepared) Explain(ctx context.Context, budget ContextBudget, candidate int) (Obstacle, error) {
	if err := p.ready(); err != nil {
		return Obstacle{}, err
	}
	ctx = contextOr(ctx)
	r := p.newRun(budget, true)
	var o Obstacle
	err := r.stage(ctx, StageClassify, r.recallClassified)
	if err == nil {
		err = r.stage(ctx, StageSlice, func(ctx context.Context) (err error) {
			o, err = r.explain(ctx, candidate)
			return err
		})
	}
	if err != nil {
		return Obstacle{}, err
	}
	r.free()
	return o, nil
}

func (r *run) explain(ctx context.Context, candidate int) (Obstacle, error) {
	if candidate < 0 || candidate >= len(r.items) {
		return Obstacle{}, nil
	}
	if r.units != nil {
		return r.explainUnit(ctx, candidate)
	}
	at := -1
	for i, k := range r.keys {
		if r.scoreable[k.Index] == candidate {
			at = i
		}
	}
	if at < 0 {
		return Obstacle{}, nil
	}
	if err := r.slice(ctx); err != nil {
		return Obstacle{}, err
	}
	for _, s := range r.selected {
		if r.scoreable[s] == candidate {
			return r.explainOverflow(ctx, candidate)
		}
	}
	if r.effective.TargetTokens == 0 {
		return r.explainNothingLeft(), nil
	}
	copy(r.sorted, r.prepared.sorted) // the slicer has had the list already
	o, err := ExplainSlice(ctx, r.pipeline.config.Slicer, r.sorted, r.effective, at)
	before := make([]int, len(o.Before)) // the slicer's own list stays as it is
	for i, at := range o.Before {
		before[i] = r.scoreable[r.keys[at].Index]
	}
	o.Before = before
	return o, err
}

func (r *run) explainNothingLeft() Obstacle {
	o := Obstacle{Rule: "Nothing is left to choose with after pinned items and what the budget reserves."}
	for _, pinned := range r.pinned {
		if r.items[pinned].tokens > 0 {
			o.Before = append(o.Before, pinned)
		}
	}
	return o
}

const overflowRule = "The slicer chose it, but the selection overflowed the target: pinned items stay, and of the others the best that fit."

// explainOverflow is for a candidate that the slicer has chosen.
func (r *run) explainOverflow(ctx context.Context, candidate int) (Obstacle, error) {
	if err := r.mergeWithinTarget(ctx); err != nil {
		return Obstacle{}, err
	}
	rank := make(map[int]int, len(r.keys)) // 0 for pinned candidates
	for i, k := range r.keys {
		rank[r.scoreable[k.Index]] = i + 1
	}
	o := Obstacle{Rule: overflowRule}
	for _, m := range r.mergedFrom {
		switch {
		case m.candidate == candidate:
			return Obstacle{}, nil
		case rank[m.candidate] < rank[candidate]:
			o.Before = append(o.Before, m.candidate)
		}
	}
	return o, nil
}

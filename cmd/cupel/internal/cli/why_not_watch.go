package cli

import (
	"context"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// sliceCall is one question to a slicer that decides by itself, as opposed to
// one that hands parts of the question to others, and its answer.
type sliceCall struct {
	slicer cupel.Slicer
	items  []cupel.ScoredItem
	budget cupel.SliceBudget
	chosen []int // positions in items, in the order in which they were chosen
}

// sliceWatch remembers the calls of the slicer inside it.
type sliceWatch struct {
	inner cupel.Slicer
	calls *[]sliceCall
}

// Slice asks the slicer inside.
func (w sliceWatch) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	selection, err := cupel.Slice(ctx, w.inner, items, budget)
	if err == nil {
		*w.calls = append(*w.calls, sliceCall{w.inner, slices.Clone(items), budget, slices.Clone(selection.Indices)})
	}
	return selection, err
}

// Slicers returns the slicer inside.
func (w sliceWatch) Slicers() []cupel.Slicer { return []cupel.Slicer{w.inner} }

// ForKind narrows the slicer inside, if that can be narrowed.
func (w sliceWatch) ForKind(kind cupel.ContextKind) cupel.Slicer {
	if n, ok := w.inner.(cupel.KindNarrower); ok {
		return sliceWatch{n.ForKind(kind), w.calls}
	}
	return w
}

// watched returns a slicer that selects as s does, with a watch around each
// slicer in it that decides by itself. It is for runs that s has not failed.
func watched(s cupel.Slicer, calls *[]sliceCall) cupel.Slicer {
	switch s := s.(type) {
	case *slicer.Quota:
		if q, err := slicer.NewQuota(watched(s.Slicers()[0], calls), s.Entries()...); err == nil {
			return q
		}
	case *slicer.CountQuota:
		// Where it did not fail, what it does about scarcity makes no difference.
		if q, err := slicer.NewCountQuota(watched(s.Slicers()[0], calls), slicer.ScarcityDegrade, s.Entries()...); err == nil {
			return q
		}
	}
	return sliceWatch{s, calls}
}

// budgetWatch tells of the targets that the slicer inside it is asked about,
// and follows budgets as that one does.
type budgetWatch struct {
	inner cupel.Slicer
	saw   func(target int)
}

// Slice asks the slicer inside.
func (w budgetWatch) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	w.saw(budget.TargetTokens)
	return cupel.Slice(ctx, w.inner, items, budget)
}

// Slicers returns the slicer inside.
func (w budgetWatch) Slicers() []cupel.Slicer { return []cupel.Slicer{w.inner} }

// Sweep follows the slicer inside, if that can be followed.
func (w budgetWatch) Sweep(items []cupel.ScoredItem) cupel.SliceSweep {
	sweep := cupel.Sweep(w.inner, items)
	if sweep == nil {
		return nil
	}
	return sweepWatch{sweep, w.saw}
}

type sweepWatch struct {
	cupel.SliceSweep
	saw func(target int)
}

// Advance goes to a target.
func (w sweepWatch) Advance(target int) (keep int, more []int) {
	w.saw(target)
	return w.SliceSweep.Advance(target)
}

// follows is true when a slicer follows budgets for little more than what
// changes at them.
func follows(s cupel.Slicer) bool { return cupel.Sweep(s, nil) != nil }

// watchingBudgets returns a pipeline that does what p does and tells of the
// targets that it is asked about.
func watchingBudgets(p *cupel.Pipeline, saw func(target int)) (*cupel.Pipeline, error) {
	config := p.Config()
	config.Slicer = budgetWatch{config.Slicer, saw}
	return cupel.New(config)
}

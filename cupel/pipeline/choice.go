package pipeline

import (
	"context"
	"errors"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/engine"
	"github.com/wollax/cupel-go/cupel/internal/exact"
)

// Choice is the selection of a [Prepared] for a budget.
type Choice struct {
	Candidates []int // as [Prepared.Select] returns them
	// Forms are the forms of the candidates, as [cupel.IncludedItem] counts them. It
	// is nil if no candidate has a group, a variant or a version key.
	Forms  []int32
	Tokens int // of the candidates in their forms, clamped to the range of int

	known      bool // something is known about other budgets
	unfit      bool // the pinned items do not fit
	pinned     exact.Sum
	tokens     exact.Sum
	effective  cupel.SliceBudget
	staysUntil int // as the slicer says
}

// Select returns only the positions of the candidates in the window: pinned ones first,
// then the others by score. It is the cheapest query: it builds neither window nor
// report, and calls neither observers nor the placer. It therefore cannot report that
// the placer failed.
func (p *Prepared) Select(ctx context.Context, budget cupel.ContextBudget) ([]int, error) {
	choice, err := p.Choose(ctx, budget)
	return choice.Candidates, err
}

// Choose selects as [Prepared.Select] does, for callers that try many budgets: the
// choice knows some of the budgets that give the same selection.
func (p *Prepared) Choose(ctx context.Context, budget cupel.ContextBudget) (Choice, error) {
	ctx = contextOr(ctx)
	r := p.start(budget, true)
	if r.failed != nil {
		return Choice{}, r.failed
	}
	err := r.stage(ctx, classify, 0, r.classify)
	if err != nil {
		unfit := errors.Is(err, ErrPinnedExceedsBudget)
		return Choice{known: unfit, unfit: unfit, pinned: r.choice.PinnedTokens}, err
	}
	err = r.stage(ctx, slice, 0, r.slice)
	if err == nil {
		err = r.stage(ctx, place, 0, func(context.Context) (int, error) { return 0, r.merge() })
	}
	if err != nil {
		return Choice{}, err
	}
	c := Choice{Candidates: r.candidatesOf(r.choice.Merged), pinned: r.choice.PinnedTokens}
	c.tokens = r.choice.MergedTokens()
	c.Tokens = c.tokens.Int()
	switch {
	case r.columns.Links != nil:
		c.Forms = r.formsOf(r.choice.Merged)
	case !r.overflowed: // the slicer does not decide about an overflow
		c.known, c.effective, c.staysUntil = true, r.effective, r.selection.StaysUntil
	}
	r.free()
	return c, nil
}

// formsOf returns the forms of what merged units stand for.
func (r *run) formsOf(merged []engine.Chosen) (forms []int32) {
	for i := range merged {
		m := &merged[i]
		made := r.set.Make(m.Unit, m.Form)
		for n, c := range r.set.Members(m.Unit) {
			forms = append(forms, int32(r.formOf(&made, n, c)))
		}
	}
	return forms
}

// HoldsAt reports whether another budget certainly gives the same choice, or is also
// too small for the pinned items. It recognizes larger budgets if the slicer sets
// StaysUntil of strategy.Selection. If a candidate has a group, a variant or a version
// key, it recognizes only budgets that are too small. It calls no strategy.
func (c *Choice) HoldsAt(budget cupel.ContextBudget) bool {
	if !c.known {
		return false
	}
	fits := checkPinned(budget, c.pinned) == nil
	if c.unfit {
		return !fits
	}
	effective := budget.Effective(c.pinned.Int())
	stays := effective == c.effective || effective.TargetTokens >= c.effective.TargetTokens && effective.TargetTokens <= c.staysUntil
	return fits && stays && !c.tokens.Greater(budget.TargetTokens())
}

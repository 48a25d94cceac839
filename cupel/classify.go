package cupel

import (
	"context"

	"github.com/wollax/cupel-go/cupel/internal/exact"
)

// classify is stage 1: it leaves out items with a negative token count, parts
// pinned from scoreable items, and refuses pinned items that cannot fit.
//
// It implements the Classify chapter of the specification.
func (r *run) classify(ctx context.Context) error {
	if err := r.partition(ctx); err != nil {
		return err
	}
	return r.fitPinned()
}

// partition is what of classify does not depend on the budget.
func (r *run) partition(ctx context.Context) error {
	if r.pipeline.config.looksForCopies() {
		return r.partitionUnits(ctx)
	}
	r.pinned, r.scoreable = r.pinned[:0], resize(r.scoreable, len(r.items))[:0]
	for i, item := range r.items {
		if item == nil || item.content == "" {
			return &InvalidItemError{i, "", "must come from NewContextItem, got nil or an empty item"}
		}
		if item.units != nil {
			r.takeBack()
			return r.partitionUnits(ctx)
		}
		switch {
		// Before the look at pinned: a pinned item with a negative count is out.
		case item.tokens < 0:
			r.exclude(i, 0, negativeTokens(item.tokens))
		case item.pinned:
			r.pinned = append(r.pinned, i)
			r.pinnedTokens.Add(item.tokens)
		default:
			r.scoreable = append(r.scoreable, i)
		}
	}
	r.trace.count = len(r.pinned) + len(r.scoreable)
	return nil
}

// takeBack forgets what the stage that runs has found.
func (r *run) takeBack() {
	t := &r.trace
	clear(t.excluded[t.stageFrom:])
	t.excluded, t.stages = t.excluded[:t.stageFrom], t.stages[:t.stageFrom]
	t.reasons.reset()
	r.pinnedTokens = exact.Sum{}
}

func (r *run) fitPinned() error {
	if r.units != nil {
		r.fitPinnedUnits()
	}
	return r.budget.checkPinned(r.pinnedTokens)
}

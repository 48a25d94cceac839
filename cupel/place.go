package cupel

import (
	"context"

	"github.com/wollax/cupel-go/cupel/internal/exact"
)

// pinnedScore is the score of pinned items from Place on.
const pinnedScore = 1.0

// place is stage 6: it merges pinned and sliced items, handles overflow, and
// lets the placer order the rest.
//
// It implements the Place chapter of the specification.
func (r *run) place(ctx context.Context) error {
	if r.units != nil {
		return r.placeUnits(ctx)
	}
	if err := r.mergeWithinTarget(ctx); err != nil {
		return err
	}
	placed, err := place(ctx, r.pipeline.config.Placer, r.order, r.merged)
	if err != nil {
		return err
	}
	if _, appended := appends(r.pipeline.config.Placer); appended { // other lists are not ours to write to
		r.order = placed
	}
	r.window = make([]*ContextItem, len(placed))
	for i, at := range placed {
		r.window[i] = r.items[r.mergedFrom[at].candidate]
	}
	r.trace.count = len(placed)
	r.trace.placed = placed
	return nil
}

// mergeWithinTarget decides what will be in the window.
func (r *run) mergeWithinTarget(context.Context) error {
	if r.units != nil {
		return r.mergeUnitsWithinTarget()
	}
	if tokens := r.merge(); tokens.Greater(r.budget.targetTokens) {
		return r.handleOverflow(tokens)
	}
	return nil
}

// merge lists pinned items, in the order of the candidates, and after them the
// selected ones by score. It returns the tokens of all of them.
func (r *run) merge() exact.Sum {
	n := len(r.pinned) + len(r.selected)
	r.merged, r.mergedFrom = resize(r.merged, n)[:0], resize(r.mergedFrom, n)[:0]
	var tokens exact.Sum
	add := func(candidate int, score float64) {
		item := r.items[candidate]
		r.merged = append(r.merged, ScoredItem{Item: item, Score: score})
		r.mergedFrom = append(r.mergedFrom, mergedItem{candidate, score})
		tokens.Add(item.tokens)
	}
	for _, candidate := range r.pinned {
		add(candidate, pinnedScore)
	}
	for _, s := range r.selected {
		add(r.scoreable[s], r.scores[s])
	}
	return tokens
}

// handleOverflow is HANDLE-OVERFLOW of the Place chapter.
func (r *run) handleOverflow(tokens exact.Sum) error {
	target := r.budget.targetTokens
	switch r.pipeline.config.Overflow {
	case OverflowTruncate:
		r.truncate()
		return nil
	case OverflowProceed:
		r.reportOverflow(tokens.Minus(exact.Of(target)).Int())
		return nil
	default:
		return &OverflowError{MergedTokens: tokens.Int(), TargetTokens: target}
	}
}

// truncate keeps pinned items, and others in order while the running total
// stays within the target; zero-token items are no exception (R25).
func (r *run) truncate() {
	target := r.budget.targetTokens
	running := r.pinnedTokens
	kept := len(r.pinned)
	for i := kept; i < len(r.merged); i++ {
		item := r.merged[i].Item
		total := running
		total.Add(item.tokens)
		if total.Greater(target) {
			r.excludeTruncated(r.mergedFrom[i], running, total)
			continue
		}
		running = total
		r.merged[kept], r.mergedFrom[kept] = r.merged[i], r.mergedFrom[i]
		kept++
	}
	clear(r.merged[kept:])
	r.merged, r.mergedFrom = r.merged[:kept], r.mergedFrom[:kept]
}

func (r *run) excludeTruncated(m mergedItem, running, total exact.Sum) {
	target := r.budget.targetTokens
	if r.pinnedTokens.Greater(0) && !total.Minus(r.pinnedTokens).Greater(target) {
		r.exclude(m.candidate, m.score, r.pinnedOverride())
		return
	}
	r.exclude(m.candidate, m.score, budgetExceeded(r.items[m.candidate].tokens, exact.Of(target).Minus(running).Int()))
}

// reportOverflow makes the event if the observer, of real runs only, or the
// report wants it (R36).
func (r *run) reportOverflow(over int) {
	r.over = over
	observer := r.pipeline.config.OnOverflow
	if r.dry {
		observer = nil
	}
	if observer == nil && !r.trace.report {
		return
	}
	event := OverflowEvent{TokensOverBudget: over, OverflowingItems: make([]*ContextItem, len(r.merged)), Budget: r.budget}
	for i, m := range r.merged {
		event.OverflowingItems[i] = m.Item
	}
	if r.trace.report {
		r.overflow = event.clone() // the observer may change its copy
	}
	if observer != nil {
		observer(event)
	}
}

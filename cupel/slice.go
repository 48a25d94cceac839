package cupel

import (
	"context"

	"github.com/wollax/cupel-go/cupel/internal/exact"
)

// sortAndSlice is stages 4 and 5: the slicer selects, from the sorted items,
// what fits the effective budget.
//
// It implements the Slice chapter of the specification.
func (r *run) sortAndSlice(ctx context.Context) error {
	r.sort()
	return r.slice(ctx)
}

func (r *run) slice(ctx context.Context) error {
	r.effective = r.budget.effective(r.pinnedTokens)
	if r.units != nil {
		return r.sliceUnits(ctx)
	}
	selection, err := slice(ctx, r.pipeline.config.Slicer, r.sorted, r.effective)
	if err != nil {
		return err
	}
	r.shortfalls = selection.Shortfalls

	// Merged in sorted order, not in the slicer's order (R23).
	chosen := newPositions(len(r.sorted))
	defer chosen.free()
	for _, at := range selection.Indices {
		chosen.take(at)
	}
	r.selected = resize(r.selected, len(selection.Indices))[:0]
	for at, k := range r.keys {
		if chosen.has(at) {
			r.selected = append(r.selected, k.Index)
		}
	}
	r.trace.count = len(r.selected)
	if r.trace.why() {
		r.excludeUnselected(selection, chosen)
	}
	return nil
}

// excludeUnselected finds the reason for every sorted item that was not chosen:
// the slicer's own reason, the budget, or the pinned items.
func (r *run) excludeUnselected(selection Selection, chosen *positions) {
	unselected := len(r.sorted) - len(r.selected)
	if r.trace.items {
		r.trace.expect(unselected)
	}
	for _, d := range selection.Drops {
		chosen.take(d.Index)
		s := r.keys[d.Index].Index
		r.exclude(r.scoreable[s], r.scores[s], d.Reason)
	}
	if !r.trace.items && !r.pinnedTokens.Greater(0) { // all have the same reason, and only their number matters
		r.trace.reasons.add(ExcludeBudgetExceeded, unselected-len(selection.Drops))
		return
	}

	var used exact.Sum
	for _, s := range r.selected {
		used.Add(r.items[r.scoreable[s]].tokens)
	}
	available := exact.Of(r.effective.TargetTokens).Minus(used).Int()
	withoutPinned := r.budget.effective(exact.Sum{}).TargetTokens
	for at, k := range r.keys {
		if chosen.has(at) {
			continue
		}
		tokens := r.items[r.scoreable[k.Index]].tokens
		reason := budgetExceeded(tokens, available)
		if r.pinnedTokens.Greater(0) && tokens > r.effective.TargetTokens && tokens <= withoutPinned {
			reason = r.pinnedOverride()
		}
		r.exclude(r.scoreable[k.Index], r.scores[k.Index], reason)
	}
}

// pinnedOverride names the first pinned item, in the order of the candidates,
// as the cause (R30).
func (r *run) pinnedOverride() ExclusionReason {
	if r.stream != nil && r.stream.groups != nil {
		return pinnedOverride(r.stream.groups.always[0].members[0])
	}
	return pinnedOverride(r.items[r.pinned[0]])
}

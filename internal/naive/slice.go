package naive

import (
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// effectiveBudget is COMPUTE-EFFECTIVE-BUDGET of the Slice chapter.
func effectiveBudget(b cupel.ContextBudget, pinnedTokens sum) cupel.SliceBudget {
	taken := pinnedTokens
	for _, tokens := range b.ReservedSlots() {
		taken.add(tokens)
	}
	effectiveMax := max(0, sumOf(b.MaxTokens()).minus(sumOf(b.OutputReserve())).minus(taken).tokens())
	effectiveTarget := min(max(0, sumOf(b.TargetTokens()).minus(taken).tokens()), effectiveMax)
	if b.EstimationSafetyMarginPercent() > 0 {
		multiplier := 1.0 - b.EstimationSafetyMarginPercent()/100.0
		effectiveMax = max(floor(float64(effectiveMax)*multiplier), 0)
		effectiveTarget = min(max(floor(float64(effectiveTarget)*multiplier), 0), effectiveMax)
	}
	return cupel.SliceBudget{MaxTokens: effectiveMax, TargetTokens: effectiveTarget}
}

// entryOf returns a unit as slicers see it, and the older versions that may come
// back in its place.
func entryOf(u *unit) (entry, []*unit) {
	e := entry{ScoredItem: cupel.ScoredItem{Item: u.standIn(), Score: u.score}, forms: u.chain[1:]}
	if u.grouped {
		return e, nil
	}
	var back []*unit
	slices.SortFunc(u.older, func(a, b *unit) int { return a.place() - b.place() })
	for _, o := range u.older {
		o.members[0].variants = nil // it comes back as it is
		o.setChain()
		if o.tokens() < u.tokens() {
			e.older = append(e.older, oldEntry{o.tokens(), o.score})
			back = append(back, o)
		}
	}
	return e, back
}

// slice is the Slice chapter over units: it returns those selected, in their
// forms and in the order of merging, regardless of the slicer's (R23).
func (r *run) slice(units []*unit) ([]*unit, error) {
	adjusted := effectiveBudget(r.budget, r.pinnedTotal)
	list := make([]entry, len(units))
	back := make([][]*unit, len(units))
	for i, u := range units {
		u.setChain()
		list[i], back[i] = entryOf(u)
	}
	selection, err := sliceAll(r.Slicer, list, adjusted)
	if err != nil {
		return nil, err
	}
	r.result.Report.CountRequirementShortfalls = selection.Shortfalls
	for range selection.Shortfalls {
		r.decide(cupel.StageSlice, "CountRequirementShortfall")
	}

	var selected []*unit
	in := make([]bool, len(units))
	for _, i := range selection.Indices {
		in[i] = true
		selected = append(selected, units[i])
	}
	for _, s := range selection.Smaller {
		u := units[s.Index]
		if s.Form < len(u.chain) {
			in[s.Index] = true
			u.form = s.Form
			selected = append(selected, u)
			continue
		}
		o := back[s.Index][s.Form-len(u.chain)]
		r.excluded = slices.DeleteFunc(r.excluded, func(e excluded) bool { return e.position == o.place() })
		selected = append(selected, o)
	}
	for _, d := range selection.Drops {
		in[d.Index] = true
		for _, it := range units[d.Index].members {
			r.exclude(it, units[d.Index].score, cupel.StageSlice, d.Reason.Code, d.Reason.Data())
		}
	}

	available := sumOf(adjusted.TargetTokens).minus(sumTokens(selected)).tokens()
	withoutPinned := effectiveBudget(r.budget, sum{}).TargetTokens
	for i, u := range units {
		if !in[i] {
			tokens := u.chain[0].tokens
			override := r.pinnedTotal.exceeds(0) && tokens > adjusted.TargetTokens && tokens <= withoutPinned
			r.excludeForBudget(u, cupel.StageSlice, override, available)
		}
	}
	return sorted(selected), nil
}

// excludeForBudget leaves out a unit that did not fit (R29), or would have
// fitted, had nothing been pinned (R30).
func (r *run) excludeForBudget(u *unit, stage cupel.PipelineStage, override bool, available int) {
	for _, it := range u.members {
		if override {
			r.exclude(it, u.score, stage, cupel.ExcludePinnedOverride, cupel.ReasonData{DisplacedBy: r.firstPinned.ref.Content()})
			continue
		}
		data := cupel.ReasonData{ItemTokens: it.tokens, AvailableTokens: available}
		if u.grouped {
			data.GroupTokens = u.chain[0].tokens
		}
		r.exclude(it, u.score, stage, cupel.ExcludeBudgetExceeded, data)
	}
}

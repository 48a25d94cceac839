package naive

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// place is the Place chapter over units.
func (r *run) place(pinned, selected []*unit) error {
	for _, u := range pinned {
		u.score = 1.0
	}
	merged := slices.Concat(pinned, selected)
	target := r.budget.TargetTokens()
	total := sumTokens(merged)
	over := total.exceeds(target)
	if over && r.Overflow == pipeline.OverflowThrow {
		return &Error{pipeline.ErrOverflow, fmt.Sprintf("Selected items require %d tokens, exceeding target budget of %d", total.tokens(), target)}
	}
	if over && r.Overflow == pipeline.OverflowTruncate {
		shrink(merged, target)
		merged = r.truncate(merged, target)
	}

	windows := make([][]*cupel.ContextItem, len(merged))
	list := make([]cupel.ScoredItem, len(merged))
	for i, u := range merged {
		var err error
		if windows[i], err = u.window(); err != nil {
			return err
		}
		list[i] = cupel.ScoredItem{Item: u.standIn(), Score: u.score}
	}
	if over && r.Overflow == pipeline.OverflowProceed {
		r.result.Report.Overflow = &cupel.OverflowEvent{
			TokensOverBudget: total.minus(sumOf(target)).tokens(),
			OverflowingItems: slices.Concat(windows...),
			Budget:           r.budget,
		}
	}
	r.result.Items = []*cupel.ContextItem{}
	for _, i := range r.Placer.place(list) {
		r.result.Items = append(r.result.Items, windows[i]...)
		if err := r.include(merged[i], windows[i]); err != nil {
			return err
		}
	}
	return nil
}

// include reports the members of a unit with their items in the window, or with
// the one that replaces all of them, whose tokens count once.
func (r *run) include(u *unit, window []*cupel.ContextItem) error {
	g := u.chain[u.form]
	for i, it := range u.members {
		in := cupel.IncludedItem{Score: u.score, Reason: cupel.IncludeScored, Candidate: it.position, Stale: it.stale}
		if v := g.groupVariant; v == nil {
			in.Item, in.Form = window[i], g.at[i]
		} else {
			in.Item, in.Form = window[0], len(it.ref.Variants())+v.number
			if i > 0 {
				var err error
				if in.Item, err = window[0].With(cupel.WithContent(window[0].Content(), 0)); err != nil {
					return err
				}
			}
		}
		switch {
		case u.pinned:
			in.Reason = cupel.IncludePinned
		case it.tokens == 0:
			in.Reason = cupel.IncludeZeroToken
		}
		r.result.Report.Included = append(r.result.Report.Included, in)
		r.decide(cupel.StagePlace, string(in.Reason))
	}
	return nil
}

// shrink is the first step of TRUNCATE-UNITS, before it drops.
func shrink(merged []*unit, target int) {
	for _, pinned := range []bool{false, true} {
		for _, u := range slices.Backward(merged) {
			for u.pinned == pinned && sumTokens(merged).exceeds(target) && u.form+1 < len(u.chain) {
				u.form++
			}
		}
	}
}

// truncate is TRUNCATE over units.
func (r *run) truncate(merged []*unit, target int) []*unit {
	if !sumTokens(merged).exceeds(target) {
		return merged
	}
	var kept []*unit
	var current, pinnedTotal sum
	for _, u := range merged {
		if u.pinned {
			pinnedTotal.add(u.tokens())
		}
	}
	for _, u := range merged {
		withUnit := current.plus(sumOf(u.tokens()))
		if u.pinned || !withUnit.exceeds(target) {
			kept = append(kept, u)
			current = withUnit
			continue
		}
		override := pinnedTotal.exceeds(0) && !withUnit.minus(pinnedTotal).exceeds(target)
		r.excludeForBudget(u, cupel.StagePlace, override, sumOf(target).minus(current).tokens())
	}
	return kept
}

// Placer is the configuration of a placer.
type Placer interface {
	// place is the PLACE function of the placer's chapter, in positions (R24).
	place(items []cupel.ScoredItem) []int
}

// Place is the Placers chapter: one placer on a list that is merged already.
func Place(p Placer, items []cupel.ScoredItem) []int { return p.place(items) }

// ordered returns the positions from 0 to n-1 in a stable order.
func ordered(n int, compare func(i, j int) int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, compare)
	return order
}

// Chronological is the ChronologicalPlacer chapter.
type Chronological struct{}

func (Chronological) place(items []cupel.ScoredItem) []int {
	return ordered(len(items), func(i, j int) int {
		a, hasA := items[i].Item.Timestamp()
		b, hasB := items[j].Item.Timestamp()
		if hasA && hasB {
			return a.Compare(b)
		}
		return boolOrder(hasA, hasB)
	})
}

// UShaped is the UShapedPlacer chapter.
type UShaped struct{}

func (UShaped) place(items []cupel.ScoredItem) []int {
	scored := ordered(len(items), func(i, j int) int { return byScore(items[i].Score, items[j].Score) })
	result := make([]int, len(items))
	left, right := 0, len(items)-1
	for i, index := range scored {
		if i%2 == 0 {
			result[left] = index
			left++
		} else {
			result[right] = index
			right--
		}
	}
	return result
}

// byScore orders by score descending: +Inf first, NaN last, -0.0 equal to 0.0
// (R8).
func byScore(a, b float64) int { return cmp.Compare(b, a) }

// boolOrder puts true first.
func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

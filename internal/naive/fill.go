package naive

import (
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// entry is a unit as a slicer sees it.
type entry struct {
	cupel.ScoredItem
	forms []form     // the smaller ones, in the order of the chain
	older []oldEntry // versions that may come back in its place, by place
}

// oldEntry is an older version of an item.
type oldEntry struct {
	tokens int
	score  float64
}

// sliceAll is a slicer with the left-over pass of the Units chapter, where one
// follows.
func sliceAll(s slicer, items []entry, budget cupel.SliceBudget, f Fault) (strategy.Selection, error) {
	selection, err := s.slice(items, budget, f)
	if err != nil || !s.leftOver() && f != FaultLeftOverAlways || f == FaultLeftOverNever {
		return selection, err
	}
	return leftOver(items, budget.TargetTokens, selection, f), nil
}

// out is the form of a unit that is not selected.
const out = -1

// point is what a unit may become. Its form is a position: out, 0 for form 0,
// then the smaller forms, then the older versions.
type point struct {
	form   int
	tokens int
	value  float64
}

// points returns out and the unit's own forms, by position.
func (e entry) points(f Fault) []point {
	score := e.Score
	if f != FaultInfinityNotClamped {
		score = min(score, math.MaxFloat64)
	}
	list := []point{{out, 0, 0}, {0, e.Item.Tokens(), score}}
	for _, g := range e.forms {
		value := g.worth * score
		if f == FaultValueIgnoresWorth {
			value = score
		}
		list = append(list, point{len(list) - 1, g.tokens, value})
	}
	return list
}

// olderPoints returns out and the older versions, by place.
func (e entry) olderPoints(f Fault) []point {
	list := []point{{form: out}}
	for i, o := range e.older {
		score := o.score
		if f == FaultOlderHasNewestScore {
			score = e.Score
		}
		list = append(list, point{len(e.forms) + 1 + i, o.tokens, min(score, math.MaxFloat64)})
	}
	return list
}

// tokensOf returns the tokens of a unit in a form, or of an older version.
func (e entry) tokensOf(form int) int {
	if form > len(e.forms) {
		return e.older[form-len(e.forms)-1].tokens
	}
	return e.points(FaultNone)[form+1].tokens
}

// leftOver is LEFT-OVER.
func leftOver(items []entry, target int, selection strategy.Selection, f Fault) strategy.Selection {
	if target <= 0 && f != FaultLeftOverZeroTarget {
		return selection
	}
	start := make([]int, len(items))
	for i := range start {
		start[i] = out
	}
	for _, i := range selection.Indices {
		start[i] = 0
	}
	for _, s := range selection.Smaller {
		start[s.Index] = s.Form
	}
	dropped := make([]bool, len(items))
	for _, d := range selection.Drops {
		dropped[d.Index] = f != FaultDropsReturn
	}

	withForms := func(state []int) []int {
		all := make([][]point, len(items))
		for i, it := range items {
			if len(it.forms) > 0 && !dropped[i] && state[i] <= len(it.forms) {
				all[i] = it.points(f)
			}
		}
		return fill(all, state, leftOf(items, state, target, f), f)
	}
	withOlder := func(state []int) []int {
		left := leftOf(items, state, target, f)
		all := make([][]point, len(items))
		for i, it := range items {
			tooLarge := it.Item.Tokens() > left || f == FaultOlderWhereNewestFits
			if len(it.older) > 0 && !dropped[i] && state[i] == out && tooLarge {
				all[i] = it.olderPoints(f)
			}
		}
		return fill(all, state, left, f)
	}
	state := start
	if f == FaultOlderFirst {
		state = withForms(withOlder(state))
	} else {
		state = withOlder(withForms(state))
	}

	var smaller []strategy.SmallerForm
	for i, form := range state {
		switch {
		case form == 0 && start[i] != 0:
			selection.Indices = append(selection.Indices, i)
		case form > 0:
			smaller = append(smaller, strategy.SmallerForm{Index: i, Form: form})
		}
	}
	selection.Smaller = smaller
	return selection
}

// leftOf returns what units in their forms leave of a target.
func leftOf(items []entry, state []int, target int, f Fault) int {
	left := sumOf(target)
	for i, it := range items {
		left = left.minus(sumOf(it.tokensOf(state[i])))
	}
	return left.tokens(f)
}

// rate is RATE.
func rate(a, b point) float64 {
	if a.tokens == b.tokens {
		return math.Inf(1)
	}
	return (b.value - a.value) / float64(b.tokens-a.tokens)
}

// better is POINTS: what a unit may become from a point.
func better(all []point, from point, left int, f Fault) []point {
	var points []point
	for _, p := range all[1:] {
		larger := p.tokens > from.tokens || from.form == out
		fits := p.tokens-from.tokens <= left
		gains := p.value >= from.value && p.value >= 0
		if f == FaultFillTakesLosses {
			gains = !math.IsNaN(p.value)
		}
		if f == FaultFillRefusesNoGain && p.value == from.value {
			gains = false
		}
		if larger && fits && gains {
			points = append(points, p)
		}
	}
	slices.SortStableFunc(points, func(a, b point) int {
		if a.tokens != b.tokens {
			return a.tokens - b.tokens
		}
		return byScore(a.value, b.value)
	})
	var kept []point
	for i, p := range points {
		follows := slices.ContainsFunc(points[:i], func(q point) bool { return q.tokens == p.tokens || q.value > p.value })
		if !follows {
			kept = append(kept, p)
		}
	}
	return kept
}

// hull is HULL.
func hull(from point, points []point, f Fault) []point {
	stack := []point{from}
	for _, p := range points {
		for n := len(stack); n >= 2; n = len(stack) {
			before, after := rate(stack[n-2], stack[n-1]), rate(stack[n-1], p)
			if f == FaultHullEveryPoint || before > after || before == after && f != FaultHullDropsEdge {
				break
			}
			stack = stack[:n-1]
		}
		stack = append(stack, p)
	}
	return stack
}

// fill is FILL: it returns the form of each unit. all has out and what each unit
// may become; units without any stay as they are.
func fill(all [][]point, start []int, left int, f Fault) []int {
	type step struct {
		unit int
		a, b point
	}
	state := make([]point, len(all))
	var steps []step
	for i, points := range all {
		if points == nil {
			state[i].form = start[i]
			continue
		}
		state[i] = points[start[i]+1]
		stack := hull(state[i], better(points, state[i], left, f), f)
		for j, b := range stack[1:] {
			steps = append(steps, step{i, stack[j], b})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int {
		if f == FaultFillByGain {
			return byScore(a.b.value-a.a.value, b.b.value-b.a.value)
		}
		if f == FaultFillByPosition {
			return 0
		}
		byRate := byScore(rate(a.a, a.b), rate(b.a, b.b))
		switch {
		case byRate != 0:
			return byRate
		case a.unit != b.unit && f == FaultFillTieLast:
			return b.unit - a.unit
		case a.unit != b.unit:
			return a.unit - b.unit
		}
		return a.b.tokens - b.b.tokens
	})
	for _, s := range steps {
		if cost := s.b.tokens - s.a.tokens; state[s.unit].form == s.a.form && cost <= left && f != FaultFillNoSteps {
			state[s.unit] = s.b
			left -= cost
		} else if f == FaultFillStopsAtMisfit {
			break
		}
	}
	for i, points := range all {
		if points == nil || f == FaultFillNoSecondPass {
			continue
		}
		from := state[i]
		best := from
		for _, p := range better(points, from, left, f) {
			if p.value > best.value || best.form == out {
				best = p
			}
		}
		state[i] = best
		left -= best.tokens - from.tokens
	}
	forms := make([]int, len(all))
	for i, p := range state {
		forms[i] = p.form
	}
	return forms
}

// MultipleChoice is the MultipleChoiceSlice section.
type MultipleChoice struct{ Exact bool }

func (s MultipleChoice) construct(Fault) (slicer, error) { return s, nil }
func (s MultipleChoice) narrow(cupel.ContextKind) slicer { return s }
func (MultipleChoice) leftOver() bool                    { return true }

func (s MultipleChoice) slice(items []entry, budget cupel.SliceBudget, f Fault) (strategy.Selection, error) {
	if len(items) == 0 || budget.TargetTokens <= 0 {
		return strategy.Selection{}, nil
	}
	if s.Exact {
		return chosen(bestOf(items, budget.TargetTokens, f)), nil
	}
	start := make([]int, len(items))
	all := make([][]point, len(items))
	for i, it := range items {
		start[i], all[i] = out, it.points(f)
	}

	state := fill(all, start, budget.TargetTokens, f)
	total := 0.0
	bestUnit, best := out, point{}
	for i, points := range all {
		total += points[state[i]+1].value
		for _, p := range better(points, points[0], budget.TargetTokens, f) {
			if bestUnit == out || p.value > best.value || p.value == best.value && p.tokens < best.tokens {
				bestUnit, best = i, p
			}
		}
	}
	if bestUnit != out && best.value > total && f != FaultMultipleChoiceNoSingle {
		start[bestUnit] = best.form
		state = fill(all, start, budget.TargetTokens-best.tokens, f)
	}
	return chosen(state), nil
}

// chosen returns forms as a selection.
func chosen(state []int) strategy.Selection {
	var s strategy.Selection
	for i, form := range state {
		switch {
		case form == 0:
			s.Indices = append(s.Indices, i)
		case form > 0:
			s.Smaller = append(s.Smaller, strategy.SmallerForm{Index: i, Form: form})
		}
	}
	return s
}

// bestOf tries every choice of forms and returns the best: the greatest value,
// then the fewest tokens, then the larger forms by position.
func bestOf(items []entry, target int, f Fault) []int {
	best := make([]int, len(items))
	bestValue, bestTokens := math.Inf(-1), 0
	state := make([]int, len(items))
	var try func(i, tokens int, value float64)
	try = func(i, tokens int, value float64) {
		if i == len(items) {
			if value > bestValue || value == bestValue && tokens < bestTokens {
				bestValue, bestTokens = value, tokens
				copy(best, state)
			}
			return
		}
		all := items[i].points(f)
		for _, p := range append(all[1:], all[0]) { // the larger form first, out last
			if p.value >= 0 && p.tokens <= target-tokens {
				state[i] = p.form
				try(i+1, tokens+p.tokens, value+p.value)
			}
		}
	}
	try(0, 0, 0)
	return best
}

package naive

import (
	"cmp"
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

// out is the form of a unit that is not selected.
const out = -1

// point is a form that a unit may take. Its form is a position: out, 0 for
// form 0, then the smaller forms, then the older versions.
type point struct {
	form   int
	tokens int
	value  float64
}

// points returns out and the unit's own forms, by position.
func (e entry) points() []point {
	score := min(e.Score, math.MaxFloat64)
	list := []point{{out, 0, 0}, {0, e.Item.Tokens(), score}}
	for i, g := range e.forms {
		list = append(list, point{i + 1, g.tokens, g.worth * score})
	}
	return list
}

// olderPoints returns out and the older versions, by place.
func (e entry) olderPoints() []point {
	list := []point{{out, 0, 0}}
	for i, o := range e.older {
		list = append(list, point{len(e.forms) + 1 + i, o.tokens, min(o.score, math.MaxFloat64)})
	}
	return list
}

// leftOver is LEFT-OVER.
func leftOver(items []entry, target int, selection strategy.Selection) strategy.Selection {
	if target <= 0 {
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
		dropped[d.Index] = true
	}

	withForms := make([][]point, len(items))
	for i, it := range items {
		if len(it.forms) > 0 && !dropped[i] {
			withForms[i] = it.points()
		}
	}
	state := fill(withForms, start, leftOf(items, start, target))

	left := leftOf(items, state, target)
	withOlder := make([][]point, len(items))
	for i, it := range items {
		if len(it.older) > 0 && !dropped[i] && state[i] == out && it.Item.Tokens() > left {
			withOlder[i] = it.olderPoints()
		}
	}
	state = fill(withOlder, state, left)

	selection.Smaller = nil
	for i, form := range state {
		switch {
		case form == 0 && start[i] != 0:
			selection.Indices = append(selection.Indices, i)
		case form > 0:
			selection.Smaller = append(selection.Smaller, strategy.SmallerForm{Index: i, Form: form})
		}
	}
	return selection
}

// leftOf returns the part of a target that units in forms of their own leave.
func leftOf(items []entry, state []int, target int) int {
	left := sumOf(target)
	for i, it := range items {
		left = left.minus(sumOf(it.points()[state[i]+1].tokens))
	}
	return left.tokens()
}

// rate is RATE.
func rate(a, b point) float64 {
	if a.tokens == b.tokens {
		return math.Inf(1)
	}
	return (b.value - a.value) / float64(b.tokens-a.tokens)
}

// better is POINTS: the points that a unit may reach from a point.
func better(all []point, from point, left int) []point {
	var points []point
	for _, p := range all[1:] {
		larger := p.tokens > from.tokens || from.form == out
		fits := p.tokens-from.tokens <= left
		if larger && fits && p.value >= from.value && p.value >= 0 {
			points = append(points, p)
		}
	}
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Or(a.tokens-b.tokens, byScore(a.value, b.value)) })
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
func hull(from point, points []point) []point {
	stack := []point{from}
	for _, p := range points {
		for n := len(stack); n >= 2 && rate(stack[n-2], stack[n-1]) < rate(stack[n-1], p); n = len(stack) {
			stack = stack[:n-1]
		}
		stack = append(stack, p)
	}
	return stack
}

// fill is FILL: it returns the form of each unit. all has out and the points of
// each unit; units without any stay as they are.
func fill(all [][]point, start []int, left int) []int {
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
		stack := hull(state[i], better(points, state[i], left))
		for j, b := range stack[1:] {
			steps = append(steps, step{i, stack[j], b})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int {
		return cmp.Or(byScore(rate(a.a, a.b), rate(b.a, b.b)), a.unit-b.unit, a.b.tokens-b.b.tokens)
	})
	for _, s := range steps {
		if cost := s.b.tokens - s.a.tokens; state[s.unit].form == s.a.form && cost <= left {
			state[s.unit] = s.b
			left -= cost
		}
	}
	for i, points := range all {
		if points == nil {
			continue
		}
		from := state[i]
		best := from
		for _, p := range better(points, from, left) {
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

func (MultipleChoice) valid() bool { return true }

func (s MultipleChoice) slice(items []entry, budget cupel.SliceBudget) (strategy.Selection, error) {
	if budget.TargetTokens <= 0 {
		return strategy.Selection{}, nil
	}
	start := make([]int, len(items))
	all := make([][]point, len(items))
	for i, it := range items {
		start[i], all[i] = out, it.points()
	}
	if s.Exact {
		return chosen(bestOf(all, budget.TargetTokens)), nil
	}

	state := fill(all, start, budget.TargetTokens)
	total := 0.0
	bestUnit, best := out, point{}
	for i, points := range all {
		total += points[state[i]+1].value
		for _, p := range better(points, points[0], budget.TargetTokens) {
			if bestUnit == out || p.value > best.value || p.value == best.value && p.tokens < best.tokens {
				bestUnit, best = i, p
			}
		}
	}
	if bestUnit != out && best.value > total {
		start[bestUnit] = best.form
		state = fill(all, start, budget.TargetTokens-best.tokens)
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
func bestOf(all [][]point, target int) []int {
	best := make([]int, len(all))
	bestValue, bestTokens := math.Inf(-1), 0
	state := make([]int, len(all))
	var try func(i, tokens int, value float64)
	try = func(i, tokens int, value float64) {
		if i == len(all) {
			if value > bestValue || value == bestValue && tokens < bestTokens {
				bestValue, bestTokens = value, tokens
				copy(best, state)
			}
			return
		}
		for _, p := range append(slices.Clone(all[i][1:]), all[i][0]) { // the larger form first, out last
			if p.value >= 0 && p.tokens <= target-tokens {
				state[i] = p.form
				try(i+1, tokens+p.tokens, value+p.value)
			}
		}
	}
	try(0, 0, 0)
	return best
}

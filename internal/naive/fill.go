package naive

import (
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
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
func sliceAll(s slicer, items []entry, budget cupel.SliceBudget, f Fault) (cupel.Selection, error) {
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

// points returns what the unit can be at all.
func (e entry) points(withOlder bool, f Fault) []point {
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
	if withOlder {
		for _, o := range e.older {
			value := min(o.score, math.MaxFloat64)
			if f == FaultOlderHasNewestScore {
				value = score
			}
			list = append(list, point{len(list) - 1, o.tokens, value})
		}
	}
	return list
}

// leftOver is LEFT-OVER.
func leftOver(items []entry, target int, selection cupel.Selection, f Fault) cupel.Selection {
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
	left := sumOf(target)
	takesPart := make([]bool, len(items))
	for i, it := range items {
		left = left.minus(sumOf(it.points(true, f)[start[i]+1].tokens))
		takesPart[i] = len(it.forms) > 0 || len(it.older) > 0
	}
	for _, d := range selection.Drops {
		takesPart[d.Index] = takesPart[d.Index] && f == FaultDropsReturn
	}

	state := fill(items, takesPart, start, left.tokens(f), f)
	var smaller []cupel.SmallerForm
	for i, form := range state {
		switch {
		case form == 0 && start[i] != 0:
			selection.Indices = append(selection.Indices, i)
		case form > 0:
			smaller = append(smaller, cupel.SmallerForm{Index: i, Form: form})
		}
	}
	selection.Smaller = smaller
	return selection
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

// fill is FILL: it returns the form of each unit. Units that take no part stay
// as they are.
func fill(items []entry, takesPart []bool, start []int, left int, f Fault) []int {
	type step struct {
		unit int
		a, b point
	}
	all := make([][]point, len(items))
	state := make([]point, len(items))
	var steps []step
	for i, it := range items {
		all[i] = it.points(start[i] == out, f)
		if start[i]+1 < len(all[i]) {
			state[i] = all[i][start[i]+1]
		} else {
			state[i] = it.points(true, f)[start[i]+1] // an older version, named by an inner slicer
		}
		if !takesPart[i] {
			continue
		}
		stack := hull(state[i], better(all[i], state[i], left, f), f)
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
	for i := range items {
		if !takesPart[i] || f == FaultFillNoSecondPass {
			continue
		}
		from := state[i]
		best := from
		for _, p := range better(all[i], from, left, f) {
			if p.value > best.value || best.form == out {
				best = p
			}
		}
		state[i] = best
		left -= best.tokens - from.tokens
	}
	forms := make([]int, len(items))
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

func (s MultipleChoice) slice(items []entry, budget cupel.SliceBudget, f Fault) (cupel.Selection, error) {
	if len(items) == 0 || budget.TargetTokens <= 0 {
		return cupel.Selection{}, nil
	}
	start := make([]int, len(items))
	takesPart := make([]bool, len(items))
	for i := range items {
		start[i], takesPart[i] = out, true
	}
	withoutOlder := slices.Clone(items)
	for i := range withoutOlder {
		withoutOlder[i].older = nil
	}
	if s.Exact {
		return chosen(bestOf(withoutOlder, budget.TargetTokens, f)), nil
	}

	state := fill(withoutOlder, takesPart, start, budget.TargetTokens, f)
	total := 0.0
	bestUnit, best := out, point{}
	for i, it := range withoutOlder {
		all := it.points(false, f)
		total += all[state[i]+1].value
		for _, p := range better(all, all[0], budget.TargetTokens, f) {
			if bestUnit == out || p.value > best.value || p.value == best.value && p.tokens < best.tokens {
				bestUnit, best = i, p
			}
		}
	}
	if bestUnit != out && best.value > total && f != FaultMultipleChoiceNoSingle {
		start[bestUnit] = best.form
		state = fill(withoutOlder, takesPart, start, budget.TargetTokens-best.tokens, f)
	}
	return chosen(state), nil
}

// chosen returns forms as a selection.
func chosen(state []int) cupel.Selection {
	var s cupel.Selection
	for i, form := range state {
		switch {
		case form == 0:
			s.Indices = append(s.Indices, i)
		case form > 0:
			s.Smaller = append(s.Smaller, cupel.SmallerForm{Index: i, Form: form})
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
		all := items[i].points(false, f)
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

package slicer

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/fill"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// MultipleChoice chooses one form, or none, for each item, so that the sum of
// their values within the target is large. The value of a form is the score
// times its worth. Use it for candidates that mostly have smaller forms
// ([cupel.WithVariants]): [Greedy] and [Knapsack] choose among full forms, and
// give smaller ones only what is left.
//
// It follows the upper convex hull of each item's forms, best gain per token
// first. The value that it reaches is at least half of the largest possible,
// and usually close to it; [WithExact] makes it find the largest. It never
// chooses an item with a negative or NaN score. Its choice is not monotonic in
// the budget.
//
// The zero MultipleChoice is ready; [NewMultipleChoice] makes others. It takes
// O(n log n) for n forms. It implements MULTIPLE-CHOICE-SLICE of the Units
// chapter.
type MultipleChoice struct {
	exact bool
}

var multipleChoiceDescriptor = strategy.Descriptor{
	Name: "multipleChoice", Component: "MultipleChoiceSlice",
	Doc: "Chooses one form of each item, or none, so that their values have a large sum within the target.",
	Fields: []strategy.Field{
		{Name: "exact", Type: strategy.Bool, Default: false, Doc: "Find the largest sum that is possible, in time that grows with the target."},
	},
	Build: func(a strategy.Args) (any, error) {
		if strategy.Get[bool](a, "exact") {
			return NewMultipleChoice(WithExact()), nil
		}
		return NewMultipleChoice(), nil
	},
	Settings: func(s any) (map[string]any, bool) {
		switch m := s.(type) {
		case MultipleChoice:
			return map[string]any{"exact": m.exact}, true
		case *MultipleChoice:
			if m != nil {
				return map[string]any{"exact": m.exact}, true
			}
		}
		return nil, false
	},
}

// MultipleChoiceOption is an optional setting of a [MultipleChoice].
type MultipleChoiceOption func(*MultipleChoice)

// WithExact makes each call find the largest possible value, with the fewest
// tokens among equal ones. It takes time and memory in proportion to the number
// of items times the tokens of the target, and fails with a [MemoryLimitError]
// if that needs more than [DefaultMemoryLimit].
func WithExact() MultipleChoiceOption { return func(m *MultipleChoice) { m.exact = true } }

// NewMultipleChoice returns a MultipleChoice with the given settings.
func NewMultipleChoice(opts ...MultipleChoiceOption) *MultipleChoice {
	m := new(MultipleChoice)
	for _, opt := range opts {
		if opt != nil {
			opt(m)
		}
	}
	return m
}

// LeftOver implements [cupel.LeftOverSlicer]. It returns true, so that older
// versions may return.
func (MultipleChoice) LeftOver() bool { return true }

// NonMonotonic implements [cupel.NonMonotonic]. It returns true.
func (MultipleChoice) NonMonotonic() bool { return true }

// Slice implements [cupel.Slicer]. The positions are ascending. With
// [WithExact] it fails with a [MemoryLimitError] or with ctx.Err(); otherwise
// it does not fail.
func (m MultipleChoice) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	if budget.TargetTokens <= 0 {
		return cupel.Selection{}, nil
	}
	choices := choicesOf(items)
	if !m.exact {
		return selectionOf(choices.fill(budget.TargetTokens)), nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	chosen, err := choices.solve(ctx, budget.TargetTokens)
	if err != nil {
		return cupel.Selection{}, err
	}
	return selectionOf(chosen), nil
}

// choices are the forms of each item.
type choices [][]fill.Point

func choicesOf(items []cupel.ScoredItem) choices {
	c := make(choices, len(items))
	all := make([]fill.Point, 0, len(items))
	for i, it := range items {
		from := len(all)
		add := func(form, tokens int, worth float64) {
			if value := fill.Value(it.Score, worth); value >= 0 && tokens >= 0 { // false for NaN
				all = append(all, fill.Point{Form: int32(form), Tokens: tokens, Value: value})
			}
		}
		add(0, it.Item.Tokens(), 1)
		for n, f := range it.Item.Forms() {
			add(n+1, f.Tokens, f.Worth)
		}
		c[i] = all[from:len(all):len(all)]
	}
	return c
}

func selectionOf(chosen []int32) cupel.Selection {
	var sel cupel.Selection
	for i, form := range chosen {
		switch {
		case form == 0:
			sel.Indices = append(sel.Indices, i)
		case form > 0:
			sel.Smaller = append(sel.Smaller, cupel.SmallerForm{Index: i, Form: int(form)})
		}
	}
	return sel
}

// fill returns the form of each item, or fill.Out, chosen along the hulls.
func (c choices) fill(target int) []int32 {
	run := func(first int, state fill.Point, left int) ([]int32, float64) {
		f := fill.New()
		defer f.Free()
		for i, points := range c {
			if i == first {
				f.Add(state)
			} else {
				f.Add(fill.Point{Form: fill.Out})
			}
			for _, p := range points {
				f.Point(p)
			}
		}
		f.Run(left)
		chosen, value := make([]int32, len(c)), 0.0
		for i := range c {
			chosen[i] = f.State(i).Form
			value += f.State(i).Value
		}
		return chosen, value
	}
	chosen, value := run(-1, fill.Point{}, target)
	first, best := 0, fill.Point{}
	for i, points := range c {
		for _, p := range points {
			if p.Tokens <= target && (p.Value > best.Value || p.Value == best.Value && p.Tokens < best.Tokens) {
				first, best = i, p
			}
		}
	}
	if best.Value > value {
		chosen, _ = run(first, best, target-best.Tokens)
	}
	return chosen
}

// solve returns the form of each item in the selection with the largest value.
// Its table holds the best value for each exact number of tokens.
func (c choices) solve(ctx context.Context, target int) ([]int32, error) {
	var most exact.Sum // tokens that can be spent
	for _, points := range c {
		largest := 0
		for _, p := range points {
			if p.Tokens <= target {
				largest = max(largest, p.Tokens)
			}
		}
		most.Add(largest)
	}
	width := min(target, most.Int())
	const cell, column = 4, 2 * (8 + 4 + 4) // bytes for each item and number of tokens, and for each number of tokens
	if need := float64(len(c)*cell+column) * (float64(width) + 1); need > DefaultMemoryLimit {
		return nil, &MemoryLimitError{Limit: DefaultMemoryLimit, Need: int64(min(need, math.MaxInt64/2)), Exact: true}
	}

	values, next := make([]float64, width+1), make([]float64, width+1)
	ranks, nextRanks := make([]int32, width+1), make([]int32, width+1) // of the choices so far, best first
	for t := range values {
		values[t] = math.Inf(-1)
	}
	values[0] = 0
	order := make([]int32, 0, width+1)
	taken := make([][]int32, len(c)) // by item and tokens: the place in the item's points, or none
	for i, points := range c {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		// The larger form first, so that it wins where everything else is equal.
		slices.SortStableFunc(points, func(a, b fill.Point) int { return cmp.Compare(b.Tokens, a.Tokens) })
		taken[i] = make([]int32, width+1)
		order = order[:0]
		for t := range next {
			next[t], taken[i][t] = math.Inf(-1), noPoint
			rank := int32(math.MaxInt32)
			try := func(point int32, tokens int, value float64) {
				if tokens > t || math.IsInf(values[t-tokens], -1) {
					return
				}
				sum := values[t-tokens] + value
				if before := ranks[t-tokens]; sum > next[t] || sum == next[t] && before < rank {
					next[t], taken[i][t], rank = sum, point, before
				}
			}
			for n, p := range points {
				try(int32(n), p.Tokens, p.Value)
			}
			try(noPoint, 0, 0)
			if !math.IsInf(next[t], -1) {
				order = append(order, int32(t))
			}
		}
		tokensOf := func(t int32) int {
			if n := taken[i][t]; n != noPoint {
				return points[n].Tokens
			}
			return 0
		}
		formOrder := func(t int32) int {
			if n := taken[i][t]; n != noPoint {
				return int(n)
			}
			return len(points)
		}
		slices.SortFunc(order, func(a, b int32) int {
			return cmp.Or(cmp.Compare(ranks[int(a)-tokensOf(a)], ranks[int(b)-tokensOf(b)]), cmp.Compare(formOrder(a), formOrder(b)))
		})
		for rank, t := range order {
			nextRanks[t] = int32(rank)
		}
		values, next, ranks, nextRanks = next, values, nextRanks, ranks
	}

	at := 0 // the fewest tokens of the largest value
	for t, value := range values {
		if value > values[at] {
			at = t
		}
	}
	chosen := make([]int32, len(c))
	for i := range slices.Backward(c) {
		chosen[i] = fill.Out
		if n := taken[i][at]; n != noPoint {
			chosen[i] = c[i][n].Form
			at -= c[i][n].Tokens
		}
	}
	return chosen, nil
}

const noPoint = -1

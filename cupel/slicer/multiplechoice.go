package slicer

import (
	"context"
	"fmt"
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
// The zero MultipleChoice is ready to use; [NewMultipleChoice] makes others. It
// takes O(n log n) for n forms. It implements MULTIPLE-CHOICE-SLICE of the Units
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
	Build: func(a strategy.Args) (any, error) { return &MultipleChoice{strategy.Get[bool](a, "exact")}, nil },
	Settings: func(s any) (map[string]any, bool) {
		m, ok := valueOf[MultipleChoice](s)
		return map[string]any{"exact": m.exact}, ok
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

// Facts implements [strategy.Describer]. It asks for the left-over pass so that older
// versions may return.
func (m MultipleChoice) Facts() strategy.Facts {
	return strategy.Facts{Of: m, NonMonotonic: true, LeftOver: true, Explain: m.explain}
}

// explain says that the forms of other items together are worth more, or that the
// item is worth less than nothing.
func (m MultipleChoice) explain(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget, chosen strategy.Selection, at int) (strategy.Obstacle, error) {
	if !(items[at].Score >= 0) { // written so that NaN is one of them
		return strategy.Obstacle{Rule: "MultipleChoiceSlice takes nothing with a negative score or none."}, nil
	}
	best := "the forms with the most value per token"
	if m.exact {
		best = "the forms whose values have the highest sum"
	}
	rule := fmt.Sprintf("MultipleChoiceSlice takes %s, within %d tokens.", best, budget.TargetTokens)
	return strategy.Obstacle{Rule: rule, Before: allOf(chosen)}, nil
}

// Slice implements [strategy.Slicer]. The positions are ascending. With
// [WithExact] it fails with a [MemoryLimitError] or with ctx.Err(); otherwise
// it does not fail.
func (m MultipleChoice) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	if budget.TargetTokens <= 0 {
		return strategy.Selection{}, nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	choices := choicesOf(items)
	choose := choices.fill
	if m.exact {
		choose = choices.solve
	}
	chosen, err := choose(ctx, budget.TargetTokens)
	var sel strategy.Selection
	for i, form := range chosen {
		switch {
		case form == 0:
			sel.Indices = append(sel.Indices, i)
		case form > 0:
			sel.Smaller = append(sel.Smaller, strategy.SmallerForm{Index: i, Form: int(form)})
		}
	}
	return sel, err
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

// fill returns the form of each item, or fill.Out, chosen along the hulls.
func (c choices) fill(_ context.Context, target int) ([]int32, error) {
	f := fill.New()
	defer f.Free()
	out := fill.Point{Form: fill.Out}
	first, best := 0, out // the form that is worth the most alone
	for i, points := range c {
		f.Add(out)
		for _, p := range points {
			f.Point(p)
			if p.Tokens <= target && (p.Value > best.Value || p.Value == best.Value && p.Tokens < best.Tokens) {
				first, best = i, p
			}
		}
	}
	f.Run(target)
	value := 0.0
	for i := range c {
		value += f.State(i).Value
	}
	if best.Value > value {
		for i := range c {
			f.Set(i, out)
		}
		f.Set(first, best)
		f.Run(target - best.Tokens)
	}
	chosen := make([]int32, len(c))
	for i := range c {
		chosen[i] = f.State(i).Form
	}
	return chosen, nil
}

// solve returns the form of each item in the selection with the largest value. It
// finds the largest value for each exact number of tokens, item by item. Then it goes
// back and forgets the values that do not lead to the best of all, and last it takes
// the first way over those that are left.
func (c choices) solve(ctx context.Context, target int) ([]int32, error) {
	var most exact.Sum // tokens that can be spent
	for i := range c {
		c[i] = slices.DeleteFunc(c[i], func(p fill.Point) bool { return p.Tokens > target })
		c[i] = append(c[i], fill.Point{Form: fill.Out}) // larger forms come first, and win where everything else is equal
		most.Add(c[i][0].Tokens)
	}
	width := min(target, most.Int())
	if need := 8 * float64(len(c)+1) * (float64(width) + 1); need > DefaultMemoryLimit {
		return nil, &MemoryLimitError{Limit: DefaultMemoryLimit, Need: int64(min(need, math.MaxInt64/2)), Exact: true}
	}
	values := make([][]float64, len(c)+1) // by the number of items before, and tokens
	for i := range values {
		values[i] = slices.Repeat([]float64{math.Inf(-1)}, width+1)
	}
	values[0][0] = 0
	for i, points := range c {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, p := range points {
			for t, value := range values[i][:width+1-p.Tokens] {
				values[i+1][t+p.Tokens] = max(values[i+1][t+p.Tokens], value+p.Value)
			}
		}
	}

	last := values[len(c)]
	best := slices.Index(last, slices.Max(last))                   // the fewest tokens of the largest value
	values[len(c)] = slices.Repeat([]float64{math.NaN()}, width+1) // which nothing equals
	values[len(c)][best] = last[best]
	leads := func(i, t int) int { // place of the first form of an item that leads on, or -1
		return slices.IndexFunc(c[i], func(p fill.Point) bool {
			return t+p.Tokens <= width && values[i][t]+p.Value == values[i+1][t+p.Tokens]
		})
	}
	for i := range slices.Backward(c) {
		for t := range values[i] {
			if leads(i, t) < 0 {
				values[i][t] = math.NaN()
			}
		}
	}
	chosen, at := make([]int32, len(c)), 0
	for i, points := range c {
		p := points[leads(i, at)]
		chosen[i], at = p.Form, at+p.Tokens
	}
	return chosen, nil
}

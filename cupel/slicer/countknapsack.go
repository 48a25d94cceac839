package slicer

import (
	"context"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

const countConstrainedKnapsackSlice = "CountConstrainedKnapsackSlice"

// CountConstrainedKnapsack is a [CountQuota] around a [Knapsack]. It commits the
// highest-scored items that the entries require, lets the knapsack find the best
// total of the others within the tokens left, and drops items over their cap,
// lowest scores first, with reason [cupel.ExcludeCountCapExceeded].
//
// The selection is not always the optimum under these counts: required items are
// committed before the knapsack runs, and items over their cap have used some of
// its capacity. Kinds are compared without ASCII case; kinds without an entry
// are unlimited. The choice is not monotonic in the budget, and required items
// can exceed the target.
//
// The zero CountConstrainedKnapsack is not valid: build it with
// [NewCountConstrainedKnapsack]. In addition to the knapsack's, it takes time
// linear in the number of items if they are sorted by score, as in a pipeline.
// It implements the CountConstrainedKnapsackSlice chapter of the specification.
type CountConstrainedKnapsack struct{ counter }

// NewCountConstrainedKnapsack returns a CountConstrainedKnapsack around a knapsack,
// with at most one entry per kind. Both are copied. It fails with a
// [cupel.InvalidConfigError] when knapsack is nil, a kind is blank or has two entries,
// a count is negative or a requirement is above its cap.
func NewCountConstrainedKnapsack(knapsack *Knapsack, entries []CountQuotaEntry, opts ...CountOption) (*CountConstrainedKnapsack, error) {
	wrong := strategy.Problems{Component: countConstrainedKnapsackSlice}
	if knapsack == nil {
		wrong.Add("knapsack", "", "knapsack must not be nil")
	}
	return newCountConstrained(&wrong, knapsack, entries, opts)
}

func newCountConstrained(wrong *strategy.Problems, knapsack *Knapsack, entries []CountQuotaEntry, opts []CountOption) (*CountConstrainedKnapsack, error) {
	c := newCounter(wrong, nil, entries, opts)
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	k := *knapsack
	c.inner, c.byScore = &k, true
	return &CountConstrainedKnapsack{c}, nil
}

var countConstrainedKnapsackDescriptor = strategy.Descriptor{
	Name: "countConstrainedKnapsack", Component: countConstrainedKnapsackSlice,
	Doc:    "Guarantees and limits the number of items of each kind, around a knapsack.",
	Fields: slices.Concat(knapsackFields, countFields),
	Build: func(a strategy.Args) (any, error) {
		scarcity, entries := countsOf(a)
		knapsack, err := knapsackOf(a)
		wrong := strategy.Problems{Component: countConstrainedKnapsackSlice}
		wrong.AddError(err)
		return strategy.Built(newCountConstrained(&wrong, knapsack, entries, []CountOption{WithScarcity(scarcity)}))
	},
	Settings: strategy.Only(func(c *CountConstrainedKnapsack) map[string]any {
		return c.settings(c.inner.(*Knapsack).settings())
	}),
}

// Facts implements [strategy.Describer]. For a single kind, only the entry of that
// kind counts.
func (c *CountConstrainedKnapsack) Facts() strategy.Facts {
	if c == nil || c.inner == nil {
		return notBuilt(c, countConstrainedKnapsackSlice)
	}
	return c.facts(c, func(other counter) strategy.Slicer { return &CountConstrainedKnapsack{other} })
}

// Slice implements [strategy.Slicer]. The positions committed come first, entry by
// entry, then the choice of the knapsack by score, highest first. It fails
// with a [cupel.ScarcityError] under [ScarcityThrow], and when the knapsack
// fails.
func (c *CountConstrainedKnapsack) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	if c == nil || c.inner == nil {
		return strategy.Selection{}, notBuilt(c, countConstrainedKnapsackSlice).Invalid
	}
	return c.slice(ctx, items, budget)
}

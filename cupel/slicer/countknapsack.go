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
type CountConstrainedKnapsack struct {
	counter
	knapsack *Knapsack
}

// NewCountConstrainedKnapsack returns a CountConstrainedKnapsack around a
// knapsack, with at most one entry a kind. Both are copied. It fails with a
// [cupel.InvalidConfigError] when knapsack is nil, a kind is blank or has two
// entries, a count is negative or a requirement is above its cap.
func NewCountConstrainedKnapsack(knapsack *Knapsack, entries []CountQuotaEntry, opts ...CountOption) (*CountConstrainedKnapsack, error) {
	wrong := strategy.Problems{Component: countConstrainedKnapsackSlice}
	if knapsack == nil {
		wrong.Add("knapsack", "", "knapsack must not be nil")
	}
	c := newCounter(&wrong, entries, opts)
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	k := *knapsack
	return &CountConstrainedKnapsack{c, &k}, nil
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
		c := newCounter(&wrong, entries, []CountOption{WithScarcity(scarcity)})
		return strategy.Built(&CountConstrainedKnapsack{c, knapsack}, wrong.Err())
	},
	Settings: strategy.Only(func(c *CountConstrainedKnapsack) map[string]any { return c.settings(c.knapsack.settings()) }),
}

// Validate implements [cupel.Validator]. It fails for a
// CountConstrainedKnapsack that was not built with
// [NewCountConstrainedKnapsack].
func (c *CountConstrainedKnapsack) Validate() error {
	if c == nil || c.knapsack == nil {
		return notBuilt(countConstrainedKnapsackSlice, "NewCountConstrainedKnapsack")
	}
	return nil
}

// Entries returns a copy of the entries, in the order given.
func (c *CountConstrainedKnapsack) Entries() []CountQuotaEntry {
	if c == nil {
		return nil
	}
	return slices.Clone(c.entries)
}

// Slicers implements [cupel.SlicerWrapper].
func (c *CountConstrainedKnapsack) Slicers() []cupel.Slicer {
	if c == nil || c.knapsack == nil {
		return nil
	}
	return []cupel.Slicer{c.knapsack}
}

// ForKind implements [cupel.KindNarrower]: only the entry of this kind counts.
func (c *CountConstrainedKnapsack) ForKind(kind cupel.ContextKind) cupel.Slicer {
	if c.Validate() != nil {
		return c
	}
	return &CountConstrainedKnapsack{c.forKind(kind), c.knapsack}
}

// Slice implements [cupel.Slicer]. The positions committed come first, entry by
// entry, then those of the knapsack by score, highest first. It fails
// with a [cupel.ScarcityError] under [ScarcityThrow], and when the knapsack
// fails.
func (c *CountConstrainedKnapsack) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	if err := c.Validate(); err != nil {
		return cupel.Selection{}, err
	}
	return c.slice(ctx, c.knapsack, true, items, budget)
}

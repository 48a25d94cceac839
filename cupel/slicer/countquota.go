package slicer

import (
	"context"
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

const countQuotaSlice = "CountQuotaSlice"

// CountQuota guarantees and limits the number of items of each kind. First it
// commits, for each entry in turn, the highest-scored items that the entry
// requires, regardless of the budget. Then the inner slicer chooses from the
// other items within the tokens left. Last, CountQuota goes through that choice
// in order and drops items over their cap, with reason
// [cupel.ExcludeCountCapExceeded].
//
// Kinds are compared without ASCII case; kinds without an entry are unlimited.
// If there are too few candidates, the [ScarcityBehavior] decides. The choice is
// not monotonic in the budget, and required items can exceed the target.
//
// The zero CountQuota is not valid: build it with [NewCountQuota]. In addition
// to the inner slicer's, it takes time linear in the number of items if they are
// sorted by score, as in a pipeline. It implements the CountQuotaSlice chapter
// of the specification.
type CountQuota struct{ counter }

// NewCountQuota returns a CountQuota around inner with at most one entry per kind.
// entries is copied. It fails with a [cupel.InvalidConfigError] when inner is nil or
// not valid, is a [Knapsack] or a [CountConstrainedKnapsack] or wraps one at any depth,
// a kind is blank or has two entries, a count is negative or a requirement is above its
// cap. Around a knapsack, use [NewCountConstrainedKnapsack].
func NewCountQuota(inner strategy.Slicer, entries []CountQuotaEntry, opts ...CountOption) (*CountQuota, error) {
	wrong := strategy.Problems{Component: countQuotaSlice}
	if err := checkInner(countQuotaSlice, inner); err != nil {
		wrong.AddError(err)
	} else {
		checkKnapsack(&wrong, inner)
	}
	c := newCounter(&wrong, inner, entries, opts)
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	return &CountQuota{c}, nil
}

// checkKnapsack records that there is a knapsack inside a slicer. A
// CountConstrainedKnapsack shows the one that it has.
func checkKnapsack(wrong *strategy.Problems, inner strategy.Slicer) {
	for s := range strategy.AllSlicers(inner) {
		if _, ok := valueOf[Knapsack](s); ok {
			wrong.Add("inner", fmt.Sprintf("%T", s), "CountQuotaSlice does not support KnapsackSlice as the inner slicer, at any depth: use GreedySlice as the inner slicer instead, or CountConstrainedKnapsackSlice in place of CountQuotaSlice")
			return
		}
	}
}

var countQuotaDescriptor = strategy.Descriptor{
	Name: "countQuota", Component: countQuotaSlice,
	Doc: "Guarantees and limits the number of items of each kind, around another slicer.",
	Fields: slices.Concat([]strategy.Field{
		{Name: "inner", Type: strategy.Child, Required: true, Doc: "The slicer that chooses the other items; it must not contain a knapsack."},
	}, countFields),
	Build: func(a strategy.Args) (any, error) {
		scarcity, entries := countsOf(a)
		return strategy.Built(NewCountQuota(strategy.Get[strategy.Slicer](a, "inner"), entries, WithScarcity(scarcity)))
	},
	Settings: strategy.Only(func(c *CountQuota) map[string]any { return c.settings(map[string]any{"inner": c.inner}) }),
}

// Facts implements [strategy.Describer]. For a single kind, only the entry of that
// kind counts, here and in the slicers inside.
func (c *CountQuota) Facts() strategy.Facts {
	if c == nil || c.inner == nil {
		return notBuilt(c, countQuotaSlice)
	}
	return c.facts(c, func(other counter) strategy.Slicer { return &CountQuota{other} })
}

// Slice implements [strategy.Slicer]. The positions committed come first, entry by
// entry, then the choice of the inner slicer in its order; shortfalls of this
// slicer come before those of the inner one. It fails with a
// [cupel.ScarcityError] under [ScarcityThrow], and when the inner slicer fails.
func (c *CountQuota) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	if c == nil || c.inner == nil {
		return strategy.Selection{}, notBuilt(c, countQuotaSlice).Invalid
	}
	return c.slice(ctx, items, budget)
}

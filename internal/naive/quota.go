package naive

import (
	"math/big"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// QuotaEntry is the share of one kind, in percent of the target. An absent
// percentage is 0 for Require and 100 for Cap.
type QuotaEntry struct {
	Kind         cupel.ContextKind
	Require, Cap float64
}

// Quota is the QuotaSlice chapter.
type Quota struct {
	Entries []QuotaEntry
	Inner   Slicer
}

func (s Quota) valid() bool {
	total := 0.0
	for _, e := range s.Entries {
		if !(e.Require >= 0 && e.Require <= e.Cap && e.Cap <= 100) {
			return false
		}
		total += e.Require
	}
	kindOf := func(e QuotaEntry) cupel.ContextKind { return e.Kind }
	return total <= 100+1e-9 && validKinds(s.Entries, kindOf) && s.Inner.valid()
}

// partition is the list of one kind, with the positions in the whole list.
type partition struct {
	kind    cupel.ContextKind
	items   []entry
	indices []int
	mass    *big.Int // its tokens

	// The least and the most that the kind gets.
	require, limit *big.Int
}

// partitionByKind groups in order of first appearance (R18).
func partitionByKind(items []entry) []*partition {
	var partitions []*partition
	for i, it := range items {
		n := slices.IndexFunc(partitions, func(p *partition) bool { return equalFold(p.kind, it.Item.Kind()) })
		if n < 0 {
			n = len(partitions)
			partitions = append(partitions, &partition{kind: it.Item.Kind(), mass: new(big.Int)})
		}
		p := partitions[n]
		p.items = append(p.items, it)
		p.indices = append(p.indices, i)
		p.mass.Add(p.mass, number(it.Item.Tokens()))
	}
	return partitions
}

func number(n int) *big.Int { return big.NewInt(int64(n)) }

func (s Quota) slice(items []entry, budget cupel.SliceBudget) (strategy.Selection, error) {
	var all strategy.Selection
	if budget.TargetTokens <= 0 {
		return all, nil
	}
	partitions := partitionByKind(items)
	kindBudgets := s.distribute(partitions, budget.TargetTokens)
	for i, p := range partitions {
		if kindBudgets[i] <= 0 {
			continue
		}
		selected, err := sliceAll(narrow(s.Inner, p.kind), p.items, cupel.SliceBudget{
			MaxTokens:    int(p.limit.Int64()),
			TargetTokens: kindBudgets[i],
		})
		if err != nil {
			return strategy.Selection{}, err
		}
		appendMapped(&all, selected, p.indices)
	}
	return all, nil
}

// appendMapped adds the selection of an inner slicer, whose positions are
// positions in indices.
func appendMapped(all *strategy.Selection, inner strategy.Selection, indices []int) {
	for _, i := range inner.Indices {
		all.Indices = append(all.Indices, indices[i])
	}
	for _, s := range inner.Smaller {
		all.Smaller = append(all.Smaller, strategy.SmallerForm{Index: indices[s.Index], Form: s.Form})
	}
	for _, d := range inner.Drops {
		all.Drops = append(all.Drops, strategy.Drop{Index: indices[d.Index], Reason: d.Reason})
	}
	all.Shortfalls = append(all.Shortfalls, inner.Shortfalls...)
}

// percentOf is floor(percent / 100.0 * target), left to right (R9).
func percentOf(percent float64, target int) *big.Int {
	return number(floor(percent / 100.0 * float64(target)))
}

// distribute is DISTRIBUTE-BUDGET. Nothing in it may wrap or be clamped (R5,
// R18).
func (s Quota) distribute(partitions []*partition, targetTokens int) []int {
	target := number(targetTokens)

	// Step 1: require and cap token amounts.
	for _, p := range partitions {
		p.require, p.limit = number(0), target
		for _, e := range s.Entries {
			if equalFold(e.Kind, p.kind) {
				p.require, p.limit = percentOf(e.Require, targetTokens), percentOf(e.Cap, targetTokens)
			}
		}
	}

	// Step 2: sum required tokens, those of kinds without candidates included.
	unassigned := number(targetTokens)
	for _, e := range s.Entries {
		unassigned.Sub(unassigned, percentOf(e.Require, targetTokens))
	}
	if unassigned.Sign() < 0 {
		unassigned = number(0)
	}

	// Step 3: distribution mass.
	totalMass := number(0)
	for _, p := range partitions {
		if p.limit.Cmp(p.require) > 0 {
			totalMass.Add(totalMass, p.mass)
		}
	}

	// Step 4: distribute per kind.
	kindBudgets := make([]int, len(partitions))
	for i, p := range partitions {
		kindBudget := new(big.Int)
		if totalMass.Sign() > 0 && p.limit.Cmp(p.require) > 0 {
			kindBudget.Mul(unassigned, p.mass)
			kindBudget.Div(kindBudget, totalMass)
		}
		kindBudget.Add(kindBudget, p.require)
		if kindBudget.Cmp(p.limit) > 0 {
			kindBudget = p.limit
		}
		kindBudgets[i] = int(kindBudget.Int64())
	}
	return kindBudgets
}

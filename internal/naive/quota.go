package naive

import (
	"math"
	"math/big"

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

// quota is a constructed [Quota].
type quota struct {
	entries []QuotaEntry
	inner   slicer
}

func (s Quota) construct(f Fault) (slicer, error) {
	total := 0.0
	for i, e := range s.Entries {
		switch {
		case e.Kind.IsBlank() && f != FaultBlankKindAllowed:
			return nil, invalid("kind must not be blank")
		case (!(e.Require >= 0 && e.Require <= 100) || !(e.Cap >= 0 && e.Cap <= 100)) && f != FaultQuotaRangeUnchecked:
			return nil, invalid("percentages must be in [0.0, 100.0]")
		case e.Require > e.Cap && f != FaultQuotaRequireAboveCapAllowed:
			return nil, invalid("require must not exceed cap")
		}
		for _, earlier := range s.Entries[:i] {
			if equalFold(string(earlier.Kind), string(e.Kind)) && f != FaultQuotaTwiceAllowed {
				return nil, invalid("kind given twice")
			}
		}
		total += e.Require
	}
	if total > 100+1e-9 && f != FaultQuotaRequireSumUnchecked {
		return nil, invalid("requires must not sum above 100 percent")
	}
	inner, err := constructSlicer(s.Inner, f)
	return quota{s.Entries, inner}, err
}

func (s quota) narrow(kind cupel.ContextKind) slicer {
	return quota{s.entries, s.inner.narrow(kind)}
}

func (s quota) entry(kind cupel.ContextKind, f Fault) (QuotaEntry, bool) {
	for _, e := range s.entries {
		if sameName(string(e.Kind), string(kind), f, FaultQuotaCaseSensitive, FaultQuotaFoldsUnicode) {
			return e, true
		}
	}
	return QuotaEntry{kind, 0, 100}, false
}

// partition is the list of one kind, with the positions in the whole list.
type partition struct {
	kind    cupel.ContextKind
	items   []entry
	indices []int
}

// partitionByKind groups in order of first appearance (R18).
func partitionByKind(items []entry, f, caseSensitive, unicode Fault) []*partition {
	var partitions []*partition
	find := func(kind cupel.ContextKind) *partition {
		for _, p := range partitions {
			if sameName(string(p.kind), string(kind), f, caseSensitive, unicode) {
				return p
			}
		}
		p := &partition{kind: kind}
		partitions = append(partitions, p)
		return p
	}
	for i, it := range items {
		p := find(it.Item.Kind())
		p.items = append(p.items, it)
		p.indices = append(p.indices, i)
	}
	return partitions
}

func (quota) leftOver() bool { return false }

func (s quota) slice(items []entry, budget cupel.SliceBudget, f Fault) (strategy.Selection, error) {
	var all strategy.Selection
	if len(items) == 0 || budget.TargetTokens <= 0 {
		return all, nil
	}
	partitions := partitionByKind(items, f, FaultQuotaCaseSensitive, FaultQuotaFoldsUnicode)
	kindBudgets := s.distribute(partitions, budget.TargetTokens, f)
	for i, p := range partitions {
		if kindBudgets[i] <= 0 {
			continue
		}
		entry, _ := s.entry(p.kind, f)
		inner := s.inner
		if f != FaultQuotaInnerNotNarrowed {
			inner = inner.narrow(p.kind)
		}
		selected, err := sliceAll(inner, p.items, cupel.SliceBudget{
			MaxTokens:    percentOf(entry.Cap, budget.TargetTokens, f),
			TargetTokens: kindBudgets[i],
		}, f)
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
func percentOf(percent float64, target int, f Fault) int {
	x := percent / 100.0 * float64(target)
	if f == FaultQuotaPercentRounds {
		x = math.Round(x)
	}
	return floor(x)
}

// distribute is DISTRIBUTE-BUDGET. Nothing in it may wrap or be clamped (R5,
// R18).
func (s quota) distribute(partitions []*partition, targetTokens int, f Fault) []int {
	number := func(n int) *big.Int { return big.NewInt(int64(n)) }
	target := number(targetTokens)

	// Step 1: require and cap token amounts.
	share := func(kind cupel.ContextKind) (require, limit *big.Int) {
		e, configured := s.entry(kind, f)
		switch {
		case !configured && f == FaultQuotaUnlistedKindsStarve:
			return number(0), number(0)
		case !configured:
			return number(0), target
		}
		require, limit = number(percentOf(e.Require, targetTokens, f)), number(percentOf(e.Cap, targetTokens, f))
		switch f {
		case FaultQuotaRequireIgnored:
			require = number(0)
		case FaultQuotaCapIgnored:
			limit = target
		}
		return require, limit
	}

	// Step 2: sum required tokens, those of kinds without candidates included.
	totalRequired := number(0)
	for _, e := range s.entries {
		if f == FaultQuotaAbsentKindsReleased && !hasKind(partitions, e.Kind) {
			continue
		}
		require, _ := share(e.Kind)
		totalRequired.Add(totalRequired, require)
	}
	unassigned := new(big.Int).Sub(target, totalRequired)
	if unassigned.Sign() < 0 {
		unassigned.SetInt64(0)
	}
	if f == FaultQuotaUnassignedIsTarget {
		unassigned = target
	}

	// Step 3: distribution mass.
	masses := make([]*big.Int, len(partitions))
	totalMass := number(0)
	for i, p := range partitions {
		masses[i] = number(0)
		for _, it := range p.items {
			if f == FaultQuotaMassCountsItems {
				masses[i].Add(masses[i], number(1))
				continue
			}
			masses[i].Add(masses[i], number(it.Item.Tokens()))
		}
		if require, limit := share(p.kind); limit.Cmp(require) > 0 || f == FaultQuotaMassOfFixedKinds {
			totalMass.Add(totalMass, masses[i])
		}
	}

	// Step 4: distribute per kind.
	kindBudgets := make([]int, len(partitions))
	for i, p := range partitions {
		require, limit := share(p.kind)
		proportional := number(0)
		if totalMass.Sign() > 0 && limit.Cmp(require) > 0 {
			proportional.Mul(unassigned, masses[i])
			if f == FaultQuotaProductWraps {
				proportional.SetInt64(int64(uint64(unassigned.Int64()) * masses[i].Uint64()))
			}
			if f == FaultQuotaShareRounds {
				proportional.Add(proportional, new(big.Int).Rsh(totalMass, 1))
			}
			proportional.Div(proportional, totalMass)
		}
		if f == FaultQuotaNoProportionalShare {
			proportional.SetInt64(0)
		}
		kindBudget := new(big.Int).Add(require, proportional)
		if kindBudget.Cmp(limit) > 0 && f != FaultQuotaBudgetNotCapped {
			kindBudget = limit
		}
		kindBudgets[i] = int(kindBudget.Int64())
		if f == FaultQuotaWholeBudgetForEach {
			kindBudgets[i] = targetTokens
		}
	}
	return kindBudgets
}

func hasKind(partitions []*partition, kind cupel.ContextKind) bool {
	for _, p := range partitions {
		if equalFold(string(p.kind), string(kind)) {
			return true
		}
	}
	return false
}

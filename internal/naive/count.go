package naive

import (
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// CountEntry is a CountQuotaEntry of the specification.
type CountEntry struct {
	Kind                   cupel.ContextKind
	RequireCount, CapCount int
}

// CountQuota is the CountQuotaSlice chapter.
type CountQuota struct {
	Entries []CountEntry
	Throw   bool // ScarcityBehavior
	Inner   Slicer
}

func (s CountQuota) valid() bool {
	return !holdsKnapsack(s.Inner) && validCounts(s.Entries) && s.Inner.valid()
}

// holdsKnapsack looks through wrappers (R21).
func holdsKnapsack(s Slicer) bool {
	switch s := s.(type) {
	case Knapsack, CountConstrainedKnapsack:
		return true
	case Quota:
		return holdsKnapsack(s.Inner)
	case CountQuota:
		return holdsKnapsack(s.Inner)
	}
	return false
}

func (s CountQuota) slice(items []entry, budget cupel.SliceBudget) (strategy.Selection, error) {
	return counts{name: "CountQuotaSlice", entries: s.Entries, throw: s.Throw, inner: s.Inner}.slice(items, budget)
}

// CountConstrainedKnapsack is the chapter of that name.
type CountConstrainedKnapsack struct {
	Entries  []CountEntry
	Throw    bool // ScarcityBehavior
	Knapsack Knapsack
}

func (s CountConstrainedKnapsack) valid() bool { return validCounts(s.Entries) && s.Knapsack.valid() }

func (s CountConstrainedKnapsack) slice(items []entry, budget cupel.SliceBudget) (strategy.Selection, error) {
	return counts{"CountConstrainedKnapsackSlice", s.Entries, s.Throw, s.Knapsack, true}.slice(items, budget)
}

func validCounts(entries []CountEntry) bool {
	kindOf := func(e CountEntry) cupel.ContextKind { return e.Kind }
	return validKinds(entries, kindOf) && !slices.ContainsFunc(entries, func(e CountEntry) bool {
		return e.RequireCount < 0 || e.RequireCount > e.CapCount
	})
}

// validKinds reports whether the entries of a configuration have kinds that are not
// blank, each its own.
func validKinds[E any](entries []E, kindOf func(E) cupel.ContextKind) bool {
	for i, e := range entries {
		same := func(earlier E) bool { return equalFold(kindOf(earlier), kindOf(e)) }
		if kindOf(e).IsBlank() || slices.ContainsFunc(entries[:i], same) {
			return false
		}
	}
	return true
}

// narrowCounts leaves the entries of one kind (R19).
func narrowCounts(entries []CountEntry, kind cupel.ContextKind) []CountEntry {
	return slices.DeleteFunc(slices.Clone(entries), func(e CountEntry) bool { return !equalFold(e.Kind, kind) })
}

// counts is the algorithm that both chapters share.
type counts struct {
	name    string
	entries []CountEntry
	throw   bool
	inner   Slicer
	resorts bool // of the CountConstrainedKnapsackSlice chapter
}

func (s counts) slice(items []entry, budget cupel.SliceBudget) (strategy.Selection, error) {
	var result strategy.Selection
	if len(items) == 0 || budget.TargetTokens <= 0 {
		return result, nil
	}

	// Phase 1: Count-Satisfy.
	candidates := ordered(len(items), func(i, j int) int { return byScore(items[i].Score, items[j].Score) })
	committed := make([]bool, len(items))        // by position (R1)
	selectedCount := make([]int, len(s.entries)) // of the kind of each entry
	var preAllocated sum
	for n, e := range s.entries {
		for _, i := range candidates {
			if selectedCount[n] < e.RequireCount && equalFold(items[i].Item.Kind(), e.Kind) {
				result.Indices = append(result.Indices, i)
				committed[i] = true
				preAllocated.add(items[i].Item.Tokens())
				selectedCount[n]++
			}
		}
		satisfied := selectedCount[n]
		switch {
		case satisfied >= e.RequireCount:
		case s.throw:
			return strategy.Selection{}, &Error{cupel.ErrScarcity, fmt.Sprintf(
				"%s: candidate pool for kind '%s' has %d items but RequireCount is %d.", s.name, e.Kind.Canonical(), satisfied, e.RequireCount)}
		default:
			result.Shortfalls = append(result.Shortfalls, cupel.CountRequirementShortfall{
				Kind: e.Kind.Canonical(), RequiredCount: e.RequireCount, SatisfiedCount: satisfied,
			})
		}
	}

	// Phase 2: Budget-Distribute, or Knapsack-Distribute.
	var residual []entry
	var indices []int
	for i, it := range items {
		if !committed[i] {
			residual = append(residual, it)
			indices = append(indices, i)
		}
	}
	residualTarget := max(0, sumOf(budget.TargetTokens).minus(preAllocated).tokens())
	inner, err := sliceAll(s.inner, residual, cupel.SliceBudget{MaxTokens: budget.MaxTokens, TargetTokens: min(residualTarget, budget.MaxTokens)})
	if err != nil {
		return strategy.Selection{}, err
	}

	// Phase 3: Cap Enforcement.
	appendMapped(&result, s.enforceCaps(inner, residual, selectedCount), indices)
	return result, nil
}

// enforceCaps drops what the caps do not allow. Caps count units in any form.
func (s counts) enforceCaps(selection strategy.Selection, items []entry, selectedCount []int) strategy.Selection {
	var chosen []strategy.SmallerForm
	for _, i := range selection.Indices {
		chosen = append(chosen, strategy.SmallerForm{Index: i})
	}
	chosen = append(chosen, selection.Smaller...)
	if s.resorts { // D180: by score descending, then by position in the input (R20)
		slices.SortFunc(chosen, func(a, b strategy.SmallerForm) int { return a.Index - b.Index })
		slices.SortStableFunc(chosen, func(a, b strategy.SmallerForm) int { return byScore(items[a.Index].Score, items[b.Index].Score) })
	}
	kept := strategy.Selection{Drops: selection.Drops, Shortfalls: selection.Shortfalls}
	for _, c := range chosen {
		kind := items[c.Index].Item.Kind()
		n := slices.IndexFunc(s.entries, func(e CountEntry) bool { return equalFold(e.Kind, kind) })
		if n >= 0 && selectedCount[n] >= s.entries[n].CapCount {
			kept.Drops = append(kept.Drops, strategy.Drop{Index: c.Index, Reason: cupel.NewExclusionReason(cupel.ExcludeCountCapExceeded, cupel.ReasonData{
				Kind: s.entries[n].Kind.Canonical(), Cap: s.entries[n].CapCount, Count: selectedCount[n], // R31
			})})
			continue
		}
		if n >= 0 {
			selectedCount[n]++
		}
		if c.Form > 0 {
			kept.Smaller = append(kept.Smaller, c)
			continue
		}
		kept.Indices = append(kept.Indices, c.Index)
	}
	return kept
}

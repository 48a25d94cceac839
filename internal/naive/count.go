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

// CountConstrainedKnapsack is the chapter of that name.
type CountConstrainedKnapsack struct {
	Entries  []CountEntry
	Throw    bool // ScarcityBehavior
	Knapsack Knapsack
}

// count is a constructed count slicer of either chapter.
type count struct {
	name     string
	entries  []CountEntry
	throw    bool
	inner    slicer
	knapsack bool // of the CountConstrainedKnapsackSlice chapter
}

func (s CountQuota) construct(f Fault) (slicer, error) {
	if err := checkCountEntries(s.Entries, f); err != nil {
		return nil, err
	}
	inner, err := constructSlicer(s.Inner, f)
	if err != nil {
		return nil, err
	}
	if holdsKnapsack(s.Inner, f) {
		return nil, invalid("CountQuotaSlice does not support KnapsackSlice as the inner slicer")
	}
	return count{"CountQuotaSlice", s.Entries, s.Throw, inner, false}, nil
}

// holdsKnapsack looks through wrappers (R21).
func holdsKnapsack(s Slicer, f Fault) bool {
	switch s := s.(type) {
	case Knapsack:
		return f != FaultCountKnapsackAllowed
	case CountConstrainedKnapsack:
		return f != FaultCountKnapsackAllowed && f != FaultCountGuardStopsAtWrapper
	case Quota:
		return f != FaultCountGuardStopsAtWrapper && holdsKnapsack(s.Inner, f)
	case CountQuota:
		return holdsKnapsack(s.Inner, f)
	}
	return false
}

func (s CountConstrainedKnapsack) construct(f Fault) (slicer, error) {
	if err := checkCountEntries(s.Entries, f); err != nil {
		return nil, err
	}
	inner, err := s.Knapsack.constructed(f)
	return count{"CountConstrainedKnapsackSlice", s.Entries, s.Throw, inner, true}, err
}

func checkCountEntries(entries []CountEntry, f Fault) error {
	for i, e := range entries {
		switch {
		case e.Kind.IsBlank() && f != FaultBlankKindAllowed:
			return invalid("kind must not be blank")
		case (e.RequireCount < 0 || e.CapCount < 0) && f != FaultCountNegativeAllowed:
			return invalid("counts must not be negative")
		case e.CapCount == 0 && e.RequireCount == 0 && f == FaultCountZeroCapRefused:
			return invalid("capCount must be positive")
		case e.RequireCount > e.CapCount && f != FaultCountRequireAboveCapAllowed:
			return invalid("requireCount must be at most capCount")
		}
		for _, earlier := range entries[:i] {
			if equalFold(string(earlier.Kind), string(e.Kind)) && f != FaultCountTwiceAllowed {
				return invalid("kind given twice")
			}
		}
	}
	return nil
}

func (s count) narrow(kind cupel.ContextKind) slicer {
	var entries []CountEntry
	for _, e := range s.entries {
		if equalFold(string(e.Kind), string(kind)) {
			entries = append(entries, e)
		}
	}
	s.entries, s.inner = entries, s.inner.narrow(kind)
	return s
}

// tally is the number of items selected of one entry's kind.
type tally struct {
	CountEntry
	selected int
}

func (count) leftOver() bool { return false }

func (s count) slice(items []entry, budget cupel.SliceBudget, f Fault) (strategy.Selection, error) {
	var result strategy.Selection
	if (len(items) == 0 || budget.TargetTokens <= 0) && f != FaultCountRequiresOfNothing {
		return result, nil
	}

	// Phase 1: Count-Satisfy.
	partitions := partitionByKind(items, f, FaultCountCaseSensitive, FaultCountFoldsUnicode)
	for _, p := range partitions {
		s.sortPartition(p, f)
	}
	committedSet := make([]bool, len(items)) // by position (R1)
	selectedCount := make([]tally, len(s.entries))
	var preAllocatedTokens sum
	for n, entry := range s.entries {
		selectedCount[n] = tally{CountEntry: entry}
		if entry.RequireCount <= 0 || f == FaultCountRequireIgnored {
			continue
		}
		satisfied := 0
		for _, p := range partitions {
			if !sameName(string(p.kind), string(entry.Kind), f, FaultCountCaseSensitive, FaultCountFoldsUnicode) {
				continue
			}
			for _, candidate := range p.indices {
				if satisfied >= entry.RequireCount {
					break
				}
				tokens := items[candidate].Item.Tokens()
				if f == FaultCountCommitsWithinBudget && preAllocatedTokens.plus(sumOf(tokens)).exceeds(budget.TargetTokens, f) {
					continue
				}
				result.Indices = append(result.Indices, candidate)
				committedSet[candidate] = true
				preAllocatedTokens.add(tokens)
				satisfied++
			}
		}
		selectedCount[n].selected = satisfied
		if s.seedFault() == f {
			selectedCount[n].selected = 0
		}
		if satisfied < entry.RequireCount {
			if s.throw && f != FaultCountNeverThrows || f == FaultCountAlwaysThrows {
				return strategy.Selection{}, &Error{Class: ClassScarcity, Text: fmt.Sprintf(
					"%s: candidate pool for kind '%s' has %d items but RequireCount is %d.",
					s.name, entry.Kind.Canonical(), satisfied, entry.RequireCount)}
			}
			if f == FaultCountShortfallMissing || f == FaultCountAbsentKindNoShortfall && satisfied == 0 {
				continue
			}
			required := entry.RequireCount
			if f == FaultCountShortfallIsMissingCount {
				required -= satisfied
			}
			result.Shortfalls = append(result.Shortfalls, cupel.CountRequirementShortfall{
				Kind: entry.Kind.Canonical(), RequiredCount: required, SatisfiedCount: satisfied,
			})
		}
	}

	// Phase 2: Budget-Distribute, or Knapsack-Distribute.
	var residual []entry
	var residualIndices []int
	for i, it := range items {
		if !committedSet[i] {
			residual = append(residual, it)
			residualIndices = append(residualIndices, i)
		}
	}
	residualTarget := max(0, sumOf(budget.TargetTokens).minus(preAllocatedTokens).tokens(f))
	if f == FaultCountResidualTargetWhole {
		residualTarget = budget.TargetTokens
	}
	innerSelected, err := sliceAll(s.inner, residual, cupel.SliceBudget{
		MaxTokens:    budget.MaxTokens,
		TargetTokens: min(residualTarget, budget.MaxTokens),
	}, f)
	if err != nil {
		return strategy.Selection{}, err
	}
	// Caps count units in any form.
	var chosen []strategy.SmallerForm
	for _, i := range innerSelected.Indices {
		chosen = append(chosen, strategy.SmallerForm{Index: i})
	}
	chosen = append(chosen, innerSelected.Smaller...)
	if s.knapsack {
		s.resort(chosen, residual, f)
	} else if f == FaultCountQuotaResorts {
		slices.SortFunc(chosen, func(a, b strategy.SmallerForm) int { return a.Index - b.Index })
	}

	// Phase 3: Cap Enforcement.
	var kept strategy.Selection
	for _, c := range chosen {
		i := c.Index
		entry := find(selectedCount, residual[i].Item.Kind(), f)
		switch {
		case f == FaultCountCapIgnored:
		case entry == nil && f == FaultCountUnlistedKindsCapped:
			continue
		case entry == nil:
		case entry.selected > entry.CapCount, entry.selected == entry.CapCount && f != FaultCountCapOneMore:
			s.drop(&kept, i, entry, f)
			continue
		default:
			entry.selected++
		}
		if c.Form > 0 {
			kept.Smaller = append(kept.Smaller, c)
			continue
		}
		kept.Indices = append(kept.Indices, i)
	}
	kept.Drops = append(kept.Drops, innerSelected.Drops...)
	kept.Shortfalls = innerSelected.Shortfalls
	if f == FaultCountInnerShortfallsLost {
		kept.Shortfalls = nil
	}
	appendMapped(&result, kept, residualIndices)
	return result, nil
}

// drop is EXCLUDE(item) with the reason of R31.
func (s count) drop(kept *strategy.Selection, i int, entry *tally, f Fault) {
	data := cupel.ReasonData{Kind: entry.Kind.Canonical(), Cap: entry.CapCount, Count: entry.selected}
	switch f {
	case FaultCountCapReasonIsBudget:
		return
	case FaultCountCapReasonCountsDropped:
		data.Count++
	}
	kept.Drops = append(kept.Drops, strategy.Drop{Index: i, Reason: cupel.NewExclusionReason(cupel.ExcludeCountCapExceeded, data)})
}

func find(tallies []tally, kind cupel.ContextKind, f Fault) *tally {
	for n := range tallies {
		if sameName(string(tallies[n].Kind), string(kind), f, FaultCountCaseSensitive, FaultCountFoldsUnicode) {
			return &tallies[n]
		}
	}
	return nil
}

// sortPartition sorts the candidates of one kind by score descending; equal
// scores keep their order (R19).
func (s count) sortPartition(p *partition, f Fault) {
	order := make([]int, len(p.items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch f {
		case FaultCountCommitsUnsorted:
			return 0
		case FaultCountCommitsLowest:
			return -byScore(p.items[a].Score, p.items[b].Score)
		case FaultCountCommitTieReversed:
			if byScore(p.items[a].Score, p.items[b].Score) == 0 {
				return b - a
			}
		}
		return byScore(p.items[a].Score, p.items[b].Score)
	})
	indices := make([]int, len(order))
	for i, o := range order {
		indices[i] = p.indices[o]
	}
	p.indices = indices // items is not read again
}

// seedFault is the fault of forgetting what phase 1 has committed.
func (s count) seedFault() Fault {
	if s.knapsack {
		return FaultConstrainedSeedReset
	}
	return FaultCountSeedReset
}

// resort is D180: by score descending, then by position in the input (R20).
func (s count) resort(chosen []strategy.SmallerForm, items []entry, f Fault) {
	if f == FaultConstrainedNoResort {
		return
	}
	slices.SortFunc(chosen, func(a, b strategy.SmallerForm) int {
		if c := byScore(items[a.Index].Score, items[b.Index].Score); c != 0 {
			if f == FaultConstrainedResortAscending {
				return -c
			}
			return c
		}
		if f == FaultConstrainedResortTieReversed {
			return b.Index - a.Index
		}
		return a.Index - b.Index
	})
}

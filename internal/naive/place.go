package naive

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// place is the Place chapter. It returns what it gave to the placer.
func (r *run) place(sliced []scored) ([]scored, error) {
	f := r.Fault

	// Step 1: merge.
	merged := make([]scored, 0, len(r.pinned)+len(sliced))
	if f == FaultMergePinnedLast {
		merged = append(merged, sliced...)
	}
	for _, it := range r.pinned {
		score := 1.0
		if f == FaultPinnedScoreIsZero {
			score = 0.0
		}
		merged = append(merged, scored{it, score})
	}
	if f != FaultMergePinnedLast {
		merged = append(merged, sliced...)
	}

	// Step 2: overflow detection.
	var mergedTokens sum
	for _, s := range merged {
		if s.ref.Pinned() && f == FaultOverflowIgnoresPinned {
			continue
		}
		mergedTokens.add(s.tokens)
	}
	target := r.budget.TargetTokens()
	threshold := target
	switch f {
	case FaultOverflowUsesMax:
		threshold = r.budget.MaxTokens()
	case FaultOverflowUsesEffectiveTarget:
		threshold = effectiveBudget(r.budget, r.pinnedTotal, f).TargetTokens
	case FaultOverflowNonStrict:
		threshold--
	}
	if mergedTokens.exceeds(threshold, f) {
		var err error
		if merged, err = r.handleOverflow(merged, mergedTokens, target); err != nil {
			return nil, err
		}
	}

	// Step 3: delegate to the placer.
	list := make([]cupel.ScoredItem, len(merged))
	for i, s := range merged {
		list[i] = cupel.ScoredItem{Item: s.ref, Score: s.score}
	}
	order := r.Placer.place(list, f)
	placed := make([]scored, len(order))
	r.result.Items = make([]*cupel.ContextItem, len(order))
	for i, o := range order {
		placed[i] = merged[o]
		r.result.Items[i] = merged[o].ref
	}
	r.result.Report.Included = r.included(placed)
	return merged, nil
}

func (r *run) included(placed []scored) []cupel.IncludedItem {
	list := make([]cupel.IncludedItem, len(placed))
	for i, s := range placed {
		in := cupel.IncludedItem{Item: s.ref, Score: s.score, Reason: cupel.IncludeScored}
		switch {
		case s.ref.Pinned() && !(s.tokens == 0 && r.Fault == FaultPinnedZeroTokenReason):
			in.Reason = cupel.IncludePinned
		case s.tokens == 0 && r.Fault != FaultZeroTokenReasonIsScored:
			in.Reason = cupel.IncludeZeroToken
		}
		if s.tokens == 0 && !s.ref.Pinned() && r.Fault == FaultZeroTokenScoreIsZero {
			in.Score = 0.0
		}
		list[i] = in
	}
	return list
}

// handleOverflow is HANDLE-OVERFLOW.
func (r *run) handleOverflow(merged []scored, mergedTokens sum, targetTokens int) ([]scored, error) {
	f := r.Fault
	strategy := r.Overflow
	switch {
	case f == FaultThrowProceeds && strategy == pipeline.OverflowThrow:
		return merged, nil
	case f == FaultTruncateThrows && strategy == pipeline.OverflowTruncate,
		f == FaultProceedThrows && strategy == pipeline.OverflowProceed:
		strategy = pipeline.OverflowThrow
	case f == FaultProceedTruncates && strategy == pipeline.OverflowProceed:
		strategy = pipeline.OverflowTruncate
	}
	switch strategy {
	case pipeline.OverflowTruncate:
		return r.truncate(merged, targetTokens), nil
	case pipeline.OverflowProceed:
		items := make([]*cupel.ContextItem, len(merged))
		for i, s := range merged {
			items[i] = s.ref
		}
		r.result.Report.Overflow = &cupel.OverflowEvent{
			TokensOverBudget: mergedTokens.minus(sumOf(targetTokens)).tokens(f),
			OverflowingItems: items,
			Budget:           r.budget,
		}
		return merged, nil
	}
	return nil, &Error{Class: ClassOverflow, Text: fmt.Sprintf("Selected items require %d tokens, exceeding target budget of %d",
		mergedTokens.tokens(f), targetTokens)}
}

func (r *run) truncate(merged []scored, targetTokens int) []scored {
	f := r.Fault
	var kept []scored
	var currentTokens sum
	full := false
	if f == FaultTruncateFromFront {
		slices.Reverse(merged)
	}
	for _, s := range merged {
		withItem := currentTokens.plus(sumOf(s.tokens))
		fits := !withItem.exceeds(targetTokens, f) && !full
		switch {
		case f == FaultTruncateStrict:
			fits = !withItem.exceeds(targetTokens-1, f)
		case f == FaultTruncateKeepsZeroTokens && s.tokens == 0:
			fits = true
		case f == FaultTruncateToMax:
			fits = !withItem.exceeds(r.budget.MaxTokens(), f)
		}
		if s.ref.Pinned() && f != FaultTruncateDropsPinned || fits {
			kept = append(kept, s)
			currentTokens = withItem
			continue
		}
		full = f == FaultTruncateStopsAtMisfit
		if r.pinnedTotal.exceeds(0, f) && !withItem.minus(r.pinnedTotal).exceeds(targetTokens, f) &&
			f != FaultOverrideNever && f != FaultOverrideNeverAtTruncate {
			r.exclude(s.item, s.score, placeStage, r.pinnedOverride())
			continue
		}
		available := sumOf(targetTokens).minus(currentTokens).tokens(f)
		if f == FaultTruncateAvailableIsTarget {
			available = targetTokens
		}
		r.exclude(s.item, s.score, placeStage, cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: s.tokens, AvailableTokens: available}))
	}
	if f == FaultTruncateFromFront {
		slices.Reverse(kept)
	}
	return kept
}

// Placer is the configuration of a placer.
type Placer interface {
	// place is the PLACE function of the placer's chapter, in positions (R24).
	place(items []cupel.ScoredItem, f Fault) []int
}

// Place is the Placers chapter: one placer on a list that is merged already.
func Place(p Placer, items []cupel.ScoredItem, f Fault) []int { return p.place(items, f) }

// Chronological is the ChronologicalPlacer chapter.
type Chronological struct{}

func (Chronological) place(items []cupel.ScoredItem, f Fault) []int {
	type key struct {
		timestamp time.Time
		has       bool
		index     int
	}
	sortable := make([]key, len(items))
	for i, it := range items {
		timestamp, has := it.Item.Timestamp()
		sortable[i] = key{timestamp, has, i}
	}
	slices.SortFunc(sortable, func(a, b key) int {
		byIndex := a.index - b.index
		if f == FaultChronologicalTieReversed {
			byIndex = -byIndex
		}
		switch {
		case a.has != b.has:
			if f == FaultChronologicalAbsentFirst {
				return boolOrder(b.has, a.has)
			}
			return boolOrder(a.has, b.has)
		case !a.has:
			return byIndex
		}
		switch f {
		case FaultChronologicalNewestFirst:
			return cmp.Or(b.timestamp.Compare(a.timestamp), byIndex)
		case FaultChronologicalNanosecondsWrap:
			return cmp.Or(cmp.Compare(a.timestamp.UnixNano(), b.timestamp.UnixNano()), byIndex)
		case FaultChronologicalWholeSeconds:
			return cmp.Or(cmp.Compare(a.timestamp.Unix(), b.timestamp.Unix()), byIndex)
		case FaultChronologicalTieByScore:
			return cmp.Or(a.timestamp.Compare(b.timestamp), byScore(items[a.index].Score, items[b.index].Score), byIndex)
		}
		return cmp.Or(a.timestamp.Compare(b.timestamp), byIndex)
	})
	result := make([]int, len(items))
	for i, k := range sortable {
		result[i] = k.index
	}
	return result
}

// UShaped is the UShapedPlacer chapter.
type UShaped struct{}

func (UShaped) place(items []cupel.ScoredItem, f Fault) []int {
	scored := make([]int, len(items))
	for i := range items {
		scored[i] = i
	}
	slices.SortFunc(scored, func(a, b int) int {
		switch f {
		case FaultUShapedTieReversed:
			return cmp.Or(byScore(items[a].Score, items[b].Score), b-a)
		case FaultUShapedLowestAtEdges:
			return cmp.Or(byScore(items[b].Score, items[a].Score), a-b)
		case FaultUShapedUnsorted:
			return a - b
		}
		return cmp.Or(byScore(items[a].Score, items[b].Score), a-b)
	})
	if f == FaultUShapedSorted {
		return scored
	}
	result := make([]int, len(items))
	left, right := 0, len(items)-1
	for i, index := range scored {
		even := i%2 == 0
		if f == FaultUShapedOddLeft {
			even = !even
		}
		if even {
			result[left] = index
			left++
		} else {
			result[right] = index
			right--
		}
	}
	return result
}

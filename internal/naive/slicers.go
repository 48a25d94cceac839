package naive

import (
	"cmp"
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Slicer is the configuration of a slicer.
type Slicer interface {
	// construct validates as the slicer's chapter says.
	construct(f Fault) (slicer, error)
}

type slicer interface {
	// slice is the SLICE function of the slicer's chapter, in positions (R24).
	slice(items []entry, budget cupel.SliceBudget, f Fault) (strategy.Selection, error)
	// leftOver reports whether the left-over pass of the Units chapter follows.
	leftOver() bool
	// narrow returns the slicer for a list of one kind only (R19).
	narrow(kind cupel.ContextKind) slicer
}

// Slice is the Slicers chapter: one slicer on a list that is scored already.
func Slice(s Slicer, items []cupel.ScoredItem, budget cupel.SliceBudget, f Fault) (strategy.Selection, error) {
	constructed, err := constructSlicer(s, f)
	if err != nil {
		return strategy.Selection{}, err
	}
	entries := make([]entry, len(items))
	for i, it := range items {
		entries[i] = entry{ScoredItem: it}
		for _, v := range it.Item.Variants() {
			entries[i].forms = append(entries[i].forms, form{tokens: v.Tokens, worth: v.Worth})
		}
	}
	return sliceAll(constructed, entries, budget, f)
}

func constructSlicer(s Slicer, f Fault) (slicer, error) {
	if s == nil {
		return nil, invalid("Slicer must not be null")
	}
	return s.construct(f)
}

// byScore orders by score descending: +Inf first, NaN last, -0.0 equal to 0.0
// (R8).
func byScore(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	case a == b:
		return 0
	}
	return boolOrder(math.IsNaN(b), math.IsNaN(a))
}

// boolOrder puts true first.
func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// DropReason is why a [CustomSlicer] drops items.
var DropReason = cupel.NewExclusionReason(cupel.ExcludeCountCapExceeded, cupel.ReasonData{Kind: "Message", Cap: 1, Count: 1})

// CustomSlicer is a slicer of the test's own.
type CustomSlicer struct {
	Choose func(items []cupel.ScoredItem) []int
	// Smaller, when not nil, names the form in which an item that was not
	// chosen comes in, of so many smaller ones; 0 leaves it out.
	Smaller func(index, forms int) int
	// Drop, when not nil, says which items that were not chosen are dropped for
	// DropReason.
	Drop func(index int) bool
	// LeftOver asks for the left-over pass.
	LeftOver bool
}

func (s CustomSlicer) construct(Fault) (slicer, error) { return s, nil }
func (s CustomSlicer) narrow(cupel.ContextKind) slicer { return s }
func (s CustomSlicer) leftOver() bool                  { return s.LeftOver }

func (s CustomSlicer) slice(items []entry, _ cupel.SliceBudget, _ Fault) (strategy.Selection, error) {
	list := make([]cupel.ScoredItem, len(items))
	for i, it := range items {
		list[i] = it.ScoredItem
	}
	selection := strategy.Selection{Indices: s.Choose(list)}
	for i, it := range items {
		if slices.Contains(selection.Indices, i) {
			continue
		}
		if s.Drop != nil && s.Drop(i) {
			selection.Drops = append(selection.Drops, strategy.Drop{Index: i, Reason: DropReason})
			continue
		}
		if s.Smaller == nil || len(it.forms) == 0 {
			continue
		}
		if form := s.Smaller(i, len(it.forms)); form > 0 {
			selection.Smaller = append(selection.Smaller, strategy.SmallerForm{Index: i, Form: form})
		}
	}
	return selection, nil
}

// Greedy is the GreedySlice chapter.
type Greedy struct{}

func (s Greedy) construct(Fault) (slicer, error) { return s, nil }
func (s Greedy) narrow(cupel.ContextKind) slicer { return s }
func (Greedy) leftOver() bool                    { return true }

func (Greedy) slice(items []entry, budget cupel.SliceBudget, f Fault) (strategy.Selection, error) {
	if len(items) == 0 || budget.TargetTokens <= 0 && f != FaultGreedyZeroTarget {
		return strategy.Selection{}, nil
	}

	type densityOf struct {
		density float64
		index   int
	}
	densities := make([]densityOf, len(items))
	for i, it := range items {
		tokens := it.Item.Tokens()
		density := math.MaxFloat64
		if tokens != 0 {
			density = it.Score / float64(tokens)
		}
		switch {
		case f == FaultGreedyByScore:
			density = it.Score
		case tokens == 0 && f == FaultGreedyZeroTokenLast:
			density = -math.MaxFloat64
		case tokens == 0 && f == FaultGreedyZeroTokenByScore:
			density = 1e300 * it.Score
		}
		densities[i] = densityOf{density, i}
	}

	slices.SortFunc(densities, func(a, b densityOf) int {
		if f == FaultGreedyTieReversed {
			return cmp.Or(byScore(a.density, b.density), cmp.Compare(b.index, a.index))
		}
		return cmp.Or(byScore(a.density, b.density), cmp.Compare(a.index, b.index))
	})

	remaining := budget.TargetTokens
	if f == FaultGreedyFillsMax {
		remaining = budget.MaxTokens
	}
	selected := make([]int, 0, len(items))
	for _, d := range densities {
		tokens := items[d.index].Item.Tokens()
		switch {
		case tokens == 0:
			if f != FaultGreedyZeroTokenDropped {
				selected = append(selected, d.index)
			}
		case tokens < remaining, tokens == remaining && f != FaultGreedyStrictFit:
			selected = append(selected, d.index)
			if f != FaultGreedyNeverFull {
				remaining -= tokens
			}
		case f == FaultGreedyStopsAtMisfit:
			return strategy.Selection{Indices: selected}, nil
		}
	}
	return strategy.Selection{Indices: selected}, nil
}

// ScoreGreedy is ScoreGreedySlice, which is not of the specification.
type ScoreGreedy struct{}

func (s ScoreGreedy) construct(Fault) (slicer, error) { return s, nil }
func (s ScoreGreedy) narrow(cupel.ContextKind) slicer { return s }
func (ScoreGreedy) leftOver() bool                    { return true }

func (ScoreGreedy) slice(items []entry, budget cupel.SliceBudget, _ Fault) (strategy.Selection, error) {
	var selection strategy.Selection
	if budget.TargetTokens <= 0 {
		return selection, nil
	}
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return byScore(items[a].Score, items[b].Score) })
	left := budget.TargetTokens
	for _, i := range order {
		if tokens := items[i].Item.Tokens(); tokens >= 0 && tokens <= left {
			selection.Indices = append(selection.Indices, i)
			left -= tokens
		}
	}
	return selection, nil
}

// Knapsack is the KnapsackSlice chapter. A nil bucket size is the default, 100
// tokens.
type Knapsack struct{ BucketSize *int }

func (s Knapsack) construct(f Fault) (slicer, error) { return s.constructed(f) }

func (s Knapsack) constructed(f Fault) (knapsack, error) {
	size := 100
	if f == FaultKnapsackDefaultBucketIsOne {
		size = 1
	}
	if f == FaultKnapsackBucketIgnored {
		return knapsack{size}, nil
	}
	if s.BucketSize != nil {
		size = *s.BucketSize
	}
	if size <= 0 {
		if f == FaultKnapsackBucketUnchecked {
			return knapsack{1}, nil
		}
		return knapsack{}, invalid("bucketSize must be a positive integer")
	}
	return knapsack{size}, nil
}

// knapsack is a constructed [Knapsack].
type knapsack struct{ bucketSize int }

func (s knapsack) narrow(cupel.ContextKind) slicer { return s }
func (knapsack) leftOver() bool                    { return true }

func (s knapsack) slice(items []entry, budget cupel.SliceBudget, f Fault) (strategy.Selection, error) {
	if len(items) == 0 || budget.TargetTokens <= 0 && f != FaultKnapsackZeroTarget {
		return strategy.Selection{}, nil
	}

	var zeroTokenItems, candidates []int
	for i, it := range items {
		switch tokens := it.Item.Tokens(); {
		case tokens == 0:
			if f != FaultKnapsackZeroTokenDropped {
				zeroTokenItems = append(zeroTokenItems, i)
			}
		case tokens > 0:
			candidates = append(candidates, i)
		}
	}
	if len(candidates) == 0 {
		return strategy.Selection{Indices: zeroTokenItems}, nil
	}

	n := len(candidates)
	values := make([]int64, n)
	discretizedWeights := make([]int, n)
	for i, c := range candidates {
		values[i] = scaledScore(items[c].Score, f)
		discretizedWeights[i] = s.buckets(items[c].Item.Tokens(), f)
	}
	capacity := budget.TargetTokens / s.bucketSize
	if f == FaultKnapsackCeilsCapacity && budget.TargetTokens%s.bucketSize > 0 {
		capacity++
	}
	if capacity == 0 {
		if f == FaultKnapsackCapacityZeroIsEmpty {
			return strategy.Selection{}, nil
		}
		return strategy.Selection{Indices: zeroTokenItems}, nil
	}

	taken, err := solve(values, discretizedWeights, capacity, f)
	if err != nil {
		return strategy.Selection{}, err
	}
	for _, i := range taken {
		zeroTokenItems = append(zeroTokenItems, candidates[i])
	}
	return strategy.Selection{Indices: zeroTokenItems}, nil
}

// scaledScore is the integer value of a score: NaN counts as 0, and the scaled
// score is clamped to [0, 2^40] (R8).
func scaledScore(score float64, f Fault) int64 {
	scaled := math.Floor(score * 10000)
	switch f {
	case FaultKnapsackScoresRounded:
		scaled = math.Round(score * 10000)
	case FaultKnapsackScoresCoarse:
		scaled = math.Floor(score * 10)
	case FaultKnapsackScoresIgnored:
		scaled = 1
	}
	switch {
	case math.IsNaN(scaled), scaled < 0:
		return 0
	case scaled > 1<<40:
		return 1 << 40
	}
	return int64(scaled)
}

func (s knapsack) buckets(tokens int, f Fault) int {
	if tokens%s.bucketSize == 0 || f == FaultKnapsackFloorsWeights {
		return tokens / s.bucketSize
	}
	return tokens/s.bucketSize + 1
}

// bits is a row of the keep table.
type bits []uint64

func newBits(n int) bits      { return make(bits, (n+63)/64) }
func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bits) set(i int)      { b[i/64] |= 1 << (i % 64) }

// maxCells bounds the keep table; up to maxTopDown items the same recurrence
// can be followed without a table.
const (
	maxCells   = 1 << 30
	maxTopDown = 16
)

// solve returns the items that the chapter's dynamic program keeps, last one
// first.
func solve(values []int64, weights []int, capacity int, f Fault) ([]int, error) {
	n := len(values)
	ofTable := f == FaultKnapsackForward || f == FaultKnapsackNonStrict || f == FaultKnapsackReconstructsForward
	if n <= maxTopDown && capacity > 1<<n && !ofTable {
		return solveTopDown(values, weights, capacity), nil
	}
	if capacity >= maxCells/n {
		return nil, &Error{Class: ClassTooLarge, Text: "the table of the dynamic program would not fit"}
	}

	dp := make([]int64, capacity+1)
	keep := make([]bits, n)
	for i := range n {
		keep[i] = newBits(capacity + 1)
		dw, dv := weights[i], values[i]
		if f == FaultKnapsackForward {
			for w := dw; w <= capacity; w++ {
				if withItem := dp[w-dw] + dv; withItem > dp[w] {
					dp[w] = withItem
					keep[i].set(w)
				}
			}
			continue
		}
		for w := capacity; w >= dw; w-- {
			withItem := dp[w-dw] + dv
			if withItem > dp[w] || withItem == dp[w] && f == FaultKnapsackNonStrict {
				dp[w] = withItem
				keep[i].set(w)
			}
		}
	}

	var selected []int
	remainingCapacity := capacity
	for step := range n {
		i := n - 1 - step
		if f == FaultKnapsackReconstructsForward {
			i = step
		}
		if weights[i] <= remainingCapacity && keep[i].has(remainingCapacity) {
			selected = append(selected, i)
			remainingCapacity -= weights[i]
		}
	}
	return selected, nil
}

// solveTopDown is the same recurrence without the table, for a handful of
// items and a capacity that no table could hold.
func solveTopDown(values []int64, weights []int, capacity int) []int {
	// best is dp[w] after the items up to i.
	var best func(i, w int) int64
	best = func(i, w int) int64 {
		if i < 0 {
			return 0
		}
		without := best(i-1, w)
		if w >= weights[i] {
			return max(without, best(i-1, w-weights[i])+values[i])
		}
		return without
	}
	var selected []int
	remainingCapacity := capacity
	for i, value := range slices.Backward(values) {
		w := remainingCapacity
		if w >= weights[i] && best(i-1, w-weights[i])+value > best(i-1, w) {
			selected = append(selected, i)
			remainingCapacity -= weights[i]
		}
	}
	return selected
}

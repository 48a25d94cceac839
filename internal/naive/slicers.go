package naive

import (
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Slicer is the configuration of a slicer.
type Slicer interface {
	// valid is the chapter's validation.
	valid() bool
	// slice is the SLICE function of the slicer's chapter, in positions (R24).
	slice(items []entry, budget cupel.SliceBudget) (strategy.Selection, error)
}

// Slice is the Slicers chapter: one slicer on a list that is scored already.
func Slice(s Slicer, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	if !s.valid() {
		return strategy.Selection{}, errInvalid
	}
	entries := make([]entry, len(items))
	for i, it := range items {
		entries[i] = entry{ScoredItem: it}
		for _, v := range it.Item.Variants() {
			entries[i].forms = append(entries[i].forms, form{tokens: v.Tokens, worth: v.Worth})
		}
	}
	return sliceAll(s, entries, budget)
}

// sliceAll is a slicer with the left-over pass of the Units chapter, where one
// follows.
func sliceAll(s Slicer, items []entry, budget cupel.SliceBudget) (strategy.Selection, error) {
	selection, err := s.slice(items, budget)
	if err != nil {
		return selection, err
	}
	switch s := s.(type) {
	case Quota, CountQuota, CountConstrainedKnapsack:
		return selection, nil
	case CustomSlicer:
		if !s.LeftOver {
			return selection, nil
		}
	}
	return leftOver(items, budget.TargetTokens, selection), nil
}

// narrow returns the slicer for a list of one kind only (R19).
func narrow(s Slicer, kind cupel.ContextKind) Slicer {
	switch s := s.(type) {
	case Quota:
		return Quota{s.Entries, narrow(s.Inner, kind)}
	case CountQuota:
		return CountQuota{narrowCounts(s.Entries, kind), s.Throw, narrow(s.Inner, kind)}
	case CountConstrainedKnapsack:
		return CountConstrainedKnapsack{narrowCounts(s.Entries, kind), s.Throw, s.Knapsack}
	}
	return s
}

// CustomSlicer is a slicer of the test's own. Choose gets the numbers of the
// smaller forms too.
type CustomSlicer struct {
	Choose   func(items []cupel.ScoredItem, forms []int) strategy.Selection
	LeftOver bool // asks for the left-over pass
}

func (s CustomSlicer) valid() bool { return true }

func (s CustomSlicer) slice(items []entry, _ cupel.SliceBudget) (strategy.Selection, error) {
	list := make([]cupel.ScoredItem, len(items))
	forms := make([]int, len(items))
	for i, it := range items {
		list[i], forms[i] = it.ScoredItem, len(it.forms)
	}
	return s.Choose(list, forms), nil
}

// Greedy is the GreedySlice chapter.
type Greedy struct{}

func (Greedy) valid() bool { return true }

func (Greedy) slice(items []entry, budget cupel.SliceBudget) (strategy.Selection, error) {
	density := func(it entry) float64 {
		if it.Item.Tokens() == 0 {
			return math.MaxFloat64
		}
		return it.Score / float64(it.Item.Tokens())
	}
	return take(items, budget.TargetTokens, func(i, j int) int { return byScore(density(items[i]), density(items[j])) }), nil
}

// ScoreGreedy is ScoreGreedySlice, which is not of the specification.
type ScoreGreedy struct{}

func (ScoreGreedy) valid() bool { return true }

func (ScoreGreedy) slice(items []entry, budget cupel.SliceBudget) (strategy.Selection, error) {
	return take(items, budget.TargetTokens, func(i, j int) int { return byScore(items[i].Score, items[j].Score) }), nil
}

// take goes through the items in an order and takes what still fits.
func take(items []entry, target int, compare func(i, j int) int) strategy.Selection {
	var selection strategy.Selection
	if target <= 0 {
		return selection
	}
	remaining := target
	for _, i := range ordered(len(items), compare) {
		if tokens := items[i].Item.Tokens(); tokens <= remaining {
			selection.Indices = append(selection.Indices, i)
			remaining -= tokens
		}
	}
	return selection
}

// Knapsack is the KnapsackSlice chapter. A nil bucket size is the default, 100
// tokens.
type Knapsack struct{ BucketSize *int }

func (s Knapsack) valid() bool { return s.bucketSize() > 0 }

func (s Knapsack) bucketSize() int {
	if s.BucketSize == nil {
		return 100
	}
	return *s.BucketSize
}

func (s Knapsack) slice(items []entry, budget cupel.SliceBudget) (strategy.Selection, error) {
	if budget.TargetTokens <= 0 {
		return strategy.Selection{}, nil
	}

	var zeroTokenItems, candidates []int
	for i, it := range items {
		switch tokens := it.Item.Tokens(); {
		case tokens == 0:
			zeroTokenItems = append(zeroTokenItems, i)
		case tokens > 0:
			candidates = append(candidates, i)
		}
	}
	capacity := budget.TargetTokens / s.bucketSize()
	if len(candidates) == 0 || capacity == 0 {
		return strategy.Selection{Indices: zeroTokenItems}, nil
	}

	values := make([]int64, len(candidates))
	discretizedWeights := make([]int, len(candidates))
	for i, c := range candidates {
		values[i] = scaledScore(items[c].Score)
		discretizedWeights[i] = s.buckets(items[c].Item.Tokens())
	}
	taken, err := solve(values, discretizedWeights, capacity)
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
func scaledScore(score float64) int64 {
	scaled := math.Floor(score * 10000)
	switch {
	case math.IsNaN(scaled), scaled < 0:
		return 0
	case scaled > 1<<40:
		return 1 << 40
	}
	return int64(scaled)
}

func (s Knapsack) buckets(tokens int) int {
	if tokens%s.bucketSize() == 0 {
		return tokens / s.bucketSize()
	}
	return tokens/s.bucketSize() + 1
}

// maxCells bounds the keep table; up to maxTopDown items the same recurrence
// can be followed without a table.
const (
	maxCells   = 1 << 27
	maxTopDown = 16
)

// solve returns the items that the chapter's dynamic program keeps, last one
// first.
func solve(values []int64, weights []int, capacity int) ([]int, error) {
	n := len(values)
	if n <= maxTopDown && capacity > 1<<n {
		return solveTopDown(values, weights, capacity), nil
	}
	if capacity >= maxCells/n {
		return nil, ErrTooLarge
	}

	return solveTable(values, weights, capacity), nil
}

// solveTable is the chapter's dynamic program with its keep table.
func solveTable(values []int64, weights []int, capacity int) []int {
	dp := make([]int64, capacity+1)
	keep := make([][]bool, len(values))
	for i, dv := range values {
		keep[i] = make([]bool, capacity+1)
		dw := weights[i]
		for w := capacity; w >= dw; w-- {
			withItem := dp[w-dw] + dv
			if withItem > dp[w] {
				dp[w] = withItem
				keep[i][w] = true
			}
		}
	}

	var selected []int
	remainingCapacity := capacity
	for i := range slices.Backward(values) {
		if weights[i] <= remainingCapacity && keep[i][remainingCapacity] {
			selected = append(selected, i)
			remainingCapacity -= weights[i]
		}
	}
	return selected
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

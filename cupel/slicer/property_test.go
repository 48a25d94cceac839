package slicer_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func oneOf[T any](src *rand.Rand, options ...T) T { return options[src.IntN(len(options))] }

// scenario is one random case.
type scenario struct {
	items  []cupel.ScoredItem
	budget cupel.SliceBudget
	real   strategy.Slicer
	huge   bool // tokens near 2^62
}

// allKinds has kinds that are equal up to ASCII case, and such as Unicode alone
// folds: the Kelvin sign and the long s.
var allKinds = []cupel.ContextKind{"Message", "Document", "tool", "TOOL", "Tool", "k", "K", "\u212a", "\u017f", "s", "ä", "Ä"}

func newScenario(src *rand.Rand) *scenario {
	sc := &scenario{huge: src.IntN(5) == 0}
	kinds := allKinds[:1+src.IntN(len(allKinds))]
	tokens := func() int {
		n := oneOf(src, 0, 1, 2, 3, 5, 8, 10, 10, 20, 37, 60, -1, -30)
		if sc.huge {
			n = oneOf(src, 0, 1, math.MaxInt/2+1, math.MaxInt/2, math.MaxInt/4+1, math.MaxInt/8+12346, math.MaxInt, math.MaxInt/32+1, -(math.MaxInt/2 + 1), math.MinInt)
		}
		return n
	}
	score := func() float64 {
		switch src.IntN(6) {
		case 0:
			return oneOf(src, nan, inf, negInf, math.Copysign(0, -1), 0, -0.5, math.MaxFloat64, 1e9, 0.00005)
		case 1:
			return float64(src.IntN(10_000)) / 10_000
		default:
			return oneOf(src, 0.1, 0.2, 0.25, 0.5, 0.5, 0.9, 1)
		}
	}
	for range src.IntN(14) {
		next := it(oneOf(src, kinds...), tokens(), 0)
		if len(sc.items) > 0 && src.IntN(8) == 0 {
			next = sc.items[src.IntN(len(sc.items))] // one pointer twice
		}
		next.Score = score()
		sc.items = append(sc.items, next)
	}
	if src.IntN(2) == 0 { // as a pipeline's list
		slices.SortStableFunc(sc.items, func(a, b cupel.ScoredItem) int { return cmp.Compare(b.Score, a.Score) }) // NaN last
	}
	sc.budget = target(src.IntN(120))
	if sc.huge {
		sc.budget = target(oneOf(src, math.MaxInt, math.MaxInt/2+1, math.MaxInt/2+2, math.MaxInt/4+100, math.MaxInt/8+1, 7))
	}
	if src.IntN(4) == 0 {
		sc.budget.MaxTokens += min(50, math.MaxInt-sc.budget.MaxTokens)
	}
	sc.real = sc.tree(src, 3, true)
	return sc
}

// tree makes a slicer with up to depth wrappers. Without knapsack there is none
// in it.
func (sc *scenario) tree(src *rand.Rand, depth int, knapsack bool) strategy.Slicer {
	choice := src.IntN(8)
	if depth == 0 {
		choice = src.IntN(3)
	}
	bucket := oneOf(src, 1, 2, 7, 10, 100)
	if sc.huge {
		bucket = 1 << (strconv.IntSize - 7 + src.IntN(5))
	}
	k := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(bucket)))
	scarcity := slicer.WithScarcity(oneOf(src, 0, 0, 0, 0, 0, slicer.ScarcityThrow))
	switch {
	case choice == 1 && knapsack:
		return *k
	case choice == 2:
		return slicer.ScoreGreedy{}
	case choice == 3 && knapsack:
		return slicer.Must(slicer.NewCountConstrainedKnapsack(k, sc.counts(src), scarcity))
	case choice == 4 || choice == 5:
		return slicer.Must(slicer.NewQuota(sc.tree(src, depth-1, knapsack), sc.quotas(src)...))
	case choice > 5:
		return slicer.Must(slicer.NewCountQuota(sc.tree(src, depth-1, false), sc.counts(src), scarcity))
	}
	return slicer.Greedy{}
}

// String returns the slicer with its settings.
func (sc *scenario) String() string {
	var text strings.Builder
	for s := range strategy.AllSlicers(sc.real) {
		d, given, _ := strategy.Describe(slicer.Descriptors(), s)
		fmt.Fprint(&text, d.Name, given, " ")
	}
	return text.String()
}

// distinctKinds are kinds that no folding makes equal.
func distinctKinds(src *rand.Rand) (kinds []cupel.ContextKind) {
	seen := make(map[string]bool)
	for range src.IntN(4) {
		if kind := oneOf(src, append(allKinds, "absent")...); !seen[kind.Key()] {
			seen[kind.Key()] = true
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func (sc *scenario) counts(src *rand.Rand) (entries []slicer.CountQuotaEntry) {
	for _, kind := range distinctKinds(src) {
		require := oneOf(src, 0, 0, 1, 1, 2, 3)
		entries = append(entries, entry(kind, require, require+src.IntN(3)))
	}
	return entries
}

func (sc *scenario) quotas(src *rand.Rand) (entries []slicer.QuotaEntry) {
	left := 100.0
	for _, kind := range distinctKinds(src) {
		require := min(left, oneOf(src, 0.0, 0, 10, 29, 33.3, 50, 100))
		left -= require
		entries = append(entries, slicer.Between(kind, require, max(require, oneOf(src, 0.0, 15, 57, 100, 100))))
	}
	return entries
}

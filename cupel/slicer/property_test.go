package slicer_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

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
	text   string // of the slicer
	huge   bool   // tokens near 2^62
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
	sc.real, sc.text = sc.tree(src, 3, true)
	return sc
}

// tree makes a slicer with up to depth wrappers. Without knapsack there is none
// in it.
func (sc *scenario) tree(src *rand.Rand, depth int, knapsack bool) (strategy.Slicer, string) {
	choice := src.IntN(7)
	if depth == 0 {
		choice = src.IntN(2)
	}
	bucket := oneOf(src, 1, 2, 7, 10, 100)
	if sc.huge {
		bucket = 1 << (strconv.IntSize - 7 + src.IntN(5))
	}
	k := slicer.Must(slicer.NewKnapsack(slicer.WithBucketSize(bucket)))
	switch {
	case choice == 1 && knapsack:
		return *k, fmt.Sprintf("Knapsack(%d)", bucket)
	case choice == 2 && knapsack:
		entries, throw := sc.entries(src)
		return slicer.Must(slicer.NewCountConstrainedKnapsack(k, entries, slicer.WithScarcity(behaviour(throw)))),
			fmt.Sprintf("CountConstrainedKnapsack(%d, %v, %v)", bucket, throw, entries)
	case choice == 3 || choice == 4:
		inner, text := sc.tree(src, depth-1, knapsack)
		entries := sc.quotas(src)
		return slicer.Must(slicer.NewQuota(inner, entries...)), fmt.Sprintf("Quota(%s, %v)", text, entries)
	case choice == 5 || choice == 6:
		inner, text := sc.tree(src, depth-1, false)
		entries, throw := sc.entries(src)
		return slicer.Must(slicer.NewCountQuota(inner, entries, slicer.WithScarcity(behaviour(throw)))),
			fmt.Sprintf("CountQuota(%s, %v, %v)", text, throw, entries)
	}
	return slicer.Greedy{}, "Greedy"
}

func behaviour(throw bool) slicer.ScarcityBehavior {
	if throw {
		return slicer.ScarcityThrow
	}
	return slicer.ScarcityDegrade
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

func (sc *scenario) entries(src *rand.Rand) (entries []slicer.CountQuotaEntry, throw bool) {
	for _, kind := range distinctKinds(src) {
		require := oneOf(src, 0, 0, 1, 1, 2, 3)
		entries = append(entries, entry(kind, require, require+src.IntN(3)))
	}
	return entries, src.IntN(6) == 0
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

package cupeltest_test

import (
	"cmp"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

// sortedBy returns a placer that sorts by a comparison, stable or not.
func sortedBy(sort func(order []int, compare func(a, b int) int), compare func(a, b cupel.ScoredItem) int) any {
	return place(func(items []cupel.ScoredItem, order []int) {
		sort(order, func(a, b int) int { return compare(items[a], items[b]) })
	})
}

func stable(order []int, compare func(a, b int) int)   { slices.SortStableFunc(order, compare) }
func unstable(order []int, compare func(a, b int) int) { slices.SortFunc(order, compare) }

func byTime(a, b cupel.ScoredItem) int { return at(a.Item).Compare(at(b.Item)) }

func TestBrokenPlacers(t *testing.T) {
	checkFaults(t, "placer", []fault{
		{name: "typed nil", rule: "accepted", make: the(strategy.PlacerFunc(nil))},
		{name: "looks for the last of an empty list", rule: "failure", make: the(place(func(items []cupel.ScoredItem, _ []int) {
			_ = items[len(items)-1]
		}))},
		{name: "sorts the list", rule: "list", make: the(place(func(items []cupel.ScoredItem, _ []int) {
			slices.SortFunc(items, func(a, b cupel.ScoredItem) int { return cmp.Compare(a.Item.Content(), b.Item.Content()) })
		}))},
		{name: "chance", rule: "repeat", make: the(place(func(_ []cupel.ScoredItem, order []int) {
			rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}))},
		{name: "by capacity", rule: "repeat", make: the(place(func(items []cupel.ScoredItem, order []int) {
			if cap(items) > len(items)+1 {
				slices.Reverse(order)
			}
		}))},
		{name: "a memo by length", rule: "memory", make: func() any {
			var lock locked
			known := make(map[int][]int)
			return place(func(items []cupel.ScoredItem, order []int) {
				lock.do(func() {
					if known[len(items)] == nil {
						slices.SortStableFunc(order, func(a, b int) int { return byTime(items[a], items[b]) })
						known[len(items)] = slices.Clone(order)
					}
					copy(order, known[len(items)])
				})
			})
		}},
		{name: "is not safe", bubble: true, rule: "concurrency", make: func() any {
			calls := new(busy)
			return place(func(_ []cupel.ScoredItem, order []int) {
				if calls.shared() {
					slices.Reverse(order)
				}
			})
		}},
		{name: "the language", rule: "environment", make: the(place(func(_ []cupel.ScoredItem, order []int) {
			if os.Getenv("LC_ALL") == "tr_TR.UTF-8" {
				slices.Reverse(order)
			}
		}))},
		{name: "keeps the order", rule: "result", make: func() any {
			var lock locked
			var last []int
			return place(func(_ []cupel.ScoredItem, order []int) {
				lock.do(func() {
					slices.Reverse(last)
					last = order
				})
			})
		}, opts: []cupeltest.KitOption{cupeltest.Except("concurrency")}}, // with a busy machine, that rule sees it first
		{name: "stops without a word", rule: "context", make: the(stopping{})},
		{name: "never looks at its context", bubble: true, rule: "long-call", make: the(place(func(items []cupel.ScoredItem, _ []int) {
			slow(len(items))
		}))},
		{name: "leaves goroutines", bubble: true, rule: "goroutines", make: the(place(func([]cupel.ScoredItem, []int) {
			leak()
		}))},
		{name: "quadratic", bubble: true, rule: "growth", make: the(place(func(items []cupel.ScoredItem, _ []int) {
			quadratic(len(items))
		}))},
		{name: "a buffer of 64", rule: "permutation", make: the(place(func(_ []cupel.ScoredItem, order []int) { clear(order[min(64, len(order)):]) }))},
		{name: "an unstable sort", rule: "alike", make: the(sortedBy(unstable, byTime))},
		{name: "no order", rule: "order", make: the(sortedBy(stable, nearTimes))},
		{name: "equal to all without a time", rule: "order", make: the(sortedBy(stable, func(a, b cupel.ScoredItem) int {
			if at(a.Item).IsZero() || at(b.Item).IsZero() {
				return 0
			}
			return byTime(a, b)
		}))},
	})
}

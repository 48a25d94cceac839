package cupeltest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Growth is measured between lists of these lengths. Time that grows with
// N log N grows by 11, with the square of N by 64.
const (
	growthFrom = 250
	growthTo   = 2000
	growthMost = 32
)

// growthEnough is after how long other work matters less.
const growthEnough = 500 * time.Millisecond

// growthLeast is what is too short to measure or to matter.
const growthLeast = 3 * time.Millisecond

// growthRule measures a method on lists that differ only in their length.
func (s *subject[E, R]) growthRule(list func(n int) input[E]) rule {
	return rule{
		sentence: s.method + " takes time in proportion to N log N at most.", cause: s.method + " is slow for long lists", advice: true,
		broken: func() string {
			small, large := list(growthFrom), list(growthTo)
			run := s.start()
			return growth("items", func(n int) func() {
				if n == growthFrom {
					return func() { s.call(run, small) }
				}
				return func() { s.call(run, large) }
			})
		},
	}
}

// growth measures what start returns for the two lengths, and describes growth
// faster than N log N, or returns "".
func growth(of string, start func(n int) (call func())) string {
	short, long := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	ratio := func() float64 { return float64(long) / float64(max(short, 1)) }
	began := time.Now() //nolint:forbidigo // the kit measures the strategies of others
	// The least of several is hardly disturbed by other work.
	for round := 0; round < 2 || round < 5 && time.Since(began) <= growthEnough; round++ { //nolint:forbidigo // as above
		for range 3 {
			short = min(short, timeOf(start(growthFrom)))
		}
		if long = min(long, timeOf(start(growthTo))); long < growthLeast {
			return ""
		}
	}
	if ratio() <= growthMost {
		return ""
	}
	return fmt.Sprintf("%d and %d %s: %v, then %v, which is %.0f times as long", growthFrom, growthTo, of,
		short.Round(time.Microsecond), long.Round(time.Microsecond), ratio())
}

// longItems are the items for a measurement.
func longItems(n int, options *kitOptions) []*cupel.ContextItem {
	if options.only {
		return repeat(options.items, n)
	}
	return randomItems(nextGeneration(), n)
}

func longScored(n int, options *kitOptions) input[cupel.ScoredItem] {
	return input[cupel.ScoredItem]{list: scored(longItems(n, options), func(i int) float64 { return 1 - float64(i)/float64(n) }), budget: budgetOf(2000)}
}

// numberRule looks for NaN where nothing explains it.
func numberRule(s *subject[*cupel.ContextItem, []float64], options *kitOptions) rule {
	return rule{
		sentence: s.method + " is a number for items whose fields are ordinary.", cause: "a score is not a number", advice: true,
		broken: func() string {
			run := s.start()
			for _, in := range itemLists(nextShort(), options) {
				for i, score := range s.call(run, in).result {
					if math.IsNaN(score) {
						return fmt.Sprintf("%s: item %d scores NaN", in.name, i+1)
					}
				}
			}
			return ""
		},
	}
}

// adviceRules are about slicers that keep their contract and are of little use.
func (k *slicerKit) adviceRules(s strategy.Slicer) []rule {
	rules := []rule{
		k.growthRule(func(n int) input[cupel.ScoredItem] { return longScored(n, k.options) }),
	}
	if !k.options.only {
		rules = append(rules, rule{sentence: "among items that differ only in content, those that come first are selected, or those that come last.",
			cause: "equal items are selected in no order", advice: true, broken: k.unstable})
	}
	// Slicers around others leave budget over on purpose, as a cap does.
	if factsOf(s).Slicers == nil {
		rules = append(rules, rule{sentence: "no item that would fit is left out without being dropped.", cause: "budget is left over", advice: true,
			broken: k.ofPlain(leavesRoom)})
	}
	return rules
}

// leavesRoom finds an item that fits the budget that is left. What Slice would
// select from several that fit is its own matter: one must not fit at all.
func leavesRoom(in input[cupel.ScoredItem], sel strategy.Selection) string {
	if len(sel.Shortfalls) > 0 || len(sel.Smaller) > 0 || outOfRange(in, sel) != "" || overTarget(in, sel) != "" {
		return "" // the last two are other rules'
	}
	left := in.budget.TargetTokens
	for _, i := range sel.Indices {
		left -= in.list[i].Item.Tokens()
	}
	taken := make(map[int]bool)
	for _, i := range positionsOf(sel) {
		taken[i] = true
	}
	for i, it := range in.list {
		if tokens := it.Item.Tokens(); !taken[i] && tokens > 0 && tokens <= left && it.Score > 0 {
			return fmt.Sprintf("position %d has %d tokens, %d are left, and it is not selected", i, tokens, left)
		}
	}
	return ""
}

// unstable slices items of three sizes that are otherwise alike.
func (k *slicerKit) unstable() string {
	g := nextGeneration()
	var items []*cupel.ContextItem
	alike := make(map[int][]int) // positions by size
	for i := range 200 {
		items = append(items, g.item(fmt.Sprintf("alike %03d", i), 10+i%3, cupel.WithKind(cupel.KindDocument)))
		alike[items[i].Tokens()] = append(alike[items[i].Tokens()], i)
	}
	list := scored(items, func(int) float64 { return 0.5 })
	run := k.start()
	for _, target := range []int{300, 1000} {
		in := input[cupel.ScoredItem]{list: list, budget: budgetOf(target)}
		sel := k.call(run, in).result
		for _, tokens := range slices.Sorted(maps.Keys(alike)) {
			last, changes := alike[tokens][0], 0
			for _, i := range alike[tokens] {
				if chosen := slices.Contains(sel.Indices, i); chosen != slices.Contains(sel.Indices, last) {
					if changes++; changes > 1 {
						return fmt.Sprintf("200 items with one score, with a target of %d: of those of %d tokens, position %d is selected and %d is not, and the other way round before", target, tokens, pick(chosen, i, last), pick(chosen, last, i))
					}
				}
				last = i
			}
		}
	}
	return ""
}

func pick(first bool, a, b int) int {
	if first {
		return a
	}
	return b
}

// adviceRules are about placers that keep their contract and are of little use.
func (k *placerKit) adviceRules() []rule {
	rules := []rule{k.growthRule(func(n int) input[cupel.ScoredItem] { return longScored(n, k.options) })}
	if k.options.only {
		return rules
	}
	return append(rules, rule{sentence: "items that differ only in content keep their order, or reverse it, on each side of the window.",
		cause: "equal items are placed in no order", advice: true, broken: k.unstable})
}

// unstable places items of five times that are otherwise alike. Items alike may
// come in their order, in reverse, or in one direction and then the other, as
// around the middle of a window.
func (k *placerKit) unstable() string {
	type class struct {
		score float64
		at    int64
	}
	classOf := func(it cupel.ScoredItem) class {
		at, _ := it.Item.Timestamp()
		return class{it.Score, at.UnixMilli()}
	}
	g := nextGeneration()
	var items []*cupel.ContextItem
	for i := range 200 {
		items = append(items, g.item(fmt.Sprintf("alike %03d", i), 10, cupel.WithTimestamp(time.UnixMilli(int64(i%5)))))
	}
	for _, levels := range []int{1, 3} {
		in := input[cupel.ScoredItem]{list: scored(items, func(i int) float64 { return float64(i%levels) / 4 })}
		placed := k.call(k.start(), in).result
		if noPermutation(in, placed) != "" {
			return "" // another rule's
		}
		orders := make(map[class][]int)
		for _, i := range placed {
			orders[classOf(in.list[i])] = append(orders[classOf(in.list[i])], i)
		}
		for _, it := range in.list {
			order, turns := orders[classOf(it)], 0
			for n := 2; n < len(order); n++ {
				if (order[n-1] > order[n-2]) != (order[n] > order[n-1]) {
					turns++
				}
			}
			if turns > 1 {
				return fmt.Sprintf("200 items, those of one score and time: positions %s in this order", shown(order, 0))
			}
		}
	}
	return ""
}

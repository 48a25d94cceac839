package cupeltest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// TestPlacer checks that a placer keeps the contract of [cupel.Placer] and, if
// it implements it, of [cupel.AppendPlacer], and reports each broken rule. Each
// call of newPlacer returns a new placer, as for [TestScorer].
//
// Run it under the race detector to check concurrent use.
func TestPlacer(t T, newPlacer func() cupel.Placer, opts ...StrategyOption) {
	t.Helper()
	var options kitOptions
	for _, opt := range opts {
		if opt != nil {
			opt.applyStrategy(&options)
		}
	}
	p, ok := accepted(t, "placer", newPlacer, func(p cupel.Placer) cupel.Config {
		return cupel.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: p}
	}, &options)
	if !ok {
		return
	}
	var appending func() cupel.AppendPlacer
	if _, ok := p.(cupel.AppendPlacer); ok && !bypassed(p, "Place", "AppendPlace") {
		appending = func() cupel.AppendPlacer { return newPlacer().(cupel.AppendPlacer) }
	}
	hold(t, "placer", p, newPlacerKit(newPlacer, &options).rules(appending), &options)
}

type placerKit struct {
	subject[cupel.ScoredItem, []int]
	options *kitOptions
}

func newPlacerKit(newPlacer func() cupel.Placer, options *kitOptions) *placerKit {
	return &placerKit{options: options, subject: subject[cupel.ScoredItem, []int]{
		options: options,
		method:  "Place",
		result:  "orders",
		start: func() func(ctx context.Context, in input[cupel.ScoredItem]) ([]int, error) {
			p := newPlacer()
			return func(ctx context.Context, in input[cupel.ScoredItem]) ([]int, error) { return p.Place(ctx, in.list) }
		},
		differ: func(a, b []int) string {
			if slices.Equal(a, b) {
				return ""
			}
			return "the order " + differentPositions(a, b)
		},
		clone: slices.Clone[[]int],
		same:  sameScored,
		junk:  junkScored(),
		lists: func(g generation) []input[cupel.ScoredItem] { return placerInputs(g, options) },
		may:   options.allows,
	}}
}

// placerInputs are the lists that placers get. Pinned items come first, with
// score 1, and then the others.
func placerInputs(g generation, options *kitOptions) []input[cupel.ScoredItem] {
	inputs := append(scoredInputs(g, options), unitInputs(g, options, true)...)
	if options.only {
		return inputs
	}
	pinned := []cupel.ScoredItem{
		{Item: g.item("pinned", 10, cupel.WithPinned()), Score: 1},
		{Item: g.item("pinned and free", 0, cupel.WithPinned()), Score: 1},
	}
	return append(inputs, input[cupel.ScoredItem]{
		name: "pinned items before others",
		list: append(pinned, scored(sampleItems(g), func(i int) float64 { return 3 - float64(i)/2 })...),
	})
}

// rules returns all rules, with that of the appending form if there is one.
func (k *placerKit) rules(appending func() cupel.AppendPlacer) []rule {
	rules := append(k.subject.rules(), k.resultRule())
	rules = append(append(rules, k.stopRules()...),
		rule{sentence: "Place only reorders: it adds and removes nothing.", cause: "the order has another length", broken: k.ofPlain(otherLength)},
		rule{sentence: "Place only reorders: every position is one of the list.", cause: "places what is not in the list", broken: k.ofPlain(wrongPosition)},
		rule{sentence: "Place only reorders: no position comes twice.", cause: "places an item twice", broken: k.ofPlain(repeatedPosition)},
		rule{sentence: "a group is one position: the members of a group stay together.", cause: "confuses groups", broken: k.ofUnits(noPermutation)},
		rule{sentence: "an item that is given twice is placed twice, told apart by its positions.", cause: "confuses items that are given twice", broken: func() string {
			return k.each([]input[cupel.ScoredItem]{repeatedScored(k.options)}, noPermutation)
		}},
		rule{sentence: "any float64 is a score: infinities, NaN and -0 too.", cause: "does not take every score", broken: func() string {
			hostile := hostileScores(k.options)
			return k.each([]input[cupel.ScoredItem]{hostile, {name: "that list in reverse, as pinned items may make it", list: reversed(hostile.list)}}, noPermutation)
		}},
		rule{sentence: "an empty list gives an empty order.", cause: "fails for an empty list", broken: func() string {
			return k.each([]input[cupel.ScoredItem]{{name: "an empty list"}}, noPermutation)
		}},
	)
	rules = append(rules, k.adviceRules()...)
	if appending != nil {
		rules = append(rules, k.appendRules(appending)...)
	}
	return rules
}

// appendRules compare the form that appends with the one that does not, and hold
// the first, which the engine uses, to the rules of the other.
func (k *placerKit) appendRules(newPlacer func() cupel.AppendPlacer) []rule {
	appending := newPlacerKit(func() cupel.Placer { return appended{newPlacer()} }, k.options)
	appending.method, appending.result = "AppendPlace", "orders of AppendPlace"
	same := rule{sentence: "AppendPlace appends the order that Place returns.", cause: "Place and AppendPlace differ", vital: true, broken: func() string {
		appending.takes() // what fails shows below, and what takes long is left out later
		run, appended := k.start(), appending.start()
		for _, in := range k.cold() {
			if diff := k.compare(k.call(run, in), k.call(appended, in)); diff != "" {
				return in.name + ", Place and AppendPlace: " + diff
			}
		}
		return ""
	}}
	rules := append([]rule{same}, appending.subject.rules()[1:]...)
	return append(append(rules, appending.resultRule()), appending.stopRules()...)
}

// appended is a placer that appends to a list with something in it.
type appended struct{ cupel.AppendPlacer }

// Place implements [cupel.Placer].
func (a appended) Place(ctx context.Context, items []cupel.ScoredItem) ([]int, error) {
	before := []int{-1, -2}
	order, err := a.AppendPlace(ctx, before, items)
	if err != nil {
		return nil, err
	}
	if n := min(len(before), len(order)); !slices.Equal(order[:n], []int{-1, -2}) {
		return nil, fmt.Errorf("the elements already in the list are gone: %v", order)
	}
	return order[len(before):], nil
}

func otherLength(in input[cupel.ScoredItem], order []int) string {
	if n := len(in.list); len(order) != n {
		return fmt.Sprintf("%d positions for %d items", len(order), n)
	}
	return ""
}

func wrongPosition(in input[cupel.ScoredItem], order []int) string {
	n := len(in.list)
	for _, i := range order {
		if i < 0 || i >= n {
			return fmt.Sprintf("position %d of %d items", i, n)
		}
	}
	return ""
}

func repeatedPosition(_ input[cupel.ScoredItem], order []int) string {
	seen := make(map[int]bool)
	for _, i := range order {
		if seen[i] {
			return fmt.Sprintf("position %d twice in %s", i, shown(order, slices.Index(order, i)))
		}
		seen[i] = true
	}
	return ""
}

func noPermutation(in input[cupel.ScoredItem], order []int) string {
	return cmp.Or(otherLength(in, order), wrongPosition(in, order), repeatedPosition(in, order))
}

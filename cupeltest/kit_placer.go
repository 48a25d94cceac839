package cupeltest

import (
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
	kit := newPlacerKit(newPlacer, &options)
	rules := append(kit.rules(), kit.adviceRules()...)
	if _, ok := p.(cupel.AppendPlacer); ok && !bypassed(p, "Place", "AppendPlace") {
		rules = append(rules, kit.appendRule(func() cupel.AppendPlacer { return newPlacer().(cupel.AppendPlacer) }))
	}
	hold(t, "placer", p, rules, &options)
}

type placerKit struct {
	subject[cupel.ScoredItem, []int]
	options *kitOptions
}

func newPlacerKit(newPlacer func() cupel.Placer, options *kitOptions) *placerKit {
	return &placerKit{options: options, subject: subject[cupel.ScoredItem, []int]{
		method: "Place",
		result: "orders",
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

func (k *placerKit) rules() []rule {
	rules := append(k.subject.rules(), k.resultRule())
	return append(append(rules, k.stopRules()...),
		rule{sentence: "Place only reorders: it adds and removes nothing.", cause: "the order has another length", broken: k.everywhere(otherLength)},
		rule{sentence: "Place only reorders: every position is one of the list.", cause: "places what is not in the list", broken: k.everywhere(wrongPosition)},
		rule{sentence: "Place only reorders: no position comes twice.", cause: "places an item twice", broken: k.everywhere(repeatedPosition)},
		rule{sentence: "a group is one position: the members of a group stay together.", cause: "confuses groups", broken: func() string { return k.each(ofUnits(k.cold(), true), noPermutation) }},
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
}

// appendRule compares the form that appends with the one that does not.
func (k *placerKit) appendRule(newPlacer func() cupel.AppendPlacer) rule {
	appending := newPlacerKit(func() cupel.Placer { return appended{newPlacer()} }, k.options)
	return rule{sentence: "AppendPlace appends the order that Place returns.", cause: "Place and AppendPlace differ", broken: func() string {
		run, appended := k.start(), appending.start()
		for _, in := range k.cold() {
			if diff := k.compare(k.call(run, in), k.call(appended, in)); diff != "" {
				return in.name + ", Place and AppendPlace: " + diff
			}
		}
		return ""
	}}
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
	n := len(before)
	if len(order) < n || !slices.Equal(order[:n], []int{-1, -2}) {
		return nil, fmt.Errorf("the elements already in the list are gone: %v", order)
	}
	return order[n:], nil
}

func (k *placerKit) everywhere(check func(n int, order []int) string) func() string {
	return func() string { return k.each(ofUnits(k.cold(), false), check) }
}

func (k *placerKit) each(inputs []input[cupel.ScoredItem], check func(n int, order []int) string) string {
	run := k.start()
	for _, in := range inputs {
		out := k.call(run, in)
		found := out.broke
		switch {
		case len(in.list) > 0 && k.answers(out):
			continue
		case found == "":
			found = check(len(in.list), out.result)
		}
		if found != "" {
			return in.name + ": " + found
		}
	}
	return ""
}

func otherLength(n int, order []int) string {
	if len(order) != n {
		return fmt.Sprintf("%d positions for %d items", len(order), n)
	}
	return ""
}

func wrongPosition(n int, order []int) string {
	for _, i := range order {
		if i < 0 || i >= n {
			return fmt.Sprintf("position %d of %d items", i, n)
		}
	}
	return ""
}

func repeatedPosition(_ int, order []int) string {
	seen := make(map[int]bool)
	for _, i := range order {
		if seen[i] {
			return fmt.Sprintf("position %d twice in %s", i, shown(order, slices.Index(order, i)))
		}
		seen[i] = true
	}
	return ""
}

func noPermutation(n int, order []int) string {
	for _, check := range []func(int, []int) string{otherLength, wrongPosition, repeatedPosition} {
		if found := check(n, order); found != "" {
			return found
		}
	}
	return ""
}

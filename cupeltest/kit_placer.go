package cupeltest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// TestPlacer checks that a placer keeps the contract of [strategy.Placer], and reports
// each broken rule. Each call of newPlacer returns a new placer, as for [TestScorer].
//
// Run it under the race detector to check concurrent use.
func TestPlacer(t T, newPlacer func() strategy.Placer, opts ...StrategyOption) {
	t.Helper()
	var options kitOptions
	for _, opt := range opts {
		if opt != nil {
			opt.applyStrategy(&options)
		}
	}
	p, ok := accepted(t, "placer", newPlacer, func(p strategy.Placer) pipeline.Config {
		return pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: p}
	}, &options)
	if !ok {
		return
	}
	hold(t, "placer", p, newPlacerKit(newPlacer, &options).rules(), &options)
}

type placerKit struct {
	subject[cupel.ScoredItem, []int]
	options *kitOptions
}

func newPlacerKit(newPlacer func() strategy.Placer, options *kitOptions) *placerKit {
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

// rules returns all rules.
func (k *placerKit) rules() []rule {
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
	return append(rules, k.adviceRules()...)
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

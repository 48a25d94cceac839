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
// it implements it, of [cupel.AppendPlacer], and reports each broken rule.
//
// Run it under the race detector to check concurrent use.
func TestPlacer(t T, p cupel.Placer, opts ...StrategyOption) {
	t.Helper()
	var options kitOptions
	for _, opt := range opts {
		if opt != nil {
			opt.applyStrategy(&options)
		}
	}
	if !accepted(t, "placer", p, cupel.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: p}, &options) {
		return
	}
	kit := newPlacerKit(p)
	rules := kit.rules(options)
	if a, ok := p.(cupel.AppendPlacer); ok {
		rules = append(rules, kit.appendRule(a))
	}
	hold(t, "placer", p, rules)
}

type placerKit struct {
	subject[cupel.ScoredItem, []int]
}

func newPlacerKit(p cupel.Placer) *placerKit {
	return &placerKit{subject[cupel.ScoredItem, []int]{
		method: "Place",
		run: func(ctx context.Context, in input[cupel.ScoredItem]) ([]int, error) {
			return p.Place(ctx, in.list)
		},
		differ: func(a, b []int) string {
			if slices.Equal(a, b) {
				return ""
			}
			return fmt.Sprintf("the order %v, then %v", a, b)
		},
		clone: slices.Clone[[]int],
		same:  sameScored,
		junk:  junkScored(),
		fresh: func() []input[cupel.ScoredItem] { return placerInputs(nil) },
	}}
}

// placerInputs are the lists that placers get. Pinned items come first, with
// score 1, and then the others.
func placerInputs(own []*cupel.ContextItem) []input[cupel.ScoredItem] {
	pinned := []cupel.ScoredItem{
		{Item: Item("pinned", 10, cupel.WithPinned()), Score: 1},
		{Item: Item("pinned and free", 0, cupel.WithPinned()), Score: 1},
	}
	return append(append(scoredInputs(own), unitInputs(own, true)...), input[cupel.ScoredItem]{
		name: "pinned items before others",
		list: append(pinned, scored(sampleItems(), func(i int) float64 { return 3 - float64(i)/2 })...),
	})
}

func (k *placerKit) rules(options kitOptions) []rule {
	return append(k.subject.rules(placerInputs(options.items)), k.resultRule(), k.stopRule(),
		rule{"Place only reorders: it adds and removes nothing.", k.everywhere(otherLength)},
		rule{"Place only reorders: every position is one of the list.", k.everywhere(wrongPosition)},
		rule{"Place only reorders: no position comes twice.", k.everywhere(repeatedPosition)},
		rule{"a group is one position: the members of a group stay together.", func() string { return k.each(ofUnits(k.inputs, true), noPermutation) }},
		rule{"an item that is given twice is placed twice, told apart by its positions.", func() string {
			return k.each([]input[cupel.ScoredItem]{repeatedScored()}, noPermutation)
		}},
		rule{"any float64 is a score: infinities, NaN and -0 too.", func() string {
			hostile := hostileScores()
			return k.each([]input[cupel.ScoredItem]{hostile, {name: "that list in reverse, as pinned items may make it", list: reversed(hostile.list)}}, noPermutation)
		}},
		rule{"an empty list gives an empty order.", func() string {
			return k.each([]input[cupel.ScoredItem]{{name: "an empty list"}}, noPermutation)
		}},
	)
}

// appendRule compares the form that appends with the one that does not.
func (k *placerKit) appendRule(a cupel.AppendPlacer) rule {
	appending := newPlacerKit(appended{a})
	return rule{"AppendPlace appends the order that Place returns.", func() string {
		for _, in := range k.inputs {
			if diff := k.compare(k.call(in), appending.call(in)); diff != "" {
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
	return func() string { return k.each(ofUnits(k.inputs, false), check) }
}

func (k *placerKit) each(inputs []input[cupel.ScoredItem], check func(n int, order []int) string) string {
	for _, in := range inputs {
		out := k.call(in)
		found := out.broke
		if found == "" {
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
			return fmt.Sprintf("position %d twice in %v", i, order)
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

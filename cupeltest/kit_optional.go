package cupeltest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// optionalRules are the rules about what a slicer says of other targets and of
// itself. With nil they are all of them.
func (k *slicerKit) optionalRules(s strategy.Slicer) []rule {
	all := s == nil
	facts := factsOf(s)
	rules := []rule{{sentence: "a selection is the same for every target up to its StaysUntil.", cause: "StaysUntil is too large", broken: k.stays}}
	if facts.ForKind != nil || all {
		rules = append(rules, rule{sentence: "ForKind returns a slicer that can be used, for every kind.", cause: "ForKind gives no slicer", broken: k.narrows},
			rule{sentence: "ForKind changes neither its slicer nor one that it returned before.", cause: "ForKind changes a slicer", broken: k.narrowsApart})
	}
	if facts.Explain != nil || all {
		rules = append(rules, rule{sentence: "an explanation of what is not selected says something, names items that are selected or dropped, and is right about the targets up to its OutUntil.", cause: "explains badly", broken: k.ofPlain(k.unexplained)})
	}
	return rules
}

// factsOf returns the facts of a slicer, or none if it panics, which is a fault that
// another rule finds.
func factsOf(s strategy.Slicer) (facts strategy.Facts) {
	defer func() { _ = recover() }()
	return strategy.FactsOf(s)
}

// plainLists returns one input of each short list without units.
func (k *slicerKit) plainLists() []input[cupel.ScoredItem] {
	var lists []input[cupel.ScoredItem]
	for _, in := range scoredInputs(nextShort(), k.options) {
		if !in.long() {
			lists = append(lists, in)
		}
	}
	return lists
}

// targetsOf returns the targets up to a little more than all tokens: every one,
// or of very many some and those around each sum of tokens.
func targetsOf(list []cupel.ScoredItem) []int {
	const most = 1500
	sum := 0
	for _, it := range list {
		sum += min(it.Item.Tokens(), math.MaxInt/2-sum)
	}
	var targets []int
	step := max(1, sum/most)
	for target := 0; target <= sum; target += step {
		targets = append(targets, target)
	}
	for _, it := range list {
		tokens := min(it.Item.Tokens(), math.MaxInt/2)
		targets = append(targets, max(0, tokens-1), tokens, tokens+1)
	}
	targets = append(targets, sum, sum+1)
	slices.Sort(targets)
	return slices.Compact(targets)
}

// stays compares selections with those at larger targets for which they hold.
func (k *slicerKit) stays() string {
	const most = 30 // targets to start from
	run := k.start()
	for _, in := range k.plainLists() {
		targets := targetsOf(in.list)
		for n := 0; n < len(targets); n += 1 + len(targets)/most {
			from := targets[n]
			in.budget = budgetOf(from)
			first := k.call(run, in)
			until := min(first.result.StaysUntil, targets[len(targets)-1])
			if first.broke != "" || until <= from {
				continue
			}
			for _, target := range []int{from + 1, from + (until-from)/2, until} {
				in.budget = budgetOf(target)
				if later := k.call(run, in); later.broke == "" && !slices.Equal(later.result.Indices, first.result.Indices) {
					return fmt.Sprintf("%s: StaysUntil is %d for a target of %d, and for %d and %d it selects %s", in.name, first.result.StaysUntil, from, from, target,
						differentPositions(first.result.Indices, later.result.Indices))
				}
			}
		}
	}
	return ""
}

var narrowedKinds = []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, cupel.KindMemory, cupel.KindSystemPrompt, "Sketch", "sKETCH", "", "no kind of these"}

// narrowsApart compares a slicer that has been narrowed to every kind, and what it
// returned, with new ones.
func (k *slicerKit) narrowsApart() string {
	s := k.newSlicer()
	narrowed := make(map[cupel.ContextKind]strategy.Slicer)
	for _, kind := range narrowedKinds {
		narrowed[kind] = strategy.FactsOf(s).ForKind(kind)
	}
	differ := func(what string, fresh, used strategy.Slicer, list []cupel.ScoredItem) string {
		in := withBudgets(input[cupel.ScoredItem]{list: list})[1]
		of := func(s strategy.Slicer) outcome[strategy.Selection] {
			return k.call(func(ctx context.Context, in input[cupel.ScoredItem]) (strategy.Selection, error) {
				return s.Slice(ctx, in.list, in.budget)
			}, in)
		}
		if diff := k.compare(of(fresh), of(used)); diff != "" {
			return what + " selects, before and after the calls for other kinds, " + diff
		}
		return ""
	}
	for _, in := range k.plainLists() {
		if found := differ("the slicer", k.newSlicer(), s, in.list); found != "" {
			return in.name + ": " + found
		}
		for _, kind := range narrowedKinds {
			of := slices.DeleteFunc(slices.Clone(in.list), func(it cupel.ScoredItem) bool { return !it.Item.Kind().Equal(kind) })
			if found := differ(fmt.Sprintf("that of kind %q", kind), strategy.FactsOf(k.newSlicer()).ForKind(kind), narrowed[kind], of); found != "" {
				return in.name + ": " + found
			}
		}
	}
	return ""
}

func (k *slicerKit) narrows() string {
	narrower := strategy.FactsOf(k.newSlicer()) // a panic is reported
	for _, kind := range narrowedKinds {
		narrowed := narrower.ForKind(kind)
		if narrowed == nil {
			return fmt.Sprintf("kind %q: nil", kind)
		}
		if err := strategy.ValidateSlicer(narrowed); err != nil {
			return fmt.Sprintf("kind %q: %v", kind, err)
		}
		for _, in := range k.plainLists() {
			of := slices.DeleteFunc(slices.Clone(in.list), func(it cupel.ScoredItem) bool { return !it.Item.Kind().Equal(kind) })
			for _, budgeted := range withBudgets(input[cupel.ScoredItem]{list: of}) {
				sel, err := narrowed.Slice(context.Background(), slices.Clone(of), budgeted.budget)
				switch found := broken(budgeted, sel); {
				case err != nil && !k.may(err):
					return fmt.Sprintf("kind %q: the error %q", kind, err)
				case err == nil && found != "":
					return fmt.Sprintf("kind %q: %s", kind, found)
				}
			}
		}
	}
	return ""
}

// unexplained asks a slicer that explains itself about items that it left out: the
// first, the last and those between.
func (k *slicerKit) unexplained(in input[cupel.ScoredItem], sel strategy.Selection) string {
	if in.long() {
		return ""
	}
	s := k.newSlicer()
	if filled, err := strategy.CallSlicer(context.Background(), s, slices.Clone(in.list), in.budget); err == nil {
		sel = filled // an item that the left-over pass brings back has no obstacle
	}
	var left []int
	for at := range in.list {
		if formIn(sel, at) < 0 {
			left = append(left, at)
		}
	}
	for i, at := range left {
		if i > 3 && i < len(left)-1 {
			continue
		}
		list := slices.Clone(in.list)
		obstacle, err := strategy.Explain(context.Background(), s, list, in.budget, at)
		again, _ := strategy.Explain(context.Background(), s, slices.Clone(in.list), in.budget, at)
		switch {
		case !slices.EqualFunc(list, in.list, sameScored):
			return fmt.Sprintf("asked about position %d: the list is changed", at)
		case err == nil && (obstacle.Rule != again.Rule || !slices.Equal(obstacle.Before, again.Before)):
			return fmt.Sprintf("asked twice about position %d: two answers", at)
		case err != nil:
			return fmt.Sprintf("asked about position %d: %v", at, err)
		case obstacle.Rule == "":
			return fmt.Sprintf("nothing is said about position %d", at)
		}
		for _, target := range []int{in.budget.TargetTokens/2 + obstacle.OutUntil/2, obstacle.OutUntil} {
			if target <= in.budget.TargetTokens {
				continue
			}
			later, err := strategy.CallSlicer(context.Background(), s, slices.Clone(in.list), budgetOf(target))
			if err == nil && formIn(later, at) >= 0 {
				return fmt.Sprintf("OutUntil is %d for position %d and a target of %d, and %d selects it", obstacle.OutUntil, at, in.budget.TargetTokens, target)
			}
		}
	}
	return ""
}

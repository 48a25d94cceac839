package cupeltest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// slice calls a slicer as a pipeline does, with the left-over pass.
func slice(s strategy.Slicer, in input) (strategy.Selection, error) {
	return strategy.CallSlicer(context.Background(), s, slices.Clone(in.list), in.budget)
}

// badSelection makes all the checks of a pipeline.
func badSelection(_ *kit, in input, out answer) string {
	_, err := slice(strategy.SlicerFunc(func(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
		return out.selection, nil
	}), in)
	return contractText(err)
}

// contractText describes how a strategy broke its contract.
func contractText(err error) string {
	if broken, ok := errors.AsType[*cupel.ContractError](err); ok {
		return strings.TrimPrefix(broken.Reason, "returned ")
	}
	return ""
}

// overTarget finds a selection that is too large. Huge items show whether sums wrap.
func overTarget(k *kit, in input, out answer) string {
	if badSelection(k, in, out) == "" && roomLeft(in, out.selection) < 0 {
		return fmt.Sprintf("positions %s and smaller forms %v exceed the target of %d tokens", shown(out.selection.Indices), out.selection.Smaller, in.budget.TargetTokens)
	}
	return ""
}

// roomLeft returns the tokens that a selection leaves of the target, or a negative
// number. It does not wrap.
func roomLeft(in input, sel strategy.Selection) int {
	left := in.budget.TargetTokens
	for at, it := range in.list {
		tokens := 0
		if form := formIn(sel, at); form > 0 {
			tokens = it.Item.Forms()[form-1].Tokens
		} else if form == 0 {
			tokens = it.Item.Tokens()
		}
		if tokens > left {
			return -1
		}
		left -= tokens
	}
	return left
}

// formIn returns the form of a position, 0 for the full one and -1 if it is not
// selected.
func formIn(sel strategy.Selection, at int) int {
	if slices.Contains(sel.Indices, at) {
		return 0
	}
	for _, s := range sel.Smaller {
		if s.Index == at {
			return s.Form
		}
	}
	return -1
}

// selectsForNothing runs the slicer without anything to choose. It must not check
// requirements then, so that a [cupel.ScarcityError] is not allowed (R19).
func (k *kit) selectsForNothing() string {
	run := k.start()
	for _, in := range k.lists(generation{most: 65}) {
		if len(in.list) == 0 {
			in.budget.TargetTokens = 100
		}
		in.budget.MaxTokens = 100
		out := k.call(context.Background(), run, in)
		sel := out.selection
		found := out.broke
		if len(sel.Indices)+len(sel.Smaller)+len(sel.Shortfalls) > 0 {
			found = fmt.Sprintf("positions %s, smaller forms %v, shortfalls %v", shown(sel.Indices), sel.Smaller, sel.Shortfalls)
		}
		if found != "" {
			return fmt.Sprintf("%s, with a target of %d: %s", in.name, in.budget.TargetTokens, found)
		}
	}
	return ""
}

// staysTooLong compares selections with those at larger targets for which they hold.
func (k *kit) staysTooLong() string {
	run := k.start()
	for _, in := range k.short(nextGeneration()) {
		from, first := in.budget.TargetTokens, k.alone(in)
		until := min(first.selection.StaysUntil, max(from, from+2*tokensOf(in.list)))
		for _, target := range []int{from + 1, from + (until-from)/2, until} {
			if first.broke != "" || target <= from || target > until {
				continue
			}
			in.budget = budgetOf(target)
			if diff := compare(first, k.call(context.Background(), run, in)); diff != "" {
				return fmt.Sprintf("%s: StaysUntil is %d, and for %d tokens: %s", in.name, first.selection.StaysUntil, target, diff)
			}
		}
	}
	return ""
}

// narrows compares a slicer that was narrowed to every kind, and the slicers
// that it returned, with new ones.
func (k *kit) narrows() string {
	s := k.strategy().(strategy.Slicer)
	forKind := strategy.FactsOf(s).ForKind
	if forKind == nil {
		return ""
	}
	narrowed := make(map[cupel.ContextKind]strategy.Slicer)
	for _, kind := range []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, "sKETCH", "", "no kind of these"} {
		narrowed[kind] = forKind(kind)
		if err := strategy.ValidateSlicer(narrowed[kind]); err != nil {
			return fmt.Sprintf("kind %q: %v", kind, err)
		}
	}
	for _, in := range k.short(nextGeneration()) {
		want, got := k.alone(in), k.call(context.Background(), slicing(s), in)
		for kind, slicer := range narrowed {
			of := in
			of.list = slices.DeleteFunc(slices.Clone(in.list), func(it cupel.ScoredItem) bool { return !it.Item.Kind().Equal(kind) })
			out := k.call(context.Background(), slicing(slicer), of)
			if out.broke != "" && !k.allows(out.err) {
				return fmt.Sprintf("kind %q: %s", kind, out.broke)
			}
			if fresh := k.call(context.Background(), slicing(forKind(kind)), of); compare(want, got) == "" {
				want, got = fresh, out
			}
		}
		if diff := compare(want, got); diff != "" {
			return fmt.Sprintf("%s, before and after calls for other kinds: %s", in.name, diff)
		}
	}
	return ""
}

// unexplained asks a slicer that explains itself about items that it left out: the
// last and some of the first.
func (k *kit) unexplained() string {
	s := k.strategy().(strategy.Slicer)
	if strategy.FactsOf(s).Explain == nil {
		return ""
	}
	for _, in := range k.short(nextGeneration()) {
		sel, err := slice(s, in)
		for at := range in.list {
			if err != nil || formIn(sel, at) >= 0 || at > 5 && at < len(in.list)-1 {
				continue
			}
			if found := explainedBadly(s, in, at); found != "" {
				return fmt.Sprintf("%s, asked about position %d: %s", in.name, at, found)
			}
		}
	}
	return ""
}

func explainedBadly(s strategy.Slicer, in input, at int) string {
	list := slices.Clone(in.list)
	obstacle, err := strategy.Explain(context.Background(), s, list, in.budget, at)
	again, _ := strategy.Explain(context.Background(), s, slices.Clone(in.list), in.budget, at)
	switch {
	case !slices.EqualFunc(list, in.list, sameScored):
		return "the list is changed"
	case err != nil:
		return err.Error()
	case obstacle.Rule == "" || obstacle.Rule != again.Rule || !slices.Equal(obstacle.Before, again.Before):
		return fmt.Sprintf("%q, then %q", obstacle.Rule, again.Rule)
	}
	from := in.budget.TargetTokens
	for _, target := range []int{from/2 + obstacle.OutUntil/2, obstacle.OutUntil} {
		in.budget = budgetOf(target)
		if sel, err := slice(s, in); target > from && err == nil && formIn(sel, at) >= 0 {
			return fmt.Sprintf("OutUntil is %d for a target of %d, and %d selects it", obstacle.OutUntil, from, target)
		}
	}
	return ""
}

// leavesBest uses items of one size and kind with different scores. Items of at
// least one kind must be selected; built-in slicers may be set to select none.
func (k *kit) leavesBest() string {
	found, g := "30 items of 10 tokens, of several kinds, with room for all: none is selected", nextGeneration()
	if k.builtIn() {
		found = ""
	}
	for _, kind := range []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, cupel.KindMemory, "Sketch"} {
		items := make([]*cupel.ContextItem, 30)
		for i := range items {
			items[i] = g.item(fmt.Sprintf("one of a kind %02d", i), 10, cupel.WithKind(kind))
		}
		in := input{list: scored(items, func(i int) float64 { return 1 - float64(i)/40 })}
		for _, target := range []int{10, 25, 150, math.MaxInt} {
			in.budget = budgetOf(target)
			indices := k.alone(in).selection.Indices
			switch {
			case len(indices) > 0 && !slices.Contains(indices, 0):
				return fmt.Sprintf("30 items of 10 tokens, with a target of %d: positions %s are selected, and not the best", target, shown(indices))
			case len(indices) > 0 && target == math.MaxInt:
				found = ""
			}
		}
	}
	return found
}

// leavesRoom finds an item that fits the remaining budget. A slicer with buckets
// explains why the item stays out, and a slicer around others may leave out the
// same items as they do.
func (k *kit) leavesRoom() string {
	facts := strategy.FactsOf(k.made)
	if facts.Explain != nil || k.builtIn() {
		return ""
	}
	return ofAll(func(k *kit, in input, out answer) string {
		sel := out.selection
		if len(sel.Shortfalls) > 0 || badSelection(k, in, out) != "" {
			return ""
		}
		left := roomLeft(in, sel)
		for i, it := range in.list {
			tokens, isDropped := it.Item.Tokens(), slices.ContainsFunc(sel.Drops, func(d strategy.Drop) bool { return d.Index == i })
			if formIn(sel, i) >= 0 || isDropped || tokens > left || !(it.Score > 0) {
				continue
			}
			if !slices.ContainsFunc(facts.Slicers, func(inner strategy.Slicer) bool {
				chosen, err := slice(inner, in)
				return err != nil || formIn(chosen, i) < 0
			}) {
				return fmt.Sprintf("position %d has %d tokens, %d are left, and it is not selected", i, tokens, left)
			}
		}
		return ""
	})(k)
}

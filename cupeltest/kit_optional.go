package cupeltest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
)

// optionalRules are the rules of the optional interfaces that a slicer
// implements. With nil they are all of them.
func (k *slicerKit) optionalRules(s cupel.Slicer) []rule {
	all := s == nil
	var rules []rule
	if _, ok := s.(cupel.SweepSlicer); ok || all {
		rules = append(rules, rule{sentence: "Sweep reports the choice of Slice at every target, and each target at which it changes.", cause: "Sweep and Slice differ", broken: k.sweeps})
	}
	if _, ok := s.(cupel.KindNarrower); (ok && !bypassed(s, "Slice", "ForKind")) || all {
		rules = append(rules, rule{sentence: "ForKind returns a slicer that can be used, for every kind.", cause: "ForKind gives no slicer", broken: k.narrows},
			rule{sentence: "ForKind changes neither its slicer nor one that it returned before.", cause: "ForKind changes a slicer", broken: k.narrowsApart})
	}
	if _, ok := s.(cupel.NonMonotonic); ok || all {
		rules = append(rules, rule{sentence: "a slicer whose NonMonotonic is false never leaves out for a larger target what it selects for a smaller one.", cause: "NonMonotonic is not true", broken: k.monotonic})
	}
	if _, ok := s.(cupel.SliceExplainer); ok || all {
		rules = append(rules, rule{sentence: "an explanation of what is not selected says something, and names items that are selected or dropped.", cause: "explains badly", broken: k.ofPlain(k.unexplained)})
	}
	return rules
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

// sweeps follows a sweep by its own steps and compares it with Slice at every
// target, and goes back to a lower target at the end.
func (k *slicerKit) sweeps() string {
	run := k.start()
	for _, in := range k.plainLists() {
		sweep := cupel.Sweep(k.newSlicer(), slices.Clone(in.list))
		if sweep == nil {
			continue
		}
		var list []int
		targets := targetsOf(in.list)
		for i, target := range append(targets, targets[len(targets)/2]) {
			in.budget = budgetOf(target)
			want := k.call(run, in)
			if want.broke != "" {
				continue
			}
			next, ok := sweep.Next()
			skipped := i > 0 && i < len(targets) && (!ok || target < next)
			if !skipped {
				keep, more := sweep.Advance(target)
				if keep < 0 || keep > len(list) {
					return fmt.Sprintf("%s: at a target of %d, the first %d of %d positions are kept", in.name, target, keep, len(list))
				}
				list = append(list[:keep:keep], more...)
			}
			if !slices.Equal(list, want.result.Indices) {
				what := fmt.Sprintf("at a target of %d, Sweep and Slice choose ", target)
				if skipped {
					what = fmt.Sprintf("at a target of %d, where Next announces no change, Sweep and Slice choose ", target)
				}
				return in.name + ": " + what + differentPositions(list, want.result.Indices)
			}
		}
	}
	return k.sweepsFar()
}

// sweepsFar moves a sweep over many changes at once, up and down.
func (k *slicerKit) sweepsFar() string {
	run := k.start()
	for _, in := range k.plainLists() {
		sweep := cupel.Sweep(k.newSlicer(), slices.Clone(in.list))
		if sweep == nil {
			continue
		}
		var list []int
		targets := targetsOf(in.list)
		last := len(targets) - 1
		for _, at := range []int{last / 3, 2 * last / 3, last, last / 2, 0, last} {
			in.budget = budgetOf(targets[at])
			want := k.call(run, in)
			if want.broke != "" {
				continue
			}
			keep, more := sweep.Advance(targets[at])
			list = append(list[:min(max(0, keep), len(list)):len(list)], more...)
			if !slices.Equal(list, want.result.Indices) {
				return fmt.Sprintf("%s: at a target of %d, reached in one step from another, Sweep and Slice choose %s", in.name, targets[at], differentPositions(list, want.result.Indices))
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
	narrowed := make(map[cupel.ContextKind]cupel.Slicer)
	for _, kind := range narrowedKinds {
		narrowed[kind] = s.(cupel.KindNarrower).ForKind(kind)
	}
	differ := func(what string, fresh, used cupel.Slicer, list []cupel.ScoredItem) string {
		in := withBudgets(input[cupel.ScoredItem]{list: list})[1]
		of := func(s cupel.Slicer) outcome[cupel.Selection] {
			return k.call(func(ctx context.Context, in input[cupel.ScoredItem]) (cupel.Selection, error) {
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
			if found := differ(fmt.Sprintf("that of kind %q", kind), k.newSlicer().(cupel.KindNarrower).ForKind(kind), narrowed[kind], of); found != "" {
				return in.name + ": " + found
			}
		}
	}
	return ""
}

func (k *slicerKit) narrows() string {
	narrower := k.newSlicer().(cupel.KindNarrower) // a panic is reported
	for _, kind := range narrowedKinds {
		narrowed := narrower.ForKind(kind)
		if narrowed == nil {
			return fmt.Sprintf("kind %q: nil", kind)
		}
		if err := cupel.ValidateSlicer(narrowed); err != nil {
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

// monotonic compares the selections of rising targets.
func (k *slicerKit) monotonic() string {
	if k.newSlicer().(cupel.NonMonotonic).NonMonotonic() { // a panic is reported
		return ""
	}
	run := k.start()
	for _, in := range k.plainLists() {
		var before []int
		var last int
		for _, target := range targetsOf(in.list) {
			in.budget = budgetOf(target)
			out := k.call(run, in)
			if out.broke != "" {
				continue
			}
			for _, at := range before {
				if !slices.Contains(out.result.Indices, at) {
					return fmt.Sprintf("%s: NonMonotonic is false, and position %d is selected with a target of %d and left out with %d", in.name, at, last, target)
				}
			}
			before, last = out.result.Indices, target
		}
	}
	return ""
}

// unexplained asks a [cupel.SliceExplainer] about items that it left out: the
// first, the last and those between.
func (k *slicerKit) unexplained(in input[cupel.ScoredItem], sel cupel.Selection) string {
	if in.long() {
		return ""
	}
	s := k.newSlicer()
	if filled, err := cupel.Slice(context.Background(), s, slices.Clone(in.list), in.budget); err == nil {
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
		obstacle, err := cupel.ExplainSlice(context.Background(), s, list, in.budget, at)
		again, _ := cupel.ExplainSlice(context.Background(), s, slices.Clone(in.list), in.budget, at)
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
	}
	return ""
}

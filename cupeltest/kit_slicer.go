package cupeltest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

type slicerOption func(*kitOptions)

func (o slicerOption) applySlicer(k *kitOptions) { o(k) }

// WithTargetExceeded has [TestSlicer] accept selections larger than the target.
// The contract says SHOULD NOT: slicers that commit items by count, as
// CountQuotaSlice does, exceed it on purpose, and the pipeline's overflow
// strategy deals with that.
func WithTargetExceeded() SlicerOption {
	return slicerOption(func(k *kitOptions) { k.mayExceed = true })
}

// TestSlicer checks that a slicer keeps the contract of [strategy.Slicer] and of the
// optional interfaces that it implements, and reports each broken rule. Each call
// of newSlicer returns a new slicer, as for [TestScorer]. The slicer may return a
// [cupel.ScarcityError], and the errors of [MayFail], except for an empty list and
// for a target of 0; any other error on a valid list breaks the contract. A slicer
// may or may not select items without tokens.
//
// Run it under the race detector to check concurrent use.
func TestSlicer(t T, newSlicer func() strategy.Slicer, opts ...SlicerOption) {
	t.Helper()
	var options kitOptions
	for _, opt := range opts {
		if opt != nil {
			opt.applySlicer(&options)
		}
	}
	s, ok := accepted(t, "slicer", newSlicer, func(s strategy.Slicer) pipeline.Config {
		return pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: s, Placer: placer.Chronological{}}
	}, &options)
	if !ok {
		return
	}
	hold(t, "slicer", s, newSlicerKit(newSlicer, &options).rules(s), &options)
}

type slicerKit struct {
	subject[cupel.ScoredItem, strategy.Selection]
	newSlicer func() strategy.Slicer
	options   *kitOptions
}

func newSlicerKit(newSlicer func() strategy.Slicer, options *kitOptions) *slicerKit {
	return &slicerKit{newSlicer: newSlicer, options: options, subject: subject[cupel.ScoredItem, strategy.Selection]{
		options: options,
		method:  "Slice",
		result:  "selections",
		start: func() func(ctx context.Context, in input[cupel.ScoredItem]) (strategy.Selection, error) {
			s := newSlicer()
			return func(ctx context.Context, in input[cupel.ScoredItem]) (strategy.Selection, error) {
				return s.Slice(ctx, in.list, in.budget)
			}
		},
		differ: differentSelections,
		clone: func(sel strategy.Selection) strategy.Selection {
			sel.Indices, sel.Smaller, sel.Drops, sel.Shortfalls = slices.Clone(sel.Indices), slices.Clone(sel.Smaller), slices.Clone(sel.Drops), slices.Clone(sel.Shortfalls)
			return sel
		},
		same:  sameScored,
		junk:  junkScored(),
		lists: func(g generation) []input[cupel.ScoredItem] { return slicerInputs(g, options) },
		may:   func(err error) bool { return errors.Is(err, cupel.ErrScarcity) || options.allows(err) },
	}}
}

// rules returns the rules for slicers of the type of s.
func (k *slicerKit) rules(s strategy.Slicer) []rule {
	// Each of the lists of these three has a rule of its own, so that what is
	// special about it is named.
	hostile := func() []input[cupel.ScoredItem] { return withBudgets(hostileScores(k.options)) }
	repeated := func() []input[cupel.ScoredItem] { return withBudgets(repeatedScored(k.options)) }

	rules := append(k.subject.rules(), k.resultRule())
	rules = append(rules, k.stopRules()...)
	rules = append(rules,
		rule{sentence: "a selection is a subset: every position, selected or dropped, is one of the list.", cause: "selects what is not in the list", broken: k.ofPlain(outOfRange)},
		rule{sentence: "a selection is a subset: no position is selected twice, or dropped twice.", cause: "selects or drops an item twice", broken: k.ofPlain(twice)},
		rule{sentence: "no position is both selected and dropped.", cause: "selects what it drops", broken: k.ofPlain(both)},
		rule{sentence: "an item that is dropped has a reason.", cause: "drops without a reason", broken: k.ofPlain(withoutReason)},
		rule{sentence: "an item that is given twice is two candidates, told apart by their positions.", cause: "confuses items that are given twice", broken: func() string { return k.each(repeated(), broken) }},
		rule{sentence: "any float64 is a score: infinities, NaN and -0 too.", cause: "does not take every score", broken: func() string { return k.each(hostile(), broken) }},
	)
	if !k.options.mayExceed {
		rules = append(rules, rule{sentence: "the selected items have at most as many tokens as the target (say WithTargetExceeded where they may have more).",
			cause: "selects more than the target", broken: k.ofPlain(overTarget)})
	}
	if !k.options.only {
		rules = append(rules, rule{sentence: "sums of tokens do not wrap.", cause: "sums of tokens wrap", broken: func() string {
			return k.each(withBudgets(hugeItems()), func(in input[cupel.ScoredItem], sel strategy.Selection) string {
				if found := broken(in, sel); found != "" || k.options.mayExceed {
					return found
				}
				return overTarget(in, sel)
			})
		}})
	}
	rules = append(rules,
		rule{sentence: "an empty list gives an empty selection, without a shortfall or an error.", cause: "selects from nothing", broken: func() string {
			return k.nothing([]input[cupel.ScoredItem]{{name: "an empty list", budget: budgetOf(100)}})
		}},
		rule{sentence: "a target of 0 gives an empty selection, zero-token items included, without a shortfall or an error.", cause: "selects for a target of 0", broken: func() string {
			var none []input[cupel.ScoredItem]
			for _, in := range k.cold() {
				in.budget.TargetTokens = 0
				in.name, _, _ = strings.Cut(in.name, ", with a target of ")
				if last := len(none) - 1; last >= 0 && none[last].name == in.name { // the ceilings above 1
					none = none[:last]
				}
				none = append(none, in)
			}
			return k.nothing(none)
		}},
	)
	rules = append(rules, k.unitRules(k.options)...)
	rules = append(rules, k.optionalRules(s)...)
	return append(rules, k.adviceRules(s)...)
}

func slicerInputs(g generation, options *kitOptions) []input[cupel.ScoredItem] {
	var inputs []input[cupel.ScoredItem]
	for _, in := range append(scoredInputs(g, options), unitInputs(g, options, false)...) {
		inputs = append(inputs, withBudgets(in)...)
	}
	return inputs
}

// nothing runs the slicer where it has nothing to choose: no requirement is
// looked at then, so that a [cupel.ScarcityError] is no answer (R19).
func (k *slicerKit) nothing(inputs []input[cupel.ScoredItem]) string {
	run := k.start()
	for _, in := range inputs {
		out := k.call(run, in)
		found := out.broke
		switch sel := out.result; {
		case found != "":
		case len(sel.Indices) > 0:
			found = fmt.Sprintf("positions %s are selected", shown(sel.Indices, 0))
		case len(sel.Smaller) > 0:
			found = fmt.Sprintf("smaller forms %v are selected", sel.Smaller)
		case len(sel.Shortfalls) > 0:
			found = fmt.Sprintf("shortfalls %v", sel.Shortfalls)
		}
		if found != "" {
			return in.name + ": " + found
		}
	}
	return ""
}

// shown returns positions, of a long list those around one.
func shown(positions []int, at int) string {
	const most = 20
	if len(positions) <= most {
		return fmt.Sprint(positions)
	}
	from, to := max(0, at-2), min(len(positions), at+4)
	text := strings.Trim(fmt.Sprint(positions[from:to]), "[]")
	if from > 0 {
		text = "… " + text
	}
	if to < len(positions) {
		text += " …"
	}
	return fmt.Sprintf("[%s] (%d in all)", text, len(positions))
}

// differentPositions shows two lists of positions where they begin to differ.
func differentPositions(a, b []int) string {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return shown(a, at) + ", then " + shown(b, at)
}

func outOfRange(in input[cupel.ScoredItem], sel strategy.Selection) string {
	for _, i := range positionsOf(sel) {
		if i < 0 || i >= len(in.list) {
			return fmt.Sprintf("position %d of %d items", i, len(in.list))
		}
	}
	return ""
}

func twice(_ input[cupel.ScoredItem], sel strategy.Selection) string {
	for _, list := range [][]int{sel.Indices, dropped(sel)} {
		seen := make(map[int]bool)
		for _, i := range list {
			if seen[i] {
				return fmt.Sprintf("position %d twice in %s", i, shown(list, slices.Index(list, i)))
			}
			seen[i] = true
		}
	}
	return ""
}

func both(_ input[cupel.ScoredItem], sel strategy.Selection) string {
	for _, i := range dropped(sel) {
		if slices.Contains(sel.Indices, i) {
			return fmt.Sprintf("position %d", i)
		}
	}
	return ""
}

func withoutReason(_ input[cupel.ScoredItem], sel strategy.Selection) string {
	for _, d := range sel.Drops {
		if d.Reason.Code == "" {
			return fmt.Sprintf("position %d is dropped with an empty code", d.Index)
		}
	}
	return ""
}

// broken is all that the pipeline itself checks.
func broken(in input[cupel.ScoredItem], sel strategy.Selection) string {
	return cmp.Or(outOfRange(in, sel), twice(in, sel), both(in, sel), withoutReason(in, sel))
}

func overTarget(in input[cupel.ScoredItem], sel strategy.Selection) string {
	left := in.budget.TargetTokens
	for _, i := range sel.Indices {
		if i < 0 || i >= len(in.list) {
			continue // another rule's
		}
		tokens := in.list[i].Item.Tokens()
		if tokens > left {
			return fmt.Sprintf("positions %s exceed the target of %d tokens", shown(sel.Indices, 0), in.budget.TargetTokens)
		}
		left -= tokens
	}
	for _, s := range sel.Smaller {
		if s.Index < 0 || s.Index >= len(in.list) || unknownForm(in, strategy.Selection{Smaller: []strategy.SmallerForm{s}}) != "" {
			continue
		}
		tokens := in.list[s.Index].Item.Forms()[s.Form-1].Tokens
		if tokens > left {
			return fmt.Sprintf("positions %s and the smaller forms %v exceed the target of %d tokens", shown(sel.Indices, 0), sel.Smaller, in.budget.TargetTokens)
		}
		left -= tokens
	}
	return ""
}

func dropped(sel strategy.Selection) []int {
	var indices []int
	for _, d := range sel.Drops {
		indices = append(indices, d.Index)
	}
	return indices
}

func positionsOf(sel strategy.Selection) []int {
	positions := append(slices.Clone(sel.Indices), dropped(sel)...)
	for _, s := range sel.Smaller {
		positions = append(positions, s.Index)
	}
	return positions
}

// differentSelections compares what a pipeline makes of two selections: it
// merges by score, so that the order of what is selected does not count.
func differentSelections(a, b strategy.Selection) string {
	x, y := slices.Sorted(slices.Values(a.Indices)), slices.Sorted(slices.Values(b.Indices))
	switch {
	case !slices.Equal(x, y):
		return "positions " + differentPositions(x, y)
	case !slices.Equal(byPosition(a.Smaller), byPosition(b.Smaller)):
		return fmt.Sprintf("smaller forms %v, then %v", a.Smaller, b.Smaller)
	case !slices.EqualFunc(a.Drops, b.Drops, func(x, y strategy.Drop) bool { return x.Index == y.Index && sameReason(x.Reason, y.Reason) }):
		return fmt.Sprintf("drops %v, then %v", a.Drops, b.Drops)
	case !slices.EqualFunc(a.Shortfalls, b.Shortfalls, func(x, y cupel.CountRequirementShortfall) bool { return x.String() == y.String() }):
		return fmt.Sprintf("shortfalls %v, then %v", a.Shortfalls, b.Shortfalls)
	}
	return ""
}

func byPosition(forms []strategy.SmallerForm) []strategy.SmallerForm {
	return slices.SortedFunc(slices.Values(forms), func(a, b strategy.SmallerForm) int { return cmp.Or(a.Index-b.Index, a.Form-b.Form) })
}

func budgetOf(tokens int) cupel.SliceBudget {
	return cupel.SliceBudget{MaxTokens: tokens, TargetTokens: tokens}
}

// withBudgets is a list with budgets in which nothing, something and everything
// fits, and one whose ceiling is above its target; a long list has fewer.
func withBudgets(in input[cupel.ScoredItem]) []input[cupel.ScoredItem] {
	sum := 0
	for _, it := range in.list {
		sum += min(it.Item.Tokens(), math.MaxInt-sum)
	}
	var inputs []input[cupel.ScoredItem]
	budgets := []cupel.SliceBudget{
		budgetOf(1), budgetOf(sum / 3), budgetOf(max(1, sum-1)), budgetOf(max(1, sum)), budgetOf(math.MaxInt),
		{MaxTokens: max(1, sum), TargetTokens: max(1, sum/2)},
	}
	switch {
	case len(in.list) > 1000:
		budgets = []cupel.SliceBudget{budgetOf(max(1, sum/20)), budgetOf(math.MaxInt)}
	case in.long():
		budgets = []cupel.SliceBudget{budgetOf(max(1, sum/3)), budgetOf(math.MaxInt)}
	}
	for _, budget := range budgets {
		inputs = append(inputs, input[cupel.ScoredItem]{
			name: fmt.Sprintf("%s, with a target of %d and a ceiling of %d tokens", in.name, budget.TargetTokens, budget.MaxTokens),
			list: in.list, budget: budget, units: in.units,
		})
	}
	return inputs
}

// hugeItems add up to more than an int holds.
func hugeItems() input[cupel.ScoredItem] {
	items := Items(math.MaxInt, math.MaxInt/2+1, math.MaxInt/2+1, math.MaxInt/2+1, math.MaxInt/4+1, 7, 0)
	return input[cupel.ScoredItem]{name: "huge items", list: scored(items, func(i int) float64 { return 1 - float64(i)/10 })}
}

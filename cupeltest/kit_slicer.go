package cupeltest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
)

type mayExceed struct{}

func (mayExceed) applySlicer(k *kitOptions) { k.mayExceed = true }

// WithTargetExceeded has [TestSlicer] accept selections larger than the target.
// The contract says SHOULD NOT: slicers that commit items by count, as
// CountQuotaSlice does, exceed it on purpose, and the pipeline's overflow
// strategy deals with that.
func WithTargetExceeded() SlicerOption { return mayExceed{} }

// TestSlicer checks that a slicer keeps the contract of [cupel.Slicer], and reports
// each broken rule. The slicer may return a [cupel.ScarcityError], except for an
// empty list and for a target of 0; any other error on a valid list breaks the
// contract. A slicer may or may not select items without tokens.
//
// Run it under the race detector to check concurrent use.
func TestSlicer(t T, s cupel.Slicer, opts ...SlicerOption) {
	t.Helper()
	var options kitOptions
	for _, opt := range opts {
		if opt != nil {
			opt.applySlicer(&options)
		}
	}
	if !accepted(t, "slicer", s, cupel.Config{Scorer: scorer.Reflexive{}, Slicer: s, Placer: placer.Chronological{}}, &options) {
		return
	}
	hold(t, "slicer", s, newSlicerKit(s).rules(options))
}

type slicerKit struct {
	subject[cupel.ScoredItem, cupel.Selection]
	slicer cupel.Slicer
}

func newSlicerKit(s cupel.Slicer) *slicerKit {
	return &slicerKit{slicer: s, subject: subject[cupel.ScoredItem, cupel.Selection]{
		method: "Slice",
		run: func(ctx context.Context, in input[cupel.ScoredItem]) (cupel.Selection, error) {
			return s.Slice(ctx, in.list, in.budget)
		},
		differ: differentSelections,
		clone: func(sel cupel.Selection) cupel.Selection {
			return cupel.Selection{Indices: slices.Clone(sel.Indices), Smaller: slices.Clone(sel.Smaller), Drops: slices.Clone(sel.Drops), Shortfalls: slices.Clone(sel.Shortfalls)}
		},
		same:  sameScored,
		junk:  junkScored(),
		fresh: func() []input[cupel.ScoredItem] { return slicerInputs(nil) },
		may:   func(err error) bool { return errors.Is(err, cupel.ErrScarcity) },
	}}
}

func (k *slicerKit) rules(options kitOptions) []rule {
	// Each of the lists of these three has a rule of its own, so that what is
	// special about it is named.
	hostile := withBudgets(hostileScores())
	repeated := withBudgets(repeatedScored())
	huge := withBudgets(hugeItems())

	rules := append(k.subject.rules(slicerInputs(options.items)), k.resultRule(), k.stopRule(),
		rule{"a selection is a subset: every position, selected or dropped, is one of the list.", k.everywhere(outOfRange)},
		rule{"a selection is a subset: no position is selected twice, or dropped twice.", k.everywhere(twice)},
		rule{"no position is both selected and dropped.", k.everywhere(both)},
		rule{"an item that is dropped has a reason.", k.everywhere(withoutReason)},
		rule{"an item that is given twice is two candidates, told apart by their positions.", func() string { return k.each(repeated, broken) }},
		rule{"any float64 is a score: infinities, NaN and -0 too.", func() string { return k.each(hostile, broken) }},
		rule{"sums of tokens do not wrap.", func() string {
			return k.each(huge, func(in input[cupel.ScoredItem], sel cupel.Selection) string {
				if found := broken(in, sel); found != "" || options.mayExceed {
					return found
				}
				return overTarget(in, sel)
			})
		}},
		rule{"an explanation of what is not selected says something, and names items that are selected or dropped.", k.everywhere(k.unexplained)},
		rule{"an empty list gives an empty selection, without a shortfall or an error.", func() string {
			return k.nothing([]input[cupel.ScoredItem]{{name: "an empty list", budget: budgetOf(100)}})
		}},
		rule{"a target of 0 gives an empty selection, zero-token items included, without a shortfall or an error.", func() string {
			var none []input[cupel.ScoredItem]
			for _, in := range k.inputs {
				in.budget.TargetTokens = 0
				none = append(none, in)
			}
			return k.nothing(none)
		}},
	)
	if !options.mayExceed {
		rules = append(rules, rule{"the selected items have at most as many tokens as the target (say WithTargetExceeded where they may have more).",
			k.everywhere(overTarget)})
	}
	return append(rules, k.unitRules(options)...)
}

// unexplained asks a [cupel.SliceExplainer] about the first item that it left out.
func (k *slicerKit) unexplained(in input[cupel.ScoredItem], sel cupel.Selection) string {
	if _, ok := k.slicer.(cupel.SliceExplainer); !ok {
		return ""
	}
	if filled, err := cupel.Slice(context.Background(), k.slicer, slices.Clone(in.list), in.budget); err == nil {
		sel = filled // an item that the left-over pass brings back has no obstacle
	}
	for at := range in.list {
		if formIn(sel, at) >= 0 {
			continue
		}
		obstacle, err := cupel.ExplainSlice(context.Background(), k.slicer, slices.Clone(in.list), in.budget, at)
		switch {
		case err != nil:
			return fmt.Sprintf("asked about position %d: %v", at, err)
		case obstacle.Rule == "":
			return fmt.Sprintf("nothing is said about position %d", at)
		}
		return ""
	}
	return ""
}

func slicerInputs(own []*cupel.ContextItem) []input[cupel.ScoredItem] {
	var inputs []input[cupel.ScoredItem]
	for _, in := range append(scoredInputs(own), unitInputs(own, false)...) {
		inputs = append(inputs, withBudgets(in)...)
	}
	return inputs
}

// everywhere checks what is selected from lists without groups and forms, which
// have rules of their own.
func (k *slicerKit) everywhere(check func(input[cupel.ScoredItem], cupel.Selection) string) func() string {
	return func() string { return k.each(ofUnits(k.inputs, false), check) }
}

// each runs the slicer and checks what it selected.
func (k *slicerKit) each(inputs []input[cupel.ScoredItem], check func(input[cupel.ScoredItem], cupel.Selection) string) string {
	for _, in := range inputs {
		out := k.call(in)
		found := out.broke
		switch {
		case k.answers(out):
			continue
		case found == "":
			found = check(in, out.result)
		}
		if found != "" {
			return in.name + ": " + found
		}
	}
	return ""
}

// nothing runs the slicer where it has nothing to choose: no requirement is
// looked at then, so that a [cupel.ScarcityError] is no answer (R19).
func (k *slicerKit) nothing(inputs []input[cupel.ScoredItem]) string {
	for _, in := range inputs {
		out := k.call(in)
		found := out.broke
		switch sel := out.result; {
		case found != "":
		case len(sel.Indices) > 0:
			found = fmt.Sprintf("positions %v are selected", sel.Indices)
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

func outOfRange(in input[cupel.ScoredItem], sel cupel.Selection) string {
	for _, i := range positionsOf(sel) {
		if i < 0 || i >= len(in.list) {
			return fmt.Sprintf("position %d of %d items", i, len(in.list))
		}
	}
	return ""
}

func twice(_ input[cupel.ScoredItem], sel cupel.Selection) string {
	for _, list := range [][]int{sel.Indices, dropped(sel)} {
		seen := make(map[int]bool)
		for _, i := range list {
			if seen[i] {
				return fmt.Sprintf("position %d twice in %v", i, list)
			}
			seen[i] = true
		}
	}
	return ""
}

func both(_ input[cupel.ScoredItem], sel cupel.Selection) string {
	for _, i := range dropped(sel) {
		if slices.Contains(sel.Indices, i) {
			return fmt.Sprintf("position %d", i)
		}
	}
	return ""
}

func withoutReason(_ input[cupel.ScoredItem], sel cupel.Selection) string {
	for _, d := range sel.Drops {
		if d.Reason.Code == "" {
			return fmt.Sprintf("position %d is dropped with an empty code", d.Index)
		}
	}
	return ""
}

// broken is all that the pipeline itself checks.
func broken(in input[cupel.ScoredItem], sel cupel.Selection) string {
	return cmp.Or(outOfRange(in, sel), twice(in, sel), both(in, sel), withoutReason(in, sel))
}

func overTarget(in input[cupel.ScoredItem], sel cupel.Selection) string {
	left := in.budget.TargetTokens
	for _, i := range sel.Indices {
		if i < 0 || i >= len(in.list) {
			continue // another rule's
		}
		tokens := in.list[i].Item.Tokens()
		if tokens > left {
			return fmt.Sprintf("positions %v exceed the target of %d tokens", sel.Indices, in.budget.TargetTokens)
		}
		left -= tokens
	}
	for _, s := range sel.Smaller {
		if s.Index < 0 || s.Index >= len(in.list) || unknownForm(in, cupel.Selection{Smaller: []cupel.SmallerForm{s}}) != "" {
			continue
		}
		tokens := in.list[s.Index].Item.Forms()[s.Form-1].Tokens
		if tokens > left {
			return fmt.Sprintf("positions %v and the smaller forms %v exceed the target of %d tokens", sel.Indices, sel.Smaller, in.budget.TargetTokens)
		}
		left -= tokens
	}
	return ""
}

func dropped(sel cupel.Selection) []int {
	var indices []int
	for _, d := range sel.Drops {
		indices = append(indices, d.Index)
	}
	return indices
}

func positionsOf(sel cupel.Selection) []int {
	positions := append(slices.Clone(sel.Indices), dropped(sel)...)
	for _, s := range sel.Smaller {
		positions = append(positions, s.Index)
	}
	return positions
}

// differentSelections compares what a pipeline makes of two selections: it
// merges by score, so that the order of what is selected does not count.
func differentSelections(a, b cupel.Selection) string {
	x, y := slices.Sorted(slices.Values(a.Indices)), slices.Sorted(slices.Values(b.Indices))
	switch {
	case !slices.Equal(x, y):
		return fmt.Sprintf("positions %v, then %v", x, y)
	case !slices.Equal(byPosition(a.Smaller), byPosition(b.Smaller)):
		return fmt.Sprintf("smaller forms %v, then %v", a.Smaller, b.Smaller)
	case !slices.EqualFunc(a.Drops, b.Drops, func(x, y cupel.Drop) bool { return x.Index == y.Index && sameReason(x.Reason, y.Reason) }):
		return fmt.Sprintf("drops %v, then %v", a.Drops, b.Drops)
	case !slices.EqualFunc(a.Shortfalls, b.Shortfalls, func(x, y cupel.CountRequirementShortfall) bool { return x.String() == y.String() }):
		return fmt.Sprintf("shortfalls %v, then %v", a.Shortfalls, b.Shortfalls)
	}
	return ""
}

func byPosition(forms []cupel.SmallerForm) []cupel.SmallerForm {
	return slices.SortedFunc(slices.Values(forms), func(a, b cupel.SmallerForm) int { return cmp.Or(a.Index-b.Index, a.Form-b.Form) })
}

func budgetOf(tokens int) cupel.SliceBudget {
	return cupel.SliceBudget{MaxTokens: tokens, TargetTokens: tokens}
}

// withBudgets is a list with budgets in which nothing, something and everything
// fits, and one whose ceiling is above its target.
func withBudgets(in input[cupel.ScoredItem]) []input[cupel.ScoredItem] {
	sum := 0
	for _, it := range in.list {
		sum += min(it.Item.Tokens(), math.MaxInt-sum)
	}
	var inputs []input[cupel.ScoredItem]
	for _, budget := range []cupel.SliceBudget{
		budgetOf(1), budgetOf(sum / 3), budgetOf(max(1, sum-1)), budgetOf(max(1, sum)), budgetOf(math.MaxInt),
		{MaxTokens: max(1, sum), TargetTokens: max(1, sum/2)},
	} {
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

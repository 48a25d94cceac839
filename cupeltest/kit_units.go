package cupeltest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// unitItems returns groups, with and without smaller forms, between other
// items.
func unitItems(g generation) []*cupel.ContextItem {
	call := func(content string, tokens int, group string, opts ...cupel.ItemOption) *cupel.ContextItem {
		return g.item(content, tokens, append(opts, cupel.WithGroup(group), cupel.WithKind(cupel.KindToolOutput), cupel.WithSource(cupel.SourceTool))...)
	}
	outline := cupel.Variant{Content: "its outline", Tokens: 40, Worth: 0.6}
	stub := cupel.Variant{Content: "its stub", Tokens: 5, Worth: 0.2}
	return []*cupel.ContextItem{
		call("a call", 10, "call_1"),
		call("a long result", 90, "call_1", cupel.WithVariants(stub, outline)),
		g.item("a document", 120, cupel.WithKind(cupel.KindDocument), cupel.WithTags("long"), cupel.WithVariants(outline, stub, cupel.Variant{Content: "its name", Worth: 0.05})),
		call("a call with two results", 5, "call_2"),
		g.item("a note", 15, cupel.WithPriority(1)),
		call("the first of two results", 30, "call_2"),
		call("the second of two results", 25, "call_2"),
		g.item("a question", 25, cupel.WithGroup("turn_1"), cupel.WithGroupVariants(cupel.Variant{Content: "what it was about", Tokens: 8, Worth: 0.3})),
		g.item("an answer", 35, cupel.WithGroup("turn_1")),
		g.item("a memory", 30, cupel.WithKind(cupel.KindMemory), cupel.WithVariants(cupel.Variant{Content: "its gist", Tokens: 10, Worth: 0.5})),
		g.item("a free note", 0),
		g.item("a free call", 0, cupel.WithGroup("free")),
		g.item("its free result", 0, cupel.WithGroup("free")),
	}
}

// unitInputs returns lists with groups and smaller forms, as slicers see them
// or as placers do.
func unitInputs(g generation, options *kitOptions, ofPlacer bool) []input[cupel.ScoredItem] {
	var inputs []input[cupel.ScoredItem]
	add := func(name string, items []*cupel.ContextItem, target int) {
		sliced, placed := standIns(items, target)
		switch {
		case len(sliced) == 0: // the caller's items alone are too large, or all pinned
		case ofPlacer:
			inputs = append(inputs, input[cupel.ScoredItem]{name: name, list: placed, units: true})
		default:
			inputs = append(inputs, input[cupel.ScoredItem]{name: name, list: sliced, units: true})
		}
	}
	if !options.only {
		add("a list with groups and smaller forms", unitItems(g), 150)
	}
	if slices.ContainsFunc(options.items, func(item *cupel.ContextItem) bool { return item.Group() != "" }) {
		add("the caller's items in their groups", options.items, math.MaxInt)
	}
	return inputs
}

// standIns returns the lists that the slicer and the placer of a pipeline get:
// with one entry for each group. A run whose pinned items do not fit slices nothing.
func standIns(items []*cupel.ContextItem, target int) (sliced, placed []cupel.ScoredItem) {
	spy := new(listSpy)
	pipeline := must(pipeline.New(pipeline.Config{Scorer: spy, Slicer: spy, Placer: spy, KeepDuplicates: true, Overflow: pipeline.OverflowProceed}))
	_, _ = pipeline.Run(context.Background(), items, Budget(target, target))
	return spy.sliced, spy.placed
}

// listSpy is strategies that remember the lists of a run.
type listSpy struct{ sliced, placed []cupel.ScoredItem }

// Score gives each item less than the one before it.
func (s *listSpy) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	return strategy.ScorerFunc(s.score).Score(ctx, items, scores)
}

func (*listSpy) score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	return 1 - float64(slices.Index(all, item))/float64(len(all))
}

func (s *listSpy) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	s.sliced = slices.Clone(items)
	return strategy.CallSlicer(ctx, slicer.Greedy{}, items, budget)
}

// Place ends the run: both lists are there.
func (s *listSpy) Place(_ context.Context, items []cupel.ScoredItem) ([]int, error) {
	s.placed = slices.Clone(items)
	return nil, nil
}

// withUnits returns the inputs with groups and smaller forms, or the others.
func withUnits[E any](inputs []input[E], units bool) []input[E] {
	var found []input[E]
	for _, in := range inputs {
		if in.units == units {
			found = append(found, in)
		}
	}
	return found
}

// unitRules are the rules about groups and smaller forms.
func (k *slicerKit) unitRules(options *kitOptions) []rule {
	rules := []rule{
		{sentence: "a group is one position: it is selected, or dropped, as a whole.", cause: "confuses groups", broken: k.ofUnits(broken)},
		{sentence: "no position is selected in two forms.", cause: "selects an item in two forms", broken: k.ofAll(inTwoForms)},
		{sentence: "no position that is selected in a smaller form is dropped as well.", cause: "drops what it selects in a smaller form", broken: k.ofAll(smallerAndDropped)},
		{sentence: "a smaller form is one of the forms that the item has, counted from 1.", cause: "selects a form that there is not", broken: k.ofAll(unknownForm)},
		{sentence: "a slicer that wants the left-over pass drops what it leaves out for another reason than the budget: the pass returns the rest.", cause: "leaves items out without saying so", broken: k.ofUnits(k.returns)},
	}
	if !options.mayExceed {
		rules = append(rules, rule{sentence: "a group has the tokens of all its members and a smaller form its own: together they are within the target.", cause: "selects more than the target", broken: k.ofUnits(overTarget)})
	}
	return rules
}

func inTwoForms(_ input[cupel.ScoredItem], sel strategy.Selection) string {
	seen := make(map[int]bool)
	for _, s := range sel.Smaller {
		if seen[s.Index] || slices.Contains(sel.Indices, s.Index) {
			return fmt.Sprintf("position %d in form %d and another", s.Index, s.Form)
		}
		seen[s.Index] = true
	}
	return ""
}

func smallerAndDropped(_ input[cupel.ScoredItem], sel strategy.Selection) string {
	for _, s := range sel.Smaller {
		if slices.Contains(dropped(sel), s.Index) {
			return fmt.Sprintf("position %d in form %d", s.Index, s.Form)
		}
	}
	return ""
}

func unknownForm(in input[cupel.ScoredItem], sel strategy.Selection) string {
	for _, s := range sel.Smaller {
		if s.Index < 0 || s.Index >= len(in.list) {
			continue // another rule's
		}
		if forms := in.list[s.Index].Item.Forms(); s.Form < 1 || s.Form > len(forms) {
			return fmt.Sprintf("position %d in form %d, and it has %d smaller forms", s.Index, s.Form, len(forms))
		}
	}
	return ""
}

// returns finds a position that the slicer left out although there was room for
// all, and that the left-over pass selects.
func (k *slicerKit) returns(in input[cupel.ScoredItem], sel strategy.Selection) string {
	if in.budget.TargetTokens < math.MaxInt {
		return ""
	}
	filled, err := strategy.CallSlicer(context.Background(), k.newSlicer(), slices.Clone(in.list), in.budget)
	if err != nil {
		return "" // another rule's
	}
	for at := range in.list {
		if form := formIn(sel, at); form != 0 && formIn(filled, at) >= 0 && formIn(filled, at) != form {
			return fmt.Sprintf("position %d is %s, and then %s", at, formText(form), formText(formIn(filled, at)))
		}
	}
	return ""
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

func formText(form int) string {
	if form < 0 {
		return "out"
	}
	return fmt.Sprintf("in form %d", form)
}

package cupeltest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// What each check of a selection says, one by one: a kit stops at the first.
func TestChecksOfSelections(t *testing.T) {
	form := func(content string, tokens int) cupel.ItemOption {
		return cupel.WithVariants(cupel.Variant{Content: content + ", shorter", Tokens: tokens, Worth: 0.5}, cupel.Variant{Content: content + ", short", Tokens: 1, Worth: 0.2})
	}
	list := scored([]*cupel.ContextItem{Item("a", 10, form("a", 4)), Item("b", 20, form("b", 8)), Item("c", 30)}, func(i int) float64 { return 1 - float64(i)/10 })
	checks := []struct {
		name  string
		check func(in input[cupel.ScoredItem], sel strategy.Selection) string
	}{
		{"range", outOfRange},
		{"twice", twice},
		{"both", both},
		{"reason", withoutReason},
		{"target", overTarget},
		{"forms", inTwoForms},
		{"dropped", smallerAndDropped},
		{"unknown", unknownForm},
	}
	drop := func(at int) strategy.Drop {
		return strategy.Drop{Index: at, Reason: cupel.ExclusionReason{Code: cupel.ExcludeFiltered}}
	}
	smaller := func(at, form int) strategy.SmallerForm { return strategy.SmallerForm{Index: at, Form: form} }
	type selection = strategy.Selection
	for _, row := range []struct {
		target int
		sel    selection
		want   string
		why    string
	}{
		{40, selection{Indices: []int{0, 2}}, "", "the target is reached and not passed"},
		{39, selection{Indices: []int{0, 2}}, "target: positions [0 2] exceed the target of 39 tokens", "one token too many"},
		{12, selection{Smaller: []strategy.SmallerForm{smaller(0, 1), smaller(1, 1)}}, "", "forms have tokens of their own"},
		{11, selection{Smaller: []strategy.SmallerForm{smaller(0, 1), smaller(1, 1)}}, "target: positions [] and the smaller forms [{0 1} {1 1}] exceed the target of 11 tokens", "all of them count"},
		{30, selection{Indices: []int{2}, Smaller: []strategy.SmallerForm{smaller(0, 2)}}, "target: positions [2] and the smaller forms [{0 2}] exceed the target of 30 tokens", "together"},
		{40, selection{Indices: []int{-1}}, "range: position -1 of 3 items", "no position is below 0"},
		{40, selection{Indices: []int{3}}, "range: position 3 of 3 items", "the last is 2"},
		{40, selection{Drops: []strategy.Drop{drop(3)}}, "range: position 3 of 3 items", "nor is it dropped"},
		{40, selection{Smaller: []strategy.SmallerForm{smaller(-1, 1)}}, "range: position -1 of 3 items", "nor smaller"},
		{40, selection{Smaller: []strategy.SmallerForm{smaller(3, 1)}}, "range: position 3 of 3 items", "nor smaller"},
		{40, selection{Indices: []int{3, 1, 2}}, "range: position 3 of 3 items\ntarget: positions [3 1 2] exceed the target of 40 tokens", "the others are added up"},
		{40, selection{Indices: []int{1, 0, 0}}, "twice: position 0 twice in [1 0 0]", "selected twice"},
		{40, selection{Drops: []strategy.Drop{drop(1), drop(1)}}, "twice: position 1 twice in [1 1]", "dropped twice"},
		{40, selection{Indices: []int{0, 1}, Drops: []strategy.Drop{drop(2), drop(1)}}, "both: position 1", "selected and dropped"},
		{40, selection{Drops: []strategy.Drop{{Index: 2}}}, "reason: position 2 is dropped with an empty code", "no reason"},
		{40, selection{Smaller: []strategy.SmallerForm{smaller(1, 1), smaller(1, 2)}}, "forms: position 1 in form 2 and another", "two forms"},
		{40, selection{Indices: []int{1}, Smaller: []strategy.SmallerForm{smaller(1, 2)}}, "forms: position 1 in form 2 and another", "the full form is one too"},
		{40, selection{Smaller: []strategy.SmallerForm{smaller(1, 1)}, Drops: []strategy.Drop{drop(1)}}, "dropped: position 1 in form 1", "a smaller form is selected"},
		{40, selection{Smaller: []strategy.SmallerForm{smaller(1, 0)}}, "unknown: position 1 in form 0, and it has 2 smaller forms", "forms count from 1"},
		{0, selection{Smaller: []strategy.SmallerForm{smaller(1, 3)}}, "unknown: position 1 in form 3, and it has 2 smaller forms", "there are two, and the tokens of a third are unknown"},
	} {
		var found []string
		for _, c := range checks {
			if text := c.check(input[cupel.ScoredItem]{list: list, budget: budgetOf(row.target)}, row.sel); text != "" {
				found = append(found, c.name+": "+text)
			}
		}
		if got := strings.Join(found, "\n"); got != row.want {
			t.Errorf("%+v with a target of %d: %q, want %q, since %s", row.sel, row.target, got, row.want, row.why)
		}
	}
}

// How two results differ.
func TestDifferences(t *testing.T) {
	long := make([]int, 21)
	for i := range long {
		long[i] = i
	}
	of := func(tokens int) input[cupel.ScoredItem] {
		items := append(repeat(Items(tokens), 21), Item("long", 9, cupel.WithVariants(cupel.Variant{Content: "short", Tokens: 4, Worth: 0.5})))
		return input[cupel.ScoredItem]{list: scored(items, func(int) float64 { return 1 }), budget: budgetOf(3)}
	}
	manyOf0, manyOf1 := of(0), of(1)
	drop := func(at int, code cupel.ExclusionCode) strategy.Drop {
		return strategy.Drop{Index: at, Reason: cupel.ExclusionReason{Code: code}}
	}
	short := func(of int) []cupel.CountRequirementShortfall {
		return []cupel.CountRequirementShortfall{{Kind: "A", RequiredCount: of}}
	}
	for _, row := range []struct {
		got, want, why string
	}{
		{differentPositions([]int{1, 2}, []int{1, 2, 3}), "[1 2], then [1 2 3]", "one begins the other"},
		{differentPositions([]int{1, 2, 3}, nil), "[1 2 3], then []", "nothing is left"},
		{shown(long[:20], 10), "[0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19]", "20 are shown"},
		{shown(long, 0), "[0 1 2 3 …] (21 in all)", "of 21 those around the first"},
		{shown(long, 2), "[0 1 2 3 4 5 …] (21 in all)", "nothing is before"},
		{shown(long, 3), "[… 1 2 3 4 5 6 …] (21 in all)", "one is before"},
		{differentPositions(long, append(slices.Clone(long[:17]), 30)), "[… 15 16 17 18 19 20] (21 in all), then [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 30]", "the 18th is another"},
		{overTarget(manyOf1, strategy.Selection{Indices: long}), "positions [0 1 2 3 …] (21 in all) exceed the target of 3 tokens", "the first are shown"},
		{
			overTarget(manyOf0, strategy.Selection{Indices: long, Smaller: []strategy.SmallerForm{{Index: 21, Form: 1}}}),
			"positions [0 1 2 3 …] (21 in all) and the smaller forms [{21 1}] exceed the target of 3 tokens", "so they are here",
		},
		{shown(long, 10), "[… 8 9 10 11 12 13 …] (21 in all)", "two before and four from there"},
		{shown(long, 17), "[… 15 16 17 18 19 20] (21 in all)", "nothing is behind"},
		{shown(long, 20), "[… 18 19 20] (21 in all)", "the last"},
		{differentSelections(strategy.Selection{Indices: []int{2, 1}}, strategy.Selection{Indices: []int{1, 2}}), "", "the order has no effect"},
		{differentSelections(strategy.Selection{Indices: []int{2, 1}}, strategy.Selection{Indices: []int{1, 3}}), "positions [1 2], then [1 3]", "others are selected"},
		{
			differentSelections(strategy.Selection{Smaller: []strategy.SmallerForm{{Index: 1, Form: 2}, {Index: 0, Form: 1}}}, strategy.Selection{Smaller: []strategy.SmallerForm{{Index: 0, Form: 1}, {Index: 1, Form: 2}}}),
			"", "nor has that of forms",
		},
		{
			differentSelections(strategy.Selection{Smaller: []strategy.SmallerForm{{Index: 1, Form: 2}}}, strategy.Selection{Smaller: []strategy.SmallerForm{{Index: 1, Form: 1}}}),
			"smaller forms [{1 2}], then [{1 1}]", "another form",
		},
		{
			differentSelections(strategy.Selection{Smaller: []strategy.SmallerForm{{Index: 1, Form: 2}, {Index: 1, Form: 1}}}, strategy.Selection{Smaller: []strategy.SmallerForm{{Index: 1, Form: 1}, {Index: 1, Form: 2}}}),
			"", "two forms of one item, which another rule finds",
		},
		{differentSelections(strategy.Selection{Drops: []strategy.Drop{{Index: 1}}}, strategy.Selection{Drops: []strategy.Drop{{Index: 1}}}), "", "the same drop"},
		{
			differentSelections(strategy.Selection{Drops: []strategy.Drop{drop(1, cupel.ExcludeFiltered)}}, strategy.Selection{Drops: []strategy.Drop{drop(2, cupel.ExcludeFiltered)}}),
			"drops [{1 Filtered: }], then [{2 Filtered: }]", "another item is dropped",
		},
		{
			differentSelections(strategy.Selection{Drops: []strategy.Drop{drop(1, cupel.ExcludeFiltered)}}, strategy.Selection{Drops: []strategy.Drop{drop(1, cupel.ExcludeScoredTooLow)}}),
			"drops [{1 Filtered: }], then [{1 ScoredTooLow: score 0 below 0}]", "for another reason",
		},
		{differentSelections(strategy.Selection{Shortfalls: short(2)}, strategy.Selection{Shortfalls: short(2)}), "", "as many are short"},
		{
			differentSelections(strategy.Selection{Shortfalls: short(2)}, strategy.Selection{Shortfalls: short(3)}),
			"shortfalls [CountRequirementShortfall: A has 0 of 2 required items], then [CountRequirementShortfall: A has 0 of 3 required items]", "one more is short",
		},
		{differentScores([]float64{1, math.NaN()}, []float64{1, math.NaN()}), "", "NaN is NaN"},
		{differentScores([]float64{1, math.NaN()}, []float64{1, 2}), "item 2 scores NaN, then 2", "and no number"},
		{differentScores([]float64{2}, []float64{math.NaN()}), "item 1 scores 2, then NaN", "the other way round"},
		{differentScores([]float64{0}, []float64{math.Copysign(0, -1)}), "item 1 scores 0, then -0", "bits are compared"},
		{formText(-1) + formText(0) + formText(1), "outin form 0in form 1", "0 is the full form"},
	} {
		if row.got != row.want {
			t.Errorf("%q, want %q: %s", row.got, row.want, row.why)
		}
	}
	for _, row := range []struct{ a, b, want string }{
		{"", "", "b is another"},
		{"", "the error", "a result, then the error"},
		{"the error", "", "the error, then a result"},
		{"the error", "the error", ""},
		{"the error", "a panic", "a result, then a panic"},
	} {
		s := subject[int, int]{options: new(kitOptions), differ: func(a, b int) string { return "b is another" }}
		if got := s.compare(outcome[int]{broke: row.a}, outcome[int]{broke: row.b}); got != row.want {
			t.Errorf("%q and %q: %q, want %q", row.a, row.b, got, row.want)
		}
	}
	for n, want := range map[int]bool{100: false, 101: true} {
		if got := (input[int]{list: make([]int, n)}).long(); got != want {
			t.Errorf("%d items are long: %t", n, got)
		}
	}
}

// Events are the same if all their fields are.
func TestSameEvents(t *testing.T) {
	event := cupel.TraceEvent{Stage: cupel.StageScore, ItemCount: 1, Message: "x", DurationMS: 1}
	for _, change := range []func(e *cupel.TraceEvent){
		func(e *cupel.TraceEvent) { e.Stage = cupel.StageSlice },
		func(e *cupel.TraceEvent) { e.ItemCount = 2 },
		func(e *cupel.TraceEvent) { e.Message = "y" },
		func(e *cupel.TraceEvent) { e.DurationMS = 2 },
	} {
		other := event
		change(&other)
		if sameEvents([]cupel.TraceEvent{event}, []cupel.TraceEvent{other}) || !sameEvents([]cupel.TraceEvent{other}, []cupel.TraceEvent{other}) {
			t.Errorf("%+v is the same as %+v, or not the same as itself", event, other)
		}
	}
	given := []cupel.TraceEvent{event}
	if got := untimed(given); got[0].DurationMS != 0 || given[0].DurationMS != 1 {
		t.Errorf("without its duration it is %+v, and what was given %+v", got[0], given[0])
	}
}

// The memory of a list is overwritten after a call, and the result is not in it.
func TestListsAreOverwritten(t *testing.T) {
	s := subject[int, []int]{options: new(kitOptions), junk: -1, clone: slices.Clone[[]int]}
	given := []int{1, 2}
	var seen []int
	out := s.call(func(_ context.Context, in input[int]) ([]int, error) {
		seen = in.list
		return in.list, nil
	}, input[int]{list: given})
	if got, want := fmt.Sprint(given, seen, out.result), "[1 2] [-1 -1] [1 2]"; got != want {
		t.Errorf("given, seen and returned: %s, want %s", got, want)
	}
}

// scripted is a slicer with all facts but ForKind.
type scripted struct {
	slice    func(items []cupel.ScoredItem, target int) (strategy.Selection, error)
	explain  func(at int) (strategy.Obstacle, error)
	leftOver bool
}

func (s *scripted) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	return s.slice(items, budget.TargetTokens)
}

func (s *scripted) Facts() strategy.Facts {
	return strategy.Facts{Of: s, NonMonotonic: true, LeftOver: s.leftOver, Explain: func(_ context.Context, _ []cupel.ScoredItem, _ cupel.SliceBudget, _ strategy.Selection, at int) (strategy.Obstacle, error) {
		return s.explain(at)
	}}
}

func kitOf(s *scripted, opts ...SlicerOption) *slicerKit {
	var options kitOptions
	for _, opt := range append(opts, OnlyItems(Items(3, 5, 9)...)) {
		opt.applySlicer(&options)
	}
	return newSlicerKit(func() strategy.Slicer { return s }, &options)
}

// TestStays has a slicer that selects an item of at most as many tokens as the
// target, and says of each selection how long it stays.
func TestStays(t *testing.T) {
	for _, row := range []struct {
		until  func(target int) int
		scarce int // targets below fail
		want   string
		why    string
	}{
		{func(int) int { return 0 }, 0, "", "it says nothing"},
		{func(target int) int { return target }, 0, "", "that says nothing either"},
		{func(target int) int {
			for _, tokens := range []int{3, 5, 9} {
				if target < tokens {
					return tokens - 1
				}
			}
			return math.MaxInt
		}, 0, "", "that is right"},
		{func(target int) int { return target + 1 }, 0, "the items of OnlyItems: StaysUntil is 3 for a target of 2, and for 2 and 3 it selects [], then [0]", "the first change"},
		{func(target int) int { return max(target, 6) }, 5, "", "what fails is no selection"},
		{func(target int) int { return max(target, 9) }, 5, "the items of OnlyItems: StaysUntil is 9 for a target of 5, and for 5 and 9 it selects [0 1], then [0 1 2]", "the last change"},
	} {
		k := kitOf(&scripted{slice: func(items []cupel.ScoredItem, target int) (sel strategy.Selection, err error) {
			if target < row.scarce {
				return sel, &cupel.ScarcityError{Slicer: "scripted", Kind: "A", RequireCount: 1}
			}
			for i, it := range items {
				if it.Item.Tokens() <= target {
					sel.Indices = append(sel.Indices, i)
				}
			}
			if len(items) == 3 {
				sel.StaysUntil = row.until(target)
			}
			return sel, nil
		}})
		if got := k.stays(); got != row.want {
			t.Errorf("%q, want %q: %s", got, row.want, row.why)
		}
	}
}

func TestExplanationsAreAskedFor(t *testing.T) {
	nothing := func([]cupel.ScoredItem, int) (strategy.Selection, error) { return strategy.Selection{}, nil }
	in := input[cupel.ScoredItem]{list: scored(Items(1, 2, 3, 4, 5, 6, 7, 8), func(int) float64 { return 1 }), budget: budgetOf(5)}
	var asked []int
	for _, row := range []struct {
		obstacle strategy.Obstacle
		err      error
		want     string
		asked    string
	}{
		{strategy.Obstacle{Rule: "the size"}, nil, "", "[0 1 2 3 7]"},
		{strategy.Obstacle{}, nil, "nothing is said about position 0", "[0]"},
		{strategy.Obstacle{}, errors.New("busy"), "asked about position 0: ", "[0]"},
	} {
		asked = nil
		k := kitOf(&scripted{slice: nothing, explain: func(at int) (strategy.Obstacle, error) {
			asked = append(asked, at)
			return row.obstacle, row.err
		}})
		if got := k.unexplained(in, strategy.Selection{}); !strings.HasPrefix(got, row.want) || row.want == "" && got != "" || fmt.Sprint(slices.Compact(asked)) != row.asked { // each is asked about twice
			t.Errorf("%v, %v: %q, asked about %v, want %q and %s", row.obstacle, row.err, got, asked, row.want, row.asked)
		}
	}
	for err, want := range map[error]string{nil: "[2 3 4 5 7]", errors.New("busy"): "[]"} {
		k := kitOf(&scripted{slice: func([]cupel.ScoredItem, int) (strategy.Selection, error) {
			return strategy.Selection{Indices: []int{0, 1}}, err
		}, explain: func(at int) (strategy.Obstacle, error) {
			asked = append(asked, at)
			return strategy.Obstacle{Rule: "the size"}, nil
		}})
		asked = nil
		sel := strategy.Selection{Indices: []int{2}}
		if err != nil {
			sel.Indices = []int{0, 1, 2, 3, 4, 5, 6, 7}
		}
		if got := k.unexplained(in, sel); got != "" || fmt.Sprint(slices.Compact(asked)) != want {
			t.Errorf("%q, asked about %v, want %s: what is selected has no obstacle", got, asked, want)
		}
	}
}

// The left-over pass selects only what was not selected before.
func TestReturnsOfTheLeftOverPass(t *testing.T) {
	item := Item("a", 10, cupel.WithVariants(cupel.Variant{Content: "b", Tokens: 4, Worth: 0.5}))
	list := scored([]*cupel.ContextItem{item}, func(int) float64 { return 1 })
	small := []strategy.SmallerForm{{Index: 0, Form: 1}}
	for _, row := range []struct {
		first, second strategy.Selection
		err           error
		target        int
		want          string
		why           string
	}{
		{strategy.Selection{}, strategy.Selection{Indices: []int{0}}, nil, math.MaxInt, "position 0 is out, and then in form 0", "there was room"},
		{strategy.Selection{Smaller: small}, strategy.Selection{Indices: []int{0}}, nil, math.MaxInt, "position 0 is in form 1, and then in form 0", "there was room for all of it"},
		{strategy.Selection{}, strategy.Selection{Smaller: small}, nil, math.MaxInt, "position 0 is out, and then in form 1", "there was room for a part"},
		{strategy.Selection{Smaller: small}, strategy.Selection{Smaller: small}, nil, math.MaxInt, "", "nothing changes"},
		{strategy.Selection{Indices: []int{0}}, strategy.Selection{}, nil, math.MaxInt, "", "another rule finds this"},
		{strategy.Selection{}, strategy.Selection{Indices: []int{0}}, nil, math.MaxInt - 1, "", "there may have been no room"},
		{strategy.Selection{}, strategy.Selection{Indices: []int{0}}, errors.New("busy"), math.MaxInt, "", "another rule's"},
	} {
		k := kitOf(&scripted{slice: func([]cupel.ScoredItem, int) (strategy.Selection, error) { return row.second, row.err }})
		if got := k.returns(input[cupel.ScoredItem]{list: list, budget: budgetOf(row.target)}, row.first); got != row.want {
			t.Errorf("%v, then %v: %q, want %q: %s", row.first, row.second, got, row.want, row.why)
		}
	}
}

func TestNothingToSelect(t *testing.T) {
	for _, row := range []struct {
		sel  strategy.Selection
		err  error
		want string
	}{
		{strategy.Selection{}, nil, ""},
		{strategy.Selection{Indices: []int{0}}, nil, "none: positions [0] are selected"},
		{strategy.Selection{Indices: make([]int, 21)}, nil, "none: positions [0 0 0 0 …] (21 in all) are selected"},
		{strategy.Selection{Smaller: []strategy.SmallerForm{{Index: 0, Form: 1}}}, nil, "none: smaller forms [{0 1}] are selected"},
		{strategy.Selection{Shortfalls: make([]cupel.CountRequirementShortfall, 1)}, nil, "none: shortfalls "},
		{strategy.Selection{}, &cupel.ScarcityError{Slicer: "scripted"}, "none: the error "},
	} {
		k := kitOf(&scripted{slice: func([]cupel.ScoredItem, int) (strategy.Selection, error) { return row.sel, row.err }})
		if got := k.nothing([]input[cupel.ScoredItem]{{name: "none"}}); !strings.HasPrefix(got, row.want) || row.want == "" && got != "" {
			t.Errorf("%+v, %v: %q, want %q", row.sel, row.err, got, row.want)
		}
	}
}

func TestHugeItems(t *testing.T) {
	for _, row := range []struct {
		indices []int
		opts    []SlicerOption
		want    string
		why     string
	}{
		{[]int{6}, nil, "", "it has no tokens"},
		{[]int{6, 6}, nil, "position 6 twice in [6 6]", "the sums are right and the selection is not"},
		{[]int{6, 6}, []SlicerOption{WithTargetExceeded()}, "position 6 twice in [6 6]", "the same"},
		{[]int{0}, nil, "positions [0] exceed the target of 1 tokens", "it is larger"},
		{[]int{0}, []SlicerOption{WithTargetExceeded()}, "", "it may be"},
	} {
		s := &scripted{slice: func([]cupel.ScoredItem, int) (strategy.Selection, error) {
			return strategy.Selection{Indices: row.indices}, nil
		}}
		k := kitOf(s, row.opts...)
		k.options.only = false
		for _, r := range k.rules(s) {
			if r.cause != "sums of tokens wrap" {
				continue
			}
			if got := r.broken(); !strings.HasSuffix(got, row.want) || row.want == "" && got != "" {
				t.Errorf("%v with %d options: %q, want %q: %s", row.indices, len(row.opts), got, row.want, row.why)
			}
		}
	}
}

// The next three are strategies of one function.
type scorerOf func(item *cupel.ContextItem, all []*cupel.ContextItem) float64

func (f scorerOf) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	return strategy.ScorerFunc(f).Score(ctx, items, scores)
}

type sliceOf func(items []cupel.ScoredItem, budget cupel.SliceBudget) strategy.Selection

func (f sliceOf) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	return f(items, budget), nil
}

// placerFunc changes the order of the list.
type placerFunc func(order []int)

func (f placerFunc) Place(_ context.Context, items []cupel.ScoredItem) ([]int, error) {
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	f(order)
	return order, nil
}

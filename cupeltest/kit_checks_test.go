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
)

// What each check of a selection says, one by one: a kit stops at the first.
func TestChecksOfSelections(t *testing.T) {
	form := func(content string, tokens int) cupel.ItemOption {
		return cupel.WithVariants(cupel.Variant{Content: content + ", shorter", Tokens: tokens, Worth: 0.5}, cupel.Variant{Content: content + ", short", Tokens: 1, Worth: 0.2})
	}
	list := scored([]*cupel.ContextItem{Item("a", 10, form("a", 4)), Item("b", 20, form("b", 8)), Item("c", 30)}, func(i int) float64 { return 1 - float64(i)/10 })
	checks := []struct {
		name  string
		check func(in input[cupel.ScoredItem], sel cupel.Selection) string
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
	drop := func(at int) cupel.Drop {
		return cupel.Drop{Index: at, Reason: cupel.ExclusionReason{Code: cupel.ExcludeFiltered}}
	}
	smaller := func(at, form int) cupel.SmallerForm { return cupel.SmallerForm{Index: at, Form: form} }
	type selection = cupel.Selection
	for _, row := range []struct {
		target int
		sel    selection
		want   string
		why    string
	}{
		{40, selection{Indices: []int{0, 2}}, "", "the target is reached and not passed"},
		{39, selection{Indices: []int{0, 2}}, "target: positions [0 2] exceed the target of 39 tokens", "one token too many"},
		{12, selection{Smaller: []cupel.SmallerForm{smaller(0, 1), smaller(1, 1)}}, "", "forms have tokens of their own"},
		{11, selection{Smaller: []cupel.SmallerForm{smaller(0, 1), smaller(1, 1)}}, "target: positions [] and the smaller forms [{0 1} {1 1}] exceed the target of 11 tokens", "all of them count"},
		{30, selection{Indices: []int{2}, Smaller: []cupel.SmallerForm{smaller(0, 2)}}, "target: positions [2] and the smaller forms [{0 2}] exceed the target of 30 tokens", "together"},
		{40, selection{Indices: []int{-1}}, "range: position -1 of 3 items", "no position is below 0"},
		{40, selection{Indices: []int{3}}, "range: position 3 of 3 items", "the last is 2"},
		{40, selection{Drops: []cupel.Drop{drop(3)}}, "range: position 3 of 3 items", "nor is it dropped"},
		{40, selection{Smaller: []cupel.SmallerForm{smaller(-1, 1)}}, "range: position -1 of 3 items", "nor smaller"},
		{40, selection{Smaller: []cupel.SmallerForm{smaller(3, 1)}}, "range: position 3 of 3 items", "nor smaller"},
		{40, selection{Indices: []int{3, 1, 2}}, "range: position 3 of 3 items\ntarget: positions [3 1 2] exceed the target of 40 tokens", "the others are added up"},
		{40, selection{Indices: []int{1, 0, 0}}, "twice: position 0 twice in [1 0 0]", "selected twice"},
		{40, selection{Drops: []cupel.Drop{drop(1), drop(1)}}, "twice: position 1 twice in [1 1]", "dropped twice"},
		{40, selection{Indices: []int{0, 1}, Drops: []cupel.Drop{drop(2), drop(1)}}, "both: position 1", "selected and dropped"},
		{40, selection{Drops: []cupel.Drop{{Index: 2}}}, "reason: position 2 is dropped with an empty code", "no reason"},
		{40, selection{Smaller: []cupel.SmallerForm{smaller(1, 1), smaller(1, 2)}}, "forms: position 1 in form 2 and another", "two forms"},
		{40, selection{Indices: []int{1}, Smaller: []cupel.SmallerForm{smaller(1, 2)}}, "forms: position 1 in form 2 and another", "the full form is one too"},
		{40, selection{Smaller: []cupel.SmallerForm{smaller(1, 1)}, Drops: []cupel.Drop{drop(1)}}, "dropped: position 1 in form 1", "a smaller form is selected"},
		{40, selection{Smaller: []cupel.SmallerForm{smaller(1, 0)}}, "unknown: position 1 in form 0, and it has 2 smaller forms", "forms count from 1"},
		{0, selection{Smaller: []cupel.SmallerForm{smaller(1, 3)}}, "unknown: position 1 in form 3, and it has 2 smaller forms", "there are two, and the tokens of a third are unknown"},
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
	drop := func(at int, code cupel.ExclusionCode) cupel.Drop {
		return cupel.Drop{Index: at, Reason: cupel.ExclusionReason{Code: code}}
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
		{overTarget(manyOf1, cupel.Selection{Indices: long}), "positions [0 1 2 3 …] (21 in all) exceed the target of 3 tokens", "the first are shown"},
		{
			overTarget(manyOf0, cupel.Selection{Indices: long, Smaller: []cupel.SmallerForm{{Index: 21, Form: 1}}}),
			"positions [0 1 2 3 …] (21 in all) and the smaller forms [{21 1}] exceed the target of 3 tokens", "so they are here",
		},
		{shown(long, 10), "[… 8 9 10 11 12 13 …] (21 in all)", "two before and four from there"},
		{shown(long, 17), "[… 15 16 17 18 19 20] (21 in all)", "nothing is behind"},
		{shown(long, 20), "[… 18 19 20] (21 in all)", "the last"},
		{differentSelections(cupel.Selection{Indices: []int{2, 1}}, cupel.Selection{Indices: []int{1, 2}}), "", "the order has no effect"},
		{differentSelections(cupel.Selection{Indices: []int{2, 1}}, cupel.Selection{Indices: []int{1, 3}}), "positions [1 2], then [1 3]", "others are selected"},
		{
			differentSelections(cupel.Selection{Smaller: []cupel.SmallerForm{{Index: 1, Form: 2}, {Index: 0, Form: 1}}}, cupel.Selection{Smaller: []cupel.SmallerForm{{Index: 0, Form: 1}, {Index: 1, Form: 2}}}),
			"", "nor has that of forms",
		},
		{
			differentSelections(cupel.Selection{Smaller: []cupel.SmallerForm{{Index: 1, Form: 2}}}, cupel.Selection{Smaller: []cupel.SmallerForm{{Index: 1, Form: 1}}}),
			"smaller forms [{1 2}], then [{1 1}]", "another form",
		},
		{
			differentSelections(cupel.Selection{Smaller: []cupel.SmallerForm{{Index: 1, Form: 2}, {Index: 1, Form: 1}}}, cupel.Selection{Smaller: []cupel.SmallerForm{{Index: 1, Form: 1}, {Index: 1, Form: 2}}}),
			"", "two forms of one item, which another rule finds",
		},
		{differentSelections(cupel.Selection{Drops: []cupel.Drop{{Index: 1}}}, cupel.Selection{Drops: []cupel.Drop{{Index: 1}}}), "", "the same drop"},
		{
			differentSelections(cupel.Selection{Drops: []cupel.Drop{drop(1, cupel.ExcludeFiltered)}}, cupel.Selection{Drops: []cupel.Drop{drop(2, cupel.ExcludeFiltered)}}),
			"drops [{1 Filtered: }], then [{2 Filtered: }]", "another item is dropped",
		},
		{
			differentSelections(cupel.Selection{Drops: []cupel.Drop{drop(1, cupel.ExcludeFiltered)}}, cupel.Selection{Drops: []cupel.Drop{drop(1, cupel.ExcludeScoredTooLow)}}),
			"drops [{1 Filtered: }], then [{1 ScoredTooLow: score 0 below 0}]", "for another reason",
		},
		{differentSelections(cupel.Selection{Shortfalls: short(2)}, cupel.Selection{Shortfalls: short(2)}), "", "as many are short"},
		{
			differentSelections(cupel.Selection{Shortfalls: short(2)}, cupel.Selection{Shortfalls: short(3)}),
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

// scripted is a slicer with every optional method.
type scripted struct {
	slice    func(items []cupel.ScoredItem, target int) (cupel.Selection, error)
	sweep    func(items []cupel.ScoredItem) cupel.SliceSweep
	explain  func(at int) (cupel.Obstacle, error)
	rising   bool
	leftOver bool
}

func (s *scripted) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	return s.slice(items, budget.TargetTokens)
}

func (s *scripted) Sweep(items []cupel.ScoredItem) cupel.SliceSweep { return s.sweep(items) }

func (s *scripted) NonMonotonic() bool { return !s.rising }

func (s *scripted) LeftOver() bool { return s.leftOver }

func (s *scripted) ExplainSlice(_ context.Context, _ []cupel.ScoredItem, _ cupel.SliceBudget, _ cupel.Selection, at int) (cupel.Obstacle, error) {
	return s.explain(at)
}

func kitOf(s *scripted, opts ...SlicerOption) *slicerKit {
	var options kitOptions
	for _, opt := range append(opts, OnlyItems(Items(3, 5, 9)...)) {
		opt.applySlicer(&options)
	}
	return newSlicerKit(func() cupel.Slicer { return s }, &options)
}

// stepSweep tells the choice at each target.
type stepSweep struct {
	at     int
	choose func(from, target int) (keep int, more []int)
	next   func(at int) (int, bool)
}

func (s *stepSweep) Advance(target int) (keep int, more []int) {
	from := s.at
	s.at = target
	return s.choose(from, target)
}

func (s *stepSweep) Next() (int, bool) { return s.next(s.at) }

func TestSweepsAgainstSlice(t *testing.T) {
	// Items of at most as many tokens as the target.
	chosen := func(items []cupel.ScoredItem, target int) (indices []int) {
		for i, it := range items {
			if it.Item.Tokens() <= target {
				indices = append(indices, i)
			}
		}
		return indices
	}
	each := func(at int) (int, bool) { return at + 1, true }
	const only = "the items of OnlyItems: at a target of "
	for _, row := range []struct {
		name   string
		choose func(items []cupel.ScoredItem, from, target int) (keep int, more []int)
		next   func(at int) (int, bool)
		scarce int // targets below fail
		want   string
	}{
		{"as Slice", func(items []cupel.ScoredItem, _, target int) (int, []int) { return 0, chosen(items, target) }, each, 0, ""},
		{"where Slice fails", func(items []cupel.ScoredItem, _, target int) (int, []int) { return 0, chosen(items, target) }, each, 5, ""},
		{"announces what changes", func(items []cupel.ScoredItem, _, target int) (int, []int) { return 0, chosen(items, target) }, func(at int) (int, bool) {
			for _, tokens := range []int{3, 5, 9} {
				if tokens > at {
					return tokens, true
				}
			}
			return 0, false
		}, 0, ""},
		{"announces nothing", func(items []cupel.ScoredItem, _, target int) (int, []int) { return 0, chosen(items, target) }, func(int) (int, bool) { return 0, false }, 0, only + "3, where Next announces no change, Sweep and Slice choose [], then [0]"},
		{"announces too late", func(items []cupel.ScoredItem, _, target int) (int, []int) { return 0, chosen(items, target) }, func(at int) (int, bool) { return max(4, at+1), true }, 0, only + "3, where Next announces no change, Sweep and Slice choose [], then [0]"},
		{"keeps before there is anything", func(items []cupel.ScoredItem, _, target int) (int, []int) {
			return max(0, 1-target), chosen(items, target)
		}, each, 0, only + "0, the first 1 of 0 positions are kept"},
		{"keeps less than nothing", func(items []cupel.ScoredItem, _, target int) (int, []int) { return -1, chosen(items, target) }, each, 0, only + "0, the first -1 of 0 positions are kept"},
		{"chooses another", func(items []cupel.ScoredItem, _, target int) (int, []int) { return 0, chosen(items, target-1) }, each, 0, only + "3, Sweep and Slice choose [], then [0]"},
		{"does not go back", func(items []cupel.ScoredItem, from, target int) (int, []int) {
			return 0, chosen(items, max(from, target))
		}, each, 0, "a list of one item: at a target of 2, Sweep and Slice choose [0], then []"},
		{"goes up in small steps", func(items []cupel.ScoredItem, from, target int) (int, []int) {
			return 0, chosen(items, min(from+3, target))
		}, each, 0, only + "6, reached in one step from another, Sweep and Slice choose [0], then [0 1]"},
	} {
		k := kitOf(&scripted{
			slice: func(items []cupel.ScoredItem, target int) (cupel.Selection, error) {
				if target < row.scarce {
					return cupel.Selection{}, &cupel.ScarcityError{Slicer: "scripted", Kind: "A", RequireCount: 1}
				}
				return cupel.Selection{Indices: chosen(items, target)}, nil
			},
			sweep: func(items []cupel.ScoredItem) cupel.SliceSweep {
				return &stepSweep{choose: func(from, target int) (int, []int) { return row.choose(items, from, target) }, next: row.next}
			},
		})
		if got := k.sweeps(); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

func TestMonotonicSlicers(t *testing.T) {
	busy := errors.New("busy")
	for _, row := range []struct {
		rising bool
		fails  func(target int) bool
		want   string
		why    string
	}{
		{true, func(int) bool { return false }, "the items of OnlyItems: NonMonotonic is false, and position 0 is selected with a target of 9 and left out with 10", "the next target"},
		{true, func(target int) bool { return target == 9 }, "the items of OnlyItems: NonMonotonic is false, and position 0 is selected with a target of 8 and left out with 10", "a target without a choice does not count"},
		{true, func(target int) bool { return target > 9 }, "", "there is no choice from 10"},
		{false, func(int) bool { return false }, "", "it does not say that it is monotonic"},
	} {
		k := kitOf(&scripted{rising: row.rising, slice: func(_ []cupel.ScoredItem, target int) (cupel.Selection, error) {
			switch {
			case row.fails(target):
				return cupel.Selection{}, busy
			case target > 9:
				return cupel.Selection{Indices: []int{1}}, nil
			}
			return cupel.Selection{Indices: []int{0}}, nil
		}})
		if got := k.monotonic(); got != row.want {
			t.Errorf("%q, want %q: %s", got, row.want, row.why)
		}
	}
}

func TestExplanationsAreAskedFor(t *testing.T) {
	nothing := func([]cupel.ScoredItem, int) (cupel.Selection, error) { return cupel.Selection{}, nil }
	in := input[cupel.ScoredItem]{list: scored(Items(1, 2, 3, 4, 5, 6, 7, 8), func(int) float64 { return 1 }), budget: budgetOf(5)}
	var asked []int
	for _, row := range []struct {
		obstacle cupel.Obstacle
		err      error
		want     string
		asked    string
	}{
		{cupel.Obstacle{Rule: "the size"}, nil, "", "[0 1 2 3 7]"},
		{cupel.Obstacle{}, nil, "nothing is said about position 0", "[0]"},
		{cupel.Obstacle{}, errors.New("busy"), "asked about position 0: ", "[0]"},
	} {
		asked = nil
		k := kitOf(&scripted{slice: nothing, explain: func(at int) (cupel.Obstacle, error) {
			asked = append(asked, at)
			return row.obstacle, row.err
		}})
		if got := k.unexplained(in, cupel.Selection{}); !strings.HasPrefix(got, row.want) || row.want == "" && got != "" || fmt.Sprint(slices.Compact(asked)) != row.asked { // each is asked about twice
			t.Errorf("%v, %v: %q, asked about %v, want %q and %s", row.obstacle, row.err, got, asked, row.want, row.asked)
		}
	}
	for err, want := range map[error]string{nil: "[2 3 4 5 7]", errors.New("busy"): "[]"} {
		k := kitOf(&scripted{slice: func([]cupel.ScoredItem, int) (cupel.Selection, error) {
			return cupel.Selection{Indices: []int{0, 1}}, err
		}, explain: func(at int) (cupel.Obstacle, error) {
			asked = append(asked, at)
			return cupel.Obstacle{Rule: "the size"}, nil
		}})
		asked = nil
		sel := cupel.Selection{Indices: []int{2}}
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
	small := []cupel.SmallerForm{{Index: 0, Form: 1}}
	for _, row := range []struct {
		first, second cupel.Selection
		err           error
		target        int
		want          string
		why           string
	}{
		{cupel.Selection{}, cupel.Selection{Indices: []int{0}}, nil, math.MaxInt, "position 0 is out, and then in form 0", "there was room"},
		{cupel.Selection{Smaller: small}, cupel.Selection{Indices: []int{0}}, nil, math.MaxInt, "position 0 is in form 1, and then in form 0", "there was room for all of it"},
		{cupel.Selection{}, cupel.Selection{Smaller: small}, nil, math.MaxInt, "position 0 is out, and then in form 1", "there was room for a part"},
		{cupel.Selection{Smaller: small}, cupel.Selection{Smaller: small}, nil, math.MaxInt, "", "nothing changes"},
		{cupel.Selection{Indices: []int{0}}, cupel.Selection{}, nil, math.MaxInt, "", "another rule finds this"},
		{cupel.Selection{}, cupel.Selection{Indices: []int{0}}, nil, math.MaxInt - 1, "", "there may have been no room"},
		{cupel.Selection{}, cupel.Selection{Indices: []int{0}}, errors.New("busy"), math.MaxInt, "", "another rule's"},
	} {
		k := kitOf(&scripted{slice: func([]cupel.ScoredItem, int) (cupel.Selection, error) { return row.second, row.err }})
		if got := k.returns(input[cupel.ScoredItem]{list: list, budget: budgetOf(row.target)}, row.first); got != row.want {
			t.Errorf("%v, then %v: %q, want %q: %s", row.first, row.second, got, row.want, row.why)
		}
	}
}

func TestNothingToSelect(t *testing.T) {
	for _, row := range []struct {
		sel  cupel.Selection
		err  error
		want string
	}{
		{cupel.Selection{}, nil, ""},
		{cupel.Selection{Indices: []int{0}}, nil, "none: positions [0] are selected"},
		{cupel.Selection{Indices: make([]int, 21)}, nil, "none: positions [0 0 0 0 …] (21 in all) are selected"},
		{cupel.Selection{Smaller: []cupel.SmallerForm{{Index: 0, Form: 1}}}, nil, "none: smaller forms [{0 1}] are selected"},
		{cupel.Selection{Shortfalls: make([]cupel.CountRequirementShortfall, 1)}, nil, "none: shortfalls "},
		{cupel.Selection{}, &cupel.ScarcityError{Slicer: "scripted"}, "none: the error "},
	} {
		k := kitOf(&scripted{slice: func([]cupel.ScoredItem, int) (cupel.Selection, error) { return row.sel, row.err }})
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
		s := &scripted{slice: func([]cupel.ScoredItem, int) (cupel.Selection, error) {
			return cupel.Selection{Indices: row.indices}, nil
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

func (f scorerOf) Score(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	return f(item, all)
}

type sliceOf func(items []cupel.ScoredItem, budget cupel.SliceBudget) cupel.Selection

func (f sliceOf) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
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

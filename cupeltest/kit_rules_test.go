package cupeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// ownSlice inherits its facts.
type ownSlice struct{ *narrowing }

func (ownSlice) Slice(context.Context, []cupel.ScoredItem, cupel.SliceBudget) (strategy.Selection, error) {
	return strategy.Selection{}, nil
}

// Options and facts have rules left out.
func TestRulesLeftOut(t *testing.T) {
	only := &kitOptions{only: true, items: Items(1)}
	causes := func(rules []rule) (all []string) {
		for _, r := range rules {
			all = append(all, r.cause)
		}
		return all
	}
	slicerRules := func(s strategy.Slicer, options *kitOptions) []rule {
		return newSlicerKit(func() strategy.Slicer { return s }, options).rules(s)
	}
	placerRules := func(options *kitOptions) []rule { return newPlacerKit(nil, options).rules() }
	collectors := func(c observe.TraceCollector, concurrent bool) []rule {
		return (&collectorKit{collector: c, concurrent: concurrent}).rules()
	}
	diagnostic := observe.NewDiagnosticTraceCollector()
	for _, row := range []struct {
		all, rules []rule
		want       []string
		why        string
	}{
		{slicerRules(&scripted{}, new(kitOptions)), slicerRules(&scripted{}, only), []string{"sums of tokens wrap", "equal items are selected in no order"}, "the items for them are others"},
		{slicerRules(&scripted{}, new(kitOptions)), slicerRules(&scripted{}, &kitOptions{mayExceed: true}), []string{"selects more than the target", "selects more than the target"}, "it may, with groups too"},
		{slicerRules(nil, new(kitOptions)), slicerRules(&scripted{}, new(kitOptions)), []string{"ForKind gives no slicer", "ForKind changes a slicer"}, "it has all optional facts but this one"},
		{slicerRules(nil, new(kitOptions)), slicerRules(sliceOf(nil), new(kitOptions)), []string{"ForKind gives no slicer", "ForKind changes a slicer", "explains badly"}, "it has no facts"},
		{slicerRules(sliceOf(nil), new(kitOptions)), slicerRules(slicer.Must(slicer.NewQuota(slicer.Greedy{}, slicer.Cap("A", 40))), new(kitOptions)), []string{"budget is left over"}, "it caps a kind"},
		{slicerRules(&narrowing{}, new(kitOptions)), slicerRules(ownSlice{&narrowing{}}, new(kitOptions)), []string{"ForKind gives no slicer", "ForKind changes a slicer", "budget is left over"}, "inherited facts are about another slicer"},
		{placerRules(new(kitOptions)), placerRules(only), []string{"equal items are placed in no order"}, "the items for it are others"},
		{collectors(diagnostic, true), collectors(diagnostic, false), []string{"runs at once change each other"}, "it was not asked for"},
	} {
		got := causes(row.all)
		for _, cause := range causes(row.rules) {
			if i := slices.Index(got, cause); i >= 0 {
				got = slices.Delete(got, i, i+1)
			}
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%q are left out, want %q: %s", got, row.want, row.why)
		}
	}
}

// How items that differ in content alone are selected and placed.
func TestUnstable(t *testing.T) {
	chosen := func(positions ...int) func([]cupel.ScoredItem, cupel.SliceBudget) strategy.Selection {
		return func(_ []cupel.ScoredItem, budget cupel.SliceBudget) strategy.Selection {
			if budget.TargetTokens < 1000 {
				return strategy.Selection{}
			}
			return strategy.Selection{Indices: positions}
		}
	}
	const place = "200 items with one score, with a target of 1000: of those of "
	for _, row := range []struct {
		positions []int
		want, why string
	}{
		{nil, "", "none is selected"},
		{[]int{0, 1, 2, 3}, "", "the first of each size"},
		{[]int{199, 196, 198}, "", "the last"},
		{[]int{-1, 200}, "", "another rule's"},
		{[]int{0, 3, 9}, place + "10 tokens, position 9 is selected and 6 is not, and the other way round before", "the first, and one after a gap"},
		{[]int{7}, place + "11 tokens, position 7 is selected and 10 is not, and the other way round before", "one between others"},
		{[]int{7, 5}, place + "11 tokens, position 7 is selected and 10 is not, and the other way round before", "the smaller size comes first"},
		{[]int{2, 197}, place + "12 tokens, position 197 is selected and 194 is not, and the other way round before", "the first and the last"},
	} {
		k := newSlicerKit(func() strategy.Slicer { return sliceOf(chosen(row.positions...)) }, new(kitOptions))
		if got := k.unstable(); got != row.want {
			t.Errorf("%v: %q, want %q: %s", row.positions, got, row.want, row.why)
		}
	}
	swap := func(pairs ...int) func(order []int) {
		return func(order []int) {
			for n := 0; n < len(pairs); n += 2 {
				order[pairs[n]], order[pairs[n+1]] = order[pairs[n+1]], order[pairs[n]]
			}
		}
	}
	for _, row := range []struct {
		place     func(order []int)
		want, why string
	}{
		{swap(), "", "as given"},
		{slices.Reverse[[]int], "", "in reverse"},
		{swap(0, 1, 2, 3), "", "items of other times"},
		{swap(0, 5), "", "one turn, as around a window"},
		{swap(190, 195), "", "the same at the end"},
		{swap(1, 6, 0, 5, 190, 195), "200 items, those of one score and time: positions [5 0 10 15 …] (40 in all) in this order", "a turn and another"},
		{func(order []int) { order[0] = -1 }, "", "another rule's"},
		{func(order []int) { order[0] = 200 }, "", "another rule's"},
	} {
		k := newPlacerKit(func() strategy.Placer { return placerFunc(row.place) }, new(kitOptions))
		if got := k.unstable(); got != row.want {
			t.Errorf("%q, want %q: %s", got, row.want, row.why)
		}
	}
}

// narrowing returns the same slicer for every kind.
type narrowing struct {
	scripted
	narrowed strategy.Slicer
}

func (n *narrowing) Facts() strategy.Facts {
	return strategy.Facts{Of: n, ForKind: func(cupel.ContextKind) strategy.Slicer { return n.narrowed }}
}

func TestNarrowedSlicers(t *testing.T) {
	returns := func(err error, indices ...int) strategy.Slicer {
		return &scripted{slice: func([]cupel.ScoredItem, int) (strategy.Selection, error) {
			return strategy.Selection{Indices: indices}, err
		}}
	}
	scarce := &cupel.ScarcityError{Slicer: "scripted", Kind: "A", RequireCount: 1}
	for _, row := range []struct {
		narrowed strategy.Slicer
		want     string
		why      string
	}{
		{returns(nil), "", "it selects nothing"},
		{returns(scarce), "", "the contract allows the error"},
		{returns(scarce, -1), "", "there is no selection with an error"},
		{returns(errors.New("busy")), `kind "Message": the error "busy"`, "the contract does not allow it"},
		{returns(nil, -1), `kind "Message": position -1 of 3 items`, "it is not in the list"},
		{nil, `kind "Message": nil`, "it is none"},
	} {
		s := &narrowing{narrowed: row.narrowed}
		k := newSlicerKit(func() strategy.Slicer { return s }, &kitOptions{only: true, items: Items(3, 5, 9)})
		if got := k.narrows(); !strings.HasPrefix(got, row.want) || row.want == "" && got != "" {
			t.Errorf("%q, want %q: %s", got, row.want, row.why)
		}
	}
}

// Items that no strategy receives are left out, and nil is kept to be reported.
func TestItemsOfTheCaller(t *testing.T) {
	var options kitOptions
	options.add(append([]*cupel.ContextItem{nil}, Items(-1, 0, 1)...))
	if got := options.items; len(got) != 3 || got[0] != nil || got[1].Tokens() != 0 || got[2].Tokens() != 1 {
		t.Errorf("%v, want nil and the items of 0 and 1 tokens", got)
	}
}

// The caller's items are a list with groups if one of them is in a group and one
// of them is free to be sliced.
func TestUnitInputs(t *testing.T) {
	group, pinned := cupel.WithGroup("g"), cupel.WithPinned()
	for _, row := range []struct {
		items []*cupel.ContextItem
		want  string
		why   string
	}{
		{Items(1, 2), "[]", "there is no group"},
		{[]*cupel.ContextItem{Item("a", 1, group)}, "[1]", "one item is a group"},
		{[]*cupel.ContextItem{Item("a", 1), Item("b", 1, group), Item("c", 1, group)}, "[2]", "a group is one position"},
		{[]*cupel.ContextItem{Item("a", 1, group, pinned), Item("b", 1, group, pinned)}, "[]", "all of them are pinned"},
	} {
		lengths := make([]int, 0)
		for _, in := range unitInputs(nextGeneration(), &kitOptions{only: true, items: row.items}, false) {
			lengths = append(lengths, len(in.list))
		}
		if got := fmt.Sprint(lengths); got != row.want {
			t.Errorf("%v: lists of %s, want %s: %s", row.items, got, row.want, row.why)
		}
	}
}

// A strategy whose results change after some calls is found by what it was asked
// for then.
func TestStoresNothing(t *testing.T) {
	const other, equal, many = ", run first and after other lists: other", ", run in two orders of the lists, with equal items: other", ", run first and after many other lists: other"
	for calls, want := range map[int]string{1: "y" + other, 3: "x" + other, 4: "y" + equal, 5: "x" + equal, 6: "x" + many, 46: "x" + many, 47: "y" + many, 48: "x" + many, 49: "y" + many, 50: ""} {
		s := subject[int, int]{
			options: new(kitOptions),
			clone:   func(n int) int { return n },
			lists:   func(generation) []input[int] { return []input[int]{{name: "x"}, {name: "y"}} },
			differ: func(a, b int) string {
				if a == b {
					return ""
				}
				return "other"
			},
			start: func() method[int, int] {
				n := 0
				return func(context.Context, input[int]) (int, error) { n++; return n / (calls + 1), nil }
			},
		}
		if got := s.storesNothing(); got != want {
			t.Errorf("other results after %d calls: %q, want %q", calls, got, want)
		}
	}
}

// A context may be done before a call or at any question about it.
func TestStops(t *testing.T) {
	own := errors.New("stopped")
	for _, row := range []struct {
		stops func(nth int, err error) (int, error) // at the nth question
		want  string
		why   string
	}{
		{func(_ int, err error) (int, error) { return 0, err }, "", "the error is that of the context"},
		{func(_ int, err error) (int, error) { return 0, fmt.Errorf("x: %w", err) }, "", "it may say more"},
		{func(int, error) (int, error) { return 0, own }, `x, under a context that is done: the error "stopped"`, "it is another error"},
		{func(nth int, err error) (int, error) {
			if nth == 3 {
				return 0, own
			}
			return 0, err
		}, `x, under a context that is done when it is asked 3 times: the error "stopped"`, "later it is another"},
		{func(nth int, err error) (int, error) {
			if nth == 2 {
				return 7, nil
			}
			return 0, err
		}, "x, without an error and under a context that is done when it is asked 2 times: 10, then 7", "it is a part of the result"},
	} {
		s := subject[int, int]{
			options: new(kitOptions),
			clone:   func(n int) int { return n },
			lists:   func(generation) []input[int] { return []input[int]{{name: "x"}} },
			may:     func(error) bool { return false },
			differ:  func(a, b int) string { return strings.Repeat(fmt.Sprintf("%d, then %d", a, b), min(1, max(a-b, b-a))) },
			start: func() method[int, int] {
				return func(ctx context.Context, _ input[int]) (int, error) {
					for nth := range 10 {
						if err := ctx.Err(); err != nil {
							return row.stops(nth+1, err)
						}
					}
					return 10, nil
				}
			},
		}
		if got := s.stops(); got != row.want {
			t.Errorf("%q, want %q: %s", got, row.want, row.why)
		}
	}
}

// Rules that make a call for each of many targets use no long list of the caller.
func TestPlainLists(t *testing.T) {
	for n, want := range map[int]bool{100: true, 101: false} {
		k := newSlicerKit(nil, &kitOptions{items: repeat(Items(1), n)})
		got := slices.ContainsFunc(k.plainLists(), func(in input[cupel.ScoredItem]) bool { return len(in.list) == n })
		if got != want {
			t.Errorf("a list of %d items is used: %t", n, got)
		}
	}
}

// Each list is followed by each in the same memory, both as long as the shorter.
func TestMemoryOfListsIsUsedAgain(t *testing.T) {
	var given []string
	at := make(map[*int]string)
	s := subject[int, int]{
		options: new(kitOptions),
		clone:   func(n int) int { return n },
		lists: func(generation) []input[int] {
			return []input[int]{{name: "x", list: []int{1, 2, 3}}, {name: "y", list: []int{4, 5}}}
		},
		differ: func(a, b int) string { return "" },
		start: func() method[int, int] {
			return func(_ context.Context, in input[int]) (int, error) {
				text := in.name + fmt.Sprint(in.list)
				if before := at[&in.list[0]]; before != "" {
					text += " after " + before
				}
				at[&in.list[0]] = text
				given = append(given, text)
				return 0, nil
			}
		},
	}
	const want = "x[1 2 3], x[1 2 3], x[1 2 3] after x[1 2 3], y[4 5], x[1 2], y[4 5] after x[1 2], x[1 2], y[4 5], x[1 2] after y[4 5], y[4 5], y[4 5], y[4 5] after y[4 5]"
	if found, got := s.keepsNoList(), strings.Join(given, ", "); found != "" || got != want {
		t.Errorf("%q, given %s, want %s", found, got, want)
	}
}

// Which outcomes are broken: an error may be allowed, except for an empty list,
// and a result is checked.
func TestJudge(t *testing.T) {
	busy := errors.New("busy")
	s := subject[int, string]{options: new(kitOptions), may: func(err error) bool { return err == nil || errors.Is(err, busy) }}
	for _, row := range []struct {
		items int
		out   outcome[string]
		want  string
		why   string
	}{
		{1, outcome[string]{result: "bad"}, "x: bad", "a result is checked, even where no error is allowed"},
		{1, outcome[string]{}, "", "the check finds nothing"},
		{1, outcome[string]{broke: "the error", err: busy}, "", "the error is allowed"},
		{0, outcome[string]{broke: "the error", err: busy}, "x: the error", "not for an empty list"},
		{1, outcome[string]{broke: "the error", err: errors.New("other")}, "x: the error", "another error is not"},
		{1, outcome[string]{broke: "a panic"}, "x: a panic", "nor is a panic"},
	} {
		got := s.judge(observed[int, string]{input[int]{name: "x", list: make([]int, row.items)}, row.out}, func(_ input[int], result string) string { return result })
		if got != row.want {
			t.Errorf("%d items, %+v: %q, want %q: %s", row.items, row.out, got, row.want, row.why)
		}
	}
}

// Long lists have fewer budgets.
func TestBudgets(t *testing.T) {
	for n, want := range map[int]string{
		-101: "[{1 1} {9223372036854775807 9223372036854775807}]", -1001: "[{1 1} {9223372036854775807 9223372036854775807}]", // of no tokens
		100: "[{1 1} {33 33} {99 99} {100 100} {9223372036854775807 9223372036854775807} {100 50}]", 101: "[{33 33} {9223372036854775807 9223372036854775807}]",
		1000: "[{333 333} {9223372036854775807 9223372036854775807}]", 1001: "[{50 50} {9223372036854775807 9223372036854775807}]",
		0: "[{1 1} {0 0} {1 1} {1 1} {9223372036854775807 9223372036854775807} {1 1}]",
	} {
		var budgets []cupel.SliceBudget
		items := repeat(Items(1), max(n, 0))
		if n < 0 {
			items = repeat(Items(0), -n)
		}
		for _, in := range withBudgets(input[cupel.ScoredItem]{list: scored(items, func(int) float64 { return 1 })}) {
			budgets = append(budgets, in.budget)
		}
		if got := fmt.Sprint(budgets); got != want {
			t.Errorf("%d items of 1 token: %s, want %s", n, got, want)
		}
	}
}

// scriptedScorer scores without items.
type scriptedScorer func(scores []float64) error

func (f scriptedScorer) Score(_ context.Context, _ []*cupel.ContextItem, scores []float64) error {
	return f(scores)
}

// A score is written if it is not what was there before, both times.
func TestWritesAll(t *testing.T) {
	busy := errors.New("busy")
	for _, row := range []struct {
		score func(call int, scores []float64) error
		want  string
		why   string
	}{
		{func(_ int, scores []float64) error { scores[0] = 1; return nil }, "x: the score of item 2 is what was there before", "the second is not written"},
		{func(_ int, scores []float64) error { scores[0], scores[1] = 1, -1234.5; return nil }, "", "it happens to be what was there"},
		{func(_ int, scores []float64) error { scores[0], scores[1] = 1, 5432.1; return nil }, "", "the other time"},
		{func(int, []float64) error { return busy }, "", "it fails"},
		{func(call int, _ []float64) error { return []error{nil, busy}[call%2] }, "", "the second call fails"},
		{func(call int, _ []float64) error { return []error{busy, nil}[call%2] }, "", "the first call fails"},
	} {
		calls := 0
		got := writesAll(scriptedScorer(func(scores []float64) error {
			calls++
			return row.score(calls-1, scores)
		}), []input[*cupel.ContextItem]{{name: "x", list: Items(1, 2)}})
		if got != row.want {
			t.Errorf("%q, want %q: %s", got, row.want, row.why)
		}
	}
}

package cupeltest_test

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

func TestBrokenSlicers(t *testing.T) {
	skipUnderRace(t)
	var buffer perGoroutine[[]int]
	var forms perGoroutine[[]strategy.SmallerForm]
	turns, stopped := [3]func([]*cupel.ContextItem) float64{counter(), counter(), counter()}, errors.New("stopped")
	type selection = *strategy.Selection
	of := func(s strategy.Slicer) func(t cupeltest.T) {
		return func(t cupeltest.T) { cupeltest.TestSlicer(t, the(s)) }
	}
	checkFaults(t, "slicer", []fault{
		{"nil", "it is accepted by pipeline.New: ",
			func(t cupeltest.T) { cupeltest.TestSlicer(t, the[strategy.Slicer](nil)) }, "Slicer"},
		{"not ready", "it is accepted by pipeline.New: ",
			func(t cupeltest.T) { cupeltest.TestSlicer(t, the[strategy.Slicer](invalid{})) }, "not ready"},
		{"facts of nothing", "it is accepted by pipeline.New: ",
			func(t cupeltest.T) { cupeltest.TestSlicer(t, the[strategy.Slicer](nameless{})) }, "Of is nil"},
		{"fails", "Slice takes every valid list, one of a single item too, without a panic or an error.",
			brokenSlicer(func(items []cupel.ScoredItem, _ cupel.SliceBudget, _ selection) error {
				if len(items) == 1 {
					return errors.New("too few")
				}
				return nil
			}), `a list of one item, with a target of 1 and a ceiling of 1 tokens: the error "too few"`},
		{"drops by turns", "Slice is a pure function: the same input gives the same result each time.",
			brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
				if len(items) > 0 && items[0].Item.Tokens() > budget.TargetTokens {
					code := []cupel.ExclusionCode{cupel.ExcludeFiltered, cupel.ExcludeScoredTooLow}[int(turns[0](nil))%2]
					sel.Drops = append(sel.Drops, strategy.Drop{Index: 0, Reason: because(code)})
				}
				return nil
			}), "run again: drops [{0 "},
		{"is short by turns", "Slice is a pure function: the same input gives the same result each time.",
			brokenSlicer(func(_ []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
				sel.Shortfalls = []cupel.CountRequirementShortfall{{Kind: "A", RequiredCount: int(turns[1](nil))}}
				return nil
			}), "run again: shortfalls [CountRequirementShortfall: A has 0 of "},
		{"remembers by address", "Slice does not keep the list, whose memory is used again after the call.", without(lightByAddress), "in memory of its own"},
		{"does not look at its context", "Slice stops soon after its context is done, if it takes long.",
			brokenSlicer(func(items []cupel.ScoredItem, _ cupel.SliceBudget, _ selection) error { return sleepy(len(items)) }), "under a context that is done"},
		{"has nothing for a kind", "ForKind returns a slicer that can be used, for every kind.",
			func(t cupeltest.T) { cupeltest.TestSlicer(t, the[strategy.Slicer](narrowing{})) }, `kind "Sketch": nil`},
		{"stays the same for ever", "a selection is the same for every target up to its StaysUntil.",
			func(t cupeltest.T) { cupeltest.TestSlicer(t, the[strategy.Slicer](staysOf{1})) }, "StaysUntil is 9223372036854775807 for a target of "},
		{"stays out for ever", "an explanation of what is not selected says something, names items that are selected or dropped, and is right about the targets up to its OutUntil.",
			func(t cupeltest.T) {
				cupeltest.TestSlicer(t, the[strategy.Slicer](explaining{"because", false, math.MaxInt}))
			}, "OutUntil is 9223372036854775807 for position "},
		{"is not safe", "Slice is safe for concurrent use.", without(awayNow), "run alone and in several goroutines"},
		{"uses its result again", "Slice gives its result away: later calls do not change it.",
			brokenSlicer(func(_ []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
				buffer.use(func(b *[]int) {
					*b = append((*b)[:0], sel.Indices...)
					sel.Indices = *b
				})
				return nil
			}), "its result before and after other calls: positions ["},
		{"dresses the context's error", "Slice that stops because its context is done fails with the context's error, and returns no part of a result.",
			func(t cupeltest.T) { cupeltest.TestSlicer(t, the[strategy.Slicer](stopping{stopped})) }, `under a context that is done: the error "stopped"`},
		{"remembers items", "Slice stores nothing about a call: what was called before does not change a result.", without(the(rememberedByItem())), "run in two orders of the lists, with equal items: positions ["},
		{"drops what is not there", "a selection is a subset: every position, selected or dropped, is one of the list.",
			brokenSlicer(func(_ []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
				sel.Drops = append(sel.Drops, strategy.Drop{Index: -1, Reason: because(cupel.ExcludeFiltered)})
				return nil
			}), "position -1 of 9 items"},
		{"drops twice", "a selection is a subset: no position is selected twice, or dropped twice.",
			brokenSlicer(func(_ []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
				sel.Drops = slices.Repeat([]strategy.Drop{{Index: 0, Reason: because(cupel.ExcludeFiltered)}}, 2)
				return nil
			}), "position 0 twice in [0 0]"},
		{"selects and drops", "no position is both selected and dropped.",
			brokenSlicer(func(_ []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
				for _, i := range sel.Indices {
					sel.Drops = append(sel.Drops, strategy.Drop{Index: i, Reason: because(cupel.ExcludeFiltered)})
				}
				return nil
			}), "position 7"},
		{"drops without a reason", "an item that is dropped has a reason.",
			brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
				if len(items) > 0 && items[0].Item.Tokens() > budget.TargetTokens {
					sel.Drops = append(sel.Drops, strategy.Drop{Index: 0})
				}
				return nil
			}), "position 0 is dropped with an empty code"},
		{"works by pointer", "an item that is given twice is two candidates, told apart by their positions.",
			brokenSlicer(func(items []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
				for n, i := range sel.Indices {
					sel.Indices[n] = slices.IndexFunc(items, func(it cupel.ScoredItem) bool { return it.Item == items[i].Item })
				}
				return nil
			}), "a list that holds two items twice, with a target of "},
		{"refuses NaN", "any float64 is a score: infinities, NaN and -0 too.",
			brokenSlicer(func(items []cupel.ScoredItem, _ cupel.SliceBudget, _ selection) error {
				for _, it := range items {
					if math.IsNaN(it.Score) {
						return errors.New("not a number")
					}
				}
				return nil
			}), `the error "not a number"`},
		{"sums wrap", "sums of tokens do not wrap.",
			brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
				sel.Indices = nil
				used := 0
				for i, it := range items {
					if budget.TargetTokens > 0 && used+it.Item.Tokens() <= budget.TargetTokens {
						used += it.Item.Tokens()
						sel.Indices = append(sel.Indices, i)
					}
				}
				return nil
			}), "huge items, with a target of "},
		{"selects members", "a group is one position: it is selected, or dropped, as a whole.",
			brokenSlicer(func(items []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
				last := len(items) - 1
				for _, it := range items {
					last += max(0, len(it.Item.Members())-1)
				}
				if last >= len(items) && len(sel.Indices) == len(items) { // one by one
					sel.Indices = append(sel.Indices, last)
				}
				return nil
			}), "position 12 of 8 items"},
		{"counts the first member", "a group has the tokens of all its members and a smaller form its own: together they are within the target.",
			func(t cupeltest.T) {
				cupeltest.TestSlicer(t, the[strategy.Slicer](sliceFunc(func(items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
					single := slices.Clone(items)
					for i, it := range single {
						if members := it.Item.Members(); len(members) > 0 {
							single[i].Item = members[0]
						}
					}
					return firstFit(single, budget), nil
				})))
			}, "exceed the target of 128 tokens"},
		{"counts no forms", "a group has the tokens of all its members and a smaller form its own: together they are within the target.",
			smaller(func(form strategy.SmallerForm) []strategy.SmallerForm { return []strategy.SmallerForm{form} }, false), " and the smaller forms [{"},
		{"form by turns", "Slice is a pure function: the same input gives the same result each time.",
			func(t cupeltest.T) {
				smaller(func(form strategy.SmallerForm) []strategy.SmallerForm {
					form.Form += int(turns[2](nil)) % 2
					return []strategy.SmallerForm{form}
				}, true)(t)
			}, "run again: smaller forms [{"},
		{"uses its forms again", "Slice gives its result away: later calls do not change it.",
			brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
				if fits := outlines(items, budget, *sel); len(fits) > 0 {
					forms.use(func(b *[]strategy.SmallerForm) {
						*b = append((*b)[:0], fits...)
						sel.Smaller = *b
					})
				}
				return nil
			}), "its result before and after other calls: smaller forms [{"},
		{"two forms", "no position is selected in two forms.",
			smaller(func(form strategy.SmallerForm) []strategy.SmallerForm { return []strategy.SmallerForm{form, form} }, true), "in form 1 and another"},
		{"full and smaller", "no position is selected in two forms.",
			brokenSlicer(func(items []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
				for _, i := range sel.Indices {
					if len(items[i].Item.Forms()) > 0 {
						sel.Smaller = append(sel.Smaller, strategy.SmallerForm{Index: i, Form: 1})
					}
				}
				return nil
			}), "in form 1 and another"},
		{"smaller and dropped", "no position that is selected in a smaller form is dropped as well.",
			brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
				sel.Smaller = outlines(items, budget, *sel)
				for _, form := range sel.Smaller {
					sel.Drops = append(sel.Drops, strategy.Drop{Index: form.Index, Reason: because(cupel.ExcludeFiltered)})
				}
				return nil
			}), "in form 1"},
		{"form 0", "a smaller form is one of the forms that the item has, counted from 1.",
			smaller(func(form strategy.SmallerForm) []strategy.SmallerForm {
				form.Form--
				return []strategy.SmallerForm{form}
			}, true), "in form 0, and it has "},
		{"outlines of what has none", "a smaller form is one of the forms that the item has, counted from 1.",
			brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
				if n := len(items); budget.TargetTokens > 0 && !slices.Contains(sel.Indices, n-1) && n > 0 && len(items[n-1].Item.Forms()) == 0 {
					sel.Smaller = []strategy.SmallerForm{{Index: n - 1, Form: 1}}
				}
				return nil
			}), "in form 1, and it has 0 smaller forms"},
		{"caps silently", "a slicer that wants the left-over pass drops what it leaves out for another reason than the budget: the pass returns the rest.",
			func(t cupeltest.T) { cupeltest.TestSlicer(t, the[strategy.Slicer](capped{})) }, "is out, and then in form 0"},
		{"outlines of nothing", "a target of 0 gives an empty selection, zero-token items included, without a shortfall or an error.",
			brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
				if budget.TargetTokens > 0 {
					return nil
				}
				for i, it := range items {
					if n := len(it.Item.Forms()); n > 0 && it.Item.Forms()[n-1].Tokens == 0 {
						sel.Smaller = append(sel.Smaller, strategy.SmallerForm{Index: i, Form: n})
					}
				}
				return nil
			}), "smaller forms [{"},
		{"selects from nothing", "an empty list gives an empty selection, without a shortfall or an error.",
			brokenSlicer(func(items []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
				if len(items) == 0 {
					sel.Indices = []int{0}
				}
				return nil
			}), "an empty list: positions [0] are selected"},
		{"misses items in an empty list", "an empty list gives an empty selection, without a shortfall or an error.",
			brokenSlicer(func(items []cupel.ScoredItem, _ cupel.SliceBudget, _ selection) error {
				if len(items) == 0 {
					return &cupel.ScarcityError{Slicer: "HalfSlice", Kind: cupel.KindMemory, RequireCount: 1}
				}
				return nil
			}), "an empty list: the error "},
		{"misses items at a target of 0", "a target of 0 gives an empty selection, zero-token items included, without a shortfall or an error.",
			brokenSlicer(func(_ []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
				if budget.TargetTokens == 0 {
					sel.Shortfalls = []cupel.CountRequirementShortfall{{Kind: "A", RequiredCount: 2}}
				}
				return nil
			}), "shortfalls [CountRequirementShortfall: A has 0 of 2 required items]"},
		{"free items always", "a target of 0 gives an empty selection, zero-token items included, without a shortfall or an error.",
			brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
				for i, it := range items {
					if budget.TargetTokens == 0 && it.Item.Tokens() == 0 {
						sel.Indices = append(sel.Indices, i)
					}
				}
				return nil
			}), "positions [7] are selected"},
		{"explains by what is out", "an explanation of what is not selected says something, names items that are selected or dropped, and is right about the targets up to its OutUntil.",
			func(t cupeltest.T) { cupeltest.TestSlicer(t, the[strategy.Slicer](explaining{"because", true, 0})) }, "as an obstacle that it did not choose"},
		{"explains nothing", "an explanation of what is not selected says something, names items that are selected or dropped, and is right about the targets up to its OutUntil.",
			func(t cupeltest.T) { cupeltest.TestSlicer(t, the[strategy.Slicer](explaining{"", false, 0})) }, "nothing is said about position "},
		{"one too many", "the selected items have at most as many tokens as the target (say WithTargetExceeded where they may have more).",
			brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
				if next := len(sel.Indices); budget.TargetTokens > 0 && next < len(items) && !slices.Contains(sel.Indices, next) {
					sel.Indices = append(sel.Indices, next)
				}
				return nil
			}), "exceed the target of 1 tokens"},
		{"fills the ceiling", "the selected items have at most as many tokens as the target (say WithTargetExceeded where they may have more).",
			func(t cupeltest.T) {
				cupeltest.TestSlicer(t, the[strategy.Slicer](sliceFunc(func(items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
					if budget.TargetTokens > 0 {
						budget.TargetTokens = budget.MaxTokens
					}
					return firstFit(items, budget), nil
				})))
			}, "exceed the target of 418 tokens"},
		{"twice beyond 64", "a selection is a subset: no position", slicerOf(firstFitOf(func(items []cupel.ScoredItem, sel *strategy.Selection) {
			if len(items) > 64 && len(sel.Indices) > 0 {
				sel.Indices = append(sel.Indices, sel.Indices[0])
			}
		})), "position "},
		{"positions in a byte", "a selection is a subset: no position", slicerOf(firstFitOf(func(_ []cupel.ScoredItem, sel *strategy.Selection) {
			for n, i := range sel.Indices {
				sel.Indices[n] = int(uint8(i))
			}
		})), "position "},
		{"buffer of 64", "Slice takes every valid list", slicerOf(firstFitOf(func(items []cupel.ScoredItem, _ *strategy.Selection) {
			var sizes [64]int
			for i, it := range items {
				sizes[i] = it.Item.Tokens()
			}
			slices.Sort(sizes[:])
		})), "runtime error: index out of range [64] with length 64"},
		{"buffer of 300", "Slice takes every valid list", slicerOf(firstFitOf(func(items []cupel.ScoredItem, _ *strategy.Selection) {
			if len(items) > 300 {
				panic("full")
			}
		})), "full"},
		{"rounds up to four", "a selection is a subset: every position", slicerOf(firstFitOf(func(items []cupel.ScoredItem, sel *strategy.Selection) {
			if n := len(items); n > 0 && n%4 != 0 && len(sel.Indices) == n {
				sel.Indices = append(sel.Indices, n)
			}
		})), "position "},
		{"memo by length and target", "Slice stores nothing", slicerOf(memoSlice(func(items []cupel.ScoredItem, budget cupel.SliceBudget) [2]int {
			return [2]int{len(items), budget.TargetTokens}
		})), ""},
		{"memo by first content", "Slice stores nothing", slicerOf(memoSlice(func(items []cupel.ScoredItem, budget cupel.SliceBudget) string {
			if len(items) == 0 || budget.TargetTokens == 0 {
				return ""
			}
			return items[0].Item.Content()
		})), ""},
		{"a budget for all calls", "Slice stores nothing", slicerOf(func() slicing {
			var lock locked
			left := 2000
			return func(items []cupel.ScoredItem, budget cupel.SliceBudget) (sel strategy.Selection) {
				lock.do(func() {
					budget.TargetTokens = min(budget.TargetTokens, left)
					sel = firstFit(items, budget)
					left -= min(left, 10*len(sel.Indices))
				})
				return sel
			}
		}), ""},
		{"chance", "Slice is a pure function", slicerOf(firstFitOf(func(_ []cupel.ScoredItem, sel *strategy.Selection) {
			if n := len(sel.Indices); n > 0 {
				sel.Indices = sel.Indices[:rand.IntN(n)]
			}
		})), ""},
		{"order of a map", "Slice is a pure function", slicerOf(firstFitOf(func(_ []cupel.ScoredItem, sel *strategy.Selection) {
			set := make(map[int]bool)
			for _, i := range sel.Indices {
				set[i] = true
			}
			for i := range set {
				sel.Indices = []int{i}
				return
			}
		})), ""},
		{"sorts by size", "Slice does not change the list", slicerOf(the[slicing](func(items []cupel.ScoredItem, budget cupel.SliceBudget) strategy.Selection {
			slices.SortFunc(items, func(a, b cupel.ScoredItem) int { return cmp.Compare(a.Item.Tokens(), b.Item.Tokens()) })
			return firstFit(items, budget)
		})), "position "},
		{"marks what it took", "Slice does not change the list", slicerOf(the[slicing](func(items []cupel.ScoredItem, budget cupel.SliceBudget) strategy.Selection {
			sel := firstFit(items, budget)
			for _, i := range sel.Indices {
				items[i].Score = -1
			}
			return sel
		})), "position "},
		{"a sentinel behind the list", "Slice does not change the list", slicerOf(the[slicing](func(items []cupel.ScoredItem, budget cupel.SliceBudget) strategy.Selection {
			return firstFit(append(items, cupel.ScoredItem{Item: cupeltest.Item("end", math.MaxInt)})[:len(items)], budget)
		})), "the memory behind the end of the list"},
		{"sums of 32 bits", "sums of tokens do not wrap", slicerOf(the[slicing](func(items []cupel.ScoredItem, budget cupel.SliceBudget) (sel strategy.Selection) {
			var used int32
			for i, it := range items {
				if tokens := int32(it.Item.Tokens()); budget.TargetTokens > 0 && int(used+tokens) <= budget.TargetTokens {
					used += tokens
					sel.Indices = append(sel.Indices, i)
				}
			}
			return sel
		})), ""},
		{"positions by content", "a selection is a subset: no position", slicerOf(firstFitOf(func(items []cupel.ScoredItem, sel *strategy.Selection) {
			for n, i := range sel.Indices {
				sel.Indices[n] = slices.IndexFunc(items, func(it cupel.ScoredItem) bool { return it.Item.Content() == items[i].Item.Content() })
			}
		})), "position "},
		{"a part after a late end", "Slice that stops because", of(late{}), ""},
		{"a part after an end that it waits for", "Slice that stops because", of(lateDone{}), "under a context that is done when it is asked "},
		{"a goroutine that waits for good", "Slice starts no goroutine", slicerOf(firstFitOf(func(items []cupel.ScoredItem, _ *strategy.Selection) {
			if len(items) != 40 { // else the test itself runs with too many
				return
			}
			results := make(chan int)
			for range 2 {
				go func() { results <- 1 }()
			}
			<-results
		})), ""},
		{"a pool that takes the result back", "Slice gives its result away", of(pooled{&sync.Pool{New: func() any { return new([]int) }}}), ""},
		{"watches its context for good", "Slice starts no goroutine", of(watching{}), ""},
		{"below the target and one", "sums of tokens do not wrap", slicerOf(the[slicing](func(items []cupel.ScoredItem, budget cupel.SliceBudget) (sel strategy.Selection) {
			used := 0
			for i, it := range items {
				if budget.TargetTokens > 0 && used+it.Item.Tokens() < budget.TargetTokens+1 {
					used += it.Item.Tokens()
					sel.Indices = append(sel.Indices, i)
				}
			}
			return sel
		})), ""},
		{"a narrowed slicer of no use", "ForKind returns a slicer", of(narrowOf{}), ``},
	})
}

// TestPositionsOutOfRange has positions on both sides of the list:
// the rule about them reports them, and no other rule stumbles over them.
func TestPositionsOutOfRange(t *testing.T) {
	for name, position := range map[string]func(n int) int{
		"below":      func(int) int { return -1 },
		"just above": func(n int) int { return n },
		"far above":  func(int) int { return math.MaxInt },
	} {
		t.Run(name, func(t *testing.T) {
			s := watch(brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel *strategy.Selection) error {
				if len(items) > 0 && budget.TargetTokens > 0 {
					sel.Indices = append(sel.Indices, position(len(items)))
					sel.Smaller = append(sel.Smaller, strategy.SmallerForm{Index: position(len(items)), Form: 1})
				}
				return nil
			}))
			found := false
			for _, message := range s.messages {
				found = found || strings.Contains(message, "every position, selected or dropped, is one of the list.")
				if strings.Contains(message, "panic") || strings.Contains(message, "exceed the target") {
					t.Errorf("the kit reports %q", message)
				}
			}
			if !found {
				t.Errorf("the kit reports only %q", s.messages)
			}
		})
	}
}

func TestSoundSlicersPass(t *testing.T) {
	// The sum of what fits is exact, and so is the choice of outlines.
	cupeltest.TestSlicer(t, the[strategy.Slicer](slicerWith(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel *strategy.Selection) error {
		sel.Smaller = outlines(items, budget, *sel)
		return nil
	})))
	cupeltest.TestSlicer(t, the[strategy.Slicer](sliceFunc(func(items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
		return firstFit(items, budget), nil
	})))
	greedier := slicerWith(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel *strategy.Selection) error {
		if next := len(sel.Indices); budget.TargetTokens > 0 && next < len(items) && !slices.Contains(sel.Indices, next) {
			sel.Indices = append(sel.Indices, next)
		}
		return nil
	})
	cupeltest.TestSlicer(t, the[strategy.Slicer](greedier), cupeltest.WithTargetExceeded(), nil)

	// An error that the contract allows, and a different order of the selected
	// items, which has no effect.
	turn := counter()
	cupeltest.TestSlicer(t, the[strategy.Slicer](slicerWith(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel *strategy.Selection) error {
		if budget.TargetTokens == 1 {
			return &cupel.ScarcityError{Slicer: "HalfSlice", Kind: cupel.KindMemory, RequireCount: 1}
		}
		if math.Mod(turn(nil), 2) == 0 {
			slices.Reverse(sel.Indices)
		}
		return nil
	})))
}

// nameless has facts that do not name it.
type nameless struct{ slicer.Greedy }

func (nameless) Facts() strategy.Facts { return strategy.Facts{LeftOver: true} }

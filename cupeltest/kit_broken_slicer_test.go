package cupeltest_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupeltest"
)

// firstFit is a sound slicer for tokens whose sum does not wrap, and any other.
func firstFit(items []cupel.ScoredItem, budget cupel.SliceBudget) (sel cupel.Selection) {
	left := budget.TargetTokens
	for i, it := range items {
		if left > 0 && it.Item.Tokens() <= left {
			sel.Indices = append(sel.Indices, i)
			left -= it.Item.Tokens()
		}
	}
	return sel
}

// slicerWith changes what firstFit selects.
func slicerWith(change func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel *cupel.Selection) error) sliceFunc {
	return func(items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
		sel := firstFit(items, budget)
		err := change(items, budget, &sel)
		return sel, err
	}
}

func brokenSlicer(change func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel *cupel.Selection) error) func(t cupeltest.T) {
	return func(t cupeltest.T) { cupeltest.TestSlicer(t, the[cupel.Slicer](slicerWith(change))) }
}

// without leaves out the first of what is selected when leave says so.
func without(newLeave func() func(items []cupel.ScoredItem) bool) func(t cupeltest.T) {
	newSlicer := func() cupel.Slicer {
		leave := newLeave()
		return slicerWith(func(items []cupel.ScoredItem, _ cupel.SliceBudget, sel *cupel.Selection) error {
			if leave(items) && len(sel.Indices) > 0 {
				sel.Indices = sel.Indices[1:]
			}
			return nil
		})
	}
	return func(t cupeltest.T) { cupeltest.TestSlicer(t, newSlicer) }
}

// every says yes to every second call.
func every() func([]cupel.ScoredItem) bool {
	count := counter()
	return func([]cupel.ScoredItem) bool { return math.Mod(count(nil), 2) == 0 }
}

// oftenSeen says yes as soon as it has seen a list of 40 items.
func oftenSeen() func(items []cupel.ScoredItem) bool {
	var (
		lock locked
		seen bool
	)
	return func(items []cupel.ScoredItem) (yes bool) {
		lock.do(func() { seen = seen || len(items) == 40; yes = seen })
		return yes
	}
}

// lightByAddress remembers by where a list is whether its first item is light.
func lightByAddress() func(items []cupel.ScoredItem) bool {
	var (
		lock  locked
		where *cupel.ScoredItem
		light bool
	)
	return func(items []cupel.ScoredItem) (yes bool) {
		if len(items) == 0 {
			return false
		}
		lock.do(func() {
			if where != &items[0] {
				where, light = &items[0], items[0].Item.Tokens() < 20
			}
			yes = light
		})
		return yes
	}
}

// rememberedByItem says yes to lists whose first item was first in the list in
// which it came first.
func rememberedByItem() func(items []cupel.ScoredItem) bool {
	var lock locked
	first := make(map[*cupel.ContextItem]bool)
	return func(items []cupel.ScoredItem) (yes bool) {
		lock.do(func() {
			for i, it := range items {
				if _, known := first[it.Item]; !known {
					first[it.Item] = i == 0
				}
			}
			yes = len(items) > 0 && first[items[0].Item]
		})
		return yes
	}
}

func awayNow() func([]cupel.ScoredItem) bool {
	h := new(home)
	return func([]cupel.ScoredItem) bool { return h.away() }
}

func TestBrokenSlicers(t *testing.T) {
	skipUnderRace(t)
	var buffer perGoroutine[[]int]
	var forms perGoroutine[[]cupel.SmallerForm]
	turn, stopped := counter(), errors.New("stopped")
	type selection = *cupel.Selection
	checkFaults(t, "slicer", []fault{
		{"nil", "it is accepted by cupel.New: neither nil nor invalid, and not inside itself.",
			func(t cupeltest.T) { cupeltest.TestSlicer(t, the[cupel.Slicer](nil)) }, "Slicer"},
		{"not ready", "it is accepted by cupel.New: neither nil nor invalid, and not inside itself.",
			func(t cupeltest.T) { cupeltest.TestSlicer(t, the[cupel.Slicer](invalid{})) }, "not ready"},

		{"fails", "Slice takes every valid list, one of a single item too, without a panic or an error.",
			brokenSlicer(func(items []cupel.ScoredItem, _ cupel.SliceBudget, _ selection) error {
				if len(items) == 1 {
					return errors.New("too few")
				}
				return nil
			}), `a list of one item, with a target of 1 and a ceiling of 1 tokens: the error "too few"`},
		{"selects by turns", "Slice is a pure function: the same input gives the same result each time.", without(the(every())), "run again: positions ["},
		{"drops by turns", "Slice is a pure function: the same input gives the same result each time.",
			brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
				if len(items) > 0 && items[0].Item.Tokens() > budget.TargetTokens {
					code := []cupel.ExclusionCode{cupel.ExcludeFiltered, cupel.ExcludeScoredTooLow}[int(turn(nil))%2]
					sel.Drops = append(sel.Drops, cupel.Drop{Index: 0, Reason: because(code)})
				}
				return nil
			}), "run again: drops [{0 "},
		{"is short by turns", "Slice is a pure function: the same input gives the same result each time.",
			brokenSlicer(func(_ []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
				sel.Shortfalls = []cupel.CountRequirementShortfall{{Kind: "A", RequiredCount: int(turn(nil))}}
				return nil
			}), "run again: shortfalls [CountRequirementShortfall: A has 0 of "},
		{"remembers a long list", "Slice stores nothing about a call: what was called before does not change a result.", without(oftenSeen), "run first and after other lists: positions ["},
		{"remembers by address", "Slice does not keep the list, whose memory is used again after the call.", without(lightByAddress), "in memory of its own"},
		{"sorts the list", "Slice does not change the list that it is given.",
			brokenSlicer(func(items []cupel.ScoredItem, _ cupel.SliceBudget, _ selection) error {
				slices.Reverse(items)
				return nil
			}), "position 0 holds something else"},
		{"changes a score", "Slice does not change the list that it is given.",
			brokenSlicer(func(items []cupel.ScoredItem, _ cupel.SliceBudget, _ selection) error {
				if len(items) > 2 {
					items[2].Score = 0.125
				}
				return nil
			}), "position 2 holds something else"},
		{"does not look at its context", "Slice stops soon after its context is done, if it takes long.",
			brokenSlicer(func(items []cupel.ScoredItem, _ cupel.SliceBudget, _ selection) error { return sleepy(len(items)) }), "under a context that is done"},
		{"leaves goroutines", "Slice starts no goroutine that goes on after the call, except for a number that does not grow.",
			brokenSlicer(func([]cupel.ScoredItem, cupel.SliceBudget, selection) error { return leak() }), " goroutines after a third of them, "},
		{"sweeps otherwise", "Sweep reports the choice of Slice at every target, and each target at which it changes.",
			func(t cupeltest.T) { cupeltest.TestSlicer(t, the[cupel.Slicer](sweeping{})) }, "Sweep and Slice choose ["},
		{"has nothing for a kind", "ForKind returns a slicer that can be used, for every kind.",
			func(t cupeltest.T) { cupeltest.TestSlicer(t, the[cupel.Slicer](narrowing{})) }, `kind "Sketch": nil`},
		{"says that it is monotonic", "a slicer whose NonMonotonic is false never leaves out for a larger target what it selects for a smaller one.",
			func(t cupeltest.T) { cupeltest.TestSlicer(t, the[cupel.Slicer](notMonotonic{})) }, "NonMonotonic is false, and position "},
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
			func(t cupeltest.T) { cupeltest.TestSlicer(t, the[cupel.Slicer](stopping{stopped})) }, `under a context that is done: the error "stopped"`},
		{"stops without an error", "Slice that stops because its context is done fails with the context's error, and returns no part of a result.",
			func(t cupeltest.T) { cupeltest.TestSlicer(t, the[cupel.Slicer](stopping{})) }, "without an error and under a context that is done: positions [7], then []"},
		{"remembers items", "Slice stores nothing about a call: what was called before does not change a result.", without(the(rememberedByItem())), "run in two orders of the lists, with equal items: positions ["},
		{"selects what is not there", "a selection is a subset: every position, selected or dropped, is one of the list.",
			brokenSlicer(func(items []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
				sel.Indices = append(sel.Indices, len(items))
				return nil
			}), "position 9 of 9 items"},
		{"drops what is not there", "a selection is a subset: every position, selected or dropped, is one of the list.",
			brokenSlicer(func(_ []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
				sel.Drops = append(sel.Drops, cupel.Drop{Index: -1, Reason: because(cupel.ExcludeFiltered)})
				return nil
			}), "position -1 of 9 items"},
		{"selects twice", "a selection is a subset: no position is selected twice, or dropped twice.",
			brokenSlicer(func(_ []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
				sel.Indices = append(sel.Indices, sel.Indices...)
				return nil
			}), "position 7 twice in [7 7]"},
		{"drops twice", "a selection is a subset: no position is selected twice, or dropped twice.",
			brokenSlicer(func(_ []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
				sel.Drops = slices.Repeat([]cupel.Drop{{Index: 0, Reason: because(cupel.ExcludeFiltered)}}, 2)
				return nil
			}), "position 0 twice in [0 0]"},
		{"selects and drops", "no position is both selected and dropped.",
			brokenSlicer(func(_ []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
				for _, i := range sel.Indices {
					sel.Drops = append(sel.Drops, cupel.Drop{Index: i, Reason: because(cupel.ExcludeFiltered)})
				}
				return nil
			}), "position 7"},
		{"drops without a reason", "an item that is dropped has a reason.",
			brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
				if len(items) > 0 && items[0].Item.Tokens() > budget.TargetTokens {
					sel.Drops = append(sel.Drops, cupel.Drop{Index: 0})
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
				cupeltest.TestSlicer(t, the[cupel.Slicer](sliceFunc(func(items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
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
			smaller(func(form cupel.SmallerForm) []cupel.SmallerForm { return []cupel.SmallerForm{form} }, false), " and the smaller forms [{"},
		{"form by turns", "Slice is a pure function: the same input gives the same result each time.",
			func(t cupeltest.T) {
				smaller(func(form cupel.SmallerForm) []cupel.SmallerForm {
					form.Form += int(turn(nil)) % 2
					return []cupel.SmallerForm{form}
				}, true)(t)
			}, "run again: smaller forms [{"},
		{"uses its forms again", "Slice gives its result away: later calls do not change it.",
			brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
				if fits := outlines(items, budget, *sel); len(fits) > 0 {
					forms.use(func(b *[]cupel.SmallerForm) {
						*b = append((*b)[:0], fits...)
						sel.Smaller = *b
					})
				}
				return nil
			}), "its result before and after other calls: smaller forms [{"},
		{"two forms", "no position is selected in two forms.",
			smaller(func(form cupel.SmallerForm) []cupel.SmallerForm { return []cupel.SmallerForm{form, form} }, true), "in form 1 and another"},
		{"full and smaller", "no position is selected in two forms.",
			brokenSlicer(func(items []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
				for _, i := range sel.Indices {
					if len(items[i].Item.Forms()) > 0 {
						sel.Smaller = append(sel.Smaller, cupel.SmallerForm{Index: i, Form: 1})
					}
				}
				return nil
			}), "in form 1 and another"},
		{"smaller and dropped", "no position that is selected in a smaller form is dropped as well.",
			brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
				sel.Smaller = outlines(items, budget, *sel)
				for _, form := range sel.Smaller {
					sel.Drops = append(sel.Drops, cupel.Drop{Index: form.Index, Reason: because(cupel.ExcludeFiltered)})
				}
				return nil
			}), "in form 1"},
		{"form 0", "a smaller form is one of the forms that the item has, counted from 1.",
			smaller(func(form cupel.SmallerForm) []cupel.SmallerForm {
				form.Form--
				return []cupel.SmallerForm{form}
			}, true), "in form 0, and it has "},
		{"outlines of what has none", "a smaller form is one of the forms that the item has, counted from 1.",
			brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
				if n := len(items); budget.TargetTokens > 0 && !slices.Contains(sel.Indices, n-1) && n > 0 && len(items[n-1].Item.Forms()) == 0 {
					sel.Smaller = []cupel.SmallerForm{{Index: n - 1, Form: 1}}
				}
				return nil
			}), "in form 1, and it has 0 smaller forms"},
		{"caps silently", "a slicer that wants the left-over pass drops what it leaves out for another reason than the budget: the pass returns the rest.",
			func(t cupeltest.T) { cupeltest.TestSlicer(t, the[cupel.Slicer](capped{})) }, "is out, and then in form 0"},
		{"outlines of nothing", "a target of 0 gives an empty selection, zero-token items included, without a shortfall or an error.",
			brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
				if budget.TargetTokens > 0 {
					return nil
				}
				for i, it := range items {
					if n := len(it.Item.Forms()); n > 0 && it.Item.Forms()[n-1].Tokens == 0 {
						sel.Smaller = append(sel.Smaller, cupel.SmallerForm{Index: i, Form: n})
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
		{"explains by what is out", "an explanation of what is not selected says something, and names items that are selected or dropped.",
			func(t cupeltest.T) { cupeltest.TestSlicer(t, the[cupel.Slicer](explaining{"because", true})) }, "as an obstacle that it did not choose"},
		{"explains nothing", "an explanation of what is not selected says something, and names items that are selected or dropped.",
			func(t cupeltest.T) { cupeltest.TestSlicer(t, the[cupel.Slicer](explaining{"", false})) }, "nothing is said about position "},
		{"one too many", "the selected items have at most as many tokens as the target (say WithTargetExceeded where they may have more).",
			brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
				if next := len(sel.Indices); budget.TargetTokens > 0 && next < len(items) && !slices.Contains(sel.Indices, next) {
					sel.Indices = append(sel.Indices, next)
				}
				return nil
			}), "exceed the target of 1 tokens"},
		{"fills the ceiling", "the selected items have at most as many tokens as the target (say WithTargetExceeded where they may have more).",
			func(t cupeltest.T) {
				cupeltest.TestSlicer(t, the[cupel.Slicer](sliceFunc(func(items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
					if budget.TargetTokens > 0 {
						budget.TargetTokens = budget.MaxTokens
					}
					return firstFit(items, budget), nil
				})))
			}, "exceed the target of 418 tokens"},
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
			s := watch(brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel *cupel.Selection) error {
				if len(items) > 0 && budget.TargetTokens > 0 {
					sel.Indices = append(sel.Indices, position(len(items)))
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

// plain is a sound slicer.
type plain struct{}

func (plain) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	return firstFit(items, budget), nil
}

// sweeping is a sound slicer with the sweep of another one.
type sweeping struct{}

func (sweeping) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	return plain{}.Slice(ctx, items, budget)
}

func (sweeping) Sweep(items []cupel.ScoredItem) cupel.SliceSweep { return slicer.Greedy{}.Sweep(items) }

// narrowing is a sound slicer without one for sketches.
type narrowing struct{ plain }

func (n narrowing) ForKind(kind cupel.ContextKind) cupel.Slicer {
	if kind == "Sketch" {
		return nil
	}
	return n
}

// notMonotonic selects the largest item that fits, and denies what follows.
type notMonotonic struct{}

func (notMonotonic) NonMonotonic() bool { return false }

func (notMonotonic) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (sel cupel.Selection, err error) {
	largest := -1
	for i, it := range items {
		if tokens := it.Item.Tokens(); tokens > 0 && tokens <= budget.TargetTokens && (largest < 0 || tokens > items[largest].Item.Tokens()) {
			largest = i
		}
	}
	if largest >= 0 {
		sel.Indices = []int{largest}
	}
	return sel, nil
}

// explaining is a sound slicer that explains itself badly.
type explaining struct {
	rule string
	self bool // it names the item that it is asked about
}

func (explaining) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	return firstFit(items, budget), nil
}

func (e explaining) ExplainSlice(_ context.Context, _ []cupel.ScoredItem, _ cupel.SliceBudget, _ cupel.Selection, at int) (cupel.Obstacle, error) {
	if e.self {
		return cupel.Obstacle{Rule: e.rule, Before: []int{at}}, nil
	}
	return cupel.Obstacle{Rule: e.rule}, nil
}

// stopping is a slicer with an error of its own, or none, for a context that is
// done.
type stopping struct{ err error }

func (s stopping) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	if ctx.Err() != nil {
		return cupel.Selection{}, s.err
	}
	return firstFit(items, budget), nil
}

// outlines returns what firstFit left out and has a form 1 that fits.
func outlines(items []cupel.ScoredItem, budget cupel.SliceBudget, sel cupel.Selection) (fit []cupel.SmallerForm) {
	left := budget.TargetTokens
	for _, i := range sel.Indices {
		left -= items[i].Item.Tokens()
	}
	for i, it := range items {
		if forms := it.Item.Forms(); left > 0 && len(forms) > 0 && forms[0].Tokens <= left && !slices.Contains(sel.Indices, i) {
			fit = append(fit, cupel.SmallerForm{Index: i, Form: 1})
			left -= forms[0].Tokens
		}
	}
	return fit
}

// smaller selects what firstFit does, and form 1 of what is left, of what fits
// or of everything.
func smaller(change func(form cupel.SmallerForm) []cupel.SmallerForm, fits bool) func(t cupeltest.T) {
	return brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel *cupel.Selection) error {
		if budget.TargetTokens <= 0 {
			return nil
		}
		room := budget
		if !fits {
			room.TargetTokens = math.MaxInt
		}
		for _, form := range outlines(items, room, *sel) {
			sel.Smaller = append(sel.Smaller, change(form)...)
		}
		return nil
	})
}

// capped selects two items at most, does not say so, and wants the left-over
// pass.
type capped struct{}

func (capped) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	sel := firstFit(items, budget)
	sel.Indices = sel.Indices[:min(2, len(sel.Indices))]
	return sel, nil
}

func (capped) LeftOver() bool { return true }

func TestSoundSlicersPass(t *testing.T) {
	// The sum of what fits is exact, and so is the choice of outlines.
	cupeltest.TestSlicer(t, the[cupel.Slicer](slicerWith(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel *cupel.Selection) error {
		sel.Smaller = outlines(items, budget, *sel)
		return nil
	})))
	cupeltest.TestSlicer(t, the[cupel.Slicer](sliceFunc(func(items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
		return firstFit(items, budget), nil
	})))
	greedier := slicerWith(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel *cupel.Selection) error {
		if next := len(sel.Indices); budget.TargetTokens > 0 && next < len(items) && !slices.Contains(sel.Indices, next) {
			sel.Indices = append(sel.Indices, next)
		}
		return nil
	})
	cupeltest.TestSlicer(t, the[cupel.Slicer](greedier), cupeltest.WithTargetExceeded(), nil)

	// An error that the contract allows, and a different order of the selected
	// items, which has no effect.
	turn := counter()
	cupeltest.TestSlicer(t, the[cupel.Slicer](slicerWith(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel *cupel.Selection) error {
		if budget.TargetTokens == 1 {
			return &cupel.ScarcityError{Slicer: "HalfSlice", Kind: cupel.KindMemory, RequireCount: 1}
		}
		if math.Mod(turn(nil), 2) == 0 {
			slices.Reverse(sel.Indices)
		}
		return nil
	})))
}

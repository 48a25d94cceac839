package cupeltest_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

// asGiven is a sound placer.
func asGiven(items []cupel.ScoredItem) []int {
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	return order
}

func brokenPlacer(change func(items []cupel.ScoredItem, order []int) ([]int, error)) func(t cupeltest.T) {
	return func(t cupeltest.T) {
		cupeltest.TestPlacer(t, the[strategy.Placer](placeFunc(func(items []cupel.ScoredItem) ([]int, error) { return change(items, asGiven(items)) })))
	}
}

// turned reverses the order when turn says so.
func turned(newTurn func() func(items []cupel.ScoredItem) bool) func(t cupeltest.T) {
	newPlacer := func() strategy.Placer {
		turn := newTurn()
		return placeFunc(func(items []cupel.ScoredItem) ([]int, error) {
			order := asGiven(items)
			if turn(items) {
				slices.Reverse(order)
			}
			return order, nil
		})
	}
	return func(t cupeltest.T) { cupeltest.TestPlacer(t, newPlacer) }
}

func placerOf(newPlace func() placing) func(t cupeltest.T) {
	return func(t cupeltest.T) {
		cupeltest.TestPlacer(t, func() strategy.Placer {
			place := newPlace()
			return placeFunc(func(items []cupel.ScoredItem) ([]int, error) { return place(items), nil })
		})
	}
}

func TestBrokenPlacers(t *testing.T) {
	skipUnderRace(t)
	var buffer perGoroutine[[]int]
	placed := func(change func(items []cupel.ScoredItem, order []int) []int) func(t cupeltest.T) {
		return placerOf(the[placing](func(items []cupel.ScoredItem) []int { return change(items, asGiven(items)) }))
	}
	checkFaults(t, "placer", []fault{
		{"nil", "it is accepted by pipeline.New: ",
			func(t cupeltest.T) { cupeltest.TestPlacer(t, the[strategy.Placer](nil)) }, "Placer"},
		{"not ready", "it is accepted by pipeline.New: ",
			func(t cupeltest.T) { cupeltest.TestPlacer(t, the[strategy.Placer](invalid{})) }, "not ready"},
		{"fails", "Place takes every valid list, one of a single item too, without a panic or an error.",
			brokenPlacer(func(items []cupel.ScoredItem, order []int) ([]int, error) {
				if len(items) == 1 {
					return nil, errors.New("too few")
				}
				return order, nil
			}), `a list of one item: the error "too few"`},
		{"remembers by address", "Place does not keep the list, whose memory is used again after the call.", turned(lightByAddress), "in memory of its own"},
		{"sorts the list", "Place does not change the list that it is given.",
			brokenPlacer(func(items []cupel.ScoredItem, order []int) ([]int, error) {
				slices.SortFunc(items, func(a, b cupel.ScoredItem) int { return cmp.Compare(a.Item.Content(), b.Item.Content()) })
				return order, nil
			}), "position 0 holds something else"},
		{"is not safe", "Place is safe for concurrent use.", turned(awayNow), "run alone and in several goroutines"},
		{"uses its result again", "Place gives its result away: later calls do not change it.",
			brokenPlacer(func(items []cupel.ScoredItem, order []int) ([]int, error) {
				if len(items) > 0 && items[0].Item.Tokens() == 12 {
					slices.Reverse(order)
				}
				buffer.use(func(b *[]int) {
					*b = append((*b)[:0], order...)
					order = *b
				})
				return order, nil
			}), "its result before and after other calls: the order ["},
		{"dresses the context's error", "Place that stops because its context is done fails with the context's error, and returns no part of a result.",
			func(t cupeltest.T) {
				cupeltest.TestPlacer(t, the[strategy.Placer](stoppingPlacer{errors.New("stopped")}))
			}, `under a context that is done: the error "stopped"`},
		{"does not look at its context", "Place stops soon after its context is done, if it takes long.",
			brokenPlacer(func(items []cupel.ScoredItem, order []int) ([]int, error) { return order, sleepy(len(items)) }), "under a context that is done"},
		{"leaves goroutines", "Place starts no goroutine that goes on after the call, except for a number that does not grow.",
			brokenPlacer(func(_ []cupel.ScoredItem, order []int) ([]int, error) {
				leak()
				return order, nil
			}), " goroutines after a third of them, "},
		{"places members", "a group is one position: the members of a group stay together.",
			brokenPlacer(func(items []cupel.ScoredItem, order []int) ([]int, error) {
				for _, it := range items {
					for range len(it.Item.Members()) - 1 {
						order = append(order, len(order)) // one by one
					}
				}
				return order, nil
			}), "a list with groups and smaller forms: 13 positions for 8 items"},
		{"works by pointer", "an item that is given twice is placed twice, told apart by its positions.",
			brokenPlacer(func(items []cupel.ScoredItem, order []int) ([]int, error) {
				for n, i := range order {
					order[n] = slices.IndexFunc(items, func(it cupel.ScoredItem) bool { return it.Item == items[i].Item })
				}
				return order, nil
			}), "a list that holds two items twice: position 0 twice in [0 1 0 3 1]"},
		{"loses NaN", "any float64 is a score: infinities, NaN and -0 too.",
			brokenPlacer(func(items []cupel.ScoredItem, order []int) ([]int, error) {
				return slices.DeleteFunc(order, func(i int) bool { return math.IsNaN(items[i].Score) }), nil
			}), "a list with hostile scores: 8 positions for 10 items"},
		{"drops one of odd lengths beyond 50", "Place only reorders: it adds", placed(func(_ []cupel.ScoredItem, order []int) []int {
			if len(order) > 50 && len(order)%2 == 1 {
				return order[:len(order)-1]
			}
			return order
		}), "64 positions for 65 items"},
		{"buffer of 64", "Place only reorders: it adds", placed(func(_ []cupel.ScoredItem, order []int) []int {
			var buffer [64]int
			return slices.Clone(buffer[:copy(buffer[:], order)])
		}), "64 positions for 65 items"},
		{"positions in a byte", "Place only reorders: no position", placed(func(_ []cupel.ScoredItem, order []int) []int {
			for n, i := range order {
				order[n] = int(uint8(i))
			}
			return order
		}), "position 0 twice"},
		{"pairs without the last", "Place only reorders: it adds", placed(func(_ []cupel.ScoredItem, order []int) []int { return order[:len(order)/2*2] }), "8 positions for 9 items"},
		{"chance", "Place is a pure function", placed(func(_ []cupel.ScoredItem, order []int) []int {
			rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			return order
		}), ""},
		{"order of a map", "Place is a pure function", placed(func(items []cupel.ScoredItem, order []int) []int {
			kinds := make(map[cupel.ContextKind][]int)
			for _, i := range order {
				kind := items[i].Item.Kind()
				kinds[kind] = append(kinds[kind], i)
			}
			order = order[:0]
			for _, of := range kinds {
				order = append(order, of...)
			}
			return order
		}), ""},
		{"memo by length", "Place stores nothing", placerOf(func() placing {
			var lock locked
			known := make(map[int][]int)
			return func(items []cupel.ScoredItem) (order []int) {
				lock.do(func() {
					if known[len(items)] == nil {
						order := asGiven(items)
						slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(items[a].Item.Tokens(), items[b].Item.Tokens()) })
						known[len(items)] = order
					}
					order = slices.Clone(known[len(items)])
				})
				return order
			}
		}), ""},
		{"by content", "Place only reorders: it adds", placed(func(items []cupel.ScoredItem, order []int) []int {
			at := make(map[string]int)
			for _, i := range order {
				at[items[i].Item.Content()] = i
			}
			return slices.Sorted(func(yield func(int) bool) {
				for _, i := range at {
					if !yield(i) {
						return
					}
				}
			})
		}), "8 positions for 9 items"},
		{"-1 for the last", "Place only reorders: every position", placed(func(_ []cupel.ScoredItem, order []int) []int {
			if n := len(order); n > 0 {
				order[n-1] = -1
			}
			return order
		}), "position -1 of 9 items"},
		{"counts from 1", "Place only reorders: every position", placed(func(_ []cupel.ScoredItem, order []int) []int {
			for n := range order {
				order[n]++
			}
			return order
		}), "position 9 of 9 items"},
		{"looks for the last", "an empty list gives", placed(func(items []cupel.ScoredItem, order []int) []int {
			_ = items[len(items)-1]
			return order
		}), "panic: "},
	})
}

// stoppingPlacer has an error of its own for a context that is done.
type stoppingPlacer struct{ err error }

func (s stoppingPlacer) Place(ctx context.Context, items []cupel.ScoredItem) ([]int, error) {
	if ctx.Err() != nil {
		return nil, s.err
	}
	return asGiven(items), nil
}

// The items of the caller take part: the fault shows in none but them.
func TestWithItems(t *testing.T) {
	odd := cupeltest.Item("odd", 5, cupel.WithTags("odd"))
	isOdd := cupeltest.ByTag("odd")
	s := watch(func(t cupeltest.T) {
		cupeltest.TestScorer(t, the[strategy.Scorer](scoreFunc(func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
			if isOdd(item) {
				panic("odd")
			}
			return 0
		})), cupeltest.WithItems(cupeltest.Item("never seen", -1), odd))
	})
	equalMessages(t, "TestScorer", s.messages, []string{
		"scorer cupeltest_test.scoreFunc breaks its contract: Score fails: panic: odd\n\trule: Score takes every valid list, one of a single item too, without a panic or an error.\n\tfound: the items of WithItems: panic: odd",
	}, "one mistake is reported once")

	for name, run := range map[string]func(t cupeltest.T){
		"slicer": func(t cupeltest.T) {
			cupeltest.TestSlicer(t, the[strategy.Slicer](slicerWith(func(items []cupel.ScoredItem, _ cupel.SliceBudget, sel *strategy.Selection) error {
				if len(items) > 0 && isOdd(items[0].Item) {
					sel.Indices = []int{7}
				}
				return nil
			})), cupeltest.WithItems(odd))
		},
		"placer": func(t cupeltest.T) {
			cupeltest.TestPlacer(t, the[strategy.Placer](placeFunc(func(items []cupel.ScoredItem) ([]int, error) {
				if len(items) > 0 && isOdd(items[0].Item) {
					return nil, nil
				}
				return asGiven(items), nil
			})), cupeltest.WithItems(odd))
		},
	} {
		if s := watch(run); len(s.messages) == 0 {
			t.Errorf("the %s passes in spite of its own items", name)
		}
	}

	s = watch(func(t cupeltest.T) {
		cupeltest.TestPlacer(t, the[strategy.Placer](placeFunc(nil)), cupeltest.WithItems(odd, nil))
	})
	equalMessages(t, "TestPlacer", s.messages, []string{"WithItems was given nil as item 2"}, "a mistake in the test is none of the placer")
	if !s.stopped {
		t.Error("the kit went on without its items")
	}
}

// A T that goes on after FailNow, as no T should, is not led into a strategy
// that is not there.
func TestKitsEndWithoutAStrategy(t *testing.T) {
	for name, run := range map[string]func(t cupeltest.T){
		"scorer": func(t cupeltest.T) { cupeltest.TestScorer(t, the[strategy.Scorer](nil)) },
		"slicer": func(t cupeltest.T) { cupeltest.TestSlicer(t, the[strategy.Slicer](nil)) },
		"placer": func(t cupeltest.T) { cupeltest.TestPlacer(t, the[strategy.Placer](nil)) },
		"items": func(t cupeltest.T) {
			cupeltest.TestScorer(t, the[strategy.Scorer](invalid{}), cupeltest.WithItems(nil))
		},
		"collector": func(t cupeltest.T) { cupeltest.TestTraceCollector(t, the[observe.TraceCollector](nil)) },
	} {
		s := new(keepsOn)
		run(s)
		if len(s.messages) != 1 || !s.stopped {
			t.Errorf("without a %s the kit reports %q", name, s.messages)
		}
	}
}

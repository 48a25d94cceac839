package cupeltest_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupeltest"
)

// A bug is a strategy with a mistake as people make it, and how the first
// failure must begin: with the cause.
type bug struct {
	name  string
	run   func(t cupeltest.T)
	cause string
}

type (
	scoring = func(item *cupel.ContextItem, all []*cupel.ContextItem) float64
	slicing = func(items []cupel.ScoredItem, budget cupel.SliceBudget) cupel.Selection
	placing = func(items []cupel.ScoredItem) []int
)

func scorerOf(newScore func() scoring) func(t cupeltest.T) {
	return brokenScorer(func() cupel.Scorer { return scoreFunc(newScore()) })
}

func slicerOf(newSlice func() slicing) func(t cupeltest.T) {
	return func(t cupeltest.T) {
		cupeltest.TestSlicer(t, func() cupel.Slicer {
			slice := newSlice()
			return sliceFunc(func(items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
				return slice(items, budget), nil
			})
		})
	}
}

func placerOf(newPlace func() placing) func(t cupeltest.T) {
	return func(t cupeltest.T) {
		cupeltest.TestPlacer(t, func() cupel.Placer {
			place := newPlace()
			return placeFunc(func(items []cupel.ScoredItem) ([]int, error) { return place(items), nil })
		})
	}
}

// batchOf is a sound scorer with this batch form.
func batchOf(scoreAll batchPart) func(t cupeltest.T) {
	return brokenScorer(the[cupel.Scorer](batch{size, scoreAll}))
}

func rank(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
	return float64(slices.Index(all, item)) / float64(len(all))
}

// memo is a cache that is safe to use, keyed by what does not determine the
// score.
func memo[K comparable](key func(item *cupel.ContextItem, all []*cupel.ContextItem) K, score scoring) scoring {
	var lock locked
	known := make(map[K]float64)
	return func(item *cupel.ContextItem, all []*cupel.ContextItem) (s float64) {
		k := key(item, all)
		lock.do(func() {
			var ok bool
			if s, ok = known[k]; !ok {
				s = score(item, all)
				known[k] = s
			}
		})
		return s
	}
}

// running is state that every call adds to.
func running(add func(sum float64, item *cupel.ContextItem) float64) func() scoring {
	return func() scoring {
		var (
			lock locked
			sum  float64
		)
		return func(item *cupel.ContextItem, all []*cupel.ContextItem) (s float64) {
			lock.do(func() { sum = add(sum, item); s = size(item, all) / (1 + sum) })
			return s
		}
	}
}

// sharedMemo is what all scorers of a type share.
var sharedMemo = memo(func(item *cupel.ContextItem, _ []*cupel.ContextItem) string { return item.Content() }, size)

func TestScorerBugs(t *testing.T) {
	skipUnderRace(t)
	const earlier, changing, fails = "scores depend on earlier calls: ", "scores change from call to call: ", "Score fails: panic: "
	checkBugs(t, "scorer", []bug{
		{"memo by content", scorerOf(func() scoring {
			return memo(func(item *cupel.ContextItem, _ []*cupel.ContextItem) string { return item.Content() }, rank)
		}), earlier},
		{"memo by content of a score by size", scorerOf(func() scoring {
			return memo(func(item *cupel.ContextItem, _ []*cupel.ContextItem) string { return item.Content() }, size)
		}), earlier},
		{"memo by content, shared by all", scorerOf(the(sharedMemo)), earlier},
		{"memo by pointer", scorerOf(func() scoring {
			return memo(func(item *cupel.ContextItem, _ []*cupel.ContextItem) *cupel.ContextItem { return item }, rank)
		}), earlier},
		{"memo by length of list", scorerOf(func() scoring {
			return memo(func(_ *cupel.ContextItem, all []*cupel.ContextItem) int { return len(all) }, size)
		}), earlier},
		{"normalised by the first list", scorerOf(func() scoring {
			var (
				once    sync.Once
				largest float64
			)
			return func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
				once.Do(func() { largest = float64(len(all)) })
				return size(item, all) / largest
			}
		}), earlier},
		{"running sum", scorerOf(running(func(sum float64, item *cupel.ContextItem) float64 { return sum + float64(item.Tokens()) })), earlier},
		{"running maximum", scorerOf(running(func(sum float64, item *cupel.ContextItem) float64 { return max(sum, float64(item.Tokens())) })), earlier},
		{"gives up after some calls", scorerOf(func() scoring {
			calls := counter()
			return func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
				if calls(nil) > 500 {
					return 0
				}
				return size(item, all)
			}
		}), earlier},
		{"chance", scorerOf(the[scoring](func(*cupel.ContextItem, []*cupel.ContextItem) float64 { return rand.Float64() })), changing},
		{"the time", scorerOf(the[scoring](func(*cupel.ContextItem, []*cupel.ContextItem) float64 { return float64(time.Now().UnixNano()) })), changing},
		{"order of a map", scorerOf(the[scoring](func(_ *cupel.ContextItem, all []*cupel.ContextItem) float64 {
			at := make(map[*cupel.ContextItem]int)
			for i, item := range all {
				at[item] = i
			}
			for _, i := range at {
				return float64(i)
			}
			return 0
		})), changing},
		{"buffer of 64", scorerOf(the[scoring](func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
			var tokens [64]int
			for i, other := range all {
				tokens[i] = other.Tokens()
			}
			return float64(tokens[0] - item.Tokens())
		})), fails + "runtime error: index out of range [64] with length 64"},
		{"divides by the others", scorerOf(the[scoring](func(item *cupel.ContextItem, all []*cupel.ContextItem) float64 {
			return float64(item.Tokens() / (len(all) - 1))
		})), fails + "runtime error: integer divide by zero"},
		{"wants a time", scorerOf(the[scoring](func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
			at, ok := item.Timestamp()
			if !ok {
				panic("no time")
			}
			return float64(at.Unix())
		})), fails + "no time"},
		{"as many as tokens", scorerOf(the[scoring](func(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 {
			return float64(len(make([]byte, item.Tokens())))
		})), fails + "runtime error: makeslice: len out of range"},
		{"clears the list", scorerOf(the[scoring](func(_ *cupel.ContextItem, all []*cupel.ContextItem) float64 {
			all[len(all)-1] = all[0]
			return 0
		})), "Score changes its list: position "},
		{"unrolled by four", batchOf(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
			for i := 0; i+4 <= len(all); i += 4 {
				for j := range 4 {
					scores[i+j] = size(all[i+j], all)
				}
			}
			return nil
		}), "ScoreAll leaves scores out: "},
		{"a batch that is too long", batchOf(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
			if len(all) > 1000 {
				return errors.New("too many")
			}
			for i, item := range all {
				scores[i] = size(item, all)
			}
			return nil
		}), `ScoreAll fails: the error "too many"`},
		{"another score beyond 256", batchOf(func(_ context.Context, all []*cupel.ContextItem, scores []float64) error {
			for i := range all {
				scores[i] = size(all[int(uint8(i))], all)
			}
			return nil
		}), "scores of Score and ScoreAll differ: "},
		{"a part after a late end", batchOf(func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
			for i, item := range all {
				if i%32 == 31 && ctx.Err() != nil {
					return nil //nolint:nilerr // this is the fault
				}
				scores[i] = size(item, all)
			}
			return nil
		}), "ScoreAll stops in a wrong way: "},
		{"a goroutine for each item, left at the end of the context", batchOf(func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
			type result struct {
				i int
				s float64
			}
			results := make(chan result)
			if len(all) > 50 { // else the test itself runs with too many
				for i, item := range all {
					scores[i] = size(item, all)
				}
				return nil
			}
			for i, item := range all {
				go func() { results <- result{i, size(item, all)} }()
			}
			for range all {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case r := <-results:
					scores[r.i] = r.s
				}
			}
			return nil
		}), "ScoreAll leaves goroutines behind: "},
	})
}

// firstFitOf changes what is selected.
func firstFitOf(change func(items []cupel.ScoredItem, sel *cupel.Selection)) func() slicing {
	return the[slicing](func(items []cupel.ScoredItem, budget cupel.SliceBudget) cupel.Selection {
		sel := firstFit(items, budget)
		change(items, &sel)
		return sel
	})
}

// memoSlice is a cache that is safe to use.
func memoSlice[K comparable](key func(items []cupel.ScoredItem, budget cupel.SliceBudget) K) func() slicing {
	return func() slicing {
		var lock locked
		known := make(map[K][]int)
		return func(items []cupel.ScoredItem, budget cupel.SliceBudget) (sel cupel.Selection) {
			k := key(items, budget)
			lock.do(func() {
				if _, ok := known[k]; !ok {
					known[k] = firstFit(items, budget).Indices
				}
				sel.Indices = slices.Clone(known[k])
			})
			return sel
		}
	}
}

func TestSlicerBugs(t *testing.T) {
	skipUnderRace(t)
	const earlier, changing, fails = "selections depend on earlier calls: ", "selections change from call to call: ", "Slice fails: panic: "
	of := func(s cupel.Slicer) func(t cupeltest.T) {
		return func(t cupeltest.T) { cupeltest.TestSlicer(t, the(s)) }
	}
	checkBugs(t, "slicer", []bug{
		{"twice beyond 64", slicerOf(firstFitOf(func(items []cupel.ScoredItem, sel *cupel.Selection) {
			if len(items) > 64 && len(sel.Indices) > 0 {
				sel.Indices = append(sel.Indices, sel.Indices[0])
			}
		})), "selects or drops an item twice: position "},
		{"positions in a byte", slicerOf(firstFitOf(func(_ []cupel.ScoredItem, sel *cupel.Selection) {
			for n, i := range sel.Indices {
				sel.Indices[n] = int(uint8(i))
			}
		})), "selects or drops an item twice: position "},
		{"buffer of 64", slicerOf(firstFitOf(func(items []cupel.ScoredItem, _ *cupel.Selection) {
			var sizes [64]int
			for i, it := range items {
				sizes[i] = it.Item.Tokens()
			}
			slices.Sort(sizes[:])
		})), fails + "runtime error: index out of range [64] with length 64"},
		{"buffer of 300", slicerOf(firstFitOf(func(items []cupel.ScoredItem, _ *cupel.Selection) {
			if len(items) > 300 {
				panic("full")
			}
		})), fails + "full"},
		{"rounds up to four", slicerOf(firstFitOf(func(items []cupel.ScoredItem, sel *cupel.Selection) {
			if n := len(items); n > 0 && n%4 != 0 && len(sel.Indices) == n {
				sel.Indices = append(sel.Indices, n)
			}
		})), "selects what is not in the list: position "},
		{"memo by length and target", slicerOf(memoSlice(func(items []cupel.ScoredItem, budget cupel.SliceBudget) [2]int {
			return [2]int{len(items), budget.TargetTokens}
		})), earlier},
		{"memo by first content", slicerOf(memoSlice(func(items []cupel.ScoredItem, budget cupel.SliceBudget) string {
			if len(items) == 0 || budget.TargetTokens == 0 {
				return ""
			}
			return items[0].Item.Content()
		})), earlier},
		{"a budget for all calls", slicerOf(func() slicing {
			var lock locked
			left := 2000
			return func(items []cupel.ScoredItem, budget cupel.SliceBudget) (sel cupel.Selection) {
				lock.do(func() {
					budget.TargetTokens = min(budget.TargetTokens, left)
					sel = firstFit(items, budget)
					left -= min(left, 10*len(sel.Indices))
				})
				return sel
			}
		}), earlier},
		{"chance", slicerOf(firstFitOf(func(_ []cupel.ScoredItem, sel *cupel.Selection) {
			if n := len(sel.Indices); n > 0 {
				sel.Indices = sel.Indices[:rand.IntN(n)]
			}
		})), changing},
		{"order of a map", slicerOf(firstFitOf(func(_ []cupel.ScoredItem, sel *cupel.Selection) {
			set := make(map[int]bool)
			for _, i := range sel.Indices {
				set[i] = true
			}
			for i := range set {
				sel.Indices = []int{i}
				return
			}
		})), changing},
		{"sorts by size", slicerOf(the[slicing](func(items []cupel.ScoredItem, budget cupel.SliceBudget) cupel.Selection {
			slices.SortFunc(items, func(a, b cupel.ScoredItem) int { return cmp.Compare(a.Item.Tokens(), b.Item.Tokens()) })
			return firstFit(items, budget)
		})), "Slice changes its list: position "},
		{"marks what it took", slicerOf(the[slicing](func(items []cupel.ScoredItem, budget cupel.SliceBudget) cupel.Selection {
			sel := firstFit(items, budget)
			for _, i := range sel.Indices {
				items[i].Score = -1
			}
			return sel
		})), "Slice changes its list: position "},
		{"a sentinel behind the list", slicerOf(the[slicing](func(items []cupel.ScoredItem, budget cupel.SliceBudget) cupel.Selection {
			return firstFit(append(items, cupel.ScoredItem{Item: cupeltest.Item("end", math.MaxInt)})[:len(items)], budget)
		})), "Slice changes its list: the memory behind the end of the list"},
		{"sums of 32 bits", slicerOf(the[slicing](func(items []cupel.ScoredItem, budget cupel.SliceBudget) (sel cupel.Selection) {
			var used int32
			for i, it := range items {
				if tokens := int32(it.Item.Tokens()); budget.TargetTokens > 0 && int(used+tokens) <= budget.TargetTokens {
					used += tokens
					sel.Indices = append(sel.Indices, i)
				}
			}
			return sel
		})), "sums of tokens wrap: "},
		{"up to and beyond", slicerOf(the[slicing](func(items []cupel.ScoredItem, budget cupel.SliceBudget) (sel cupel.Selection) {
			for i, left := 0, budget.TargetTokens; i < len(items) && left > 0; i++ {
				left -= min(left, items[i].Item.Tokens())
				sel.Indices = append(sel.Indices, i)
			}
			return sel
		})), "selects more than the target: "},
		{"positions by content", slicerOf(firstFitOf(func(items []cupel.ScoredItem, sel *cupel.Selection) {
			for n, i := range sel.Indices {
				sel.Indices[n] = slices.IndexFunc(items, func(it cupel.ScoredItem) bool { return it.Item.Content() == items[i].Item.Content() })
			}
		})), "selects or drops an item twice: position "},
		{"drops the rest without a reason", slicerOf(firstFitOf(func(items []cupel.ScoredItem, sel *cupel.Selection) {
			for i := range items {
				if !slices.Contains(sel.Indices, i) {
					sel.Drops = append(sel.Drops, cupel.Drop{Index: i})
				}
			}
		})), "drops without a reason: position "},
		{"a part after a late end", of(late{}), "Slice stops in a wrong way: "},
		{"a goroutine that waits for good", slicerOf(firstFitOf(func(items []cupel.ScoredItem, _ *cupel.Selection) {
			results := make(chan int)
			for range min(2, len(items)) {
				go func() { results <- 1 }()
			}
			if len(items) > 0 {
				<-results
			}
		})), "Slice leaves goroutines behind: "},
		{"a sweep that announces too little", of(sweepOf{advance: true}), "Sweep and Slice differ: "},
		{"a sweep in another order", of(sweepOf{reverse: true}), "Sweep and Slice differ: "},
		{"a narrowed slicer of no use", of(narrowOf{}), `ForKind gives no slicer: `},
	})
}

// late is a slicer that stops between items, without an error.
type late struct{}

func (late) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (sel cupel.Selection, err error) {
	left := budget.TargetTokens
	for i, it := range items {
		if i%16 == 15 && ctx.Err() != nil {
			return sel, nil //nolint:nilerr // this is the fault
		}
		if left > 0 && it.Item.Tokens() <= left {
			sel.Indices = append(sel.Indices, i)
			left -= it.Item.Tokens()
		}
	}
	return sel, nil
}

// sweepOf has the sweep of the slicer that it is, with a fault.
type sweepOf struct{ advance, reverse bool }

func (sweepOf) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	return slicer.Greedy{}.Slice(ctx, items, budget)
}

func (s sweepOf) Sweep(items []cupel.ScoredItem) cupel.SliceSweep {
	return faultySweep{slicer.Greedy{}.Sweep(items), s}
}

type faultySweep struct {
	cupel.SliceSweep
	fault sweepOf
}

func (s faultySweep) Next() (int, bool) {
	target, ok := s.SliceSweep.Next()
	if s.fault.advance {
		target++
	}
	return target, ok
}

func (s faultySweep) Advance(target int) (int, []int) {
	keep, more := s.SliceSweep.Advance(target)
	if s.fault.reverse {
		more = slices.Clone(more)
		slices.Reverse(more)
	}
	return keep, more
}

// narrowOf returns a slicer that is not ready.
type narrowOf struct{}

func (narrowOf) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (cupel.Selection, error) {
	return firstFit(items, budget), nil
}

func (narrowOf) ForKind(cupel.ContextKind) cupel.Slicer { return invalid{} }

func TestPlacerBugs(t *testing.T) {
	skipUnderRace(t)
	const earlier, changing = "orders depend on earlier calls: ", "orders change from call to call: "
	placed := func(change func(items []cupel.ScoredItem, order []int) []int) func(t cupeltest.T) {
		return placerOf(the[placing](func(items []cupel.ScoredItem) []int { return change(items, asGiven(items)) }))
	}
	checkBugs(t, "placer", []bug{
		{"drops one of odd lengths beyond 50", placed(func(_ []cupel.ScoredItem, order []int) []int {
			if len(order) > 50 && len(order)%2 == 1 {
				return order[:len(order)-1]
			}
			return order
		}), "the order has another length: 64 positions for 65 items"},
		{"buffer of 64", placed(func(_ []cupel.ScoredItem, order []int) []int {
			var buffer [64]int
			return slices.Clone(buffer[:copy(buffer[:], order)])
		}), "the order has another length: 64 positions for 65 items"},
		{"positions in a byte", placed(func(_ []cupel.ScoredItem, order []int) []int {
			for n, i := range order {
				order[n] = int(uint8(i))
			}
			return order
		}), "places an item twice: position 0 twice"},
		{"pairs without the last", placed(func(_ []cupel.ScoredItem, order []int) []int { return order[:len(order)/2*2] }), "the order has another length: 8 positions for 9 items"},
		{"chance", placed(func(_ []cupel.ScoredItem, order []int) []int {
			rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			return order
		}), changing},
		{"order of a map", placed(func(items []cupel.ScoredItem, order []int) []int {
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
		}), changing},
		{"memo by length", placerOf(func() placing {
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
		}), earlier},
		{"by content", placed(func(items []cupel.ScoredItem, order []int) []int {
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
		}), "the order has another length: 8 positions for 9 items"},
		{"counts from 1", placed(func(_ []cupel.ScoredItem, order []int) []int {
			for n := range order {
				order[n]++
			}
			return order
		}), "places what is not in the list: position 9 of 9 items"},
		{"takes the first away", placed(func(items []cupel.ScoredItem, order []int) []int {
			items[0] = items[len(items)-1]
			return order
		}), "Place "},
		{"looks for the last", placed(func(items []cupel.ScoredItem, order []int) []int {
			_ = items[len(items)-1]
			return order
		}), "fails for an empty list: panic: "},
		{"another order beyond 40", func(t cupeltest.T) {
			cupeltest.TestPlacer(t, the[cupel.Placer](appendPlacer(func(list, order []int) []int {
				if len(order) > 40 {
					slices.Reverse(order)
				}
				return append(list, order...)
			})))
		}, "Place and AppendPlace differ: "},
	})
}

func TestCollectorBugs(t *testing.T) {
	of := func(newCollector func() cupel.TraceCollector) func(t cupeltest.T) {
		return func(t cupeltest.T) { cupeltest.TestTraceCollector(t, newCollector) }
	}
	keeping := func(most int) func() cupel.TraceCollector {
		return func() cupel.TraceCollector {
			return &listCollector{read: func(events []cupel.TraceEvent) []cupel.TraceEvent { return events[max(0, len(events)-most):] }}
		}
	}
	checkBugs(t, "collector", []bug{
		{"the last 100 events", of(keeping(100)), "loses or changes stage events: "},
		{"the last 1024 events", of(keeping(1024)), "loses or changes stage events: "},
		{"one score stage for each run", of(func() cupel.TraceCollector {
			scored := false
			return &listCollector{stage: func(l *listCollector, e cupel.TraceEvent) {
				if e.Stage == cupel.StagePlace || e.ItemCount == 1 || e.Message != "" {
					scored = false
				}
				if e.Stage != cupel.StageScore || !scored {
					l.add(e)
				}
				scored = scored || e.Stage == cupel.StageScore
			}}
		}), "loses "},
	})
}

// checkBugs wants each bug found, and its cause in the first line of the first
// failure.
func checkBugs(t *testing.T, role string, bugs []bug) {
	t.Helper()
	for _, b := range bugs {
		t.Run(b.name, func(t *testing.T) {
			s := watch(b.run)
			if len(s.messages) == 0 {
				t.Fatal("it passes")
			}
			first, _, _ := strings.Cut(s.messages[0], "\n")
			_, cause, ok := strings.Cut(first, " breaks its contract: ")
			if !ok || !strings.HasPrefix(first, role+" ") || !strings.HasPrefix(cause, b.cause) {
				t.Errorf("the first line is\n\t%s\nwant the cause\n\t%s\nin\n%s", first, b.cause, strings.Join(s.messages, "\n"))
			}
		})
	}
}

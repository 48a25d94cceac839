package cupeltest_test

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

// nameless has facts that do not name it.
type nameless struct{ slicer.Greedy }

func (nameless) Facts() strategy.Facts { return strategy.Facts{LeftOver: true} }

// capped wants the left-over pass and leaves out documents without dropping them.
type capped struct{}

func (capped) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	sel := firstFit(items, budget)
	sel.Indices = slices.DeleteFunc(sel.Indices, func(i int) bool { return items[i].Item.Kind() == cupel.KindDocument })
	return sel, nil
}

func (c capped) Facts() strategy.Facts { return strategy.Facts{Of: c, LeftOver: true} }

// withoutDocuments embeds a slicer that selects them.
type withoutDocuments struct{ slicer.Greedy }

func (w withoutDocuments) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	return capped{}.Slice(ctx, items, budget)
}

// narrowingItself is a slicer that narrows itself and returns itself.
type narrowingItself struct {
	lock locked
	kind cupel.ContextKind
}

func (n *narrowingItself) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	sel := firstFit(items, budget)
	n.lock.do(func() {
		sel.Indices = slices.DeleteFunc(sel.Indices, func(i int) bool { return n.kind != "" && !items[i].Item.Kind().Equal(n.kind) })
	})
	return sel, nil
}

func (n *narrowingItself) Facts() strategy.Facts {
	return strategy.Facts{Of: n, ForKind: func(kind cupel.ContextKind) strategy.Slicer {
		n.lock.do(func() { n.kind = kind })
		return n
	}}
}

// explains returns a slicer that explains itself by explain.
func explains(explain func(items []cupel.ScoredItem, at int) strategy.Obstacle) any {
	return &facts{Explain: func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget, _ strategy.Selection, at int) (strategy.Obstacle, error) {
		return explain(items, at), nil
	}}
}

// byOrder takes what fits in an order of its own.
func byOrder(compare func(a, b cupel.ScoredItem) int) any {
	return slice(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel *strategy.Selection) error {
		order := make([]int, len(items))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return compare(items[a], items[b]) })
		sorted := make([]cupel.ScoredItem, len(items))
		for n, i := range order {
			sorted[n] = items[i]
		}
		*sel = firstFit(sorted, budget)
		for n, i := range sel.Indices {
			sel.Indices[n] = order[i]
		}
		return nil
	})
}

// nearTimes is no order: of items less than half an hour apart the better comes
// first, and else the older.
func nearTimes(a, b cupel.ScoredItem) int {
	x, y := at(a.Item), at(b.Item)
	if x.Sub(y).Abs() < 30*time.Minute {
		return cmp.Compare(b.Score, a.Score)
	}
	return x.Compare(y)
}

func TestBrokenSlicers(t *testing.T) {
	type selection = *strategy.Selection
	twice, turn := false, 0
	changed := func(change func(items []cupel.ScoredItem, sel selection)) func() any {
		return the(slice(func(items []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
			if len(items) > 0 && len(sel.Indices) > 0 {
				change(items, sel)
			}
			return nil
		}))
	}
	forNothing := func(change func(items []cupel.ScoredItem, sel selection) error) func() any {
		return the(slice(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
			if len(items) == 0 || budget.TargetTokens > 0 {
				return nil
			}
			return change(items, sel)
		}))
	}
	checkFaults(t, "slicer", []fault{
		{name: "facts of nothing", rule: "accepted", make: the(nameless{})},
		{name: "refuses NaN", rule: "failure", make: the(slice(func(items []cupel.ScoredItem, _ cupel.SliceBudget, _ selection) error {
			for _, it := range items {
				if math.IsNaN(it.Score) {
					return errors.New("not a number")
				}
			}
			return nil
		}))},
		{name: "marks what it took", rule: "list", make: changed(func(items []cupel.ScoredItem, sel selection) { items[sel.Indices[0]].Score = -1 })},
		{name: "drops in turns", rule: "repeat", make: func() any {
			turn++
			code := []cupel.ExclusionCode{cupel.ExcludeFiltered, cupel.ExcludeScoredTooLow}[turn%2]
			return slice(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
				if len(items) > 0 && items[0].Item.Tokens() > budget.TargetTokens {
					sel.Drops = append(sel.Drops, strategy.Drop{Reason: because(code)})
				}
				return nil
			})
		}},
		{name: "nothing if there is room after the list", rule: "repeat", make: changed(func(items []cupel.ScoredItem, sel selection) {
			if cap(items) > len(items)+1 {
				*sel = strategy.Selection{}
			}
		})},
		{name: "a budget for all calls", rule: "memory", make: func() any {
			var lock locked
			spent := 0
			return slice(func(_ []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
				lock.do(func() {
					if spent += len(sel.Indices); spent > 500 {
						*sel = strategy.Selection{}
					}
				})
				return nil
			})
		}},
		{name: "is not safe", bubble: true, rule: "concurrency", make: func() any {
			calls := new(busy)
			return slice(func(_ []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
				if calls.shared() {
					*sel = strategy.Selection{}
				}
				return nil
			})
		}},
		{name: "by the day of the week", bubble: true, rule: "environment", make: changed(func(_ []cupel.ScoredItem, sel selection) {
			sel.Shortfalls = []cupel.CountRequirementShortfall{{RequiredCount: time.Now().YearDay()}}
		})},
		{name: "a pool that takes the result back", rule: "result", make: func() any {
			pool := &sync.Pool{New: func() any { return new([]int) }}
			return slice(func(_ []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
				list := pool.Get().(*[]int)
				*list = append((*list)[:0], sel.Indices...)
				sel.Indices = *list
				pool.Put(list)
				return nil
			})
		}, opts: []cupeltest.KitOption{cupeltest.Except("concurrency")}}, // the race detector would see it
		{name: "writes to the list later", rule: "result", make: func() any {
			var last []cupel.ScoredItem
			var lock locked
			return slice(func(items []cupel.ScoredItem, _ cupel.SliceBudget, _ selection) error {
				lock.do(func() {
					if len(last) == 3 {
						last[0].Score = 2
					}
					last = items
				})
				return nil
			})
		}, opts: []cupeltest.KitOption{cupeltest.Except("list", "memory", "concurrency")}},
		{name: "dresses the context's error", rule: "context", make: the(strategy.SlicerFunc(func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
			if ctx.Err() != nil {
				return strategy.Selection{}, errors.New("stopped")
			}
			return firstFit(items, budget), nil
		}))},
		{name: "never looks at its context", bubble: true, rule: "long-call", make: changed(func(items []cupel.ScoredItem, _ selection) { slow(len(items)) })},
		{name: "leaves goroutines", bubble: true, rule: "goroutines", make: changed(func([]cupel.ScoredItem, selection) { leak() })},
		{name: "quadratic", bubble: true, rule: "growth", make: changed(func(items []cupel.ScoredItem, _ selection) { quadratic(len(items)) })},

		{name: "works by pointer", rule: "subset", make: changed(func(items []cupel.ScoredItem, sel selection) {
			for n, i := range sel.Indices {
				sel.Indices[n] = slices.IndexFunc(items, func(it cupel.ScoredItem) bool { return it.Item == items[i].Item })
			}
		})},
		{name: "fills the ceiling", rule: "target", make: the(slice(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
			if budget.TargetTokens > 0 {
				*sel = firstFit(items, cupel.SliceBudget{TargetTokens: budget.MaxTokens})
			}
			return nil
		}))},
		{name: "sums wrap", rule: "target", make: the(slice(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
			sel.Indices = nil
			used := 0
			for i, it := range items {
				if budget.TargetTokens > 0 && used+it.Item.Tokens() <= budget.TargetTokens {
					used += it.Item.Tokens()
					sel.Indices = append(sel.Indices, i)
				}
			}
			return nil
		}))},
		{name: "counts no forms", rule: "target", make: changed(func(items []cupel.ScoredItem, sel selection) {
			for i, it := range items {
				if len(it.Item.Forms()) > 0 && !slices.Contains(sel.Indices, i) {
					sel.Smaller = append(sel.Smaller, strategy.SmallerForm{Index: i, Form: 1})
				}
			}
		})},
		{name: "shortfalls for nothing", rule: "nothing", make: forNothing(func(_ []cupel.ScoredItem, sel selection) error {
			sel.Shortfalls = []cupel.CountRequirementShortfall{{Kind: "A", RequiredCount: 2}}
			return nil
		})},
		{name: "misses items for nothing", rule: "nothing", make: forNothing(func([]cupel.ScoredItem, selection) error {
			return &cupel.ScarcityError{Slicer: "HalfSlice", Kind: cupel.KindMemory, RequireCount: 1}
		})},
		{name: "free items always", rule: "nothing", make: forNothing(func(items []cupel.ScoredItem, sel selection) error {
			for i, it := range items {
				if it.Item.Tokens() == 0 {
					sel.Indices = append(sel.Indices, i)
				}
			}
			return nil
		})},
		{name: "caps silently", rule: "room", make: the(capped{})},
		{name: "stays the same for ever", rule: "stays-until", make: changed(func(_ []cupel.ScoredItem, sel selection) { sel.StaysUntil = math.MaxInt })},
		{name: "has nothing for a kind", rule: "for-kind", make: the(&facts{ForKind: func(cupel.ContextKind) strategy.Slicer { return nil }})},
		{name: "one slicer for every kind", rule: "for-kind", make: func() any { return new(narrowingItself) }},
		{name: "explains nothing", rule: "explain", make: the(explains(func([]cupel.ScoredItem, int) strategy.Obstacle { return strategy.Obstacle{} }))},
		{name: "explains by what is out", rule: "explain", make: the(explains(func(_ []cupel.ScoredItem, at int) strategy.Obstacle {
			return strategy.Obstacle{Rule: "because", Before: []int{at}}
		}))},
		{name: "stays out for ever", rule: "explain", make: the(explains(func([]cupel.ScoredItem, int) strategy.Obstacle {
			return strategy.Obstacle{Rule: "because", OutUntil: math.MaxInt}
		}))},
		{name: "explains in two ways", rule: "explain", make: the(explains(func([]cupel.ScoredItem, int) strategy.Obstacle {
			twice = !twice
			return strategy.Obstacle{Rule: map[bool]string{true: "because", false: "since"}[twice]}
		}))},
		{name: "explains by sorting the list", rule: "explain", make: the(explains(func(items []cupel.ScoredItem, _ int) strategy.Obstacle {
			slices.SortFunc(items, func(a, b cupel.ScoredItem) int { return cmp.Compare(a.Item.Tokens(), b.Item.Tokens()) })
			return strategy.Obstacle{Rule: "because"}
		}))},
		{name: "nothing", rule: "useless", make: changed(func(_ []cupel.ScoredItem, sel selection) { *sel = strategy.Selection{} })},
		{name: "the last that fits first", rule: "useless", make: the(byOrder(func(a, b cupel.ScoredItem) int { return cmp.Compare(a.Score, b.Score) }))},
		{name: "stops at the first that does not fit", rule: "room", make: the(slice(func(items []cupel.ScoredItem, _ cupel.SliceBudget, sel selection) error {
			for i, at := range sel.Indices {
				if at != i {
					sel.Indices = sel.Indices[:i]
					break
				}
			}
			return nil
		}))},
		{name: "the first 1,000", rule: "room", make: the(slice(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel selection) error {
			*sel = firstFit(items[:min(1000, len(items))], budget)
			return nil
		}))},
		{name: "nothing that is free", rule: "room", make: changed(func(items []cupel.ScoredItem, sel selection) {
			sel.Indices = slices.DeleteFunc(sel.Indices, func(i int) bool { return items[i].Item.Tokens() == 0 })
		})},
		{name: "Greedy without documents", rule: "room", make: the(withoutDocuments{})},
		{name: "an unstable sort", rule: "alike", make: the(byOrder(func(a, b cupel.ScoredItem) int { return cmp.Compare(a.Item.Tokens(), b.Item.Tokens()) }))},
		{name: "an unstable sort of kinds", rule: "alike", make: the(byOrder(func(a, b cupel.ScoredItem) int { return cmp.Compare(a.Item.Kind(), b.Item.Kind()) }))},
		{name: "no order", rule: "order", make: the(byOrder(nearTimes))},
		{name: "no order of sizes", rule: "order", make: the(byOrder(func(a, b cupel.ScoredItem) int {
			if x, y := a.Item.Tokens()/10, b.Item.Tokens()/10; x > y+1 || y > x+1 {
				return cmp.Compare(x, y)
			}
			return cmp.Compare(b.Score, a.Score)
		}))},
	})
}

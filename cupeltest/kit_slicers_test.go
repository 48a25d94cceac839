package cupeltest_test

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupeltest"
)

// firstFit is a sound slicer for tokens whose sum does not wrap, and any other.
func firstFit(items []cupel.ScoredItem, budget cupel.SliceBudget) (sel strategy.Selection) {
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
func slicerWith(change func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel *strategy.Selection) error) sliceFunc {
	return func(items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
		sel := firstFit(items, budget)
		err := change(items, budget, &sel)
		return sel, err
	}
}

func brokenSlicer(change func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel *strategy.Selection) error) func(t cupeltest.T) {
	return func(t cupeltest.T) { cupeltest.TestSlicer(t, the[strategy.Slicer](slicerWith(change))) }
}

// without leaves out the first of what is selected when leave says so.
func without(newLeave func() func(items []cupel.ScoredItem) bool) func(t cupeltest.T) {
	newSlicer := func() strategy.Slicer {
		leave := newLeave()
		return slicerWith(func(items []cupel.ScoredItem, _ cupel.SliceBudget, sel *strategy.Selection) error {
			if leave(items) && len(sel.Indices) > 0 {
				sel.Indices = sel.Indices[1:]
			}
			return nil
		})
	}
	return func(t cupeltest.T) { cupeltest.TestSlicer(t, newSlicer) }
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

// plain is a sound slicer.
type plain struct{}

func (plain) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	return firstFit(items, budget), nil
}

// narrowing is a sound slicer without one for sketches.
type narrowing struct{ plain }

func (n narrowing) Facts() strategy.Facts {
	return strategy.Facts{Of: n, ForKind: func(kind cupel.ContextKind) strategy.Slicer {
		if kind == "Sketch" {
			return nil
		}
		return n
	}}
}

// explaining is a sound slicer that explains itself badly.
type explaining struct {
	rule string
	self bool // it names the item that it is asked about

	outUntil int
}

func (explaining) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	return firstFit(items, budget), nil
}

func (e explaining) Facts() strategy.Facts {
	return strategy.Facts{Of: e, Explain: func(_ context.Context, _ []cupel.ScoredItem, _ cupel.SliceBudget, _ strategy.Selection, at int) (strategy.Obstacle, error) {
		o := strategy.Obstacle{Rule: e.rule, OutUntil: e.outUntil}
		if e.self {
			o.Before = []int{at}
		}
		return o, nil
	}}
}

// stopping is a slicer with an error of its own, or none, for a context that is
// done.
type stopping struct{ err error }

func (s stopping) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	if ctx.Err() != nil {
		return strategy.Selection{}, s.err
	}
	return firstFit(items, budget), nil
}

// outlines returns what firstFit left out and has a form 1 that fits.
func outlines(items []cupel.ScoredItem, budget cupel.SliceBudget, sel strategy.Selection) (fit []strategy.SmallerForm) {
	left := budget.TargetTokens
	for _, i := range sel.Indices {
		left -= items[i].Item.Tokens()
	}
	for i, it := range items {
		if forms := it.Item.Forms(); left > 0 && len(forms) > 0 && forms[0].Tokens <= left && !slices.Contains(sel.Indices, i) {
			fit = append(fit, strategy.SmallerForm{Index: i, Form: 1})
			left -= forms[0].Tokens
		}
	}
	return fit
}

// smaller selects what firstFit does, and form 1 of what is left, of what fits
// or of everything.
func smaller(change func(form strategy.SmallerForm) []strategy.SmallerForm, fits bool) func(t cupeltest.T) {
	return brokenSlicer(func(items []cupel.ScoredItem, budget cupel.SliceBudget, sel *strategy.Selection) error {
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

func (capped) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	sel := firstFit(items, budget)
	sel.Indices = sel.Indices[:min(2, len(sel.Indices))]
	return sel, nil
}

func (c capped) Facts() strategy.Facts { return strategy.Facts{Of: c, LeftOver: true} }

func slicerOf(newSlice func() slicing) func(t cupeltest.T) {
	return func(t cupeltest.T) {
		cupeltest.TestSlicer(t, func() strategy.Slicer {
			slice := newSlice()
			return sliceFunc(func(items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
				return slice(items, budget), nil
			})
		})
	}
}

// firstFitOf changes what is selected.
func firstFitOf(change func(items []cupel.ScoredItem, sel *strategy.Selection)) func() slicing {
	return the[slicing](func(items []cupel.ScoredItem, budget cupel.SliceBudget) strategy.Selection {
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
		return func(items []cupel.ScoredItem, budget cupel.SliceBudget) (sel strategy.Selection) {
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

// late is a slicer that stops between items, without an error.
type late struct{}

func (late) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (sel strategy.Selection, err error) {
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

// pooled gives its buffer back while the result uses it.
type pooled struct{ buffers *sync.Pool }

func (p pooled) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	buffer := p.buffers.Get().(*[]int)
	defer p.buffers.Put(buffer)
	*buffer = append((*buffer)[:0], firstFit(items, budget).Indices...)
	return strategy.Selection{Indices: *buffer}, nil
}

// watching forgets that some contexts never end.
type watching struct{}

func (watching) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	if len(items) == 40 { // else the test itself runs with too many
		go func() { <-ctx.Done() }()
	}
	return firstFit(items, budget), nil
}

// exact tries every subset of a short list, and returns the best in reverse.
type exact struct{}

func (exact) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (sel strategy.Selection, err error) {
	if len(items) > 9 || budget.TargetTokens == 0 {
		return firstFit(items, budget), nil
	}
	best, most := 0, math.Inf(-1)
	for set := range 1 << len(items) {
		left, sum := budget.TargetTokens, 0.0
		for i, it := range items {
			if set>>i&1 == 1 {
				if it.Item.Tokens() > left {
					sum = math.Inf(-1)
					break
				}
				left -= it.Item.Tokens()
				sum += it.Score
			}
		}
		if sum > most {
			best, most = set, sum
		}
	}
	for i := range slices.Backward(items) {
		if best>>i&1 == 1 {
			sel.Indices = append(sel.Indices, i)
		}
	}
	return sel, nil
}

// ofTwo takes the longer of two selections that goroutines make.
type ofTwo struct{}

func (ofTwo) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	halves := make(chan []int, 2)
	for _, backward := range []bool{false, true} {
		go func() {
			var chosen []int
			left := budget.TargetTokens
			for i := range items {
				if backward {
					i = len(items) - 1 - i
				}
				if tokens := items[i].Item.Tokens(); left > 0 && tokens <= left && ctx.Err() == nil {
					left -= tokens
					chosen = append(chosen, i)
				}
			}
			slices.Sort(chosen)
			halves <- chosen
		}()
	}
	a, b := <-halves, <-halves
	if len(b) > len(a) || len(b) == len(a) && slices.Compare(b, a) < 0 {
		a = b
	}
	return strategy.Selection{Indices: a}, context.Cause(ctx)
}

// lateDone looks at its context twice, and is right the first time.
type lateDone struct{}

func (lateDone) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	if err := ctx.Err(); err != nil {
		return strategy.Selection{}, err
	}
	sel := firstFit(items, budget)
	select {
	case <-ctx.Done():
		sel.Indices = nil
	default:
	}
	return sel, nil
}

// staysOf says that its selections stay the same for ever, from some target on.
type staysOf struct{ from int }

func (s staysOf) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	sel, err := slicer.Greedy{}.Slice(ctx, items, budget)
	if budget.TargetTokens >= s.from {
		sel.StaysUntil = math.MaxInt
	}
	return sel, err
}

// narrowOf returns a slicer that is not ready.
type narrowOf struct{}

func (narrowOf) Slice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	return firstFit(items, budget), nil
}

func (n narrowOf) Facts() strategy.Facts {
	return strategy.Facts{Of: n, ForKind: func(cupel.ContextKind) strategy.Slicer { return invalid{} }}
}

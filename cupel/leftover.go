package cupel

import (
	"math"
	"sync"

	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/fill"
	"github.com/wollax/cupel-go/cupel/internal/promoted"
)

// SmallerForm is a position that a slicer chose in a smaller form.
type SmallerForm struct {
	Index int // position in the list that the slicer got
	// Form is one of [ContextItem.Forms], counted from 1. Older versions of the
	// item have the numbers after those; only the left-over pass chooses them.
	Form int
}

// LeftOverSlicer is implemented by slicers that want the left-over pass. After
// such a slicer has chosen, [Slice] fills the rest of the target: it adds
// smaller forms of what the slicer left out, and lets chosen smaller forms
// grow. Items that the slicer dropped for its own reason stay out. A slicer
// that leaves items out for reasons other than the budget, without dropping
// them, must not ask for the pass.
//
// A type that embeds a LeftOverSlicer inherits its LeftOver, which is used only
// if the type inherits Slice as well.
//
// It implements the left-over pass of the Units chapter.
type LeftOverSlicer interface {
	Slicer
	// LeftOver reports whether the slicer wants the pass.
	LeftOver() bool
}

// fillUp runs the pass for a slicer that wants it.
func fillUp(s LeftOverSlicer, items []ScoredItem, budget SliceBudget, sel Selection) (_ Selection, err error) {
	defer recoverStrategy("slicer", s, &err)
	if !s.LeftOver() || !promoted.LeftOver.Agree(s) {
		return sel, nil
	}
	return leftOver(items, budget.TargetTokens, sel), nil
}

// fillable reports whether an item has smaller forms, or older versions that
// may come back.
func (it *ContextItem) fillable() bool {
	return it != nil && it.units != nil && (it.numForms() > 0 || len(it.older()) > 0)
}

func anyFillable(items []ScoredItem) bool {
	for i := range items {
		if items[i].Item.fillable() {
			return true
		}
	}
	return false
}

// pointOf returns a form of an item, or an older version.
func pointOf(it ScoredItem, form int) fill.Point {
	p := fill.Point{Form: int32(form), Tokens: it.Item.tokens, Value: fill.Value(it.Score, 1)}
	if n := it.Item.numForms(); form > n {
		older := it.Item.older()[form-n-1]
		p.Tokens, p.Value = older.Tokens, fill.Value(older.Worth, 1)
	} else if form > 0 {
		shape := it.Item.form(form)
		p.Tokens, p.Value = shape.Tokens, fill.Value(it.Score, shape.Worth)
	}
	return p
}

// leftOver is LEFT-OVER of the Units chapter, for a selection that was checked.
func leftOver(items []ScoredItem, target int, sel Selection) Selection {
	if target <= 0 {
		return sel
	}
	left := exact.Of(target)
	forms := newFormsOf(len(items))
	defer forms.free()
	for _, i := range sel.Indices {
		forms.list[i] = 0
		left.Sub(items[i].Item.tokens)
	}
	for _, s := range sel.Smaller {
		forms.list[s.Index] = int32(s.Form)
		left.Sub(pointOf(items[s.Index], s.Form).Tokens)
	}
	rest := left.Int()
	if rest < 0 {
		return sel
	}
	for _, d := range sel.Drops {
		forms.list[d.Index] = dropped
	}

	f := fill.New()
	defer f.Free()
	for i, it := range items {
		state := fill.Point{Form: fill.Out}
		switch form := forms.list[i]; {
		case form == dropped, form == 0, it.Item == nil, it.Item.units == nil: // a full item does not grow
			continue
		case form != fill.Out:
			state = pointOf(it, int(form))
		case int64(it.Item.least) > int64(rest):
			continue
		}
		if !it.Item.fillable() {
			continue
		}
		forms.taking = append(forms.taking, int32(i))
		f.Add(state)
		shapes := it.Item.units.forms
		for n := len(shapes) - 1; n >= -1; n-- { // smallest first
			form := Form{it.Item.tokens, 1}
			if n >= 0 {
				form = shapes[n]
			}
			if form.Tokens-state.Tokens > rest {
				break
			}
			f.Point(fill.Point{Form: int32(n + 1), Tokens: form.Tokens, Value: fill.Value(it.Score, form.Worth)})
		}
		if state.Form == fill.Out {
			for n := range it.Item.older() {
				f.Point(pointOf(it, len(shapes)+1+n))
			}
		}
	}
	f.Run(rest)

	full, smaller := 0, 0
	for unit, i := range forms.taking {
		if forms.list[i] = f.State(unit).Form; forms.list[i] == 0 {
			full++
		}
	}
	for _, form := range forms.list {
		if form > 0 {
			smaller++
		}
	}
	// The lists may be the slicer's own: they are copied, not changed.
	if full > 0 {
		sel.Indices = append(make([]int, 0, len(sel.Indices)+full), sel.Indices...)
		for _, i := range forms.taking {
			if forms.list[i] == 0 {
				sel.Indices = append(sel.Indices, int(i))
			}
		}
	}
	sel.Smaller = nil
	if smaller > 0 {
		sel.Smaller = make([]SmallerForm, 0, smaller)
		for i, form := range forms.list {
			if form > 0 {
				sel.Smaller = append(sel.Smaller, SmallerForm{i, int(form)})
			}
		}
	}
	return sel
}

// findLeast sets least once the forms are known.
func (it *ContextItem) findLeast() {
	least := it.tokens
	if n := it.numForms(); n > 0 {
		least = it.form(n).Tokens
	}
	for _, older := range it.older() {
		least = min(least, older.Tokens)
	}
	it.least = uint32(max(0, min(int64(least), math.MaxUint32)))
}

// dropped is the form of an item that a slicer dropped for its own reason.
const dropped = fill.Out - 1

// formsOf holds the form of each item of a list.
type formsOf struct {
	list   []int32
	taking []int32 // positions that take part in the pass
}

var formsPool = sync.Pool{New: func() any { return new(formsOf) }}

// newFormsOf returns n forms, all out, in pooled memory.
func newFormsOf(n int) *formsOf {
	f := formsPool.Get().(*formsOf)
	f.list, f.taking = resize(f.list, n), f.taking[:0]
	for i := range f.list {
		f.list[i] = fill.Out
	}
	return f
}

func (f *formsOf) free() { formsPool.Put(f) }

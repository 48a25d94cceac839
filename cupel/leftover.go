package cupel

import (
	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/fill"
	"github.com/wollax/cupel-go/cupel/internal/promoted"
)

// SmallerForm is a position that a slicer takes in a smaller form.
type SmallerForm struct {
	Index int // position in the list that the slicer was given
	// Form is one of [ContextItem.Forms], counted from 1. Older versions of the
	// item are counted on behind them; only the left-over pass takes those.
	Form int
}

// LeftOverSlicer is implemented by slicers that want the left-over pass: [Slice]
// then fills what their choice leaves of the target with smaller forms of what
// they left out, and lets the smaller forms that they chose grow. What a slicer
// dropped for a reason of its own stays out. A slicer that leaves items out for
// other reasons than the budget, without dropping them, must not ask for the
// pass.
//
// A type that embeds a LeftOverSlicer has its LeftOver, which is used as long as
// Slice is the embedded type's too.
//
// It implements the left-over pass of the Units chapter.
type LeftOverSlicer interface {
	Slicer
	// LeftOver reports whether the pass is wanted.
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

// fillable reports whether an item has smaller forms, or older versions that may
// come back.
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
	const dropped = fill.Out - 1
	forms := make([]int32, len(items))
	for i := range forms {
		forms[i] = fill.Out
	}
	for _, i := range sel.Indices {
		forms[i] = 0
		left.Sub(items[i].Item.tokens)
	}
	for _, s := range sel.Smaller {
		forms[s.Index] = int32(s.Form)
		left.Sub(pointOf(items[s.Index], s.Form).Tokens)
	}
	for _, d := range sel.Drops {
		forms[d.Index] = dropped
	}

	f := fill.New()
	defer f.Free()
	for i, it := range items {
		if forms[i] == dropped || !it.Item.fillable() {
			continue
		}
		last := it.Item.numForms()
		state := fill.Point{Form: fill.Out}
		if forms[i] == fill.Out {
			last += len(it.Item.older())
		} else {
			state = pointOf(it, int(forms[i]))
		}
		f.Add(state)
		for form := 0; form <= last; form++ {
			f.Point(pointOf(it, form))
		}
	}
	f.Run(left.Int())

	// The lists may be the slicer's own: they are copied, not changed.
	indices, smaller := sel.Indices[:len(sel.Indices):len(sel.Indices)], []SmallerForm(nil)
	unit := 0
	for i, it := range items {
		form := forms[i]
		if form != dropped && it.Item.fillable() {
			if form = f.State(unit).Form; form == 0 && forms[i] != 0 {
				indices = append(indices, i)
			}
			unit++
		}
		if form > 0 {
			smaller = append(smaller, SmallerForm{i, int(form)})
		}
	}
	sel.Indices, sel.Smaller = indices, smaller
	return sel
}

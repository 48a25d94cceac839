package strategy

import (
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/engine"
	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/fill"
	"github.com/wollax/cupel-go/cupel/internal/inside"
)

// data is what package cupel shares with this package.
var data = inside.Cupel.(interface {
	Points(it *cupel.ContextItem) (forms, older []engine.Form)
})

// anyFillable reports whether an item has smaller forms, or older versions that may
// come back.
func anyFillable(items []cupel.ScoredItem) bool {
	for i := range items {
		if it := items[i].Item; !it.Plain() {
			if forms, older := data.Points(it); len(forms)+len(older) > 0 {
				return true
			}
		}
	}
	return false
}

// pointOf returns a form of an item, or an older version.
func pointOf(it cupel.ScoredItem, form int) fill.Point {
	p := fill.Point{Form: int32(form), Tokens: it.Item.Tokens(), Value: fill.Value(it.Score, 1)}
	forms, older := data.Points(it.Item)
	switch n := len(forms); {
	case form > n:
		o := older[form-n-1]
		p.Tokens, p.Value = o.Tokens, fill.Value(o.Worth, 1) // its worth is its score
	case form > 0:
		p.Tokens, p.Value = forms[form-1].Tokens, fill.Value(it.Score, forms[form-1].Worth)
	}
	return p
}

// dropped is the form of an item that a slicer dropped for its own reason.
const dropped = fill.Out - 1

// leftOver is LEFT-OVER of the Units chapter, for a selection that was checked.
func leftOver(items []cupel.ScoredItem, target int, sel Selection) Selection {
	if target <= 0 {
		return sel
	}
	left := exact.Of(target)
	taken := make([]int32, len(items)) // by position: the form
	for i := range taken {
		taken[i] = fill.Out
	}
	for _, i := range sel.Indices {
		taken[i] = 0
		left.Sub(items[i].Item.Tokens())
	}
	for _, s := range sel.Smaller {
		taken[s.Index] = int32(s.Form)
		left.Sub(pointOf(items[s.Index], s.Form).Tokens)
	}
	rest := left.Int()
	if rest < 0 {
		return sel
	}
	for _, d := range sel.Drops {
		taken[d.Index] = dropped
	}
	full, rest := fillOwn(items, taken, rest)
	fillOlder(items, taken, rest)

	// The lists may be the slicer's own: they are copied, not changed.
	if len(full) > 0 {
		sel.Indices = slices.Concat(sel.Indices, full)
	}
	sel.Smaller = nil
	for i, form := range taken {
		if form > 0 {
			sel.Smaller = append(sel.Smaller, SmallerForm{i, int(form)})
		}
	}
	return sel
}

// fillOwn gives left tokens to the forms of items that have smaller ones. It returns
// the positions that came in or grew to form 0, and what is left then.
func fillOwn(items []cupel.ScoredItem, taken []int32, left int) (full []int, rest int) {
	f := fill.New()
	defer f.Free()
	var taking []int
	for i, it := range items {
		forms, _ := data.Points(it.Item)
		n := len(forms)
		state := fill.Point{Form: fill.Out}
		switch form := taken[i]; {
		case n == 0, form == dropped, form == 0, int(form) > n: // neither a full item nor an older version grows
			continue
		case form != fill.Out:
			state = pointOf(it, int(form))
		}
		taking = append(taking, i)
		f.Add(state)
		for ; n >= 0; n-- { // smallest first
			p := pointOf(it, n)
			if p.Tokens-state.Tokens > left {
				break
			}
			f.Point(p)
		}
	}
	left = f.Run(left)
	for unit, i := range taking {
		if taken[i] = f.State(unit).Form; taken[i] == 0 {
			full = append(full, i)
		}
	}
	return full, left
}

// fillOlder gives left tokens to older versions of items that are still out and
// too large. Items that would fit are out for reasons of the slicer, and so their
// older versions stay out too.
func fillOlder(items []cupel.ScoredItem, taken []int32, left int) {
	f := fill.New()
	defer f.Free()
	var taking []int
	for i, it := range items {
		forms, older := data.Points(it.Item)
		if len(older) == 0 || taken[i] != fill.Out || it.Item.Tokens() <= left {
			continue
		}
		taking = append(taking, i)
		f.Add(fill.Point{Form: fill.Out})
		for n := range older {
			f.Point(pointOf(it, len(forms)+1+n))
		}
	}
	f.Run(left)
	for unit, i := range taking {
		taken[i] = f.State(unit).Form
	}
}

package slicer

import (
	"context"
	"fmt"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/order"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// explanation is Explain of [strategy.Facts].
type explanation = func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget, chosen strategy.Selection, at int) (strategy.Obstacle, error)

// explainTurn explains slicers that take each item that still fits, in the
// order of a value. It says what later items and smaller forms took, because the
// reason in the report counts what is left after them.
func explainTurn(rule string, value func(score float64, tokens int) float64) explanation {
	return func(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget, chosen strategy.Selection, at int) (strategy.Obstacle, error) {
		w := walks.Get().(*walk)
		defer walks.Put(w)
		w.sort(items, value)
		target, turn := budget.TargetTokens, 0
		if target > 0 {
			turn = slices.IndexFunc(w.pairs, func(p order.Pair) bool { return p.Index == at })
		}
		left, _ := w.take(target, turn)
		o := strategy.Obstacle{Before: slices.Clone(w.taken)}
		later := left - target // what was chosen, less what came before
		for _, i := range chosen.Indices {
			later += items[i].Item.Tokens()
		}
		smaller := 0 // the left-over pass comes after all turns
		for _, f := range chosen.Smaller {
			if forms := items[f.Index].Item.Forms(); f.Form <= len(forms) { // else an older version
				smaller += forms[f.Form-1].Tokens
			}
		}
		o.Rule = fmt.Sprintf("%s When its turn came, %d of %d tokens were left.", rule, left, target)
		if len(o.Before) == 0 {
			o.Rule = fmt.Sprintf("%s Nothing comes before it, but there are only %d tokens.", rule, left)
		}
		if later > 0 {
			o.Rule += fmt.Sprintf(" Later items took %d of them.", later)
		}
		if smaller > 0 {
			o.Rule += fmt.Sprintf(" Smaller forms of items took %d of them.", smaller)
		}
		if target > 0 {
			o.OutUntil = w.outUntil(target, turn)
		}
		return o, nil
	}
}

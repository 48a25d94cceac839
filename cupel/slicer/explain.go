package slicer

import (
	"context"
	"fmt"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/order"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// explanation is Explain of [strategy.Facts].
type explanation = func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget, chosen strategy.Selection, at int) (strategy.Obstacle, error)

// explainTurn explains slicers that take each item that still fits, in the
// order of a value. It says what later items and smaller forms took, because the
// reason in the report counts what is left after them.
func explainTurn(rule string, value func(cupel.ScoredItem) float64) explanation {
	return func(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget, chosen strategy.Selection, at int) (strategy.Obstacle, error) {
		var o strategy.Obstacle
		left, later := budget.TargetTokens, 0
		turn := order.Key(value(items[at]))
		for _, i := range chosen.Indices {
			if key := order.Key(value(items[i])); key > turn || key == turn && i < at {
				o.Before = append(o.Before, i)
				left -= items[i].Item.Tokens()
			} else {
				later += items[i].Item.Tokens()
			}
		}
		smaller := 0 // the left-over pass comes after all turns
		for _, f := range chosen.Smaller {
			if forms := items[f.Index].Item.Forms(); f.Form <= len(forms) { // else an older version
				smaller += forms[f.Form-1].Tokens
			}
		}
		o.Rule = fmt.Sprintf("%s When its turn came, %d of %d tokens were left.", rule, left, budget.TargetTokens)
		if len(o.Before) == 0 {
			o.Rule = fmt.Sprintf("%s Nothing comes before it, but there are only %d tokens.", rule, left)
		}
		if later > 0 {
			o.Rule += fmt.Sprintf(" Later items took %d of them.", later)
		}
		if smaller > 0 {
			o.Rule += fmt.Sprintf(" Smaller forms of items took %d of them.", smaller)
		}
		if budget.TargetTokens > 0 {
			o.OutUntil = outUntil(items, budget.TargetTokens, at, value)
		}
		return o, nil
	}
}

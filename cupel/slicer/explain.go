package slicer

import (
	"context"
	"fmt"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/internal/order"
)

// ExplainSlice implements [cupel.SliceExplainer]: the items that came before
// left too few tokens.
func (Greedy) ExplainSlice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget, chosen cupel.Selection, at int) (cupel.Obstacle, error) {
	return explainTurn("GreedySlice takes the highest score per token first.", items, budget, chosen, at, density), nil
}

// ExplainSlice implements [cupel.SliceExplainer]: the items that came before
// left too few tokens.
func (ScoreGreedy) ExplainSlice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget, chosen cupel.Selection, at int) (cupel.Obstacle, error) {
	return explainTurn("ScoreGreedySlice takes the highest score first.", items, budget, chosen, at,
		func(it cupel.ScoredItem) float64 { return it.Score }), nil
}

// explainTurn explains slicers that take each item that still fits, in the
// order of a value. It says what later items and smaller forms took, because the
// reason in the report counts what is left after them.
func explainTurn(rule string, items []cupel.ScoredItem, budget cupel.SliceBudget, chosen cupel.Selection, at int, value func(cupel.ScoredItem) float64) cupel.Obstacle {
	var o cupel.Obstacle
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
	return o
}

// ExplainSlice implements [cupel.SliceExplainer]: other items together are
// worth more, or the item is worth nothing.
func (k Knapsack) ExplainSlice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget, chosen cupel.Selection, at int) (cupel.Obstacle, error) {
	if scaledValue(items[at].Score) == 0 {
		return cupel.Obstacle{Rule: "KnapsackSlice takes nothing with a score below 0.0001.", Before: chosen.Indices}, nil
	}
	rule := fmt.Sprintf("KnapsackSlice takes the items whose scores have the highest sum, within %d tokens", budget.TargetTokens)
	if bucket := k.bucket(items, budget.TargetTokens); bucket > 1 {
		rule += fmt.Sprintf(", the tokens of each rounded up to buckets of %d", bucket)
	}
	if k.topUp {
		rule += "; what is left goes to the highest scores that fit"
	}
	return cupel.Obstacle{Rule: rule + ".", Before: chosen.Indices}, nil
}

// ExplainSlice implements [cupel.SliceExplainer]: the forms of other items
// together are worth more, or the item is worth less than nothing.
func (m MultipleChoice) ExplainSlice(_ context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget, chosen cupel.Selection, at int) (cupel.Obstacle, error) {
	if !(items[at].Score >= 0) { // written so that NaN is one of them
		return cupel.Obstacle{Rule: "MultipleChoiceSlice takes nothing with a negative score or none."}, nil
	}
	o := cupel.Obstacle{Rule: fmt.Sprintf("MultipleChoiceSlice takes the forms with the most value per token, within %d tokens.", budget.TargetTokens)}
	if m.exact {
		o.Rule = fmt.Sprintf("MultipleChoiceSlice takes the forms whose values have the highest sum, within %d tokens.", budget.TargetTokens)
	}
	o.Before = append(o.Before, chosen.Indices...)
	for _, f := range chosen.Smaller {
		o.Before = append(o.Before, f.Index)
	}
	return o, nil
}

// ExplainSlice implements [cupel.SliceExplainer]: the kind has reached its cap,
// or required items came first and the inner slicer explains the rest.
func (c *CountQuota) ExplainSlice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget, chosen cupel.Selection, at int) (cupel.Obstacle, error) {
	return c.explain(ctx, c.inner, items, budget, chosen, at)
}

// ExplainSlice implements [cupel.SliceExplainer] as [CountQuota.ExplainSlice]
// does.
func (c *CountConstrainedKnapsack) ExplainSlice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget, chosen cupel.Selection, at int) (cupel.Obstacle, error) {
	return c.explain(ctx, c.knapsack, items, budget, chosen, at)
}

func (c counter) explain(ctx context.Context, inner cupel.Slicer, items []cupel.ScoredItem, budget cupel.SliceBudget, chosen cupel.Selection, at int) (cupel.Obstacle, error) {
	if budget.TargetTokens <= 0 {
		return cupel.Obstacle{Rule: c.component + " has no tokens to choose with."}, nil
	}
	s := newScratch()
	defer s.free()
	c.numberEntries(s, items)
	if n := s.numbers[at]; n != noEntry && c.dropped(chosen, n, at) {
		e := c.entries[n]
		if e.CapCount == 0 {
			return cupel.Obstacle{Rule: fmt.Sprintf("%s takes no items of the kind %s.", c.component, e.Kind)}, nil
		}
		o := cupel.Obstacle{Rule: fmt.Sprintf("%s takes at most %s of the kind %s.", c.component, count(e.CapCount), e.Kind)}
		for _, i := range chosen.Indices {
			if s.numbers[i] == n {
				o.Before = append(o.Before, i)
			}
		}
		for _, f := range chosen.Smaller {
			if s.numbers[f.Index] == n {
				o.Before = append(o.Before, f.Index)
			}
		}
		return o, nil
	}

	spent, err := c.commit(s, items, new(cupel.Selection))
	if err != nil {
		return cupel.Obstacle{}, err
	}
	rest, places := s.rest(items)
	budget.TargetTokens = min(max(0, exact.Of(budget.TargetTokens).Minus(spent).Int()), budget.MaxTokens)
	place := 0
	for places.of(place) != at {
		place++
	}
	o, err := cupel.ExplainSlice(ctx, inner, rest, budget, place)
	if err != nil {
		return cupel.Obstacle{}, err
	}
	before := append([]int{}, s.selected...)
	for _, i := range o.Before {
		before = append(before, places.of(i))
	}
	if n := len(s.selected); n > 0 {
		o.Rule = fmt.Sprintf("%s takes what it requires of a kind first, here %s. %s", c.component, count(n), o.Rule)
	}
	return cupel.Obstacle{Rule: o.Rule, Before: before}, nil
}

// dropped reports whether an item was dropped because of the cap of an entry.
func (c counter) dropped(chosen cupel.Selection, entry int32, at int) bool {
	for _, d := range chosen.Drops {
		if d.Index == at {
			return d.Reason.Code == cupel.ExcludeCountCapExceeded && d.Reason.Data().Cap == c.entries[entry].CapCount
		}
	}
	return false
}

func count(items int) string {
	if items == 1 {
		return "1 item"
	}
	return fmt.Sprintf("%d items", items)
}

// ExplainSlice implements [cupel.SliceExplainer]: it names the share of the
// kind, and gives the inner slicer's explanation within that share.
func (q *Quota) ExplainSlice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget, _ cupel.Selection, at int) (cupel.Obstacle, error) {
	if budget.TargetTokens <= 0 {
		return cupel.Obstacle{Rule: "QuotaSlice has no tokens to share out."}, nil
	}
	s := newScratch()
	defer s.free()
	s.partition(items)
	q.distribute(s.groups, budget.TargetTokens)
	g := s.groups[s.numbers[at]]
	if g.budget.TargetTokens <= 0 {
		return cupel.Obstacle{Rule: fmt.Sprintf("QuotaSlice leaves no tokens for the kind %s.", g.kind)}, nil
	}
	positions := s.positions[g.start : g.start+g.size]
	place := 0
	for positions[place] != at {
		place++
	}
	o, err := cupel.ExplainSlice(ctx, narrow(q.inner, g.kind), s.items[g.start:g.start+g.size:g.start+g.size], g.budget, place)
	if err != nil {
		return cupel.Obstacle{}, err
	}
	before := make([]int, len(o.Before))
	for i, at := range o.Before {
		before[i] = positions[at]
	}
	rule := fmt.Sprintf("QuotaSlice gives the kind %s %d of %d tokens. %s", g.kind, g.budget.TargetTokens, budget.TargetTokens, o.Rule)
	return cupel.Obstacle{Rule: rule, Before: before}, nil
}

package pipeline

import (
	"context"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/engine"
	"github.com/wollax/cupel-go/cupel/strategy"
)

// Explain returns what keeps a candidate from being selected with a budget, once
// it is scored: the slicer's own account, or the overflow that took the candidate
// out again. Its positions are positions of candidates. It returns a zero Obstacle
// for a candidate that is in, and for one that the slicer never saw: pinned, with
// negative tokens, or a duplicate.
//
// It costs up to two selections, and fails as [Prepared.Select] does.
func (p *Prepared) Explain(ctx context.Context, budget cupel.ContextBudget, candidate int) (o strategy.Obstacle, err error) {
	ctx = contextOr(ctx)
	r := p.start(budget, true)
	if r.failed != nil || candidate < 0 || candidate >= len(p.items) {
		return o, r.failed
	}
	err = r.stage(ctx, classify, 0, r.classify)
	if err == nil {
		err = r.stage(ctx, slice, 0, func(ctx context.Context) (_ int, err error) {
			o, err = r.explain(ctx, engine.Candidate(candidate))
			return 0, err
		})
	}
	if err != nil {
		return strategy.Obstacle{}, err
	}
	r.free()
	return o, nil
}

// explain answers for all members of the candidate's unit.
func (r *run) explain(ctx context.Context, candidate engine.Candidate) (o strategy.Obstacle, err error) {
	wanted := r.set.UnitOf(candidate)
	at := slices.Index(r.ranking.Sorted(), wanted)
	older := r.set.IsOlder(candidate)
	if at < 0 && !older {
		return o, nil
	}
	plain := r.columns.Links == nil
	r.effective = r.budget.Effective(r.choice.PinnedTokens.Int())
	if plain && r.effective.TargetTokens > 0 { // usually it is the slicer that left it out
		if o, err := r.explainSlice(ctx, at); err != nil || o.Rule != "" {
			return o, err
		}
	}
	if _, err := r.slice(ctx); err != nil {
		return o, err
	}
	for i, c := range r.choice.Chosen() {
		place := r.set.Place(c.Unit)
		switch {
		case c.Unit == wanted:
			return r.explainOverflow(i)
		case c.Form == engine.Returned && !older && slices.Contains(r.ranking.Older(wanted), place):
			return strategy.Obstacle{
				Rule: "The slicer left it out, and an older version came back in its place.", Before: []int{int(place)},
			}, nil
		}
	}
	switch {
	case older:
		return o, nil
	case r.effective.TargetTokens == 0:
		o.Rule = "Nothing is left to choose with after pinned items and what the budget reserves."
		for _, c := range r.set.Pins() {
			if r.items[c].Tokens() > 0 {
				o.Before = append(o.Before, int(c))
			}
		}
		return o, nil
	}
	return r.explainSlice(ctx, at)
}

// explainSlice asks the slicer about the unit of a rank.
func (r *run) explainSlice(ctx context.Context, at int) (strategy.Obstacle, error) {
	list := slices.Clone(r.sorted) // the slicer may change it
	o, err := strategy.Explain(ctx, r.config.Slicer, list, r.effective, at)
	var before []int
	for _, rank := range o.Before {
		for _, c := range r.set.Members(r.ranking.Sorted()[rank]) {
			before = append(before, int(c))
		}
	}
	o.Before = before
	if r.columns.Links != nil {
		o.OutUntil = 0 // units may shrink
	}
	return o, err
}

const overflowRule = "The slicer chose it, but the selection overflowed the target: pinned items stay, and of the others the best that fit."

// explainOverflow is for one of the chosen units.
func (r *run) explainOverflow(at int) (strategy.Obstacle, error) {
	rest := slices.Clone(r.choice.Chosen()[at:])
	if err := r.merge(); err != nil {
		return strategy.Obstacle{}, err
	}
	o := strategy.Obstacle{Rule: overflowRule}
	for i := range r.choice.Merged { // pinned units, and the chosen ones in their order
		from := slices.IndexFunc(rest, func(c engine.Chosen) bool { return c.Unit == r.choice.Merged[i].Unit })
		if from == 0 {
			return strategy.Obstacle{}, nil
		}
		if from > 0 { // it comes after the wanted unit
			break
		}
		o.Before = append(o.Before, r.candidatesOf(r.choice.Merged[i:i+1])...)
	}
	return o, nil
}

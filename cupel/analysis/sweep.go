package analysis

import (
	"cmp"
	"context"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// BudgetRange is a range of budgets.
type BudgetRange struct {
	From   int // the first budget, in tokens, at least 0
	To     int // the upper bound, inclusive, in tokens, at least From
	Stride int // the distance between budgets, in tokens, at least 1; 0 means 1
}

// BudgetSweep is the selection at every budget of a range, stored as the steps at
// which it changes.
type BudgetSweep struct {
	From   int                  `json:"from"`   // as given
	To     int                  `json:"to"`     // as given
	Stride int                  `json:"stride"` // at least 1
	Items  []*cupel.ContextItem `json:"items"`  // the candidates, as given
	// Steps are the budgets at which the selection differs from the previous
	// budget's, in ascending order. The first is From.
	Steps []SweepStep `json:"steps"`
}

// SweepStep is a budget at which the selection changes; it is valid up to the next
// step. Candidates are given by position, since a pointer may occur twice.
type SweepStep struct {
	Budget   int   `json:"budget"`   // the ceiling, in tokens
	Tokens   int   `json:"tokens"`   // of the included items, clamped to the range of int
	Included int   `json:"included"` // number of candidates included
	Came     []int `json:"came"`     // positions of the candidates included from here on, ascending; not nil
	Went     []int `json:"went"`     // positions of the candidates no longer included, ascending; not nil
	// Changed are the positions of the candidates that stay in another form,
	// ascending. It is nil without smaller forms.
	Changed []int `json:"changed,omitempty"`
	// Error is the text of the error of the run, or "" if it succeeds: the budget is
	// below the reserve or does not fit the pinned items, or the selection overflows.
	// Budgets up to the next step fail alike, with different numbers.
	Error string `json:"error,omitempty"`
}

// Sweep computes the selection over a range of budgets. Each budget is a ceiling,
// with a target of the ceiling minus the output reserve of [WithBaseBudget]. It accepts any slicer, and the
// result is what a dry run at each budget would include. It does not call the
// placer, which does not affect that.
//
// It costs one scoring, and one selection per budget. It skips budgets at which the
// slicer knows that it selects the same, as Greedy does.
//
// It fails with an [ArgumentError] if the range is invalid, with a
// [TooManyBudgetsError] if it reaches the limit of [WithMaxBudgets], and as
// [pipeline.Pipeline.Run] does for errors that do not depend on the budget.
func Sweep(ctx context.Context, pipeline *pipeline.Pipeline, items []*cupel.ContextItem, budgets BudgetRange, opts ...ProbeOption) (*BudgetSweep, error) {
	budgets.Stride = cmp.Or(budgets.Stride, 1)
	if budgets.From < 0 || budgets.To < budgets.From || budgets.Stride < 1 {
		return nil, argumentError("budgets", "a sweep goes from at least 0 to no less, with a stride of at least 1, got %+v", budgets)
	}
	p, err := newProber(ctx, pipeline, items, opts)
	if err != nil {
		return nil, err
	}
	p.net = true
	sweep := &BudgetSweep{From: budgets.From, To: budgets.To, Stride: budgets.Stride, Items: append([]*cupel.ContextItem{}, items...)}
	before := make([]int32, len(items)) // the form of each candidate, counted from 1; 0 is out
	var failed error
	for at, err := range p.each(ctx, budgets) {
		if err != nil {
			return nil, err
		}
		step := SweepStep{Budget: at.tokens, Tokens: at.Tokens, Included: len(at.Candidates), Came: []int{}, Went: []int{}}
		if at.failed != nil {
			step.Error = at.failed.Error()
		}
		now := make([]int32, len(items))
		for n, i := range at.Candidates {
			now[i] = 1
			if at.Forms != nil {
				now[i] += at.Forms[n]
			}
		}
		for i, form := range now {
			switch was := before[i]; {
			case form == was:
			case was == 0:
				step.Came = append(step.Came, i)
			case form == 0:
				step.Went = append(step.Went, i)
			default:
				step.Changed = append(step.Changed, i)
			}
		}
		if len(sweep.Steps) == 0 || !slices.Equal(before, now) || failureOf(failed) != failureOf(at.failed) {
			sweep.Steps = append(sweep.Steps, step)
		}
		before, failed = now, at.failed
	}
	return sweep, nil
}

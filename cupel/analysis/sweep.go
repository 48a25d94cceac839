package analysis

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/wollax/cupel-go/cupel"
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
	Budget   int   // the ceiling, in tokens
	Tokens   int   // of the included items, clamped to the range of int
	Included int   // number of candidates included
	Came     []int // positions of the candidates included from here on, ascending
	Went     []int // positions of the candidates no longer included, ascending
	// Changed are the positions of the candidates that stay in another form,
	// ascending. It is nil without smaller forms.
	Changed []int
	// Err is the error of the run, or nil if it succeeds: an
	// [cupel.InvalidBudgetError] for a budget below the reserve, a
	// [cupel.PinnedExceedsBudgetError] for one that does not fit the pinned items,
	// or a [cupel.OverflowError]. Budgets up to the next step fail with the same
	// type of error and different numbers.
	Err error
}

// MarshalJSON returns the step as an object with budget, tokens, included, came
// and went, and the text of the error, if any. Unmarshaling ignores the error.
func (s SweepStep) MarshalJSON() ([]byte, error) {
	wire := struct {
		Budget   int    `json:"budget"`
		Tokens   int    `json:"tokens"`
		Included int    `json:"included"`
		Came     []int  `json:"came"`
		Went     []int  `json:"went"`
		Changed  []int  `json:"changed,omitempty"`
		Error    string `json:"error,omitempty"`
	}{s.Budget, s.Tokens, s.Included, append([]int{}, s.Came...), append([]int{}, s.Went...), s.Changed, ""}
	if s.Err != nil {
		wire.Error = s.Err.Error()
	}
	return json.Marshal(wire)
}

// Selection returns the items included at a budget of the range, in the order of
// the candidates, or nil for a budget outside the range. It takes time linear in
// the number of candidates and changes.
func (s *BudgetSweep) Selection(budget int) []*cupel.ContextItem {
	if s == nil || budget < s.From || budget > s.To {
		return nil
	}
	in := make([]bool, len(s.Items))
	for _, step := range s.Steps {
		if step.Budget > budget {
			break
		}
		for _, i := range step.Came {
			in[i] = true
		}
		for _, i := range step.Went {
			in[i] = false
		}
	}
	var selection []*cupel.ContextItem
	for i, item := range s.Items {
		if in[i] {
			selection = append(selection, item)
		}
	}
	return selection
}

// Sweep computes the selection over a range of budgets. Each budget is both ceiling
// and target, unless [WithReserveOffTarget] is set. It accepts any slicer, and the
// result is what a dry run at each budget would include. It does not call the
// placer, which does not affect that.
//
// It costs one scoring, and one selection per budget. With a [cupel.SweepSlicer],
// such as Greedy, or Quota and CountQuota around it, a budget costs little more
// than the changes at it: a thousand budgets of a thousand items usually cost as
// much as a few runs, and more if small steps of the budget change much of the
// selection.
//
// It fails with an [ArgumentError] if the range is invalid, with a
// [TooManyBudgetsError] if it reaches the limit of [WithMaxBudgets], and as
// [cupel.Pipeline.Run] does for errors that do not depend on the budget.
func Sweep(ctx context.Context, pipeline *cupel.Pipeline, items []*cupel.ContextItem, budgets BudgetRange, opts ...ProbeOption) (*BudgetSweep, error) {
	if budgets.Stride == 0 {
		budgets.Stride = 1
	}
	switch {
	case budgets.From < 0:
		return nil, &ArgumentError{"budgets.From", fmt.Sprintf("the first budget of a sweep must be at least 0, got %d", budgets.From)}
	case budgets.To < budgets.From:
		return nil, &ArgumentError{"budgets.To", fmt.Sprintf("the last budget of a sweep must be at least the first (%d), got %d", budgets.From, budgets.To)}
	case budgets.Stride < 1:
		return nil, &ArgumentError{"budgets.Stride", fmt.Sprintf("the stride of a sweep must be at least 1, or 0 for 1, got %d", budgets.Stride)}
	}
	p, err := newProber(ctx, pipeline, items, opts)
	if err != nil {
		return nil, err
	}
	sweep := &BudgetSweep{From: budgets.From, To: budgets.To, Stride: budgets.Stride, Items: append([]*cupel.ContextItem{}, items...)}
	cursor := p.prepared.Cursor()
	var all arena
	included := 0
	failed := noFailure // at the previous step
	at := budgets.From
	for ok := true; ok; at, ok = p.nextChange(cursor, at, budgets.Stride, budgets.To) {
		change, err := p.move(ctx, cursor, at, budgets.To)
		failure := failureOf(err)
		if failure == notTheBudgets {
			return nil, err
		}
		included += len(change.Came) - len(change.Went)
		if len(sweep.Steps) > 0 && len(change.Came)+len(change.Went)+len(change.Changed) == 0 && failure == failed {
			continue
		}
		failed = failure
		sweep.Steps = append(sweep.Steps, SweepStep{
			Budget: at, Tokens: change.Tokens, Included: included,
			Came: all.copy(change.Came), Went: all.copy(change.Went), Changed: all.copy(change.Changed), Err: err,
		})
	}
	return sweep, nil
}

// arena copies short lists into long ones, to save two allocations per step.
type arena struct{ free []int }

func (a *arena) copy(list []int) []int {
	if len(list) == 0 {
		return nil
	}
	if cap(a.free)-len(a.free) < len(list) {
		a.free = make([]int, 0, max(1024, len(list)))
	}
	start := len(a.free)
	a.free = append(a.free, list...)
	return a.free[start:len(a.free):len(a.free)]
}

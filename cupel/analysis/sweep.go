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
	To     int // the last one or the end before it, in tokens, at least From
	Stride int // how far the budgets are apart, in tokens, at least 1; 0 means 1
}

// BudgetSweep is the selection at every budget of a range, as steps where it
// changes.
type BudgetSweep struct {
	From   int                  `json:"from"`   // as given
	To     int                  `json:"to"`     // as given
	Stride int                  `json:"stride"` // at least 1
	Items  []*cupel.ContextItem `json:"items"`  // the candidates, as given
	// Steps are the budgets at which the selection is another one than at the
	// budget before, in ascending order. The first is From.
	Steps []SweepStep `json:"steps"`
}

// SweepStep is a budget at which the selection changes, and holds up to the next
// step. Candidates go by their position, since a pointer may occur twice.
type SweepStep struct {
	Budget   int   // the ceiling, in tokens
	Tokens   int   // used by what is included, clamped to the range of int
	Included int   // number of candidates included
	Came     []int // positions of the candidates that are in from here on, ascending
	Went     []int // positions of the candidates that are out from here on, ascending
	// Err says why nothing is selected from here on: the budget is below the
	// reserve, an [cupel.InvalidBudgetError], it does not hold the pinned items, a
	// [cupel.PinnedExceedsBudgetError], or the pipeline throws a
	// [cupel.OverflowError]. Budgets up to the next step fail for the same
	// reason, with other numbers in it. nil means that the run succeeds.
	Err error
}

// MarshalJSON returns the step as an object with budget, tokens, included, came
// and went, and the text of the error, if any, which reading does not bring back.
func (s SweepStep) MarshalJSON() ([]byte, error) {
	wire := struct {
		Budget   int    `json:"budget"`
		Tokens   int    `json:"tokens"`
		Included int    `json:"included"`
		Came     []int  `json:"came"`
		Went     []int  `json:"went"`
		Error    string `json:"error,omitempty"`
	}{s.Budget, s.Tokens, s.Included, append([]int{}, s.Came...), append([]int{}, s.Went...), ""}
	if s.Err != nil {
		wire.Error = s.Err.Error()
	}
	return json.Marshal(wire)
}

// Selection returns what is included at a budget of the range, in the order of
// the candidates; outside it, nothing. It takes time linear in the number of
// candidates and changes.
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

// Sweep follows the selection over a range of budgets, each of them ceiling and
// target at once, or as [WithReserveOffTarget] says. It takes every slicer, and tells what a dry run at each budget
// would include; only the placer is not asked, since it does not decide that.
//
// It costs one selection for each budget after one scoring. With a
// [cupel.SweepSlicer], as Greedy is, and Quota and CountQuota around it, a budget
// costs little more than what changes at it: a thousand budgets of a thousand
// items together usually as much as a few runs, and more when small steps of the
// budget change much of the selection.
//
// It fails with an [ArgumentError] when the range makes no sense, with a
// [TooManyBudgetsError] when it has looked at as many budgets as
// [WithMaxBudgets] allows, and as [cupel.Pipeline.Run] does for reasons that are
// not the budget's.
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
	failed := noFailure // at the step before
	at := budgets.From
	for ok := true; ok; at, ok = p.nextChange(cursor, at, budgets.Stride, budgets.To) {
		change, err := p.move(ctx, cursor, at, budgets.To)
		failure := failureOf(err)
		if failure == notTheBudgets {
			return nil, err
		}
		included += len(change.Came) - len(change.Went)
		if len(sweep.Steps) > 0 && len(change.Came)+len(change.Went) == 0 && failure == failed {
			continue
		}
		failed = failure
		sweep.Steps = append(sweep.Steps, SweepStep{
			Budget: at, Tokens: change.Tokens, Included: included,
			Came: all.copy(change.Came), Went: all.copy(change.Went), Err: err,
		})
	}
	return sweep, nil
}

// arena copies short lists into long ones, so that a step does not cost two
// allocations.
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

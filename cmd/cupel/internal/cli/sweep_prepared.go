package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// mostPrepared is how many budgets a sweep prepares candidates for at most.
const mostPrepared = 10_000

// sweepPrepared sweeps over budgets that each have candidates of their own: those
// that a preset prepares, and those of a conversation whose pins do not fit.
func sweepPrepared(ctx context.Context, c chooser, candidates *input.Candidates, flags budgetFlags, budgets analysis.BudgetRange, tell func(done, total int)) (*analysis.BudgetSweep, error) {
	sweep := &analysis.BudgetSweep{From: budgets.From, To: budgets.To, Stride: budgets.Stride, Items: candidates.Items}
	if (budgets.To-budgets.From)/budgets.Stride >= mostPrepared {
		return nil, &analysis.TooManyBudgetsError{MaxBudgets: mostPrepared}
	}
	none := make([]int, len(candidates.Items)) // form of each, plus one; 0 is out
	before, failed := none, false
	for n := range (budgets.To-budgets.From)/budgets.Stride + 1 {
		at := budgets.From + n*budgets.Stride
		tell(at-budgets.From, budgets.To-budgets.From)
		step := analysis.SweepStep{Budget: at, Came: []int{}, Went: []int{}}
		now, err := formsAt(ctx, c, candidates, flags, &step)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && !errors.Is(err, pipeline.ErrPinnedExceedsBudget) && !errors.Is(err, cupel.ErrInvalidBudget):
			return nil, err
		case err != nil:
			now, step.Error = none, err.Error()
		}
		for i := range now {
			switch {
			case now[i] == before[i]:
			case before[i] == 0:
				step.Came = append(step.Came, i)
			case now[i] == 0:
				step.Went = append(step.Went, i)
			default:
				step.Changed = append(step.Changed, i)
			}
		}
		if n == 0 || failed != (err != nil) || !slices.Equal(before, now) {
			sweep.Steps = append(sweep.Steps, step)
		}
		before, failed = now, err != nil
	}
	return sweep, nil
}

// formsAt selects at the budget of a step, and says what each candidate has: 0 if
// it is out, and else its tokens, plus one.
func formsAt(ctx context.Context, c chooser, candidates *input.Candidates, flags budgetFlags, step *analysis.SweepStep) ([]int, error) {
	flags.budget = amount{tokens: step.Budget}
	budget, err := flags.make(false, nil)
	if err != nil {
		return nil, err
	}
	s, err := c.selection(ctx, candidates, budget)
	if err != nil {
		return nil, err
	}
	report, err := s.pipeline.DryRun(ctx, s.items, budget)
	if err != nil {
		return nil, err
	}
	places := placesOf(s.items, candidates.Items)
	forms := make([]int, len(candidates.Items))
	for _, in := range report.Included {
		forms[places[in.Candidate]] = max(in.Item.Tokens(), 0) + 1
		step.Tokens = addTokens(step.Tokens, in.Item.Tokens())
	}
	step.Included = len(report.Included)
	return forms, nil
}

// placesOf returns where each of some prepared items stands among all candidates.
// They are in the same order, and some may be left out. Those that are prepared
// are of the same message and in the same group, or in none.
func placesOf(items, all []*cupel.ContextItem) []int {
	if len(items) == len(all) {
		all = items
	}
	places := make([]int, len(items))
	at := 0
	for i, item := range items {
		for ; at < len(all)-(len(items)-i); at++ {
			a, _ := all[at].MetadataInt("index")
			if b, _ := item.MetadataInt("index"); a == b && all[at].Group() == item.Group() {
				break
			}
		}
		places[i] = at
		at++
	}
	return places
}

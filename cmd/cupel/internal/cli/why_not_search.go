package cli

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

// defaultProbes is how many selections a search makes unless it is told
// otherwise: seconds of work for a knapsack of thousands of items.
const defaultProbes = 10_000

// searchFlags say how far to look for a budget.
type searchFlags struct {
	upTo     int
	probes   int
	progress bool
}

func (f *searchFlags) register(command *cobra.Command) {
	set := command.Flags()
	set.IntVar(&f.upTo, "up-to", 0, "with --why-not, the largest budget to look at, in `tokens` (default what all candidates would need)")
	set.IntVar(&f.probes, "max-probes", 0, "with --why-not, the most `budgets` to select at, one after the other (default 10000, or millions where the slicer follows budgets for little)")
	set.BoolVar(&f.progress, "progress", false, "tell on standard error how far long work is, also where that is not a terminal")
}

// smallest is what is known of the smallest budget that takes an item.
type smallest struct {
	Found  bool `json:"found"`
	Tokens int  `json:"tokens,omitempty"` // when found
	// Exact is true when no smaller budget takes the item, or, when none was
	// found, none up to SearchedTo at all.
	Exact      bool `json:"exact"`
	SearchedTo int  `json:"searched_to"`
	// Error says why the search has ended before its time.
	Error string `json:"error,omitempty"`
}

// find returns the smallest budget that takes an item. Slicers that follow
// budgets are asked at all of them. Others are first asked by halving, which
// finds a budget but may miss smaller ones, and then at each smaller one, as far
// as the limit allows.
func (f *searchFlags) find(ctx context.Context, env *Environment, s *selection, item *cupel.ContextItem) (smallest, error) {
	ceiling := f.upTo
	if ceiling == 0 {
		ceiling = sufficient(s.Items, s.budget)
	}
	result := smallest{SearchedTo: ceiling}
	if item.Tokens() < 0 {
		result.Exact = true
		return result, nil
	}
	tell := newBudgetProgress(env, f.progress)
	defer tell.end()
	pipeline, err := watchingBudgets(s.pipeline, func(target int) { tell.update(min(target, ceiling), ceiling) })
	if err != nil {
		return result, err
	}
	limits := []analysis.ProbeOption{analysis.WithBaseBudget(s.budget)}
	following := follows(s.pipeline.Config().Slicer)
	switch {
	case f.probes > 0:
		limits = append(limits, analysis.WithMaxBudgets(f.probes))
	case !following:
		limits = append(limits, analysis.WithMaxBudgets(defaultProbes))
	}
	if s.pipeline.Config().Overflow == cupel.OverflowProceed {
		// Where an overflow passes, less than its tokens may take what is required.
		tokens, found, err := firstOf(ctx, pipeline, s.Items, item, min(item.Tokens()-1, ceiling), limits)
		if err != nil || found {
			return smallest{Found: found, Tokens: tokens, Exact: found, SearchedTo: ceiling}, err
		}
	}
	if ceiling < item.Tokens() {
		result.Exact = true
		return result, nil
	}
	last := ceiling
	if !following {
		tokens, found, err := analysis.FindMinBudgetFor(ctx, pipeline, s.Items, item, ceiling, limits...)
		switch {
		case errors.Is(err, analysis.ErrNonMonotonic):
		case err != nil:
			return result, err
		case found && tokens == item.Tokens():
			return smallest{Found: true, Tokens: tokens, Exact: true, SearchedTo: ceiling}, nil
		case found:
			result.Found, result.Tokens = true, tokens
			last = tokens - 1
		}
	}
	tokens, found, err := analysis.FindMinBudgetForExhaustive(ctx, pipeline, s.Items, item, last, limits...)
	if tooMany, ok := errors.AsType[*analysis.TooManyBudgetsError](err); ok {
		if !result.Found {
			result.SearchedTo = tooMany.NextBudget - 1
		}
		return result, nil
	}
	if err != nil {
		return result, err
	}
	if found {
		result.Found, result.Tokens = true, tokens
	}
	result.Exact = true
	return result, nil
}

// firstOf returns the first budget, from 0 to last, that takes an item.
func firstOf(ctx context.Context, pipeline *cupel.Pipeline, items []*cupel.ContextItem, item *cupel.ContextItem, last int, limits []analysis.ProbeOption) (tokens int, found bool, err error) {
	if last < 0 {
		return 0, false, nil
	}
	sweep, err := analysis.Sweep(ctx, pipeline, items, analysis.BudgetRange{To: last}, limits...)
	if err != nil {
		return 0, false, err
	}
	for _, step := range sweep.Steps {
		if slices.ContainsFunc(step.Came, func(i int) bool { return items[i] == item }) {
			return step.Budget, true, nil
		}
	}
	return 0, false, nil
}

// sufficient returns a budget that has room for all candidates, whatever is
// kept of it.
func sufficient(items []*cupel.ContextItem, budget cupel.ContextBudget) int {
	pinned, others, kept := 0, 0, budget.OutputReserve()
	for _, item := range items {
		switch {
		case item.Tokens() < 0:
		case item.Pinned():
			pinned = addTokens(pinned, item.Tokens())
		default:
			others = addTokens(others, item.Tokens())
		}
	}
	for _, tokens := range budget.ReservedSlots() { // a sum, whatever the order
		kept = addTokens(kept, tokens)
	}
	if margin := budget.EstimationSafetyMarginPercent(); margin > 0 && margin < 100 {
		more := math.Ceil(float64(others)/(1-margin/100)) + 1
		if more >= math.MaxInt {
			return math.MaxInt
		}
		others = int(more)
	}
	return addTokens(addTokens(pinned, others), kept)
}

// newBudgetProgress returns progress through budgets: on a terminal, or when it
// is asked for.
func newBudgetProgress(env *Environment, wanted bool) *progress {
	p := newProgress(env, "tokens of budget")
	if !wanted && !p.place {
		p.every = math.MaxInt64
	}
	return p
}

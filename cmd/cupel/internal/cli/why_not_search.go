package cli

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/slicer"
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
	set.IntVar(&f.upTo, "up-to", 0, "with --why-not, the largest budget to look at, in `tokens` (default enough for all candidates, and for the share of a kind)")
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

// find returns the smallest budget that takes an item, as --budget takes it: its
// target is the budget less the reserve. A search has the target at the budget,
// which differs where overflow is judged by the target; so it looks at what is
// left of budgets without the reserve.
func (f *searchFlags) find(ctx context.Context, env *Environment, s *selection, item *cupel.ContextItem) (smallest, error) {
	ceiling := f.upTo
	if ceiling == 0 {
		ceiling = sufficientFor(item, s)
	}
	reserve := s.budget.OutputReserve()
	if item.Tokens() < 0 || ceiling < reserve {
		return smallest{SearchedTo: ceiling, Exact: true}, nil
	}
	base, err := withoutReserve(s.budget)
	if err != nil {
		return smallest{SearchedTo: ceiling}, err
	}
	tell := newBudgetProgress(env, f.progress)
	defer tell.end()
	pipeline, err := watchingBudgets(s.pipeline, func(target int) { tell.update(min(addTokens(target, reserve), ceiling), ceiling) })
	if err != nil {
		return smallest{SearchedTo: ceiling}, err
	}
	result, err := f.search(ctx, s, pipeline, base, item, ceiling-reserve)
	result.SearchedTo += reserve // at most the ceiling
	if result.Found {
		result.Tokens += reserve
	}
	return result, err
}

// withoutReserve returns a budget of which nothing is kept for the answer.
func withoutReserve(b cupel.ContextBudget) (cupel.ContextBudget, error) {
	return cupel.NewContextBudget(b.MaxTokens(), b.TargetTokens(),
		cupel.WithReservedSlots(b.ReservedSlots()), cupel.WithEstimationSafetyMargin(b.EstimationSafetyMarginPercent()))
}

// search returns the smallest budget up to a ceiling that takes an item. Slicers
// that follow budgets are asked at all of them. Others are first asked by
// halving, which finds a budget but may miss smaller ones, and then at each
// smaller one, as far as the limit allows.
func (f *searchFlags) search(ctx context.Context, s *selection, pipeline *cupel.Pipeline, base cupel.ContextBudget, item *cupel.ContextItem, ceiling int) (smallest, error) {
	result := smallest{SearchedTo: ceiling}
	limits := []analysis.ProbeOption{analysis.WithBaseBudget(base)}
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

// sufficientFor returns a budget in which an item that is ever taken most
// probably is: there is room for all candidates, also in the buckets of a
// knapsack and in the share of a quota. Shares beyond a hundredth are not
// looked for.
func sufficientFor(item *cupel.ContextItem, s *selection) int {
	total := sufficient(s.Items, s.budget)
	if bucket := bucketOf(s.policy.Slicer); bucket > 1 && bucket-1 <= (math.MaxInt-total)/len(s.Items) {
		total += len(s.Items) * (bucket - 1)
	}
	for each := range cupel.AllSlicers(s.pipeline.Config().Slicer) {
		if q, ok := each.(*slicer.Quota); ok {
			share := shareOf(item.Kind(), q.Entries(), s.Items)
			if times := math.Ceil(1 / max(share, 0.01)); share > 0 && float64(total)*times < math.MaxInt {
				total *= int(times)
			}
		}
	}
	return total
}

// shareOf returns about which share of a target a quota gives to a kind, in
// [0,1].
func shareOf(kind cupel.ContextKind, entries []slicer.QuotaEntry, items []*cupel.ContextItem) float64 {
	unassigned, require, most := 100.0, 0.0, 100.0
	for _, e := range entries {
		least, limit := e.Percentages()
		unassigned -= least
		if e.Kind().Equal(kind) {
			require, most = least, limit
		}
	}
	mass, total := 0.0, 0.0 // of the candidates, by which the rest is shared
	for _, item := range items {
		if tokens := float64(max(item.Tokens(), 0)); !item.Pinned() {
			total += tokens
			if item.Kind().Equal(kind) {
				mass += tokens
			}
		}
	}
	if total > 0 {
		require += max(unassigned, 0) * mass / total
	}
	return min(require, most) / 100
}

// bucketOf returns the size of the buckets in which a policy's knapsack counts
// tokens: 1 without one, 0 when it is not known or chosen for each call.
func bucketOf(s policy.Slicer) int {
	switch s := s.(type) {
	case policy.Knapsack:
		switch {
		case s.AutoBucket:
			return 0
		case s.BucketSize != nil:
			return *s.BucketSize
		}
		return slicer.DefaultBucketSize
	case policy.CountConstrainedKnapsack:
		return bucketOf(s.Knapsack)
	case policy.Quota:
		return bucketOf(s.Inner)
	case policy.Greedy, policy.ScoreGreedy, policy.CountQuota:
		return 1
	}
	return 0
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

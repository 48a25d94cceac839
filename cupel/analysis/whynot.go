package analysis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/internal/exact"
)

// WhyNotAnswer is what is known about one candidate of a run. Other candidates are
// given by position.
type WhyNotAnswer struct {
	Entry                      // of the candidate: rank, score, reason, place
	Ledger *Ledger             // of the run, for the positions below
	Budget cupel.ContextBudget // of the run

	// Rule explains in sentences why the candidate was not chosen, without the
	// content of any item. It is empty if the candidate is included.
	Rule string
	// DisplacedBy are the candidates chosen instead, in the order of choice if
	// there is one. Some of them may have been dropped later.
	DisplacedBy []int
	// IfPinned is what would change if the candidate were pinned. It is nil if the
	// candidate is included, or was dropped before scoring.
	IfPinned *Exchange
	// Smallest is the smallest budget that includes the candidate.
	Smallest SmallestBudget
	// AtSmallest is how the selection at that budget differs from the run's. It is
	// nil if no budget was found.
	AtSmallest *Exchange
}

// Exchange is how another selection differs from a run's.
type Exchange struct {
	Came []int // candidates newly included, best first, after those without a rank
	Went []int // candidates no longer included, in the same order
	Err  error // why the other selection fails; nil if it succeeds
}

// SmallestBudget is the result of a search for the smallest budget that includes a
// candidate.
type SmallestBudget struct {
	Found  bool
	Tokens int // the ceiling, if Found
	// Exact is true if no smaller budget includes the candidate or, if none
	// was found, none up to SearchedTo does.
	Exact bool
	// SearchedTo is the largest budget that was tried, in tokens, or
	// [math.MaxInt] if no budget can include the candidate.
	SearchedTo int
	Err        error // the error of a run that ended the search early, or nil
}

// maxProbes is how many budgets WhyNot tries by default if each needs a selection
// of its own: seconds of work for a knapsack of thousands of items.
const maxProbes = 10_000

// WhyNot makes a dry run and explains one of its candidates: its rank and reason,
// what was chosen instead, what pinning it would push out, and the smallest budget
// that would include it. candidate is its position in items; slices.Index(items,
// item) finds it by pointer.
//
// A slicer that is a [cupel.SliceExplainer] explains its own decision. For any
// other slicer WhyNot lists what it chose.
//
// Budgets in the answer are ceilings, with a target of the ceiling minus the output
// reserve, and with the reserved slots and the safety margin of budget. With a
// [cupel.SweepSlicer], WhyNot tries all of them. With any other slicer it starts
// with a binary search and then tries the smaller budgets, up to 10,000 or the
// limit of [WithMaxBudgets]. [WithCeiling] and [WithProgress] apply too. Scores do
// not depend on the budget: the scorer is called twice, the second time with the
// candidate pinned.
//
// It fails with an [ArgumentError] if there is no such candidate or an option is
// invalid, and as [cupel.Pipeline.DryRun] does.
func WhyNot(ctx context.Context, pipeline *cupel.Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget, candidate int, opts ...ProbeOption) (*WhyNotAnswer, error) {
	if candidate < 0 || candidate >= len(items) {
		return nil, &ArgumentError{"candidate", fmt.Sprintf("candidate must be a position in the list of %d items, got %d", len(items), candidate)}
	}
	if !follows(pipeline, items) {
		opts = append([]ProbeOption{WithMaxBudgets(maxProbes)}, opts...) // the caller's own limit comes later, and holds
	}
	p, err := newProber(ctx, pipeline, items, append(slices.Clip(opts), WithBaseBudget(budget), WithReserveOffTarget()))
	if err != nil {
		return nil, err
	}
	report, err := p.prepared.DryRun(ctx, budget)
	if err != nil {
		return nil, err
	}
	ledger := NewLedger(report, items)
	a := &WhyNotAnswer{Entry: ledger.Entries[candidate], Ledger: ledger, Budget: budget}
	if err := a.findInstead(ctx, p.prepared); err != nil {
		return nil, err
	}
	if code := cupel.ExclusionCode(a.Code()); code == cupel.ExcludeDeduplicated || code == cupel.ExcludeNegativeTokens {
		a.Smallest = SmallestBudget{Exact: true, SearchedTo: math.MaxInt}
		return a, nil
	}
	if a.Place == 0 {
		if a.IfPinned, err = a.ifPinned(ctx, pipeline, items); err != nil {
			return nil, err
		}
	}
	if a.Code() == string(cupel.ExcludeNearDuplicate) {
		a.Smallest = SmallestBudget{Exact: true, SearchedTo: math.MaxInt}
		return a, nil
	}
	if a.Smallest, err = p.smallest(ctx, pipeline, items, candidate); err != nil {
		return nil, err
	}
	if a.Smallest.Found {
		smallest, err := p.budget(a.Smallest.Tokens)
		if err != nil {
			return nil, err
		}
		if a.AtSmallest, err = a.exchange(ctx, p.prepared, smallest); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// follows reports whether a cursor can follow the selection from budget to budget
// more cheaply than slicing at each.
func follows(pipeline *cupel.Pipeline, items []*cupel.ContextItem) bool {
	return cupel.Sweep(pipeline.Config().Slicer, nil) != nil && !slices.ContainsFunc(items, func(it *cupel.ContextItem) bool {
		return it.Group() != "" || it.VersionOf() != "" || len(it.Forms()) > 0
	})
}

// findInstead finds what was included in place of the candidate.
func (a *WhyNotAnswer) findInstead(ctx context.Context, prepared *cupel.Prepared) error {
	switch cupel.ExclusionCode(a.Code()) {
	case cupel.ExcludeNegativeTokens:
		a.Rule = "Items with a negative token count are never chosen."
		if a.Item.Tokens() >= 0 {
			a.Rule = "Groups in which an item has a negative token count are never chosen."
		}
	case cupel.ExcludeDeduplicated:
		a.Rule = "Of candidates with the same content, only the best is kept."
		if a.Item.Group() != "" {
			a.Rule = "Of groups with the same contents, only the best is kept."
		}
		if survivor, ok := a.Ledger.Survivor(a.Candidate); ok {
			a.DisplacedBy = []int{survivor}
		}
	case cupel.ExcludeSuperseded:
		a.Rule = "Of the versions of one thing the newest counts. Older ones come back only in its place."
		if newest, ok := a.Ledger.Survivor(a.Candidate); ok {
			a.DisplacedBy = []int{newest}
		}
	case cupel.ExcludeNearDuplicate:
		a.Rule = "Of items with nearly the same text, the newest counts."
		if newer, ok := a.Ledger.Survivor(a.Candidate); ok {
			a.DisplacedBy = []int{newer}
		}
	case cupel.ExcludePinnedOverride:
		a.Rule = "Pinned items take their tokens before the slicer chooses."
		for _, i := range a.Ledger.Window {
			if e := &a.Ledger.Entries[i]; e.Included.Reason == cupel.IncludePinned && e.Tokens() > 0 {
				a.DisplacedBy = append(a.DisplacedBy, i)
			}
		}
	default:
		if a.Place > 0 {
			return nil
		}
		obstacle, err := prepared.Explain(ctx, a.Budget, a.Candidate)
		a.Rule, a.DisplacedBy = obstacle.Rule, obstacle.Before
		return err
	}
	return nil
}

// ifPinned selects with the candidate pinned.
func (a *WhyNotAnswer) ifPinned(ctx context.Context, pipeline *cupel.Pipeline, items []*cupel.ContextItem) (*Exchange, error) {
	pinned, err := a.Item.With(cupel.WithPinned())
	if err != nil {
		return nil, err
	}
	items = slices.Clone(items)
	items[a.Candidate] = pinned
	prepared, err := pipeline.Prepare(ctx, items)
	if err != nil {
		return nil, err
	}
	return a.exchange(ctx, prepared, a.Budget)
}

// exchange compares another selection from candidates at the same positions.
func (a *WhyNotAnswer) exchange(ctx context.Context, prepared *cupel.Prepared, budget cupel.ContextBudget) (*Exchange, error) {
	positions, err := prepared.Select(ctx, budget)
	switch {
	case isCanceled(err) || errors.Is(err, cupel.ErrStrategy):
		return nil, err
	case err != nil:
		return &Exchange{Err: err}, nil //nolint:nilerr // it is the answer
	}
	in := make([]bool, len(a.Ledger.Entries))
	for _, i := range positions {
		in[i] = true
	}
	var x Exchange
	for i := range a.Ledger.Entries {
		switch was := a.Ledger.Entries[i].Place > 0; {
		case in[i] && !was:
			x.Came = append(x.Came, i)
		case !in[i] && was:
			x.Went = append(x.Went, i)
		}
	}
	for _, list := range [][]int{x.Came, x.Went} {
		slices.SortStableFunc(list, func(i, j int) int { return cmp.Compare(a.Ledger.Entries[i].Rank, a.Ledger.Entries[j].Rank) })
	}
	return &x, nil
}

func isCanceled(err error) bool {
	_, canceled := compat.AsType[*cupel.CanceledError](err)
	return canceled
}

// smallest searches for the smallest budget that includes a candidate. A failure at
// a bound, such as the ceiling, does not matter if the candidate is included below
// it.
func (p *prober) smallest(ctx context.Context, pipeline *cupel.Pipeline, items []*cupel.ContextItem, candidate int) (SmallestBudget, error) {
	wanted := func(i int) bool { return i == candidate }
	ceiling, included, failed := p.ceilingFor(ctx, items, wanted)
	result := SmallestBudget{SearchedTo: ceiling}
	lowest := p.lowest(pipeline, items[candidate])
	last := ceiling
	if included && lowest <= ceiling && !follows(pipeline, items) {
		var tokens int
		if tokens, failed = p.halve(ctx, lowest, ceiling, wanted); failed == nil {
			result.Found, result.Tokens, last = true, tokens, tokens-1
		}
	}
	if isCanceled(failed) {
		return SmallestBudget{}, failed
	}
	tokens, found, err := p.first(ctx, lowest, last, wanted)
	tooMany, limited := compat.AsType[*TooManyBudgetsError](err)
	switch {
	case isCanceled(err):
		return SmallestBudget{}, err
	case found:
		return SmallestBudget{Found: true, Tokens: tokens, Exact: true, SearchedTo: ceiling}, nil
	case !limited:
		result.Err = cmp.Or(err, failed) // the run at the given budget has succeeded
		result.Exact = result.Err == nil
	case !result.Found:
		result.SearchedTo, result.Err = tooMany.NextBudget-1, failed
	}
	return result, nil
}

// ceilingFor returns the largest budget to try, and whether it includes a wanted
// candidate. If a budget with room for all does not include it, as with a small
// share or large buckets, it tries some multiples.
func (p *prober) ceilingFor(ctx context.Context, items []*cupel.ContextItem, wanted func(int) bool) (ceiling int, included bool, err error) {
	ceiling = p.ceiling
	if ceiling != noCeiling {
		included, err = p.includes(ctx, ceiling, wanted)
		return ceiling, included, err
	}
	ceiling = SufficientBudget(items, p.base)
	const mostTimes = 128 // enough for a share of one percent
	included, err = p.includes(ctx, ceiling, wanted)
	for times := 2; times <= mostTimes && ceiling <= math.MaxInt/times && !included && err == nil; times *= 2 {
		more, problem := p.includes(ctx, times*ceiling, wanted)
		switch {
		case isCanceled(problem):
			return 0, false, problem
		case problem != nil: // a slicer may fail at such a large budget
			return ceiling, false, nil //nolint:nilerr // this budget is optional
		case more:
			return times * ceiling, true, nil
		}
	}
	return ceiling, included, err
}

// SufficientBudget returns a ceiling with room for all items and for the output
// reserve, the reserved slots and the safety margin of budget, whose totals are
// ignored. Slicers that divide the tokens may need more.
func SufficientBudget(items []*cupel.ContextItem, budget cupel.ContextBudget) int {
	var others exact.Sum
	all := exact.Of(budget.OutputReserve())
	for _, item := range items {
		switch {
		case item.Tokens() < 0:
		case item.Pinned():
			all.Add(item.Tokens())
		default:
			others.Add(item.Tokens())
		}
	}
	for _, tokens := range budget.ReservedSlots() { // a sum does not depend on the order
		all.Add(tokens)
	}
	if margin := budget.EstimationSafetyMarginPercent(); margin > 0 && margin < 100 {
		more := math.Ceil(float64(others.Int())/(1-margin/100)) + 1
		if more >= math.MaxInt {
			return math.MaxInt
		}
		others = exact.Of(int(more))
	}
	return all.Plus(others).Int()
}

package analysis

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// ProbeOption is an optional setting of functions that try many budgets.
type ProbeOption func(*prober)

// WithBaseBudget gives the budgets to try the output reserve, the reserved slots
// and the safety margin of base. The totals of base are ignored. By default the
// budgets have none of these.
func WithBaseBudget(base cupel.ContextBudget) ProbeOption {
	return func(p *prober) { p.base = base }
}

// WithMaxBudgets sets how many budgets [FindMinBudgetForExhaustive] tries before it
// fails with a [TooManyBudgetsError], and how many [WhyNot] tries before it returns
// what it knows. The default, also for less than 1, is 4,194,304, and 10,000 for
// [WhyNot]. Budgets that are skipped because the slicer knows the result do not count.
func WithMaxBudgets(budgets int) ProbeOption {
	return func(p *prober) {
		if budgets > 0 {
			p.maxBudgets = budgets
		}
	}
}

// WithProgress calls progress before each budget that
// [FindMinBudgetForExhaustive] or [WhyNot] tries, with that budget and the last one it
// may try, in tokens. The calls are made in the caller's goroutine.
func WithProgress(progress func(budget, last int)) ProbeOption {
	return func(p *prober) { p.saw = progress }
}

// prober tries budgets whose ceiling and target are the same number of tokens
// (R40), or the target is the ceiling less the output reserve.
type prober struct {
	pipeline *pipeline.Pipeline
	prepared *pipeline.Prepared
	items    []*cupel.ContextItem
	wanted   []int // the candidates that a search looks for
	pinned   int   // tokens of the pinned items

	base       cupel.ContextBudget
	net        bool // the target is the ceiling less the reserve
	maxBudgets int
	saw        func(budget, last int)

	tried  int
	silent bool // the slicer does not say how long an item stays out
}

func newProber(ctx context.Context, pipeline *pipeline.Pipeline, items []*cupel.ContextItem, opts []ProbeOption) (*prober, error) {
	p := &prober{pipeline: pipeline, items: items, maxBudgets: 1 << 22}
	for _, opt := range opts {
		if opt != nil {
			opt(p)
		}
	}
	var pinned exact.Sum
	for _, item := range items {
		if item.Pinned() {
			pinned.Add(item.Tokens())
		}
	}
	p.pinned = pinned.Int()
	var err error
	p.prepared, err = pipeline.Prepare(ctx, items)
	return p, err
}

func (p *prober) budget(tokens int) (cupel.ContextBudget, error) {
	target := tokens
	if p.net {
		target -= p.base.OutputReserve() // below 0 where the budget is invalid anyway
	}
	return p.base.Resize(tokens, target)
}

// GetMarginalItems returns the items that are included at budget but not at a
// budget with slackTokens less, in window order: the items that would be lost
// first. Items are compared by pointer; an item included in a smaller form counts
// as included. The smaller budget keeps the output reserve, the reserved slots and
// the safety margin; its totals, and a reserve above them, are not reduced below
// 0.
//
// It fails with a [NonMonotonicError] if the pipeline's slicer contains, at any
// depth, a QuotaSlice or a slicer whose [strategy.Facts] say that it is not monotonic;
// with an [ArgumentError] if slackTokens is below 0; and as
// [pipeline.Pipeline.DryRun] does at either budget, even if only the smaller one is
// too small for the pinned items.
//
// It costs two runs with one scoring. It implements GetMarginalItems of the Budget
// Simulation chapter.
func GetMarginalItems(ctx context.Context, pipeline *pipeline.Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget, slackTokens int) ([]*cupel.ContextItem, error) {
	if err := guard(pipeline, false, marginalGuard); err != nil {
		return nil, err
	}
	if slackTokens < 0 {
		return nil, argumentError("slackTokens", "slackTokens must be at least 0, got %d", slackTokens)
	}
	reduced, err := budget.Resize(max(0, budget.MaxTokens()-slackTokens), max(0, budget.TargetTokens()-slackTokens))
	if err != nil { // the reserve is all of it, which is as good as no tokens
		reduced = cupel.ContextBudget{}
	}
	prepared, err := pipeline.Prepare(ctx, items)
	if err != nil {
		return nil, err
	}
	primary, err := prepared.DryRun(ctx, budget)
	if err != nil {
		return nil, err
	}
	margin, err := prepared.DryRun(ctx, reduced)
	if err != nil {
		return nil, err
	}
	kept := make(map[*cupel.ContextItem]bool, len(margin.Included))
	for _, i := range margin.Included {
		kept[items[i.Candidate]] = true
	}
	var marginal []*cupel.ContextItem
	for _, i := range primary.Included {
		if item := items[i.Candidate]; !kept[item] {
			marginal = append(marginal, item)
		}
	}
	return marginal, nil
}

// FindMinBudgetFor searches for the smallest budget, in tokens, at which target is
// included. It searches from the tokens of target, or of its smallest form, to
// searchCeiling, and returns false if no budget that it tried includes target.
// target is matched by pointer, at any position. A budget does not include target
// if it is invalid (below its reserve), if it does not fit the pinned items, or if
// the pipeline fails with a [pipeline.OverflowError].
//
// It is a binary search with about log2(searchCeiling) selections. The result is
// the smallest budget if inclusion is monotonic. With Greedy and Knapsack it is
// not: the result includes target, but a smaller budget may too, and false does
// not mean that no budget does. Use [FindMinBudgetForExhaustive] to be sure.
//
// It fails with a [NonMonotonicError] if the pipeline's slicer contains, at any
// depth, a QuotaSlice, a CountQuotaSlice, a CountConstrainedKnapsackSlice, or a
// slicer whose [strategy.Facts] say that it is not monotonic; with an [ArgumentError] if
// target is not one of items, or searchCeiling is below its tokens; and as
// [pipeline.Pipeline.DryRun] does for errors that do not depend on the budget.
//
// It implements FindMinBudgetFor of the Budget Simulation chapter.
func FindMinBudgetFor(ctx context.Context, pipeline *pipeline.Pipeline, items []*cupel.ContextItem, target *cupel.ContextItem, searchCeiling int, opts ...ProbeOption) (budget int, found bool, err error) {
	if err := guard(pipeline, true, minimumGuard); err != nil {
		return 0, false, err
	}
	return find(ctx, pipeline, items, target, searchCeiling, false, opts)
}

// FindMinBudgetForExhaustive returns the smallest budget in tokens, up to
// searchCeiling, at which target is included, or false if there is none. The
// result is exact for any slicer. Otherwise it is like [FindMinBudgetFor], but
// accepts slicers that are not monotonic. Under [pipeline.OverflowProceed] a budget
// below the tokens of target may include it, if the slicer ignores the target.
//
// It tries budgets in ascending order, with one selection each, so a result in the
// hundreds of thousands takes that many selections. It skips budgets at which the
// slicer knows that it selects the same, or leaves target out, as Greedy does. It
// fails with a [TooManyBudgetsError] if it reaches the limit of [WithMaxBudgets].
func FindMinBudgetForExhaustive(ctx context.Context, pipeline *pipeline.Pipeline, items []*cupel.ContextItem, target *cupel.ContextItem, searchCeiling int, opts ...ProbeOption) (budget int, found bool, err error) {
	return find(ctx, pipeline, items, target, searchCeiling, true, opts)
}

// find checks the preconditions in the chapter's order, searches by halves or tries
// budgets in order, and makes the chapter's final dry run, which includes the placer.
func find(ctx context.Context, pipeline *pipeline.Pipeline, items []*cupel.ContextItem, target *cupel.ContextItem, searchCeiling int, inOrder bool, opts []ProbeOption) (budget int, found bool, err error) {
	if target == nil || !slices.Contains(items, target) {
		return 0, false, argumentError("targetItem", "targetItem must be an element of items")
	}
	if searchCeiling < target.Tokens() {
		return 0, false, argumentError("searchCeiling", "searchCeiling must be >= targetItem.Tokens")
	}
	p, err := newProber(ctx, pipeline, items, opts)
	if err != nil || target.Tokens() < 0 { // never selected
		return 0, false, err
	}
	for i, item := range items {
		if item == target {
			p.wanted = append(p.wanted, i)
		}
	}
	if inOrder {
		budget, found, err = p.first(ctx, p.lowest(target), searchCeiling)
	} else {
		budget, err = p.halve(ctx, leastTokens(target), searchCeiling)
		found = err == nil
	}
	if !found {
		return 0, false, err
	}
	last, err := p.budget(budget)
	if err != nil {
		return 0, false, nil //nolint:nilerr // a budget that cannot be built includes nothing (R40)
	}
	report, err := p.prepared.DryRun(ctx, last)
	if err := fatal(err); err != nil {
		return 0, false, err
	}
	if !slices.ContainsFunc(report.Included, func(i cupel.IncludedItem) bool { return items[i.Candidate] == target }) {
		return 0, false, nil
	}
	return budget, true, nil
}

// halve returns a budget from low to high that includes a wanted candidate, found
// by the chapter's binary search, or high if it finds none.
func (p *prober) halve(ctx context.Context, low, high int) (int, error) {
	// Try the lower bound first: the chapter's loop never does, and would
	// return one token too many (R40).
	ok, err := p.includes(ctx, low)
	if ok {
		high = low
	}
	for err == nil && high-low > 1 {
		mid := low + (high-low)/2
		if ok, err = p.includes(ctx, mid); ok {
			high = mid
		} else {
			low = mid
		}
	}
	return high, err
}

// lowest returns the smallest budget that may include an item with at least 0
// tokens. A selection never exceeds the target, unless overflow is allowed.
func (p *prober) lowest(item *cupel.ContextItem) int {
	tokens := leastTokens(item)
	if p.pipeline.Config().Overflow == pipeline.OverflowProceed {
		tokens = 0
	}
	if p.net {
		tokens = exact.Of(tokens, p.base.OutputReserve()).Int()
	}
	return tokens
}

// leastTokens returns the fewest tokens with which an item can be in the window:
// its own, those of its smallest form, or 0 for a member of a group, whose forms
// can have any size.
func leastTokens(item *cupel.ContextItem) int {
	switch variants := item.Variants(); {
	case item.Group() != "":
		return 0
	case len(variants) > 0:
		return variants[len(variants)-1].Tokens
	}
	return item.Tokens()
}

// includes reports whether a wanted candidate is included at a budget.
func (p *prober) includes(ctx context.Context, tokens int) (bool, error) {
	at := p.try(ctx, tokens)
	return at.found, fatal(at.failed)
}

// first returns the first budget of a range that includes a wanted candidate. It skips
// those that select the same as the one before, and those at which the slicer says that
// no wanted candidate comes in.
func (p *prober) first(ctx context.Context, from, to int) (budget int, found bool, err error) {
	for tokens, ok := from, from <= to; ok; p.tried++ {
		if p.tried == p.maxBudgets {
			return 0, false, &TooManyBudgetsError{MaxBudgets: p.maxBudgets, NextBudget: tokens}
		}
		if p.saw != nil {
			p.saw(tokens, to)
		}
		at := p.try(ctx, tokens)
		if err := fatal(at.failed); err != nil || at.found {
			return tokens, at.found, err
		}
		if err := p.stayOut(ctx, at); err != nil {
			return 0, false, err
		}
		tokens, ok = p.next(at, to)
	}
	return 0, false, nil
}

// stayOut finds up to which target no wanted candidate is selected, as far as the
// slicer knows. It asks only slicers that know of other budgets at all, since an
// explanation costs more than a selection.
func (p *prober) stayOut(ctx context.Context, at *probe) error {
	target := at.budget.Effective(p.pinned).TargetTokens
	if p.silent || at.failed != nil || !at.HoldsAt(at.budget) {
		return nil //nolint:nilerr // nothing is known of a budget that fails
	}
	at.outUntil = math.MaxInt
	for _, candidate := range p.wanted {
		o, err := p.prepared.Explain(ctx, at.budget, candidate)
		if err != nil {
			return err
		}
		at.outUntil = min(at.outUntil, o.OutUntil)
	}
	p.silent = at.outUntil < target
	return nil
}

// probe is the selection at a budget.
type probe struct {
	pipeline.Choice
	tokens   int // the ceiling
	budget   cupel.ContextBudget
	found    bool  // a wanted candidate is included
	failed   error // why nothing is selected; nil if the selection succeeds
	outUntil int   // targets up to this one need not be tried
}

// try selects at a budget.
func (p *prober) try(ctx context.Context, tokens int) *probe {
	at := &probe{tokens: tokens}
	if at.budget, at.failed = p.budget(tokens); at.failed == nil {
		at.Choice, at.failed = p.prepared.Choose(ctx, at.budget)
	}
	at.found = slices.ContainsFunc(at.Candidates, func(i int) bool { return slices.Contains(p.wanted, i) })
	return at
}

// next returns the first budget after one that was tried, up to a last one, that needs
// to be tried too. It returns false if there is none.
func (p *prober) next(at *probe, last int) (int, bool) {
	left := last - at.tokens
	n := sort.Search(left, func(n int) bool {
		budget, err := p.budget(at.tokens + n + 1)
		return err == nil && !at.HoldsAt(budget) && // smaller budgets are invalid too
			(at.outUntil == 0 || budget.Effective(p.pinned).TargetTokens > at.outUntil)
	})
	return at.tokens + n + 1, n < left
}

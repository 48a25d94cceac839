package analysis

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/exact"
)

// ProbeOption is an optional setting of functions that try many budgets.
type ProbeOption func(*prober)

// WithBaseBudget gives the budgets to try the output reserve, the reserved slots
// and the safety margin of base. The totals of base are ignored. By default the
// budgets have none of these.
func WithBaseBudget(base cupel.ContextBudget) ProbeOption {
	return func(p *prober) { p.base = base }
}

// defaultMaxBudgets is the maximum number of budgets that [Sweep] and
// [FindMinBudgetForExhaustive] try without [WithMaxBudgets].
const defaultMaxBudgets = 1 << 22

// WithMaxBudgets sets how many budgets [Sweep] and [FindMinBudgetForExhaustive]
// try before they fail with a [TooManyBudgetsError], and how many [WhyNot] tries
// before it returns what it knows. It must be at least 1; the default is
// 4,194,304, and 10,000 for [WhyNot] if each needs a selection of its own. Budgets that a [cupel.SweepSlicer] skips because nothing
// changes at them do not count.
func WithMaxBudgets(budgets int) ProbeOption {
	return func(p *prober) { p.maxBudgets = budgets }
}

// WithReserveOffTarget sets the target of each budget to its ceiling minus the
// output reserve of [WithBaseBudget], as is usual in a budget for a model. By
// default the target equals the ceiling. The difference shows where an overflow is
// measured against the target; budgets below the reserve are invalid in both
// cases.
func WithReserveOffTarget() ProbeOption {
	return func(p *prober) { p.net = true }
}

// WithCeiling sets the largest budget in tokens that [WhyNot] tries; it must be at
// least 0. By default it is enough for all candidates, or a multiple of that for
// slicers that give a kind only a share of the budget.
func WithCeiling(tokens int) ProbeOption {
	return func(p *prober) { p.ceiling = tokens }
}

// WithProgress calls progress before each budget that [Sweep],
// [FindMinBudgetForExhaustive] or [WhyNot] tries, with that budget and the last
// one it may try, in tokens. The calls are made in the caller's goroutine.
func WithProgress(progress func(budget, last int)) ProbeOption {
	return func(p *prober) { p.saw = progress }
}

// prober tries budgets whose ceiling and target are the same number of tokens
// (R40).
type prober struct {
	prepared   *cupel.Prepared
	base       cupel.ContextBudget
	net        bool // the reserve is subtracted from the target
	maxBudgets int
	ceiling    int
	saw        func(budget, last int)
	moves      int
}

func newProber(ctx context.Context, pipeline *cupel.Pipeline, items []*cupel.ContextItem, opts []ProbeOption) (prober, error) {
	p := prober{maxBudgets: defaultMaxBudgets, ceiling: noCeiling}
	for _, opt := range opts {
		if opt != nil {
			opt(&p)
		}
	}
	switch {
	case p.maxBudgets < 1:
		return prober{}, &ArgumentError{"maxBudgets", fmt.Sprintf("the number of budgets to try must be at least 1, got %d", p.maxBudgets)}
	case p.ceiling < 0 && p.ceiling != noCeiling:
		return prober{}, &ArgumentError{"ceiling", fmt.Sprintf("the largest budget to try must be at least 0, got %d", p.ceiling)}
	}
	var err error
	p.prepared, err = pipeline.Prepare(ctx, items)
	return p, err
}

// noCeiling means that no ceiling was given.
const noCeiling = math.MinInt

func (p *prober) budget(tokens int) (cupel.ContextBudget, error) {
	target := tokens
	if p.net {
		target -= min(p.base.OutputReserve(), tokens)
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
// depth, a QuotaSlice or a slicer that declares itself a [cupel.NonMonotonic];
// with an [ArgumentError] if slackTokens is below 0; and as
// [cupel.Pipeline.DryRun] does at either budget, even if only the smaller one is
// too small for the pinned items.
//
// It costs two runs with one scoring. It implements GetMarginalItems of the Budget
// Simulation chapter.
func GetMarginalItems(ctx context.Context, pipeline *cupel.Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget, slackTokens int) ([]*cupel.ContextItem, error) {
	if err := guard(pipeline, false, marginalGuard); err != nil {
		return nil, err
	}
	if slackTokens < 0 {
		return nil, &ArgumentError{"slackTokens", fmt.Sprintf("slackTokens must be at least 0, got %d", slackTokens)}
	}
	reduced, err := reduce(budget, slackTokens)
	if err != nil {
		return nil, err
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
	kept := make(map[*cupel.ContextItem]struct{}, len(margin.Included))
	for _, i := range margin.Included {
		kept[items[i.Candidate()]] = struct{}{}
	}
	var marginal []*cupel.ContextItem
	for _, i := range primary.Included {
		if _, ok := kept[items[i.Candidate()]]; !ok {
			marginal = append(marginal, items[i.Candidate()])
		}
	}
	return marginal, nil
}

// reduce returns the budget reduced by slack tokens.
func reduce(b cupel.ContextBudget, slack int) (cupel.ContextBudget, error) {
	maxTokens, target := max(0, b.MaxTokens()-slack), max(0, b.TargetTokens()-slack)
	if b.OutputReserve() <= maxTokens {
		return b.Resize(maxTokens, target)
	}
	return cupel.NewContextBudget(maxTokens, target,
		cupel.WithOutputReserve(maxTokens),
		cupel.WithReservedSlots(b.ReservedSlots()),
		cupel.WithEstimationSafetyMargin(b.EstimationSafetyMarginPercent()))
}

// FindMinBudgetFor searches for the smallest budget, in tokens, at which target is
// included. It searches from the tokens of target, or of its smallest form, to
// searchCeiling, and returns false if no budget that it tried includes target.
// target is matched by pointer, at any position. A budget does not include target
// if it is invalid (below its reserve), if it does not fit the pinned items, or if
// the pipeline fails with a [cupel.OverflowError].
//
// It is a binary search with about log2(searchCeiling) selections. The result is
// the smallest budget if inclusion is monotonic. With Greedy and Knapsack it is
// not: the result includes target, but a smaller budget may too, and false does
// not mean that no budget does. Use [FindMinBudgetForExhaustive] to be sure.
//
// It fails with a [NonMonotonicError] if the pipeline's slicer contains, at any
// depth, a QuotaSlice, a CountQuotaSlice, a CountConstrainedKnapsackSlice, or a
// slicer that declares itself a [cupel.NonMonotonic]; with an [ArgumentError] if
// target is not one of items, or searchCeiling is below its tokens; and as
// [cupel.Pipeline.DryRun] does for errors that do not depend on the budget.
//
// It implements FindMinBudgetFor of the Budget Simulation chapter.
func FindMinBudgetFor(ctx context.Context, pipeline *cupel.Pipeline, items []*cupel.ContextItem, target *cupel.ContextItem, searchCeiling int, opts ...ProbeOption) (budget int, found bool, err error) {
	if err := guard(pipeline, true, minimumGuard); err != nil {
		return 0, false, err
	}
	if err := checkTarget(items, target, searchCeiling); err != nil {
		return 0, false, err
	}
	p, err := newProber(ctx, pipeline, items, opts)
	if err != nil {
		return 0, false, err
	}
	if target.Tokens() < 0 {
		return 0, false, nil // never selected
	}
	least, err := p.halve(ctx, leastTokens(target), searchCeiling, func(i int) bool { return items[i] == target })
	if err != nil {
		return 0, false, err
	}
	return p.confirm(ctx, items, target, least)
}

// halve returns a budget from low to high that includes a wanted candidate, found
// by the chapter's binary search, or high if it finds none.
func (p *prober) halve(ctx context.Context, low, high int, wanted func(candidate int) bool) (int, error) {
	// Try the lower bound first: the chapter's loop never does, and would
	// return one token too many (R40).
	ok, err := p.includes(ctx, low, wanted)
	if ok {
		high = low
	}
	for err == nil && high-low > 1 {
		mid := low + (high-low)/2
		if ok, err = p.includes(ctx, mid, wanted); ok {
			high = mid
		} else {
			low = mid
		}
	}
	return high, err
}

// checkTarget checks the preconditions, in the chapter's order.
func checkTarget(items []*cupel.ContextItem, target *cupel.ContextItem, searchCeiling int) error {
	if target == nil || !slices.Contains(items, target) {
		return &ArgumentError{"targetItem", "targetItem must be an element of items"}
	}
	if searchCeiling < target.Tokens() {
		return &ArgumentError{"searchCeiling", "searchCeiling must be >= targetItem.Tokens"}
	}
	return nil
}

// includes reports whether a wanted candidate is included at a budget.
func (p *prober) includes(ctx context.Context, tokens int, wanted func(candidate int) bool) (bool, error) {
	budget, err := p.budget(tokens)
	if err != nil {
		return false, nil //nolint:nilerr // a budget that cannot be built includes nothing (R40)
	}
	positions, err := p.prepared.Select(ctx, budget)
	if failureOf(err) == notTheBudgets {
		return false, err
	}
	return slices.ContainsFunc(positions, wanted), nil
}

// confirm makes the chapter's final dry run, which includes the placer, and
// returns the answer.
func (p *prober) confirm(ctx context.Context, items []*cupel.ContextItem, target *cupel.ContextItem, tokens int) (answer int, found bool, err error) {
	budget, err := p.budget(tokens)
	if err != nil {
		return 0, false, nil //nolint:nilerr // a budget that cannot be built includes nothing (R40)
	}
	report, err := p.prepared.DryRun(ctx, budget)
	if failureOf(err) == notTheBudgets {
		return 0, false, err
	}
	if !slices.ContainsFunc(report.Included, func(i cupel.IncludedItem) bool { return items[i.Candidate()] == target }) {
		return 0, false, nil
	}
	return tokens, true, nil
}

// FindMinBudgetForExhaustive returns the smallest budget in tokens, up to
// searchCeiling, at which target is included, or false if there is none. The
// result is exact for any slicer. Otherwise it is like [FindMinBudgetFor], but
// accepts slicers that are not monotonic. Under [cupel.OverflowProceed] a budget
// below the tokens of target may include it, if the slicer ignores the target.
//
// It tries budgets in ascending order, with one selection each, so a result in the
// hundreds of thousands takes that many selections. With a [cupel.SweepSlicer],
// such as Greedy, it only does the work where the selection changes. It fails with
// a [TooManyBudgetsError] if it reaches the limit of [WithMaxBudgets].
func FindMinBudgetForExhaustive(ctx context.Context, pipeline *cupel.Pipeline, items []*cupel.ContextItem, target *cupel.ContextItem, searchCeiling int, opts ...ProbeOption) (budget int, found bool, err error) {
	if err := checkTarget(items, target, searchCeiling); err != nil {
		return 0, false, err
	}
	p, err := newProber(ctx, pipeline, items, opts)
	if err != nil {
		return 0, false, err
	}
	if target.Tokens() < 0 {
		return 0, false, nil // never selected
	}
	least, found, err := p.first(ctx, p.lowest(pipeline, target), searchCeiling, func(i int) bool { return items[i] == target })
	if err != nil || !found {
		return 0, false, err
	}
	return p.confirm(ctx, items, target, least)
}

// lowest returns the smallest budget that may include an item with at least 0
// tokens. A selection never exceeds the target, unless overflow is allowed, and a
// budget below the reserve is invalid.
func (p *prober) lowest(pipeline *cupel.Pipeline, item *cupel.ContextItem) int {
	reserve := p.base.OutputReserve()
	switch {
	case pipeline.Config().Overflow == cupel.OverflowProceed:
		return reserve
	case p.net:
		return exact.Of(leastTokens(item)).Plus(exact.Of(reserve)).Int()
	}
	return max(leastTokens(item), reserve)
}

// leastTokens returns the fewest tokens with which an item can be in the window:
// its own, those of its smallest form, or 0 for a member of a group, whose forms
// can have any size.
func leastTokens(item *cupel.ContextItem) int {
	switch variants := item.Variants(); {
	case item.Tokens() < 0:
		return item.Tokens()
	case item.Group() != "":
		return 0
	case len(variants) > 0:
		return variants[len(variants)-1].Tokens
	}
	return item.Tokens()
}

// first returns the first budget of a range that includes a wanted candidate.
func (p *prober) first(ctx context.Context, from, to int, wanted func(candidate int) bool) (budget int, found bool, err error) {
	cursor := p.prepared.Cursor()
	at := from
	for ok := at <= to; ok; at, ok = p.nextChange(cursor, at, 1, to) {
		change, err := p.move(ctx, cursor, at, to)
		if failureOf(err) == notTheBudgets {
			return 0, false, err
		}
		if slices.ContainsFunc(change.Came, wanted) {
			return at, true, nil
		}
	}
	return 0, false, nil
}

// move goes to a budget, on the way to the last one.
func (p *prober) move(ctx context.Context, cursor *cupel.Cursor, tokens, last int) (cupel.SelectionChange, error) {
	if p.moves == p.maxBudgets {
		return cupel.SelectionChange{}, &TooManyBudgetsError{MaxBudgets: p.maxBudgets, NextBudget: tokens}
	}
	p.moves++
	if p.saw != nil {
		p.saw(tokens, last)
	}
	budget, err := p.budget(tokens)
	if err != nil {
		return cupel.SelectionChange{}, err
	}
	return cursor.Move(ctx, budget)
}

// nextChange returns the first of the budgets at+stride, at+2*stride and so on, up
// to the last one, at which the selection may differ from that at at, where the
// cursor is. It returns false if there is none.
func (p *prober) nextChange(cursor *cupel.Cursor, at, stride, last int) (int, bool) {
	left := (last - at) / stride
	changed := func(n int) bool { // monotonic in n
		budget, err := p.budget(at + n*stride)
		return err == nil && !cursor.Unchanged(budget) // smaller budgets are invalid too
	}
	if left <= 0 {
		return 0, false
	}
	if changed(1) {
		return at + stride, true
	}
	same, n := 1, min(left, 2)
	for !changed(n) {
		if n == left {
			return 0, false
		}
		same, n = n, n+min(n, left-n)
	}
	same++
	n = same + sort.Search(n-same, func(i int) bool { return changed(same + i) })
	return at + n*stride, true
}

package analysis

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/wollax/cupel-go/cupel"
)

// ProbeOption is an optional setting of functions that look at many budgets.
type ProbeOption func(*prober)

// WithBaseBudget gives the budgets that are looked at the output reserve, the
// reserved slots and the safety margin of base; its totals do not matter. By
// default they have none.
func WithBaseBudget(base cupel.ContextBudget) ProbeOption {
	return func(p *prober) { p.base = base }
}

// DefaultMaxBudgets is the number of budgets that [Sweep] and
// [FindMinBudgetForExhaustive] look at, unless [WithMaxBudgets] says otherwise.
const DefaultMaxBudgets = 1 << 22

// WithMaxBudgets sets how many budgets [Sweep] and [FindMinBudgetForExhaustive]
// look at before they fail with a [TooManyBudgetsError]; at least 1,
// [DefaultMaxBudgets] by default. Budgets of which a [cupel.SweepSlicer] says
// that nothing changes at them are not looked at and do not count.
func WithMaxBudgets(budgets int) ProbeOption {
	return func(p *prober) { p.maxBudgets = budgets }
}

// prober asks about the budgets whose ceiling and target are both one number
// of tokens (R40).
type prober struct {
	prepared   *cupel.Prepared
	base       cupel.ContextBudget
	maxBudgets int
	moves      int
}

func newProber(ctx context.Context, pipeline *cupel.Pipeline, items []*cupel.ContextItem, opts []ProbeOption) (prober, error) {
	p := prober{maxBudgets: DefaultMaxBudgets}
	for _, opt := range opts {
		if opt != nil {
			opt(&p)
		}
	}
	if p.maxBudgets < 1 {
		return p, &ArgumentError{"maxBudgets", fmt.Sprintf("the number of budgets to look at must be at least 1, got %d", p.maxBudgets)}
	}
	var err error
	p.prepared, err = pipeline.Prepare(ctx, items)
	return p, err
}

func (p prober) budget(tokens int) (cupel.ContextBudget, error) { return p.base.Resize(tokens, tokens) }

// GetMarginalItems returns the items that are included at budget and not at one
// with slackTokens less, in the order in which the window has them: what would
// be lost first. Items are compared by pointer. The smaller budget keeps the
// output reserve, the reserved slots and the safety margin; its totals, and a
// reserve above them, stop at 0 (R39).
//
// It fails with a [NonMonotonicError] when a QuotaSlice, or a
// [cupel.NonMonotonic] slicer that says so, is in the pipeline's slicer at any
// depth; with an [ArgumentError] when slackTokens is below 0; and as
// [cupel.Pipeline.DryRun] does at either budget, even when only the smaller one
// is too small for the pinned items.
//
// It costs two runs that share the scoring. It implements GetMarginalItems of
// the Budget Simulation chapter.
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
		kept[i.Item] = struct{}{}
	}
	var marginal []*cupel.ContextItem
	for _, i := range primary.Included {
		if _, ok := kept[i.Item]; !ok {
			marginal = append(marginal, i.Item)
		}
	}
	return marginal, nil
}

// reduce returns a budget with slack tokens less.
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

// FindMinBudgetFor searches the smallest budget in tokens, from the tokens of
// target to searchCeiling, at which target is included, and returns false when
// it is included at no budget that the search looked at. target is found by
// pointer; any position that holds it counts. A budget that cannot be built
// (its reserve is above it), that does not hold the pinned items, or at which the
// pipeline fails with a [cupel.OverflowError] counts as one that does not include
// it.
//
// The search halves the range: it takes about log2(searchCeiling) selections, and
// the answer is the smallest budget where inclusion is monotonic. It is not with
// Greedy and Knapsack (R41): there the answer includes target, but a smaller
// budget may as well, and false does not mean that none does. Use
// [FindMinBudgetForExhaustive] to be sure.
//
// It fails with a [NonMonotonicError] when a QuotaSlice, a CountQuotaSlice, a
// CountConstrainedKnapsackSlice, or a [cupel.NonMonotonic] slicer that says so,
// is in the pipeline's slicer at any depth; with an [ArgumentError] when target
// is not one of items, or searchCeiling is below its tokens; and as
// [cupel.Pipeline.DryRun] does for reasons that are not the budget's.
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
	// The lower bound first: the chapter's loop never looks at it, and would
	// answer one token too much (R40).
	low, high := target.Tokens(), searchCeiling
	if low < 0 {
		return 0, false, nil // never selected
	}
	ok, err := p.includes(ctx, items, target, low)
	if err != nil {
		return 0, false, err
	}
	if ok {
		high = low
	}
	for high-low > 1 {
		mid := low + (high-low)/2
		ok, err := p.includes(ctx, items, target, mid)
		if err != nil {
			return 0, false, err
		}
		if ok {
			high = mid
		} else {
			low = mid
		}
	}
	return p.confirm(ctx, target, high)
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

// includes reports whether target is included at a budget.
func (p prober) includes(ctx context.Context, items []*cupel.ContextItem, target *cupel.ContextItem, tokens int) (bool, error) {
	budget, err := p.budget(tokens)
	if err != nil {
		return false, nil //nolint:nilerr // a budget that cannot be built includes nothing (R40)
	}
	positions, err := p.prepared.Select(ctx, budget)
	if failureOf(err) == notTheBudgets {
		return false, err
	}
	return slices.ContainsFunc(positions, func(i int) bool { return items[i] == target }), nil
}

// confirm makes the dry run that the chapter ends with, which asks the placer
// as well, and returns the answer.
func (p prober) confirm(ctx context.Context, target *cupel.ContextItem, tokens int) (answer int, found bool, err error) {
	budget, err := p.budget(tokens)
	if err != nil {
		return 0, false, nil //nolint:nilerr // a budget that cannot be built includes nothing (R40)
	}
	report, err := p.prepared.DryRun(ctx, budget)
	if failureOf(err) == notTheBudgets {
		return 0, false, err
	}
	if !slices.ContainsFunc(report.Included, func(i cupel.IncludedItem) bool { return i.Item == target }) {
		return 0, false, nil
	}
	return tokens, true, nil
}

// FindMinBudgetForExhaustive returns the smallest budget in tokens, from the
// tokens of target to searchCeiling, at which target is included, and false when
// there is none: exactly, whatever the slicer (R41). It asks and fails as
// [FindMinBudgetFor] does, apart from the guard: it takes every slicer.
//
// It looks at each budget in turn until target comes: a selection for each, so
// that an answer in the hundreds of thousands takes as many. With a
// [cupel.SweepSlicer], as Greedy is, it looks only where the selection changes,
// and at what changes. It fails with a [TooManyBudgetsError] when it has looked
// at as many as [WithMaxBudgets] allows.
func FindMinBudgetForExhaustive(ctx context.Context, pipeline *cupel.Pipeline, items []*cupel.ContextItem, target *cupel.ContextItem, searchCeiling int, opts ...ProbeOption) (budget int, found bool, err error) {
	if err := checkTarget(items, target, searchCeiling); err != nil {
		return 0, false, err
	}
	p, err := newProber(ctx, pipeline, items, opts)
	if err != nil {
		return 0, false, err
	}
	// No budget can be built below the reserve.
	at := max(target.Tokens(), p.base.OutputReserve(), 0)
	cursor := p.prepared.Cursor()
	for ok := at <= searchCeiling && target.Tokens() >= 0; ok; at, ok = p.nextChange(cursor, at, 1, searchCeiling) {
		change, err := p.move(ctx, cursor, at)
		if failureOf(err) == notTheBudgets {
			return 0, false, err
		}
		if slices.ContainsFunc(change.Came, func(i int) bool { return items[i] == target }) {
			return p.confirm(ctx, target, at)
		}
	}
	return 0, false, nil
}

func (p *prober) move(ctx context.Context, cursor *cupel.Cursor, tokens int) (cupel.SelectionChange, error) {
	if p.moves == p.maxBudgets {
		return cupel.SelectionChange{}, &TooManyBudgetsError{MaxBudgets: p.maxBudgets, NextBudget: tokens}
	}
	p.moves++
	budget, err := p.budget(tokens)
	if err != nil {
		return cupel.SelectionChange{}, err
	}
	return cursor.Move(ctx, budget)
}

// nextChange returns the first of the budgets at+stride, at+2*stride and so on
// up to the last one at which the selection may be another one than at at, where
// the cursor is; and false when there is none.
func (p prober) nextChange(cursor *cupel.Cursor, at, stride, last int) (int, bool) {
	left := (last - at) / stride
	changed := func(n int) bool { // once true it stays true for more
		budget, err := p.budget(at + n*stride)
		return err == nil && !cursor.Unchanged(budget) // what cannot be built yet could not be before
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

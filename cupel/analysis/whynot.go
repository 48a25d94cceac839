package analysis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/internal/compat"
	"github.com/wollax/cupel-go/cupel/internal/exact"
	"github.com/wollax/cupel-go/cupel/pipeline"
)

// WhyNotAnswer explains one candidate of a run. Other candidates are given by
// position.
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
	Found  bool `json:"found"`
	Tokens int  `json:"tokens,omitempty"` // the ceiling, if Found
	// Exact is true if no smaller budget includes the candidate or, if none
	// was found, none up to SearchedTo does.
	Exact bool `json:"exact"`
	// SearchedTo is the largest budget that was tried, in tokens, or
	// [math.MaxInt] if no budget can include the candidate.
	SearchedTo int   `json:"searched_to"`
	Err        error `json:"-"` // the error of a run that ended the search early, or nil
}

// String returns a sentence, such as "The smallest budget that includes it is 80
// tokens.".
func (s SmallestBudget) String() string {
	switch {
	case s.Found && s.Exact:
		return fmt.Sprintf("The smallest budget that includes it is %d tokens.", s.Tokens)
	case s.Found:
		return fmt.Sprintf("A budget of %d tokens includes it; a smaller one may.", s.Tokens)
	case s.Err != nil:
		return "The smallest budget that includes it is not known: " + strings.TrimPrefix(s.Err.Error(), "cupel: ")
	case s.Exact && s.SearchedTo == math.MaxInt:
		return "No budget includes it."
	case s.Exact:
		return fmt.Sprintf("No budget up to %d tokens includes it.", s.SearchedTo)
	}
	return fmt.Sprintf("No budget up to %d tokens includes it; not all larger ones were tried.", s.SearchedTo)
}

// maxProbes is how many budgets WhyNot tries by default: seconds of work for a
// knapsack of thousands of items.
const maxProbes = 10_000

// WhyNot makes a dry run and explains one of its candidates: its rank and reason,
// what was chosen instead, what pinning it would push out, and the smallest budget
// that would include it. candidate is its position in items; slices.Index(items,
// item) finds it by pointer.
//
// A slicer that can explain its own decision does so ([strategy.Facts]). For any other
// slicer WhyNot lists what it chose.
//
// Budgets in the answer are ceilings, with a target of the ceiling minus the output
// reserve, and with the reserved slots and the safety margin of budget. WhyNot
// starts with a binary search and then tries the smaller budgets, skipping those at
// which the slicer knows that the candidate stays out. It tries up to 10,000, or the
// limit of [WithMaxBudgets]. [WithProgress] applies too. Scores do
// not depend on the budget: the scorer is called twice, the second time with the
// candidate pinned.
//
// It fails with an [ArgumentError] if there is no such candidate or an option is
// invalid, and as [pipeline.Pipeline.DryRun] does.
func WhyNot(ctx context.Context, pipeline *pipeline.Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget, candidate int, opts ...ProbeOption) (*WhyNotAnswer, error) {
	if candidate < 0 || candidate >= len(items) {
		return nil, argumentError("candidate", "candidate must be a position in the list of %d items, got %d", len(items), candidate)
	}
	p, err := newProber(ctx, pipeline, items, append([]ProbeOption{WithMaxBudgets(maxProbes)}, opts...))
	if err != nil {
		return nil, err
	}
	p.base, p.net, p.wanted = budget, true, []int{candidate}
	report, err := p.prepared.DryRun(ctx, budget)
	if err != nil {
		return nil, err
	}
	ledger := NewLedger(report, items)
	a := &WhyNotAnswer{Entry: ledger.Entries[candidate], Ledger: ledger, Budget: budget}
	if err := a.findInstead(ctx, p.prepared); err != nil {
		return nil, err
	}
	if err := a.findExchanges(ctx, p); err != nil {
		return nil, err
	}
	return a, nil
}

// findInstead finds what was included in place of the candidate.
func (a *WhyNotAnswer) findInstead(ctx context.Context, prepared *pipeline.Prepared) error {
	if survivor, ok := a.Ledger.Survivor(a.Candidate); ok {
		a.DisplacedBy = []int{survivor}
	}
	switch code := cupel.ExclusionCode(a.Code); {
	case code == cupel.ExcludeNegativeTokens:
		a.Rule = "Items with a negative token count are never chosen, nor are their groups."
	case code == cupel.ExcludeDeduplicated:
		a.Rule = "Of candidates with the same content, and of such groups, only the best is kept."
	case code == cupel.ExcludeSuperseded:
		a.Rule = "Of the versions of one thing the newest counts. Older ones come back only in its place."
	case code == cupel.ExcludeNearDuplicate:
		a.Rule = "Of items with nearly the same text, the newest counts."
	case code == cupel.ExcludePinnedOverride:
		a.Rule = "Pinned items take their tokens before the slicer chooses."
		for _, i := range a.Ledger.Window {
			if e := &a.Ledger.Entries[i]; e.Included.Reason == cupel.IncludePinned && e.Tokens > 0 {
				a.DisplacedBy = append(a.DisplacedBy, i)
			}
		}
	case a.Place == 0:
		obstacle, err := prepared.Explain(ctx, a.Budget, a.Candidate)
		a.Rule = obstacle.Rule
		// A slicer may choose a newer version that then has no room beside what took the place of the older ones.
		a.DisplacedBy = slices.DeleteFunc(slices.Clone(obstacle.Before), func(i int) bool {
			return a.Ledger.Entries[i].Code == string(cupel.ExcludeBudgetExceeded)
		})
		return err
	}
	return nil
}

// findExchanges finds what would change if the candidate were pinned, and the
// smallest budget that includes it.
func (a *WhyNotAnswer) findExchanges(ctx context.Context, p *prober) error {
	code := cupel.ExclusionCode(a.Code)
	gone := code == cupel.ExcludeDeduplicated || code == cupel.ExcludeNegativeTokens // before scoring
	if a.Place == 0 && !gone {
		items := slices.Clone(p.items)
		items[a.Candidate], _ = a.Item.With(cupel.WithPinned()) // the run has checked the item
		prepared, err := p.pipeline.Prepare(ctx, items)
		if err != nil {
			return err
		}
		if a.IfPinned, err = a.exchange(prepared.Select(ctx, a.Budget)); err != nil {
			return err
		}
	}
	if gone || code == cupel.ExcludeNearDuplicate {
		a.Smallest = SmallestBudget{Exact: true, SearchedTo: math.MaxInt}
		return nil
	}
	a.Smallest = p.smallest(ctx, a.Item)
	if isCanceled(a.Smallest.Err) {
		return a.Smallest.Err
	}
	return nil
}

// exchange compares another selection from candidates at the same positions, or its
// failure.
func (a *WhyNotAnswer) exchange(positions []int, failed error) (*Exchange, error) {
	switch {
	case isCanceled(failed) || errors.Is(failed, cupel.ErrStrategy):
		return nil, failed
	case failed != nil:
		return &Exchange{Err: failed}, nil //nolint:nilerr // the failure is the answer
	}
	in := make([]bool, len(a.Ledger.Entries))
	for _, i := range positions {
		in[i] = true
	}
	byRank := slices.Clone(a.Ledger.Entries)
	slices.SortStableFunc(byRank, func(x, y Entry) int { return cmp.Compare(x.Rank, y.Rank) })
	var x Exchange
	for i := range byRank {
		switch e := &byRank[i]; {
		case in[e.Candidate] && e.Place == 0:
			x.Came = append(x.Came, e.Candidate)
		case !in[e.Candidate] && e.Place > 0:
			x.Went = append(x.Went, e.Candidate)
		}
	}
	return &x, nil
}

func isCanceled(err error) bool {
	_, canceled := compat.AsType[*pipeline.CanceledError](err)
	return canceled
}

// smallest searches for the smallest budget that includes a candidate. A failure at
// a bound, such as the ceiling, does not matter if the candidate is included below
// it.
func (p *prober) smallest(ctx context.Context, item *cupel.ContextItem) SmallestBudget {
	ceiling, included, failed := p.ceilingFor(ctx)
	result := SmallestBudget{SearchedTo: ceiling}
	lowest, last := p.lowest(item), ceiling
	if included {
		var tokens int
		if tokens, failed = p.halve(ctx, lowest, ceiling); failed == nil {
			result.Found, result.Tokens, last = true, tokens, tokens-1
		}
	}
	tokens, found, err := p.first(ctx, lowest, last)
	tooMany, limited := compat.AsType[*TooManyBudgetsError](err)
	switch {
	case found:
		return SmallestBudget{Found: true, Tokens: tokens, Exact: true, SearchedTo: ceiling}
	case !limited:
		result.Err = cmp.Or(err, failed) // the run at the given budget has succeeded
		result.Exact = result.Err == nil
	case !result.Found:
		result.SearchedTo, result.Err = tooMany.NextBudget-1, failed
	}
	return result
}

// ceilingFor returns the largest budget to try, and whether it includes a wanted
// candidate. If a budget with room for all does not include it, as with a small
// share or large buckets, a multiple may.
func (p *prober) ceilingFor(ctx context.Context) (ceiling int, included bool, err error) {
	ceiling = SufficientBudget(p.items, p.base)
	included, err = p.includes(ctx, ceiling)
	const times = 128 // enough for a share of one percent
	if err == nil && !included && ceiling <= math.MaxInt/times {
		if more, _ := p.includes(ctx, times*ceiling); more { // a slicer may fail at such a large budget
			return times * ceiling, true, nil
		}
	}
	return ceiling, included, err
}

// SufficientBudget returns the smallest ceiling with room for all items and for the
// output reserve, the reserved slots and the safety margin of budget, whose totals
// are ignored, or [math.MaxInt] if there is none. Slicers that divide the tokens may
// need more.
func SufficientBudget(items []*cupel.ContextItem, budget cupel.ContextBudget) int {
	pinned, others := exact.Sum{}, exact.Sum{}
	for _, item := range items {
		if item.Pinned() {
			pinned.Add(max(item.Tokens(), 0))
		} else {
			others.Add(max(item.Tokens(), 0))
		}
	}
	least := exact.Of(budget.OutputReserve()).Plus(pinned).Int()
	return least + sort.Search(math.MaxInt-least, func(more int) bool {
		b, err := budget.Resize(least+more, least+more)
		return err == nil && b.Effective(pinned.Int()).TargetTokens >= others.Int()
	})
}

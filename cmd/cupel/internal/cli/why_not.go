package cli

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

// whyNotAnswer is the answer of --why-not for one candidate.
type whyNotAnswer struct {
	*analysis.WhyNotAnswer
	a           *account
	copies      int  // other candidates with its content
	targetGiven bool // --target is set, which the search for a budget ignores
}

// searchFlags limit the search for a budget.
type searchFlags struct {
	upTo     int
	probes   int
	progress bool
}

func (f *searchFlags) register(command *cobra.Command) {
	set := command.Flags()
	intFlag(set, &f.upTo, "up-to", "", 0, "with --why-not, largest budget to try, in `tokens` (default: enough for all candidates and for quotas)")
	intFlag(set, &f.probes, "max-probes", "", 0, "with --why-not, most `budgets` to try (default: 10000)")
	set.BoolVar(&f.progress, "progress", false, "report progress even if standard error is no terminal")
}

// whyNot explains one of the candidates with a content.
func (f *searchFlags) whyNot(ctx context.Context, env *Environment, s *selection, a *account, content string, budget budgetFlags, flags *pflag.FlagSet) (*whyNotAnswer, error) {
	switch {
	case f.probes < 0:
		return nil, usagef("--max-probes: must be at least 0, got %d", f.probes)
	case f.upTo < 0:
		return nil, usagef("--up-to: must be at least 0, got %d", f.upTo)
	}
	tell := newBudgetProgress(env, f.progress)
	defer tell.end()
	candidate, copies := a.bestCopy(content)
	answer, err := s.whyNot(ctx, a, candidate, budget, *f, tell.update)
	if err != nil {
		return nil, err
	}
	return &whyNotAnswer{answer, a, copies, flags.Changed("target")}, nil
}

// whyNot explains a candidate. What a preset prepares depends on the budget, so the
// search for a budget prepares for each that it tries.
func (s *selection) whyNot(ctx context.Context, a *account, candidate int, flags budgetFlags, search searchFlags, tell func(done, total int)) (*analysis.WhyNotAnswer, error) {
	opts := []analysis.ProbeOption{analysis.WithProgress(tell)}
	if search.upTo > 0 {
		opts = append(opts, analysis.WithCeiling(search.upTo))
	}
	switch {
	case s.preset != nil:
		opts = append(opts, analysis.WithMaxBudgets(1)) // its search is not used
	case search.probes > 0:
		opts = append(opts, analysis.WithMaxBudgets(search.probes))
	}
	answer, err := analysis.WhyNot(ctx, s.pipeline, s.items, s.budget, candidate, opts...)
	if err != nil {
		return nil, selecting(err)
	}
	if s.preset == nil || answer.Smallest.SearchedTo == math.MaxInt { // no budget includes it
		return answer, nil
	}
	if search.upTo == 0 {
		search.upTo = analysis.SufficientBudget(s.Items, s.budget)
	}
	places := placesOf(s.items, s.Items)
	answer.Smallest, err = smallestPrepared(ctx, s.chooser, s.Candidates, flags, places[candidate], search, tell)
	answer.AtSmallest = nil
	if err != nil || !answer.Smallest.Found {
		return answer, err
	}
	forms, err := formsAt(ctx, s.chooser, s.Candidates, flags, &analysis.SweepStep{Budget: answer.Smallest.Tokens})
	if err != nil {
		return nil, selecting(err)
	}
	answer.AtSmallest = new(analysis.Exchange)
	for i, place := range places {
		switch in := forms[place] > 0; {
		case in && a.Entries[i].Place == 0:
			answer.AtSmallest.Came = append(answer.AtSmallest.Came, i)
		case !in && a.Entries[i].Place > 0:
			answer.AtSmallest.Went = append(answer.AtSmallest.Went, i)
		}
	}
	byRank := func(x, y int) int { return cmp.Compare(a.Entries[x].Rank, a.Entries[y].Rank) }
	slices.SortStableFunc(answer.AtSmallest.Came, byRank)
	slices.SortStableFunc(answer.AtSmallest.Went, byRank)
	return answer, nil
}

// workPrepared is how many budgets times candidates are tried without asking.
const workPrepared = 10_000

// smallestPrepared searches the smallest budget that includes a candidate, where
// the candidates are prepared for each budget. It tries all budgets of a short
// conversation. Otherwise it tries some fifty up to search.upTo, and as many below
// the first that includes the candidate, or as many as search.probes allows; the
// result is not exact then.
func smallestPrepared(ctx context.Context, c chooser, candidates *input.Candidates, flags budgetFlags, of int, search searchFlags, tell func(done, total int)) (analysis.SmallestBudget, error) {
	found := analysis.SmallestBudget{SearchedTo: search.upTo}
	from, to := 0, search.upTo
	for round := range 2 {
		stride := roundStride(to - from)
		if search.probes > 0 {
			stride = (to-from)/max(min(search.probes, mostPrepared)/2, 1) + 1
		} else if to-from <= workPrepared/max(len(candidates.Items), 1) {
			stride = 1
		}
		sweep, err := sweepPrepared(ctx, c, candidates, flags, analysis.BudgetRange{From: from, To: to, Stride: stride}, tell)
		if err != nil {
			return found, selecting(err)
		}
		found.Exact = found.Exact || round == 0 && stride == 1
		first := slices.IndexFunc(sweep.Steps, func(step analysis.SweepStep) bool { return slices.Contains(step.Came, of) })
		if first < 0 {
			return found, nil
		}
		found.Found, found.Tokens = true, sweep.Steps[first].Budget
		if found.Exact {
			return found, nil
		}
		from, to = max(found.Tokens-stride, 0), found.Tokens
	}
	return found, nil
}

// bestCopy returns the included candidate with a content, or else one that was
// not dropped as a duplicate, and how many other copies there are.
func (a *account) bestCopy(content string) (best, others int) {
	order := func(e *analysis.Entry) int {
		switch {
		case e.Place > 0:
			return 0
		case e.Code != string(cupel.ExcludeDeduplicated):
			return 1
		}
		return 2
	}
	best = -1
	for i := range a.Entries {
		e := &a.Entries[i]
		if e.Item.Content() != content {
			continue
		}
		if best < 0 {
			best = i
			continue
		}
		others++
		if order(e) < order(&a.Entries[best]) {
			best = i
		}
	}
	return best, others
}

// newBudgetProgress returns progress through budgets, shown on a terminal or if
// wanted.
func newBudgetProgress(env *Environment, wanted bool) *progress {
	p := newProgress(env, "tokens of budget")
	if !wanted && !p.place {
		p.every = math.MaxInt64
	}
	return p
}

// bare returns the text of an error without its "cupel: " prefix.
func bare(err error) string { return strings.TrimPrefix(err.Error(), "cupel: ") }

package cli

import (
	"context"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	intFlag(set, &f.probes, "max-probes", "", 0, "with --why-not, most `budgets` to try (default: 10000, or millions if the slicer can sweep budgets cheaply)")
	set.BoolVar(&f.progress, "progress", false, "report progress even if standard error is no terminal")
}

// whyNot explains one of the candidates with a content.
func (f *searchFlags) whyNot(ctx context.Context, env *Environment, s *selection, a *account, content string, flags *pflag.FlagSet) (*whyNotAnswer, error) {
	switch {
	case f.probes < 0:
		return nil, usagef("--max-probes: must be at least 0, got %d", f.probes)
	case f.upTo < 0:
		return nil, usagef("--up-to: must be at least 0, got %d", f.upTo)
	}
	tell := newBudgetProgress(env, f.progress)
	defer tell.end()
	opts := []analysis.ProbeOption{analysis.WithProgress(tell.update)}
	if f.upTo > 0 {
		opts = append(opts, analysis.WithCeiling(f.upTo))
	}
	if f.probes > 0 {
		opts = append(opts, analysis.WithMaxBudgets(f.probes))
	}
	candidate, copies := a.bestCopy(content)
	answer, err := analysis.WhyNot(ctx, s.pipeline, s.items, s.budget, candidate, opts...)
	if err != nil {
		return nil, selecting(err)
	}
	return &whyNotAnswer{answer, a, copies, flags.Changed("target")}, nil
}

// bestCopy returns the included candidate with a content, or else one that was
// not dropped as a duplicate, and how many other copies there are.
func (a *account) bestCopy(content string) (best, others int) {
	order := func(e *analysis.Entry) int {
		switch {
		case e.Place > 0:
			return 0
		case e.Code() != string(cupel.ExcludeDeduplicated):
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

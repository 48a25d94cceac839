package cli

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/internal/english"
)

// sweepFlags are the flags of newSweep.
type sweepFlags struct {
	selectionFlags // without a budget and a target
	printFlags
	from, to int
}

// newSweep returns the command that selects over a range of budgets.
func newSweep(env *Environment) *cobra.Command {
	var flags sweepFlags
	command := &cobra.Command{
		Use:   "sweep",
		Short: "Show how the selection changes over a range of budgets",
		Long: `sweep lists the budgets of a range at which the selection changes, with the items
that came and went. A larger budget does not always keep what a smaller one includes.
It tries about fifty budgets.`,
		Example: `  cupel sweep chat.json --from 1000 --to 8000
  cupel sweep items.jsonl -p rag --json | jq '.steps[].budget'`,
		Args: filesBy("items"),
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(command.Context(), env)
		},
	}
	flags.candidateFlags.register(command)
	queryFlag(command, &flags.query)
	flags.printFlags.register(command)
	policyFlag(command, &flags.policy)
	requireFlag(command, "items")
	command.Flags().Func("from", "first budget, in `tokens` (default: what pinned items and --reserve need)", amount(&flags.from, 1))
	command.Flags().Func("to", "last budget, in `tokens` (default: enough for all candidates and the reserve)", amount(&flags.to, 1))
	flags.registerReserves(command)
	return command
}

func (f *sweepFlags) run(ctx context.Context, env *Environment) error {
	f.budget = math.MaxInt // the sweep replaces the totals
	s, err := f.read(ctx, env)
	if err != nil {
		return err
	}
	env.selected = nil // there is not one budget
	result := &sweepResult{Policy: s.name, From: f.from, To: f.to, Candidates: len(s.Items)}
	if f.to == 0 {
		result.To = max(analysis.SufficientBudget(s.Items, s.budget), result.From)
	}
	if f.from == 0 {
		result.From = min(necessary(s.Items, s.budget), result.To)
	}
	if result.To < result.From {
		return usagef("--to: must be at least --from (%d), got %d", result.From, result.To)
	}
	result.Stride = (result.To-result.From)/mostSteps + 1
	if err := s.sweep(ctx, result); err != nil {
		return selecting(err)
	}
	return f.print(env, result, result.print)
}

// mostSteps is the number of steps of a range.
const mostSteps = 50

// sweepResult describes how a selection changes over a range of budgets. sweep --json
// prints it.
type sweepResult struct {
	Policy     string      `json:"policy"`
	From       int         `json:"from"`
	To         int         `json:"to"`
	Stride     int         `json:"stride"`
	Candidates int         `json:"candidates"`
	Steps      []sweepStep `json:"steps"`
}

// sweepStep is a budget at which the selection changes.
type sweepStep struct {
	Budget   int      `json:"budget"`
	Tokens   int      `json:"tokens"`
	Included int      `json:"included"`
	Came     []string `json:"came"` // contents, or titles of messages
	Went     []string `json:"went"`
	Changed  []string `json:"changed,omitempty"` // in another form
	Error    string   `json:"error,omitempty"`
}

// sweep selects at each budget of a result.
func (s *selection) sweep(ctx context.Context, result *sweepResult) error {
	var before *cupel.SelectionReport
	failed := ""
	for n := range (result.To-result.From)/result.Stride + 1 {
		at := result.From + n*result.Stride
		report, err := s.at(ctx, at)
		step := sweepStep{Budget: at}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, cupel.ErrInvalidConfig):
			return err
		case err != nil:
			report, step.Error = &cupel.SelectionReport{}, message(err)
		}
		diff := analysis.DiffReports(before, report)
		step.Came, step.Went, step.Changed = titlesOf(diff.Came), titlesOf(diff.Went), titlesOf(diff.Forms)
		step.Included, step.Tokens = len(report.Included), tokensIn(report)
		changed := len(step.Came)+len(step.Went)+len(step.Changed) > 0 || step.Error != failed
		if before == nil || changed {
			result.Steps = append(result.Steps, step)
		}
		before, failed = report, step.Error
	}
	return nil
}

// at selects at a budget.
func (s *selection) at(ctx context.Context, tokens int) (*cupel.SelectionReport, error) {
	budget, err := s.budget.Resize(tokens, max(tokens-s.budget.OutputReserve(), 0))
	if err != nil {
		return nil, budgetError{err, "--"}
	}
	return s.report(ctx, budget)
}

// titlesOf returns the titles of items in tables.
func titlesOf(changes []analysis.ReportChange) []string {
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = headline(cmp.Or(c.B, c.A).Item)
	}
	return names
}

// necessary returns the smallest budget that fits the pinned items.
func necessary(items []*cupel.ContextItem, budget cupel.ContextBudget) int {
	tokens := budget.OutputReserve()
	for _, item := range items {
		if item.Pinned() {
			tokens = addTokens(tokens, max(item.Tokens(), 0))
		}
	}
	return tokens
}

// print writes it for people.
func (r *sweepResult) print(p *terminal.Printer) {
	p.Line("%s: budgets from %d to %d by %d, %s, %s", r.Policy, r.From, r.To, r.Stride,
		english.Plural(r.Candidates, "candidate"), english.Plural(len(r.Steps), "step"))
	p.Line("")
	rows := make([][]any, len(r.Steps))
	for i, step := range r.Steps {
		var changes []string
		for _, change := range []struct {
			sign  string
			names []string
		}{{"-", step.Went}, {"+", step.Came}, {"±", step.Changed}} {
			for _, name := range change.names {
				changes = append(changes, change.sign+terminal.Excerpt(name, 28))
			}
		}
		rows[i] = []any{
			step.Budget, step.Tokens, percent(step.Tokens, step.Budget), step.Included, len(step.Came), len(step.Went),
			cmp.Or(step.Error, strings.Join(changes, ", ")),
		}
	}
	p.Table([]string{"BUDGET", "TOKENS", "USED", "ITEMS", "CAME", "WENT", "WHICH"}, rows)
}

package cli

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/internal/english"
)

// sweepFlags are the flags of newSweep.
type sweepFlags struct {
	candidateFlags
	budgetFlags // without a budget and a target
	query       string
	printFlags
	policy   string
	from, to amount
	stride   int
}

// newSweep returns the command that selects over a range of budgets.
func newSweep(env *Environment) *cobra.Command {
	var flags sweepFlags
	command := &cobra.Command{
		Use:   "sweep",
		Short: "Show how the selection changes over a range of budgets",
		Long: `sweep lists the budgets of a range at which the selection changes, with the items
that came and went. A larger budget does not always keep what a smaller one includes.
--stride 1 tries every budget; the default tries about fifty.`,
		Example: `  cupel sweep -i items.jsonl -p rag
  cupel sweep -i items.jsonl -p rag --from 1000 --to 8000 --stride 1
  cupel sweep -i items.jsonl -p rag --json | jq '.steps[].budget'`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(command.Context(), env, command.Flags().Changed)
		},
	}
	flags.candidateFlags.register(command)
	queryFlag(command, &flags.query)
	flags.printFlags.register(command)
	policyFlag(command, &flags.policy)
	requireFlags(command, "items", "policy")
	amountFlag(command, &flags.from, "from", "", "first budget, in `tokens` (default: what pinned items and --reserve need)")
	amountFlag(command, &flags.to, "to", "", "last budget, in `tokens` (default: enough for all candidates and the reserve)")
	tokensFlag(command.Flags(), &flags.stride, "stride", "`tokens` between budgets (default: a round number that gives about fifty budgets)")
	flags.registerReserves(command)
	return command
}

func (f *sweepFlags) run(ctx context.Context, env *Environment, changed func(flag string) bool) error {
	f.budget = amount{tokens: math.MaxInt} // the sweep replaces the base's totals
	base, err := f.make(nil)
	if err != nil {
		return err
	}
	c, err := asking(f.query).chooser(env, f.policy, f.encoding)
	if err != nil {
		return err
	}
	candidates, err := f.read(ctx, env)
	if err != nil {
		return err
	}
	pinned := necessary(candidates.Items, base)
	budgets := analysis.BudgetRange{From: f.from.of(candidates.Items), To: f.to.of(candidates.Items), Stride: f.stride}
	if !changed("to") {
		budgets.To = max(analysis.SufficientBudget(candidates.Items, base), budgets.From)
	}
	if !changed("from") {
		budgets.From = min(pinned, budgets.To)
	}
	if budgets.Stride == 0 {
		budgets.Stride = roundStride(budgets.To - budgets.From)
	}
	if budgets.To < budgets.From {
		return usagef("--to: must be at least --from (%d), got %d", budgets.From, budgets.To)
	}
	sweep, err := f.sweep(ctx, c, candidates, budgets, base, newProgress(env, "tokens of budget").update)
	if tooMany, ok := errors.AsType[*analysis.TooManyBudgetsError](err); ok {
		return usagef("gave up after %d budgets: narrow the range with --from and --to, or give a larger --stride", tooMany.MaxBudgets)
	}
	if err != nil {
		return selecting(err)
	}
	return f.print(env, sweep, func(printer *terminal.Printer) { printSweep(printer, c.name, sweep) })
}

// sweep selects at each budget: those of a conversation whose pins do not fit have
// candidates of their own, and so have those that a preset prepares.
func (f *sweepFlags) sweep(ctx context.Context, c chooser, candidates *input.Candidates, budgets analysis.BudgetRange, base cupel.ContextBudget, tell func(done, total int)) (*analysis.BudgetSweep, error) {
	if c.preset != nil || candidates.Conversation != nil && budgets.From < necessary(candidates.Items, base) {
		return sweepPrepared(ctx, c, candidates, f.budgetFlags, budgets, tell)
	}
	return analysis.Sweep(ctx, keeping(candidates, c.pipeline), candidates.Items, budgets,
		analysis.WithBaseBudget(base), analysis.WithProgress(tell))
}

// mostPrepared is how many budgets a sweep prepares candidates for at most.
const mostPrepared = 10_000

// sweepPrepared sweeps over budgets that each have candidates of their own.
func sweepPrepared(ctx context.Context, c chooser, candidates *input.Candidates, flags budgetFlags, budgets analysis.BudgetRange, tell func(done, total int)) (*analysis.BudgetSweep, error) {
	sweep := &analysis.BudgetSweep{From: budgets.From, To: budgets.To, Stride: budgets.Stride, Items: candidates.Items}
	if (budgets.To-budgets.From)/budgets.Stride >= mostPrepared {
		return nil, &analysis.TooManyBudgetsError{MaxBudgets: mostPrepared}
	}
	none := make([]int, len(candidates.Items)) // form of each, plus one; 0 is out
	before, failed := none, false
	for n := range (budgets.To-budgets.From)/budgets.Stride + 1 {
		at := budgets.From + n*budgets.Stride
		tell(at-budgets.From, budgets.To-budgets.From)
		step := analysis.SweepStep{Budget: at, Came: []int{}, Went: []int{}}
		now, err := formsAt(ctx, c, candidates, flags, &step)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && !errors.Is(err, pipeline.ErrPinnedExceedsBudget) && !errors.Is(err, cupel.ErrInvalidBudget):
			return nil, err
		case err != nil:
			now, step.Error = none, err.Error()
		}
		for i := range now {
			switch {
			case now[i] == before[i]:
			case before[i] == 0:
				step.Came = append(step.Came, i)
			case now[i] == 0:
				step.Went = append(step.Went, i)
			default:
				step.Changed = append(step.Changed, i)
			}
		}
		if n == 0 || failed != (err != nil) || !slices.Equal(before, now) {
			sweep.Steps = append(sweep.Steps, step)
		}
		before, failed = now, err != nil
	}
	return sweep, nil
}

// formsAt selects at the budget of a step, and says what each candidate has: 0 if
// it is out, and else its tokens, plus one.
func formsAt(ctx context.Context, c chooser, candidates *input.Candidates, flags budgetFlags, step *analysis.SweepStep) ([]int, error) {
	flags.budget = amount{tokens: step.Budget}
	budget, err := flags.make(nil)
	if err != nil {
		return nil, err
	}
	s, err := c.selection(ctx, candidates, budget)
	if err != nil {
		return nil, err
	}
	report, err := s.pipeline.DryRun(ctx, s.items, budget)
	if err != nil {
		return nil, err
	}
	places := placesOf(s.items, candidates.Items)
	forms := make([]int, len(candidates.Items))
	for _, in := range report.Included {
		forms[places[in.Candidate]] = max(in.Item.Tokens(), 0) + 1
		step.Tokens = addTokens(step.Tokens, in.Item.Tokens())
	}
	step.Included = len(report.Included)
	return forms, nil
}

// placesOf returns where each of some prepared items stands among all candidates.
// They are in the same order, and some may be left out. Those that are prepared
// are of the same message and in the same group, or in none.
func placesOf(items, all []*cupel.ContextItem) []int {
	if len(items) == len(all) {
		all = items
	}
	places := make([]int, len(items))
	at := 0
	for i, item := range items {
		for ; at < len(all)-(len(items)-i); at++ {
			a, _ := all[at].MetadataInt("index")
			if b, _ := item.MetadataInt("index"); a == b && all[at].Group() == item.Group() {
				break
			}
		}
		places[i] = at
		at++
	}
	return places
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

// roundStride returns the smallest of 1, 2, 5, 10, 20, 50 and so on that divides
// a range into at most fifty steps.
func roundStride(length int) int {
	const parts = 50
	for power := 1; power <= math.MaxInt/10; power *= 10 {
		for _, round := range []int{1, 2, 5} {
			if length/parts < round*power {
				return round * power
			}
		}
	}
	return math.MaxInt / parts
}

// printSweep writes a sweep for people.
func printSweep(p *terminal.Printer, title string, sweep *analysis.BudgetSweep) {
	last := sweep.From + (sweep.To-sweep.From)/sweep.Stride*sweep.Stride
	p.Line("%s: budgets from %d to %d by %d, %s, %s", title, sweep.From, last, sweep.Stride,
		english.Plural(len(sweep.Items), "candidate"), english.Plural(len(sweep.Steps), "step"))
	p.Line("")
	rows := make([][]any, len(sweep.Steps))
	for i, step := range sweep.Steps {
		changes := changesOf(sweep.Items, step)
		if step.Error != "" {
			changes = strings.TrimPrefix(step.Error, "cupel: ")
		}
		rows[i] = []any{
			step.Budget, step.Tokens, percent(step.Tokens, step.Budget), step.Included,
			signed("+", len(step.Came)), signed("-", len(step.Went)), changes,
		}
	}
	p.Table([]string{"BUDGET", "TOKENS", "USED", "ITEMS", "CAME", "WENT", "WHICH"}, rows)
}

func signed(sign string, n int) string {
	if n == 0 {
		return ""
	}
	return sign + strconv.Itoa(n)
}

// changesOf names some of what came, went and changed its form.
func changesOf(items []*cupel.ContextItem, step analysis.SweepStep) string {
	const most, columns = 4, 28
	var list []string
	for _, change := range []struct {
		sign  string
		items []int
	}{{"-", step.Went}, {"+", step.Came}, {"±", step.Changed}} {
		for _, i := range change.items {
			list = append(list, change.sign+terminal.Excerpt(headline(items[i]), columns))
		}
	}
	if len(list) > most {
		list = append(list[:most], "…")
	}
	return strings.Join(list, ", ")
}

package cli

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

// sweepFlags are the flags of newSweep.
type sweepFlags struct {
	candidateFlags
	budgetFlags // without a budget and a target
	queryFlags
	displayFlags
	policy    string
	from, to  amount
	stride    int
	csv, plot bool
	progress  bool
}

// newSweep returns the command that selects over a range of budgets.
func newSweep(env *Environment) *cobra.Command {
	var flags sweepFlags
	command := &cobra.Command{
		Use:   "sweep",
		Short: "Show how the selection changes over a range of budgets",
		Long: `sweep selects at the budgets of a range and lists those at which the selection
changes: the tokens and items included from there on, and the items that came
and went. Budgets mean the same as --budget of the other commands: --reserve is
subtracted.

A larger budget does not always keep what a smaller one includes. --stride 1
tries every budget; the default tries about fifty.`,
		Example: `  cupel sweep -i items.jsonl -p rag
  cupel sweep -i items.jsonl -p rag --from 1000 --to 8000 --stride 1 --csv
  cupel sweep -i items.jsonl -p rag --plot
  cupel sweep -i items.jsonl -p rag --json | jq '.steps[].budget'`,
		Args: takes(0, 0),
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(env, command)
		},
	}
	flags.candidateFlags.register(command)
	flags.queryFlags.register(command)
	flags.displayFlags.register(command)
	set := command.Flags()
	policyFlag(command, &flags.policy)
	amountFlag(command, &flags.from, "from", "", "first budget, in `tokens` (default: what pinned items and --reserve need)")
	amountFlag(command, &flags.to, "to", "", "last budget, in `tokens` (default: enough for all candidates and the reserve)")
	intFlag(set, &flags.stride, "stride", "", 0, "`tokens` between budgets (default: a round number that gives about fifty budgets)")
	flags.registerReserves(command)
	set.BoolVar(&flags.csv, "csv", false, "print comma-separated values; candidates are positions, from 0")
	set.BoolVar(&flags.plot, "plot", false, "plot the share of the budget that is used")
	set.BoolVar(&flags.progress, "progress", false, "report progress even if standard error is no terminal")
	command.MarkFlagsMutuallyExclusive("json", "csv", "plot")
	return command
}

func (f *sweepFlags) run(env *Environment, command *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	changed := command.Flags().Changed
	if changed("stride") && f.stride < 1 {
		return usagef("--stride: must be at least 1, got %d", f.stride)
	}
	f.budget = amount{tokens: math.MaxInt} // the sweep replaces the base's totals
	base, err := f.make(false, nil)
	if err != nil {
		return err
	}
	c, err := f.readChooser(env, f.policy, f.encoding)
	if err != nil {
		return err
	}
	candidates, err := f.read(command.Context(), env)
	if err != nil {
		return err
	}
	budgets := analysis.BudgetRange{From: f.from.of(candidates.Items), To: f.to.of(candidates.Items), Stride: f.stride}
	if !changed("to") {
		budgets.To = max(analysis.SufficientBudget(candidates.Items, base), budgets.From)
	}
	if !changed("from") {
		budgets.From = min(necessary(candidates.Items, base), max(budgets.To, 0))
	}
	if !changed("stride") {
		budgets.Stride = roundStride(budgets.To - budgets.From)
	}
	switch {
	case budgets.From < 0:
		return usagef("--from: must be at least 0, got %d", budgets.From)
	case budgets.To < budgets.From:
		return usagef("--to: must be at least --from (%d), got %d", budgets.From, budgets.To)
	}
	tell := newBudgetProgress(env, f.progress)
	var sweep *analysis.BudgetSweep
	if c.preset != nil || candidates.Conversation != nil && budgets.From < necessary(candidates.Items, base) {
		sweep, err = sweepPrepared(command.Context(), c, candidates, f.budgetFlags, budgets, tell.update)
	} else {
		sweep, err = analysis.Sweep(command.Context(), keeping(candidates, c.pipeline), candidates.Items, budgets,
			analysis.WithBaseBudget(base), analysis.WithProgress(tell.update))
	}
	tell.end()
	if tooMany, ok := errors.AsType[*analysis.TooManyBudgetsError](err); ok {
		return usagef("gave up after %d budgets: narrow the range with --from and --to, or give a larger --stride", tooMany.MaxBudgets)
	}
	if err != nil {
		return selecting(err)
	}
	if f.csv {
		return writeOutput(env, f.output, f.force, func(w io.Writer) error { return writeSweepCSV(w, sweep) })
	}
	return f.write(env, func() (any, error) { return sweep, nil }, func(printer *terminal.Printer) {
		printSweep(printer, titleOf(c.policy.Name, f.policy), sweep, f.plot)
	})
}

// lastOf returns the last budget that a sweep tried.
func lastOf(sweep *analysis.BudgetSweep) int {
	return sweep.From + (sweep.To-sweep.From)/sweep.Stride*sweep.Stride
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

// utilization returns the share of a budget that tokens are.
func utilization(tokens, budget int) float64 {
	if budget <= 0 {
		return 0
	}
	return float64(tokens) / float64(budget)
}

// printSweep writes a sweep for people.
func printSweep(p *terminal.Printer, title string, sweep *analysis.BudgetSweep, plot bool) {
	p.Heading(terminal.Text{Text: title, Style: terminal.Bold}, fmt.Sprintf(": budgets from %d to %d by %d, %s, %s",
		sweep.From, lastOf(sweep), sweep.Stride, plural(len(sweep.Items), "candidate"), plural(len(sweep.Steps), "step")))
	p.Line()
	if plot {
		printPlot(p, sweep)
		return
	}
	rows := make([][]terminal.Text, len(sweep.Steps))
	for i, step := range sweep.Steps {
		changes := terminal.Plain(changesOf(sweep.Items, step))
		if step.Error != "" {
			changes = terminal.Text{Text: strings.TrimPrefix(step.Error, "cupel: "), Style: terminal.Red}
		}
		rows[i] = []terminal.Text{terminal.Plain(strconv.Itoa(step.Budget)), terminal.Plain(strconv.Itoa(step.Tokens)),
			terminal.Plain(percent(step.Tokens, step.Budget)), terminal.Plain(strconv.Itoa(step.Included)),
			{Text: signed("+", len(step.Came)), Style: terminal.Green}, {Text: signed("-", len(step.Went)), Style: terminal.Red}, changes}
	}
	p.Table([]terminal.Column{{Head: "BUDGET", Right: true}, {Head: "TOKENS", Right: true, Drop: 2}, {Head: "USED", Right: true}, {Head: "ITEMS", Right: true},
		{Head: "CAME", Right: true, Drop: 1}, {Head: "WENT", Right: true, Drop: 1}, {Head: "WHICH", Flexible: true}}, rows)
}

func signed(sign string, n int) string {
	if n == 0 {
		return ""
	}
	return sign + strconv.Itoa(n)
}

// changesOf summarizes what came, went and changed its form.
func changesOf(items []*cupel.ContextItem, step analysis.SweepStep) string {
	const names, columns = 4, 28
	var list []string
	at, more := make(map[string]int), make(map[int]int) // groups, and how many other members they have here
	for _, change := range []struct {
		sign  string
		items []int
	}{{"-", step.Went}, {"+", step.Came}, {"±", step.Changed}} {
		for _, i := range change.items {
			group := change.sign + items[i].Group()
			if n, ok := at[group]; ok && items[i].Group() != "" {
				more[n]++
				continue
			}
			if len(list) == names {
				list = append(list, "…")
				break
			}
			at[group] = len(list)
			list = append(list, change.sign+terminal.Excerpt(headline(items[i]), columns))
		}
	}
	for n, members := range more {
		list[n] += fmt.Sprintf(" and %d of its group", members)
	}
	return strings.Join(list, ", ")
}

// printPlot plots the used share of each budget, from 0 to 1.
func printPlot(p *terminal.Printer, sweep *analysis.BudgetSweep) {
	columns := max(min(p.Width(), maxBar), 2)
	if length := sweep.To - sweep.From; length/sweep.Stride < columns {
		columns = length/sweep.Stride + 1
	}
	levels := []rune("▁▂▃▄▅▆▇█")
	var line strings.Builder
	at := 0
	for c := range columns {
		budget := sweep.From
		if columns > 1 {
			// The last budget that the sweep tried, at most.
			steps := (sweep.To - sweep.From) / sweep.Stride
			budget += int(float64(steps)*float64(c)/float64(columns-1)) * sweep.Stride
		}
		for at+1 < len(sweep.Steps) && sweep.Steps[at+1].Budget <= budget {
			at++
		}
		share := utilization(sweep.Steps[at].Tokens, budget)
		if share <= 0 {
			line.WriteByte(' ')
			continue
		}
		line.WriteRune(levels[min(int(share*8), 7)])
	}
	p.Line(terminal.Text{Text: line.String(), Style: terminal.Green})
	last := lastOf(sweep)
	share := func(step analysis.SweepStep, budget int) string {
		return strconv.FormatFloat(utilization(step.Tokens, budget)*100, 'f', 1, 64) + "%"
	}
	p.Paragraph(fmt.Sprintf("Share of the budget used, from %s at %d to %s at %d.",
		share(sweep.Steps[0], sweep.From), sweep.From, share(sweep.Steps[len(sweep.Steps)-1], last), last), "")
}

// writeSweepCSV writes a line for each step.
func writeSweepCSV(w io.Writer, sweep *analysis.BudgetSweep) error {
	out := csv.NewWriter(w)
	records := [][]string{{"budget", "tokens", "items", "came", "went", "error"}}
	forms := slices.ContainsFunc(sweep.Steps, func(s analysis.SweepStep) bool { return len(s.Changed) > 0 })
	if forms {
		records[0] = append(records[0], "changed")
	}
	for _, step := range sweep.Steps {
		failure := strings.TrimPrefix(step.Error, "cupel: ")
		records = append(records, []string{strconv.Itoa(step.Budget), strconv.Itoa(step.Tokens), strconv.Itoa(step.Included),
			positions(step.Came), positions(step.Went), failure})
		if last := len(records) - 1; forms {
			records[last] = append(records[last], positions(step.Changed))
		}
	}
	return out.WriteAll(records)
}

func positions(list []int) string {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, " ")
}

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
)

// diffFlags are the flags of newDiff.
type diffFlags struct {
	selectionFlags
	displayFlags
	rows int

	runs     []string // files with recorded runs
	contents string
}

// newDiff returns the command that compares two selections.
func newDiff(env *Environment) *cobra.Command {
	var flags diffFlags
	command := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two policies, two budgets or two reports",
		Long: `diff compares two selections from the same candidates. It lists the items that
only one of them includes, and why the other does not; the items whose order
differs; and how tokens, kinds and timestamps change.

With --policy, A and B are two budgets for that policy. Otherwise, with --items,
they are two policies, by name or file, for one --budget. With neither, they are
two reports written by cupel explain --json; --budget is then the budget that
utilization is computed from.

With --recordings, A and B are two policies; the word recorded stands for what was
decided then. Both select from the candidates of each recorded run, at its time and
within its budget. diff prints how often they differ, for which kinds, and examples.
Recordings are lines of OTLP in JSON that cupelotel.WithRecording made. They have no
contents; --contents has them for a policy that reads contents.

Items are matched by content. Content with several copies counts as included if
one copy is.`,
		Example: `  cupel diff -i items.jsonl -b 4000 chat rag
  cupel diff -i items.jsonl -p rag 4000 8000
  cupel diff -i items.jsonl -b 4000 rag my-policy.toml --json
  cupel diff monday.json tuesday.json -b 4000
  cupel diff recorded my-policy.toml --recordings runs.jsonl`,
		Args: takes(2, 2),
		RunE: func(command *cobra.Command, args []string) error {
			return flags.run(env, command, [2]string(args))
		},
		ValidArgsFunction: func(command *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 2 || command.Flags().Changed("policy") { // budgets cannot be completed
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			complete, _ := command.GetFlagCompletionFunc("policy")
			return complete(command, nil, typed)
		},
	}
	flags.selectionFlags.register(command)
	flags.displayFlags.register(command)
	command.Flags().StringArrayVar(&flags.runs, "recordings", nil, "`file` with recorded runs, or -; may be repeated")
	command.Flags().StringVar(&flags.contents, "contents", "", "`file` with the contents of recorded items; {\"id\": …, \"content\": …} on each line")
	command.MarkFlagsMutuallyExclusive("recordings", "items")
	command.MarkFlagsMutuallyExclusive("recordings", "policy")
	command.MarkFlagsMutuallyExclusive("recordings", "budget")
	must(command.MarkFlagFilename("recordings", "json", "jsonl"))
	must(command.MarkFlagFilename("contents", "jsonl"))
	optional(command, "items", "policy", "budget") // which are required depends on A and B
	intFlag(command.Flags(), &flags.rows, "rows", "n", 20, "show at most this many `rows` of each list; 0 for all")
	return command
}

func (f *diffFlags) run(env *Environment, command *cobra.Command, args [2]string) error {
	if f.rows < 0 {
		return usagef("--rows: must be at least 0, got %d", f.rows)
	}
	if err := f.check(); err != nil {
		return err
	}
	changed := command.Flags().Changed
	if changed("recordings") {
		d, err := f.recordings(command.Context(), env, args)
		if err != nil {
			return err
		}
		return cmp.Or(f.write(env, func() (any, error) { return d, nil }, d.print), d.failed())
	}
	if f.contents != "" {
		return usagef("--contents is for --recordings")
	}
	var d *difference
	var err error
	switch {
	case changed("policy"):
		d, err = f.budgets(command.Context(), env, args, changed)
	case changed("items"):
		d, err = f.policies(command.Context(), env, args, changed)
	default:
		d, err = f.reports(env, args, changed)
	}
	if err != nil {
		return err
	}
	return f.write(env, func() (any, error) { return d, nil }, func(p *terminal.Printer) { d.print(p, f.rows) })
}

// budgets compares two budgets.
func (f *diffFlags) budgets(ctx context.Context, env *Environment, args [2]string, changed func(string) bool) (*difference, error) {
	switch {
	case !changed("items"):
		return nil, usagef("two budgets need candidates: give --items")
	case changed("budget"):
		return nil, usagef("with --policy, A and B are the budgets: omit --budget, or omit --policy to compare policies")
	}
	var amounts [2]amount
	for i, arg := range args {
		var err error
		if amounts[i], err = parseAmount(arg); err != nil {
			return nil, usagef("with --policy, A and B are budgets; omit --policy to compare policies: %w", err)
		}
	}
	c, err := f.readChooser(env, f.policy, f.encoding)
	if err != nil {
		return nil, err
	}
	candidates, err := f.candidateFlags.read(ctx, env)
	if err != nil {
		return nil, err
	}
	var budgets [2]cupel.ContextBudget
	for i, arg := range args {
		flags := f.budgetFlags
		flags.budget = amounts[i]
		if budgets[i], err = flags.make(changed("target"), candidates.Items); err != nil {
			return nil, usagef("%s: %w", arg, err)
		}
	}
	return both(ctx, env, candidates, [2]compared{
		{"budget " + strconv.Itoa(budgets[0].MaxTokens()), strconv.Itoa(budgets[0].MaxTokens()), c, budgets[0]},
		{"budget " + strconv.Itoa(budgets[1].MaxTokens()), strconv.Itoa(budgets[1].MaxTokens()), c, budgets[1]},
	})
}

// compared is a selection to make.
type compared struct {
	where, label string
	chooser      chooser
	budget       cupel.ContextBudget
}

// both makes two selections and compares them.
func both(ctx context.Context, env *Environment, candidates *input.Candidates, two [2]compared) (*difference, error) {
	var sides [2]side
	var items []*cupel.ContextItem
	for i := range two {
		c := &two[i]
		s, err := c.chooser.selection(ctx, candidates, c.budget)
		if err != nil {
			return nil, err
		}
		for _, text := range s.notes {
			note(env.Stderr, []string{c.where + ": " + text})
		}
		report, err := s.pipeline.DryRun(ctx, s.items, c.budget)
		if err != nil {
			return nil, s.selecting(fmt.Errorf("%s: %w", c.where, err), true)
		}
		sides[i] = side{label: c.label, budget: &c.budget, report: report}
		items = append(items, s.items...) // a reduced task differs
	}
	return compare(items, sides), nil
}

// policies compares two policies.
func (f *diffFlags) policies(ctx context.Context, env *Environment, args [2]string, changed func(string) bool) (*difference, error) {
	if !changed("budget") {
		if _, err := parseAmount(args[0]); err == nil {
			return nil, usagef("two budgets need a policy: give --policy")
		}
		return nil, usagef("two policies need a budget: give --budget")
	}
	if args[0] == args[1] {
		return nil, usagef("A and B are both %s: give two different policies, or --policy and two budgets", args[0])
	}
	var two [2]compared
	for i, arg := range args {
		c, err := f.readChooser(env, arg, f.encoding)
		if err != nil {
			return nil, err
		}
		two[i] = compared{where: shown(arg), label: shown(arg), chooser: c}
	}
	candidates, err := f.candidateFlags.read(ctx, env)
	if err != nil {
		return nil, err
	}
	budget, err := f.make(changed("target"), candidates.Items)
	if err != nil {
		return nil, err
	}
	two[0].budget, two[1].budget = budget, budget
	return both(ctx, env, candidates, two)
}

// reports compares two reports.
func (f *diffFlags) reports(env *Environment, args [2]string, changed func(string) bool) (*difference, error) {
	var sides [2]side
	for i, arg := range args {
		if arg != "-" && !strings.HasSuffix(strings.ToLower(arg), ".json") {
			return nil, usagef("%s is not a report: a report ends in .json; give --items to compare policies, and --policy to compare budgets", arg)
		}
		report, err := readReport(env, arg)
		if err != nil {
			return nil, err
		}
		sides[i] = side{label: shown(arg), report: report}
		if changed("budget") {
			budget, err := f.make(changed("target"), nil)
			if err != nil {
				return nil, err
			}
			sides[i].budget = &budget
		}
	}
	return compare(nil, sides), nil
}

// readReport reads the output of explain --json.
func readReport(env *Environment, name string) (*cupel.SelectionReport, error) {
	r, done, err := open(env, name)
	if err != nil {
		return nil, err
	}
	defer done()
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, usagef("%s: %w", shown(name), err)
	}
	// The reader accepts unknown fields, so any object looks like a report: look
	// for a field that only a report has.
	var probe struct {
		Included *json.RawMessage `json:"included"`
	}
	if err := json.Unmarshal(data, &probe); err == nil && probe.Included == nil {
		return nil, usagef("%s is not a report: cupel explain --json writes one; give --items to compare policies", shown(name))
	}
	report := new(cupel.SelectionReport)
	if err := json.Unmarshal(data, report); err != nil {
		return nil, usagef("%s: %w", shown(name), err)
	}
	return report, nil
}

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelinspect"
)

// anyPort is the address of --serve without one.
const anyPort = "127.0.0.1:0"

// defaultStops is the number of budgets on a slider with an explicit range.
const defaultStops = 100

// inspectFlags are the flags of newInspect.
type inspectFlags struct {
	selectionFlags
	against       string // a policy
	againstBudget amount
	title         string
	output        string
	force         bool
	serve         string
	from, to      amount // of the budgets
	stops         int
}

// newInspect returns the command that draws selections.
func newInspect(env *Environment) *cobra.Command {
	var flags inspectFlags
	command := &cobra.Command{
		Use:   "inspect [REPORT ...]",
		Short: "Draw the selection as a web page",
		Long: `inspect writes one HTML file that needs no network. It shows the window drawn to
scale, scores against positions, every candidate with its reason, the time of
each stage, and the selection at other budgets. Given two selections, it shows
the differences; given more, such as the turns of a session, what each keeps of
the one before, and the differences between any two.

The selection is made from --items, --policy and --budget, or read from reports
written by cupel explain --json; a report has no other budgets. If the selection
fails, the page shows what is known and the exit code is 3.`,
		Example: `  cupel inspect -i items.jsonl -p rag -b 4000 -o window.html
  cupel inspect -i items.jsonl -p rag -b 4000 --against chat -o two.html
  cupel inspect -i items.jsonl -p rag -b 4000 --serve
  cupel inspect monday.json tuesday.json -b 4000 -o two.html`,
		Args: takes(0, cupelinspect.MaxSelections),
		RunE: func(command *cobra.Command, args []string) error {
			return flags.run(env, command, args)
		},
	}
	flags.register(command)
	// A report replaces both.
	optional(command, "items", "policy")
	set := command.Flags()
	set.StringVar(&flags.against, "against", "", "compare with a selection by this `policy`")
	amountFlag(command, &flags.againstBudget, "against-budget", "", "compare with a budget of these `tokens`")
	set.StringVar(&flags.title, "title", "", "`title` of the page (default: the names of the files)")
	set.StringVarP(&flags.output, "output", "o", "cupel.html", "`file` to write, or - for standard output")
	set.BoolVar(&flags.force, "force", false, "overwrite the --output file")
	set.StringVar(&flags.serve, "serve", "", "serve on a loopback `address` until interrupted; writes no file")
	set.Lookup("serve").NoOptDefVal = anyPort
	amountFlag(command, &flags.from, "from", "", "smallest budget of the slider, in `tokens`")
	amountFlag(command, &flags.to, "to", "", "largest budget of the slider, in `tokens` (default: twice the budget)")
	intFlag(set, &flags.stops, "stops", "", 0, "`number` of budgets on the slider; 0 disables it (default: as many as are quick to compute)")
	command.MarkFlagsMutuallyExclusive("serve", "output")
	command.MarkFlagsMutuallyExclusive("serve", "force")
	completePolicy(command, "against", agentPolicy)
	return command
}

func (f *inspectFlags) run(env *Environment, command *cobra.Command, reports []string) error {
	selections, err := f.selections(env, command, reports)
	if err != nil {
		return err
	}
	title := f.title
	if title == "" {
		title = "Context window"
		if names := slices.Concat(f.items, reports); !slices.Contains(f.items, "-") {
			for i, name := range names {
				names[i] = filepath.Base(name)
			}
			title = strings.Join(names, ", ")
			if n := len(names); n > 3 {
				title = names[0] + " … " + names[n-1]
			}
		}
	}
	if f.serve != "" {
		page, err := cupelinspect.Handler(title, selections...)
		if err != nil {
			return err
		}
		return serve(command.Context(), env, f.serve, page)
	}
	if err := writeOutput(env, f.output, f.force, func(w io.Writer) error {
		return cupelinspect.WriteHTML(w, title, selections...)
	}); err != nil {
		return err
	}
	if f.output != "-" {
		fmt.Fprintf(env.Stderr, "cupel: wrote %s; open it in a browser\n", f.output)
	}
	// The page shows a failed run too; the exit code reports the failure.
	var failed []error
	for _, s := range selections {
		failed = append(failed, s.Err())
	}
	return selecting(errors.Join(failed...))
}

// selections makes or reads the selections to show.
func (f *inspectFlags) selections(env *Environment, command *cobra.Command, reports []string) ([]*cupelinspect.Selection, error) {
	changed := command.Flags().Changed
	if len(reports) > 0 {
		if changed("items") {
			return nil, usagef("both --items and a report, %s, are given: give one of them; to serve at an address, write --serve=ADDRESS", shown(reports[0]))
		}
		for _, name := range []string{"policy", "against", "against-budget", "from", "to", "stops"} {
			if changed(name) {
				return nil, usagef("--%s requires --items; it does not apply to a report", name)
			}
		}
		budget, err := f.make(changed("target"), nil)
		if err != nil {
			return nil, err
		}
		return readReports(env, reports, budget)
	}
	if len(f.items) == 0 || f.policy == "" {
		return nil, usagef("nothing to show: give --items and --policy, or a report from cupel explain --json")
	}
	s, err := f.read(env, command)
	if err != nil {
		return nil, err
	}
	sweep, err := f.sweep(changed, s)
	if err != nil {
		return nil, err
	}
	first, err := inspectSelection(command.Context(), env, s, nameOf(s.policy.Name, f.policy), sweep)
	if err != nil {
		return nil, err
	}
	if !changed("against") && !changed("against-budget") {
		return []*cupelinspect.Selection{first}, nil
	}
	other, budget := s.chooser, s.budget
	name := nameOf(other.policy.Name, f.policy)
	if changed("against") {
		if other, err = f.readChooser(env, f.against, f.encoding); err != nil {
			return nil, err
		}
		name = nameOf(other.policy.Name, f.against)
	}
	if changed("against-budget") {
		second := f.budgetFlags
		second.budget = f.againstBudget
		if budget, err = second.make(changed("target"), s.Items); err != nil {
			return nil, err
		}
	}
	if s, err = other.selection(command.Context(), s.Candidates, budget); err != nil {
		return nil, err
	}
	if sweep, err = f.sweep(changed, s); err != nil {
		return nil, err
	}
	second, err := inspectSelection(command.Context(), env, s, name, sweep)
	if err != nil {
		return nil, err
	}
	return []*cupelinspect.Selection{first, second}, nil
}

// sweep returns the budgets of the slider; nil leaves the choice to the package.
func (f *inspectFlags) sweep(changed func(flag string) bool, s *selection) (cupelinspect.Option, error) {
	if !changed("from") && !changed("to") && !changed("stops") {
		return nil, nil //nolint:nilnil // nil means no option
	}
	from, to, stops := f.from.of(s.Items), f.to.of(s.Items), f.stops
	if !changed("to") {
		to = addTokens(s.budget.MaxTokens(), s.budget.MaxTokens())
	}
	if !changed("stops") {
		stops = defaultStops
	}
	switch {
	case from < 0:
		return nil, usagef("--from: must be at least 0 tokens, got %d", from)
	case to < from:
		return nil, usagef("--from: must be at most --to (%d), got %d", to, from)
	case stops < 0 || stops > cupelinspect.MaxSweepStops:
		return nil, usagef("--stops: must be from 0 to %d, got %d", cupelinspect.MaxSweepStops, stops)
	}
	return cupelinspect.WithSweep(from, to, stops), nil
}

// inspectSelection shows a selection. The slider would show items that are prepared for
// one budget at others, so that a preset which prepares them has none.
func inspectSelection(ctx context.Context, env *Environment, s *selection, name string, sweep cupelinspect.Option) (*cupelinspect.Selection, error) {
	note(env.Stderr, s.notes)
	if s.preset != nil {
		if sweep != nil {
			return nil, usagef("the policy agent prepares its candidates for one budget: --from, --to and --stops are for others")
		}
		sweep = cupelinspect.WithSweep(0, 0, 0)
	}
	defer env.busy("selecting at other budgets")()
	made, err := cupelinspect.Inspect(ctx, s.pipeline, s.items, s.budget, cupelinspect.WithName(name), sweep)
	if err != nil {
		return nil, selecting(err)
	}
	return made, nil
}

// readReports reads the output of cupel explain --json.
func readReports(env *Environment, names []string, budget cupel.ContextBudget) ([]*cupelinspect.Selection, error) {
	var selections []*cupelinspect.Selection
	for _, name := range names {
		r, done, err := open(env, name)
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(r)
		done()
		if err != nil {
			return nil, usagef("%s: %w", shown(name), err)
		}
		var report cupel.SelectionReport
		if err := json.Unmarshal(data, &report); err != nil {
			return nil, usagef("%s is not a report from cupel explain --json: %w", shown(name), err)
		}
		selection, err := cupelinspect.FromReport(&report, budget, cupelinspect.WithName(filepath.Base(shown(name))))
		if err != nil {
			return nil, usagef("%s: %w", shown(name), err)
		}
		selections = append(selections, selection)
	}
	return selections, nil
}

// nameOf returns the name of a policy, or else the argument that selected it.
func nameOf(name, given string) string {
	if name != "" {
		return name
	}
	return given
}

var errNotLoopback = errors.New("--serve: the page shows your context, so it is served on loopback only: give 127.0.0.1, [::1] or localhost, and a port")

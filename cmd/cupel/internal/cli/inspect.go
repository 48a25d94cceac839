package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cupelinspect"
)

// inspectFlags are the flags of newInspect.
type inspectFlags struct {
	selectionFlags
	outputFlags
	against string // a policy
}

// newInspect returns the command that draws selections.
func newInspect(env *Environment) *cobra.Command {
	var flags inspectFlags
	command := &cobra.Command{
		Use:   "inspect [REPORT ...]",
		Short: "Draw the selection as a web page",
		Long: `inspect writes one HTML file that needs no network, from a selection or from reports
of cupel explain --json. Given two selections, it shows the differences; given more,
such as the turns of a session, what each keeps of the one before. If a selection
fails, the page shows what is known.`,
		Example: `  cupel inspect -i items.jsonl -p rag -b 4000 -o window.html
  cupel inspect -i items.jsonl -p rag -b 4000 --against chat -o two.html
  cupel inspect monday.json tuesday.json -b 4000 -o two.html`,
		Args: cobra.MaximumNArgs(cupelinspect.MaxSelections),
		RunE: func(command *cobra.Command, args []string) error {
			return flags.run(command.Context(), env, args)
		},
	}
	flags.selectionFlags.register(command)
	flags.outputFlags.register(command, "cupel.html")
	requireFlags(command, "budget")
	command.Flags().StringVar(&flags.against, "against", "", "compare with a selection by this `policy`")
	command.MarkFlagsRequiredTogether("items", "policy")
	completePolicy(command, "against")
	return command
}

func (f *inspectFlags) run(ctx context.Context, env *Environment, reports []string) error {
	selections, err := f.selections(ctx, env, reports)
	if err != nil {
		return err
	}
	title := titleOf(slices.Concat(f.items, reports))
	if err := f.write(env, func(w io.Writer) error { return cupelinspect.WriteHTML(w, title, selections...) }); err != nil {
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

// titleOf returns the title of a page: the names of the files.
func titleOf(names []string) string {
	for i, name := range names {
		names[i] = filepath.Base(shown(name))
	}
	if n := len(names); n > 3 {
		return names[0] + " … " + names[n-1]
	}
	return strings.Join(names, ", ")
}

// selections makes or reads the selections to show.
func (f *inspectFlags) selections(ctx context.Context, env *Environment, reports []string) ([]*cupelinspect.Selection, error) {
	switch {
	case len(reports) > 0 && len(f.items) > 0:
		return nil, usagef("both --items and a report, %s, are given: give one of them", shown(reports[0]))
	case len(reports) > 0:
		return f.readReports(env, reports)
	case len(f.items) == 0:
		return nil, usagef("nothing to show: give --items and --policy, or a report from cupel explain --json")
	}
	policies := []string{f.policy}
	if f.against != "" {
		policies = append(policies, f.against)
	}
	selections, err := f.readFor(ctx, env, policies...)
	if err != nil {
		return nil, err
	}
	made := make([]*cupelinspect.Selection, len(selections))
	for i, s := range selections {
		if made[i], err = inspectSelection(ctx, env, s); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// inspectSelection shows a selection. The slider would show items that are prepared for
// one budget at others, so that a preset which prepares them has none.
func inspectSelection(ctx context.Context, env *Environment, s *selection) (*cupelinspect.Selection, error) {
	note(env, s.notes...)
	options := []cupelinspect.Option{cupelinspect.WithName(s.name)}
	if s.preset != nil {
		options = append(options, cupelinspect.WithSweep(0, 0, 0))
	}
	made, err := cupelinspect.Inspect(ctx, s.pipeline, s.items, s.budget, options...)
	if err != nil {
		return nil, selecting(err)
	}
	return made, nil
}

// readReports reads the output of cupel explain --json.
func (f *inspectFlags) readReports(env *Environment, names []string) ([]*cupelinspect.Selection, error) {
	budget, err := f.make(nil)
	if err != nil {
		return nil, err
	}
	var selections []*cupelinspect.Selection
	for _, name := range names {
		report, err := readReport(env, name)
		if err != nil {
			return nil, err
		}
		selection, err := cupelinspect.FromReport(report, budget, cupelinspect.WithName(filepath.Base(shown(name))))
		if err != nil {
			return nil, usagef("%s: %w", shown(name), err)
		}
		selections = append(selections, selection)
	}
	return selections, nil
}

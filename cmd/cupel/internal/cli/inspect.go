package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cupel"
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
		Use:   "inspect",
		Short: "Draw the selection as a web page",
		Long: `inspect writes one HTML file that needs no network. With --against the page shows the
differences too. If a selection fails, the page shows the results so far.`,
		Example: `  cupel inspect chat.json -b 20k -o window.html
  cupel inspect items.jsonl -p rag -b 4000 --against chat -o two.html`,
		Args: filesBy("items"),
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(command.Context(), env)
		},
	}
	flags.selectionFlags.register(command)
	flags.outputFlags.register(command, "cupel.html")
	requireFlag(command, "items")
	command.Flags().StringVar(&flags.against, "against", "", "compare with a selection by this `policy`")
	return command
}

func (f *inspectFlags) run(ctx context.Context, env *Environment) error {
	selections, err := f.selections(ctx, env)
	if err != nil {
		return err
	}
	title := filepath.Base(shown(f.items))
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

// selections makes the selections to show.
func (f *inspectFlags) selections(ctx context.Context, env *Environment) ([]*cupelinspect.Selection, error) {
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
		if made[i], err = inspectSelection(ctx, s); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// inspectSelection shows a selection. For a conversation, the page shows the
// sent messages.
func inspectSelection(ctx context.Context, s *selection) (*cupelinspect.Selection, error) {
	name := cupelinspect.WithName(s.name)
	if !s.choosesAgain() {
		made, err := cupelinspect.Inspect(ctx, s.pipeline, s.Items, s.budget, name)
		return made, selecting(err)
	}
	window, err := s.choose(ctx, s.budget)
	if err != nil {
		return s.inspectFailed(ctx, err, name)
	}
	choose := func(budget cupel.ContextBudget, pinned int) (*cupel.SelectionReport, error) {
		other := s
		if pinned >= 0 {
			var err error
			if other, err = s.pinning(pinned); err != nil {
				return nil, err
			}
		}
		window, err := other.choose(ctx, budget)
		if err != nil {
			return nil, err
		}
		return window.Report, nil
	}
	body, _ := window.Body() // none in a format that is only read
	made, err := cupelinspect.FromReport(window.Report, s.budget, name,
		cupelinspect.WithCandidates(s.Items, choose), cupelinspect.WithPipeline(s.pipeline), cupelinspect.WithRequest(body))
	return made, selecting(err)
}

// inspectFailed shows the results of a failed selection.
func (s *selection) inspectFailed(ctx context.Context, failed error, name cupelinspect.Option) (*cupelinspect.Selection, error) {
	items := s.Items
	if s.Conversation != nil {
		shortened, _, err := s.Conversation.ItemsFor(s.ofMessages(), s.budget)
		if err != nil {
			return nil, selecting(err)
		}
		items = shortened
	}
	made, err := cupelinspect.Inspect(ctx, s.pipeline, items, s.budget, name, cupelinspect.WithSweep(0, 0, 0))
	if err != nil || made.Err() == nil {
		return nil, selecting(failed)
	}
	return made, nil
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelchat"
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
differences too. If a selection fails, the page shows what is known.`,
		Example: `  cupel inspect -i items.jsonl -p rag -b 4000 -o window.html
  cupel inspect -i items.jsonl -p rag -b 4000 --against chat -o two.html`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(command.Context(), env)
		},
	}
	flags.selectionFlags.register(command)
	flags.outputFlags.register(command, "cupel.html")
	requireFlags(command, "items", "policy", "budget")
	command.Flags().StringVar(&flags.against, "against", "", "compare with a selection by this `policy`")
	return command
}

func (f *inspectFlags) run(ctx context.Context, env *Environment) error {
	selections, err := f.selections(ctx, env)
	if err != nil {
		return err
	}
	var names []string
	for _, name := range f.items {
		names = append(names, filepath.Base(shown(name)))
	}
	title := strings.Join(names, ", ")
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
		if made[i], err = inspectSelection(ctx, env, s); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// inspectSelection shows a selection. Of a conversation the page has what is sent.
func inspectSelection(ctx context.Context, env *Environment, s *selection) (*cupelinspect.Selection, error) {
	note(env, s.notes...)
	name := cupelinspect.WithName(s.name)
	items := s.Items
	switch {
	case s.Conversation != nil:
		items = s.Conversation.Items()
	case s.preset == nil:
		made, err := cupelinspect.Inspect(ctx, s.pipeline, s.items, s.budget, name)
		return made, selecting(err)
	}
	body, report, err := s.sent(ctx, items, s.budget, -1)
	if err != nil {
		made, failed := cupelinspect.Inspect(ctx, s.pipeline, s.items, s.budget, name, cupelinspect.WithSweep(0, 0, 0))
		if failed != nil || made.Err() == nil {
			return nil, selecting(err)
		}
		return made, nil
	}
	choose := func(budget cupel.ContextBudget, pinned int) (*cupel.SelectionReport, error) {
		_, report, err := s.sent(ctx, items, budget, pinned)
		return report, err
	}
	made, err := cupelinspect.FromReport(report, s.budget, name,
		cupelinspect.WithCandidates(items, choose), cupelinspect.WithPipeline(s.pipeline), cupelinspect.WithRequest(body))
	return made, selecting(err)
}

// sent chooses, with a candidate pinned unless that is negative, and returns the body
// of a conversation and the report of what is sent, by the positions of items.
func (s *selection) sent(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, pinned int) (body []byte, _ *cupel.SelectionReport, err error) {
	c := &watchedChooser{Chooser: s.pipeline, items: items, pinned: pinned}
	if s.preset != nil {
		c.Chooser = s.preset
	}
	if s.Conversation == nil {
		_, report, err := c.RunReport(ctx, items, budget)
		return nil, report, err
	}
	window, err := s.Conversation.Select(ctx, c, budget)
	if err != nil {
		return nil, nil, err
	}
	report := *window.Report
	report.Included, report.Excluded = slices.Clone(report.Included), slices.Clone(report.Excluded)
	for i := range report.Included {
		report.Included[i].Candidate = c.at[report.Included[i].Candidate]
	}
	for i := range report.Excluded {
		e := &report.Excluded[i]
		if e.Reason.Code == cupelchat.Compacted {
			e.Candidate = slices.IndexFunc(items, func(item *cupel.ContextItem) bool { return isSame(item, e.Item) })
		} else {
			e.Candidate = c.at[e.Candidate]
		}
	}
	if body, err = window.Body(); err != nil {
		body = nil // of a format that is only read
	}
	return body, &report, nil
}

// watchedChooser knows which items of a conversation it was given, and pins one.
type watchedChooser struct {
	cupelchat.Chooser
	items  []*cupel.ContextItem
	pinned int
	at     []int // positions in items
}

// RunReport implements [cupelchat.Chooser].
func (c *watchedChooser) RunReport(ctx context.Context, given []*cupel.ContextItem, budget cupel.ContextBudget, opts ...pipeline.RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error) {
	given = slices.Clone(given)
	c.at = c.at[:0]
	next := 0
	for i := range given {
		for next < len(c.items)-1 && len(given) < len(c.items) && !isSame(c.items[next], given[i]) {
			next++
		}
		c.at = append(c.at, next)
		if next == c.pinned {
			var err error
			if given[i], err = given[i].With(cupel.WithPinned()); err != nil {
				return nil, nil, err
			}
		}
		next++
	}
	return c.Chooser.RunReport(ctx, given, budget, opts...)
}

// isSame reports whether one item is another, or that in other words.
func isSame(a, b *cupel.ContextItem) bool {
	return a == b || reflect.DeepEqual(a.Metadata(), b.Metadata())
}

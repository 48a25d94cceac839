package cli

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupelinspect"
	"github.com/wollax/cupel-go/internal/english"
)

// explainFlags are the flags of newExplain.
type explainFlags struct {
	selectionFlags
	printFlags
	rows   int
	whyNot string
}

// newExplain returns the command that explains a selection.
func newExplain(env *Environment) *cobra.Command {
	var flags explainFlags
	command := &cobra.Command{
		Use:   "explain",
		Short: "Show what is included, what is dropped, and why",
		Long: `explain shows the budget by kind, what is included, and what is dropped and why, by
score. For a conversation it names the messages that took the room of the first dropped
ones, and shows the beginning of each message that is sent in a smaller form.

--why-not explains one candidate: what was chosen instead, what would be dropped if
it were pinned, and a budget that includes it. Name it by its number, its content or
its first line, or by a pattern: * matches any text, and ? one character.`,
		Example: `  cupel explain chat.json -b 20k
  cupel explain chat.json -b 20k --why-not 17
  cupel explain items.jsonl -p rag -b 4000 --json | jq '.excluded[].reason'`,
		Args: filesBy("items"),
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(command.Context(), env)
		},
	}
	flags.selectionFlags.register(command)
	flags.printFlags.register(command)
	requireFlag(command, "items")
	rowsFlag(command, &flags.rows)
	command.Flags().StringVar(&flags.whyNot, "why-not", "", "explain the one candidate with this `content`, or this number")
	return command
}

// rowsFlag registers the flag that limits lists.
func rowsFlag(command *cobra.Command, rows *int) {
	*rows = 20
	command.Flags().FuncP("rows", "n", "show at most this many `rows` of each list; 0 for all (default 20)", amount(rows, 0))
}

func (f *explainFlags) run(ctx context.Context, env *Environment) error {
	s, err := f.read(ctx, env)
	if err != nil {
		return err
	}
	var of int // the candidate that --why-not names
	if f.whyNot != "" {
		if of, err = s.find(f.whyNot); err != nil {
			return err
		}
	}
	report, failed := s.report(ctx, s.budget)
	if report == nil || failed != nil && ctx.Err() != nil {
		return s.selecting(ctx, failed)
	}
	a := newAccount(s.Items, s.budget, report)
	if f.whyNot != "" && failed == nil {
		answer, err := s.whyNot(ctx, a, of)
		if err != nil {
			return err
		}
		return f.print(env, answer.json(), func(p *terminal.Printer) { answer.print(p, f.rows) })
	}
	if s.choosesAgain() && !f.json {
		if err := s.findDisplacing(ctx, a, f.rows); err != nil {
			return err
		}
	}
	env.summary = s.summary(report)
	timeless := *report
	timeless.Events = nil // they have durations
	return cmp.Or(f.print(env, &timeless, func(p *terminal.Printer) {
		if failed != nil {
			p.Line("%s: the selection failed", s.name)
		} else {
			p.Line("%s: %d of %d candidates included, %d tokens, %s of the budget of %d",
				s.name, len(a.Window), len(a.Entries), tokensIn(report), percent(tokensIn(report), s.budget.MaxTokens()), s.budget.MaxTokens())
			a.printBudget(p)
		}
		a.printLists(p, f.rows)
		a.printForms(p, f.rows)
	}), s.selecting(ctx, failed))
}

// mostDisplaced is for how many candidates findDisplacing looks up which
// others have their room.
const mostDisplaced = 20

// findDisplacing finds the candidates in the room of the first ones that are out, by
// choosing again with each of these pinned.
func (s *selection) findDisplacing(ctx context.Context, a *account, rows int) error {
	most := min(cmp.Or(rows, mostDisplaced), mostDisplaced, len(a.Out))
	for _, i := range a.Out[:most] {
		after, err := s.ifPinned(ctx, i)
		if err != nil {
			continue // it is no message, or does not fit
		}
		if went := cupelinspect.Losers(a.Ledger, after, i); len(went) > 0 {
			a.displaced[i] = named(s.Items[went[0]], went[0])
		}
	}
	return ctx.Err()
}

// mostSentLines is how many lines of a message's sent text are printed.
const mostSentLines = 5

// printForms prints the beginning of each text that is sent in a smaller form.
func (a *account) printForms(p *terminal.Printer, rows int) {
	printed := 0
	for _, i := range a.Window {
		e := &a.Entries[i]
		if e.Form == 0 || e.Tokens == 0 || rows > 0 && printed == rows {
			continue
		}
		if printed++; printed == 1 {
			p.Paragraph("What is sent in a smaller form")
		}
		p.Line("%s:", named(e.Item, i))
		lines := strings.Split(sentOf(e), "\n")
		for _, line := range lines[:min(len(lines), mostSentLines)] {
			p.Line("  %s", line)
		}
		if more := len(lines) - mostSentLines; more > 0 {
			p.Line("  … and %s; --why-not shows all", english.Count(more, "more line"))
		}
	}
}

// printSome prints at most some rows of a table; 0 prints all.
func printSome(p *terminal.Printer, heads []string, rows [][]any, most int) {
	all := len(rows)
	if most > 0 && all > most {
		rows = rows[:most]
	}
	p.Table(heads, rows)
	if more := all - len(rows); more > 0 {
		p.Line("… and %d more; --rows 0 shows all", more)
	}
}

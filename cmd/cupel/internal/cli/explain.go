package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
)

// explainFlags are the flags of newExplain.
type explainFlags struct {
	selectionFlags
	displayFlags
	search searchFlags
	rows   int
	globs  []string
	parts  bool
	whyNot string
}

// newExplain returns the command that explains a selection.
func newExplain(env *Environment) *cobra.Command {
	var flags explainFlags
	command := &cobra.Command{
		Use:   "explain",
		Short: "Show what is included, what is dropped, and why",
		Long: `explain makes the selection and explains it: the budget as a bar by kind, the
included items with their place in the prompt, and the dropped ones, both by
score and with the reason. Ranks count the scored candidates, best first.

--item limits the lists to candidates whose first line or whole content matches
a pattern: * matches any text, ? one character, [a-z] one character of a range,
and \ quotes the next character. Patterns are case-sensitive.

--why-not explains one candidate: its rank and score, what was chosen before it,
what would be dropped if it were pinned, and the smallest --budget that includes
it, with all other settings except --target unchanged. The argument is the
candidate's content or its first line, a pattern as for --item, or the beginning
of the content.

--json prints the report as JSON, as the specification defines it; its totals
count all candidates even if --item limits the lists. If the selection fails,
explain prints what is known so far and exits with code 3.`,
		Example: `  cupel explain -i items.jsonl -p rag -b 4000
  cupel explain -i items.jsonl -p rag -b 4000 --parts --item '*invoice*'
  cupel explain -i items.jsonl -p rag -b 4000 --why-not 'The invoice of March'
  cupel explain -i items.jsonl -p rag -b 4000 --json | jq '.excluded[].reason'`,
		Args: takes(0, 0),
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(env, command)
		},
	}
	flags.selectionFlags.register(command)
	flags.displayFlags.register(command)
	flags.search.register(command)
	set := command.Flags()
	intFlag(set, &flags.rows, "rows", "n", 20, "show at most this many `rows` of each list; 0 for all")
	set.StringArrayVar(&flags.globs, "item", nil, "list candidates that match this `pattern`; may be repeated")
	set.BoolVar(&flags.parts, "parts", false, "show the score of each part of the scorer")
	set.StringVar(&flags.whyNot, "why-not", "", "explain the one candidate with this `content`")
	command.MarkFlagsMutuallyExclusive("why-not", "item")
	return command
}

func (f *explainFlags) run(env *Environment, command *cobra.Command) error {
	if f.rows < 0 {
		return usagef("--rows: must be at least 0, got %d", f.rows)
	}
	if err := f.check(); err != nil {
		return err
	}
	for _, name := range []string{"up-to", "max-probes"} {
		if command.Flags().Changed(name) && !command.Flags().Changed("why-not") {
			return usagef("--%s requires --why-not", name)
		}
	}
	match, err := matcherOf(f.globs)
	if err != nil {
		return err
	}
	s, err := f.read(env, command)
	if err != nil {
		return err
	}
	note(env.Stderr, s.notes)
	ctx := command.Context()
	asksWhyNot := command.Flags().Changed("why-not")
	var of int // the candidate that --why-not names
	if asksWhyNot {
		if of, err = findCandidate(s.items, f.whyNot); err != nil {
			return err
		}
	}
	report, failed := s.pipeline.DryRun(ctx, s.items, s.budget)
	if report == nil || ctx.Err() != nil {
		return selecting(failed)
	}
	a := newAccount(s.items, s.budget, report, failed)
	if f.parts || asksWhyNot {
		if err := a.addParts(ctx, s.pipeline.Config().Scorer); err != nil {
			return selecting(err)
		}
	}
	if asksWhyNot && failed == nil {
		answer, err := f.search.whyNot(ctx, env, s, a, s.items[of].Content(), f.budgetFlags, command.Flags())
		if err != nil {
			return err
		}
		return f.write(env, answer.json, answer.print)
	}
	a.keep(match)
	title := titleOf(s.policy.Name, f.policy)
	err = f.write(env,
		func() (any, error) { return a.narrowedReport(f.parts) },
		func(p *terminal.Printer) { a.print(p, title, f.rows, f.parts) })
	if err != nil {
		return err
	}
	return s.selecting(failed, false)
}

// titleOf returns the first name that is not empty.
func titleOf(name, file string) string {
	if strings.TrimSpace(name) != "" {
		return name
	}
	return shown(file)
}

// displayFlags are the flags of commands that print for people or programs.
type displayFlags struct {
	asJSON bool
	colour string
	output string
	force  bool
}

func (f *displayFlags) register(command *cobra.Command) {
	set := command.Flags()
	set.BoolVar(&f.asJSON, "json", false, "print JSON, for programs")
	set.StringVar(&f.colour, "color", string(terminal.ColourAuto), "`when` to colour: auto, always or never; auto is on a terminal, unless NO_COLOR is set")
	set.StringVarP(&f.output, "output", "o", "-", "`file` to write, or - for standard output")
	set.BoolVar(&f.force, "force", false, "overwrite the --output file")
	complete(command, "color", string(terminal.ColourAuto), string(terminal.ColourAlways), string(terminal.ColourNever))
}

func (f *displayFlags) check() error {
	switch terminal.ColourMode(f.colour) {
	case terminal.ColourAuto, terminal.ColourAlways, terminal.ColourNever:
		return nil
	}
	return usagef("--color: %q is not one of auto, always, never", f.colour)
}

// write prints one of two forms.
func (f *displayFlags) write(env *Environment, value func() (any, error), text func(p *terminal.Printer)) error {
	return writeOutput(env, f.output, f.force, func(w io.Writer) error {
		if f.asJSON {
			v, err := value()
			if err != nil {
				return err
			}
			return writeJSON(w, v)
		}
		screen := env.screen
		if f.output != "-" {
			screen = terminal.Detect(w, env.Getenv)
		}
		p := screen.Printer(w, terminal.ColourMode(f.colour))
		text(p)
		return p.Err()
	})
}

// writeJSON writes a value as indented JSON that is safe on a terminal.
func writeJSON(w io.Writer, value any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := w.Write(terminal.EscapeJSON(text.Bytes()))
	return err
}

// narrowedReport returns the report with the entries that are not hidden and, if
// wanted, the scores of the parts: an extra field of the entries, which the
// specification does not define.
func (a *account) narrowedReport(parts bool) (*cupel.SelectionReport, error) {
	report := *a.report
	var err error
	if report.Included, err = narrowed(a, report.Included, parts, func(i cupel.IncludedItem) int { return i.Candidate }); err != nil {
		return nil, err
	}
	report.Excluded, err = narrowed(a, report.Excluded, parts, func(e cupel.ExcludedItem) int { return e.Candidate })
	return &report, err
}

func narrowed[E any](a *account, list []E, parts bool, candidateOf func(E) int) ([]E, error) {
	kept := make([]E, 0, len(list))
	for _, entry := range list {
		candidate := candidateOf(entry)
		if a.hidden[candidate] {
			continue
		}
		if parts && a.scores[candidate] != nil {
			var err error
			if entry, err = withField(entry, "parts", a.partsOf(candidate)); err != nil {
				return nil, err
			}
		}
		kept = append(kept, entry)
	}
	return kept, nil
}

// withField returns an entry of a report with one more field: reading an entry
// keeps its unknown fields.
func withField[E any](entry E, name string, value any) (E, error) {
	object, err := json.Marshal(entry)
	if err != nil {
		return entry, err
	}
	field, err := json.Marshal(map[string]any{name: value})
	if err != nil {
		return entry, err
	}
	object = append(append(object[:len(object)-1], ','), field[1:]...)
	var extended E
	err = json.Unmarshal(object, &extended)
	return extended, err
}

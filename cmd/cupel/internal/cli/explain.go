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

// newExplain returns the command that says why.
func newExplain(env *Environment) *cobra.Command {
	var flags explainFlags
	command := &cobra.Command{
		Use:   "explain",
		Short: "Say what is in, what is out, and why",
		Long: `explain makes the selection and tells about it: the budget as a bar by kind, what
is in, with its place in the prompt, and what is out, both by score and with the
reason. Ranks count the candidates that were scored, best first.

--item narrows the lists to candidates whose first line or whole content matches
a pattern: * stands for any text, ? for one character, [a-z] for one of several,
and \ takes the meaning from the next one. Upper and lower case differ.

--why-not answers for one candidate: its rank and score, what came before it,
what would go if it were pinned, and the smallest --budget that would take it,
with everything else but --target as it is. The candidate is the one whose
content or first line is the text given, or else the one that matches it as a
pattern of --item, or begins with it.

--json prints the report for programs, as the specification writes it; totals in
it count all candidates, also where --item narrows the lists. A selection that
fails prints what was found before, and ends with exit code 3.`,
		Example: `  cupel explain -i items.jsonl -p rag -b 4000
  cupel explain -i items.jsonl -p rag -b 4000 --parts --item '*invoice*'
  cupel explain -i items.jsonl -p rag -b 4000 --why-not 'The invoice of March'
  cupel explain -i items.jsonl -p rag -b 4000 --json | jq '.excluded[].reason'`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.run(env, command)
		},
	}
	flags.selectionFlags.register(command)
	flags.displayFlags.register(command)
	flags.search.register(command)
	set := command.Flags()
	set.IntVarP(&flags.rows, "rows", "n", 20, "the most `rows` of each list, 0 for all")
	set.StringArrayVar(&flags.globs, "item", nil, "only candidates that match this `pattern`; may be repeated")
	set.BoolVar(&flags.parts, "parts", false, "show the score that each part of the scorer gives")
	set.StringVar(&flags.whyNot, "why-not", "", "answer for the one candidate with this `content`")
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
			return usagef("--%s goes with --why-not", name)
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
	ctx := command.Context()
	asksWhyNot := command.Flags().Changed("why-not")
	var of int // the candidate that --why-not asks about
	if asksWhyNot {
		if of, err = findCandidate(s.Items, f.whyNot); err != nil {
			return err
		}
	}
	report, failed := s.pipeline.DryRun(ctx, s.Items, s.budget)
	if report == nil || ctx.Err() != nil {
		return selecting(failed)
	}
	a := newAccount(s.Items, s.budget, report, failed)
	if f.parts || asksWhyNot {
		if err := a.addParts(ctx, s.pipeline.Config().Scorer); err != nil {
			return selecting(err)
		}
	}
	if asksWhyNot && failed == nil {
		answer, err := f.search.whyNot(ctx, env, s, a, s.Items[of].Content(), command.Flags())
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
	return selecting(failed)
}

// titleOf returns the first name that there is.
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
	set.StringVar(&f.colour, "color", string(terminal.ColourAuto), "auto (on a terminal, unless NO_COLOR is set), always or never")
	set.StringVarP(&f.output, "output", "o", "-", "`file` to write, or - for standard output")
	set.BoolVar(&f.force, "force", false, "write over the file of --output")
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

// writeJSON writes a value as JSON that people can read too, on a terminal as
// well.
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

// narrowedReport returns the report with the entries that are to be shown, and
// with the scores of the parts if wanted: as a field of the entries that the
// specification does not know.
func (a *account) narrowedReport(parts bool) (*cupel.SelectionReport, error) {
	report := *a.report
	var err error
	if report.Included, err = narrowed(a, report.Included, parts, cupel.IncludedItem.Candidate); err != nil {
		return nil, err
	}
	report.Excluded, err = narrowed(a, report.Excluded, parts, cupel.ExcludedItem.Candidate)
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

// withField returns an entry of a report with one more field: entries that are
// read keep what they do not know.
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

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
)

// diffFlags are the flags of newDiff.
type diffFlags struct {
	selectionFlags // without a policy
	printFlags
	rows int
	runs []string // files with recorded runs
}

// newDiff returns the command that compares two selections.
func newDiff(env *Environment) *cobra.Command {
	var flags diffFlags
	command := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two policies or two reports",
		Long: `diff lists the items that one selection includes and the other does not, with the
reason, and contents in another place or form. With --items, A and B are two policies
for one --budget; without, two reports of cupel explain --json. With --recordings
they are two policies on recorded runs; recorded means the decisions at that time.

Items are matched by content; a content is included if one of its copies is.`,
		Example: `  cupel diff -i items.jsonl -b 4000 rag my-policy.toml
  cupel diff monday.json tuesday.json
  cupel diff recorded my-policy.toml --recordings recordings`,
		Args: cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			return flags.run(command.Context(), env, [2]string(args))
		},
	}
	flags.candidateFlags.register(command)
	flags.budgetFlags.register(command)
	queryFlag(command, &flags.query)
	flags.printFlags.register(command)
	rowsFlag(command, &flags.rows)
	command.Flags().StringArrayVar(&flags.runs, "recordings", nil, "`file` with recorded runs, or a folder of them; may be repeated")
	command.MarkFlagsMutuallyExclusive("recordings", "items")
	command.MarkFlagsRequiredTogether("items", "budget")
	return command
}

func (f *diffFlags) run(ctx context.Context, env *Environment, args [2]string) error {
	if args[0] == args[1] {
		return usagef("A and B are both %s: give two different ones", args[0])
	}
	switch {
	case len(f.runs) > 0:
		return f.recordings(ctx, env, args)
	case f.items == "" && (isPolicyFile(args[0]) || args[0] == "-"):
		return f.reports(env, args)
	case f.items == "":
		return usagef("%s is not a report: give --items to compare policies", args[0])
	}
	return f.policies(ctx, env, args)
}

// policies compares two policies.
func (f *diffFlags) policies(ctx context.Context, env *Environment, args [2]string) error {
	selections, err := f.readFor(ctx, env, args[:]...)
	if err != nil {
		return err
	}
	var reports [2]*cupel.SelectionReport
	for i, s := range selections {
		if reports[i], err = s.report(ctx, s.budget); err != nil {
			return fmt.Errorf("%s: %w", shown(args[i]), s.selecting(ctx, err))
		}
	}
	return f.compare(env, args, reports)
}

// reports compares two reports.
func (f *diffFlags) reports(env *Environment, args [2]string) error {
	var reports [2]*cupel.SelectionReport
	for i, arg := range args {
		var err error
		if reports[i], err = readReport(env, arg); err != nil {
			return err
		}
	}
	return f.compare(env, args, reports)
}

// readReport reads the output of explain --json.
func readReport(env *Environment, name string) (*cupel.SelectionReport, error) {
	data, err := readFile(env, name, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	report := new(cupel.SelectionReport)
	var fields map[string]json.RawMessage
	err = cmp.Or(json.Unmarshal(data, report), json.Unmarshal(data, &fields))
	if err == nil && fields["included"] == nil {
		err = errors.New("it lists no included items") // any object looks like a report
	}
	if err != nil {
		return nil, usagef("%s is not a report of cupel explain --json: %w", shown(name), err)
	}
	return report, nil
}

// compare compares two reports, and prints the differences.
func (f *diffFlags) compare(env *Environment, names [2]string, reports [2]*cupel.SelectionReport) error {
	d := &difference{A: measure(shown(names[0]), reports[0]), B: measure(shown(names[1]), reports[1]), Changes: []change{}}
	diff := analysis.DiffReports(reports[0], reports[1])
	d.add("went", diff.Went, reports[1])
	d.add("came", diff.Came, reports[0])
	d.add("form", diff.Forms, nil)
	d.add("moved", diff.Moved, nil)
	return f.print(env, d, func(p *terminal.Printer) { d.print(p, f.rows) })
}

// difference describes how two selections differ. diff --json prints it.
type difference struct {
	A       measures `json:"a"`
	B       measures `json:"b"`
	Changes []change `json:"changes"`
}

// measures are the figures of one selection.
type measures struct {
	Label  string `json:"label"`
	Items  int    `json:"items"`
	Tokens int    `json:"tokens"`
}

// change is a content about which the selections differ.
type change struct {
	What    string  `json:"what"` // went (A alone has it), came, form or moved
	Title   string  `json:"title,omitempty"`
	Content string  `json:"content"`
	Kind    string  `json:"kind"` // or the role of a message
	Tokens  int     `json:"tokens"`
	A       outcome `json:"a"`
	B       outcome `json:"b"`
}

// outcome is the decision of a selection about a content.
type outcome struct {
	Place  int    `json:"place,omitempty"` // in the prompt, from 1, if it is included
	Form   int    `json:"form,omitempty"`  // 0 is the full one
	Tokens int    `json:"tokens"`
	Reason string `json:"reason"`

	text string // in a table
}

// notCandidate is the reason for a content that a report does not have.
const notCandidate = "NotACandidate"

func outcomeOf(e *analysis.Entry) outcome {
	if e == nil {
		return outcome{Reason: notCandidate, text: notCandidate}
	}
	o := outcome{e.Place, e.Form, e.Tokens, e.Code, e.Code}
	if e.Place > 0 {
		o.text = fmt.Sprintf("#%d", e.Place)
	}
	if e.Form > 0 {
		o.text += fmt.Sprintf(", form %d of %d tokens", e.Form, e.Tokens)
	}
	return o
}

// add adds changes, unless the other side includes a copy of the content.
func (d *difference) add(what string, changes []analysis.ReportChange, other *cupel.SelectionReport) {
	has := make(map[string]bool)
	if other != nil {
		for _, in := range other.Included {
			has[in.Item.Content()] = true
		}
	}
	for _, c := range changes {
		if has[c.Content] {
			continue
		}
		has[c.Content] = true
		in := c.B
		if in == nil || in.Place == 0 {
			in = c.A
		}
		d.Changes = append(d.Changes, change{what, textOf(in.Item, "title"), c.Content, kindOf(in.Item), in.Tokens, outcomeOf(c.A), outcomeOf(c.B)})
	}
}

func measure(label string, report *cupel.SelectionReport) measures {
	return measures{label, len(report.Included), tokensIn(report)}
}

// print writes it for people.
func (d *difference) print(p *terminal.Printer, rows int) {
	var table [][]any
	for i, m := range []measures{d.A, d.B} {
		table = append(table, []any{"AB"[i : i+1], m.Label, m.Items, m.Tokens})
	}
	p.Table([]string{"", "SELECTION", "ITEMS", "TOKENS"}, table)
	if len(d.Changes) == 0 {
		p.Paragraph("Both include the same contents in the same order.")
		return
	}
	p.Paragraph("What differs (%d)", len(d.Changes))
	table = nil
	for _, c := range d.Changes {
		table = append(table, []any{c.A.text, c.B.text, c.Tokens, c.Kind, cmp.Or(c.Title, c.Content)})
	}
	printSome(p, []string{"A", "B", "TOKENS", "KIND", "ITEM"}, table, rows)
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/assertions"
	"github.com/wollax/cupel-go/cmd/cupel/internal/input"
	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupeltest"
	"github.com/wollax/cupel-go/internal/english"
)

// checkFlags are the flags of newCheck.
type checkFlags struct {
	printFlags
	items    string
	policy   string
	markdown string
	lint     bool
	force    bool
	hide     bool
}

// newCheck returns the command that tests selections against assertions.
func newCheck(env *Environment) *cobra.Command {
	var flags checkFlags
	command := &cobra.Command{
		Use:   "check [FILE...]",
		Short: "Test a selection against assertions in a file",
		Long: `check makes a selection and tests it against the assertions in a TOML file:

  [selection]
  items = "chat.jsonl"     # paths are relative to the file
  policy = "policy.toml"   # or the name of a preset
  budget = 4000

  [[checks]]
  assert = "include_item_with_kind"
  kind = "SystemPrompt"

CHECKS.md lists the assertions; keep_fact requires that a value survives at every step of
recorded conversations.`,
		Example: `  cupel check checks/*.toml
  cupel check chat.toml -i today.jsonl -p candidate.toml
  cupel check chat.toml --hide-contents --markdown report.md`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return flags.run(command.Context(), env, args)
		},
	}
	flags.register(command)
	policyFlag(command, &flags.policy)
	set := command.Flags()
	set.StringVarP(&flags.items, "items", "i", "", "`file`, folder or - with the candidates")
	set.StringVar(&flags.markdown, "markdown", "", "write a report for pull requests to this `file` too")
	set.BoolVar(&flags.lint, "lint", false, "print a line for each failure, FILE:LINE: TEXT, as linters do")
	set.BoolVar(&flags.force, "force", false, "overwrite the --markdown file")
	set.BoolVar(&flags.hide, "hide-contents", false, "show only the sizes of contents in failures")
	return command
}

// checkedFile is a file of checks with its results. check --json prints it.
type checkedFile struct {
	File    string        `json:"file"`
	Error   string        `json:"error,omitempty"` // why there is no selection
	Results []checkResult `json:"checks"`

	file  *assertions.File
	err   error // of the selection
	keeps func(ctx context.Context, fact string) error
}

// checkResult is the result of one check.
type checkResult struct {
	Path      string `json:"path"`
	Assertion string `json:"assertion"`
	Text      string `json:"text"`
	Why       string `json:"why,omitempty"`
	OK        bool   `json:"ok"`
	Message   string `json:"message,omitempty"`
	// Places are FILE:LINE: TEXT for each recording that loses a value.
	Places []string `json:"places,omitempty"`
}

func (f *checkFlags) run(ctx context.Context, env *Environment, names []string) error {
	files, err := readChecks(env, names)
	if err != nil {
		return err
	}
	// Read everything before printing anything, so that a bad command line
	// prints no partial results.
	selections := make([]*selection, len(files))
	for i, file := range files {
		if selections[i], err = f.selection(ctx, env, file); err != nil {
			return fmt.Errorf("%s: %w", shown(file.File), err)
		}
	}
	for i, file := range files {
		if err := cmp.Or(file.check(ctx, selections[i], f.hide), ctx.Err()); err != nil {
			return fmt.Errorf("%s: %w", shown(file.File), err)
		}
	}
	return f.report(env, files)
}

// readChecks reads all files and reports every mistake in any of them.
func readChecks(env *Environment, names []string) ([]*checkedFile, error) {
	var files []*checkedFile
	var wrong []error
	for _, name := range names {
		data, err := readFile(env, name, assertions.MaxBytes)
		if err != nil {
			return nil, err
		}
		file, err := assertions.Decode(data, globs)
		if err != nil {
			wrong = append(wrong, usagef("%s: %w", shown(name), err))
		}
		files = append(files, &checkedFile{File: name, Results: []checkResult{}, file: file})
	}
	return files, errors.Join(wrong...)
}

// selection reads the candidates, policy and budget of a file. Flags replace the
// candidates and the policy.
func (f *checkFlags) selection(ctx context.Context, env *Environment, file *checkedFile) (*selection, error) {
	says := file.file.Selection
	if isPolicyFile(says.Policy) {
		says.Policy = relativeTo(file.File, says.Policy)
	}
	s := selectionFlags{policy: cmp.Or(f.policy, says.Policy), query: says.Query}
	s.items, s.format, s.encoding = f.items, cmp.Or(says.Format, string(input.Auto)), cmp.Or(says.Encoding, encodings[0])
	if s.items == "" && says.Items != "" {
		s.items = relativeTo(file.File, says.Items)
	}
	s.budgetFlags = budgetFlags{says.Budget, says.Reserve, says.Margin, "selection."}
	facts := 0
	for _, check := range file.file.Checks {
		if check.Name == assertions.KeepFact {
			facts++
		}
	}
	missing := ""
	switch {
	case facts > 0 && says.Recordings == "":
		missing = "recordings"
	case s.items == "" && facts < len(file.file.Checks):
		missing = "items"
	case s.policy == "":
		missing = "policy"
	case says.Budget == 0:
		missing = "budget"
	}
	if missing != "" {
		return nil, usagef("selection.%s is missing", missing)
	}
	if says.Recordings != "" {
		var err error
		if file.keeps, err = factKeeper(env, relativeTo(file.File, says.Recordings), s.policy, says.Budget, says.Session); err != nil {
			return nil, err
		}
	}
	if s.items == "" {
		return nil, nil
	}
	return s.read(ctx, env)
}

// relativeTo resolves a name in a file of checks against the file's folder.
func relativeTo(file, name string) string {
	if name == "-" || file == "-" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(file), name)
}

// check makes the selection and runs the checks. It fails if recordings cannot be read.
func (c *checkedFile) check(ctx context.Context, s *selection, hide bool) error {
	subject := assertions.Subject{Keeps: func(fact string) error { return c.keeps(ctx, fact) }}
	if s != nil { // some checks are not about recordings
		report, err := s.report(ctx, s.budget)
		if err != nil {
			c.err, c.Error = err, message(err)
			return nil
		}
		subject.Budget, subject.Report = s.budget, report
	}
	if hide {
		subject.Options = append(subject.Options, cupeltest.WithHiddenContents())
	}
	for _, check := range c.file.Checks {
		err := check.Run(subject)
		if _, failed := errors.AsType[codedError](err); failed {
			return err
		}
		c.add(check, err)
	}
	return nil
}

// add adds a result; a check that holds has no error.
func (c *checkedFile) add(check assertions.Check, err error) {
	result := checkResult{Path: check.Path, Assertion: check.Name, Text: check.Text, Why: check.Why, OK: err == nil}
	if err != nil {
		result.Message = err.Error()
	}
	if lost, ok := errors.AsType[*lostError](err); ok {
		result.Places = lost.places
	}
	c.Results = append(c.Results, result)
}

// report prints the results and returns the error of the command.
func (f *checkFlags) report(env *Environment, files []*checkedFile) error {
	if f.markdown != "" {
		if err := writeFile(f.markdown, f.force, func(w io.Writer) error { return writeMarkdown(w, files) }); err != nil {
			return err
		}
	}
	all := checkedFiles{Files: files}
	var failed error
	for _, file := range files {
		all.Checks += len(file.Results)
		for _, r := range file.Results {
			if !r.OK {
				all.Failed++
			}
		}
		if file.err != nil {
			failed = cmp.Or(failed, selecting(fmt.Errorf("%s: %w", shown(file.File), file.err)))
		}
	}
	show := all.print
	if f.lint {
		show = all.lint
	}
	err := f.print(env, all, show)
	if err == nil && failed == nil && all.Failed > 0 {
		failed = errCheck
	}
	return cmp.Or(err, failed)
}

// checkedFiles are all files. check --json prints them.
type checkedFiles struct {
	Checks int            `json:"checks"`
	Failed int            `json:"failed"`
	Files  []*checkedFile `json:"files"`
}

// print writes a line per check and the totals.
func (c checkedFiles) print(p *terminal.Printer) {
	without := ""
	for _, file := range c.Files {
		for _, r := range file.Results {
			if r.OK {
				p.Line("ok    %s %s %s", shown(file.File), r.Path, r.Text)
				continue
			}
			p.Lines("FAIL  %s %s %s", shown(file.File), r.Path, indented(r.Message))
			if r.Why != "" {
				p.Lines("      why: %s", indented(r.Why))
			}
		}
		if file.err != nil {
			p.Lines("ERROR %s: the selection failed: %s", shown(file.File), indented(file.Error))
			without = ", some without a selection"
		}
	}
	p.Line("%s in %s: %d ok, %d failed%s", english.Plural(c.Checks, "check"), english.Plural(len(c.Files), "file"), c.Checks-c.Failed, c.Failed, without)
}

// indented indents the lines after the first.
func indented(text string) string {
	return strings.NewReplacer("\n\t", "\n        ", "\n", "\n      ").Replace(text)
}

package cli

import (
	"bytes"
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
)

// checkFlags are the flags of newCheck.
type checkFlags struct {
	selectionFlags
	checks []string
	json   bool
	junit  string
	force  bool
	hide   bool
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
  why = "without it the model does not know its task"

Flags override the file's [selection] table. CHECKS.md lists the assertions:
those of the specification's testing vocabulary and the additions of cupeltest.

check prints one line per check. The exit code is 1 if a check fails, 2 if a
file is invalid, and 3 if the selection fails and the file does not expect it.`,
		Example: `  cupel check checks/*.toml
  cupel check --checks chat.toml -i today.jsonl -p candidate.toml
  cupel check chat.toml --hide-contents --junit report.xml`,
		RunE: func(command *cobra.Command, args []string) error {
			return flags.run(env, command, append(flags.checks, args...))
		},
	}
	flags.register(command)
	optional(command, "items", "budget", "policy") // the file may set them
	set := command.Flags()
	set.StringArrayVar(&flags.checks, "checks", nil, "`file` with checks, or -; may be repeated; same as a FILE argument")
	set.BoolVar(&flags.json, "json", false, "print JSON")
	set.StringVar(&flags.junit, "junit", "", "write JUnit XML to this `file`; - is standard output in place of the lines")
	set.BoolVar(&flags.force, "force", false, "overwrite the --junit file")
	set.BoolVar(&flags.hide, "hide-contents", false, "show sizes of contents in failures; not their beginnings")
	must(command.MarkFlagFilename("checks", "toml"))
	must(command.MarkFlagFilename("junit", "xml"))
	return command
}

// checkedFile is a file of checks with its results.
type checkedFile struct {
	name    string
	file    *assertions.File
	results []checkResult
	err     error // of the selection
}

// checkResult is the result of one check.
type checkResult struct {
	assertions.Check
	err error // nil when it holds
}

func (f *checkFlags) run(env *Environment, command *cobra.Command, names []string) error {
	if len(names) == 0 {
		return usagef("nothing to check: give a file of checks (CHECKS.md describes the format)")
	}
	if f.junit == "-" && f.json {
		return usagef("--junit - and --json cannot both go to standard output; give --junit a file")
	}
	for _, name := range names {
		if f.junit != "" && f.junit != "-" && filepath.Clean(name) == filepath.Clean(f.junit) {
			return usagef("--junit: %s is a file of checks and would be overwritten; choose another file", shown(name))
		}
	}
	if _, err := f.question(env); err != nil {
		return err
	}
	files, err := readChecks(env, names)
	if err != nil {
		return err
	}
	// Read everything before printing anything, so that a bad command line
	// prints no partial results.
	known := make(map[string]*input.Candidates)
	selections := make([]*selection, len(files))
	for i, file := range files {
		if selections[i], err = f.selection(env, command, file, known); err != nil {
			return fmt.Errorf("%s: %w", shown(file.name), err)
		}
	}
	for i, file := range files {
		file.check(command.Context(), selections[i], f.hide)
		if err := command.Context().Err(); err != nil {
			return err
		}
	}
	return f.report(env, files)
}

// readChecks reads all files and reports every mistake in any of them.
func readChecks(env *Environment, names []string) ([]*checkedFile, error) {
	var files []*checkedFile
	var wrong []error
	for _, name := range names {
		file, err := readCheckFile(env, name)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		files = append(files, &checkedFile{name: name, file: file})
	}
	if len(wrong) > 0 {
		return nil, usageError{errors.Join(wrong...)}
	}
	return files, nil
}

func readCheckFile(env *Environment, name string) (*assertions.File, error) {
	r, done, err := open(env, name)
	if err != nil {
		return nil, err
	}
	defer done()
	var data bytes.Buffer
	if _, err := data.ReadFrom(io.LimitReader(r, assertions.MaxBytes+1)); err != nil {
		return nil, fmt.Errorf("%s: %w", shown(name), err)
	}
	file, err := assertions.Decode(data.Bytes(), globs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown(name), err)
	}
	return file, nil
}

// globs compiles a pattern as --item takes it.
func globs(pattern string) (func(content string) bool, error) {
	g, err := parseGlob(pattern)
	return g.matches, err
}

// selection reads the candidates, policy and budget of a file; flags override
// it. known caches candidates, so that several files can share standard input.
func (f *checkFlags) selection(env *Environment, command *cobra.Command, file *checkedFile, known map[string]*input.Candidates) (*selection, error) {
	changed := command.Flags().Changed
	s, says := f.selectionFlags, file.file.Selection
	for _, setting := range []struct {
		flag string
		to   *string
		says string
	}{
		{"format", &s.format, says.Format},
		{"encoding", &s.encoding, says.Encoding},
		{"policy", &s.policy, policyRelativeTo(file.name, says.Policy)},
	} {
		if !changed(setting.flag) && setting.says != "" {
			*setting.to = setting.says
		}
	}
	if !changed("items") && says.Items != "" {
		s.items = []string{relativeTo(file.name, says.Items)}
	}
	for _, setting := range []struct {
		flag string
		to   *int
		says *int
	}{
		{"budget", &s.budget.tokens, says.Budget},
		{"target", &s.target, says.Target},
		{"reserve", &s.reserve, says.Reserve},
	} {
		if !changed(setting.flag) && setting.says != nil {
			*setting.to = *setting.says
		}
	}
	if !changed("reserve-kind") && says.Slots != nil {
		s.slots = says.Slots
	}
	if !changed("margin") && says.Margin != nil {
		s.margin = *says.Margin
	}
	if !s.asked.given && says.Query != "" {
		s.asked = &question{says.Query, true, new(indexes)}
	}
	for _, need := range []struct {
		name  string
		there bool
	}{
		{"items", len(s.items) > 0},
		{"policy", s.policy != ""},
		{"budget", changed("budget") || says.Budget != nil},
	} {
		if !need.there {
			return nil, usagef("selection.%s is missing; set it in the file, or give --%s", need.name, need.name)
		}
	}
	c, err := s.readChooser(env, s.policy, s.encoding)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%q", append(s.items, s.format, s.encoding)) // what a file can change
	candidates := known[key]
	if candidates == nil {
		if candidates, err = s.candidateFlags.read(command.Context(), env); err != nil {
			return nil, err
		}
		known[key] = candidates
	}
	budget, err := s.make(changed("target") || says.Target != nil, candidates.Items)
	if err != nil {
		return nil, err
	}
	return c.selection(command.Context(), candidates, budget)
}

// relativeTo resolves a name in a file of checks against the file's folder.
func relativeTo(file, name string) string {
	if name == "" || name == "-" || file == "-" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(file), name)
}

// policyRelativeTo is relativeTo for a name that may be a preset.
func policyRelativeTo(file, name string) string {
	if isPolicyFile(name) {
		return relativeTo(file, name)
	}
	return name
}

// check makes the selection and runs the checks. Its results are meaningless
// once ctx is done.
func (c *checkedFile) check(ctx context.Context, s *selection, hide bool) {
	report, err := s.pipeline.DryRun(ctx, s.items, s.budget)
	if expected := c.file.Selection.Error; expected != "" {
		result := checkResult{Check: assertions.Check{Path: "selection.error", Name: "Error", Text: "Error " + expected}}
		switch {
		case err == nil:
			result.err = fmt.Errorf("Error failed: expected the selection to fail with %s, but it has %d items", expected, len(report.Included))
		case !errors.Is(err, assertions.Errors[expected]):
			result.err = fmt.Errorf("Error failed: expected the selection to fail with %s, but it failed with another error: %w", expected, err)
		}
		c.results = append(c.results, result)
		return
	}
	if err != nil {
		c.err = err
		return
	}
	subject := assertions.Subject{Pipeline: s.pipeline, Items: s.items, Budget: s.budget, Report: report}
	if hide {
		subject.Options = append(subject.Options, cupeltest.WithHiddenContents())
	}
	for _, check := range c.file.Checks {
		if ctx.Err() != nil {
			return
		}
		c.results = append(c.results, checkResult{check, check.Run(subject)})
	}
}

// failed returns how many checks do not hold.
func (c *checkedFile) failed() int {
	n := 0
	for _, r := range c.results {
		if r.err != nil {
			n++
		}
	}
	return n
}

// report prints the results and returns the error of the command.
func (f *checkFlags) report(env *Environment, files []*checkedFile) error {
	if f.junit != "" {
		if err := writeOutput(env, f.junit, f.force, func(w io.Writer) error { return writeJUnit(w, files) }); err != nil {
			return err
		}
	}
	var err error
	switch {
	case f.json:
		err = writeChecksJSON(env.Stdout, files)
	case f.junit != "-":
		err = writeChecks(env.Stdout, files)
	}
	if err != nil {
		return err
	}
	failed := 0
	for _, file := range files {
		failed += file.failed()
		if file.err != nil {
			return selecting(fmt.Errorf("%s: %w", shown(file.name), file.err))
		}
	}
	if failed > 0 {
		return errCheck
	}
	return nil
}

// writeChecks writes a line per check and the totals.
func writeChecks(w io.Writer, files []*checkedFile) error {
	var out strings.Builder
	checks, failed, without := 0, 0, 0
	for _, file := range files {
		for _, r := range file.results {
			if r.err == nil {
				fmt.Fprintf(&out, "ok    %s %s %s\n", shown(file.name), r.Path, terminal.Safe(r.Text))
				continue
			}
			fmt.Fprintf(&out, "FAIL  %s %s %s\n", shown(file.name), r.Path, indented(message(r.err)))
			if r.Why != "" {
				fmt.Fprintf(&out, "      why: %s\n", indented(r.Why))
			}
		}
		if file.err != nil {
			fmt.Fprintf(&out, "ERROR %s: the selection failed: %s\n", shown(file.name), indented(message(file.err)))
			without++
		}
		checks += len(file.results)
		failed += file.failed()
	}
	fmt.Fprintf(&out, "%s in %s: %d ok, %d failed", plural(checks, "check"), plural(len(files), "file"), checks-failed, failed)
	if without > 0 {
		fmt.Fprintf(&out, ", %s without a selection", plural(without, "file"))
	}
	out.WriteByte('\n')
	_, err := io.WriteString(w, out.String())
	return err
}

// indented makes text from a file safe to print and indents its further lines.
func indented(text string) string {
	return strings.ReplaceAll(terminal.SafeLines(text), "\n", "\n      ")
}

// Package cli is the cupel command: its flags, output and exit codes. Each
// subcommand has its own file.
package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
	"github.com/wollax/cupel-go/cupel"
)

// The exit codes. They are documented in the README and in the help of the root
// command.
const (
	exitOK          = 0
	exitCheck       = 1   // a check failed
	exitUsage       = 2   // the command line or a file is invalid
	exitSelection   = 3   // the selection failed: pinned items too large, overflow, scarcity
	exitInterrupted = 130 // 128 and SIGINT, as shells have it
)

// Environment is the part of its process that the command uses.
type Environment struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Clock          func() time.Time // for policies that measure ages, and for durations

	screen     terminal.Screen // where Stdout goes
	stdinTaken bool            // an input is read from Stdin already
	maxInput   int             // the bytes of an input that are read at most; 0 has the default
	selected   *selection      // if there is one, or its budget
	pins       []string        // rules of the file of defaults
	summary    string          // what was done, for the end
}

// mostInput returns how many bytes of an input are read at most.
func (env *Environment) mostInput(most int) int {
	return min(most, cmp.Or(env.maxInput, defaultMaxInput))
}

// defaultMaxInput is how many bytes of an input are read by default.
const defaultMaxInput = 256_000_000

// codedError is an error with the exit code of the command.
type codedError struct {
	error
	code int
}

func (e codedError) Unwrap() error { return e.error }

// usagef returns the error for a mistake on the command line, or in a file that it
// names.
func usagef(format string, args ...any) error {
	return codedError{fmt.Errorf(format, args...), exitUsage}
}

// errCheck is the error for a failed check; the failure has been printed
// already.
var errCheck = errors.New("a check failed")

// Main runs the command and returns its exit code.
func Main(ctx context.Context, args []string, env Environment) int {
	env.screen = terminal.Detect(env.Stdout, env.Stderr, env.Getenv)
	out := bufio.NewWriter(env.Stdout)
	env.Stdout = out
	root := newRoot(&env)
	root.SetArgs(args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	err := root.ExecuteContext(ctx)
	if flushed := out.Flush(); err == nil {
		err = flushed
	}
	code := exitCode(ctx, err)
	if code == exitInterrupted {
		err = errors.New("interrupted") // the error that the interrupt caused is noise
	}
	if env.summary != "" && (err == nil || errors.Is(err, errCheck)) {
		fmt.Fprintf(env.Stderr, "cupel: %s\n", terminal.Safe(env.summary))
	}
	if err != nil && !errors.Is(err, errCheck) {
		// An error may quote the contents of a file.
		fmt.Fprintf(env.Stderr, "cupel: %s\n", terminal.SafeLines(message(err)))
	}
	return code
}

// message returns the text of an error as the command prints it: without the
// package name in front, and without the tabs that begin further lines.
func message(err error) string {
	text := strings.TrimPrefix(err.Error(), "cupel: ")
	return strings.NewReplacer(": cupel: ", ": ", ": cupelsession: ", ": ", "\n\t", "\n  ").Replace(text)
}

// note prints notes to the user that are not errors.
func note(env *Environment, notes ...string) {
	for _, text := range notes {
		fmt.Fprintf(env.Stderr, "cupel: note: %s\n", terminal.Safe(text))
	}
}

func exitCode(ctx context.Context, err error) int {
	coded, ok := errors.AsType[codedError](err)
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.Is(err, errCheck):
		return exitCheck
	case ok:
		return coded.code
	default:
		// Cobra's own errors are usage errors.
		return exitUsage
	}
}

func newRoot(env *Environment) *cobra.Command {
	var flags runFlags
	root := &cobra.Command{
		Use:   "cupel [FILE]",
		Short: "Choose a context window and see why",
		Long: `Select what fits the context window of a language model, and see why.

With a FILE it chooses a window: from a conversation by the policy agent, and from
items, a log or a folder by their relevance to --query. The budget is the window of the
model that the file names, less its answer, unless --budget gives it. cupel.toml in the
working directory may set policy, budget, counter and pins.

Exit codes: 0 success; 1 a check failed; 2 command line or file invalid;
3 the selection failed; 130 interrupted.`,
		Example: `  cupel chat.json -b 20k -o smaller.json
  cupel src -b 4000 -q "Where are prices rounded?"
  cupel explain chat.json -b 20k`,
		Version: version(),
		Args: func(command *cobra.Command, args []string) error {
			if len(args) > 0 {
				if err := isFile(command, args[0]); err != nil {
					return err
				}
			}
			return filesBy("items")(command, args)
		},
		SilenceErrors: true,
		SilenceUsage:  true,

		SuggestionsMinimumDistance: 2,
		PersistentPreRunE: func(command *cobra.Command, _ []string) error {
			return useDefaults(env, command)
		},
	}
	root.RunE = func(command *cobra.Command, _ []string) error {
		if flags.items == "" {
			return command.Help()
		}
		return flags.quick(command, env)
	}
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		if name := command.Flags().Arg(0); command == root && name != "" { // which may be misspelt
			err = cmp.Or(isFile(root, name), err)
		}
		return err
	})
	flags.register(root)
	root.AddCommand(
		newRun(env),
		newExplain(env),
		newWhere(env),
		newDiff(env),
		newSweep(env),
		newEval(env),
		newReplay(env),
		newCheck(env),
		newInspect(env),
		newMCP(env),
		newProxy(env),
		newPolicies(env),
	)
	root.PersistentFlags().Func("max-input", "most `bytes` to read from an input, such as 1000M (default 256M)", amount(&env.maxInput, 1))
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped 80 "))
	return root
}

// version returns the version of the module that the binary was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}

// outputFlags set where output goes.
type outputFlags struct {
	output string
	force  bool
}

func (f *outputFlags) register(command *cobra.Command, name string) {
	command.Flags().StringVarP(&f.output, "output", "o", name, "`file` to write, or - for standard output")
	command.Flags().BoolVar(&f.force, "force", false, "overwrite the --output file")
}

// write writes the result of content to the output.
func (f *outputFlags) write(env *Environment, content func(w io.Writer) error) error {
	if f.output == "-" {
		return content(env.Stdout)
	}
	return writeFile(f.output, f.force, content)
}

// writeFile writes the result of content to a file. It overwrites a file only if force
// is set, and removes the file if it cannot be written whole.
func writeFile(name string, force bool, content func(w io.Writer) error) (err error) {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(name, flags, 0o644)
	if errors.Is(err, os.ErrExist) {
		return usagef("%s already exists; --force overwrites it", name)
	}
	if err != nil {
		return codedError{err, exitUsage}
	}
	defer func() {
		// A device, a pipe or a link is the user's.
		if info, statErr := os.Lstat(name); err != nil && statErr == nil && info.Mode().IsRegular() {
			err = errors.Join(err, os.Remove(name))
		}
	}()
	out := bufio.NewWriter(file)
	err = content(out)
	if err == nil {
		err = out.Flush()
	}
	return errors.Join(err, file.Close())
}

// printFlags are the flags of commands that print for people or programs.
type printFlags struct{ json bool }

func (f *printFlags) register(command *cobra.Command) {
	command.Flags().BoolVar(&f.json, "json", false, "print JSON, for programs")
}

// print prints one of two forms.
func (f *printFlags) print(env *Environment, value any, text func(p *terminal.Printer)) error {
	if done, ok := value.(interface{ summary() string }); ok {
		env.summary = done.summary()
	}
	if f.json {
		return env.writeAbout(value)
	}
	p := env.screen.Printer(env.Stdout)
	text(p)
	return p.Err()
}

// about identifies the subject of a selection's JSON.
type about struct {
	Version string               `json:"cupel"`
	Policy  string               `json:"policy,omitempty"` // unless there are several
	Budget  *cupel.ContextBudget `json:"budget,omitempty"`
}

// scoreOf is a score or a worth with many digits in JSON. Strings have no bare quotes.
var scoreOf = regexp.MustCompile(`"(score|worth)": -?[0-9]+\.[0-9]{6}[-+0-9e]*`)

// writeAbout writes a value, which is an object, as JSON that says what it is about. The
// same input gives the same bytes, and scores have at most six digits.
func (env *Environment) writeAbout(value any) error {
	about := about{Version: version()}
	if env.selected != nil {
		about.Policy, about.Budget = env.selected.name, &env.selected.budget
	}
	var head, body bytes.Buffer
	if err := writeJSON(&body, value); err != nil {
		return err
	}
	_ = writeJSON(&head, about) // texts and numbers have no error
	text := scoreOf.ReplaceAllFunc(body.Bytes(), func(score []byte) []byte {
		name, number, _ := bytes.Cut(score, []byte(" "))
		f, _ := strconv.ParseFloat(string(number), 64) // the encoder wrote it
		return strconv.AppendFloat(append(name, ' '), f, 'g', 6, 64)
	})
	_, err := fmt.Fprintf(env.Stdout, "%s,%s", bytes.TrimSuffix(head.Bytes(), []byte("\n}\n")), bytes.TrimPrefix(text, []byte("{")))
	return err
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

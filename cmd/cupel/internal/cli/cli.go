// Package cli is the cupel command: its flags, output and exit codes. Each
// subcommand has its own file.
package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
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

// Environment is what the command takes from its process.
type Environment struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Clock          func() time.Time // for policies that measure ages, and for durations

	screen     terminal.Screen // where Stdout goes
	stdinTaken bool            // an input is read from Stdin already
}

// usageError is a mistake on the command line, or in a file that it names.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// usagef returns a usageError.
func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// selectionError says that a run failed.
type selectionError struct{ err error }

func (e selectionError) Error() string { return e.err.Error() }
func (e selectionError) Unwrap() error { return e.err }

// errCheck says that a check failed; the failure has been printed already.
var errCheck = errors.New("a check failed")

// takes returns a check of the number of arguments. An argument of a command that
// takes none is usually a file without its flag.
func takes(least, most int) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		n := len(args)
		if least <= n && n <= most {
			return nil
		}
		if most == 0 {
			for _, name := range []string{"items", "data"} {
				if command.Flags().Lookup(name) != nil {
					return usagef("unexpected argument %q (did you mean --%s %s?)", args[0], name, args[0])
				}
			}
			return usagef("unexpected argument %q", args[0])
		}
		want := plural(least, "argument")
		switch {
		case least < most && n < least:
			want = "at least " + want
		case least < most:
			want = "at most " + plural(most, "argument")
		}
		return usagef("want %s, got %d: %s", want, n, command.UseLine())
	}
}

// Main runs the command and returns its exit code.
func Main(ctx context.Context, args []string, env Environment) int {
	env.screen = terminal.Detect(env.Stdout, env.Getenv)
	out := bufio.NewWriter(env.Stdout)
	env.Stdout = out
	root := newRoot(&env)
	root.SetArgs(args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	command, err := root.ExecuteContextC(ctx)
	if example, _, _ := strings.Cut(strings.TrimSpace(command.Example), "\n"); err != nil && strings.HasPrefix(err.Error(), "required flag") {
		err = fmt.Errorf("%w; for example: %s", err, example)
	}
	if flushed := out.Flush(); err == nil {
		err = flushed
	}
	code := exitCode(ctx, err)
	if code == exitInterrupted {
		err = errors.New("interrupted") // the error that the interrupt caused is noise
	}
	if err != nil && !errors.Is(err, errCheck) {
		// An error may quote what is in a file.
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

func exitCode(ctx context.Context, err error) int {
	var selection selectionError
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.Is(err, errCheck):
		return exitCheck
	case errors.As(err, &selection):
		return exitSelection
	default:
		// Cobra's own errors are usage errors.
		return exitUsage
	}
}

func newRoot(env *Environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "cupel",
		Short: "Choose a context window and see why",
		Long:  "Select what fits the context window of a language model, and see why.",
		Example: `  cupel run -i chat.json -p agent -b 8k --as transcript -o smaller.json

Exit codes: 0 success; 1 a check failed; 2 command line or file invalid;
3 the selection failed; 130 interrupted. cupel COMMAND --help has the flags.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		newRun(env),
		newExplain(env),
		newDiff(env),
		newSweep(env),
		newEval(env),
		newReplay(env),
		newMerge(env),
		newCheck(env),
		newInspect(env),
		newMCP(env),
		newPolicies(env),
		newStrategies(),
		newMan(env),
	)
	useHelp(root)
	return root
}

// version returns the version of the module that the binary was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}

// writeOutput writes what content produces to a file, or to standard output when
// name is "-". It overwrites a file only if force is set, and leaves no partial
// file behind.
func writeOutput(env *Environment, name string, force bool, content func(w io.Writer) error) (err error) {
	if name == "-" {
		return content(env.Stdout)
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force || isDevice(name) {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(name, flags, 0o644)
	if errors.Is(err, os.ErrExist) {
		return usagef("%s already exists; --force overwrites it", name)
	}
	if err != nil {
		return usageError{err}
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

// isDevice reports whether a name is that of a device or a pipe, such as /dev/null:
// writing to it overwrites nothing.
func isDevice(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// keeps reports whether there is something that only --force overwrites.
func keeps(name string) bool {
	_, err := os.Lstat(name)
	return err == nil && !isDevice(name)
}

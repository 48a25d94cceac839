package cli

import (
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
)

// measureFlags are the flags of every command that measures policies on data.
type measureFlags struct {
	printFlags
	data     []string
	policies []string
	against  string
	jobs     int
	part     string
}

func (f *measureFlags) register(command *cobra.Command, data string, known []string) {
	f.printFlags.register(command)
	set := command.Flags()
	set.StringArrayVar(&f.data, "data", nil, "`file` with "+data+" conversations, or a folder of files; may be repeated")
	set.StringArrayVarP(&f.policies, "policy", "p", known, "`policy` to measure; may be repeated")
	set.StringVar(&f.against, "against", "", "compare each policy with this `policy`")
	set.IntVarP(&f.jobs, "jobs", "j", 0, "measure this `number` of conversations in parallel (default: the number of processors)")
	set.StringVar(&f.part, "part", partAll, "`part` of the conversations to measure: all, tune or held-out")
	requireFlag(command, "data")
}

// The parts of the data.
const (
	partAll     = "all"
	partTune    = "tune"
	partHeldOut = "held-out"
)

// check validates the flags, and finds the files of folders.
func (f *measureFlags) check() error {
	f.data = filesIn("", f.data...)
	return oneOf("part", f.part, partAll, partTune, partHeldOut)
}

// measures reports whether conversation i of a file is in the part: every second one is
// held out.
func (f *measureFlags) measures(i, _ int) bool {
	return f.part == partAll || (i%2 == 1) == (f.part == partHeldOut)
}

// scanned yields the conversations of files that are to be taken. A file that cannot be
// opened ends them.
func scanned[C any](env *Environment, names []string, take func(n, line int) bool, scan func(file string, r io.Reader, take func(n, line int) bool) iter.Seq2[C, error]) iter.Seq2[C, error] {
	return func(yield func(C, error) bool) {
		for _, name := range names {
			r, done, err := open(env, name)
			if err != nil {
				var none C
				yield(none, err)
				return
			}
			defer done() //nolint:gocritic // a few files of one command
			for c, err := range scan(shown(name), r, take) {
				if !yield(c, err) {
					return
				}
			}
		}
	}
}

// measuringError marks the errors of a measurement. R is the error of a line.
func measuringError[R error](err error) error {
	if _, ok := errors.AsType[codedError](err); ok {
		return err
	}
	if _, ok := errors.AsType[R](err); ok {
		return codedError{err, exitUsage}
	}
	return selecting(err)
}

// nothing is the error for a measurement without data: all figures would be 0.
func (f *measureFlags) nothing(what string) error {
	return usagef("no %s to measure in %s (part %s)", what, strings.Join(f.data, ", "), f.part)
}

// show prints the table of a result, or the JSON of value.
func (f *measureFlags) show(env *Environment, text string, value any) error {
	env.summary = "measured " + terminal.FirstLine(text)
	if f.json {
		return writeJSON(env.Stdout, value)
	}
	if f.part != partAll {
		text = f.part + ": " + text
	}
	_, err := io.WriteString(env.Stdout, terminal.SafeLines(text))
	return err
}

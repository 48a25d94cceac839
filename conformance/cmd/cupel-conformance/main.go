// Command cupel-conformance runs test vectors of the Cupel specification
// against this project's engine.
//
//	cupel-conformance [-strict] DIR...
//
// Arguments are directories of vectors or single files. The command prints a
// line for each failure and ends with "N passed, N failed". It exits with 1 if
// a vector fails or cannot be read or if an argument has none, and with 2 for a
// usage error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/wollax/cupel-go/conformance"
)

func main() { os.Exit(interruptible()) }

// interruptible stops the run between two vectors on an interrupt.
func interruptible() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

const usage = `usage: cupel-conformance [-strict] DIR...

Runs every *.toml file below each DIR as a conformance vector. DIR may be a file.

`

// run is main with its environment as arguments; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	flags := flag.NewFlagSet("cupel-conformance", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	strict := flags.Bool("strict", false, "reject unknown keys")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() == 0:
		flags.Usage()
		return 2
	}

	var opts []conformance.Option
	if *strict {
		opts = append(opts, conformance.WithStrict())
	}
	passed, failed := 0, 0
	var out strings.Builder
	for _, dir := range flags.Args() {
		results, err := runPath(ctx, dir, opts)
		if err != nil {
			fmt.Fprintf(stderr, "cupel-conformance: %s: %v\n", dir, err)
			code = 1
		}
		for _, r := range results {
			if r.Passed() {
				passed++
				continue
			}
			failed++
			code = 1
			line := fmt.Sprintf("FAIL %s (%s): %s", filepath.Join(dir, filepath.FromSlash(r.Path)), r.Name, strings.Join(r.Failures, "; "))
			fmt.Fprintln(&out, strings.Map(printable, line))
		}
	}
	fmt.Fprintf(&out, "%d passed, %d failed\n", passed, failed)
	if _, err := io.WriteString(stdout, out.String()); err != nil {
		fmt.Fprintf(stderr, "cupel-conformance: %v\n", err)
		return 1
	}
	return code
}

// runPath runs the vectors below a directory, or a single file, whose result has
// no path.
func runPath(ctx context.Context, name string, opts []conformance.Option) ([]conformance.Result, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return conformance.Run(ctx, os.DirFS(name), opts...)
	}
	data, err := os.ReadFile(name)
	return []conformance.Result{conformance.RunVector(ctx, "", data, opts...)}, err
}

// printable keeps a hostile name from breaking the line or the terminal.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

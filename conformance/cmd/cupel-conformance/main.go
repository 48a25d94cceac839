// Command cupel-conformance runs test vectors of the Cupel specification
// against this project's engine.
//
//	cupel-conformance [-json] [-strict] [-run GLOB] DIR...
//
// Arguments are directories of vectors or single files. The command prints a
// line for each failure and ends with "N passed, N failed". It exits with 1 if
// a vector fails or cannot be read or if none is found, and with 2 for a usage
// error.
//
// With -json it prints one JSON object per vector, {"path", "name", "stage",
// "passed", "failures"}, and finally one with the counts, {"passed", "failed"}.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
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

const usage = `usage: cupel-conformance [-json] [-strict] [-run GLOB] DIR...

Runs every *.toml file below each DIR as a conformance vector. DIR may be a file.

`

// run is main with its surroundings as arguments; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("cupel-conformance", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	asJSON := flags.Bool("json", false, "print one JSON object per vector, then the counts")
	strict := flags.Bool("strict", false, "reject unknown keys")
	match := flags.String("run", "", "run only vectors whose path, file name or name matches `pattern`")
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
	var total conformance.Results
	broken := false
	for _, dir := range flags.Args() {
		results, err := runPath(ctx, dir, *match, opts)
		// With several directories a pattern need not match in each.
		if err != nil && !(errors.Is(err, conformance.ErrNoVectors) && flags.NArg() > 1) {
			fmt.Fprintf(stderr, "cupel-conformance: %s: %v\n", dir, err)
			broken = true
		}
		for _, r := range results.Vectors {
			r.Path = filepath.Join(dir, filepath.FromSlash(r.Path))
			total.Vectors = append(total.Vectors, r)
		}
		total.Passed += results.Passed
		total.Failed += results.Failed
	}
	if len(total.Vectors) == 0 && !broken {
		fmt.Fprintf(stderr, "cupel-conformance: %v in %s\n", conformance.ErrNoVectors, strings.Join(flags.Args(), ", "))
	}
	if err := report(stdout, total, *asJSON); err != nil {
		fmt.Fprintf(stderr, "cupel-conformance: %v\n", err)
		return 1
	}
	if broken || total.Failed > 0 || total.Passed == 0 {
		return 1
	}
	return 0
}

// runPath runs the vectors below a directory, or a single file, that match.
func runPath(ctx context.Context, name, match string, opts []conformance.Option) (conformance.Results, error) {
	info, err := os.Stat(name)
	if err != nil {
		return conformance.Results{}, err
	}
	if info.IsDir() {
		return conformance.Run(ctx, os.DirFS(name), append(opts, conformance.WithMatch(match))...)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return conformance.Results{}, err
	}
	if _, err := path.Match(match, ""); err != nil {
		return conformance.Results{}, fmt.Errorf("pattern %q: %w", match, err)
	}
	result := conformance.RunVector(ctx, filepath.ToSlash(name), data, opts...)
	if !result.Matches(match) {
		return conformance.Results{}, conformance.ErrNoVectors
	}
	result.Path = "" // the argument is the path
	results := conformance.Results{Vectors: []conformance.Result{result}, Failed: 1}
	if result.Passed {
		results.Passed, results.Failed = 1, 0
	}
	return results, nil
}

func report(w io.Writer, results conformance.Results, asJSON bool) error {
	if asJSON {
		out := json.NewEncoder(w)
		out.SetEscapeHTML(false)
		for _, r := range results.Vectors {
			if err := out.Encode(r); err != nil {
				return err
			}
		}
		return out.Encode(map[string]int{"passed": results.Passed, "failed": results.Failed})
	}
	for _, r := range results.Vectors {
		if !r.Passed {
			name := r.Path
			if r.Name != "" {
				name += " (" + r.Name + ")"
			}
			line := fmt.Sprintf("FAIL %s: %s", name, strings.Join(r.Failures, "; "))
			if _, err := fmt.Fprintln(w, strings.Map(printable, line)); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintf(w, "%d passed, %d failed\n", results.Passed, results.Failed)
	return err
}

// printable keeps a hostile name from breaking the line or the terminal.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

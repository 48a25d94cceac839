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

	if _, err := path.Match(*match, ""); err != nil {
		fmt.Fprintf(stderr, "cupel-conformance: pattern %q: %v\n", *match, err)
		return 1
	}

	var opts []conformance.Option
	if *strict {
		opts = append(opts, conformance.WithStrict())
	}
	var all []conformance.Result
	failed, broken := 0, false
	for _, dir := range flags.Args() {
		results, err := runPath(ctx, dir, opts)
		if err != nil && !errors.Is(err, conformance.ErrNoVectors) {
			fmt.Fprintf(stderr, "cupel-conformance: %s: %v\n", dir, err)
			broken = true
		}
		for _, r := range results {
			short := r.Path
			r.Path = filepath.Join(dir, filepath.FromSlash(short))
			base := filepath.Base(r.Path)
			if !matches(*match, short, base, strings.TrimSuffix(base, ".toml"), r.Name) {
				continue
			}
			if !r.Passed {
				failed++
			}
			all = append(all, r)
		}
	}
	if len(all) == 0 && !broken {
		fmt.Fprintf(stderr, "cupel-conformance: %v in %s\n", conformance.ErrNoVectors, strings.Join(flags.Args(), ", "))
	}
	if err := report(stdout, all, failed, *asJSON); err != nil {
		fmt.Fprintf(stderr, "cupel-conformance: %v\n", err)
		return 1
	}
	if broken || failed > 0 || len(all) == 0 {
		return 1
	}
	return 0
}

// runPath runs the vectors below a directory, or a single file, whose result has
// no path.
func runPath(ctx context.Context, name string, opts []conformance.Option) ([]conformance.Result, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		results, err := conformance.Run(ctx, os.DirFS(name), opts...)
		return results.Vectors, err
	}
	data, err := os.ReadFile(name)
	return []conformance.Result{conformance.RunVector(ctx, "", data, opts...)}, err
}

// matches reports whether one of the names of a vector matches a pattern: its
// path, its file name, that without .toml, or its name from the file, in which a
// slash is an ordinary character. The empty pattern matches all.
func matches(pattern string, names ...string) bool {
	flat := strings.NewReplacer("/", "\x00")
	for _, name := range names {
		byPath, _ := path.Match(pattern, name)
		byName, _ := path.Match(flat.Replace(pattern), flat.Replace(name))
		if byPath || byName {
			return true
		}
	}
	return pattern == ""
}

func report(w io.Writer, results []conformance.Result, failed int, asJSON bool) error {
	if asJSON {
		out := json.NewEncoder(w)
		out.SetEscapeHTML(false)
		for _, r := range results {
			if err := out.Encode(r); err != nil {
				return err
			}
		}
		return out.Encode(map[string]int{"passed": len(results) - failed, "failed": failed})
	}
	for _, r := range results {
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
	_, err := fmt.Fprintf(w, "%d passed, %d failed\n", len(results)-failed, failed)
	return err
}

// printable keeps a hostile name from breaking the line or the terminal.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

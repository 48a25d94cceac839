// Command mutants measures how many small faults the tests of a package detect.
//
//	go -C tools run ./cmd/mutants [flags] [package...]
//
// A mutant is the package with one fault: a condition forced, a boundary moved,
// an operator swapped, a constant one larger, a statement removed, a zero
// returned. The command draws some from each package and compiles all of them
// into one test binary, each enabled by an environment variable. For each
// mutant it runs the tests that reach it, the fast ones first. A mutant is
// killed if a test fails or does not end. The source tree is not changed.
//
// The command fails if less than -min percent of a package's mutants are
// killed, if equivalent.txt lists a mutant that no longer exists or more than 5
// % of a package, or if a mutant listed there is killed.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

type settings struct {
	root       string
	patterns   []string
	seeds      []uint64
	n          int
	least      float64
	short      bool
	list       bool
	also       []string
	equivalent string
	workers    int
}

func main() {
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		return 2
	}
	ok, err := s.measure(ctx, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		return 2
	}
	if !ok {
		return 1
	}
	return 0
}

func parse(args []string) (*settings, error) {
	s := &settings{}
	flags := flag.NewFlagSet("mutants", flag.ExitOnError)
	flags.StringVar(&s.root, "root", "..", "root of the repository, or of a module")
	seeds := flags.String("seed", "1", "comma-separated seeds; the mutants drawn for all of them are pooled")
	flags.IntVar(&s.n, "n", 100, "mutants to draw from each package for each seed, not counting equivalent ones")
	flags.Float64Var(&s.least, "min", 90, "percentage of each package's mutants that must be killed")
	flags.BoolVar(&s.short, "short", true, "run the tests with -short")
	flags.BoolVar(&s.list, "list", false, "list all mutants and run none")
	also := flags.String("also", "", "comma-separated packages whose tests also run against survivors")
	flags.StringVar(&s.equivalent, "equivalent", "cmd/mutants/equivalent.txt", "list of the equivalent mutants")
	flags.IntVar(&s.workers, "workers", runtime.NumCPU(), "test processes at a time")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	for text := range strings.SplitSeq(*seeds, ",") {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("-seed: %w", err)
		}
		s.seeds = append(s.seeds, seed)
	}
	if *also != "" {
		s.also = strings.Split(*also, ",")
	}
	if s.patterns = flags.Args(); len(s.patterns) == 0 {
		s.patterns = []string{"./cupel/...", "./cupeltest", "./cupelotel"}
	}
	var err error
	s.root, err = filepath.Abs(s.root)
	return s, err
}

// measure prints a line for each package and the survivors, and reports whether
// all checks pass.
func (s *settings) measure(ctx context.Context, w io.Writer) (bool, error) {
	equivalent, err := readEquivalent(s.equivalent)
	if err != nil {
		return false, err
	}
	pkgs, err := load(ctx, s.root, s.patterns)
	if err != nil {
		return false, err
	}
	if s.list {
		for _, p := range pkgs {
			for _, m := range p.mutants {
				fmt.Fprintf(w, "%s/%s\n", p.short, m)
			}
		}
		return true, nil
	}
	var wrong, notes []string
	for _, p := range pkgs {
		wrong = append(wrong, p.stale(equivalent[p.short])...)
	}
	fmt.Fprintf(w, "%-28s %9s %9s %7s %11s %9s %10s %6s\n", "package", "killed", "drawn", "", "not covered", "timed out", "equivalent", "time")
	for _, p := range pkgs {
		began := time.Now()
		r, err := s.measurePackage(ctx, p, equivalent[p.short])
		if err != nil {
			return false, fmt.Errorf("%s: %w", p.short, err)
		}
		if r.drawn == 0 {
			continue
		}
		rate := 100 * float64(r.killed) / float64(r.drawn)
		fmt.Fprintf(w, "%-28s %9d %9d %5.1f %% %11d %9d %10d %4.0f s\n", p.short, r.killed, r.drawn, rate, r.uncovered, r.timedOut, r.equivalent, time.Since(began).Seconds())
		if rate < s.least {
			wrong = append(wrong, fmt.Sprintf("%s: %.1f %% of the mutants are killed, less than %g %%", p.short, rate, s.least))
		}
		wrong = append(wrong, r.wrong...)
		notes = append(notes, r.notes...)
	}
	for _, note := range notes {
		fmt.Fprintln(w, note)
	}
	for _, line := range wrong {
		fmt.Fprintln(w, "FAILED:", line)
	}
	return len(wrong) == 0, nil
}

// result is the result of one package.
type result struct {
	drawn, killed, uncovered, timedOut, equivalent int
	notes, wrong                                   []string
}

func (s *settings) measurePackage(ctx context.Context, p *pkg, equivalent map[string]string) (result, error) {
	var r result
	drawn := p.sample(s.seeds, s.n, equivalent)
	if len(drawn) == 0 {
		return r, nil
	}
	work, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return r, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	overlay, err := p.overlay(work, drawn)
	if err != nil {
		return r, err
	}
	verdicts := make(map[*mutant]verdict)
	left := drawn
	if left, err = s.judgeAll(ctx, p, &r, overlay, work, p.path, p.dir, left, verdicts); err != nil {
		return r, err
	}
	killers := make(map[*mutant]string)
	for _, other := range s.also {
		out, err := goCommand(ctx, s.root, "list", "-f", "{{.Dir}}", other)
		if err != nil {
			return r, err
		}
		before := left
		if left, err = s.judgeAll(ctx, p, &r, overlay, work, other, strings.TrimSpace(string(out)), left, make(map[*mutant]verdict)); err != nil {
			return r, err
		}
		for _, m := range before {
			if !slices.Contains(left, m) {
				killers[m] = ", killed by " + other
			}
		}
	}
	for _, m := range drawn {
		v := verdicts[m]
		if _, ok := equivalent[m.key()]; ok {
			r.equivalent++
			if v == killed || v == timedOut {
				r.wrong = append(r.wrong, fmt.Sprintf("listed as equivalent, but killed: %s/%s", p.short, m))
			}
			continue
		}
		r.drawn++
		switch v {
		case timedOut:
			r.timedOut++
			r.killed++
		case killed:
			r.killed++
		case uncovered:
			r.uncovered++
			r.notes = append(r.notes, fmt.Sprintf("not covered: %s/%s%s", p.short, m, killers[m]))
		case survived:
			r.notes = append(r.notes, fmt.Sprintf("survived: %s/%s%s", p.short, m, killers[m]))
		}
	}
	return r, nil
}

// judgeAll runs the tests of a package against mutants and returns those that
// survived.
func (s *settings) judgeAll(ctx context.Context, p *pkg, r *result, overlay, work, path, dir string, mutants []*mutant, verdicts map[*mutant]verdict) ([]*mutant, error) {
	tests, err := newSuite(ctx, s.root, overlay, path, dir, work, s.short, s.workers)
	if err != nil {
		return nil, err
	}
	for _, name := range tests.broken {
		r.notes = append(r.notes, fmt.Sprintf("left out: %s of %s fails or crashes with the mutants of %s compiled in and switched off", name, path, p.short))
	}
	var lock sync.Mutex
	var failed error
	each(s.workers, len(mutants), func(i int) {
		if ctx.Err() != nil {
			return
		}
		v, err := tests.judge(ctx, mutants[i])
		lock.Lock()
		defer lock.Unlock()
		verdicts[mutants[i]] = v
		if err != nil {
			failed = err
		}
	})
	if failed == nil {
		failed = ctx.Err()
	}
	var left []*mutant
	for _, m := range mutants {
		if v := verdicts[m]; v == survived || v == uncovered {
			left = append(left, m)
		}
	}
	return left, failed
}

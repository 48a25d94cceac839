package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A verdict is the outcome of the tests for a mutant.
type verdict int

const (
	survived verdict = iota
	uncovered
	killed
	timedOut // counts as killed
)

// A suite is the test binary of one package with the mutants of another, or the
// same, in it.
type suite struct {
	binary, dir string
	short       bool
	tests       []*test
	broken      []string // tests that fail with every mutant switched off
}

// A test is one test, example or fuzz target with its seeds.
type test struct {
	name  string
	cpu   time.Duration
	wall  time.Duration
	comes map[int]bool // the mutants that it reaches
}

// memory is the address space that a test process may take, in KiB: a mutant
// that allocates without end must not take the machine's.
const memory = 6 << 20

// newSuite builds the tests of a package and runs each of them once, alone, to
// record which mutants it reaches and how long it takes.
func newSuite(ctx context.Context, root, overlay, path, dir, work string, short bool, workers int) (*suite, error) {
	s := &suite{binary: filepath.Join(work, strings.ReplaceAll(path, "/", "_")+".test"), dir: dir, short: short}
	if _, err := goCommand(ctx, root, "test", "-c", "-vet=off", "-overlay", overlay, "-o", s.binary, path); err != nil {
		return nil, err
	}
	if _, err := os.Stat(s.binary); err != nil {
		return s, nil //nolint:nilerr // a package without tests has no binary
	}
	list := exec.CommandContext(ctx, s.binary, "-test.list", "^(Test|Example|Fuzz)")
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the tests of %s: %w", path, err)
	}
	tests := make([]*test, 0)
	for name := range strings.FieldsSeq(string(out)) {
		tests = append(tests, &test{name: name})
	}
	var lock sync.Mutex
	errs := make([]error, len(tests))
	each(workers, len(tests), func(i int) {
		t := tests[i]
		record := filepath.Join(work, fmt.Sprintf("record%d", i))
		began := time.Now()
		cpu, outcome, err := s.run(ctx, []*test{t}, "MUTANT_RECORD="+record, 0)
		t.cpu, t.wall = cpu, time.Since(began)
		lock.Lock()
		defer lock.Unlock()
		if err != nil {
			errs[i] = err
			return
		}
		if outcome != survived {
			s.broken = append(s.broken, t.name)
			return
		}
		t.comes, errs[i] = readRecord(record)
		s.tests = append(s.tests, t)
	})
	slices.SortFunc(s.tests, func(a, b *test) int { return cmp.Or(cmp.Compare(a.cpu, b.cpu), cmp.Compare(a.name, b.name)) })
	slices.Sort(s.broken)
	return s, errors.Join(errs...)
}

func readRecord(name string) (map[int]bool, error) {
	comes := make(map[int]bool)
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return comes, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.FieldsSeq(string(data)) {
		id, err := strconv.Atoi(line)
		if err != nil {
			return nil, err
		}
		comes[id] = true
	}
	return comes, os.Remove(name)
}

// judge runs the tests that reach a mutant, in a few batches with the fast ones
// first, until one fails.
func (s *suite) judge(ctx context.Context, m *mutant) (verdict, error) {
	var batch []*test
	var cpu time.Duration
	most := 100 * time.Millisecond
	run := func() (verdict, error) {
		if len(batch) == 0 {
			return survived, nil
		}
		// An endless loop uses processor time even on a busy machine.
		limit := 2 + int(5*cpu/time.Second)
		_, v, err := s.run(ctx, batch, "MUTANT="+strconv.Itoa(m.id), limit)
		batch, cpu = nil, 0
		return v, err
	}
	covered := false
	for _, t := range s.tests {
		if !t.comes[m.id] {
			continue
		}
		covered = true
		if len(batch) > 0 && cpu+t.cpu > most {
			if v, err := run(); err != nil || v != survived {
				return v, err
			}
			most *= 5
		}
		batch = append(batch, t)
		cpu += t.cpu
	}
	if !covered {
		return uncovered, nil
	}
	return run()
}

// run runs some tests in one process, with a limit in seconds of processor time
// unless it is 0. The process may sleep for long, but not for ever.
func (s *suite) run(ctx context.Context, tests []*test, env string, limit int) (time.Duration, verdict, error) {
	patience := 5 * time.Minute
	names := make([]string, len(tests))
	if limit > 0 {
		patience = time.Duration(5*limit+10) * time.Second
		for _, t := range tests {
			patience += 3 * t.wall
		}
	}
	for i, t := range tests {
		names[i] = regexp.QuoteMeta(t.name)
	}
	script := fmt.Sprintf("ulimit -v %d; ", memory)
	if limit > 0 {
		script += fmt.Sprintf("ulimit -t %d; ", limit)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script+`exec "$0" "$@"`, s.binary,
		"-test.failfast", "-test.count=1", "-test.paniconexit0", "-test.short="+strconv.FormatBool(s.short),
		"-test.run", "^("+strings.Join(names, "|")+")$")
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	var cpu time.Duration
	if cmd.ProcessState != nil {
		cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return cpu, survived, nil
	case ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return cpu, survived, ctx.Err()
	case ctx.Err() != nil || errors.Is(err, exec.ErrWaitDelay):
		return cpu, timedOut, nil
	case errors.As(err, &exit):
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return cpu, timedOut, nil
		}
		return cpu, killed, nil
	}
	return cpu, survived, err
}

// each calls f for 0 to n-1, in several goroutines.
func each(workers, n int, f func(i int)) {
	var group sync.WaitGroup
	next := make(chan int)
	for range workers {
		group.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
}

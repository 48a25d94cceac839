package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// record is what the example's -json prints of a turn.
type record struct {
	Turn                                               int
	Title                                              string
	Candidates, Selected, SelectedTokens, TargetTokens int
	KeptTokens                                         int
	Break, Error                                       string
	Excluded                                           map[string]map[string]int
	Spans                                              []span
}

var built struct {
	once sync.Once
	dir  string
	err  error
}

// buildExample builds examples/otel-jaeger, once.
func buildExample(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		built.dir, built.err = os.MkdirTemp("", "otel-jaeger") //nolint:usetesting // it outlives the test that builds it first
		if built.err != nil {
			return
		}
		cmd := exec.Command("go", "build", "-o", built.dir, ".")
		cmd.Dir = filepath.Join("..", "examples", "otel-jaeger")
		if out, err := cmd.CombinedOutput(); err != nil {
			built.err = errors.Join(err, errors.New(string(out)))
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "otel-jaeger")
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir) // a folder of the system's for such things
	}
	os.Exit(code)
}

// example is a running example.
type example struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	lines  *bufio.Reader
	stderr *logBuffer
}

// startExample starts the example as a user would: the program, flags, and the
// environment.
func startExample(t *testing.T, environment []string, flags ...string) *example {
	t.Helper()
	e := &example{stderr: &logBuffer{}}
	e.cmd = exec.CommandContext(t.Context(), buildExample(t), append([]string{"-json"}, flags...)...)
	e.cmd.Stderr = e.stderr
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "OTEL_") { // the caller may trace elsewhere
			e.cmd.Env = append(e.cmd.Env, variable)
		}
	}
	e.cmd.Env = append(e.cmd.Env, environment...)
	stdin, err := e.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := e.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	e.stdin, e.lines = stdin, bufio.NewReader(stdout)
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return e
}

// step presses the return key.
func (e *example) step(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(e.stdin, "\n"); err != nil {
		t.Fatalf("%v; the example said:\n%s", err, e.stderr)
	}
}

// next returns the next turn.
func (e *example) next(t *testing.T) record {
	t.Helper()
	line, err := e.lines.ReadBytes('\n')
	if err != nil {
		t.Fatalf("%v; the example said:\n%s", err, e.stderr)
	}
	var r record
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		t.Fatalf("%v:\n%s", err, line)
	}
	return r
}

// end waits until the example has ended by itself and returns its exit code and
// what it said on standard error.
func (e *example) end(t *testing.T) (code int, stderr string) {
	t.Helper()
	rest, err := io.ReadAll(e.lines)
	if err != nil || len(rest) > 0 {
		t.Errorf("after the last turn: %v, %q", err, rest)
	}
	err = e.cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return e.cmd.ProcessState.ExitCode(), e.stderr.String()
}

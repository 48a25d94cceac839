package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// asCommand is a variable with which the program of the tests is the command, so that no
// other program is linked.
const asCommand = "CUPEL_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// desk is three items: two fit 20 tokens and one is pinned.
const desk = `{"content": "Answer briefly.", "tokens": 10, "kind": "SystemPrompt", "pinned": true}
{"content": "What is new?", "tokens": 10, "futureRelevanceHint": 0.9}
{"content": "The weather is fine.", "tokens": 10, "futureRelevanceHint": 0.1}
`

// command returns the command in a folder of its own with the file items.jsonl,
// in an environment that says nothing about terminals.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "items.jsonl"), desk)
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = dir, []string{asCommand + "=yes"}
	for _, variable := range os.Environ() {
		switch name, _, _ := strings.Cut(variable, "="); name {
		case "COLUMNS", "NO_COLOR", "TERM":
		default:
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

func write(t *testing.T, name, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
}

// finished runs cmd and returns its exit code, -1 for a signal.
func finished(t *testing.T, cmd *exec.Cmd) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		require.NoError(t, err)
	}
	return code, out.String(), errs.String()
}

var selecting = []string{"-i", "items.jsonl", "-p", "rag"}

func TestExitCodes(t *testing.T) {
	for _, test := range []struct {
		name, why string
		args      []string
		code      int
		stderr    string // begins with
	}{
		{"run", "it selects", append([]string{"run", "-b", "20"}, selecting...), 0, "cupel: 3 → 2 items, 30 → 20 tokens\n"},
		{"version", "bug reports need it", []string{"--version"}, 0, ""},
		{"check fails", "the weather is not", []string{"check", "fails.toml"}, 1, "cupel: 1 check: 0 ok, 1 failed\n"},
		{"no such command", "the command line is wrong", []string{"chose"}, 2, "cupel: chose is neither a command nor a file\n"},
		{"pinned too large", "nothing can be selected", append([]string{"run", "-b", "5"}, selecting...), 3, "cupel: Pinned items require 10 tokens, but only 5 are available\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := command(t, test.args...)
			const check = `[selection]
items = "items.jsonl"
policy = "rag"
budget = 20

[[checks]]
assert = "include_item_matching"
item = { content_glob = "The weather*" }
`
			write(t, filepath.Join(cmd.Dir, "fails.toml"), check)
			code, stdout, stderr := finished(t, cmd)
			require.Equal(t, test.code, code, "%s: %s%s", test.why, stdout, stderr)
			require.True(t, strings.HasPrefix(stderr, test.stderr), stderr)
			require.Equal(t, test.stderr == "", stderr == "")
		})
	}
}

// TestStandardStreams: a policy from standard input, and what one command writes the
// other reads.
func TestStandardStreams(t *testing.T) {
	cmd := command(t, "explain", "-i", "items.jsonl", "-p", "-", "-b", "20", "--json")
	cmd.Stdin = strings.NewReader(`{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "greedy"}, "placer": {"type": "chronological"}}`)
	code, report, stderr := finished(t, cmd)
	require.Zero(t, code, stderr)
	cmd = command(t, "diff", "-", "other.json")
	write(t, filepath.Join(cmd.Dir, "other.json"), report)
	cmd.Stdin = strings.NewReader(report)
	code, stdout, stderr := finished(t, cmd)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "standard input")
	require.Contains(t, stdout, "Both include the same contents in the same order.\n")
}

// manyItems returns a list that takes more than a pipe holds.
func manyItems() string {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `{"content": "item %d", "tokens": %d, "futureRelevanceHint": 0.%d}`+"\n", i, 100+i%7, 1+i%9)
	}
	return b.String()
}

func TestBrokenPipe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("pipes break in another way on Windows")
	}
	cmd := command(t, "explain", "-i", "-", "-p", "rag", "-b", "100000", "-n", "0")
	cmd.Stdin = strings.NewReader(manyItems())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.ReadFull(out, make([]byte, 100))
	require.NoError(t, err)
	require.NoError(t, out.Close())
	require.EqualError(t, cmd.Wait(), "signal: broken pipe", "it ends as other programs do")
	require.Empty(t, stderr.String())
}

func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted on Windows")
	}
	for _, test := range []struct {
		name, why string
		stdin     string // written before the interrupt
		close     bool   // and closed
		args      []string
	}{
		{"reading", "somebody is expected to type", manyItems(), false, []string{"explain", "-i", "-", "-p", "rag", "-b", "20"}},
		{"working", "a knapsack at each of fifty budgets", manyItems(), true,
			[]string{"sweep", "-i", "-", "-p", "document-qa", "--from", "1000000", "--to", "2000000"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := command(t, test.args...)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			// More than a pipe holds: the process runs when all of it is written.
			_, err = io.WriteString(in, test.stdin)
			require.NoError(t, err)
			if test.close {
				require.NoError(t, in.Close())
			}
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
			require.EqualError(t, cmd.Wait(), "exit status 130", test.why)
			require.Equal(t, "cupel: interrupted\n", stderr.String())
			require.Empty(t, stdout.String())
		})
	}
}

// TestInterruptedRead: a read that nothing answers ends with the interrupt and has read nothing.
func TestInterruptedRead(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	never, _ := io.Pipe()
	n, err := interruptible{ctx, never}.Read(make([]byte, 1))
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, n)
}

// TestStartup: starting the command takes little longer than starting another
// program of Go. What is linked for one subcommand must not cost the others.
func TestStartup(t *testing.T) {
	if os.Getenv("CUPEL_BENCH_GUARD") == "" {
		t.Skip("make bench-guard runs this: it measures time")
	}
	tool, err := exec.LookPath("go")
	require.NoError(t, err)
	binary := filepath.Join(t.TempDir(), "cupel.exe")
	require.NoError(t, exec.CommandContext(t.Context(), tool, "build", "-o", binary, ".").Run())
	const rounds, most = 15, 4.0
	started := func(name, arg string) time.Duration {
		begin := time.Now()
		require.NoError(t, exec.CommandContext(t.Context(), name, arg).Run())
		return time.Since(begin)
	}
	var ratio float64
	ours, others := time.Hour, time.Hour
	for round := 0; round < rounds || round < 6*rounds && ratio >= most; round++ { // another process may be in the way
		ours, others = min(ours, started(binary, "--version")), min(others, started(tool, "version"))
		ratio = float64(ours) / float64(others)
	}
	require.Less(t, ratio, most, "starting takes %v, go version %v", ours, others)
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// binary is the command as it is shipped.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "cupel-command")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
		binary = filepath.Join(dir, "cupel")
		if runtime.GOOS == "windows" {
			binary += ".exe"
		}
		build := exec.Command("go", "build", "-o", binary, ".")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
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
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir = dir
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
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// finished runs cmd and returns its exit code, -1 for a signal.
func finished(t *testing.T, cmd *exec.Cmd) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	} else if ok {
		code = exit.ExitCode()
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
		{"run", "it selects", append([]string{"run", "-b", "20"}, selecting...), 0, ""},
		{"explain", "it explains", append([]string{"explain", "-b", "20"}, selecting...), 0, ""},
		{"version", "bug reports need it", []string{"--version"}, 0, ""},
		{"check holds", "the prompt is in", []string{"check", "holds.toml"}, 0, ""},
		{"check fails", "the weather is not", []string{"check", "fails.toml"}, 1, ""},
		{"no such command", "the command line is wrong", []string{"chose"}, 2, `cupel: unknown command "chose" for "cupel"`},
		{"no such flag", "the command line is wrong", []string{"run", "--budgt", "3"}, 2, "cupel: unknown flag: --budgt"},
		{"missing flag", "the command line lacks something", []string{"run", "-b", "20", "-p", "rag"}, 2, `cupel: required flag(s) "items" not set`},
		{"no such file", "a file that is named is not there", []string{"run", "-i", "nothing.json", "-p", "rag", "-b", "20"}, 2, "cupel: open nothing.json: "},
		{"no such policy", "an unknown preset", []string{"run", "-i", "items.jsonl", "-p", "ragg", "-b", "20"}, 2, "cupel: "},
		{"broken file", "a file that is named says nothing", []string{"run", "-i", "broken.json", "-p", "rag", "-b", "20"}, 2, "cupel: broken.json: "},
		{"pinned too large", "nothing can be selected", append([]string{"run", "-b", "5"}, selecting...), 3, "cupel: Pinned items require 10 tokens, but only 5 are available\n"},
		{"explained failure", "nothing can be selected, and it says why", append([]string{"explain", "-b", "5"}, selecting...), 3, "cupel: Pinned items require 10 tokens, but only 5 are available\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := command(t, test.args...)
			write(t, filepath.Join(cmd.Dir, "broken.json"), "[{")
			const check = `[selection]
items = "items.jsonl"
policy = "rag"
budget = 20

[[checks]]
assert = "include_item_matching"
item = { content_glob = %q }
`
			write(t, filepath.Join(cmd.Dir, "holds.toml"), fmt.Sprintf(check, "Answer*"))
			write(t, filepath.Join(cmd.Dir, "fails.toml"), fmt.Sprintf(check, "The weather*"))
			code, stdout, stderr := finished(t, cmd)
			if code != test.code {
				t.Errorf("exit code %d, want %d: %s\n%s%s", code, test.code, test.why, stdout, stderr)
			}
			if !strings.HasPrefix(stderr, test.stderr) || test.stderr == "" && stderr != "" {
				t.Errorf("standard error is %q, want %q at its beginning", stderr, test.stderr)
			}
		})
	}
}

func TestStandardStreams(t *testing.T) {
	cmd := command(t, "run", "-i", "-", "-p", "rag", "-b", "20", "--as", "json", "-o", "-")
	cmd.Stdin = strings.NewReader(desk)
	code, stdout, stderr := finished(t, cmd)
	var window []struct{ Content string }
	if err := json.Unmarshal([]byte(stdout), &window); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v: %s%s", code, err, stdout, stderr)
	}
	if len(window) != 2 || window[0].Content != "Answer briefly." || window[1].Content != "What is new?" {
		t.Errorf("got %+v, want the pinned item and the better one", window)
	}

	// A policy from standard input, and what one command writes the other reads.
	cmd = command(t, "explain", "-i", "items.jsonl", "-p", "-", "-b", "20", "--json")
	cmd.Stdin = strings.NewReader(`{"scorers": [{"type": "reflexive", "weight": 1}], "slicer": {"type": "greedy"}, "placer": {"type": "chronological"}}`)
	code, report, stderr := finished(t, cmd)
	if code != 0 {
		t.Fatal(stderr)
	}
	cmd = command(t, "diff", "-", "other.json")
	write(t, filepath.Join(cmd.Dir, "other.json"), report)
	cmd.Stdin = strings.NewReader(report)
	code, stdout, stderr = finished(t, cmd)
	if code != 0 || !strings.Contains(stdout, "A: standard input\n") || !strings.Contains(stdout, "Both include the same items in the same order.\n") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

func TestNothingIsWrittenOver(t *testing.T) {
	for _, args := range [][]string{
		{"run", "-b", "20"},
		{"explain", "-b", "20"},
		{"explain", "-b", "20", "--json"},
		{"sweep"},
		{"sweep", "--csv"},
		{"inspect", "-b", "20"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			args := append(append(args, selecting...), "-o", "out")
			cmd := command(t, args...)
			out := filepath.Join(cmd.Dir, "out")
			write(t, out, "precious")
			code, _, stderr := finished(t, cmd)
			if code != 2 || stderr != "cupel: out already exists; --force overwrites it\n" {
				t.Errorf("exit code %d: %s", code, stderr)
			}
			if got, err := os.ReadFile(out); err != nil || string(got) != "precious" {
				t.Errorf("the file says %q now (%v)", got, err)
			}
			forced := command(t, append(args, "--force")...)
			write(t, filepath.Join(forced.Dir, "out"), "precious")
			if code, stdout, stderr := finished(t, forced); code != 0 || stdout != "" {
				t.Errorf("with --force: exit code %d: %s%s", code, stdout, stderr)
			}
			if got, err := os.ReadFile(filepath.Join(forced.Dir, "out")); err != nil || len(got) == 0 || strings.Contains(string(got), "precious") {
				t.Errorf("with --force the file says %q (%v)", got, err)
			}
		})
	}
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
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatalf("it ended with %v, though its output was not read", err)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGPIPE || stderr.Len() > 0 {
		t.Errorf("it ended with %v and %q, want it to end as other programs do", exit, stderr.String())
	}
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
		{"working", "a knapsack at each of a million budgets", manyItems(), true,
			[]string{"sweep", "-i", "-", "-p", "document-qa", "--from", "1000000", "--to", "2000000", "--stride", "1"}},
		{"searching", "the same for one item", manyItems(), true,
			[]string{"explain", "-i", "-", "-p", "document-qa", "-b", "1000", "--why-not", "item 4999", "--max-probes", "1000000"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := command(t, test.args...)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			// More than a pipe holds: the process runs when all of it is written.
			if _, err := io.WriteString(in, test.stdin); err != nil {
				t.Fatal(err)
			}
			if test.close {
				if err := in.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			err = cmd.Wait()
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || exit.ExitCode() != 130 || stderr.String() != "cupel: interrupted\n" || stdout.Len() > 0 {
				t.Errorf("it ended with %v, %q and %d bytes of output, want exit code 130: %s", err, stderr.String(), stdout.Len(), test.why)
			}
		})
	}
}

// commands returns the names of all commands, as completion has them.
func commands(t *testing.T) []string {
	t.Helper()
	code, stdout, stderr := finished(t, command(t, "__complete", ""))
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var names []string
	for line := range strings.Lines(stdout) {
		name, description, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if ok && description != "" && name != "completion" && name != "help" {
			names = append(names, name)
		}
	}
	if len(names) < 7 {
		t.Fatalf("completion knows %q only", names)
	}
	return names
}

func TestHelp(t *testing.T) {
	for _, name := range append(commands(t), "") {
		t.Run("cupel "+name, func(t *testing.T) {
			args := append(strings.Fields(name), "--help")
			code, stdout, stderr := finished(t, command(t, args...))
			if code != 0 || stderr != "" {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			_, examples, ok := strings.Cut(stdout, "\nExamples:\n")
			if !ok || !strings.Contains(examples, "cupel "+name) {
				t.Errorf("no examples of cupel %s in\n%s", name, stdout)
			}
			for line := range strings.Lines(stdout) {
				if strings.Contains(line, " -- ") || strings.HasPrefix(line, "\t") {
					t.Errorf("odd line %q", line)
				}
			}
			if name == "" && !strings.Contains(stdout, "130 interrupted") {
				t.Errorf("no exit codes in\n%s", stdout)
			}
		})
	}
}

func TestCompletionScripts(t *testing.T) {
	for _, test := range []struct {
		shell, has string
		check      []string // that the shell itself can read it from standard input
	}{
		{"bash", "__start_cupel", []string{"bash", "-n"}},
		{"zsh", "#compdef cupel", []string{"zsh", "-n"}},
		{"fish", "complete -c cupel", []string{"fish", "--no-execute"}},
		{"powershell", "Register-ArgumentCompleter", nil},
	} {
		t.Run(test.shell, func(t *testing.T) {
			code, script, stderr := finished(t, command(t, "completion", test.shell))
			if code != 0 || stderr != "" || !strings.Contains(script, test.has) {
				t.Fatalf("exit code %d, no %q in %d bytes: %s", code, test.has, len(script), stderr)
			}
			if test.check == nil {
				return
			}
			shell, err := exec.LookPath(test.check[0])
			if err != nil {
				t.Logf("%s is not installed: its reading of the script is not tested", test.shell)
				return
			}
			cmd := exec.CommandContext(t.Context(), shell, test.check[1:]...)
			cmd.Stdin = strings.NewReader(script)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s cannot read it: %v\n%s", test.shell, err, out)
			}
		})
	}
}

// With --policy the arguments of diff are budgets, which nothing completes.
func TestCompletionOfBudgets(t *testing.T) {
	code, stdout, stderr := finished(t, command(t, "__complete", "diff", "--policy", "rag", ""))
	if want := ":4\n"; code != 0 || stdout != want { // no files either
		t.Errorf("exit code %d, %q, want %q\n%s", code, stdout, want, stderr)
	}
}

func TestCompletion(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		want string // one of the lines, at its beginning
	}{
		{"commands", []string{"exp"}, "explain\t"},
		{"policies", []string{"explain", "--policy", ""}, "document-qa\t"},
		{"policies of diff", []string{"diff", ""}, "document-qa\t"},
		{"formats", []string{"run", "--as", ""}, "transcript"},
		{"colours", []string{"sweep", "--color", "a"}, "always"},
		{"flags", []string{"explain", "--why"}, "--why-not\t"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, stdout, stderr := finished(t, command(t, append([]string{"__complete"}, test.args...)...))
			if code != 0 || !strings.Contains("\n"+stdout, "\n"+test.want) {
				t.Errorf("exit code %d, no %q in\n%s%s", code, test.want, stdout, stderr)
			}
		})
	}
}

// TestStartup: starting the command takes little longer than starting another
// program of Go. What is linked for one subcommand must not cost the others.
func TestStartup(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	const rounds, most = 15, 4.0
	started := func(name, arg string) time.Duration {
		begin := time.Now()
		if out, err := exec.CommandContext(t.Context(), name, arg).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return time.Since(begin)
	}
	var ratio float64
	for range 3 { // another process may be in the way
		ours, others := time.Hour, time.Hour
		for range rounds {
			ours, others = min(ours, started(binary, "--version")), min(others, started(tool, "version"))
		}
		if ratio = float64(ours) / float64(others); ratio < most {
			return
		}
	}
	t.Errorf("starting takes %.1f times as long as go version, want less than %g", ratio, most)
}

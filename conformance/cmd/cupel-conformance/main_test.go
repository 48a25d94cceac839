package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const good = `[test]
name = "good"
stage = "scoring"
scorer = "reflexive"
[[items]]
content = "a"
tokens = 1
futureRelevanceHint = 0.5
[[expected]]
content = "a"
score_approx = 0.5
`

// files writes files below a new folder and returns it.
func files(t *testing.T, contents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range contents {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return dir
}

func TestCommand(t *testing.T) {
	passing := files(t, map[string]string{"x/good.toml": good})
	failing := files(t, map[string]string{"good.toml": good, "bad.toml": strings.Replace(good, "score_approx = 0.5", "score_approx = 0.6", 1)})
	unknown := files(t, map[string]string{"u.toml": strings.Replace(good, `"scoring"`, `"sorting"`, 1)})
	loose := files(t, map[string]string{"l.toml": "mood = 1\n" + good})
	empty := files(t, map[string]string{"readme.md": "no vector"})
	slashed := files(t, map[string]string{"s.toml": strings.Replace(good, `"good"`, `"either/or, slashed"`, 1)})
	unreadable := files(t, map[string]string{"a.toml": good, "folder.toml/z.toml": good})
	for link, target := range map[string]string{"nowhere.toml": "gone", "linked.toml": "folder.toml", "self": "."} {
		if err := os.Symlink(target, filepath.Join(unreadable, link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	tests := []struct {
		name string
		args []string
		code int
		out  string // the last line of standard output
		err  string // part of standard error
		why  string
	}{
		{"all pass", []string{passing}, 0, "1 passed, 0 failed", "", "the plain case"},
		{"one fails", []string{failing}, 1, "1 passed, 1 failed", "", "a failure is exit 1"},
		{"several directories", []string{passing, failing}, 1, "2 passed, 1 failed", "", "counts add up"},
		{"one file", []string{filepath.Join(passing, "x", "good.toml")}, 0, "1 passed, 0 failed", "", "DIR may be a file"},
		{"one bad file", []string{filepath.Join(failing, "bad.toml")}, 1, "0 passed, 1 failed", "", "DIR may be a file"},
		{"unknown stage", []string{unknown}, 1, "0 passed, 1 failed", "", "a vector that cannot be judged has not passed"},
		{"no vector", []string{empty}, 1, "0 passed, 0 failed", "no vector found", "an empty suite has not passed"},
		{"no vector in two", []string{empty, empty}, 1, "0 passed, 0 failed", "no vector found", "an empty suite has not passed"},
		{"one of two is empty", []string{empty, passing}, 0, "1 passed, 0 failed", "", "the other one has vectors"},
		{"missing directory", []string{filepath.Join(empty, "missing"), passing}, 1, "1 passed, 0 failed", "missing", "a folder that is not there has not passed"},
		{"pattern", []string{"-run", "good.*", failing}, 0, "1 passed, 0 failed", "", "only what matches runs"},
		{"pattern by test name", []string{"-run", "go?d", passing}, 0, "1 passed, 0 failed", "", "names match as well"},
		{"pattern that matches nothing", []string{"-run", "nothing", failing}, 1, "0 passed, 0 failed", "no vector found", "a typing error must not pass"},
		{"pattern and a file", []string{"-run", "nothing", filepath.Join(failing, "bad.toml")}, 1, "0 passed, 0 failed", "no vector found", "a file is selected as those of a directory are"},
		{"bad pattern and a file", []string{"-run", "[", filepath.Join(failing, "good.toml")}, 1, "", "syntax error", "patterns are checked"},
		{"pattern by a name with a slash", []string{"-run", "either*slash?d", slashed}, 0, "1 passed, 0 failed", "", "names are no paths"},
		{"pattern with a slash", []string{"-run", "either/or*", slashed}, 0, "1 passed, 0 failed", "", "names are no paths"},
		{"links", []string{unreadable}, 1, "2 passed, 1 failed", "", "a dangling link fails and does not stop the others; folders of any name are walked, links to folders are not"},
		{"bad pattern", []string{"-run", "[", passing}, 1, "", "syntax error", "patterns are checked"},
		{"not strict", []string{loose}, 0, "1 passed, 0 failed", "", "unknown keys are ignored by default (R48)"},
		{"strict", []string{"-strict", loose}, 1, "0 passed, 1 failed", "", "and mistakes under -strict"},
		{"json", []string{"-json", passing}, 0, `{"failed":0,"passed":1}`, "", "counts come last"},
		{"no arguments", nil, 2, "", "usage: cupel-conformance", "wrong usage is exit 2"},
		{"unknown flag", []string{"-x", passing}, 2, "", "not defined", "wrong usage is exit 2"},
		{"help", []string{"-h"}, 0, "", "usage: cupel-conformance", "asking is no mistake"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			code := run(t.Context(), tt.args, &out, &errOut)
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			assert.Equal(t, tt.code, code, tt.why)
			assert.Equal(t, tt.out, lines[len(lines)-1], tt.why)
			assert.Contains(t, errOut.String(), tt.err, tt.why)
		})
	}
}

func TestFailuresAreNamed(t *testing.T) {
	dir := files(t, map[string]string{"bad.toml": strings.Replace(good, "score_approx = 0.5", "score_approx = 0.6", 1)})
	var out, errOut bytes.Buffer
	run(t.Context(), []string{dir}, &out, &errOut)
	want := "FAIL " + filepath.Join(dir, "bad.toml") + ` (good): score of "a": got 0.5, want 0.6 within 1e-09` + "\n0 passed, 1 failed\n"
	require.Equal(t, want, out.String())
	out.Reset()
	run(t.Context(), []string{"-json", dir}, &out, &errOut)
	path, err := json.Marshal(filepath.Join(dir, "bad.toml"))
	require.NoError(t, err)
	require.JSONEq(t, `{"path": `+string(path)+`, "name": "good", "stage": "scoring", "passed": false, "failures": ["score of \"a\": got 0.5, want 0.6 within 1e-09"]}`,
		strings.SplitN(out.String(), "\n", 2)[0])
}

// TestOutputIsLines gives a name that would print lines of its own.
func TestOutputIsLines(t *testing.T) {
	hostile := strings.NewReplacer(`"good"`, `"9 passed\r\n9 passed, 0 failed\u001b[1A"`, "score_approx = 0.5", "score_approx = 0.6").Replace(good)
	dir := files(t, map[string]string{"a.toml": hostile, "b.toml": "not TOML"})
	var out bytes.Buffer
	run(t.Context(), []string{dir}, &out, &out)
	lines := strings.Split(out.String(), "\n")
	require.Len(t, lines, 4, "two failures and the counts")
	require.False(t, strings.ContainsAny(out.String(), "\r\x1b"), "a control character")
	require.True(t, strings.HasPrefix(lines[1], "FAIL "+filepath.Join(dir, "b.toml")+": invalid vector"), "a vector that cannot be read has no name")
}

// TestBinary runs the real program, for its exit code.
func TestBinary(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "cupel-conformance.exe")
	require.NoError(t, exec.Command("go", "build", "-o", binary, ".").Run())
	require.NoError(t, exec.Command(binary, files(t, map[string]string{"good.toml": good})).Run())
	var exit *exec.ExitError
	require.ErrorAs(t, exec.Command(binary, files(t, map[string]string{"bad.toml": "x"})).Run(), &exit)
	require.Equal(t, 1, exit.ExitCode())
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestOutputThatCannotBeWritten(t *testing.T) {
	var errOut bytes.Buffer
	for _, args := range [][]string{nil, {"-json"}} {
		code := run(t.Context(), append(args, files(t, map[string]string{"good.toml": good})), brokenWriter{}, &errOut)
		require.Equal(t, 1, code, args)
	}
}

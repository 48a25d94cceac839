package main

import (
	"bytes"
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
	bad := strings.Replace(good, "score_approx = 0.5", "score_approx = 0.6", 1)
	passing := files(t, map[string]string{"x/good.toml": good})
	failing := files(t, map[string]string{"good.toml": good, "bad.toml": bad})
	loose := files(t, map[string]string{"l.toml": "mood = 1\n" + good})
	empty := files(t, map[string]string{"readme.md": "no vector"})
	for _, tt := range []struct {
		name string
		args []string
		code int
		out  string
		err  string // part of standard error
		why  string
	}{
		{"all pass", []string{passing}, 0, "1 passed, 0 failed\n", "", "the plain case"},
		{"one fails", []string{failing, passing}, 1,
			"FAIL " + filepath.Join(failing, "bad.toml") + " (good): score of \"a\": got 0.5, want 0.6 within 1e-09\n2 passed, 1 failed\n", "", "counts add up"},
		{"one file", []string{filepath.Join(passing, "x", "good.toml")}, 0, "1 passed, 0 failed\n", "", "DIR may be a file"},
		{"no vector", []string{empty, passing}, 1, "1 passed, 0 failed\n", "no vector found", "an empty suite has not passed"},
		{"missing directory", []string{filepath.Join(empty, "missing"), passing}, 1, "1 passed, 0 failed\n", "missing", "a folder that is not there has not passed"},
		{"not strict", []string{loose}, 0, "1 passed, 0 failed\n", "", "unknown keys are ignored by default (R48)"},
		{"strict", []string{"-strict", loose}, 1, "FAIL " + filepath.Join(loose, "l.toml") + " (good): invalid vector: mood: unknown key\n0 passed, 1 failed\n", "", "and mistakes under -strict"},
		{"no arguments", nil, 2, "", "usage: cupel-conformance", "wrong usage is exit 2"},
		{"unknown flag", []string{"-x", passing}, 2, "", "not defined", "wrong usage is exit 2"},
		{"help", []string{"-h"}, 0, "", "usage: cupel-conformance", "asking is no mistake"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			code := run(t.Context(), tt.args, &out, &errOut)
			assert.Equal(t, tt.code, code, tt.why)
			assert.Equal(t, tt.out, out.String(), tt.why)
			assert.Contains(t, errOut.String(), tt.err, tt.why)
		})
	}
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
	require.Contains(t, lines[1], "FAIL "+filepath.Join(dir, "b.toml")+" (): invalid vector")
}

// With asCommand the program of the tests is the command, so that no other is linked.
const asCommand = "CUPEL_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestExitCodes(t *testing.T) {
	t.Setenv(asCommand, "yes")
	program, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, exec.Command(program, files(t, map[string]string{"good.toml": good})).Run())
	var exit *exec.ExitError
	require.ErrorAs(t, exec.Command(program, files(t, map[string]string{"bad.toml": "x"})).Run(), &exit)
	require.Equal(t, 1, exit.ExitCode())
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestOutputThatCannotBeWritten(t *testing.T) {
	var errOut bytes.Buffer
	code := run(t.Context(), []string{files(t, map[string]string{"good.toml": good})}, brokenWriter{}, &errOut)
	require.Equal(t, 1, code)
	require.Contains(t, errOut.String(), "no space left")
}

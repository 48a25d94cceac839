package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestReadme runs the commands that READMEs and a guide show, and compares what they say
// that the commands print. A command ends with the line that it is on.
func TestReadme(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	require.NoError(t, err)
	for _, tt := range []struct{ readme, folder string }{
		{"README.md", "."},
		{"cmd/cupel/README.md", "examples/data"},
		{"docs/operations.md", "cmd/cupel/testdata/checks"},
	} {
		t.Run(tt.readme, func(t *testing.T) {
			readme := filepath.Join(root, filepath.FromSlash(tt.readme))
			data, err := os.ReadFile(readme)
			require.NoError(t, err)
			t.Chdir(filepath.Join(root, filepath.FromSlash(tt.folder)))
			made := runShown(t, string(data))
			if *update {
				require.NoError(t, os.WriteFile(readme, []byte(made), 0o600))
				return
			}
			require.Equal(t, string(data), made, "go test ./internal/cli -run TestReadme -update writes what the commands print")
		})
	}
}

// runShown returns a text with what each command in it prints.
func runShown(t *testing.T, text string) string {
	t.Helper()
	const fence, prompt = "```\n", "$ cupel "
	var made strings.Builder
	commands := 0
	for rest := text; ; {
		before, block, found := strings.Cut(rest, fence+prompt)
		made.WriteString(before)
		if !found {
			break
		}
		line, block, _ := strings.Cut(block, "\n")
		_, rest, found = strings.Cut(fence[3:]+block, "\n"+fence)
		require.True(t, found, "the block of %q has no end", line)
		commands++
		code, stdout, stderr := startShown(t, words(strings.Replace(line, "smaller.json", filepath.Join(t.TempDir(), "smaller.json"), 1))...)
		checks := strings.HasPrefix(line, "check ") && code == exitCheck // a page may show what a failing check prints
		tooSmall := stdout == "" && code == exitSelection
		require.True(t, code == exitOK || checks || tooSmall, "%s: exit code %d", line, code)
		if stdout == "" { // a command that writes a file says what was done
			stdout = stderr
		} else {
			require.Empty(t, summed(t, stderr), line)
		}
		made.WriteString(fence + prompt + line + "\n" + stdout + fence)
	}
	require.NotZero(t, commands, "it shows no command")
	return made.String()
}

// TestReadmeCommands runs the commands that the README lists without their output, in a
// folder with files of the names that they have there.
func TestReadmeCommands(t *testing.T) {
	readme := rootReadme(t)
	folder := t.TempDir()
	for name, from := range map[string]string{
		"chat.json": "examples/data/chat.json", "sessions.jsonl": "cupelsession/replay/testdata/agents.jsonl", "budget.md": "README.md",
	} {
		data, err := os.ReadFile(filepath.FromSlash(from))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), data, 0o600))
	}
	t.Chdir(folder)
	commands := 0
	for line := range strings.Lines(readme) {
		line, _, _ = strings.Cut(line, " #")
		args := words(line)
		if len(args) < 2 || args[0] != "cupel" {
			continue
		}
		commands++
		code, _, stderr := startShown(t, args[1:]...)
		require.Equal(t, exitOK, code, "%s\n%s", line, stderr)
	}
	require.GreaterOrEqual(t, commands, 3)
}

// TestReadmeHasEveryCommand fails for a subcommand that the command's README does
// not mention.
func TestReadmeHasEveryCommand(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	for _, command := range newRoot(&Environment{}).Commands() {
		require.Contains(t, string(data), "`cupel "+command.Name())
	}
}

// rootReadme goes to the root of the repository and returns its README.
func rootReadme(t *testing.T) string {
	t.Helper()
	t.Chdir(filepath.Join("..", "..", "..", ".."))
	data, err := os.ReadFile("README.md")
	require.NoError(t, err)
	return string(data)
}

// startShown runs a command as wide as a page.
func startShown(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(t.Context(), args, Environment{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Getenv: func(name string) string {
			if name == "COLUMNS" {
				return "110"
			}
			return ""
		},
		Clock: func() time.Time { return time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC) },
	})
	return code, out.String(), errs.String()
}

// words splits a command line as a shell does, as far as the README needs it.
func words(line string) []string {
	var list []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			list = append(list, part)
		} else {
			list = append(list, strings.Fields(part)...)
		}
	}
	return list
}

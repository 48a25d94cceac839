package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write what the commands print into README.md")

// TestReadme runs the commands that the READMEs show, and compares what they say
// that the commands print. A command ends with the line that it is on.
func TestReadme(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ readme, folder string }{
		{"README.md", "."},
		{"cmd/cupel/README.md", "examples/data"},
	} {
		t.Run(tt.readme, func(t *testing.T) {
			readme := filepath.Join(root, filepath.FromSlash(tt.readme))
			data, err := os.ReadFile(readme)
			if err != nil {
				t.Skip("the rest of the repository is not there: ", err)
			}
			t.Chdir(filepath.Join(root, filepath.FromSlash(tt.folder)))
			made := runShown(t, string(data))
			if made == string(data) {
				return
			}
			if !*update {
				t.Errorf("it is not what the commands print; go test ./internal/cli -run TestReadme -update writes:\n%s", made)
			} else if err := os.WriteFile(readme, []byte(made), 0o600); err != nil {
				t.Error(err)
			}
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
		if !found {
			t.Fatalf("the block of %q has no end", line)
		}
		commands++
		code, stdout, stderr := startShown(t, words(line)...)
		if code != exitOK || stderr != "" {
			t.Errorf("%s: exit code %d, %q", line, code, stderr)
		}
		made.WriteString(fence + prompt + line + "\n" + stdout + fence)
	}
	if commands == 0 {
		t.Fatal("it shows no command")
	}
	return made.String()
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

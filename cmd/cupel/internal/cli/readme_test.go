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

// TestReadme runs the commands that the README shows, and compares what it says
// that they print. A command ends with the line that it is on.
func TestReadme(t *testing.T) {
	readme, err := filepath.Abs(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join("..", "..", "testdata", "readme"))
	const fence, prompt = "```\n", "$ cupel "
	var made strings.Builder
	commands := 0
	rest := string(data)
	for {
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
		t.Fatal("the README shows no command")
	}
	if made.String() == string(data) {
		return
	}
	if !*update {
		t.Errorf("README.md is not what the commands print; go test ./internal/cli -run TestReadme -update writes:\n%s", made.String())
	} else if err := os.WriteFile(readme, []byte(made.String()), 0o600); err != nil {
		t.Error(err)
	}
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

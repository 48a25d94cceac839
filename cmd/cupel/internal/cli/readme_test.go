package cli

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write what the commands print into README.md and its like")

// TestReadme runs the commands that READMEs and a guide show, and compares what they say
// that the commands print. A command ends with the line that it is on.
func TestReadme(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ readme, folder string }{
		{"README.md", "."},
		{"cmd/cupel/README.md", "examples/data"},
		{"docs/testing-a-policy.md", "cmd/cupel/testdata/checks"},
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
		checks := strings.HasPrefix(line, "check ") && code == exitCheck // a page may show what a failing check prints
		if code != exitOK && !checks || stderr != "" {
			t.Errorf("%s: exit code %d, %q", line, code, stderr)
		}
		made.WriteString(fence + prompt + line + "\n" + stdout + fence)
	}
	if commands == 0 {
		t.Fatal("it shows no command")
	}
	return made.String()
}

// TestReadmeCommands runs the commands that the README lists without their output.
func TestReadmeCommands(t *testing.T) {
	readme := rootReadme(t)
	page := filepath.Join(t.TempDir(), "window.html")
	commands := 0
	for line := range strings.Lines(readme) {
		args := words(strings.Replace(line, "window.html", page, 1))
		if len(args) < 2 || args[0] != "cupel" {
			continue
		}
		commands++
		if code, stdout, stderr := startShown(t, args[1:]...); code != exitOK || stdout == "" && args[1] != "inspect" {
			t.Errorf("%sexit code %d: %s%s", line, code, stdout, stderr)
		}
	}
	if commands < 5 {
		t.Errorf("it lists %d commands", commands)
	}
}

// TestReadmeHasEveryCommand fails for a subcommand that the command's README does
// not mention.
func TestReadmeHasEveryCommand(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range newRoot(&Environment{}).Commands() {
		if text := string(data); !strings.Contains(text, "cupel "+command.Name()) && !strings.Contains(text, "cupel help "+command.Name()) {
			t.Errorf("cmd/cupel/README.md does not mention cupel %s", command.Name())
		}
	}
}

// TestReadmeProgram runs the first program of the README, and compares what it
// prints with the block behind it.
func TestReadmeProgram(t *testing.T) {
	readme := rootReadme(t)
	if out, err := exec.CommandContext(t.Context(), "go", "env", "GOWORK").Output(); err != nil || len(bytes.TrimSpace(out)) <= len("off") {
		t.Skipf("without the workspace the program would need a release: GOWORK=%s, %v", out, err)
	}
	_, block, _ := strings.Cut(readme, "```go\n")
	program, rest, found := strings.Cut(block, "```\n\n```\n")
	want, _, ended := strings.Cut(rest, "```\n")
	if !found || !ended {
		t.Fatal("the README has no program with its output")
	}
	if n := strings.Count(program, "\n"); n > 30 {
		t.Errorf("the program has %d lines, which is more than a reader takes in", n)
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := exec.CommandContext(t.Context(), "go", "run", file).CombinedOutput()
	if err != nil || string(got) != want {
		t.Errorf("%v; it prints:\n%s\nthe README says:\n%s", err, got, want)
	}
}

// rootReadme goes to the root of the repository and returns its README.
func rootReadme(t *testing.T) string {
	t.Helper()
	t.Chdir(filepath.Join("..", "..", "..", ".."))
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Skip("the rest of the repository is not there: ", err)
	}
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

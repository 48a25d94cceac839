package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/wollax/cupel-go/cmd/cupel/internal/terminal"
)

// TestHelpFits: the help of each command fits a screen of 24 lines of 80 columns and
// names every flag.
func TestHelpFits(t *testing.T) {
	root := newRoot(&Environment{})
	for _, c := range append(commandsOf(root), root) {
		args := append(strings.Fields(c.CommandPath())[1:], "--help")
		code, stdout, stderr := start(t, args...)
		if code != exitOK || stderr != "" {
			t.Fatalf("%q: exit code %d: %s", args, code, stderr)
		}
		if c.Name() == "strategies" { // a text, not a help
			continue
		}
		if c != root {
			c.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if !strings.Contains(stdout, "--"+f.Name) {
					t.Errorf("%q does not name --%s", args, f.Name)
				}
			})
		}
		const most = 24
		if lines := strings.Count(stdout, "\n"); lines > most {
			t.Errorf("%q has %d lines, want %d:\n%s", args, lines, most, stdout)
		}
		for line := range strings.Lines(stdout) {
			if strings.HasPrefix(line, "  ") && strings.HasSuffix(line, "…\n") {
				t.Errorf("%q cuts a text: %s", args, line)
			}
			if w := terminal.Width(strings.TrimRight(line, "\n")); w > helpColumns+8 || w > helpColumns && !strings.HasPrefix(line, "  cupel ") {
				t.Errorf("%q: %d columns: %s", args, w, line)
			}
		}
	}
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"help", "run"}, exitOK, "With --session, what was sent before"},
		{[]string{"help", "strategies"}, exitOK, "Scorers:"},
		{[]string{"help"}, exitOK, "Usage: cupel COMMAND [flags]"},
		{[]string{"help", "completion", "zsh"}, exitOK, "Usage: cupel completion zsh"},
		{[]string{"help", "rnu"}, exitUsage, `cupel: no command is named "rnu" (did you mean run?); cupel --help lists them`},
	} {
		if code, stdout, stderr := start(t, tt.args...); code != tt.code || !strings.Contains(stdout+stderr, tt.want) {
			t.Errorf("%q: exit code %d, %s%s, want %s", tt.args, code, stdout, stderr, tt.want)
		}
	}
}

// TestMan: there is a page for each command with each of its flags, and man can read
// it.
func TestMan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pages")
	if code, stdout, stderr := start(t, "man", dir); code != exitOK || stdout+stderr != "" {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	root := newRoot(&Environment{})
	requests := []string{".TH", ".SH", ".B", ".BR", ".TP", ".PP", ".nf", ".fi"}
	for _, c := range append(commandsOf(root), root) {
		name := filepath.Join(dir, manName(c)+".1")
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(string(page), fmt.Sprintf("\\fB%s\\fR", roff("--"+f.Name))) {
				t.Errorf("%s has no --%s", name, f.Name)
			}
		})
		for line := range strings.Lines(string(page)) {
			if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !slices.Contains(requests, strings.Fields(line)[0]) {
				t.Errorf("%s: unknown request %q", name, line)
			}
		}
		if groff, err := exec.LookPath("groff"); err == nil {
			if out, err := exec.CommandContext(t.Context(), groff, "-man", "-Tutf8", "-ww", "-z", name).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v: %s", err, out)
			}
		}
	}
	if code, _, stderr := start(t, "man", dir); code != exitUsage || !strings.Contains(stderr, "already exists; --force overwrites it") {
		t.Errorf("again: exit code %d: %s", code, stderr)
	}
	if code, _, stderr := start(t, "man", dir, "--force"); code != exitOK {
		t.Errorf("with --force: exit code %d: %s", code, stderr)
	}
}

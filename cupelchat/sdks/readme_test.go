package sdks_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupelchat"
)

// The README's agent runs as it stands.
func TestReadmeLoop(t *testing.T) {
	_, program, _ := strings.Cut(string(must(os.ReadFile("../../README.md"))), "```go\npackage main\n")
	program, _, _ = strings.Cut("package main\n"+program, "```\n")
	if lines := strings.Count(program, "\n"); lines > 40 {
		t.Errorf("the program has %d lines, want at most 40", lines)
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	api, server := serve()
	defer server.Close()
	run := exec.CommandContext(t.Context(), "go", "run", "-mod=mod", file)
	run.Env = append(os.Environ(), "ANTHROPIC_BASE_URL="+server.URL, "ANTHROPIC_API_KEY=key")
	out, err := run.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "done after 8 calls") || len(api.bodies) != steps+1 {
		t.Fatalf("%d requests, %v:\n%s", len(api.bodies), err, out)
	}
	last := must(cupelchat.Read(api.bodies[steps], cupelchat.Anthropic, counter))
	if got := len(last.Items()); got != 2+2*steps {
		t.Errorf("the last request has %d items, want the definition of the tool, the task, and %d calls with their results", got, steps)
	}
}

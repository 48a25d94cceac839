package sdks_test

import (
	"net/http/httptest"
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
	api := &server{steps: 8}
	provider := httptest.NewServer(api)
	defer provider.Close()
	run := exec.CommandContext(t.Context(), "go", "run", "-mod=mod", file)
	run.Env = append(os.Environ(), "ANTHROPIC_BASE_URL="+provider.URL, "ANTHROPIC_API_KEY=key")
	out, err := run.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "done after 12 calls") || len(api.bodies) != api.steps+1 {
		t.Fatalf("%d requests, %v:\n%s", len(api.bodies), err, out)
	}
	last := must(cupelchat.Read(api.bodies[api.steps], cupelchat.Anthropic, counter))
	if got := len(last.Items()); got != 2+8+12 {
		t.Errorf("the last request has %d items, want the definition of the tool, the task, 8 messages with calls, and 12 results", got)
	}
}

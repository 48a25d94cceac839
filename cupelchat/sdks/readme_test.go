package sdks_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupelchat"
)

// The README's agent is the program of the folder loop, which runs as it stands.
func TestReadmeLoop(t *testing.T) {
	program := string(must(os.ReadFile("loop/main.go")))
	if lines := strings.Count(program, "\n"); lines > 40 {
		t.Errorf("the program has %d lines, want at most 40", lines)
	}
	if !strings.Contains(string(must(os.ReadFile("../../README.md"))), "```go\n"+program+"```\n") {
		t.Error("README.md does not have the program of loop/main.go")
	}
	api, server := serve()
	defer server.Close()
	run := exec.CommandContext(t.Context(), "go", "run", "-mod=mod", "./loop")
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

package sdks_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupelchat"
)

// The README's agent runs as it stands.
func TestReadmeLoop(t *testing.T) {
	_, program, _ := strings.Cut(string(must(os.ReadFile("../../README.md"))), "```go\npackage main\n")
	program, _, _ = strings.Cut("package main\n"+program, "```\n")
	require.LessOrEqual(t, strings.Count(program, "\n"), 40)
	file := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(file, []byte(program), 0o600))
	api := &server{steps: 8}
	provider := httptest.NewServer(api)
	defer provider.Close()
	run := exec.CommandContext(t.Context(), "go", "run", "-mod=mod", file)
	run.Env = append(os.Environ(), "ANTHROPIC_BASE_URL="+provider.URL, "ANTHROPIC_API_KEY=key")
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "done after 12 calls")
	require.Len(t, api.bodies, api.steps+1)
	last := must(cupelchat.Read(api.bodies[api.steps], cupelchat.Anthropic, counter))
	require.Len(t, last.Items(), 2+8+12, "the definition of the tool, the task, 8 messages with calls, and 12 results")
}

package cupelchat

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadme runs the program of the README, and compares what it prints.
func TestReadme(t *testing.T) {
	data, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(data), "```go\n")
	program, rest, _ := strings.Cut(rest, "```\n\n```\n")
	want, _, _ := strings.Cut(rest, "```\n")
	file := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(file, []byte(program), 0o600))
	if got, err := exec.CommandContext(t.Context(), "go", "run", file).CombinedOutput(); err != nil || string(got) != want {
		t.Errorf("%v; the program prints:\n%s", err, got)
	}
}

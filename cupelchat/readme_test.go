package cupelchat

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadme runs the program of the README, and compares its other pieces of Go
// with the examples that they are cut from. Those under "Not compiled" are in none.
func TestReadme(t *testing.T) {
	data, err := os.ReadFile("README.md")
	require.NoError(t, err)
	readme, _, found := strings.Cut(string(data), "\n## Not compiled\n")
	if !found {
		t.Fatal("nothing is marked as not compiled")
	}
	_, rest, _ := strings.Cut(readme, "```go\n")
	program, rest, _ := strings.Cut(rest, "```\n\n```\n")
	want, rest, _ := strings.Cut(rest, "```\n")
	file := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(file, []byte(program), 0o600))
	if got, err := exec.CommandContext(t.Context(), "go", "run", file).CombinedOutput(); err != nil || string(got) != want {
		t.Errorf("%v; the program prints:\n%s", err, got)
	}

	pieces := regexp.MustCompile("(?s)\\[(sdks/[a-z]+_test\\.go)\\]\\([^)]+\\):\n\n```go\n(.*?)```\n").FindAllStringSubmatch(rest, -1)
	if n := strings.Count(rest, "```go\n"); n != len(pieces) || n < 6 {
		t.Errorf("%d pieces of Go, %d with the file that they are cut from", n, len(pieces))
	}
	indented := regexp.MustCompile(`(?m)^\t*`)
	for _, piece := range pieces {
		example, err := os.ReadFile(piece[1])
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(indented.ReplaceAllString(string(example), ""), indented.ReplaceAllString(piece[2], "")) {
			t.Errorf("%s has no lines like these:\n%s", piece[1], piece[2])
		}
	}
}

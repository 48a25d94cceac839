package cli

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPipe: a pipe that no program writes to yet is named, since opening it waits.
func TestPipe(t *testing.T) {
	folder(t, nil)
	if err := exec.CommandContext(t.Context(), "mkfifo", "pipe").Run(); err != nil {
		t.Skip("mkfifo does not run here: ", err)
	}
	written := make(chan error)
	go func() { written <- os.WriteFile("pipe", []byte(`[{"content": "tea"}]`), 0o600) }()
	code, stdout, stderr := fed(t, "", "pipe", "-b", "9", "-q", "tea")
	require.NoError(t, <-written)
	require.Equal(t, exitOK, code, stderr)
	require.Contains(t, stdout, "tea")
	require.Contains(t, stderr, "cupel: note: pipe is a pipe: waiting for a program that writes to it\n")
}

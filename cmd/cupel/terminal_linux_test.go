package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// openTerminal returns both ends of a pseudo-terminal of a width.
func openTerminal(t *testing.T, columns uint16) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("SKIPPED: what the command does on a terminal is not tested: %v", err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	control := func(request uintptr, argument unsafe.Pointer) {
		t.Helper()
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), request, uintptr(argument)); errno != 0 {
			t.Skipf("SKIPPED: what the command does on a terminal is not tested: %v", errno)
		}
	}
	var unlock, number int32
	control(syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	control(syscall.TIOCGPTN, unsafe.Pointer(&number))
	size := [4]uint16{24, columns}
	control(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("SKIPPED: what the command does on a terminal is not tested: %v", err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return screen, program
}

// onTerminal runs cmd on a terminal and returns what its user sees.
func onTerminal(t *testing.T, cmd *exec.Cmd, columns uint16) string {
	t.Helper()
	screen, program := openTerminal(t, columns)
	if cmd.Stdout == nil {
		cmd.Stdout = program
	}
	cmd.Stderr = program
	require.NoError(t, cmd.Start())
	require.NoError(t, program.Close()) // with the last user of the other end gone, reading ends
	seen, err := io.ReadAll(screen)
	if !errors.Is(err, syscall.EIO) { // the end of a terminal
		require.NoError(t, err)
	}
	require.NoError(t, cmd.Wait(), string(seen))
	return strings.ReplaceAll(string(seen), "\r\n", "\n")
}

// TestOnTerminal: tables are as wide as the terminal, in a pipe beside it too, and what it
// would obey is escaped.
func TestOnTerminal(t *testing.T) {
	const item = `{"content": "\u001b[31m%s", "tokens": 5}` + "\n"
	for columns, want := range map[uint16]int{64: 64, 200: 200} {
		cmd := command(t, "explain", "-i", "evil.jsonl", "-p", "rag", "-b", "20")
		write(t, filepath.Join(cmd.Dir, "evil.jsonl"), fmt.Sprintf(item, strings.Repeat("wide ", 100)))
		seen := onTerminal(t, cmd, columns)
		widest := 0
		for line := range strings.Lines(seen) {
			if strings.Contains(line, "wide") {
				widest = utf8.RuneCountInString(line) - 1
			}
		}
		require.Equal(t, want, widest, seen)
		require.NotContains(t, seen, "\x1b")
		cmd = command(t, "explain", "-i", "evil.jsonl", "-p", "rag", "-b", "20")
		write(t, filepath.Join(cmd.Dir, "evil.jsonl"), fmt.Sprintf(item, strings.Repeat("wide ", 100)))
		var piped strings.Builder
		cmd.Stdout = &piped
		notes := onTerminal(t, cmd, columns)
		require.Equal(t, seen, piped.String()+notes)
	}
	for _, as := range []string{"text", "json"} {
		cmd := command(t, "run", "-i", "evil.jsonl", "-p", "rag", "-b", "20", "--as", as)
		write(t, filepath.Join(cmd.Dir, "evil.jsonl"), fmt.Sprintf(item, "red"))
		require.NotContains(t, onTerminal(t, cmd, 64), "\x1b")
	}
	cmd := command(t, "run", "-i", "evil.jsonl", "-p", "rag", "-b", "20")
	write(t, filepath.Join(cmd.Dir, "evil.jsonl"), fmt.Sprintf(item, "red"))
	_, stdout, _ := finished(t, cmd)
	require.Contains(t, stdout, "\x1b[31mred", "a pipe gets what there is")
}

// TestSecondInterrupt: a process whose standard error is a full pipe cannot say that it
// was interrupted. The next interrupt ends it.
func TestSecondInterrupt(t *testing.T) {
	unread, full, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = unread.Close() })
	conn, err := full.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, conn.Write(func(fd uintptr) bool {
		for err == nil {
			_, err = syscall.Write(int(fd), make([]byte, 4096))
		}
		return true
	}))
	require.ErrorIs(t, err, syscall.EAGAIN)
	cmd := command(t, "explain", "-i", "-", "-p", "rag", "-b", "20")
	cmd.Stderr = full
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.WriteString(in, manyItems())
	require.NoError(t, err)
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	for cmd.Process.Signal(os.Interrupt) == nil {
		for range 1000 {
			runtime.Gosched()
		}
	}
	require.Error(t, <-ended)
	require.Equal(t, -1, cmd.ProcessState.ExitCode(), "killed by a signal")
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
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
	cmd.Stdout, cmd.Stderr = program, program
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// With the last user of the other end gone, reading ends.
	if err := program.Close(); err != nil {
		t.Fatal(err)
	}
	seen, err := io.ReadAll(screen)
	if err != nil && !errors.Is(err, syscall.EIO) { // the end of a terminal
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, seen)
	}
	return strings.ReplaceAll(string(seen), "\r\n", "\n")
}

func TestOnTerminal(t *testing.T) {
	explain := append([]string{"explain", "-b", "20"}, selecting...)
	for _, test := range []struct {
		name, why string
		env       []string
		args      []string
		colour    bool
		bar       int // columns of the bar, brackets included
	}{
		{"terminal", "colour, as wide as the terminal is", []string{"TERM=xterm"}, explain, true, 64},
		{"no colour", "its user does not want it", []string{"TERM=xterm", "NO_COLOR=1"}, explain, false, 64},
		{"empty", "only a value counts", []string{"TERM=xterm", "NO_COLOR="}, explain, true, 64},
		{"dumb", "the terminal cannot", []string{"TERM=dumb"}, explain, false, 64},
		{"flag", "the flag has the last word", []string{"TERM=xterm", "NO_COLOR=1"}, append(explain, "--color", "always"), true, 64},
		{"never", "the flag has the last word", []string{"TERM=xterm"}, append(explain, "--color", "never"), false, 64},
		{"columns", "the environment knows better", []string{"TERM=xterm", "COLUMNS=50"}, append(explain, "--color", "never"), false, 50},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := command(t, test.args...)
			cmd.Env = append(cmd.Env, test.env...)
			seen := onTerminal(t, cmd, 64)
			if got := strings.Contains(seen, "\x1b["); got != test.colour {
				t.Errorf("colour is %t: %s\n%q", got, test.why, seen)
			}
			if test.colour {
				return
			}
			for line := range strings.Lines(seen) {
				if strings.HasPrefix(line, "[") && len(line)-1 != test.bar {
					t.Errorf("the bar has %d columns, want %d: %s", len(line)-1, test.bar, test.why)
				}
			}
		})
	}
}

// TestBusy: on a terminal, waiting says for what and for how long.
func TestBusy(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes more than a second")
	}
	cmd := command(t, "run", "-i", "-", "-p", "rag", "-b", "20")
	cmd.Env = append(cmd.Env, "TERM=xterm")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(1500*time.Millisecond, func() {
		_, _ = io.WriteString(in, desk)
		_ = in.Close()
	})
	if seen := onTerminal(t, cmd, 64); !strings.Contains(seen, "\rreading standard input: 1 s\r\x1b[K") || !strings.Contains(seen, "What is new?") {
		t.Errorf("its user sees %q", seen)
	}
}

func TestPipesArePlain(t *testing.T) {
	cmd := command(t, append([]string{"explain", "-b", "20"}, selecting...)...)
	cmd.Env = append(cmd.Env, "TERM=xterm")
	if code, stdout, _ := finished(t, cmd); code != 0 || strings.Contains(stdout, "\x1b") {
		t.Errorf("exit code %d: %q", code, stdout)
	}
}

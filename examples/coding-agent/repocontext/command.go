package repocontext

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"
)

// The most that is read of a command's output, in bytes.
const maxOutput = 128 << 20

// command runs a program in a folder until it ends or ctx is done, and returns
// what it printed.
func command(ctx context.Context, dir string, env []string, name string, args ...string) (stdout, stderr string, err error) {
	var out, problems limited
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdout, cmd.Stderr = &out, &problems
	// The go command ends its children when it is interrupted, but not when it
	// is killed.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 2 * time.Second
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("%s took too long: %w", name, context.Cause(ctx))
	case errors.Is(err, exec.ErrNotFound):
		err = fmt.Errorf("%s is not installed", name)
	case out.overflow || problems.overflow:
		err = fmt.Errorf("%s printed more than %d MiB", name, maxOutput>>20)
	}
	return out.String(), problems.String(), err
}

// limited is a buffer that stops growing at maxOutput.
type limited struct {
	bytes.Buffer
	overflow bool
}

// Write refuses what is too much, which ends the command that prints it.
func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxOutput {
		l.overflow = true
		return 0, errors.New("too much output")
	}
	return l.Buffer.Write(p)
}

// firstLineOr returns the first line of what a command complained about, or
// the error when it did not.
func firstLineOr(text string, err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if line == "" {
		return err.Error()
	}
	return shorten(printable(line))
}

// The most that a title, a subject or a message is shown of, in bytes.
const maxTitle = 120

// shorten cuts a line that is too long for a title.
func shorten(line string) string {
	if len(line) <= maxTitle {
		return line
	}
	end := maxTitle
	for end > 0 && !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end] + "…"
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// Command cupel chooses a context window from candidates and shows why each
// candidate is included or dropped.
//
//	cupel run --items chat.json --policy chat --budget 8000
//	cupel explain --items chat.json --policy chat --budget 8000
//
// See its README, or cupel --help.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/wollax/cupel-go/cmd/cupel/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt kills the process
	os.Exit(cli.Main(ctx, os.Args[1:], cli.Environment{
		Stdin:  interruptible{ctx, os.Stdin},
		Stdout: os.Stdout,
		Stderr: os.Stderr,
		Getenv: os.Getenv,
		Clock:  time.Now,
	}))
}

// interruptible is a reader whose reads end with the context. Otherwise a read
// that waits for input from a terminal would not notice an interrupt.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

// Read reads in another goroutine. After an interrupt that goroutine stays, since
// the process is about to end.
func (i interruptible) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	done := make(chan result)
	buffer := make([]byte, len(p)) // p is the caller's again after an interrupt
	go func() {
		n, err := i.r.Read(buffer)
		done <- result{n, err}
	}()
	select {
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	case r := <-done:
		return copy(p, buffer[:r.n]), r.err
	}
}

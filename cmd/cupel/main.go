// Command cupel chooses a context window from candidates, and shows why each of
// them is in or out.
//
//	cupel run --items chat.json --policy chat --budget 8000
//	cupel explain --items chat.json --policy chat --budget 8000
//
// See its README, or cupel --help.
package main

import (
	"context"
	"os"
	"os/signal"
	"time"

	"github.com/wollax/cupel-go/cmd/cupel/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := cli.Main(ctx, os.Args[1:], cli.Environment{
		Stdin:  os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
		Getenv: os.Getenv,
		Clock:  time.Now,
	})
	stop()
	os.Exit(code)
}

// Command otel-jaeger has a small conversation with a coding agent about its
// own source, in a session that keeps what the provider's cache has. It shows
// each turn as a trace: as a tree in the terminal, and in Jaeger if the standard
// OpenTelemetry variables name one.
//
//	go run ./examples/otel-jaeger
//	OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 go run ./examples/otel-jaeger
//
// Its metrics fill the dashboard in its folder grafana. See its README for the
// flags, and for what to look at in Jaeger.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/wollax/cupel-go/cupel/pipeline"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailure     = 1 // the conversation failed
	exitUsage       = 2 // the flags or the environment are invalid
	exitUndelivered = 3 // the conversation succeeded, but not all traces or metrics arrived
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main with its environment as arguments, for tests.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("otel-jaeger", flag.ContinueOnError)
	flags.SetOutput(stderr)
	asJSON := flags.Bool("json", false, "print the spans as JSON, one per line")
	every := flags.Duration("every", 0, "repeat the conversation every `interval` until interrupted (default: once)")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitOK
	} else if err != nil || flags.NArg() > 0 {
		return exitUsage
	}
	t, err := newTelemetry(ctx, *asJSON, stdout)
	if err != nil {
		fmt.Fprintln(stderr, "otel-jaeger:", err)
		return exitUsage
	}
	code := exitOK
	for err = converse(ctx, t); err == nil && *every > 0; err = converse(ctx, t) {
		select {
		case <-ctx.Done():
		case <-time.After(*every):
		}
	}
	if err != nil && ctx.Err() == nil { // an interrupt is how -every ends
		fmt.Fprintln(stderr, "otel-jaeger:", err)
		code = exitFailure
	}
	// Also after a failure: the spans recorded so far show it.
	switch err := t.shutdown(ctx); {
	case err != nil:
		fmt.Fprintln(stderr, "otel-jaeger:", err)
		return max(code, exitUndelivered)
	case t.sending != "":
		fmt.Fprintf(stderr, "otel-jaeger: all spans and metrics arrived at%s\n", t.sending)
	}
	return code
}

// converse takes the turns and prints each as it ends.
func converse(ctx context.Context, t *telemetry) error {
	agent, err := newAgent(t)
	if err != nil {
		return err
	}
	for i, turn := range conversation() {
		err := agent.take(ctx, i+1, turn)
		_, tooLarge := errors.AsType[*pipeline.PinnedExceedsBudgetError](err)
		if tooLarge != turn.tooLong || err != nil && !tooLarge {
			return fmt.Errorf("turn %d: %w", i+1, errors.Join(err, ctx.Err()))
		}
		t.print(fmt.Sprintf("Turn %d: %s", i+1, turn.title))
	}
	return nil
}

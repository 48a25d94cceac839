// Command otel-jaeger has a small conversation with a coding agent about its
// own source, in a session that keeps what the provider's cache has. It shows
// each turn as a trace: as a waterfall in the terminal, and in Jaeger if the
// standard OpenTelemetry variables name one.
//
//	go run ./examples/otel-jaeger
//	OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 go run ./examples/otel-jaeger
//
// Its metrics fill the dashboard in its folder grafana.
//
// See its README for the flags, and for what to look at in Jaeger.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelotel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
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
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// settings are the values of the flags.
type settings struct {
	verbosity  cupelotel.Verbosity
	eventLimit int
	width      int
	colors     palette
	svg        string
	json, step bool
	every      time.Duration // 0: one conversation
}

// errDeliberate says that the example does not show what it is there to show.
var errDeliberate = errors.New("the turn that was to fail did not")

// run is main with its environment as arguments, for tests.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	complain := func(err error) { fmt.Fprintf(stderr, "otel-jaeger: %v\n", err) }
	s, err := parse(args, stdout, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	var to, metricsTo target
	if err == nil {
		to, err = findTarget(os.Getenv, traces)
	}
	if err == nil {
		metricsTo, err = findTarget(os.Getenv, metrics)
	}
	if err != nil {
		complain(err)
		return exitUsage
	}
	t, err := newTelemetry(ctx, to, metricsTo, s.eventLimit)
	if err != nil {
		complain(err)
		return exitUsage
	}
	if to.url != "" {
		fmt.Fprintf(stderr, "otel-jaeger: sending the traces to %s (%s)\n", to.url, to.variable)
	}
	if metricsTo.url != "" {
		fmt.Fprintf(stderr, "otel-jaeger: sending the metrics to %s (%s)\n", metricsTo.url, metricsTo.variable)
	}
	code := exitOK
	if err := s.converseAgain(ctx, t, stdin, stdout, stderr); err != nil {
		complain(err)
		code = exitFailure
	}
	// Also after a failure: the spans recorded so far show it.
	if err := t.shutdown(ctx); err != nil {
		complain(err)
		if code == exitOK {
			code = exitUndelivered
		}
	} else if to.url != "" {
		fmt.Fprintf(stderr, "otel-jaeger: all %d spans arrived\n", t.recorder.total())
	}
	return code
}

// parse reads the flags. It prints the usage on stderr if asked to.
func parse(args []string, stdout, stderr io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("otel-jaeger", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are printed once, by run
	verbosity := flags.String("verbosity", cupelotel.VerbosityFull.String(), "what the spans show: StageOnly, StageAndExclusions or Full")
	flags.IntVar(&s.eventLimit, "event-limit", sdktrace.NewSpanLimits().EventCountLimit,
		"maximum number of `events` per span, for cupelotel and the SDK; negative for no limit")
	flags.IntVar(&s.width, "width", 0, "`columns` of the output (default $COLUMNS, or 80 in a terminal and 100 elsewhere)")
	flags.StringVar(&s.svg, "svg", "", "also write a picture of the waterfalls to this `file`")
	flags.BoolVar(&s.json, "json", false, "print the spans as JSON, a line for each turn")
	flags.DurationVar(&s.every, "every", 0, "have the conversation again each `time`, until interrupted (default once)")
	flags.BoolVar(&s.step, "step", false, "wait for the return key before each turn but the first")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(stderr, "Usage: otel-jaeger [flags]\n\nShows how a coding agent's context is selected, as traces.")
			flags.SetOutput(stderr)
			flags.PrintDefaults()
		}
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	known := false
	for _, v := range []cupelotel.Verbosity{cupelotel.VerbosityStageOnly, cupelotel.VerbosityStageAndExclusions, cupelotel.VerbosityFull} {
		if strings.EqualFold(*verbosity, v.String()) {
			s.verbosity, known = v, true
		}
	}
	if !known {
		return s, fmt.Errorf("-verbosity: must be StageOnly, StageAndExclusions or Full, got %s", *verbosity)
	}
	if s.width <= 0 {
		s.width, _ = strconv.Atoi(os.Getenv("COLUMNS"))
	}
	if s.width <= 0 {
		s.width = 100
		if isTerminal(stdout) {
			s.width = 80 // what every terminal has; longer lines would be broken anywhere
		}
	}
	s.width = min(max(s.width, minWidth), 1000)
	if isTerminal(stdout) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
		s.colors = colors
	}
	return s, nil
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// converseAgain has the conversation once, or until it is interrupted.
func (s settings) converseAgain(ctx context.Context, t *telemetry, stdin io.Reader, stdout, stderr io.Writer) error {
	for {
		err := s.converse(ctx, t, stdin, stdout, stderr)
		if s.every <= 0 || err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done(): // that is how it ends
			return nil
		case <-time.After(s.every):
		}
	}
}

// converse takes the turns and prints each as it ends.
func (s settings) converse(ctx context.Context, t *telemetry, stdin io.Reader, stdout, stderr io.Writer) error {
	items, err := candidates()
	if err != nil {
		return err
	}
	collector := observe.Multi(
		cupelotel.NewTraceCollector(
			cupelotel.WithTracerProvider(t.tracing),
			cupelotel.WithVerbosity(s.verbosity),
			cupelotel.WithEventLimit(s.eventLimit)),
		cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(t.metrics)),
	)
	agent, err := newAgent(t.tracing.Tracer("otel-jaeger"), collector, items, time.Now())
	if err != nil {
		return err
	}

	turns := conversation()
	var sum totals
	lines := bufio.NewScanner(stdin)
	var drawn []waterfall
	for i, turn := range turns {
		if i > 0 && s.step {
			fmt.Fprintf(stderr, "otel-jaeger: return key for turn %d: ", i+1)
			if !lines.Scan() {
				return errors.Join(errors.New("the input ended before the conversation"), lines.Err())
			}
		}
		result := agent.take(ctx, i+1, turn)
		_, tooLarge := errors.AsType[*pipeline.PinnedExceedsBudgetError](result.err)
		switch {
		case turn.tooLong && result.err == nil:
			return errDeliberate
		case result.err != nil && !(turn.tooLong && tooLarge):
			return fmt.Errorf("turn %d: %w", i+1, result.err)
		}
		spans := t.recorder.take()
		counts, err := t.takeExcluded(ctx)
		if err != nil {
			return err
		}
		if s.json {
			err = json.NewEncoder(stdout).Encode(newRecord(i+1, turn, result, counts, spans))
		} else {
			w := newWaterfall(heading(i+1, len(turns), turn), facts(result, spans), spans)
			drawn = append(drawn, w)
			_, err = io.WriteString(stdout, w.text(s.width, s.colors)+"\n")
		}
		if err != nil {
			return err
		}
		sum.add(result)
	}
	if !s.json {
		for _, line := range wrap(sum.String(), s.width) {
			fmt.Fprintln(stdout, line)
		}
	}
	if s.svg == "" {
		return nil
	}
	return os.WriteFile(s.svg, []byte(svg("make trace", drawn)), 0o644)
}

func heading(number, of int, t turn) string {
	return fmt.Sprintf("Turn %d of %d: %s", number, of, t.title)
}

// facts says in one line what came of a turn, and where to find it in Jaeger.
func facts(a answer, spans []sdktrace.ReadOnlySpan) string {
	items, tokens := a.selected()
	what := fmt.Sprintf("%s items, %s sent, %s of %s tokens", thousands(a.items), thousands(items), thousands(tokens), thousands(a.target))
	if a.err != nil {
		what = fmt.Sprintf("%s items, no window of %s tokens", thousands(a.items), thousands(a.target))
	}
	if len(spans) == 0 {
		return what + "; not sampled"
	}
	return what + "; trace " + spans[0].SpanContext().TraceID().String()
}

// totals adds up what the turns cost, in units of the price of a token of plain input.
type totals struct {
	turns, breaks, kept, read int
	cost, without             float64
}

func (t *totals) add(a answer) {
	if a.turn == nil {
		return
	}
	t.turns++
	if a.turn.Break != nil {
		t.breaks++
	}
	t.kept += a.turn.KeptTokens
	t.read += a.turn.Cache.Read
	t.cost += a.turn.Cache.Cost
	t.without += a.turn.Cache.Without
}

func (t *totals) String() string {
	return fmt.Sprintf("%d turns, %d breaks: %s tokens were sent as before, %s of them from the cache; all cost as much as %s tokens of plain input, "+
		"sending everything each time %s.",
		t.turns, t.breaks, thousands(t.kept), thousands(t.read), thousands(int(t.cost+0.5)), thousands(int(t.without+0.5)))
}

func newRecord(number int, t turn, a answer, counts excluded, spans []sdktrace.ReadOnlySpan) record {
	items, tokens := a.selected()
	r := record{
		Turn: number, Title: t.title, Candidates: a.items,
		Selected: items, SelectedTokens: tokens, TargetTokens: a.target,
		Excluded: counts, Spans: newSpans(spans),
	}
	if a.turn != nil {
		r.KeptTokens = a.turn.KeptTokens
		if a.turn.Break != nil {
			r.Break = a.turn.Break.Reason.String()
		}
	}
	if a.err != nil {
		r.Error = a.err.Error()
	}
	return r
}

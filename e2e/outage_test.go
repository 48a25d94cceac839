package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelotel"
)

// selector is a program that selects, and sends what it records at once.
type selector struct {
	pipeline *pipeline.Pipeline
	items    []*cupel.ContextItem
	want     []*cupel.ContextItem // the window without an observer
	provider *sdktrace.TracerProvider
	recorded bytes.Buffer
	lost     chan error
}

func newSelector(t *testing.T, endpoint string) *selector {
	t.Helper()
	s := &selector{pipeline: newPipeline(t), items: newItems(t, 50), lost: make(chan error, 100)}
	var err error
	s.want, err = s.pipeline.Run(t.Context(), s.items, newBudget(t, 500))
	require.NoError(t, err)
	previous := otel.GetErrorHandler()
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { s.lost <- err }))
	t.Cleanup(func() { otel.SetErrorHandler(previous) })
	printer, err := stdouttrace.New(stdouttrace.WithWriter(&s.recorded))
	require.NoError(t, err)
	s.provider = newProvider(t, endpoint, sdktrace.WithSyncer(printer))
	return s
}

// run selects, expects the window that comes without an observer, and returns the
// spans.
func (s *selector) run(t *testing.T) []span {
	t.Helper()
	s.recorded.Reset()
	collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(s.provider), cupelotel.WithVerbosity(cupelotel.VerbosityFull))
	got, err := s.pipeline.Run(t.Context(), s.items, newBudget(t, 500), pipeline.WithTrace(collector))
	require.NoError(t, err)
	require.True(t, slices.Equal(got, s.want), "a run selected %d items; want %d, as without an observer", len(got), len(s.want))
	var spans []span
	for lines := bufio.NewReader(&s.recorded); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return spans
		}
		recorded, err := readSpan(line)
		require.NoError(t, err)
		spans = append(spans, recorded)
	}
}

// arrives expects Jaeger to have the spans.
func (s *selector) arrives(t *testing.T, j *jaeger, spans []span) {
	t.Helper()
	assert.Equal(t, describe(spans), describe(j.trace(t, spans[0].TraceID, len(spans))))
}

// isLost waits until the loss of spans is reported.
func (s *selector) isLost(t *testing.T) {
	t.Helper()
	eventually(t, "the loss of the spans is reported", func() error {
		if len(s.lost) == 0 {
			return errors.New("no error")
		}
		return nil
	})
}

// TestJaegerComesLate starts selecting before Jaeger.
func TestJaegerComesLate(t *testing.T) {
	j := newJaeger(t)
	s := newSelector(t, j.endpoint())
	s.run(t)
	s.isLost(t)
	j.start(t)
	s.arrives(t, j, s.run(t))
}

// TestNoOneListens has the example send its spans to a Jaeger that is not up.
func TestNoOneListens(t *testing.T) {
	j := newJaeger(t)
	e := startExample(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+j.endpoint())
	for range turns {
		r := e.next(t)
		checkTree(t, r, r.Spans)
	}
	code, stderr := e.end(t)
	assert.Equal(t, 3, code)
	for _, text := range []string{"not all spans and metrics arrived at " + j.endpoint(), "connection refused", "docker compose up -d jaeger", "port 4318"} {
		assert.Contains(t, stderr, text)
	}
}

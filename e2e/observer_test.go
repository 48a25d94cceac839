package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelotel"
)

// newPipeline selects the items of the highest hints.
func newPipeline(t *testing.T) *pipeline.Pipeline {
	t.Helper()
	p, err := pipeline.New(pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}})
	require.NoError(t, err)
	return p
}

// newItems returns n items of 1 to n tokens, all of about the same score.
func newItems(t *testing.T, n int) []*cupel.ContextItem {
	t.Helper()
	items := make([]*cupel.ContextItem, n)
	for i := range items {
		item, err := cupel.NewContextItem(fmt.Sprint("item ", i), i+1, cupel.WithFutureRelevanceHint(0.5+float64(i%7)/100))
		require.NoError(t, err)
		items[i] = item
	}
	return items
}

func newBudget(t *testing.T, tokens int) cupel.ContextBudget {
	t.Helper()
	budget, err := cupel.NewContextBudget(tokens, tokens)
	require.NoError(t, err)
	return budget
}

// newProvider sends what it records to an endpoint.
func newProvider(t *testing.T, endpoint string, opts ...sdktrace.TracerProviderOption) *sdktrace.TracerProvider {
	t.Helper()
	exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithTimeout(time.Minute), otlptracehttp.WithEndpointURL(endpoint+"/v1/traces"))
	require.NoError(t, err)
	return sdktrace.NewTracerProvider(append(opts,
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "e2e"))),
		sdktrace.WithBatcher(exporter, sdktrace.WithBatchTimeout(50*time.Millisecond)))...)
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// TestCollectorThatHangs observes runs with a receiver that accepts connections
// and never answers, the worst case for an exporter.
func TestCollectorThatHangs(t *testing.T) {
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	accepted := make(chan net.Conn, 100)
	go func() {
		defer close(accepted)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	failures := make(chan error, 100)
	previous := otel.GetErrorHandler()
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { failures <- err }))
	t.Cleanup(func() { otel.SetErrorHandler(previous) })

	provider := newProvider(t, "http://"+listener.Addr().String())
	collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(cupelotel.VerbosityFull))
	p, items, budget := newPipeline(t), newItems(t, 50), newBudget(t, 500)
	want, err := p.Run(t.Context(), items, budget)
	require.NoError(t, err)
	// More spans than the SDK's queue holds, which is 2048.
	const runs = 1000
	for range runs { // a single run that waited for the exporter would take a minute
		got, err := p.Run(t.Context(), items, budget, pipeline.WithTrace(collector))
		require.NoError(t, err)
		require.True(t, slices.Equal(got, want), "a run selected %d items; want %d, as without an observer", len(got), len(want))
	}

	conn := <-accepted // the exporter was there, waiting
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	// The SDK tells the caller or the error handler, as it likes.
	if err := provider.Shutdown(ctx); err == nil && len(failures) == 0 {
		t.Error("the loss of the spans is not reported")
	}
	assert.NoError(t, errors.Join(conn.Close(), listener.Close()))
	for conn := range accepted {
		_ = conn.Close() // the exporter may have closed it
	}
}

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// newItems returns n items of 1 to n tokens, all of about the same score.
func newItems(t *testing.T, n int) []*cupel.ContextItem {
	t.Helper()
	items := make([]*cupel.ContextItem, n)
	for i := range items {
		item, err := cupel.NewContextItem(fmt.Sprint("item ", i), i+1, cupel.WithFutureRelevanceHint(0.5+float64(i%7)/100))
		if err != nil {
			t.Fatal(err)
		}
		items[i] = item
	}
	return items
}

func newBudget(t *testing.T, tokens int) cupel.ContextBudget {
	t.Helper()
	budget, err := cupel.NewContextBudget(tokens, tokens)
	if err != nil {
		t.Fatal(err)
	}
	return budget
}

// newProvider sends what it records to an endpoint.
func newProvider(t *testing.T, endpoint string, eventLimit int, opts ...sdktrace.TracerProviderOption) *sdktrace.TracerProvider {
	t.Helper()
	exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithTimeout(time.Minute), otlptracehttp.WithEndpointURL(endpoint+"/v1/traces"))
	if err != nil {
		t.Fatal(err)
	}
	limits := sdktrace.NewSpanLimits()
	limits.EventCountLimit = eventLimit
	return sdktrace.NewTracerProvider(append(opts,
		sdktrace.WithRawSpanLimits(limits),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "e2e"))),
		sdktrace.WithBatcher(exporter, sdktrace.WithBatchTimeout(50*time.Millisecond)))...)
}

// TestTenThousandItems sends a Full run whose place span alone has thousands of
// events, and finds every one of them in Jaeger once both limits are raised.
func TestTenThousandItems(t *testing.T) {
	j := startJaeger(t)
	const n = 10_000
	items, budget := newItems(t, n), newBudget(t, 20_000_000) // of 50,005,000 tokens
	provider := newProvider(t, j.endpoint(), -1)
	ctx, caller := provider.Tracer("e2e").Start(t.Context(), "caller")
	collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider),
		cupelotel.WithVerbosity(cupelotel.VerbosityFull), cupelotel.WithEventLimit(-1))
	window, err := newPipeline(t).Run(ctx, items, budget, pipeline.WithTrace(collector))
	caller.End()
	if err != nil {
		t.Fatal(err)
	}
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}

	var in, out []int // tokens, which tell the items apart
	for _, s := range j.trace(t, caller.SpanContext().TraceID().String(), 7) {
		for _, e := range s.Events {
			attrs := attributesOf(e.Attributes)
			switch e.Name {
			case "cupel.item.included":
				in = append(in, number(t, strings.TrimPrefix(attrs["cupel.item.tokens"], "int ")))
			case "cupel.exclusion":
				out = append(out, number(t, strings.TrimPrefix(attrs["cupel.exclusion.item_tokens"], "int ")))
			}
		}
	}
	var want []int
	for _, item := range window {
		want = append(want, item.Tokens())
	}
	if !slices.Equal(in, want) {
		t.Errorf("Jaeger has %d items of the window in an order of its own, or others; want %d", len(in), len(want))
	}
	all := slices.Sorted(slices.Values(slices.Concat(in, out)))
	if len(all) != n || len(slices.Compact(all)) != n || len(in) < 1000 || len(out) < 1000 {
		t.Errorf("%d items are in and %d out, %d different ones; want all %d", len(in), len(out), len(slices.Compact(all)), n)
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCollectorThatHangs observes runs with a receiver that accepts connections
// and never answers, the worst case for an exporter.
func TestCollectorThatHangs(t *testing.T) {
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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

	provider := newProvider(t, "http://"+listener.Addr().String(), 128)
	collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(cupelotel.VerbosityFull))
	p, items, budget := newPipeline(t), newItems(t, 50), newBudget(t, 500)
	want, err := p.Run(t.Context(), items, budget)
	if err != nil {
		t.Fatal(err)
	}
	// More spans than the SDK's queue holds, which is 2048.
	const runs = 1000
	for range runs { // a single run that waited for the exporter would take a minute
		got, err := p.Run(t.Context(), items, budget, pipeline.WithTrace(collector))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("a run selected %d items, %v; want %d, as without an observer", len(got), err, len(want))
		}
	}

	conn := <-accepted // the exporter was there, waiting
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	// The SDK tells the caller or the error handler, as it likes.
	if err := provider.Shutdown(ctx); err == nil && len(failures) == 0 {
		t.Error("the loss of the spans is not reported")
	}
	if err := errors.Join(conn.Close(), listener.Close()); err != nil {
		t.Error(err)
	}
	for conn := range accepted {
		_ = conn.Close() // the exporter may have closed it
	}
}

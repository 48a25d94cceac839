package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// telemetry is the OpenTelemetry SDK as this program sets it up: spans go to the
// terminal, and spans and metrics to where the environment says.
type telemetry struct {
	tracing *sdktrace.TracerProvider
	metrics *sdkmetric.MeterProvider
	ended   *tracetest.SpanRecorder
	tree    io.Writer  // where to print them
	sending string     // where to
	wrong   chan error // the first thing that went wrong on the way
}

func newTelemetry(ctx context.Context, asJSON bool, stdout io.Writer) (*telemetry, error) {
	// A later option wins: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES. Without
	// an instance, two processes would write to the same series of Prometheus.
	res, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "cupel-coding-agent"), attribute.String("service.instance.id", rand.Text())),
		resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	t := &telemetry{ended: tracetest.NewSpanRecorder(), tree: stdout, wrong: make(chan error, 1)}
	// The SDK reports no error: it hands those of its exporters to this function,
	// and Shutdown returns nil all the same.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		select {
		case t.wrong <- err:
		default:
		}
	}))
	traceOpts := []sdktrace.TracerProviderOption{sdktrace.WithResource(res), sdktrace.WithSpanProcessor(t.ended)}
	metricOpts := []sdkmetric.Option{sdkmetric.WithResource(res)}
	if asJSON {
		printer, err := stdouttrace.New(stdouttrace.WithWriter(stdout))
		if err != nil {
			return nil, err
		}
		t.tree = io.Discard
		traceOpts = append(traceOpts, sdktrace.WithSyncer(printer))
	}
	if to := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT")); to != "" {
		exporter, err := otlptracehttp.New(ctx) // which reads the variables
		if err != nil {
			return nil, err
		}
		t.sending += " " + to
		traceOpts = append(traceOpts, sdktrace.WithBatcher(exporter))
	}
	if to := os.Getenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"); to != "" { // of its own: Jaeger takes none
		exporter, err := otlpmetrichttp.New(ctx)
		if err != nil {
			return nil, err
		}
		t.sending += " " + to
		metricOpts = append(metricOpts, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)))
	}
	t.tracing, t.metrics = sdktrace.NewTracerProvider(traceOpts...), sdkmetric.NewMeterProvider(metricOpts...)
	return t, nil
}

// shutdown sends what has not been sent, and returns an error that says what to
// check when anything did not arrive.
func (t *telemetry) shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := errors.Join(t.tracing.Shutdown(ctx), t.metrics.Shutdown(ctx))
	select {
	case err = <-t.wrong:
	default:
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("not all spans and metrics arrived at%s: %w\n"+
		"Is Jaeger up? docker compose up -d jaeger\n"+
		"Is the address right? OTEL_EXPORTER_OTLP_ENDPOINT sets it, with port 4318", t.sending, err)
}

// print prints the spans that have ended since it was called last.
func (t *telemetry) print(title string) {
	var b strings.Builder
	writeTree(&b, t.ended.Ended(), trace.SpanID{}, "  ")
	t.ended.Reset()
	fmt.Fprintf(t.tree, "%s\n%s\n", title, &b)
}

// writeTree writes the spans below a parent, a line each.
func writeTree(b *strings.Builder, spans []sdktrace.ReadOnlySpan, parent trace.SpanID, indent string) {
	for _, s := range spans {
		if s.Parent().SpanID() == parent {
			took := s.EndTime().Sub(s.StartTime()).Round(time.Microsecond)
			fmt.Fprintf(b, "%-38s %9v  %s\n", indent+s.Name(), took, details(s))
			writeTree(b, spans, s.SpanContext().SpanID(), indent+"  ")
		}
	}
}

// shown are the attributes that the tree shows, as it calls them.
var shown = map[attribute.Key]string{
	"cupel.stage.item_count_in": "in", "cupel.stage.item_count_out": "out", "cupel.exclusion.reasons": "left out for",
	"cupel.session.tokens": "tokens", "cupel.session.kept_tokens": "kept", "cupel.session.break_reason": "break",
	"cupel.session.cost": "cost", "cupel.session.cost_without": "without a session", "error.type": "error",
}

// details are what the tree shows of a span.
func details(s sdktrace.ReadOnlySpan) string {
	var list []string
	for _, a := range s.Attributes() {
		name, value := shown[a.Key], a.Value.String()
		if a.Value.Type() == attribute.STRINGSLICE {
			value = strings.Join(a.Value.AsStringSlice(), " ")
		}
		if name != "" {
			list = append(list, name+" "+value)
		}
	}
	return strings.Join(list, ", ")
}

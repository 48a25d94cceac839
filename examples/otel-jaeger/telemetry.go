package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// serviceName is what Jaeger lists the example under, unless the environment
// says otherwise.
const serviceName = "cupel-coding-agent"

// flushTimeout is how long the end of the program waits for spans that are
// still on their way.
const flushTimeout = 10 * time.Second

// target is where the environment says to send traces or metrics.
type target struct {
	url      string // of OTLP over HTTP, without a password; empty: nowhere
	variable string // that names it
}

// The signals, as in the names of OpenTelemetry's variables.
const (
	traces  = "TRACES"
	metrics = "METRICS"
)

// findTarget reads the variables that OpenTelemetry gives every program. The
// exporter reads them as well, but goes on with a default where one makes no
// sense, and traces that go elsewhere are hard to find. Metrics go where all
// signals go only if OTEL_METRICS_EXPORTER says so: Jaeger takes none.
func findTarget(getenv func(string) string, signal string) (target, error) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	var to target
	exporter := "OTEL_" + signal + "_EXPORTER"
	names := []string{"OTEL_EXPORTER_OTLP_" + signal + "_ENDPOINT", endpoint}
	switch name := getenv(exporter); name {
	case "none":
		return to, nil
	case "":
		if signal == metrics {
			names = names[:1]
		}
	case "otlp":
	default:
		return to, fmt.Errorf("%s=%s: must be otlp or none in this example", exporter, name)
	}
	for _, name := range names {
		value := getenv(name)
		if value == "" {
			continue
		}
		u, err := url.Parse(value)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return to, fmt.Errorf("%s=%s is not a URL such as http://127.0.0.1:4318", name, value)
		}
		if name == endpoint { // that of all signals
			u = u.JoinPath("v1", strings.ToLower(signal))
		}
		to = target{u.Redacted(), name}
		break
	}
	if to.url == "" {
		return to, nil
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_" + signal + "_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		switch value := getenv(name); value {
		case "":
			continue
		case "http/protobuf":
			return to, nil
		default:
			return to, fmt.Errorf("%s=%s: must be http/protobuf in this example, which is port 4318 of Jaeger", name, value)
		}
	}
	return to, nil
}

// telemetry is the OpenTelemetry SDK as this program sets it up: every span goes
// to the terminal, and to a collector when there is one. Metrics are counted for
// the terminal, and sent when there is a target.
type telemetry struct {
	tracing  *sdktrace.TracerProvider
	metrics  *sdkmetric.MeterProvider
	recorder *recorder
	reader   *sdkmetric.ManualReader
	delivery *delivery        // nil: nowhere to send spans to
	measured *metricsDelivery // nil: nowhere to send metrics to
}

// newTelemetry sets up tracing and metrics. eventLimit is the SDK's limit of
// events a span; negative for none.
func newTelemetry(ctx context.Context, to, metricsTo target, eventLimit int) (*telemetry, error) {
	// A later option wins: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES. Without
	// an instance, two processes would write to the same series of Prometheus.
	res, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", serviceName), attribute.String("service.instance.id", rand.Text())),
		resource.WithTelemetrySDK(),
		resource.WithFromEnv(),
	)
	if err != nil {
		return nil, err
	}
	limits := sdktrace.NewSpanLimits()
	limits.EventCountLimit = eventLimit
	t := &telemetry{recorder: &recorder{}}
	opts := []sdktrace.TracerProviderOption{
		sdktrace.WithResource(res),
		sdktrace.WithRawSpanLimits(limits),
		sdktrace.WithSpanProcessor(t.recorder),
	}
	if to.url != "" {
		exporter, err := otlptracehttp.New(ctx)
		if err != nil {
			return nil, err
		}
		t.delivery = &delivery{SpanExporter: exporter, target: to}
		// What goes wrong on the way and is not an export's error, such as spans
		// that the receiver says it has refused.
		otel.SetErrorHandler(otel.ErrorHandlerFunc(t.delivery.fail))
		opts = append(opts, sdktrace.WithBatcher(t.delivery))
	}
	t.tracing = sdktrace.NewTracerProvider(opts...)
	// Counts of one turn at a time.
	t.reader = sdkmetric.NewManualReader(sdkmetric.WithTemporalitySelector(
		func(sdkmetric.InstrumentKind) metricdata.Temporality { return metricdata.DeltaTemporality }))
	metricOpts := []sdkmetric.Option{sdkmetric.WithResource(res), sdkmetric.WithReader(t.reader)}
	if metricsTo.url != "" {
		exporter, err := otlpmetrichttp.New(ctx)
		if err != nil {
			return nil, err
		}
		t.measured = &metricsDelivery{Exporter: exporter, target: metricsTo}
		metricOpts = append(metricOpts, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(t.measured)))
	}
	t.metrics = sdkmetric.NewMeterProvider(metricOpts...)
	return t, nil
}

// shutdown sends what has not been sent, and returns an error that says what to
// check when any span or metric did not arrive.
func (t *telemetry) shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	err := t.tracing.Shutdown(ctx)
	if t.delivery != nil {
		err = t.delivery.verdict(t.recorder.total(), err)
	}
	metricErr := t.metrics.Shutdown(ctx)
	if t.measured != nil {
		metricErr = t.measured.verdict(metricErr)
	}
	return errors.Join(err, metricErr)
}

// recorder keeps the spans that have ended, for the terminal.
type recorder struct {
	mu    sync.Mutex
	spans []sdktrace.ReadOnlySpan
	ended int
}

func (*recorder) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (*recorder) Shutdown(context.Context) error                  { return nil }
func (*recorder) ForceFlush(context.Context) error                { return nil }

func (r *recorder) OnEnd(span sdktrace.ReadOnlySpan) {
	if !span.SpanContext().IsSampled() {
		return // recorded, but not to be exported
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spans = append(r.spans, span)
	r.ended++
}

// take returns the spans that have ended since it was called last.
func (r *recorder) take() []sdktrace.ReadOnlySpan {
	r.mu.Lock()
	defer r.mu.Unlock()
	spans := r.spans
	r.spans = nil
	return spans
}

// total is the number of spans that have ended so far.
func (r *recorder) total() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// delivery is an exporter that remembers what became of the spans. The SDK
// reports no error: a processor hands the errors of its exporter to the global
// error handler, and its Shutdown returns nil all the same.
type delivery struct {
	sdktrace.SpanExporter
	target target

	mu    sync.Mutex
	sent  int
	first error // the first thing that went wrong
	wrong int
}

// ExportSpans sends spans on. Its errors end here, not in the error handler.
func (d *delivery) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := d.SpanExporter.ExportSpans(ctx, spans); err != nil {
		d.fail(err)
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent += len(spans)
	return nil
}

// fail remembers an error.
func (d *delivery) fail(err error) {
	if err == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.first == nil {
		d.first = err
	}
	d.wrong++
}

// deliveryError says that spans did not arrive.
type deliveryError struct {
	target      target
	sent, ended int
	err         error
}

func (e *deliveryError) Unwrap() error { return e.err }

func (e *deliveryError) Error() string {
	what := fmt.Sprintf("%d of %d spans did not arrive at %s", e.ended-e.sent, e.ended, e.target.url)
	if e.sent == e.ended {
		what = fmt.Sprintf("only some of %d spans arrived at %s", e.ended, e.target.url)
	}
	return fmt.Sprintf(`%s: %v
What to check:
  - Is Jaeger up? docker compose ps; docker compose up -d jaeger; docker compose logs jaeger
  - Is the address right? %s sets it; this example uses OTLP over HTTP, which
    is port 4318 of Jaeger, not 4317.
  - Without Jaeger: make trace, with no OTEL_EXPORTER_OTLP_… variable set.`, what, e.err, e.target.variable)
}

// verdict returns nil when all ended spans were sent and nothing was said
// against them.
func (d *delivery) verdict(ended int, shutdown error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.first
	if err == nil {
		err = shutdown
	}
	if err == nil && d.sent < ended {
		err = errors.New("the exporter dropped them")
	}
	if err == nil {
		return nil
	}
	if d.wrong > 1 {
		err = fmt.Errorf("%w (the first of %d failures)", err, d.wrong)
	}
	return &deliveryError{d.target, d.sent, ended, err}
}

// metricsDelivery is an exporter that remembers what became of the last export.
// Each has all counts so far, so that earlier ones do not matter.
type metricsDelivery struct {
	sdkmetric.Exporter
	target target

	mu   sync.Mutex
	last error
}

// Export sends metrics on. Its errors end here, not in the error handler.
func (d *metricsDelivery) Export(ctx context.Context, collected *metricdata.ResourceMetrics) error {
	err := d.Exporter.Export(ctx, collected)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = err
	return nil
}

// verdict returns nil when the last export arrived.
func (d *metricsDelivery) verdict(shutdown error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.last
	if err == nil {
		err = shutdown
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf(`the metrics did not arrive at %s: %w
What to check:
  - Is Prometheus up? docker compose --profile metrics ps; docker compose logs prometheus
  - Is the address right? %s sets it. Prometheus takes OTLP over
    HTTP at /api/v1/otlp/v1/metrics, if it has --web.enable-otlp-receiver`, d.target.url, err, d.target.variable)
}

// excluded counts by stage and reason what was left out since the last call.
type excluded map[string]map[string]int

// takeExcluded asks the metrics, which count every exclusion: spans stop at the
// limit of events.
func (t *telemetry) takeExcluded(ctx context.Context) (excluded, error) {
	var collected metricdata.ResourceMetrics
	if err := t.reader.Collect(ctx, &collected); err != nil {
		return nil, err
	}
	counts := make(excluded)
	for _, scope := range collected.ScopeMetrics {
		for _, metric := range scope.Metrics {
			sum, ok := metric.Data.(metricdata.Sum[int64])
			if !ok || metric.Name != "cupel.exclusions" {
				continue
			}
			for _, point := range sum.DataPoints {
				stage, _ := point.Attributes.Value(stageKey)
				reason, _ := point.Attributes.Value(reasonKey)
				if counts[stage.AsString()] == nil {
					counts[stage.AsString()] = make(map[string]int)
				}
				counts[stage.AsString()][reason.AsString()] += int(point.Value)
			}
		}
	}
	return counts, nil
}

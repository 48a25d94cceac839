// Command consumer traces and measures a run with the SDK that a service would
// set up.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelotel"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	exporter := tracetest.NewInMemoryExporter()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	reader := sdkmetric.NewManualReader()
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	otel.SetTracerProvider(tracers)
	otel.SetMeterProvider(meters)

	p, err := pipeline.New(pipeline.Config{Scorer: scorer.Priority{}, Slicer: slicer.Greedy{}, Placer: placer.UShaped{}})
	if err != nil {
		return err
	}
	budget, err := cupel.NewContextBudget(100, 50)
	if err != nil {
		return err
	}
	small, err := cupel.NewContextItem("small", 10)
	if err != nil {
		return err
	}
	large, err := cupel.NewContextItem("large", 70, cupel.WithKind("Log"))
	if err != nil {
		return err
	}
	collector := observe.Multi(
		cupelotel.NewTraceCollector(cupelotel.WithVerbosity(cupelotel.VerbosityFull)),
		cupelotel.NewMetricCollector())
	if _, err := p.Run(ctx, []*cupel.ContextItem{small, large}, budget, pipeline.WithTrace(collector)); err != nil {
		return err
	}

	for _, span := range exporter.GetSpans() {
		fmt.Println(span.InstrumentationScope.Name, span.Name)
		for _, event := range span.Events {
			fmt.Println(" ", event.Name, event.Attributes[0].Value.String())
		}
	}
	var data metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &data); err != nil {
		return err
	}
	for _, scope := range data.ScopeMetrics {
		fmt.Println(scope.Scope.Name, len(scope.Metrics), "metrics")
	}
	return errors.Join(tracers.Shutdown(ctx), meters.Shutdown(ctx))
}

package cupelotel_test

import (
	"context"
	"fmt"
	"strings"

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

// window selects from three items; the log does not fit.
func window(ctx context.Context, collector observe.TraceCollector) error {
	p, err := pipeline.New(pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}})
	if err != nil {
		return err
	}
	budget, err := cupel.NewContextBudget(1000, 500)
	if err != nil {
		return err
	}
	var items []*cupel.ContextItem
	for _, c := range []struct {
		content string
		tokens  int
		kind    cupel.ContextKind
		hint    float64
	}{
		{"Why is the build red?", 20, cupel.KindMessage, 0.9},
		{"undefined: x", 30, cupel.KindToolOutput, 0.8},
		{"the whole log", 5000, cupel.KindToolOutput, 0.7},
	} {
		item, err := cupel.NewContextItem(c.content, c.tokens, cupel.WithKind(c.kind), cupel.WithFutureRelevanceHint(c.hint))
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	_, err = p.Run(ctx, items, budget, pipeline.WithTrace(collector))
	return err
}

// printSpans prints what an exporter would send, in the order in which the
// spans ended.
func printSpans(spans tracetest.SpanStubs) {
	for _, span := range spans {
		fmt.Println(span.Name)
		for _, a := range span.Attributes {
			fmt.Printf("  %s = %s\n", a.Key, a.Value.String())
		}
		for _, event := range span.Events {
			fmt.Printf("  * %s\n", event.Name)
			for _, a := range event.Attributes {
				fmt.Printf("      %s = %s\n", a.Key, a.Value.String())
			}
		}
	}
}

func Example() {
	ctx := context.Background()
	exporter := tracetest.NewInMemoryExporter() // in production: one for OTLP
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))

	ctx, turn := provider.Tracer("agent").Start(ctx, "turn")
	collector := cupelotel.NewTraceCollector(
		cupelotel.WithTracerProvider(provider), // or otel.SetTracerProvider(provider)
		cupelotel.WithVerbosity(cupelotel.VerbosityStageAndExclusions))
	if err := window(ctx, collector); err != nil {
		fmt.Println(err)
	}
	turn.End()

	printSpans(exporter.GetSpans())
	// Output:
	// cupel.stage.classify
	//   cupel.stage.name = classify
	//   cupel.stage.item_count_in = 3
	//   cupel.stage.item_count_out = 3
	//   cupel.exclusion.count = 0
	// cupel.stage.score
	//   cupel.stage.name = score
	//   cupel.stage.item_count_in = 3
	//   cupel.stage.item_count_out = 3
	//   cupel.exclusion.count = 0
	// cupel.stage.deduplicate
	//   cupel.stage.name = deduplicate
	//   cupel.stage.item_count_in = 3
	//   cupel.stage.item_count_out = 3
	//   cupel.exclusion.count = 0
	// cupel.stage.slice
	//   cupel.stage.name = slice
	//   cupel.stage.item_count_in = 3
	//   cupel.stage.item_count_out = 2
	//   cupel.exclusion.count = 1
	//   cupel.exclusion.reasons = ["BudgetExceeded"]
	//   cupel.exclusion.reason_counts = [1]
	//   * cupel.exclusion
	//       cupel.exclusion.reason = BudgetExceeded
	//       cupel.exclusion.item_kind = ToolOutput
	//       cupel.exclusion.item_tokens = 5000
	//       cupel.exclusion.item_score = 0.7
	// cupel.stage.place
	//   cupel.stage.name = place
	//   cupel.stage.item_count_in = 2
	//   cupel.stage.item_count_out = 2
	//   cupel.exclusion.count = 0
	// cupel.pipeline
	//   cupel.budget.max_tokens = 1000
	//   cupel.verbosity = StageAndExclusions
	//   cupel.run.mode = run
	//   cupel.budget.target_tokens = 500
	//   cupel.budget.output_reserve = 0
	//   cupel.run.candidates = 3
	//   cupel.run.included = 2
	//   cupel.run.selected_tokens = 50
	//   cupel.budget.utilization = 0.05
	//   cupel.budget.target_utilization = 0.1
	// turn
}

// Spans and metrics at once: list the TraceCollector first.
func ExampleNewMetricCollector() {
	ctx := context.Background()
	reader := sdkmetric.NewManualReader() // in production: a periodic one with an exporter
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	tracers := sdktrace.NewTracerProvider()

	collector := observe.Multi(
		cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(tracers)),
		cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(meters)))
	if err := window(ctx, collector); err != nil {
		fmt.Println(err)
	}

	var data metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &data); err != nil {
		fmt.Println(err)
	}
	for _, m := range data.ScopeMetrics[0].Metrics {
		fmt.Println(m.Name, m.Unit)
	}
	// Output:
	// cupel.pipeline.duration s
	// cupel.stage.time s
	// cupel.pipeline.selected_tokens {token}
	// cupel.budget.utilization 1
	// cupel.budget.target_utilization 1
	// cupel.items {item}
	// cupel.exclusions {item}
}

// To see every event of large runs, raise the collector's limit and the SDK's.
func ExampleWithEventLimit() {
	limits := sdktrace.NewSpanLimits() // with the OTEL_SPAN_* variables
	limits.EventCountLimit = 10000
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithRawSpanLimits(limits), sdktrace.WithSpanProcessor(recorder))

	collector := cupelotel.NewTraceCollector(
		cupelotel.WithTracerProvider(provider),
		cupelotel.WithVerbosity(cupelotel.VerbosityFull),
		cupelotel.WithEventLimit(10000))
	if err := window(context.Background(), collector); err != nil {
		fmt.Println(err)
	}
	for _, span := range recorder.Ended() {
		if len(span.Events()) > 0 {
			fmt.Println(span.Name(), len(span.Events()))
		}
	}
	// Output:
	// cupel.stage.slice 1
	// cupel.stage.place 2
}

// A service whose kinds name customers hides all but the well-known ones, and
// wants the text of errors, without addresses.
func ExampleWithRedaction() {
	exporter := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	collector := cupelotel.NewTraceCollector(
		cupelotel.WithTracerProvider(provider),
		cupelotel.WithVerbosity(cupelotel.VerbosityStageAndExclusions),
		cupelotel.WithRedaction(observe.Redaction{Show: observe.PartError, Rewrite: func(from observe.Part, text string) string {
			switch from {
			case observe.PartKind:
				if text == string(cupel.KindMessage) {
					return text
				}
				return "(hidden)"
			case observe.PartError:
				return strings.ReplaceAll(text, "10.0.0.1", "(hidden)")
			default:
				return text
			}
		}}))
	if err := window(context.Background(), collector); err != nil {
		fmt.Println(err)
	}
	for _, span := range exporter.GetSpans() {
		for _, event := range span.Events {
			fmt.Println(event.Attributes[1].Key, event.Attributes[1].Value.String())
		}
	}
	// Output:
	// cupel.exclusion.item_kind (hidden)
}

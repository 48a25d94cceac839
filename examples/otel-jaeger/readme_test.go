package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupelotel"
)

// traced is around the lines of the README that send a run to Jaeger.
//
//nolint:errcheck // the README does not check it either
func traced(ctx context.Context, p *pipeline.Pipeline, items []*cupel.ContextItem, budget cupel.ContextBudget) {
	exporter := must(otlptracehttp.New(ctx)) // set OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter))
	defer provider.Shutdown(ctx)
	otel.SetTracerProvider(provider)
	collector := cupelotel.NewTraceCollector(cupelotel.WithConventions(cupelotel.OpenInference)) // which Phoenix reads
	window := must(p.Run(ctx, items, budget, pipeline.WithTrace(collector)))
	_ = window
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// TestReadme runs the lines of the repository's README, and counts the spans that arrive.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(readme), "exporter := ")
	require.True(t, found, "the README sends a trace")
	lines, _, _ := strings.Cut(after, "```")
	lines = strings.TrimSpace(lines)
	require.Len(t, strings.Split(lines, "\n"), 6, "six lines are enough")
	source, err := os.ReadFile("readme_test.go")
	require.NoError(t, err)
	require.Contains(t, string(source), ") {\n\texporter := "+strings.ReplaceAll(lines, "\n", "\n\t")+"\n\t_ = window\n}\n", "traced has the lines of the README")

	spans := 0
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var request collectorpb.ExportTraceServiceRequest
		if body, err := io.ReadAll(r.Body); err == nil && proto.Unmarshal(body, &request) == nil {
			for _, resource := range request.GetResourceSpans() {
				for _, scope := range resource.GetScopeSpans() {
					spans += len(scope.GetSpans())
				}
			}
		}
	}))
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	before := otel.GetTracerProvider()
	defer otel.SetTracerProvider(before)
	traced(t.Context(), must(policy.RAG().Pipeline(policy.Environment{})),
		[]*cupel.ContextItem{must(cupel.NewContextItem("a", 5))}, must(cupel.NewContextBudget(50, 30)))
	require.Equal(t, 6, spans, "the run and its five stages")
}

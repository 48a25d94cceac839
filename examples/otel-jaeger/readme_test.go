package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// traced is a program around the lines of the README that send a run to Jaeger.
const traced = `package main

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupelotel"
)

func main() {
	ctx, p := context.Background(), must(policy.RAG().Pipeline(policy.Environment{}))
	items := []*cupel.ContextItem{must(cupel.NewContextItem("a", 5))}
	budget := must(cupel.NewContextBudget(50, 30))
	LINES
	_ = window
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
`

// TestReadme runs the lines of the repository's README, and counts the spans that arrive.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, after, found := strings.Cut(string(readme), "exporter := ")
	require.True(t, found, "the README sends a trace")
	lines, _, _ := strings.Cut(after, "```")
	require.Len(t, strings.Split(strings.TrimSpace(lines), "\n"), 6, "six lines are enough")

	temp := t.TempDir()
	program := filepath.Join(temp, "main.go")
	require.NoError(t, os.WriteFile(program, []byte(strings.Replace(traced, "LINES", "exporter := "+lines, 1)), 0o600))
	here, err := filepath.Abs("readme/main.go") // which is there for the build alone
	require.NoError(t, err)
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{here: program}})
	require.NoError(t, err)
	overlay, binary := filepath.Join(temp, "overlay.json"), filepath.Join(temp, "readme.exe")
	require.NoError(t, os.WriteFile(overlay, replace, 0o600))
	out, err := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "-o", binary, "./readme").CombinedOutput()
	require.NoError(t, err, "%s", out)

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
	command := exec.CommandContext(t.Context(), binary)
	command.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL)
	out, err = command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, 6, spans, "the run and its five stages")
}

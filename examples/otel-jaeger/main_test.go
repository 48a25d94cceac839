package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// start runs the program without the caller's settings of OpenTelemetry.
func start(t *testing.T, environment map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
	for name, value := range environment {
		t.Setenv(name, value)
	}
	var out, problems bytes.Buffer
	code = run(t.Context(), args, &out, &problems)
	return code, out.String(), problems.String()
}

func TestConversation(t *testing.T) {
	code, stdout, stderr := start(t, nil)
	require.Equal(t, exitOK, code, stderr)
	require.Empty(t, stderr)
	for text, times := range map[string]int{
		"Turn 1: a question about the source\n  agent.turn ": 1,
		"\nTurn 6: ":               1,
		"    cupel.session.turn ":  6,
		"cupel.session.commit ":    5,  // but for the question that does not fit
		" cupel.pipeline ":         10, // a search each turn, two breaks, and two in vain for that question
		"cupel.stage.place ":       8,
		", break forced":           2, // of the turn and its commit
		", break free":             2,
		"BudgetExceeded":           16, // on each run and its stage
		"error *pipeline.PinnedEx": 5,
	} {
		assert.Equal(t, times, strings.Count(stdout, text), "%q in\n%s", text, stdout)
	}
}

func TestJSON(t *testing.T) {
	code, stdout, stderr := start(t, map[string]string{"OTEL_SERVICE_NAME": "shop-agent"}, "-json")
	require.Equal(t, exitOK, code, stderr)
	for decoder := json.NewDecoder(strings.NewReader(stdout)); decoder.More(); {
		var span struct {
			Name     string
			Resource []struct {
				Key   string
				Value struct{ Value any }
			}
		}
		require.NoError(t, decoder.Decode(&span))
		assert.NotEmpty(t, span.Name)
		for _, a := range span.Resource {
			if a.Key == "service.name" {
				assert.Equal(t, "shop-agent", a.Value.Value)
			}
		}
	}
}

func TestUsage(t *testing.T) {
	for flag, want := range map[string]int{"-h": exitOK, "-colour": exitUsage, "now": exitUsage} {
		code, _, _ := start(t, nil, flag)
		assert.Equal(t, want, code, flag)
	}
}

// TestDelivery sends traces to a receiver that takes them, refuses them, or takes
// the request and refuses some of its spans.
func TestDelivery(t *testing.T) {
	partly, err := proto.Marshal(&collectorpb.ExportTraceServiceResponse{
		PartialSuccess: &collectorpb.ExportTracePartialSuccess{RejectedSpans: 1, ErrorMessage: "no room"},
	})
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		status int
		body   []byte
		code   int
		says   string
	}{
		"taken":   {http.StatusOK, nil, exitOK, "all spans and metrics arrived at http://"},
		"refused": {http.StatusBadRequest, nil, exitUndelivered, "docker compose up -d jaeger"},
		"partly":  {http.StatusOK, partly, exitUndelivered, "no room"},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, "/v1/traces", r.URL.Path)
				requests.Add(1)
				w.Header().Set("Content-Type", "application/x-protobuf")
				w.WriteHeader(tt.status)
				_, _ = w.Write(tt.body)
			}))
			defer server.Close()
			code, stdout, stderr := start(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL})
			assert.Equal(t, tt.code, code, stderr)
			assert.Contains(t, stderr, tt.says)
			assert.Equal(t, 10, strings.Count(stdout, " cupel.pipeline "), "the conversation is not whole")
			assert.Positive(t, requests.Load())
		})
	}
}

// TestEvery has conversations until the interrupt, which is no failure.
func TestEvery(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	var out, problems bytes.Buffer
	second := writerFunc(func(p []byte) (int, error) {
		if strings.Count(out.String(), "Turn 1: ") == 2 {
			interrupt()
		}
		return out.Write(p)
	})
	require.Equal(t, exitOK, run(ctx, []string{"-every", "1ns"}, second, &problems))
	require.Empty(t, problems.String())
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ofPhoenix is what the test asks Phoenix for.
const ofPhoenix = `{projects{edges{node{traceCount tokenCountTotal
	sessions(first:10){edges{node{sessionId numTraces tokenUsage{total}}}}
	spans(first:500){edges{node{name spanKind tokenCountTotal attributes trace{session{sessionId}}}}}}}}}`

// nodes is how Phoenix wraps lists.
type nodes[T any] struct{ Edges []struct{ Node T } }

// phoenixProject is what Phoenix has of the example.
type phoenixProject struct {
	TraceCount      int
	TokenCountTotal float64
	Sessions        nodes[struct {
		SessionID  string
		NumTraces  int
		TokenUsage struct{ Total float64 }
	}]
	Spans nodes[struct {
		Name, SpanKind  string
		TokenCountTotal float64
		Attributes      string
		Trace           struct{ Session *struct{ SessionID string } }
	}]
}

func askPhoenix(t *testing.T, address string) (p phoenixProject, err error) {
	t.Helper()
	query, err := json.Marshal(map[string]string{"query": ofPhoenix})
	if err != nil {
		return p, err
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/graphql", bytes.NewReader(query))
	if err != nil {
		return p, err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return p, err
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Data   struct{ Projects nodes[phoenixProject] }
		Errors []any
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || len(answer.Errors) > 0 {
		return p, fmt.Errorf("%s: %w, %v", response.Status, err, answer.Errors)
	}
	if len(answer.Data.Projects.Edges) == 0 {
		return p, fmt.Errorf("no project")
	}
	return answer.Data.Projects.Edges[0].Node, nil
}

// TestPhoenix has the example send its traces to a real Phoenix, and asks it what it
// shows: each run as a reranker with its documents, all turns as one session, and as
// tokens those that the provider counted.
func TestPhoenix(t *testing.T) {
	binary := os.Getenv("CUPEL_E2E_PHOENIX")
	if binary == "" {
		t.Skip("needs the real Phoenix: run make e2e-phoenix")
	}
	addresses := freePorts(t, 2)
	port := func(i int) string { return addresses[i][strings.LastIndexByte(addresses[i], ':')+1:] }
	cmd := exec.CommandContext(t.Context(), binary, "serve") //nolint:gosec // the caller's
	cmd.Env = append(os.Environ(), "PHOENIX_HOST=127.0.0.1", "PHOENIX_PORT="+port(0), "PHOENIX_GRPC_PORT="+port(1),
		"PHOENIX_WORKING_DIR="+t.TempDir(), "PHOENIX_TELEMETRY_ENABLED=false")
	address := "127.0.0.1:" + port(0)
	startServer(t, "Phoenix", "http://"+address+"/healthz", cmd)
	e := startExample(t, "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+address)
	counted := 0
	for range turns {
		for _, s := range e.next(t).Spans {
			for key, text := range attributesOf(s.Attributes) {
				if strings.HasPrefix(key, "gen_ai.usage.") {
					counted += number(t, strings.TrimPrefix(text, "int "))
				}
			}
		}
	}
	code, stderr := e.end(t)
	require.Zero(t, code, stderr)
	var p phoenixProject
	eventually(t, "Phoenix has all traces", func() (err error) {
		p, err = askPhoenix(t, address)
		if err == nil && (p.TraceCount < turns || int(p.TokenCountTotal) < counted) {
			err = fmt.Errorf("%d traces with %v tokens", p.TraceCount, p.TokenCountTotal)
		}
		return err
	})
	assert.NotZero(t, counted)
	assert.Equal(t, counted, int(p.TokenCountTotal))
	s := p.Sessions.Edges
	require.Len(t, s, 1)
	assert.Equal(t, turns, s[0].Node.NumTraces)
	assert.Equal(t, counted, int(s[0].Node.TokenUsage.Total))
	kinds := map[string]string{"agent.turn": "agent", "agent.search": "tool", "chat stand-in": "llm", "cupel.pipeline": "reranker"}
	runs := 0
	for _, edge := range p.Spans.Edges {
		s := edge.Node
		want := kinds[s.Name]
		if want == "" {
			want = "chain" // stages and turns
		}
		assert.Equal(t, want, s.SpanKind, s.Name)
		assert.NotNil(t, s.Trace.Session, s.Name)
		if s.Name != "chat stand-in" {
			assert.Zero(t, s.TokenCountTotal, s.Name)
		}
		if s.Name == "cupel.pipeline" && !strings.Contains(s.Attributes, `"error"`) {
			runs++
			assert.Contains(t, s.Attributes, `"input_documents"`)
			assert.Contains(t, s.Attributes, `"output_documents"`)
		}
	}
	assert.Equal(t, turns+2, runs, "a search each turn, and two breaks")
}

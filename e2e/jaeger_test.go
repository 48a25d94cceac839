package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// jaeger is a Jaeger on unused ports of the loopback interface.
type jaeger struct {
	binary              string
	config              string
	otlp, query, health string // host:port
	*server
}

// newJaeger prepares a Jaeger that is not running yet.
func newJaeger(t *testing.T) *jaeger {
	t.Helper()
	binary := os.Getenv("CUPEL_E2E_JAEGER")
	if binary == "" {
		t.Skip("needs the real Jaeger: run make e2e")
	}
	_, err := os.Stat(binary)
	require.NoError(t, err, "make e2e builds what CUPEL_E2E_JAEGER names")
	j := &jaeger{binary: binary, config: filepath.Join(t.TempDir(), "jaeger.yaml")}
	ports := freePorts(t, 4)
	j.otlp, j.query, j.health = ports[0], ports[1], ports[2]
	config := strings.NewReplacer("OTLP", ports[0], "QUERY-HTTP", ports[1], "HEALTH", ports[2], "QUERY-GRPC", ports[3]).Replace(`
service:
  extensions: [jaeger_storage, jaeger_query, healthcheckv2]
  pipelines:
    traces: {receivers: [otlp], exporters: [jaeger_storage_exporter]}
  telemetry:
    metrics: {level: none}
extensions:
  healthcheckv2:
    use_v2: true
    http: {endpoint: HEALTH}
  jaeger_storage:
    backends:
      memory: {memory: {max_traces: 10000}}
  jaeger_query:
    storage: {traces: memory}
    http: {endpoint: QUERY-HTTP}
    grpc: {endpoint: QUERY-GRPC}
receivers:
  otlp:
    protocols:
      http: {endpoint: OTLP}
exporters:
  jaeger_storage_exporter: {trace_storage: memory}
`)
	require.NoError(t, os.WriteFile(j.config, []byte(config), 0o600))
	return j
}

// startJaeger returns a Jaeger that is ready. It ends with the test.
func startJaeger(t *testing.T) *jaeger {
	t.Helper()
	j := newJaeger(t)
	j.start(t)
	return j
}

func (j *jaeger) start(t *testing.T) {
	t.Helper()
	j.server = startServer(t, "Jaeger", "http://"+j.health+"/status", exec.CommandContext(t.Context(), j.binary, "--config", "file:"+j.config))
}

// endpoint is what a user writes into OTEL_EXPORTER_OTLP_ENDPOINT.
func (j *jaeger) endpoint() string { return "http://" + j.otlp }

// ask asks the query API and decodes its answer, which is one or several JSON
// values, into what next returns.
func (j *jaeger) ask(ctx context.Context, path string, query url.Values, next func() any) error {
	body, err := get(ctx, (&url.URL{Scheme: "http", Host: j.query, Path: path, RawQuery: query.Encode()}).String())
	if err != nil {
		return err
	}
	for decoder := json.NewDecoder(bytes.NewReader(body)); ; {
		if err := decoder.Decode(next()); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w:\n%.2000s", path, err, body)
		}
	}
}

// trace returns the spans of a trace, once Jaeger has as many as that.
func (j *jaeger) trace(t *testing.T, id string, want int) []span {
	t.Helper()
	var spans []span
	eventually(t, fmt.Sprintf("%d spans of trace %s are there", want, id), func() error {
		var chunks []*traces
		err := j.ask(t.Context(), "/api/v3/traces/"+id, nil, func() any {
			chunks = append(chunks, &traces{})
			return chunks[len(chunks)-1]
		})
		if err != nil {
			return err
		}
		spans = spansOf(chunks)
		if len(spans) != want {
			return fmt.Errorf("%d spans", len(spans))
		}
		return nil
	})
	return spans
}

// find returns the spans of all traces of a service that have an operation.
func (j *jaeger) find(t *testing.T, service, operation string) []span {
	t.Helper()
	now := time.Now()
	var chunks []*traces
	err := j.ask(t.Context(), "/api/v3/traces", url.Values{
		"query.service_name":   {service},
		"query.operation_name": {operation},
		"query.start_time_min": {now.Add(-time.Hour).UTC().Format(time.RFC3339Nano)},
		"query.start_time_max": {now.Add(time.Hour).UTC().Format(time.RFC3339Nano)},
		"query.num_traces":     {"100"},
	}, func() any {
		chunks = append(chunks, &traces{})
		return chunks[len(chunks)-1]
	})
	require.NoError(t, err)
	return spansOf(chunks)
}

// traces is the query API's answer: OTLP in its JSON form.
type traces struct {
	Result struct {
		ResourceSpans []struct {
			Resource   struct{ Attributes []keyValue }
			ScopeSpans []struct {
				Scope struct{ Name, Version string }
				Spans []span
			}
		}
	}
}

// span has the fields that both Jaeger and the example's -json have, under
// their OTLP names.
type span struct {
	TraceID, SpanID, ParentSpanID, Name string
	Service, Scope, ScopeVersion        string
	StartTimeUnixNano, EndTimeUnixNano  string
	Attributes                          []keyValue
	Events                              []event
	Status                              struct {
		Code    int
		Message string
	}
}

type event struct {
	TimeUnixNano, Name string
	Attributes         []keyValue
}

type keyValue struct {
	Key   string
	Value value
}

type value struct {
	StringValue *string
	IntValue    *string
	DoubleValue *float64
	BoolValue   *bool
	ArrayValue  *struct{ Values []value }
}

// String shows the type as well.
func (v value) String() string {
	switch {
	case v.StringValue != nil:
		return fmt.Sprintf("string %q", *v.StringValue)
	case v.IntValue != nil:
		return "int " + *v.IntValue
	case v.DoubleValue != nil:
		return fmt.Sprintf("double %v", *v.DoubleValue)
	case v.BoolValue != nil:
		return fmt.Sprintf("bool %t", *v.BoolValue)
	case v.ArrayValue != nil:
		return fmt.Sprint("array ", v.ArrayValue.Values)
	}
	return "nothing"
}

func spansOf(chunks []*traces) []span {
	var spans []span
	for _, chunk := range chunks {
		for _, r := range chunk.Result.ResourceSpans {
			service := strings.Trim(strings.TrimPrefix(attributesOf(r.Resource.Attributes)["service.name"], "string "), `"`)
			for _, s := range r.ScopeSpans {
				for _, found := range s.Spans {
					found.Service, found.Scope, found.ScopeVersion = service, s.Scope.Name, s.Scope.Version
					spans = append(spans, found)
				}
			}
		}
	}
	return spans
}

func attributesOf(list []keyValue) map[string]string {
	m := make(map[string]string)
	for _, a := range list {
		m[a.Key] = a.Value.String()
	}
	return m
}

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// prometheus is the address of one that runs as docker-compose.yaml says.
type prometheus string

// startPrometheus returns a Prometheus that has nothing yet. It ends with the test.
func startPrometheus(t *testing.T) prometheus {
	t.Helper()
	binary := os.Getenv("CUPEL_E2E_PROMETHEUS")
	if binary == "" {
		t.Skip("needs the real Prometheus: run make e2e-metrics")
	}
	service := composeService(t, "prometheus")
	version, err := exec.CommandContext(t.Context(), filepath.Clean(binary), "--version").CombinedOutput()
	require.NoError(t, err)
	_, tag, _ := strings.Cut(service.Image, ":v")
	require.True(t, strings.HasPrefix(string(version), "prometheus, version "+tag+" "), "not the version of %s: %s", service.Image, version)
	address := freePorts(t, 1)[0]
	config := filepath.Join(t.TempDir(), "prometheus.yaml")
	require.NoError(t, os.WriteFile(config, nil, 0o600))
	args := []string{"--web.listen-address=" + address}
	for _, arg := range service.Command {
		switch name, _, _ := strings.Cut(arg, "="); name {
		case "--config.file":
			arg = name + "=" + config
		case "--storage.tsdb.path":
			arg = name + "=" + t.TempDir()
		}
		args = append(args, arg)
	}
	startServer(t, "Prometheus", service.ready(t, address), exec.CommandContext(t.Context(), binary, args...))
	return prometheus(address)
}

// sample is one series of an answer.
type sample struct {
	labels map[string]string
	value  float64
}

// ask evaluates a query now.
func (p prometheus) ask(ctx context.Context, query string) ([]sample, error) {
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
	}
	if err := p.get(ctx, "query", url.Values{"query": {query}}, &answer); err != nil {
		return nil, err
	}
	var samples []sample
	for _, r := range answer.Data.Result {
		value, err := strconv.ParseFloat(fmt.Sprint(r.Value[1]), 64)
		if err != nil {
			return nil, err
		}
		samples = append(samples, sample{r.Metric, value})
	}
	return samples, nil
}

// get decodes the answer to a request of the API.
func (p prometheus) get(ctx context.Context, path string, query url.Values, answer any) error {
	body, err := get(ctx, (&url.URL{Scheme: "http", Host: string(p), Path: "/api/v1/" + path, RawQuery: query.Encode()}).String())
	if err != nil {
		return err
	}
	return json.Unmarshal(body, answer)
}

// panel is what the dashboard asks and how it shows the answers.
type panel struct {
	Title       string
	FieldConfig struct{ Defaults struct{ Unit string } }
	Targets     []struct{ Expr, LegendFormat string }
}

// dashboard is what Grafana loads.
type dashboard struct {
	Panels     []panel
	Templating struct {
		List []struct{ Name, Query string }
	}
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "examples", "otel-jaeger", "grafana", "dashboards", "cupel.json"))
	require.NoError(t, err)
	var d dashboard
	require.NoError(t, json.Unmarshal(data, &d))
	require.NotEmpty(t, d.Panels)
	return d
}

var (
	legendLabel = regexp.MustCompile(`\{\{([^}]*)\}\}`)
	labelValues = regexp.MustCompile(`^label_values\(([a-z_]+), ([a-z_]+)\)$`)
)

// show asks what Grafana asks for a panel with all variables at All, and returns
// an error for an answer that shows nothing, or nonsense.
func (p prometheus) show(ctx context.Context, expr, legend, unit string) ([]sample, error) {
	query := strings.NewReplacer("$__rate_interval", "1m", "$__range", "1m", "$service", ".*", "$pipeline", ".*").Replace(expr)
	samples, err := p.ask(ctx, query)
	if err != nil {
		return nil, err
	}
	most := map[string]float64{"percentunit": 1.25, "s": 60, "short": 1e6}[unit]
	something := false
	for _, s := range samples {
		if math.IsNaN(s.value) || s.value < 0 || s.value > most {
			return nil, fmt.Errorf("%v of %v is not within 0 and %v: %s", s.value, s.labels, most, query)
		}
		something = something || s.value > 0
		for _, label := range legendLabel.FindAllStringSubmatch(legend, -1) {
			if s.labels[label[1]] == "" {
				return nil, fmt.Errorf("%v has no %s for its legend: %s", s.labels, label[1], query)
			}
		}
	}
	if !something {
		return nil, errors.New("nothing, or nothing but 0: " + query)
	}
	return samples, nil
}

// TestPrometheusDashboard has the example send its metrics to a real Prometheus,
// and asks all that the dashboard asks.
func TestPrometheusDashboard(t *testing.T) {
	p := startPrometheus(t)
	e := startExample(t, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://"+string(p)+"/api/v1/otlp/v1/metrics")
	var records []record
	for range turns {
		records = append(records, e.next(t))
	}
	code, stderr := e.end(t)
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, "all spans and metrics arrived at http://"+string(p))
	want := newFigures(records)
	d := readDashboard(t)
	for _, panel := range d.Panels {
		for _, target := range panel.Targets {
			samples, err := p.show(t.Context(), target.Expr, target.LegendFormat, panel.FieldConfig.Defaults.Unit)
			if !assert.NoError(t, err, panel.Title) {
				continue
			}
			for _, s := range samples {
				t.Logf("%s: %v %v", panel.Title, s.labels, s.value)
			}
			// Prometheus rounds the start of a counter to a millisecond, of the hundred or
			// so that the conversation takes: two rates differ by that.
			if share, known := want.panels[panel.Title]; known {
				require.Len(t, samples, 1, panel.Title)
				assert.InDelta(t, share, samples[0].value, 0.03*share, panel.Title)
			}
		}
		delete(want.panels, panel.Title)
	}
	assert.Empty(t, want.panels, "the dashboard lacks them")
	for query, value := range want.queries {
		samples, err := p.ask(t.Context(), query)
		require.NoError(t, err, query)
		require.Len(t, samples, 1, query)
		assert.InDelta(t, value, samples[0].value, 1e-9, query)
	}
	for _, v := range d.Templating.List {
		var answer struct{ Data []string }
		if v.Query == "prometheus" { // the data source
			continue
		}
		of := labelValues.FindStringSubmatch(v.Query)
		require.NotNil(t, of, "variable %s asks %s", v.Name, v.Query)
		require.NoError(t, p.get(t.Context(), "label/"+of[2]+"/values", url.Values{"match[]": {of[1]}}, &answer))
		assert.Equal(t, map[string][]string{"service": {service}, "pipeline": {"search", "window"}}[v.Name], answer.Data, v.Name)
	}
}

// figures are what the example says that it did: by panel, of those with one
// figure that is a share of turns, runs or tokens, and by query.
type figures struct{ panels, queries map[string]float64 }

func newFigures(records []record) figures {
	f := figures{make(map[string]float64), make(map[string]float64)}
	kept, sent, breaks := 0, 0, 0
	used := 0.0
	for _, r := range records {
		for _, reasons := range r.Excluded {
			for reason, n := range reasons {
				f.queries[fmt.Sprintf("sum(cupel_exclusions_total{cupel_exclusion_reason=%q})", reason)] += float64(n)
			}
		}
		if r.Break != "" {
			breaks++
			f.queries[fmt.Sprintf("sum(cupel_session_breaks_total{cupel_session_break_reason=%q})", r.Break)]++
		}
		kept += r.KeptTokens
		sent += r.SelectedTokens
		used += float64(r.SelectedTokens) / targetTokens
	}
	f.queries["sum(cupel_session_kept_tokens_total)"] = float64(kept)
	f.queries[`sum(cupel_budget_target_utilization_sum{cupel_run_mode="session"})`] = used
	f.queries["sum(cupel_session_turns_total)"] = float64(len(committed))
	f.queries["sum(cupel_shortfalls_total)"] = turns // that of each search
	f.queries[`count(count by (instance) (cupel_session_turns_total{instance!=""}))`] = 1
	f.panels["Turns that broke"] = float64(breaks) / float64(len(committed))
	f.panels["Window sent as before"] = float64(kept) / float64(sent)
	f.panels["Runs that failed"] = 2. / 10 // a search each turn, two breaks, and two in vain
	return f
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// labels has the labels of each series as Prometheus names both.
type labels map[string][]string

// measure has a conversation and returns the series of its metrics. The
// end-to-end tests ask a real Prometheus.
func measure(t *testing.T) labels {
	t.Helper()
	telemetry, err := newTelemetry(t.Context(), false, io.Discard)
	require.NoError(t, err)
	reader := metric.NewManualReader()
	telemetry.metrics = metric.NewMeterProvider(metric.WithReader(reader))
	require.NoError(t, converse(t.Context(), telemetry))
	var collected metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &collected))
	series := make(labels)
	add := func(attributes attribute.Set, more string, names ...string) {
		for _, name := range names {
			list := append(series[name], "job", more) // service.name
			for _, a := range attributes.ToSlice() {
				list = append(list, strings.ReplaceAll(string(a.Key), ".", "_"))
			}
			slices.Sort(list)
			series[name] = slices.Compact(list)
		}
	}
	for _, scope := range collected.ScopeMetrics {
		for _, m := range scope.Metrics {
			name := strings.ReplaceAll(m.Name, ".", "_")
			if m.Unit == "s" {
				name += "_seconds"
			}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, point := range data.DataPoints {
					add(point.Attributes, "job", name+"_total")
				}
			case metricdata.Sum[float64]:
				for _, point := range data.DataPoints {
					add(point.Attributes, "job", name+"_total")
				}
			case metricdata.Histogram[int64]:
				for _, point := range data.DataPoints {
					add(point.Attributes, "le", name+"_sum", name+"_count", name+"_bucket")
				}
			case metricdata.Histogram[float64]:
				for _, point := range data.DataPoints {
					add(point.Attributes, "le", name+"_sum", name+"_count", name+"_bucket")
				}
			}
		}
	}
	return series
}

// dashboard is what the tests look at in a dashboard of Grafana.
type dashboard struct {
	Inputs     []struct{ Name, Type, PluginID string } `json:"__inputs"`
	Templating struct {
		List []struct {
			Name, Type, Query string
			Datasource        datasource
		}
	}
	Panels []struct {
		ID         int
		Title      string
		Datasource datasource
		Targets    []struct{ Expr, LegendFormat string }
	}
}

type datasource struct{ Type, UID string }

var (
	datasourceOf = regexp.MustCompile(`(?m)^    type: (\S+)`)
	metricName   = regexp.MustCompile(`([a-z_]+)\{`)
	matchedLabel = regexp.MustCompile(`[{,]([a-z_]+)(?:=|!)`)
	groupedBy    = regexp.MustCompile(`by \(([^)]*)\)`)
	legendLabel  = regexp.MustCompile(`\{\{([^}]*)\}\}`)
	usedVariable = regexp.MustCompile(`\$([a-z_]+)`)
	labelValues  = regexp.MustCompile(`^label_values\(([a-z_]+), ([a-z_]+)\)$`)
)

// checkDashboard returns what is wrong with a dashboard for a data source and for
// the series that are there.
func checkDashboard(t *testing.T, data, provisioned []byte, series labels) []string {
	t.Helper()
	var problems []string
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	var d dashboard
	require.NoError(t, json.Unmarshal(data, &d))
	// An import asks for the input. Where Grafana reads the file as it is, the variable of
	// the same name stands for it.
	const source = "DS_PROMETHEUS"
	want := datasource{string(datasourceOf.FindSubmatch(provisioned)[1]), "${" + source + "}"}
	if len(d.Inputs) != 1 || d.Inputs[0].Name != source || d.Inputs[0].Type != "datasource" || d.Inputs[0].PluginID != want.Type {
		wrong("an import asks for %+v", d.Inputs)
	}
	variables := []string{"__range", "__rate_interval"} // Grafana's own
	known := func(label string, names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(series[name], label) })
	}
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
		if v.Name == source && v.Type == "datasource" && v.Query == want.Type {
			continue
		}
		of := labelValues.FindStringSubmatch(v.Query)
		if v.Datasource != want || of == nil || !known(of[2], []string{of[1]}) {
			wrong("variable %s: %+v, query %q", v.Name, v.Datasource, v.Query)
		}
	}
	ids := make(map[int]bool)
	for _, p := range d.Panels {
		if ids[p.ID] {
			wrong("%s: the id %d is taken", p.Title, p.ID)
		}
		ids[p.ID] = true
		if p.Datasource != want {
			wrong("%s: asks the data source %+v, but there is %+v", p.Title, p.Datasource, want)
		}
		for _, target := range p.Targets {
			for _, m := range usedVariable.FindAllStringSubmatch(target.Expr, -1) {
				if !slices.Contains(variables, m[1]) {
					wrong("%s: there is no variable $%s", p.Title, m[1])
				}
			}
			var names []string
			for _, m := range metricName.FindAllStringSubmatch(target.Expr, -1) {
				names = append(names, m[1])
				if series[m[1]] == nil {
					wrong("%s: there is no metric %s", p.Title, m[1])
				}
			}
			for _, label := range labelsOf(target.Expr, target.LegendFormat) {
				if !known(label, names) {
					wrong("%s: %q have no label %q", p.Title, names, label)
				}
			}
		}
	}
	return problems
}

// labelsOf returns the labels that a query and its legend use.
func labelsOf(expr, legend string) []string {
	var list []string
	for _, m := range slices.Concat(matchedLabel.FindAllStringSubmatch(expr, -1), legendLabel.FindAllStringSubmatch(legend, -1)) {
		list = append(list, m[1])
	}
	for _, m := range groupedBy.FindAllStringSubmatch(expr, -1) {
		list = append(list, strings.Split(m[1], ", ")...)
	}
	return list
}

// TestDashboard checks the dashboard against its data source and the metrics that
// the example sends, and that faults would be noticed.
func TestDashboard(t *testing.T) {
	series := measure(t)
	good, err := os.ReadFile("grafana/dashboards/cupel.json")
	require.NoError(t, err)
	provisioned, err := os.ReadFile("grafana/datasources/prometheus.yaml")
	require.NoError(t, err)
	require.Empty(t, checkDashboard(t, good, provisioned, series))
	for _, fault := range []struct{ old, new, says string }{
		{`"id": 2,`, `"id": 1,`, "the id 1 is taken"},
		{`"uid": "${DS_PROMETHEUS}"`, `"uid": "prometheus"`, "asks the data source"},
		{`"name": "DS_PROMETHEUS"`, `"name": "DS_OTHER"`, "an import asks for"},
		{`"query": "prometheus"`, `"query": "loki"`, "variable DS_PROMETHEUS"},
		{`$service`, `$servive`, "no variable $servive"},
		{`cupel_exclusions_total`, `cupel_exclusion_total`, "no metric cupel_exclusion_total"},
		{`by (cupel_exclusion_reason)`, `by (cupel_reason)`, "no label"},
		{`{{cupel_shortfall_kind}}`, `{{kind}}`, "no label"},
		{`cupel_run_mode=`, `run_mode=`, "no label"},
		{`, job)`, `, service)`, "variable service"},
	} {
		bad := bytes.ReplaceAll(good, []byte(fault.old), []byte(fault.new))
		require.Contains(t, strings.Join(checkDashboard(t, bad, provisioned, series), "\n"), fault.says)
	}
}

// TestAlerts checks that alert rules use metrics and labels that the example sends, and
// that each is tested. promtool, which make e2e-metrics runs, checks what they mean.
func TestAlerts(t *testing.T) {
	series := measure(t)
	rules, err := os.ReadFile("prometheus/alerts.yaml")
	require.NoError(t, err)
	tests, err := os.ReadFile("prometheus/alerts_test.yaml")
	require.NoError(t, err)
	exprs := regexp.MustCompile(`- alert: (\w+)\n +expr: (.+)`).FindAllStringSubmatch(string(rules), -1)
	require.Len(t, exprs, strings.Count(string(rules), "alert:"))
	for _, rule := range exprs {
		require.Contains(t, string(tests), "alertname: "+rule[1])
		var names []string
		for _, m := range metricName.FindAllStringSubmatch(rule[2], -1) {
			names = append(names, m[1])
			if m[1] != "cupel_overflow_tokens_total" { // the example's windows do not overflow
				require.Contains(t, series, m[1], rule[1])
			}
		}
		require.NotEmpty(t, names, rule[1])
		for _, label := range labelsOf(rule[2], "") {
			known := slices.ContainsFunc(names, func(name string) bool {
				return slices.Contains(append(series[name], "job", "cupel_pipeline_name"), label)
			})
			require.True(t, known, "%s: no label %s", rule[1], label)
		}
	}
}

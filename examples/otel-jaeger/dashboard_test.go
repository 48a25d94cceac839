package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"
)

// labels has the labels of each series as Prometheus names both.
type labels map[string][]string

// receiver takes metrics as Prometheus does.
type receiver struct {
	mu       sync.Mutex
	requests int
	series   labels
}

func newReceiver(t *testing.T, status int) (*receiver, string) {
	t.Helper()
	r := &receiver{series: make(labels)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		var metrics collectorpb.ExportMetricsServiceRequest
		if err = errors.Join(err, proto.Unmarshal(body, &metrics)); err != nil || request.URL.Path != "/otlp" {
			t.Errorf("%s: %v", request.URL, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.requests++
		r.add(&metrics)
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return r, server.URL + "/otlp"
}

// add translates names as Prometheus does. The end-to-end tests ask a real one.
func (r *receiver) add(request *collectorpb.ExportMetricsServiceRequest) {
	for _, resource := range request.ResourceMetrics {
		for _, scope := range resource.ScopeMetrics {
			for _, m := range scope.Metrics {
				name := strings.ReplaceAll(m.Name, ".", "_")
				if m.Unit == "s" {
					name += "_seconds"
				}
				switch data := m.Data.(type) {
				case *metricspb.Metric_Sum:
					for _, point := range data.Sum.DataPoints {
						r.point(point.Attributes, name+"_total")
					}
				case *metricspb.Metric_Histogram:
					for _, point := range data.Histogram.DataPoints {
						r.point(point.Attributes, name+"_sum", name+"_count")
						r.point(append(point.Attributes, &commonpb.KeyValue{Key: "le"}), name+"_bucket")
					}
				}
			}
		}
	}
}

func (r *receiver) point(attributes []*commonpb.KeyValue, names ...string) {
	for _, name := range names {
		list := append(r.series[name], "job") // service.name
		for _, a := range attributes {
			list = append(list, strings.ReplaceAll(a.Key, ".", "_"))
		}
		slices.Sort(list)
		r.series[name] = slices.Compact(list)
	}
}

func TestMetricsDelivery(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		code   int
		says   string
	}{
		{"taken", http.StatusOK, exitOK, "sending the metrics to "},
		{"refused", http.StatusNotFound, exitUndelivered, "docker compose --profile metrics ps"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clearEnvironment(t)
			r, url := newReceiver(t, tt.status)
			t.Setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", url)
			code, stdout, stderr := start(t, "")
			if code != tt.code || !strings.Contains(stderr, tt.says) {
				t.Errorf("exit code %d, want %d and %q:\n%s", code, tt.code, tt.says, stderr)
			}
			if strings.Count(stdout, " cupel.pipeline ") != 10 || r.requests == 0 {
				t.Errorf("%d requests, and the conversation is not whole:\n%s", r.requests, stdout)
			}
		})
	}
}

// TestEvery has conversations until the interrupt, which is no failure.
func TestEvery(t *testing.T) {
	clearEnvironment(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var out, problems bytes.Buffer
	second := writerFunc(func(p []byte) (int, error) {
		if strings.Count(out.String(), "Turn 1 of 6") == 2 {
			interrupt()
		}
		return out.Write(p)
	})
	done := make(chan int)
	go func() { done <- run(ctx, []string{"-every", "1ms"}, strings.NewReader(""), second, &problems) }()
	select {
	case code := <-done:
		if code != exitOK || problems.Len() > 0 {
			t.Errorf("exit code %d: %s", code, &problems)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the interrupt does not end it")
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// dashboard has what the dashboard uses of Grafana's schema; other fields are
// mistakes.
type dashboard struct {
	UID, Title, Description, Refresh string
	Tags                             []string
	SchemaVersion, GraphTooltip      int
	Editable                         bool
	Time                             struct{ From, To string }
	Annotations                      struct{ List []any }
	Templating                       struct {
		List []struct {
			Name, Label, Type, Query string
			Datasource               datasource
			Refresh, Sort            int
			Multi, IncludeAll        bool
			AllValue                 string
			Current                  struct{ Text, Value string }
		}
	}
	Panels []struct {
		ID                       int
		Type, Title, Description string
		Datasource               datasource
		GridPos                  struct{ X, Y, W, H int }
		FieldConfig              struct {
			Defaults struct {
				Unit   string
				Min    *float64
				Custom struct {
					FillOpacity int
					SpanNulls   bool
					Stacking    struct{ Mode string }
				}
			}
			Overrides []any
		}
		Options struct {
			ReduceOptions        struct{ Calcs []string }
			ColorMode, GraphMode string
			Legend               struct{ DisplayMode, Placement string }
			Tooltip              struct{ Mode string }
		}
		Targets []struct {
			RefID, Expr, LegendFormat string
			Instant                   bool
		}
	}
}

type datasource struct{ Type, UID string }

var (
	datasourceUID = regexp.MustCompile(`(?m)^    uid: (\S+)`)
	datasourceOf  = regexp.MustCompile(`(?m)^    type: (\S+)`)
	metricName    = regexp.MustCompile(`([a-z_]+)\{`)
	matchedLabel  = regexp.MustCompile(`[{,]([a-z_]+)(?:=|!)`)
	groupedBy     = regexp.MustCompile(`by \(([^)]*)\)`)
	legendLabel   = regexp.MustCompile(`\{\{([^}]*)\}\}`)
	usedVariable  = regexp.MustCompile(`\$([a-z_]+)`)
	labelValues   = regexp.MustCompile(`^label_values\(([a-z_]+), ([a-z_]+)\)$`)
)

// checkDashboard returns what is wrong with a dashboard for a data source and for
// the series that are there.
func checkDashboard(data, provisioned []byte, series labels) []string {
	var problems []string
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	var d dashboard
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return []string{err.Error()}
	}
	uid, kind := datasourceUID.FindSubmatch(provisioned), datasourceOf.FindSubmatch(provisioned)
	if uid == nil || kind == nil {
		return []string{"the data source has no uid or no type"}
	}
	want := datasource{string(kind[1]), string(uid[1])}
	// 36 is of Grafana 9, which first took data sources by uid throughout; newer
	// versions than 42 are not known to the Grafana of docker-compose.yaml.
	if d.UID == "" || d.Title == "" || d.SchemaVersion < 36 || d.SchemaVersion > 42 {
		wrong("uid %q, title %q, schemaVersion %d", d.UID, d.Title, d.SchemaVersion)
	}
	variables := []string{"__range", "__rate_interval"} // Grafana's own
	known := func(label string, names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(series[name], label) })
	}
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
		of := labelValues.FindStringSubmatch(v.Query)
		if v.Type != "query" || v.Datasource != want || of == nil || !known(of[2], []string{of[1]}) {
			wrong("variable %s: type %q, %+v, query %q", v.Name, v.Type, v.Datasource, v.Query)
		}
	}
	ids := make(map[int]bool)
	taken := make(map[[2]int]string) // by column and row
	for _, p := range d.Panels {
		if p.ID <= 0 || ids[p.ID] {
			wrong("%s: the id %d is taken or none", p.Title, p.ID)
		}
		ids[p.ID] = true
		if !slices.Contains([]string{"stat", "timeseries"}, p.Type) || p.Title == "" || p.Description == "" || len(p.Targets) == 0 {
			wrong("panel %d: type %q, title %q, description %q, %d targets", p.ID, p.Type, p.Title, p.Description, len(p.Targets))
		}
		// The ids that Grafana's valueFormats/categories.ts gives a number, a share and seconds.
		if !slices.Contains([]string{"short", "percentunit", "s"}, p.FieldConfig.Defaults.Unit) {
			wrong("%s: Grafana has no unit %q for this", p.Title, p.FieldConfig.Defaults.Unit)
		}
		if p.Datasource != want {
			wrong("%s: asks the data source %+v, but there is %+v", p.Title, p.Datasource, want)
		}
		g := p.GridPos
		if g.X < 0 || g.Y < 0 || g.W <= 0 || g.H <= 0 || g.X+g.W > 24 {
			wrong("%s: is outside of the grid of 24 columns: %+v", p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" && !slices.Contains(problems, p.Title+" overlaps "+other) {
					wrong("%s overlaps %s", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		refs := make(map[string]bool)
		for _, target := range p.Targets {
			if target.RefID == "" || refs[target.RefID] {
				wrong("%s: the refId %q is taken or none", p.Title, target.RefID)
			}
			refs[target.RefID] = true
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
			if len(names) == 0 {
				wrong("%s: asks for nothing: %s", p.Title, target.Expr)
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

// TestDashboard checks the dashboard against what Grafana takes, its data source,
// and the metrics that the example sends; and that faults would be noticed.
func TestDashboard(t *testing.T) {
	clearEnvironment(t)
	r, url := newReceiver(t, http.StatusOK)
	t.Setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", url)
	if code, _, stderr := start(t, ""); code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	good, provisioned := read("grafana/dashboards/cupel.json"), read("grafana/datasources/prometheus.yaml")
	for _, problem := range checkDashboard(good, provisioned, r.series) {
		t.Error(problem)
	}
	for _, fault := range []struct{ old, new, says string }{
		{`"targets"`, `"tragets"`, "unknown field"},
		{`"schemaVersion": 41`, `"schemaVersion": 4`, "schemaVersion 4"},
		{`"id": 2,`, `"id": 1,`, "the id 1 is taken"},
		{`"uid": "cupel-prometheus"`, `"uid": "prometheus"`, "asks the data source"},
		{`"x": 4,`, `"x": 3,`, "overlaps"},
		{`"x": 20,`, `"x": 21,`, "outside of the grid"},
		{`"percentunit"`, `"percents"`, "no unit"},
		{`"type": "timeseries"`, `"type": "graph"`, `type "graph"`},
		{`"refId": "B"`, `"refId": "A"`, "refId"},
		{`$service`, `$servive`, "no variable $servive"},
		{`cupel_exclusions_total`, `cupel_exclusion_total`, "no metric cupel_exclusion_total"},
		{`cupel_stage_duration_seconds_bucket`, `cupel_stage_duration_bucket`, "no metric"},
		{`by (cupel_exclusion_reason)`, `by (cupel_reason)`, "no label"},
		{`{{cupel_shortfall_kind}}`, `{{kind}}`, "no label"},
		{`cupel_run_mode=`, `run_mode=`, "no label"},
		{`, job)`, `, service)`, "variable service"},
	} {
		t.Run(fault.new, func(t *testing.T) {
			bad := bytes.ReplaceAll(good, []byte(fault.old), []byte(fault.new))
			problems := checkDashboard(bad, provisioned, r.series)
			if bytes.Equal(bad, good) || !strings.Contains(strings.Join(problems, "\n"), fault.says) {
				t.Errorf("%q in place of %q: problems %q, want %q", fault.new, fault.old, problems, fault.says)
			}
		})
	}
}

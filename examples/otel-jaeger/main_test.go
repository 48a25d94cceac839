package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// start runs the program without the caller's settings.
func start(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("COLUMNS", "")
	var out, problems bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(stdin), &out, &problems)
	return code, out.String(), problems.String()
}

// clearEnvironment removes the caller's settings of OpenTelemetry for the time of a test.
func clearEnvironment(t *testing.T) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
}

func TestConversation(t *testing.T) {
	clearEnvironment(t)
	picture := filepath.Join(t.TempDir(), "trace.svg")
	code, stdout, stderr := start(t, "", "-svg", picture)
	if code != exitOK || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, text := range []string{
		"Turn 1 of 6: a question about the source\n", "Turn 6 of 6: ",
		"left out: BudgetExceeded ",
		"no window of 3,450 tokens; trace ",
		"✗       classify ", "failed with *pipeline.PinnedExceedsBudgetError: cupel: Pinned items require ",
		"break (forced) at item 1: ", "break (free) at item 1: ", ", a summary stands for ",
		"\n5 turns, 2 breaks: ",
	} {
		if !strings.Contains(stdout, text) {
			t.Errorf("the output does not contain %q:\n%s", text, stdout)
		}
	}
	if n := strings.Count(stdout, " cupel.pipeline "); n != 10 {
		t.Errorf("%d pipelines, want 10: a search each turn, two breaks, and two in vain for the question that does not fit", n)
	}
	if n := strings.Count(stdout, "    place "); n != 8 {
		t.Errorf("%d runs came to the end, want 8", n)
	}
	if n := strings.Count(stdout, "session.commit "); n != 5 {
		t.Errorf("%d turns were committed, want 5", n)
	}
	if strings.Contains(stdout, "\x1b") {
		t.Error("output that is not a terminal's has colors")
	}
	data, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	for decoder := xml.NewDecoder(bytes.NewReader(data)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture: %v", err)
		}
	}
}

func TestJSON(t *testing.T) {
	clearEnvironment(t)
	t.Setenv("OTEL_SERVICE_NAME", "shop-agent")
	code, stdout, stderr := start(t, "\n\n\n\n\n", "-json", "-step", "-verbosity", "stageandexclusions")
	if code != exitOK || strings.Count(stderr, "return key") != 5 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if len(lines) != 6 {
		t.Fatalf("%d lines, want 6:\n%s", len(lines), stdout)
	}
	candidates := 0
	var breaks []string
	for i, line := range lines {
		var r struct {
			record
			Excluded excluded `json:"excluded"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		failed := i == 2
		breaks = append(breaks, r.Break)
		if r.Turn != i+1 || (r.Error != "") != failed || (r.Selected == 0) != failed || r.SelectedTokens > r.TargetTokens {
			t.Errorf("turn %d is %+v", i+1, r.record)
		}
		if i > 0 && r.Candidates < candidates {
			t.Errorf("turn %d has %d candidates, fewer than the %d before", i+1, r.Candidates, candidates)
		}
		if kept := r.KeptTokens > 0; kept != (i > 0 && !failed) {
			t.Errorf("turn %d keeps %d tokens", i+1, r.KeptTokens)
		}
		if !failed {
			candidates = r.Candidates // a turn that fails leaves no trace
		}
		shortfalls := 0
		events := make(map[string]int) // by stage, of a search and of the session's runs
		for _, s := range r.Spans {
			for _, e := range s.Events {
				if e.Name == "cupel.shortfall" {
					shortfalls++
				} else {
					events[strings.TrimPrefix(s.Name, "cupel.stage.")]++
				}
			}
			if s.Service != "shop-agent" {
				t.Errorf("turn %d: %s is of the service %s", i+1, s.Name, s.Service)
			}
		}
		if shortfalls != 1 {
			t.Errorf("turn %d has %d shortfalls, want that of its search", i+1, shortfalls)
		}
		for stage, reasons := range r.Excluded {
			for _, n := range reasons {
				events[stage] -= n
			}
		}
		for name, n := range events {
			if n != 0 {
				t.Errorf("turn %d: %s has %d events more than the metrics count", i+1, name, n)
			}
		}
	}
	if got := strings.Join(breaks, ","); got != ",,,forced,free," {
		t.Errorf("breaks %q, want forced in turn 4 and free in turn 5", got)
	}
}

func TestNotSampled(t *testing.T) {
	clearEnvironment(t)
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	code, stdout, stderr := start(t, "")
	if code != exitOK || strings.Count(stdout, "; not sampled\n") != 6 {
		t.Errorf("exit code %d: %s\n%s", code, stderr, stdout)
	}
}

func TestDelivery(t *testing.T) {
	tests := []struct {
		name   string
		answer func(w http.ResponseWriter, spans int)
		code   int
		says   string
		why    string
	}{
		{"taken", func(http.ResponseWriter, int) {}, exitOK, "all 80 spans arrived", "nothing is wrong"},
		{"refused", func(w http.ResponseWriter, _ int) { w.WriteHeader(http.StatusBadRequest) }, exitUndelivered,
			"80 of 80 spans did not arrive", "Shutdown returns nil all the same"},
		{"partly", func(w http.ResponseWriter, _ int) {
			data, err := proto.Marshal(&collectorpb.ExportTraceServiceResponse{
				PartialSuccess: &collectorpb.ExportTracePartialSuccess{RejectedSpans: 1, ErrorMessage: "no room"},
			})
			if err != nil {
				panic(err)
			}
			w.Header().Set("Content-Type", "application/x-protobuf")
			_, _ = w.Write(data)
		}, exitUndelivered, "no room", "a receiver may take a request and refuse some of its spans"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			clearEnvironment(t)
			var received atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				var request collectorpb.ExportTraceServiceRequest
				if err = errors.Join(err, proto.Unmarshal(body, &request)); err != nil || r.URL.Path != "/v1/traces" {
					t.Errorf("%s: %v", r.URL, err)
				}
				spans := 0
				for _, resource := range request.ResourceSpans {
					for _, scope := range resource.ScopeSpans {
						spans += len(scope.Spans)
					}
				}
				received.Add(int64(spans))
				tt.answer(w, spans)
			}))
			defer server.Close()
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
			code, stdout, stderr := start(t, "")
			if code != tt.code || !strings.Contains(stderr, tt.says) {
				t.Errorf("exit code %d, want %d and %q; %s:\n%s", code, tt.code, tt.says, tt.why, stderr)
			}
			if code != exitOK && !strings.Contains(stderr, "What to check:") {
				t.Errorf("no advice:\n%s", stderr)
			}
			if strings.Count(stdout, " cupel.pipeline ") != 10 {
				t.Errorf("the conversation is not whole:\n%s", stdout)
			}
			// Three turns of 11 spans, two of 17 with a break, one of 13 that fails.
			if received.Load() != 80 {
				t.Errorf("%d spans were received, want 80", received.Load())
			}
		})
	}
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name string
		env  map[string]string
		args []string
		code int
		says string
		why  string
	}{
		{"help", nil, []string{"-h"}, exitOK, "-event-limit", "asked for, so no failure"},
		{"argument", nil, []string{"now"}, exitUsage, `unexpected argument "now"`, "a flag without its dash"},
		{"verbosity", nil, []string{"-verbosity", "loud"}, exitUsage, "must be StageOnly, StageAndExclusions or Full", "a word that means nothing must not show the default"},
		{"flag", nil, []string{"-colour"}, exitUsage, "not defined", "an unknown flag"},
		{"input ends", nil, []string{"-step"}, exitFailure, "the input ended", "the key is never pressed"},
		{"bad endpoint", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318"}, nil, exitUsage,
			"OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4318 is not a URL such as http://127.0.0.1:4318", "the exporter would send to another address"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			clearEnvironment(t)
			for name, value := range tt.env {
				t.Setenv(name, value)
			}
			code, _, stderr := start(t, "", tt.args...)
			if code != tt.code || !strings.Contains(stderr, tt.says) {
				t.Errorf("exit code %d, want %d and %q: %s\n%s", code, tt.code, tt.says, tt.why, stderr)
			}
		})
	}
}

func TestNoLineIsLongerThanTheWidth(t *testing.T) {
	clearEnvironment(t)
	for _, width := range []int{60, 80, 100, 200} {
		code, stdout, stderr := start(t, "", "-width", strconv.Itoa(width))
		if code != exitOK {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		for line := range strings.Lines(stdout) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d characters in a width of %d: a terminal would break %q anywhere", n, width, line)
			}
		}
	}
}

func TestFindTarget(t *testing.T) {
	const general, ofTraces, protocol = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL"
	const ofMetrics = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"
	tests := []struct {
		name string
		env  map[string]string
		want target
		err  string
		why  string
	}{
		{"none", nil, target{}, "", "nowhere to send to"},
		{"general", map[string]string{general: "http://h:4318"}, target{"http://h:4318/v1/traces", general}, "", "that of all signals gets the path of traces"},
		{"general with a path", map[string]string{general: "https://h/otlp/"}, target{"https://h/otlp/v1/traces", general}, "", "below the path that it has"},
		{"traces", map[string]string{general: "http://g", ofTraces: "http://h/x"}, target{"http://h/x", ofTraces}, "", "that of traces goes first, unchanged"},
		{"password", map[string]string{general: "http://me:secret@h"}, target{"http://me:xxxxx@h/v1/traces", general}, "", "it is printed, and ends up in logs"},
		{"off", map[string]string{general: "http://h", "OTEL_TRACES_EXPORTER": "none"}, target{}, "", "switched off"},
		{"on", map[string]string{general: "http://h", "OTEL_TRACES_EXPORTER": "otlp"}, target{"http://h/v1/traces", general}, "", "what it is anyway"},
		{"other exporter", map[string]string{"OTEL_TRACES_EXPORTER": "zipkin"}, target{}, "must be otlp or none in this example", "not linked in"},
		{"right protocol", map[string]string{general: "http://h", protocol: "http/protobuf"}, target{"http://h/v1/traces", general}, "", "what it speaks"},
		{"wrong protocol", map[string]string{general: "http://h", protocol: "grpc"}, target{}, "port 4318", "not linked in"},
		{"protocol of traces", map[string]string{general: "http://h", protocol: "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf"},
			target{"http://h/v1/traces", general}, "", "that of traces goes first"},
		{"no URL", map[string]string{ofTraces: "h"}, target{}, ofTraces + "=h is not a URL", "the exporter would fall back to its default"},
		{"other scheme", map[string]string{general: "grpc://h:4317"}, target{}, "is not a URL such as", "the exporter would fall back to its default"},
		{"metrics", map[string]string{general: "http://g", ofMetrics: "http://h/x"}, target{"http://h/x", ofMetrics}, "", "that of metrics"},
		{"no metrics", map[string]string{general: "http://g"}, target{}, "", "Jaeger, which is there, takes none"},
		{"metrics with the rest", map[string]string{general: "http://g", "OTEL_METRICS_EXPORTER": "otlp"}, target{"http://g/v1/metrics", general}, "", "a collector takes all"},
		{"metrics off", map[string]string{ofMetrics: "http://g", "OTEL_METRICS_EXPORTER": "none"}, target{}, "", "switched off"},
		{"metrics elsewhere", map[string]string{"OTEL_METRICS_EXPORTER": "prometheus"}, target{}, "must be otlp or none in this example", "not linked in"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			signal := traces
			if strings.Contains(tt.name, "metrics") {
				signal = metrics
			}
			got, err := findTarget(func(name string) string { return tt.env[name] }, signal)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q: %s", err, tt.err, tt.why)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("%+v, %v; want %+v: %s", got, err, tt.want, tt.why)
			}
		})
	}
}

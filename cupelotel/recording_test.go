package cupelotel_test

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/policy"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupelotel"
)

// recorded are candidates with every field that strategies read. Their contents have
// the word secret, and so have tags and metadata that no record may have.
func recorded(tb testing.TB, turn int) []*cupel.ContextItem {
	tb.Helper()
	at := func(minutes int) cupel.ItemOption {
		return cupel.WithTimestamp(time.Date(2026, 1, 2, 3, turn+minutes, 0, 0, time.UTC))
	}
	with := func(id string) cupel.ItemOption {
		return cupel.WithMetadata(map[string]any{"id": id, "trust": 0.5, "note": "secret", "cupel:trust": "0.7", "deep": []any{"secret"}})
	}
	items := []*cupel.ContextItem{
		newItem(tb, "secret system", 20, kind(cupel.KindSystemPrompt), cupel.WithPinned(), with("system"), at(0)),
		newItem(tb, "secret question", 12, kind(cupel.KindMessage), at(1), with("question"), cupel.WithPriority(7), cupel.WithTags("asked")),
		newItem(tb, "secret question", 12, kind(cupel.KindMessage), at(2), with("again")),
		newItem(tb, "secret call", 15, kind(cupel.KindMessage), at(3), with("call"), cupel.WithGroup("exchange")),
		newItem(tb, "secret result", 90, kind(cupel.KindToolOutput), at(4), with("result"), cupel.WithGroup("exchange"), hint(0.25), cupel.WithOriginalTokens(900)),
		newItem(tb, "secret report", 80, kind(cupel.KindDocument), at(5), with("report"), cupel.WithVariants(cupel.Variant{Content: "secret short", Tokens: 9, Worth: 0.5})),
		newItem(tb, "secret old", 30, kind(cupel.KindMemory), at(6)),
	}
	for i := range turn {
		items = append(items, newItem(tb, fmt.Sprintf("secret message %d", i), 25, at(10+i), with(fmt.Sprint("message ", i))))
	}
	return items
}

// otlp writes records as lines of the collector's file exporter, but for fields that a
// reader of recordings does not need.
func otlp(tb testing.TB, all *records) string {
	tb.Helper()
	var out strings.Builder
	for i, record := range all.recordings() {
		line, err := json.Marshal(map[string]any{"resourceLogs": []any{map[string]any{"scopeLogs": []any{map[string]any{
			"scope": map[string]any{"name": cupelotel.ScopeName},
			"logRecords": []any{map[string]any{
				"severityNumber": int(record.Severity()), "eventName": record.EventName(),
				"traceId": fmt.Sprintf("%032x", i+1), "body": map[string]any{"stringValue": record.Body().AsString()},
			}},
		}}}}})
		require.NoError(tb, err)
		out.Write(append(line, '\n'))
	}
	return out.String()
}

// TestRecording compares the records of three runs with testdata/recordings.jsonl,
// which cmd/cupel tries other policies on.
func TestRecording(t *testing.T) {
	chat, err := policy.NewRegistry().Lookup("chat")
	require.NoError(t, err)
	clock := func() time.Time { return time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC) }
	p, err := chat.Pipeline(policy.Environment{Clock: clock})
	require.NoError(t, err)
	config := p.Config()
	config.Clock = clock
	p = newPipeline(t, config)
	loggers, kept := newRecords(log.SeverityInfo)
	keys := []string{"trust"}
	collector := cupelotel.NewTraceCollector(cupelotel.WithLoggerProvider(loggers), cupelotel.WithRecording("id", keys...))
	keys[0] = "note" // the caller's slice is its own
	for turn := range 3 {
		_, err := p.Run(t.Context(), recorded(t, turn), newBudget(t, 200, 150), pipeline.WithTrace(collector))
		require.NoError(t, err)
	}
	got := otlp(t, kept)
	golden(t, "recordings.jsonl", got)
	assert.NotContains(t, got, "secret")
	assert.NotContains(t, got, "cupel:trust", "metadata that is not allowed")
}

// TestNoRecording: what cannot be tried on another policy is not recorded.
func TestNoRecording(t *testing.T) {
	pinned := []*cupel.ContextItem{newItem(t, "secret", 500, cupel.WithPinned())}
	budget := newBudget(t, 1000, 100)
	for _, row := range []struct {
		name string
		opts []cupelotel.TraceOption
		run  func(p *pipeline.Pipeline, trace pipeline.RunOption) error
		want int
		why  string
	}{
		{"off", nil, func(p *pipeline.Pipeline, trace pipeline.RunOption) error {
			_, err := p.Run(t.Context(), candidates(t), budget, trace)
			return err
		}, 0, "it is off by default"},
		{"on", []cupelotel.TraceOption{cupelotel.WithRecording("")}, func(p *pipeline.Pipeline, trace pipeline.RunOption) error {
			_, err := p.Run(t.Context(), candidates(t), budget, trace)
			return err
		}, 1, "all candidates were seen"},
		{"stream", []cupelotel.TraceOption{cupelotel.WithRecording("")}, func(p *pipeline.Pipeline, trace pipeline.RunOption) error {
			_, err := p.RunStream(t.Context(), source(t, nil), budget, trace)
			return err
		}, 0, "not all candidates are there at once"},
		{"failed", []cupelotel.TraceOption{cupelotel.WithRecording("")}, func(p *pipeline.Pipeline, trace pipeline.RunOption) error {
			if _, err := p.Run(t.Context(), pinned, newBudget(t, 400, 100), trace); err == nil {
				return fmt.Errorf("it did not fail")
			}
			return nil
		}, 0, "there is no decision to compare with"},
		{"prepared", []cupelotel.TraceOption{cupelotel.WithRecording("")}, func(p *pipeline.Pipeline, trace pipeline.RunOption) error {
			prepared, err := p.Prepare(t.Context(), candidates(t), trace)
			if err == nil {
				_, err = prepared.DryRun(t.Context(), budget, trace)
			}
			return err
		}, 1, "it has the candidates of the run that prepared"},
	} {
		loggers, kept := newRecords(log.SeverityTrace)
		opts := slices.Concat([]cupelotel.TraceOption{cupelotel.WithLoggerProvider(loggers)}, row.opts)
		require.NoError(t, row.run(newPipeline(t, config()), pipeline.WithTrace(cupelotel.NewTraceCollector(opts...))), row.name)
		assert.Len(t, kept.recordings(), row.want, "%s: %s", row.name, row.why)
	}
}

// TestRecordedFields: a record has what strategies read of an item, as they read it.
func TestRecordedFields(t *testing.T) {
	type (
		named  string
		points int8
	)
	twice := newItem(t, "secret twice", 10)
	value := func(v any) *cupel.ContextItem {
		return newItem(t, "secret", 10, cupel.WithMetadata(map[string]any{"v": v}))
	}
	for _, row := range []struct {
		items []*cupel.ContextItem
		want  string
		why   string
	}{
		{[]*cupel.ContextItem{twice, twice, newItem(t, "secret twice", 10)}, `{"same":0,"again":0},{"same":0}`, "a scorer tells an item from its copies"},
		{[]*cupel.ContextItem{newItem(t, "secret twice", 10), twice, twice}, `{"same":0},{"same":0,"again":1}`, "the item is not the first with its content"},
		{[]*cupel.ContextItem{newItem(t, "a", 1, hint(math.NaN())), newItem(t, "b", 1, hint(math.Inf(-1)))}, `{"futureRelevanceHint":"NaN"},{"futureRelevanceHint":"-Inf"}`, "JSON has no such number, and the run is recorded all the same"},
		{[]*cupel.ContextItem{value(1e6)}, `{"metadata":{"v":1e+06}}`, "a scorer compares this text"},
		{[]*cupel.ContextItem{value(math.Inf(1))}, `{"metadata":{"v":"+Inf"}}`, "a scorer compares this text"},
		{[]*cupel.ContextItem{value(float32(0.1))}, `{"metadata":{"v":0.1}}`, "a scorer compares this text"},
		{[]*cupel.ContextItem{value(json.Number("0.50"))}, `{"metadata":{"v":0.50}}`, "a scorer compares this text"},
		{[]*cupel.ContextItem{value(json.Number("x"))}, `{"metadata":{"v":"x"}}`, "it is no number"},
		{[]*cupel.ContextItem{value(json.Number("true"))}, `{"metadata":{"v":"true"}}`, "it is no number"},
		{[]*cupel.ContextItem{value(json.Number(""))}, `{"metadata":{"v":""}}`, "it is no number"},
		{[]*cupel.ContextItem{value(named("x"))}, `{"metadata":{"v":"x"}}`, "a type of its own"},
		{[]*cupel.ContextItem{value(points(-3))}, `{"metadata":{"v":-3}}`, "a type of its own"},
		{[]*cupel.ContextItem{value(uint64(math.MaxUint64))}, `{"metadata":{"v":18446744073709551615}}`, "no digit is lost"},
		{[]*cupel.ContextItem{value(true)}, `{"metadata":{"v":true}}`, "a boolean"},
		{[]*cupel.ContextItem{value([]string{"secret"})}, `{}`, "a list may have contents"},
		{[]*cupel.ContextItem{value(nil)}, `{}`, "no value"},
	} {
		loggers, kept := newRecords(log.SeverityInfo)
		observed := pipeline.WithTrace(cupelotel.NewTraceCollector(cupelotel.WithLoggerProvider(loggers), cupelotel.WithRecording("", "v")))
		_, err := newPipeline(t, config()).Run(t.Context(), row.items, newBudget(t, 1000, 100), observed)
		require.NoError(t, err)
		got := "no record"
		for _, record := range kept.recordings() {
			got = record.Body().AsString()
		}
		_, got, _ = strings.Cut(got, `"candidates":[`)
		got, _, _ = strings.Cut(got, `],"selected"`)
		got = regexp.MustCompile(`("same":\d+,)?("again":\d+,)?"tokens":\d+,"kind":"Message","source":"Chat",?`).ReplaceAllString(got, "$1$2")
		got = strings.ReplaceAll(got, ",}", "}")
		if len(row.items) == 3 {
			got = strings.TrimPrefix(got, "{},")
		}
		assert.Equal(t, row.want, got, row.why)
	}
}

// TestRecordedClock: what was prepared was scored at the time of the preparation, with
// and without tracing.
func TestRecordedClock(t *testing.T) {
	start := time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)
	for _, tracing := range []trace.TracerProvider{noop.NewTracerProvider(), sdktrace.NewTracerProvider()} {
		now := start
		c := config()
		c.Scorer = scorer.Recency{}
		c.Clock = func() time.Time { return now }
		p := newPipeline(t, c)
		loggers, kept := newRecords(log.SeverityInfo)
		observed := pipeline.WithTrace(cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(tracing), cupelotel.WithLoggerProvider(loggers), cupelotel.WithRecording("")))
		prepared, err := p.Prepare(t.Context(), candidates(t), observed)
		require.NoError(t, err)
		now = now.Add(time.Hour)
		again, err := p.Prepare(t.Context(), candidates(t), observed)
		require.NoError(t, err)
		for _, p := range []*pipeline.Prepared{prepared, again} {
			now = now.Add(time.Hour)
			_, err = p.Run(t.Context(), newBudget(t, 1000, 100), observed)
			require.NoError(t, err)
		}
		_, err = p.Run(t.Context(), candidates(t), newBudget(t, 1000, 100), observed)
		require.NoError(t, err)
		want := []time.Time{start, start.Add(time.Hour), now}
		for i, record := range kept.recordings() {
			var body struct{ Clock time.Time }
			require.NoError(t, json.Unmarshal([]byte(record.Body().AsString()), &body))
			assert.Equal(t, want[i], body.Clock, "%T: run %d", tracing, i)
		}
		assert.Len(t, kept.recordings(), len(want), "%T", tracing)
	}
}

package cupelotel_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/log/noop"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelotel"
)

// records keeps log records of a severity and above.
type records struct {
	least log.Severity
	mu    sync.Mutex
	all   []sdklog.Record
}

func newRecords(least log.Severity) (*sdklog.LoggerProvider, *records) {
	r := &records{least: least}
	return sdklog.NewLoggerProvider(sdklog.WithProcessor(r)), r
}

func (r *records) Enabled(_ context.Context, p sdklog.EnabledParameters) bool {
	return p.Severity >= r.least
}

func (r *records) OnEmit(_ context.Context, record *sdklog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, record.Clone())
	return nil
}

func (*records) Shutdown(context.Context) error   { return nil }
func (*records) ForceFlush(context.Context) error { return nil }

// attrsOf returns the attributes of a record.
func attrsOf(record *sdklog.Record) []attribute.KeyValue {
	var attrs []attribute.KeyValue
	for kv := range record.WalkAttributes {
		attrs = append(attrs, kv)
	}
	return attrs
}

// named returns the records of that name.
func (r *records) named(name string) []sdklog.Record {
	return slices.DeleteFunc(slices.Clone(r.all), func(record sdklog.Record) bool { return record.EventName() != name })
}

// write writes the events of spans, or records, in one form.
func write(b *strings.Builder, span trace.SpanID, name string, at fmt.Stringer, attrs []attribute.KeyValue) {
	fmt.Fprintf(b, "%s %s %s", span, at, name)
	for _, kv := range attrs {
		fmt.Fprintf(b, " %s=%s", kv.Key, kv.Value)
	}
	b.WriteByte('\n')
}

// TestRecordsAreTheEvents: each event of a span is also a record, in the same order,
// with the same attributes and time, and belongs to the span.
func TestRecordsAreTheEvents(t *testing.T) {
	for _, stream := range []bool{false, true} {
		tracers, recorder := newRecorder(t)
		loggers, kept := newRecords(log.SeverityTrace)
		collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(tracers), cupelotel.WithLoggerProvider(loggers),
			cupelotel.WithVerbosity(cupelotel.VerbosityFull), cupelotel.WithEventLimit(3))
		var err error
		if p, budget := newPipeline(t, alarming(t)), newBudget(t, 1000, 100); stream {
			_, err = p.RunStream(t.Context(), func(yield func(*cupel.ContextItem, error) bool) {
				for _, item := range candidates(t) {
					if !yield(item, nil) {
						return
					}
				}
			}, budget, pipeline.WithTrace(collector))
		} else {
			_, err = p.Run(t.Context(), candidates(t), budget, pipeline.WithTrace(collector))
		}
		if err != nil {
			t.Fatal(err)
		}
		var want, got strings.Builder
		for _, span := range recorder.Ended() {
			if got := span.InstrumentationScope().SchemaURL; got != schemaURL {
				t.Errorf("%s has the schema URL %q", span.Name(), got)
			}
			for _, event := range span.Events() {
				write(&want, span.SpanContext().SpanID(), event.Name, event.Time, event.Attributes)
			}
		}
		for _, record := range kept.all {
			scope := record.InstrumentationScope()
			if scope.Name != cupelotel.ScopeName || scope.Version != cupelotel.Version || scope.SchemaURL != schemaURL {
				t.Errorf("the scope is %v", scope)
			}
			if record.TraceID() != recorder.Ended()[0].SpanContext().TraceID() || !record.TraceFlags().IsSampled() {
				t.Errorf("%s is of the trace %s, %s", record.EventName(), record.TraceID(), record.TraceFlags())
			}
			if record.EventName() != "cupel.selection" {
				write(&got, record.SpanID(), record.EventName(), record.Timestamp(), attrsOf(&record))
			}
		}
		if want.Len() == 0 || got.String() != want.String() {
			t.Errorf("stream %t: the records are\n%s\nwant those of the spans:\n%s", stream, got.String(), want.String())
		}
	}
}

func TestWhichRecords(t *testing.T) {
	const item, alert, run = "cupel.exclusion/DEBUG ", "cupel.overflow/WARN cupel.shortfall/WARN cupel.shortfall/WARN ", "cupel.selection/INFO "
	sampledOut := sdktrace.WithSampler(sdktrace.NeverSample())
	stagesOut := sdktrace.WithSampler(withoutStages{sdktrace.AlwaysSample()})
	for _, tt := range []struct {
		name      string
		config    pipeline.Config
		verbosity cupelotel.Verbosity
		least     log.Severity
		sampler   sdktrace.TracerProviderOption
		opts      []cupelotel.TraceOption
		records   string
		events    int // of spans
		why       string
	}{
		{"run", alarming(t), cupelotel.VerbosityStageOnly, log.SeverityTrace, nil, nil, run, 0, "one record at every verbosity"},
		{"events", alarming(t), cupelotel.VerbosityStageAndExclusions, log.SeverityTrace, nil, nil, item + item + item + alert + run, 6, "as spans have them"},
		{"instead", alarming(t), cupelotel.VerbosityStageAndExclusions, log.SeverityTrace, nil, []cupelotel.TraceOption{cupelotel.WithoutSpanEvents()},
			item + item + item + alert + run, 0, "span events are deprecated"},
		{"information", alarming(t), cupelotel.VerbosityStageAndExclusions, log.SeverityInfo, nil, nil, alert + run, 6, "the logger decides which severities it wants"},
		{"warnings", alarming(t), cupelotel.VerbosityFull, log.SeverityWarn, nil, nil, alert, 11, "spans keep their events"},
		{"errors", alarming(t), cupelotel.VerbosityFull, log.SeverityError, nil, nil, "", 11, "the run succeeded"},
		{"a failed run", throwing(), cupelotel.VerbosityStageOnly, log.SeverityError, nil, nil, "cupel.selection/ERROR ", 0, "a failure is an error"},
		{"nothing", alarming(t), cupelotel.VerbosityFull, log.SeverityFatal, nil, nil, "", 11, "as without a logger"},
		{"sampled out", alarming(t), cupelotel.VerbosityStageAndExclusions, log.SeverityTrace, sampledOut, nil, item + item + item + alert + run, 0,
			"records do not follow the sampling decision"},
		{"stages sampled out", alarming(t), cupelotel.VerbosityStageAndExclusions, log.SeverityTrace, stagesOut, nil, item + item + item + alert + run, 3,
			"a sampler may leave out stages"},
		{"filtered", config(), cupelotel.VerbosityFull, log.SeverityTrace, nil,
			[]cupelotel.TraceOption{cupelotel.WithFilter(func(context.Context, observe.RunInfo) bool { return false })}, "", 0, "the filter is of runs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var sampler []sdktrace.TracerProviderOption
			if tt.sampler != nil {
				sampler = append(sampler, tt.sampler)
			}
			tracers, recorder := newRecorder(t, sampler...)
			loggers, kept := newRecords(tt.least)
			collector := cupelotel.NewTraceCollector(append(tt.opts, cupelotel.WithTracerProvider(tracers), cupelotel.WithLoggerProvider(loggers), cupelotel.WithVerbosity(tt.verbosity))...)
			_, _ = newPipeline(t, tt.config).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)) // one fails
			var got string
			for _, record := range kept.all {
				got += record.EventName() + "/" + record.Severity().String() + " "
				if !record.TraceID().IsValid() || record.Timestamp().IsZero() || record.Body().Type() != attribute.EMPTY {
					t.Errorf("the trace %s, the time %s and the body %s; want the first two", record.TraceID(), record.Timestamp(), record.Body())
				}
			}
			events := 0
			for _, span := range recorder.Ended() {
				events += len(span.Events())
			}
			if got != tt.records || events != tt.events {
				t.Errorf("the records are\n%q and spans have %d events, want\n%q and %d: %s", got, events, tt.records, tt.events, tt.why)
			}
		})
	}
}

// withoutStages samples no stages.
type withoutStages struct{ sdktrace.Sampler }

func (s withoutStages) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	if strings.HasPrefix(p.Name, "cupel.stage.") {
		return sdktrace.NeverSample().ShouldSample(p)
	}
	return s.Sampler.ShouldSample(p)
}

func TestRecordOfARun(t *testing.T) {
	loggers, kept := newRecords(log.SeverityInfo)
	collector := cupelotel.NewTraceCollector(cupelotel.WithLoggerProvider(loggers), cupelotel.WithAttributes(attribute.String("tenant", "a")))
	c := config()
	c.Name = "support"
	ctx := cupelotel.ContextWithConversationID(t.Context(), "c1")
	if _, err := newPipeline(t, c).Run(ctx, candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
		t.Fatal(err)
	}
	if len(kept.all) != 1 {
		t.Fatalf("%d records, want one", len(kept.all))
	}
	var got strings.Builder
	for _, kv := range attrsOf(&kept.all[0]) {
		fmt.Fprintf(&got, "%s = %s\n", kv.Key, kv.Value)
	}
	const want = `tenant = a
cupel.budget.max_tokens = 1000
cupel.verbosity = StageOnly
cupel.run.mode = run
cupel.pipeline.name = support
cupel.budget.target_tokens = 100
cupel.budget.output_reserve = 0
cupel.run.candidates = 8
gen_ai.conversation.id = c1
cupel.run.included = 3
cupel.run.selected_tokens = 60
cupel.budget.utilization = 0.06
cupel.budget.target_utilization = 0.6
cupel.run.excluded = 5
cupel.selection.excluded_by_reason = {"BudgetExceeded":{"items":1,"tokens":5000},"Deduplicated":{"items":1,"tokens":10},"NegativeTokens":{"items":1,"tokens":-5},"PinnedOverride":{"items":1,"tokens":50},"_OTHER":{"items":1,"tokens":60}}
cupel.selection.excluded_by_kind = {"Document":{"items":2,"tokens":5050},"Journal":{"items":1,"tokens":60},"Message":{"items":1,"tokens":-5},"ToolOutput":{"items":1,"tokens":10}}
cupel.selection.included_by_kind = {"Document":{"items":1,"tokens":30},"SystemPrompt":{"items":1,"tokens":20},"ToolOutput":{"items":1,"tokens":10}}
`
	if got.String() != want {
		t.Errorf("the record says\n%s\nwant\n%s", got.String(), want)
	}
	const proposal = "../docs/gen-ai-context-selection.md"
	if doc, err := os.ReadFile(proposal); err == nil && !strings.Contains(string(doc), strings.TrimPrefix(want, "tenant = a\n")) { // outside of the module
		t.Errorf("%s shows another record", proposal)
	}
}

func TestRecordNamesAFewKinds(t *testing.T) {
	var items []*cupel.ContextItem
	for i := range 40 {
		for n := range 1 + i%2 { // twenty kinds with one item, twenty with two
			items = append(items, newItem(t, fmt.Sprint(i, n), math.MaxInt/2, kind(cupel.ContextKind(fmt.Sprintf("k%02d", i)))))
		}
	}
	for _, tt := range []struct {
		redact cupelotel.Redactor
		names  int
		want   string
		why    string
	}{
		{nil, 33, fmt.Sprintf(`"_OTHER":{"items":8,"tokens":%d}`, math.MaxInt), "the others have one item each; tokens stay in the range of int"},
		{func(_ cupelotel.TextSource, text string) string { return text[:2] }, 5, `"k1":{"items":15,`, "kinds that the redactor calls alike are one"},
	} {
		loggers, kept := newRecords(log.SeverityInfo)
		collector := cupelotel.NewTraceCollector(cupelotel.WithLoggerProvider(loggers), cupelotel.WithRedaction(tt.redact))
		if _, err := newPipeline(t, config()).Run(t.Context(), items, newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
			t.Fatal(err)
		}
		for _, kv := range attrsOf(&kept.all[0]) {
			if kv.Key == "cupel.selection.excluded_by_kind" {
				if names := len(kv.Value.AsMap()); names != tt.names || !strings.Contains(kv.Value.String(), tt.want) {
					t.Errorf("%d names, want %d and %s: %s\n%s", names, tt.names, tt.want, tt.why, kv.Value)
				}
			}
		}
	}
}

func TestGlobalLoggerProvider(t *testing.T) {
	previous := otel.GetLoggerProvider()
	t.Cleanup(func() { otel.SetLoggerProvider(previous) })
	var unset *sdklog.LoggerProvider
	with := cupelotel.NewTraceCollector(cupelotel.WithLoggerProvider(unset))
	without := cupelotel.NewTraceCollector()
	loggers, kept := newRecords(log.SeverityInfo)
	otel.SetLoggerProvider(loggers) // after the collectors were made
	for _, collector := range []*cupelotel.TraceCollector{with, without} {
		if _, err := newPipeline(t, config()).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
			t.Fatal(err)
		}
	}
	if len(kept.all) != 1 {
		t.Errorf("%d records, want one: nil is the global provider, no option is none", len(kept.all))
	}
}

// TestLoggersThatAreOff: a collector with a logger that wants nothing costs as much as
// one without.
func TestLoggersThatAreOff(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector drops pooled memory at random, and so adds allocations")
	}
	p, items, budget := workload(t, 100)
	allocs := func(opts ...cupelotel.TraceOption) float64 {
		collector := cupelotel.NewTraceCollector(append(opts, cupelotel.WithTracerProvider(sampledOut()), cupelotel.WithVerbosity(cupelotel.VerbosityFull))...)
		return testing.AllocsPerRun(20, func() {
			if _, err := p.Run(t.Context(), items, budget, pipeline.WithTrace(collector)); err != nil {
				t.Fatal(err)
			}
		})
	}
	off, _ := newRecords(log.SeverityFatal)
	for name, provider := range map[string]log.LoggerProvider{"no-op": noop.NewLoggerProvider(), "off": off, "without processors": sdklog.NewLoggerProvider()} {
		if with, without := allocs(cupelotel.WithLoggerProvider(provider)), allocs(); with > without+1 {
			t.Errorf("%s: %v allocations, %v without a logger; want at most one more", name, with, without)
		}
	}
}

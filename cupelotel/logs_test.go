package cupelotel_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

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

func TestWhichRecords(t *testing.T) {
	for _, tt := range []struct {
		name    string
		config  pipeline.Config
		least   log.Severity
		sampler sdktrace.Sampler
		records string
		why     string
	}{
		{"errors", config(), log.SeverityError, sdktrace.AlwaysSample(), "", "the run succeeded"},
		{"a failed run", throwing(), log.SeverityError, sdktrace.AlwaysSample(), "ERROR", "a failure is an error"},
		{"sampled out", config(), log.SeverityInfo, sdktrace.NeverSample(), "INFO", "records do not follow the sampling decision"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tracers, _ := newRecorder(t, sdktrace.WithSampler(tt.sampler))
			loggers, kept := newRecords(tt.least)
			collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(tracers), cupelotel.WithLoggerProvider(loggers), cupelotel.WithVerbosity(cupelotel.VerbosityFull))
			_, _ = newPipeline(t, tt.config).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)) // one fails
			var got string
			for _, record := range kept.all {
				got += record.Severity().String()
				assert.Equal(t, "cupel.selection", record.EventName())
				assert.True(t, record.TraceID().IsValid(), "it belongs to the span of the run")
				assert.False(t, record.Timestamp().IsZero())
				scope := record.InstrumentationScope()
				assert.Equal(t, []string{cupelotel.ScopeName, cupelotel.Version, schemaURL}, []string{scope.Name, scope.Version, scope.SchemaURL})
			}
			assert.Equal(t, tt.records, got, tt.why)
		})
	}
}

func TestRecordOfARun(t *testing.T) {
	loggers, kept := newRecords(log.SeverityInfo)
	collector := cupelotel.NewTraceCollector(cupelotel.WithLoggerProvider(loggers))
	c := config()
	c.Name = "support"
	ctx := cupelotel.ContextWithConversationID(t.Context(), "c1")
	_, err := newPipeline(t, c).Run(ctx, candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector))
	require.NoError(t, err)
	require.Len(t, kept.all, 1)
	var got strings.Builder
	for _, kv := range attrsOf(&kept.all[0]) {
		fmt.Fprintf(&got, "%s = %s\n", kv.Key, kv.Value)
	}
	const want = `cupel.budget.max_tokens = 1000
cupel.verbosity = StageOnly
cupel.run.mode = run
cupel.pipeline.name = support
gen_ai.conversation.id = c1
cupel.budget.target_tokens = 100
cupel.budget.output_reserve = 0
cupel.run.candidates = 8
cupel.run.included = 3
cupel.run.selected_tokens = 60
cupel.budget.utilization = 0.06
cupel.budget.target_utilization = 0.6
cupel.run.excluded = 5
cupel.exclusion.reasons = ["BudgetExceeded","Deduplicated","NegativeTokens","PinnedOverride","_OTHER"]
cupel.exclusion.reason_counts = [1,1,1,1,1]
`
	assert.Equal(t, want, got.String())
}

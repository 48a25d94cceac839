package cupelotel_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/turn"
	"github.com/wollax/cupel-go/cupelotel"
)

// known returns the attributes of a span that the chapter does not have, in order.
func known(span sdktrace.ReadOnlySpan) string {
	var b strings.Builder
	for _, kv := range span.Attributes() {
		if name := string(kv.Key); !strings.HasPrefix(name, "cupel.") || strings.HasPrefix(name, "cupel.exclusion.") || strings.HasSuffix(name, ".dropped_count") {
			fmt.Fprintf(&b, "%s=%s\n", kv.Key, kv.Value.String())
		}
	}
	return b.String()
}

// TestConventions: candidates 0, 2 and 4 are in the window.
func TestConventions(t *testing.T) {
	const (
		left      = "cupel.exclusion.reasons=[\"BudgetExceeded\",\"Deduplicated\",\"NegativeTokens\",\"PinnedOverride\",\"_OTHER\"]\ncupel.exclusion.reason_counts=[1,1,1,1,1]\n"
		retrieval = "gen_ai.operation.name=retrieval\n"
		reranker  = "openinference.span.kind=RERANKER\nsession.id=c1\n"
		session   = "gen_ai.conversation.id=c1\n"
		documents = `gen_ai.retrieval.documents=[{"id":"0","score":1},{"id":"2","score":0.9},{"id":"4","score":0.5}]` + "\n"
	)
	list := func(name string, documents ...string) (text string) {
		for i, d := range documents {
			id, score, _ := strings.Cut(d, " ")
			text += fmt.Sprintf("reranker.%s_documents.%d.document.id=%s\nreranker.%s_documents.%d.document.score=%s\n", name, i, id, name, i, score)
		}
		return text
	}
	reranked := list("input", "0 1", "2 0.9", "5 0.7", "4 0.5", "7 0.4", "3 0.2", "6 0.1", "1 0") + list("output", "0 1", "2 0.9", "4 0.5")
	shown := observe.Redaction{Show: observe.PartContent, Rewrite: func(_ observe.Part, text string) string { return strings.ReplaceAll(text, "secret", "a") }}
	for _, row := range []struct {
		name  string
		opts  []cupelotel.TraceOption
		want  string
		stage string
	}{
		{"none", nil, session, ""},
		{"GenAI", []cupelotel.TraceOption{cupelotel.WithConventions(cupelotel.GenAI)}, session + retrieval + left + documents, ""},
		{"OpenInference", []cupelotel.TraceOption{cupelotel.WithConventions(cupelotel.OpenInference)}, session + reranker + left + reranked, "openinference.span.kind=CHAIN\n"},
		{"contents", []cupelotel.TraceOption{cupelotel.WithConventions(cupelotel.GenAI), cupelotel.WithRedaction(shown)}, session + retrieval + left +
			`gen_ai.retrieval.documents=[{"id":"0","score":1,"content":"a pinned"},{"id":"2","score":0.9,"content":"a a"},{"id":"4","score":0.5,"content":"a b"}]` + "\n", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			collector, recorder := traced(t, cupelotel.VerbosityStageOnly, row.opts...)
			ctx := cupelotel.ContextWithConversationID(t.Context(), "c1")
			_, err := newPipeline(t, config()).Run(ctx, candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector))
			require.NoError(t, err)
			assert.Equal(t, row.want, known(spanNamed(t, recorder, "cupel.pipeline")))
			assert.Equal(t, row.stage, known(spanNamed(t, recorder, "cupel.stage.slice")))
			take(t, ctx, collector, turn.End{})
			assert.Equal(t, session+row.stage, known(spanNamed(t, recorder, "cupel.session.turn")))
		})
	}
}

// TestDocumentsAreBounded: the SDK drops no attribute of a run of 10,000 candidates.
func TestDocumentsAreBounded(t *testing.T) {
	items := many(t, 10_000)
	for i, item := range items {
		var err error
		items[i], err = item.With(cupel.WithMetadata(map[string]any{"id": fmt.Sprint("id ", i)}))
		require.NoError(t, err)
	}
	policy := observe.Redaction{Show: observe.PartID | observe.PartContent, ID: "id"}
	for _, row := range []struct {
		conventions []cupelotel.Convention
		policy      observe.Redaction
		documents   int
		first       string
	}{
		{[]cupelotel.Convention{cupelotel.GenAI}, observe.Redaction{}, 30, "9999"},
		{[]cupelotel.Convention{cupelotel.GenAI, cupelotel.OpenInference}, observe.Redaction{}, 25, "9999"},
		{[]cupelotel.Convention{cupelotel.GenAI, cupelotel.OpenInference}, policy, 16, "id 9999"},
	} {
		collector, recorder := traced(t, cupelotel.VerbosityFull, cupelotel.WithConventions(row.conventions...), cupelotel.WithRedaction(row.policy))
		c := config()
		c.Name, c.PolicyHash, c.Slicer = "name", "hash", slicer.Greedy{}
		_, err := newPipeline(t, c).Run(cupelotel.ContextWithConversationID(t.Context(), "c1"), items, newBudget(t, 1000, 100), pipeline.WithTrace(collector))
		require.NoError(t, err)
		span := spanNamed(t, recorder, "cupel.pipeline")
		assert.Zero(t, span.DroppedAttributes())
		assert.LessOrEqual(t, len(span.Attributes()), 128)
		assert.Equal(t, row.documents, strings.Count(attr(span.Attributes(), "gen_ai.retrieval.documents"), `"id"`))
		assert.Contains(t, attr(span.Attributes(), "gen_ai.retrieval.documents"), `[{"id":"`+row.first+`"`)
		assert.Equal(t, fmt.Sprint(10_000-row.documents), attr(span.Attributes(), "cupel.candidate.dropped_count"))
		assert.Equal(t, fmt.Sprint(100-row.documents), attr(span.Attributes(), "cupel.document.dropped_count"))
		last := attribute.Key(fmt.Sprintf("reranker.output_documents.%d.document.score", row.documents-1))
		assert.Equal(t, len(row.conventions) > 1, attr(span.Attributes(), last) != "")
	}
}

// TestRunsWithoutDocuments: there is no window, or not all candidates at once.
func TestRunsWithoutDocuments(t *testing.T) {
	collector, recorder := traced(t, cupelotel.VerbosityStageOnly, cupelotel.WithConventions(cupelotel.GenAI))
	_, err := newPipeline(t, throwing()).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector))
	require.Error(t, err)
	assert.Equal(t, "gen_ai.operation.name=retrieval\nerror.type=*pipeline.OverflowError\n", known(spanNamed(t, recorder, "cupel.pipeline")))
	recorder.Reset()
	_, err = newPipeline(t, config()).RunStream(t.Context(), source(t, nil), newBudget(t, 1000, 100), pipeline.WithTrace(collector))
	require.NoError(t, err)
	assert.Equal(t, "gen_ai.operation.name=retrieval\n", known(spanNamed(t, recorder, "cupel.pipeline")))
	recorder.Reset()
	_, err = newPipeline(t, config()).Prepare(t.Context(), candidates(t), pipeline.WithTrace(collector))
	require.NoError(t, err)
	assert.Empty(t, known(spanNamed(t, recorder, "cupel.pipeline")))
}

// TestScoresThatJSONDoesNotHave are left out of a document.
func TestScoresThatJSONDoesNotHave(t *testing.T) {
	collector, recorder := traced(t, cupelotel.VerbosityStageOnly, cupelotel.WithConventions(cupelotel.GenAI))
	ctx, run := collector.StartRun(t.Context(), observe.RunInfo{Items: many(t, 3)})
	run.EndRun(ctx, observe.RunEnd{Decisions: []observe.Decision{{Score: math.NaN(), Place: 1}, {Score: math.Inf(1), Place: 2}, {Score: 2, Place: 3}}})
	assert.Contains(t, known(spanNamed(t, recorder, "cupel.pipeline")), `[{"id":"1"},{"id":"2","score":2},{"id":"0"}]`)
}

// TestReportAttributes: the functions see the report of a run, also of one that failed.
func TestReportAttributes(t *testing.T) {
	handled := handledErrors(t)
	shared := []attribute.KeyValue{attribute.String("shared", "\xff")} // concurrent runs get it
	count := func(report *cupel.SelectionReport) []attribute.KeyValue {
		return []attribute.KeyValue{
			attribute.Int("in", len(report.Included)), attribute.String("a\xff", "b\xff"), attribute.StringSlice("list", []string{"c", "d\xff"}),
			attribute.Slice("values", attribute.StringValue("e\xff")), attribute.Map("map", attribute.String("f\xff", "g\xff")),
		}
	}
	collector, recorder := traced(t, cupelotel.VerbosityStageOnly, cupelotel.WithReportAttributes(nil),
		cupelotel.WithReportAttributes(func(*cupel.SelectionReport) []attribute.KeyValue { panic("secret") }), cupelotel.WithReportAttributes(count),
		cupelotel.WithReportAttributes(func(*cupel.SelectionReport) []attribute.KeyValue { return shared }))
	run(t, config(), collector)
	assert.Equal(t, "\xff", shared[0].Value.AsString(), "it is the caller's")
	assert.Equal(t, "in=3\na\uFFFD=b\uFFFD\nlist=[\"c\",\"d\uFFFD\"]\nvalues=[\"e\uFFFD\"]\nmap={\"f\uFFFD\":\"g\uFFFD\"}\nshared=\uFFFD\n", known(spanNamed(t, recorder, "cupel.pipeline")))
	recorder.Reset()
	_, err := newPipeline(t, throwing()).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector))
	require.Error(t, err)
	assert.Contains(t, known(spanNamed(t, recorder, "cupel.pipeline")), "in=0\n")
	assert.Len(t, handled(), 2)
	assert.NotContains(t, fmt.Sprint(handled()), "secret")
}

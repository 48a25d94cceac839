package cupelotel_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelotel"
)

// The strategies below are functions, so that a test can make them misbehave.
type (
	scoreFunc func(item *cupel.ContextItem) float64
	batchFunc func(ctx context.Context, all []*cupel.ContextItem, scores []float64) error
	sliceFunc func(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error)
	placeFunc func(ctx context.Context, items []cupel.ScoredItem, order []int) error
)

func (f scoreFunc) Score(ctx context.Context, items []*cupel.ContextItem, scores []float64) error {
	return strategy.ScorerFunc(f.score).Score(ctx, items, scores)
}

func (f scoreFunc) score(item *cupel.ContextItem, _ []*cupel.ContextItem) float64 { return f(item) }

func (f batchFunc) Score(ctx context.Context, all []*cupel.ContextItem, scores []float64) error {
	return f(ctx, all, scores)
}

func (f sliceFunc) Slice(ctx context.Context, items []cupel.ScoredItem, budget cupel.SliceBudget) (strategy.Selection, error) {
	return f(ctx, items, budget)
}

func (f placeFunc) Place(ctx context.Context, items []cupel.ScoredItem, order []int) error {
	return f(ctx, items, order)
}

// byHint scores an item by its hint.
var byHint = scoreFunc(func(item *cupel.ContextItem) float64 {
	hint, _ := item.FutureRelevanceHint()
	return hint
})

// byTags takes items tagged "take" regardless of the budget, drops items tagged
// "drop" for a reason of its own, and leaves the rest to the budget.
var byTags = sliceFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (strategy.Selection, error) {
	var s strategy.Selection
	for i, scored := range items {
		switch tags := scored.Item.Tags(); {
		case slices.Contains(tags, "take"):
			s.Indices = append(s.Indices, i)
		case slices.Contains(tags, "drop"):
			s.Drops = append(s.Drops, strategy.Drop{Index: i, Reason: cupel.ExclusionReason{Code: "Boring"}})
		}
	}
	return s, nil
})

// asMerged leaves the merged order as it is: pinned items, then the highest
// scores.
var asMerged = placeFunc(func(context.Context, []cupel.ScoredItem, []int) error { return nil })

// config is a working configuration of the strategies above.
func config() pipeline.Config {
	return pipeline.Config{Scorer: byHint, Slicer: byTags, Placer: asMerged, Overflow: pipeline.OverflowTruncate}
}

func newPipeline(tb testing.TB, c pipeline.Config) *pipeline.Pipeline {
	tb.Helper()
	p, err := pipeline.New(c)
	require.NoError(tb, err)
	return p
}

// run runs the candidates with a collector; three of them fit.
func run(t *testing.T, c pipeline.Config, collector observe.TraceCollector) {
	t.Helper()
	_, err := newPipeline(t, c).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector))
	require.NoError(t, err)
}

// traced returns a collector and a recorder of its spans.
func traced(t *testing.T, verbosity cupelotel.Verbosity, opts ...cupelotel.TraceOption) (*cupelotel.TraceCollector, *tracetest.SpanRecorder) {
	t.Helper()
	provider, recorder := newRecorder(t)
	return cupelotel.NewTraceCollector(append(opts, cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(verbosity))...), recorder
}

// measured returns a collector and a reader of its metrics.
func measured(t *testing.T) (*cupelotel.MetricCollector, *sdkmetric.ManualReader) {
	t.Helper()
	provider, reader := newReader(t)
	return cupelotel.NewMetricCollector(cupelotel.WithMeterProvider(provider)), reader
}

func newItem(tb testing.TB, content string, tokens int, opts ...cupel.ItemOption) *cupel.ContextItem {
	tb.Helper()
	item, err := cupel.NewContextItem(content, tokens, opts...)
	require.NoError(tb, err)
	return item
}

func newBudget(tb testing.TB, maxTokens, target int) cupel.ContextBudget {
	tb.Helper()
	budget, err := cupel.NewContextBudget(maxTokens, target)
	require.NoError(tb, err)
	return budget
}

func kind(k cupel.ContextKind) cupel.ItemOption { return cupel.WithKind(k) }
func hint(h float64) cupel.ItemOption           { return cupel.WithFutureRelevanceHint(h) }

// candidates make every stage leave something out, under a target of 100
// tokens: one item has a negative size, one is the second copy of a, one is
// tagged to be dropped, some are too large, and one is taken but overflows the
// target.
func candidates(tb testing.TB) []*cupel.ContextItem {
	tb.Helper()
	take, drop := cupel.WithTags("take"), cupel.WithTags("drop")
	return []*cupel.ContextItem{
		newItem(tb, "secret pinned", 20, kind("SystemPrompt"), cupel.WithPinned()),
		newItem(tb, "secret negative", -5),
		newItem(tb, "secret a", 10, kind("ToolOutput"), hint(0.9), take),
		newItem(tb, "secret a", 10, kind("ToolOutput"), hint(0.2), take),
		newItem(tb, "secret b", 30, kind("Document"), hint(0.5), take),
		newItem(tb, "secret huge", 5000, kind("Document"), hint(0.7)),
		newItem(tb, "secret note", 60, kind("Journal"), hint(0.1), drop),
		newItem(tb, "secret c", 50, kind("Document"), hint(0.4), take),
	}
}

// source yields the candidates and, after them, an error unless it is nil.
func source(t *testing.T, err error) iter.Seq2[*cupel.ContextItem, error] {
	t.Helper()
	return func(yield func(*cupel.ContextItem, error) bool) {
		for _, item := range candidates(t) {
			if !yield(item, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

var base = time.Date(2025, 3, 4, 5, 6, 7, 8, time.UTC)

// ticking returns a clock that advances by a quarter of a second at each reading, which
// adds up exactly in binary.
func ticking() func() time.Time {
	now := base
	return func() time.Time {
		now = now.Add(250 * time.Millisecond)
		return now
	}
}

// newRecorder returns a provider and a recorder of its spans. It checks at the
// end of the test that every started span has ended.
func newRecorder(t *testing.T, opts ...sdktrace.TracerProviderOption) (*sdktrace.TracerProvider, *tracetest.SpanRecorder) {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(append(opts, sdktrace.WithSpanProcessor(recorder))...)
	t.Cleanup(func() {
		assert.Len(t, recorder.Ended(), len(recorder.Started()), "as many spans must end as start")
	})
	return provider, recorder
}

// spanNamed returns the only ended span of that name.
func spanNamed(t *testing.T, recorder *tracetest.SpanRecorder, name string) sdktrace.ReadOnlySpan {
	t.Helper()
	var found []sdktrace.ReadOnlySpan
	for _, span := range recorder.Ended() {
		if span.Name() == name {
			found = append(found, span)
		}
	}
	require.Len(t, found, 1, "spans called %s; all:\n%s", name, tree(recorder.Ended()))
	return found[0]
}

// attr returns an attribute as text, or "" when there is none.
func attr(attrs []attribute.KeyValue, key attribute.Key) string {
	for _, kv := range attrs {
		if kv.Key == key {
			return kv.Value.String()
		}
	}
	return ""
}

// tree writes spans down without times, children below their parents in the
// order in which they started.
func tree(spans []sdktrace.ReadOnlySpan) string {
	spans = slices.Clone(spans)
	slices.SortStableFunc(spans, func(a, b sdktrace.ReadOnlySpan) int { return a.StartTime().Compare(b.StartTime()) })
	known := make(map[trace.SpanID]bool)
	for _, span := range spans {
		known[span.SpanContext().SpanID()] = true
	}
	var b strings.Builder
	var write func(span sdktrace.ReadOnlySpan, indent string)
	attributes := func(indent string, attrs []attribute.KeyValue) {
		for _, kv := range attrs {
			value := kv.Value.String()
			if strings.Contains(string(kv.Key), "_time") {
				value = "(time)"
			}
			fmt.Fprintf(&b, "%s%s = %s %s\n", indent, kv.Key, strings.ToLower(kv.Value.Type().String()), value)
		}
	}
	write = func(span sdktrace.ReadOnlySpan, indent string) {
		fmt.Fprintf(&b, "%s%s (%s, %s %s)\n", indent, span.Name(), span.SpanKind(), span.InstrumentationScope().Name, span.InstrumentationScope().Version)
		indent += "    "
		if status := span.Status(); status.Code != codes.Unset {
			fmt.Fprintf(&b, "%sstatus %s: %s\n", indent, status.Code, status.Description)
		}
		attributes(indent, span.Attributes())
		for _, event := range span.Events() {
			fmt.Fprintf(&b, "%s* %s\n", indent, event.Name)
			attributes(indent+"      ", event.Attributes)
		}
		for _, child := range spans {
			if child.Parent().SpanID() == span.SpanContext().SpanID() {
				write(child, indent)
			}
		}
	}
	for _, span := range spans {
		if !known[span.Parent().SpanID()] {
			write(span, "")
		}
	}
	return b.String()
}

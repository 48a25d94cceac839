package cupelotel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupel/turn"
	"github.com/wollax/cupel-go/cupelotel"
)

// marker is around every text of an item that must not be exported. It is searched
// for in any case: kinds and sources are known without it.
const marker = "zq7secret"

// quoting is an error that quotes an item wherever it can.
type quoting struct{ text string }

func (q quoting) Error() string        { return q.text }
func (q quoting) ErrorType() string    { return q.text }
func (q quoting) String() string       { return q.text }
func (q quoting) GoString() string     { return q.text }
func (q quoting) Is(target error) bool { return target == context.Canceled }
func (q quoting) Unwrap() error {
	return &cupel.ScarcityError{Slicer: q.text, Kind: cupel.ContextKind(q.text)}
}
func (q quoting) MarshalJSON() ([]byte, error) { return []byte(q.text), nil }

// leaks are strategies and sources that do what they can to have an item exported.
var leaks = []struct {
	name    string
	arrange func(c *pipeline.Config, text string)
	source  error // of a stream
	cause   error // of a cancellation
	why     string
}{
	{name: "nothing wrong", why: "what a run exports"},
	{name: "overflow", arrange: func(c *pipeline.Config, _ string) { c.Overflow = pipeline.OverflowProceed }, why: "events of the root span"},
	{name: "panic", arrange: func(c *pipeline.Config, text string) {
		c.Scorer = scoreFunc(func(*cupel.ContextItem) float64 { panic(quoting{text}) })
	}, why: "its value"},
	{name: "error", arrange: func(c *pipeline.Config, text string) {
		c.Scorer = batchFunc(func(context.Context, []*cupel.ContextItem, []float64) error { return quoting{text} })
	}, why: "its text, its ErrorType and what it wraps"},
	{name: "reasons", arrange: func(c *pipeline.Config, text string) {
		codes := append(cupel.ExclusionCodes(), "Boring")
		c.Slicer = sliceFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (strategy.Selection, error) {
			var s strategy.Selection
			for i := range items {
				s.Drops = append(s.Drops, strategy.Drop{Index: i, Reason: cupel.NewExclusionReason(codes[i%len(codes)], cupel.ReasonData{
					DeduplicatedAgainst: text, SupersededBy: text, Of: text, DisplacedBy: text, Survivor: items[0].Item,
				})})
			}
			return s, nil
		})
	}, why: "data of reasons that are contents"},
	{name: "overflow observer panics", arrange: func(c *pipeline.Config, text string) {
		c.Overflow, c.OnOverflow = pipeline.OverflowProceed, func(cupel.OverflowEvent) { panic(quoting{text}) }
	}, why: "the run is abandoned"},
	{name: "source", source: quoting{}, why: "the error of a stream's source"},
	{name: "cancellation", cause: quoting{}, why: "the cause"},
}

// exported runs items and returns every byte that spans, records and metrics have of
// it, and the errors that the error handler got.
func exported(t *testing.T, leak int, text string, items []*cupel.ContextItem, opts ...cupelotel.TraceOption) (all [4]string) {
	t.Helper()
	handled := handledErrors(t)
	loggers, kept := newRecords(log.SeverityTrace)
	spans, recorder := traced(t, cupelotel.VerbosityFull, append(opts, cupelotel.WithLoggerProvider(loggers))...)
	metrics, reader := measured(t)
	collector := observe.Multi(spans, metrics)
	how := leaks[leak]
	c := config()
	if how.arrange != nil {
		how.arrange(&c, text)
	}
	p, budget, trace := newPipeline(t, c), newBudget(t, 1000, 100), pipeline.WithTrace(collector)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	if how.cause != nil {
		cancel(quoting{text})
	}
	ctx, current := collector.(turn.Observer).StartTurn(ctx, turn.Info{Start: base, Number: 1, Candidates: len(items), Budget: budget})
	func() {
		defer func() { _ = recover() }() // of the overflow observer
		_, _ = p.Run(ctx, items, budget, trace)
	}()
	func() {
		defer func() { _ = recover() }()
		_, _ = p.RunStream(ctx, func(yield func(*cupel.ContextItem, error) bool) {
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if how.source != nil {
				yield(nil, quoting{text})
			}
		}, budget, trace)
	}()
	current.EndTurn(ctx, turn.End{Err: quoting{text}})

	for _, stub := range tracetest.SpanStubsFromReadOnlySpans(recorder.Ended()) {
		all[0] += fmt.Sprintf("%+v\n", stub)
	}
	for _, record := range kept.all {
		all[1] += fmt.Sprintf("%+v %+v %s\n", record, attrsOf(&record), record.Body())
	}
	var data metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &data))
	all[2], all[3] = fmt.Sprintf("%+v\n", data), fmt.Sprint(handled())
	return all
}

// secretive returns items with text wherever an item can have one, kinds and groups
// aside.
func secretive(t *testing.T, text, metadata string) []*cupel.ContextItem {
	t.Helper()
	secret := func(tags ...string) []cupel.ItemOption {
		return []cupel.ItemOption{
			cupel.WithTags(append(tags, text)...), cupel.WithSource(cupel.ContextSource(text)),
			cupel.WithMetadata(map[string]any{"id": text, text: metadata, "list": []any{text}}),
		}
	}
	return []*cupel.ContextItem{
		newItem(t, text+" pinned", 20, append(secret(), cupel.WithPinned())...),
		newItem(t, text+" negative", -5, secret()...),
		newItem(t, text, 10, append(secret("take"), hint(0.9))...),
		newItem(t, text, 10, append(secret("take"), hint(0.2))...),
		newItem(t, text+" huge", 5000, append(secret(), hint(0.7))...),
		newItem(t, text+" note", 60, append(secret("drop"), hint(0.1))...),
		newItem(t, text+" c", 50, append(secret("take"), hint(0.4), kind("Document"))...),
		newItem(t, text+" old", 10, append(secret("take"), hint(0.3), cupel.WithVersionOf(text), cupel.WithGroup("g"))...),
		newItem(t, text+" new", 40, append(secret("take"), hint(0.3), cupel.WithVersionOf(text),
			cupel.WithVariants(cupel.Variant{Content: text + " short", Tokens: 5, Worth: 0.5}))...),
	}
}

func FuzzNoContentLeavesTheProcess(f *testing.F) {
	for leak := range leaks {
		f.Add("some text", "value", uint8(leak))
	}
	for i, text := range []string{"", "\x00", "\xff\xfe", "cupel.exclusion.reason", "%s%v%!", `"}],"x":{`, "\u202e\u00e9\n\t", strings.Repeat("long ", 500)} {
		f.Add(text, text, uint8(i))
	}
	f.Fuzz(func(t *testing.T, content, metadata string, leak uint8) {
		text := marker + content + marker
		i := int(leak) % len(leaks)
		for _, all := range exported(t, i, text, secretive(t, text, marker+metadata+marker)) {
			assert.NotContains(t, strings.ToLower(all), marker, "%s: a text of an item was exported: %s", leaks[i].name, leaks[i].why)
		}
	})
}

// TestSearchOfExports: the search of the fuzz test finds what is there.
func TestSearchOfExports(t *testing.T) {
	for leak, how := range leaks {
		text := marker + how.name
		all := exported(t, leak, text, secretive(t, text, text), cupelotel.WithRedaction(observe.Redaction{Show: observe.PartID, ID: "id"}))
		for i, want := range [][]string{
			{"cupel.pipeline", "cupel.session.turn", "cupelotel_test.quoting", marker}, {"cupel.selection", "cupel.run.mode"}, {"cupel.stage.time", "cupelotel_test.quoting"}, nil,
		} {
			for _, w := range want {
				if w == marker && how.cause != nil { // canceled before the first item
					continue
				}
				assert.Contains(t, all[i], w, how.name)
			}
		}
	}
}

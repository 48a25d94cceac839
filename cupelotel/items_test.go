package cupelotel_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelotel"
)

// TestItemAttributes shows two items, one left out and one of the window.
func TestItemAttributes(t *testing.T) {
	id := func(v any) cupel.ItemOption { return cupel.WithMetadata(map[string]any{"id": v, "key": "k"}) }
	add := func(attrs ...attribute.KeyValue) func(*cupel.ContextItem) []attribute.KeyValue {
		return func(*cupel.ContextItem) []attribute.KeyValue { return attrs }
	}
	const own = "reason=BudgetExceeded item_kind=Document item_tokens=500 item_score=0.7 "
	for _, tt := range []struct {
		name string
		id   any
		opts []cupelotel.TraceOption
		want string // of the exclusion
		why  string
	}{
		{"none", "a", nil, own, "opt-in"},
		{"nil", "a", []cupelotel.TraceOption{cupelotel.WithItemAttributes(nil)}, own, "adds none"},
		{"id", "a", []cupelotel.TraceOption{cupelotel.WithItemAttributes(cupelotel.ItemID("id"))}, own + "cupel.item.id=a ", "a text"},
		{"number", 12, []cupelotel.TraceOption{cupelotel.WithItemAttributes(cupelotel.ItemID("id"))}, own + "cupel.item.id=12 ", "as databases number"},
		{"other id", []int{1}, []cupelotel.TraceOption{cupelotel.WithItemAttributes(cupelotel.ItemID("id"))}, own, "a list is no id"},
		{"no id", "a", []cupelotel.TraceOption{cupelotel.WithItemAttributes(cupelotel.ItemID("name"))}, own, "the item has no such value"},
		{"source", "a", []cupelotel.TraceOption{cupelotel.WithItemAttributes(cupelotel.ItemSource)}, own + "cupel.item.source=Rag ", ""},
		{"several", "a", []cupelotel.TraceOption{cupelotel.WithItemAttributes(cupelotel.ItemSource), cupelotel.WithItemAttributes(cupelotel.ItemID("key"))},
			own + "cupel.item.source=Rag cupel.item.id=k ", "all are called"},
		{"invalid UTF-8", "a\xff", []cupelotel.TraceOption{cupelotel.WithItemAttributes(cupelotel.ItemID("id"))}, own + "cupel.item.id=a\uFFFD ", "exporters reject it"},
		{"ours", "a", []cupelotel.TraceOption{cupelotel.WithItemAttributes(add(attribute.String("cupel.exclusion.reason", "x"), attribute.Int("n", 1), attribute.Int("n", 2)))},
			own + "n=1 ", "Cupel's own attributes win, then earlier ones"},
		{"redacted", "a", []cupelotel.TraceOption{cupelotel.WithItemAttributes(cupelotel.ItemID("id")),
			cupelotel.WithRedaction(func(_ cupelotel.TextSource, text string) string { return text[:3] })},
			"reason=BudgetExceeded item_kind=Doc item_tokens=500 item_score=0.7 cupel.item.id=a ", "the caller's own attributes are as the caller says"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			provider, recorder := newRecorder(t)
			collector := cupelotel.NewTraceCollector(append(tt.opts, cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(cupelotel.VerbosityFull))...)
			items := []*cupel.ContextItem{
				newItem(t, "out", 500, kind("Document"), hint(0.7), cupel.WithSource(cupel.SourceRAG), id(tt.id)),
				newItem(t, "in", 5, kind("Document"), hint(0.6), cupel.WithTags("take"), cupel.WithSource(cupel.SourceRAG), id(tt.id)),
			}
			if _, err := newPipeline(t, config()).Run(t.Context(), items, newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
				t.Fatal(err)
			}
			text := func(span string) string {
				var b strings.Builder
				for _, kv := range spanNamed(t, recorder, span).Events()[0].Attributes {
					fmt.Fprintf(&b, "%s=%s ", strings.TrimPrefix(string(kv.Key), "cupel.exclusion."), kv.Value)
				}
				return b.String()
			}
			if got := text("cupel.stage.slice"); got != tt.want {
				t.Errorf("the exclusion has\n%s, want\n%s: %s", got, tt.want, tt.why)
			}
			_, added, _ := strings.Cut(tt.want, "item_score=0.7 ")
			if got := text("cupel.stage.place"); tt.name != "ours" && !strings.HasSuffix(got, added) {
				t.Errorf("the item of the window has %s, want %s too: %s", got, added, tt.why)
			}
		})
	}
}

func TestItemAttributesThatPanic(t *testing.T) {
	handled := handledErrors(t)
	provider, recorder := newRecorder(t)
	collector := cupelotel.NewTraceCollector(cupelotel.WithTracerProvider(provider), cupelotel.WithVerbosity(cupelotel.VerbosityFull),
		cupelotel.WithItemAttributes(func(item *cupel.ContextItem) []attribute.KeyValue { panic(item.Content()) }),
		cupelotel.WithItemAttributes(cupelotel.ItemSource))
	if _, err := newPipeline(t, config()).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(tree(recorder.Ended()), "cupel.item.source = "); got != 8 {
		t.Errorf("%d of 8 events have the attributes of the other function", got)
	}
	if errs := handled(); len(errs) != 8 || strings.Contains(fmt.Sprint(errs), "secret") {
		t.Errorf("the error handler got %v", errs)
	}
}

func TestItemHash(t *testing.T) {
	hash := func(key []byte, content string) string {
		attrs := cupelotel.ItemHash(key)(newItem(t, content, 1))
		return attr(attrs, "cupel.item.hash")
	}
	a := hash([]byte("key"), "content")
	if raw, err := hex.DecodeString(a); err != nil || len(raw) != 16 {
		t.Errorf("the hash is %q, want 32 hexadecimal digits", a)
	}
	for _, tt := range []struct {
		key, content string
		same         bool
		why          string
	}{
		{"key", "content", true, "equal contents can be found together"},
		{"key", "contenu", false, "of the content"},
		{"kez", "content", false, "only who has the key can test a guess"},
		{"", "content", false, "without a key it makes one up"},
	} {
		if same := hash([]byte(tt.key), tt.content) == a; same != tt.same {
			t.Errorf("key %q, content %q: same is %t, want %t: %s", tt.key, tt.content, same, tt.same, tt.why)
		}
	}
	unkeyed, other := cupelotel.ItemHash(nil), cupelotel.ItemHash(nil)
	of := func(hash func(*cupel.ContextItem) []attribute.KeyValue) string {
		return fmt.Sprint(hash(newItem(t, "a", 1)))
	}
	first, second := of(unkeyed), of(unkeyed)
	if first != second || first == of(other) {
		t.Error("a key that is made up is one for each function")
	}
}

// TestRecordsHaveItemAttributes: what spans say about an item, records say.
func TestRecordsHaveItemAttributes(t *testing.T) {
	loggers, kept := newRecords(log.SeverityTrace)
	collector := cupelotel.NewTraceCollector(cupelotel.WithLoggerProvider(loggers), cupelotel.WithVerbosity(cupelotel.VerbosityFull), cupelotel.WithItemAttributes(cupelotel.ItemSource))
	if _, err := newPipeline(t, config()).Run(t.Context(), candidates(t), newBudget(t, 1000, 100), pipeline.WithTrace(collector)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"cupel.exclusion": 5, "cupel.item.included": 3} {
		got := kept.named(name)
		for i := range got {
			if attr(attrsOf(&got[i]), "cupel.item.source") != "Chat" {
				t.Errorf("a record has %v", attrsOf(&got[i]))
			}
		}
		if len(got) != want {
			t.Errorf("%d records %s, want %d", len(got), name, want)
		}
	}
}

package cupelotel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelotel"
)

// TestItemAttributes shows two items, one left out and one of the window.
func TestItemAttributes(t *testing.T) {
	byID := cupelotel.WithRedaction(observe.Redaction{Show: observe.PartID, ID: "id"})
	quoted := cupelotel.WithRedaction(observe.Redaction{Show: observe.PartID, ID: "id", Rewrite: func(part observe.Part, text string) string {
		if part != observe.PartID {
			return text
		}
		return "(" + text + ")"
	}})
	keyOf := func(*cupel.ContextItem) []attribute.KeyValue { return []attribute.KeyValue{attribute.String("n", "k")} }
	own := cupelotel.WithItemAttributes(func(*cupel.ContextItem) []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("cupel.exclusion.reason", "x"), attribute.Int("n", 1), attribute.Int("n", 2)}
	})
	broken := cupelotel.WithItemAttributes(func(*cupel.ContextItem) []attribute.KeyValue {
		return []attribute.KeyValue{
			attribute.String("a\xff", "b\xff"), attribute.StringSlice("list", []string{"c", "d\xff"}), attribute.Int("n", 1),
			attribute.Slice("values", attribute.StringValue("e\xff")), attribute.Map("map", attribute.String("f\xff", "g\xff")),
		}
	})
	for _, tt := range []struct {
		name string
		id   any
		opts []cupelotel.TraceOption
		want string // of the exclusion
		why  string
	}{
		{"nil", "a", []cupelotel.TraceOption{cupelotel.WithItemAttributes(nil)}, "", "adds none"},
		{"a key alone", "a", []cupelotel.TraceOption{cupelotel.WithRedaction(observe.Redaction{ID: "id"})}, "", "ids do not leave by default"},
		{"rewritten", "a", []cupelotel.TraceOption{quoted}, "cupel.item.id=(a) ", "through its function"},
		{"number", 12, []cupelotel.TraceOption{byID}, "cupel.item.id=12 ", "as databases number"},
		{"other id", []int{1}, []cupelotel.TraceOption{byID}, "", "a list is no id"},
		{"no id", "", []cupelotel.TraceOption{quoted}, "", "the item has no such value"},
		{"invalid UTF-8", "a\xff", []cupelotel.TraceOption{byID, broken}, "cupel.item.id=a\uFFFD a\uFFFD=b\uFFFD list=[\"c\",\"d\uFFFD\"] n=1 values=[\"e\uFFFD\"] map={\"f\uFFFD\":\"g\uFFFD\"} ", "exporters reject it"},
		{"ours", "a", []cupelotel.TraceOption{own, cupelotel.WithItemAttributes(keyOf), byID}, "cupel.item.id=a n=1 ", "Cupel's own attributes win, then earlier ones"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			collector, recorder := traced(t, cupelotel.VerbosityFull, tt.opts...)
			metadata := cupel.WithMetadata(map[string]any{"id": tt.id, "key": "k"})
			items := []*cupel.ContextItem{newItem(t, "out", 500, metadata), newItem(t, "in", 5, cupel.WithTags("take"), metadata)}
			_, err := newPipeline(t, config()).Run(t.Context(), items, newBudget(t, 1000, 100), pipeline.WithTrace(collector))
			require.NoError(t, err)
			text := func(span string, own int) string {
				var b strings.Builder
				for _, kv := range spanNamed(t, recorder, span).Events()[0].Attributes[own:] {
					fmt.Fprintf(&b, "%s=%s ", kv.Key, kv.Value)
				}
				return b.String()
			}
			assert.Equal(t, tt.want, text("cupel.stage.slice", 4), tt.why)
			if tt.name != "ours" {
				assert.Equal(t, tt.want, text("cupel.stage.place", 3), tt.why)
			}
		})
	}
}

func TestItemAttributesThatPanic(t *testing.T) {
	handled := handledErrors(t)
	collector, recorder := traced(t, cupelotel.VerbosityFull,
		cupelotel.WithItemAttributes(func(item *cupel.ContextItem) []attribute.KeyValue { panic(item.Content()) }),
		cupelotel.WithItemAttributes(func(*cupel.ContextItem) []attribute.KeyValue { return []attribute.KeyValue{attribute.Int("n", 1)} }))
	run(t, config(), collector)
	assert.Equal(t, 8, strings.Count(tree(recorder.Ended()), "n = int64 1\n"), "events have the attributes of the other function")
	assert.Len(t, handled(), 8)
	assert.NotContains(t, fmt.Sprint(handled()), "secret")
}

package cupelotel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelotel"
)

// TestItemIDs shows two items, one left out and one of the window.
func TestItemIDs(t *testing.T) {
	byID := cupelotel.WithRedaction(observe.Redaction{Show: observe.PartID, ID: "id"})
	quoted := cupelotel.WithRedaction(observe.Redaction{Show: observe.PartID, ID: "id", Rewrite: func(part observe.Part, text string) string {
		if part != observe.PartID {
			return text
		}
		return "(" + text + ")"
	}})
	for _, tt := range []struct {
		name string
		id   any
		opts []cupelotel.TraceOption
		want string // of the exclusion
		why  string
	}{
		{"a key alone", "a", []cupelotel.TraceOption{cupelotel.WithRedaction(observe.Redaction{ID: "id"})}, "", "ids do not leave by default"},
		{"rewritten", "a", []cupelotel.TraceOption{quoted}, "cupel.item.id=(a) ", "through its function"},
		{"number", 12, []cupelotel.TraceOption{byID}, "cupel.item.id=12 ", "as databases number"},
		{"other id", []int{1}, []cupelotel.TraceOption{byID}, "", "a list is no id"},
		{"no id", "", []cupelotel.TraceOption{quoted}, "", "the item has no such value"},
		{"invalid UTF-8", "a\xff", []cupelotel.TraceOption{byID}, "cupel.item.id=a\uFFFD ", "exporters reject it"},
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
			assert.Equal(t, tt.want, text("cupel.stage.place", 3), tt.why)
		})
	}
}

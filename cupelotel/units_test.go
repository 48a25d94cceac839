package cupelotel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/observe"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelotel"
)

// grouped are candidates with groups, smaller forms and versions. Under a
// target of 60 tokens the old plan is in because it is pinned, the first call
// in full, the manual in its second form, and the notes as what stands for
// both. The second call does not fit, and the draft has a newer version that is
// too large.
func grouped(tb testing.TB) []*cupel.ContextItem {
	tb.Helper()
	group, call := cupel.WithGroup, kind("ToolOutput")
	return []*cupel.ContextItem{
		newItem(tb, "secret plan 1", 5, cupel.WithPinned(), cupel.WithVersionOf("plan")),
		newItem(tb, "secret plan 2", 5, hint(0.9), cupel.WithVersionOf("plan")),
		newItem(tb, "secret call", 2, hint(0.8), group("call 1")),
		newItem(tb, "secret result", 8, hint(0.1), group("call 1"), call),
		newItem(tb, "secret call too large", 10, hint(0.1), group("call 2"), call),
		newItem(tb, "secret result too large", 90, hint(0.1), group("call 2"), call),
		newItem(tb, "secret manual", 80, hint(0.5), kind("Document"), cupel.WithVariants(
			cupel.Variant{Content: "secret pages", Tokens: 70, Worth: 0.9}, cupel.Variant{Content: "secret chapters", Tokens: 20, Worth: 0.5})),
		newItem(tb, "secret note 1", 30, hint(0.4), group("notes")),
		newItem(tb, "secret note 2", 40, hint(0.4), group("notes"), cupel.WithGroupVariants(cupel.Variant{Content: "secret gist", Tokens: 10, Worth: 0.7})),
		newItem(tb, "secret draft 1", 4, hint(0.3), cupel.WithVersionOf("draft")),
		newItem(tb, "secret draft 2", 100, hint(0.3), cupel.WithVersionOf("draft")),
	}
}

func unitsConfig() pipeline.Config {
	c := config()
	c.Slicer = slicer.Greedy{}
	return c
}

func TestUnits(t *testing.T) {
	quoted := func(part observe.Part, text string) string {
		if part == observe.PartGroup {
			return "(" + text + ")"
		}
		return text
	}
	collector, recorder := traced(t, cupelotel.VerbosityFull, cupelotel.WithRedaction(observe.Redaction{Show: observe.PartGroup, Rewrite: quoted}))
	report, err := newPipeline(t, unitsConfig()).DryRun(t.Context(), grouped(t), newBudget(t, 1000, 60), pipeline.WithTrace(collector))
	require.NoError(t, err)
	shown := flat(recorder.Ended())
	for _, want := range []struct{ line, why string }{
		{"cupel.exclusion: cupel.exclusion.reason=Superseded cupel.exclusion.item_kind=Message cupel.exclusion.item_tokens=4 cupel.exclusion.item_score=0.3 cupel.exclusion.item_stale=true",
			"the first draft leaves at deduplicate, although it comes back"},
		{"cupel.exclusion: cupel.exclusion.reason=BudgetExceeded cupel.exclusion.item_kind=ToolOutput cupel.exclusion.item_tokens=10 cupel.exclusion.item_score=0.1 cupel.exclusion.item_group=(call 2) cupel.exclusion.group_tokens=100",
			"the tokens are the item's own, and the group did not fit"},
		{"cupel.exclusion: cupel.exclusion.reason=BudgetExceeded cupel.exclusion.item_kind=Message cupel.exclusion.item_tokens=100 cupel.exclusion.item_score=0.3\n", "the second draft is in no group"},
		{"cupel.item.included: cupel.item.kind=Message cupel.item.tokens=5 cupel.item.score=1 cupel.item.stale=true", "there is a newer plan"},
		{"cupel.item.included: cupel.item.kind=ToolOutput cupel.item.tokens=8 cupel.item.score=0.8 cupel.item.group=(call 1)\n", "members have the score of their group"},
		{"cupel.item.included: cupel.item.kind=Document cupel.item.tokens=20 cupel.item.score=0.5 cupel.item.form=2\n", "the manual is its chapters"},
		{"cupel.item.included: cupel.item.kind=Message cupel.item.tokens=10 cupel.item.score=0.4 cupel.item.group=(notes) cupel.item.form=1\n", "the gist stands for both"},
		{"cupel.item.included: cupel.item.kind=Message cupel.item.tokens=0 cupel.item.score=0.4 cupel.item.group=(notes) cupel.item.form=1\n", "its tokens count once"},
		{"cupel.item.included: cupel.item.kind=Message cupel.item.tokens=4 cupel.item.score=0.3 cupel.item.stale=true\n", "the first draft comes back"},
	} {
		assert.Contains(t, shown, want.line, want.why)
	}
	assert.NotContains(t, shown, "secret")
	for _, event := range report.Events {
		span := spanNamed(t, recorder, "cupel.stage."+strings.ToLower(string(event.Stage)))
		assert.Equal(t, fmt.Sprint(event.ItemCount), attr(span.Attributes(), "cupel.stage.item_count_out"), event.Stage)
	}
}

// flat writes the events of spans down, each on one line.
func flat(spans []sdktrace.ReadOnlySpan) string {
	var b strings.Builder
	for _, span := range spans {
		for _, event := range span.Events() {
			b.WriteString(event.Name + ":")
			for _, kv := range event.Attributes {
				fmt.Fprintf(&b, " %s=%s", kv.Key, kv.Value.String())
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

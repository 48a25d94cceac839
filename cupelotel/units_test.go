package cupelotel_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// TestUnits: what leaves the window has its own tokens, those of its group where that
// did not fit, and the marks of versions. Members have the score of their group, and
// what stands for a whole group has its tokens once.
func TestUnits(t *testing.T) {
	quoted := func(part observe.Part, text string) string {
		if part == observe.PartGroup {
			return "(" + text + ")"
		}
		return text
	}
	collector, recorder := traced(t, cupelotel.VerbosityFull, cupelotel.WithRedaction(observe.Redaction{Show: observe.PartGroup, Rewrite: quoted}))
	_, err := newPipeline(t, unitsConfig()).DryRun(t.Context(), grouped(t), newBudget(t, 1000, 60), pipeline.WithTrace(collector))
	require.NoError(t, err)
	golden(t, "Units.txt", tree(recorder.Ended()))
	assert.NotContains(t, tree(recorder.Ended()), "secret")
}

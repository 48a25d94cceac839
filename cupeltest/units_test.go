package cupeltest_test

import (
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupeltest"
)

// unitsItems are, in the order of the window under a target of 75 tokens: the
// rules and the old notes, which are pinned, the notes, the second version of
// the file, the first call with its result, and the outline of the document. The
// second call is out, and so is the first version.
func unitsItems() []*cupel.ContextItem {
	return []*cupel.ContextItem{
		cupeltest.Item("the rules", 5, cupel.WithKind(cupel.KindSystemPrompt), cupel.WithPinned()),
		cupeltest.Item("old notes", 1, cupel.WithPinned(), cupel.WithVersionOf("notes"), cupel.WithTags("old")),
		cupeltest.Item("call 1", 4, cupel.WithGroup("call_1"), cupel.WithFutureRelevanceHint(0.55)),
		cupeltest.Item("result 1", 16, cupel.WithGroup("call_1"), cupel.WithKind(cupel.KindToolOutput), cupel.WithFutureRelevanceHint(0.2)),
		cupeltest.Item("call 2", 5, cupel.WithGroup("call_2"), cupel.WithFutureRelevanceHint(0.1)),
		cupeltest.Item("result 2", 95, cupel.WithGroup("call_2"), cupel.WithKind(cupel.KindToolOutput), cupel.WithFutureRelevanceHint(0.1)),
		cupeltest.Item("the document", 40, cupel.WithKind(cupel.KindDocument), cupel.WithFutureRelevanceHint(0.5), cupel.WithVariants(
			cupel.Variant{Content: "its stub", Tokens: 2, Worth: 0.1}, cupel.Variant{Content: "its outline", Tokens: 20, Worth: 0.5}, cupel.Variant{Content: "its text", Tokens: 39, Worth: 0.9})),
		cupeltest.Item("file, version 1", 11, cupel.WithVersionOf("file"), cupel.WithFutureRelevanceHint(0.3)),
		cupeltest.Item("file, version 2", 12, cupel.WithVersionOf("file"), cupel.WithFutureRelevanceHint(0.6)),
		cupeltest.Item("notes", 3, cupel.WithVersionOf("notes"), cupel.WithFutureRelevanceHint(0.7)),
	}
}

func unitsReport(t *testing.T) *report {
	t.Helper()
	return cupeltest.DryRun(t, unitsPipeline(t), unitsItems(), cupeltest.Budget(100, 75))
}

func unitsPipeline(t *testing.T) *pipeline.Pipeline {
	t.Helper()
	pipeline, err := pipeline.New(pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: placer.UShaped{}})
	if err != nil {
		t.Fatal(err)
	}
	return pipeline
}

// grouped is an included entry of one token in the group "g".
func grouped(content string, score float64) cupel.IncludedItem {
	return cupel.IncludedItem{Item: cupeltest.Item(content, 1, cupel.WithKind("A"), cupel.WithGroup("g")), Score: score, Reason: cupel.IncludeScored}
}

// splitReport has one item of a group in the window and one outside.
func splitReport() *report {
	return &report{
		Included: []cupel.IncludedItem{grouped("in", 1)},
		Excluded: []cupel.ExcludedItem{{Item: grouped("out", 1).Item, Reason: because(cupel.ExcludeFiltered)}},
	}
}

package cupeltest_test

import (
	"os"
	"strings"
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

// grouped is an included entry of a group.
func grouped(group, content string, kind cupel.ContextKind, tokens int, score float64) cupel.IncludedItem {
	return cupel.IncludedItem{Item: cupeltest.Item(content, tokens, cupel.WithKind(kind), cupel.WithGroup(group)), Score: score, Reason: cupel.IncludeScored}
}

// splitReport has one item of a group in the window and one outside.
func splitReport() *report {
	return &report{
		Included: []cupel.IncludedItem{grouped("g", "in", "A", 1, 1)},
		Excluded: []cupel.ExcludedItem{{Item: grouped("g", "out", "A", 1, 1).Item, Reason: because(cupel.ExcludeFiltered)}},
	}
}

func TestGroups(t *testing.T) {
	r := *unitsReport(t)
	include := func(group string) func(c *chain) *chain {
		return func(c *chain) *chain { return c.IncludeGroup(group) }
	}
	exclude := func(group string) func(c *chain) *chain {
		return func(c *chain) *chain { return c.ExcludeGroup(group) }
	}
	alone := report{
		Included: []cupel.IncludedItem{grouped("g", "a", "A", 1, 1)},
		Excluded: []cupel.ExcludedItem{{Item: grouped("h", "b", "A", 1, 1).Item, Reason: because(cupel.ExcludeFiltered)}},
	}
	together := func(c *chain) *chain { return c.KeepGroupsTogether() }
	check(t, []assertion{
		{"in", "both items are in", r, include("call_1"), ""},
		{"out", "both items are out", r, exclude("call_2"), ""},
		{"not in", "the second call did not fit", r, include("call_2"),
			`IncludeGroup("call_2") failed: expected all items of the group to be included, but found 0 of its items included and 2 excluded with reasons: [BudgetExceeded].`},
		{"not out", "the first call is in", r, exclude("call_1"),
			`ExcludeGroup("call_1") failed: expected all items of the group to be excluded, but found 2 of its items included and 0 excluded.`},
		{"in, of another case", "groups compare byte for byte", r, include("CALL_1"),
			`IncludeGroup("CALL_1") failed: expected all items of the group to be included, but found no candidate of that group.`},
		{"out, unknown", "a group without candidates is a mistake in the test", r, exclude("call_3"),
			`ExcludeGroup("call_3") failed: expected all items of the group to be excluded, but found no candidate of that group.`},
		{"in, without a name", "an item without a group is in no group", r, include(""),
			`IncludeGroup("") failed: expected all items of the group to be included, but found no candidate of that group.`},
		{"one item in", "it is the whole group", alone, include("g"), ""},
		{"one item out", "it is the whole group", alone, exclude("h"), ""},
		{"one item not in", "it is counted", alone, include("h"),
			`IncludeGroup("h") failed: expected all items of the group to be included, but found 0 of its items included and 1 excluded with reasons: [Filtered].`},
		{"half in", "all items are asked about", *splitReport(), include("g"),
			`IncludeGroup("g") failed: expected all items of the group to be included, but found 1 of its items included and 1 excluded with reasons: [Filtered].`},
		{"half out", "all items are asked about", *splitReport(), exclude("g"),
			`ExcludeGroup("g") failed: expected all items of the group to be excluded, but found 1 of its items included and 1 excluded with reasons: [Filtered].`},

		{"together", "as in every report of a pipeline", r, together, ""},
		{"no groups", "items without a group may be anywhere", two(), together, ""},
		{"split", "one is in and one is out", *splitReport(), together,
			`KeepGroupsTogether failed: group "g" has an item at index 0, and another is excluded: Filtered.`},
		{"scattered", "something else stands between", report{Included: []cupel.IncludedItem{
			grouped("g", "a", "A", 1, 1), in("B", 1, 1), grouped("g", "b", "A", 1, 1),
		}}, together, `KeepGroupsTogether failed: group "g" has items at index 0 and 2 and none between them.`},
	})
}

func TestForms(t *testing.T) {
	r := *unitsReport(t)
	inForm := func(predicate cupeltest.ItemPredicate, form int) func(c *chain) *chain {
		return func(c *chain) *chain { return c.IncludeItemInForm(predicate.Included, form) }
	}
	smaller := func(predicate cupeltest.ItemPredicate) func(c *chain) *chain {
		return func(c *chain) *chain { return c.IncludeItemInSmallerForm(predicate.Included) }
	}
	check(t, []assertion{
		{"second form", "forms count from the largest", r, inForm(cupeltest.ByKind(cupel.KindDocument), 2), ""},
		{"by content", "the item has the content of its form", r, inForm(cupeltest.ByContent("its outline"), 2), ""},
		{"full", "form 0 is the full one", r, inForm(cupeltest.ByGroup("call_1"), 0), ""},
		{"not full", "the full document does not fit", r, inForm(cupeltest.ByKind(cupel.KindDocument), 0),
			"IncludeItemInForm(0) failed: predicate matched 1 included item(s) but none was in form 0. They had forms: [2]."},
		{"several", "the forms of all are shown", r, inForm(cupeltest.ByGroup("call_1"), 1),
			"IncludeItemInForm(1) failed: predicate matched 2 included item(s) but none was in form 1. They had forms: [0, 0]."},
		{"very many", "of many forms five are shown", placed(1, 2, 3, 4, 5, 6), inForm(cupeltest.ByKind("A"), 3),
			"IncludeItemInForm(3) failed: predicate matched 6 included item(s) but none was in form 3. They had forms: [0, 0, 0, 0, 0, …]."},
		{"as many as are shown", "five of five", placed(1, 2, 3, 4, 5), inForm(cupeltest.ByKind("A"), 3),
			"IncludeItemInForm(3) failed: predicate matched 5 included item(s) but none was in form 3. They had forms: [0, 0, 0, 0, 0]."},
		{"negative", "there is no such form", r, inForm(cupeltest.ByContent("notes"), -1),
			"IncludeItemInForm(-1) failed: predicate matched 1 included item(s) but none was in form -1. They had forms: [0]."},
		{"full content", "the window does not have it", r, inForm(cupeltest.ByContent("the document"), 2),
			"IncludeItemInForm(2) failed: no item in Included matched the predicate. Included had 7 items."},
		{"no predicate", "a mistake in the test", r, func(c *chain) *chain { return c.IncludeItemInForm(nil, 1) },
			"IncludeItemInForm(1) failed: the predicate is nil."},

		{"smaller", "the document is an outline", r, smaller(cupeltest.ByKind("document")), ""},
		{"not smaller", "the file is full", r, smaller(cupeltest.ByVersionOf("file")),
			"IncludeItemInSmallerForm failed: predicate matched 1 included item(s) but none was in a smaller form. They had forms: [0]."},
		{"smaller, absent", "nothing matches", r, smaller(cupeltest.ByGroup("call_2")),
			"IncludeItemInSmallerForm failed: no item in Included matched the predicate. Included had 7 items."},
		{"smaller, no predicate", "a mistake in the test", r, func(c *chain) *chain { return c.IncludeItemInSmallerForm(nil) },
			"IncludeItemInSmallerForm failed: the predicate is nil."},
	})
}

func TestVersions(t *testing.T) {
	r := *unitsReport(t)
	by := func(predicate cupeltest.ItemPredicate, newest string) func(c *chain) *chain {
		return func(c *chain) *chain { return c.ExcludeItemSupersededBy(predicate, newest) }
	}
	stale := func(predicate cupeltest.ItemPredicate) func(c *chain) *chain {
		return func(c *chain) *chain { return c.IncludeStaleItem(predicate.Included) }
	}
	fresh := func(c *chain) *chain { return c.HaveNoStaleItems() }
	check(t, []assertion{
		{"superseded", "the second version is newer", r, by(cupeltest.ByContent("file, version 1"), "file, version 2"), ""},
		{"superseded, by key", "one of the items is enough", r, by(cupeltest.ByVersionOf("file"), "file, version 2"), ""},
		{"superseded by another", "the whole content counts", r, by(cupeltest.ByVersionOf("file"), "file"),
			`ExcludeItemSupersededBy("file") failed: the matching items are superseded by: ["file, version 2"].`},
		{"not superseded", "the second call was too large", r, by(cupeltest.ByGroup("call_2"), "x"),
			`ExcludeItemSupersededBy("x") failed: predicate matched 2 excluded item(s) but none had reason Superseded. Matched items had reasons: [BudgetExceeded].`},
		{"superseded, not out", "the newest version is in", r, by(cupeltest.ByContent("file, version 2"), "x"),
			`ExcludeItemSupersededBy("x") failed: predicate matched 0 excluded item(s) but none had reason Superseded. Matched items had reasons: [].`},
		{"superseded, no predicate", "a mistake in the test", r, by(nil, "x"), `ExcludeItemSupersededBy("x") failed: the predicate is nil.`},

		{"stale", "the old notes are pinned", r, stale(cupeltest.ByTag("old")), ""},
		{"not stale", "the notes are the newest", r, stale(cupeltest.ByContent("notes")),
			"IncludeStaleItem failed: predicate matched 1 included item(s) but none was stale."},
		{"stale, not in", "the first version is out", r, stale(cupeltest.ByContent("file, version 1")),
			"IncludeStaleItem failed: no item in Included matched the predicate. Included had 7 items."},
		{"stale, no predicate", "a mistake in the test", r, func(c *chain) *chain { return c.IncludeStaleItem(nil) }, "IncludeStaleItem failed: the predicate is nil."},

		{"has stale", "the old notes are pinned", r, fresh,
			`HaveNoStaleItems failed: found 1 stale item(s) in Included. First: "old notes" (kind=Message, a version of "notes").`},
		{"nothing stale", "no item has versions", two(), fresh, ""},
	})
}

// Slicers and placers see one item for each group, and so do the assertions
// about what they did.
func TestAssertionsCountUnits(t *testing.T) {
	r := report{Included: []cupel.IncludedItem{
		grouped("g", "call", "Call", 4, 3), grouped("g", "result", "Result", 5, 3), in("Result", 1, 1), grouped("h", "call 2", "Call", 5, 2), grouped("h", "result 2", "RESULT", 5, 2),
	}}
	whole := *unitsReport(t)
	exactly := func(kind cupel.ContextKind, n int) func(c *chain) *chain {
		return func(c *chain) *chain { return c.IncludeExactlyNItemsWithKind(kind, n) }
	}
	edge := func(predicate cupeltest.ItemPredicate) func(c *chain) *chain {
		return func(c *chain) *chain { return c.PlaceItemAtEdge(predicate.Included) }
	}
	top := func(n int) func(c *chain) *chain {
		return func(c *chain) *chain { return c.PlaceTopNScoredAtEdges(n) }
	}
	check(t, []assertion{
		{"kind of most tokens", "the first group and the lone item", r, exactly("result", 2), ""},
		{"kind of equal tokens", "of the second group the first decides", r, exactly("Call", 1), ""},
		{"not each item", "there are three results, and they are not counted each", r, exactly("Result", 3),
			"IncludeExactlyNItemsWithKind(Result, 3) failed: expected 3 items with Kind=Result in Included, but found 2. Included had 3 items total. Each group counts as one item; without groups there are 5."},
		{"of a pipeline", "one call is in", whole, exactly(cupel.KindToolOutput, 1), ""},
		{"second of the first group", "it is in the first unit", r, edge(cupeltest.ByContent("result")), ""},
		{"first of the last group", "it is in the last unit", r, edge(cupeltest.ByContent("call 2")), ""},
		{"between groups", "the lone item is at index 1 of 3", r, edge(cupeltest.ByContent("Result 1")),
			"PlaceItemAtEdge failed: item matching predicate was at index 1 (not at edge). Edge positions: 0 and 2. Included had 3 items. Each group counts as one item; without groups there are 5."},
		{"two best groups", "they are at the edges", r, top(2), ""},
		{"all", "every unit is at an edge", r, top(3), ""},
		{"more than there are", "five items are three units", r, top(4),
			"PlaceTopNScoredAtEdges(4) failed: 1 of the top-4 scored items were not at expected edge positions. Top-4 items (by score): [(kind=Call, score=3, idx=0), (kind=Call, score=2, idx=2), (kind=Result, score=1, idx=1)]. Expected edge positions: [0, 2, 1]. Included had only 3 items. Each group counts as one item; without groups there are 5."},
		{"U-shaped", "the placer orders units", whole, top(4), ""},
	})
}

// A group in smaller forms has the kind that it had in full.
func TestKindOfAShrunkGroup(t *testing.T) {
	items := []*cupel.ContextItem{
		cupeltest.Item("call", 10, cupel.WithGroup("g")),
		cupeltest.Item("a long result", 100, cupel.WithGroup("g"), cupel.WithKind(cupel.KindToolOutput), cupel.WithVariants(cupel.Variant{Content: "short", Tokens: 2, Worth: 0.5})),
	}
	r := cupeltest.DryRun(t, unitsPipeline(t), items, cupeltest.Budget(20, 20))
	cupeltest.Should(t, r).IncludeItemInForm(cupeltest.ByContent("short").Included, 1).IncludeItemInSmallerForm(cupeltest.ByContent("short").Included).IncludeExactlyNItemsWithKind(cupel.KindToolOutput, 1).IncludeExactlyNItemsWithKind(cupel.KindMessage, 0)
}

// Golden files have groups, forms and staleness, where there are any.
func TestGoldenUnits(t *testing.T) {
	elsewhere(t)
	t.Setenv(cupeltest.UpdateVariable, "1")
	r := unitsReport(t)
	cupeltest.Should(t, r).MatchGolden("units")
	t.Setenv(cupeltest.UpdateVariable, "")
	cupeltest.Should(t, r).MatchGolden("units")
	text, err := os.ReadFile("testdata/units.golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`  "its outline" (Document, Chat, 20 tokens): Scored, form 2`,
		`  "result 1" (ToolOutput, Chat, 16 tokens, group "call_1"): Scored`,
		`  "old notes" (Message, Chat, 1 tokens): Pinned, stale`,
		`  "file, version 1" (Message, Chat, 11 tokens): Superseded, stale`,
	} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("the golden file has no line\n%s\nin\n%s", want, text)
		}
	}
	full := cupeltest.DryRun(t, unitsPipeline(t), unitsItems(), cupeltest.Budget(100, 99))
	if err := cupeltest.That(full).MatchGolden("units").Err(); err == nil || !strings.Contains(err.Error(), "came:\n  \"the document\" (Document, Chat, 40 tokens): Scored, was not a candidate\n") {
		t.Errorf("the full document is another decision, got %v", err)
	}
}

package cupel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func TestDataCanBeCompared(t *testing.T) {
	a, b := cupel.ReasonData{Score: math.NaN(), Survivor: item(t, "a", 1)}, cupel.ReasonData{Score: math.NaN()}
	equal(t, "data with NaN, and another survivor", a.Equal(b), true)
	b.GroupTokens = 1
	equal(t, "data of another group", a.Equal(b), false)
	v := cupel.Variant{Content: "v", Tokens: 1, Worth: math.NaN()}
	equal(t, "a variant and itself", v.Equal(v), true)
	for _, other := range []cupel.Variant{{Tokens: 1, Worth: v.Worth}, {Content: "v", Worth: v.Worth}, {Content: "v", Tokens: 1, Worth: .5}, {Content: "v", Tokens: 1, Worth: v.Worth, Make: func(context.Context) (string, error) { return "v", nil }}} {
		if v.Equal(other) || other.Equal(v) {
			t.Errorf("%+v equals %+v", v, other)
		}
	}
}

// TestLogsOfSingleValues: what is not finite is a word, and pinned items say so.
func TestLogsOfSingleValues(t *testing.T) {
	log := func(v any) string {
		var b strings.Builder
		logger := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == slog.MessageKey {
				return slog.Attr{}
			}
			return a
		}}))
		logger.Info("", "v", v)
		return strings.TrimSpace(b.String())
	}
	plain := *item(t, "secret", 3, cupel.WithSource("Rag"))
	pinned := *item(t, "secret", 3, cupel.WithPinned())
	out := func(code cupel.ExclusionCode) cupel.ExcludedItem {
		return cupel.ExcludedItem{Item: &plain, Reason: cupel.ExclusionReason{Code: code}}
	}
	for _, tt := range []struct {
		value any
		want  string
		why   string
	}{
		{plain, "v.kind=Message v.source=Rag v.tokens=3", "an item that is not pinned does not say so"},
		{pinned, "v.kind=Message v.source=Chat v.tokens=3 v.pinned=true", "a pinned one does"},
		{cupel.ScoredItem{Score: math.Inf(1)}, "v.score=+Inf", "infinity is a word"},
		{cupel.ScoredItem{Score: 0.5}, "v.score=0.5", "a number is a number"},
		{cupel.ExcludedItem{Item: &plain, Score: math.NaN(), Reason: cupel.NewExclusionReason("Own", cupel.ReasonData{Tokens: 3})},
			"v.item.kind=Message v.item.source=Rag v.item.tokens=3 v.score=NaN v.reason.reason=Own v.reason.tokens=3", "an item in an entry is its group"},
		{cupel.IncludedItem{Score: 0.5, Reason: cupel.IncludeScored}, "v.item=<nil> v.score=0.5 v.reason=Scored", "there may be no item"},
		{cupel.SelectionReport{
			TotalCandidates: 4, TotalTokensConsidered: 12, Included: []cupel.IncludedItem{{Item: &plain}},
			Excluded: []cupel.ExcludedItem{out("D"), out("B"), out("A"), out("E"), out("C"), out(cupel.ExcludeBudgetExceeded)}, Events: []cupel.TraceEvent{{Stage: "Own", DurationMS: 1.5}, {Stage: "Own", DurationMS: 0.5}, {Stage: cupel.StagePlace, DurationMS: 0.5}},
			CountRequirementShortfalls: make([]cupel.CountRequirementShortfall, 2), Overflow: &cupel.OverflowEvent{TokensOverBudget: 7},
		}, "v.total_candidates=4 v.total_tokens_considered=12 v.included=1 v.included_tokens=3 v.excluded=6 v.excluded_by_reason.BudgetExceeded=1 v.excluded_by_reason.A=1 v.excluded_by_reason.B=1 " +
			"v.excluded_by_reason.C=1 v.excluded_by_reason.D=1 v.excluded_by_reason.E=1 " +
			"v.duration_ms.Place=0.5 v.duration_ms.Own=2 v.count_requirement_shortfalls=2 v.tokens_over_budget=7", "what only some reports have, with known names first"},
		{cupel.StreamResult{TotalCandidates: 4, TotalTokensConsidered: 12, Included: []cupel.IncludedItem{{Item: &plain}}, Excluded: map[cupel.ExclusionCode]int{cupel.ExcludeDeduplicated: 3}, SourceEnded: true},
			"v.total_candidates=4 v.total_tokens_considered=12 v.included=1 v.included_tokens=3 v.excluded_by_reason.Deduplicated=3 v.source_ended=true", "the counts of a stream"},
		{cupel.ReasonData{ItemTokens: 3, AvailableTokens: 2}, "v.item_tokens=3 v.available_tokens=2", "the data alone, without a code"},
	} {
		equal(t, tt.why, log(tt.value), tt.want)
	}
	equal(t, "a score beyond decimal digits", cupel.IncludedItem{Item: &plain, Score: 1e21, Reason: cupel.IncludeScored}.String(), "Scored: score 1e+21, 3 tokens")
}

func TestBudgetErrorsAreDeterministic(t *testing.T) {
	slots := map[cupel.ContextKind]int{"memory": -1, "MEMORY": -2, "note": 5}
	for range 50 { // enough for map order to show
		_, err := cupel.NewContextBudget(10, 10, cupel.WithReservedSlots(slots))
		equal(t, "text", err.Error(), `cupel: invalid budget: reservedSlots["Memory"] must be at least 0, got -2
cupel: invalid budget: reservedSlots["Memory"] must be at least 0, got -1
cupel: invalid budget: reservedSlots["Memory"] is given twice; kinds are case-insensitive`)
	}
}

// TestSmallerFormsKeepFields: a form is an item like any other.
func TestSmallerFormsKeepFields(t *testing.T) {
	items := []*cupel.ContextItem{
		item(t, "a", 50, hint(.5), cupel.WithGroup("g"), cupel.WithVersionOf("k"), cupel.WithPriority(3), cupel.WithVariants(cupel.Variant{Content: "a'", Tokens: 5, Worth: .5})),
		item(t, "b", 50, hint(.4), cupel.WithGroup("g"), cupel.WithOriginalTokens(400), cupel.WithVariants(cupel.Variant{Content: "b'", Tokens: 5, Worth: .5})),
		item(t, "c", 50, hint(.4), cupel.WithGroup("h"), cupel.WithPriority(4)),
		item(t, "d", 60, hint(.4), cupel.WithGroup("h"), cupel.WithGroupVariants(cupel.Variant{Content: "c'", Tokens: 5, Worth: .5})),
		item(t, "e", 50, hint(.3), cupel.WithVersionOf("e"), cupel.WithVariants(cupel.Variant{Content: "e'", Tokens: 5, Worth: .5})),
	}
	p := greedy(t)
	window, err := p.Run(t.Context(), items, budgetOf(t, 20, 20))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, it := range window {
		original, _ := it.OriginalTokens()
		priority, _ := it.Priority()
		got = append(got, fmt.Sprintf("%s %d of %d, group %s, key %q, priority %d, %d variants", it.Content(), it.Tokens(), original,
			it.Group(), it.VersionOf(), priority, len(it.Variants())+len(it.GroupVariants())))
	}
	equalSlices(t, "window", got, []string{
		`a' 5 of 50, group g, key "k", priority 3, 0 variants`,
		`b' 5 of 400, group g, key "", priority 0, 0 variants`,
		`c' 5 of 110, group h, key "", priority 4, 0 variants`,
		`e' 5 of 50, group , key "e", priority 0, 0 variants`,
	})
}

// A group variant is in the window once, and in the report once for each member.
func TestWindowOfReportHasGroupVariantsOnce(t *testing.T) {
	note := cupel.WithGroupVariants(cupel.Variant{Content: "note", Tokens: 5, Worth: .5})
	items := []*cupel.ContextItem{
		item(t, "a", 50, hint(.9), cupel.WithGroup("g"), note),
		item(t, "b", 50, hint(.9), cupel.WithGroup("g")),
		item(t, "c", 50, hint(.5), cupel.WithGroup("h"), cupel.WithVariants(cupel.Variant{Content: "cut", Tokens: 1, Worth: .5})),
		item(t, "d", 60, hint(.5), cupel.WithGroup("h"), cupel.WithVariants(cupel.Variant{Content: "cut", Tokens: 0, Worth: .5})),
	}
	p := greedy(t)
	window, report, err := p.RunReport(t.Context(), items, budgetOf(t, 6, 6))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var read cupel.SelectionReport
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		name   string
		window []*cupel.ContextItem
	}{{"the run", window}, {"its report", report.Window()}, {"a report from JSON", read.Window()}} {
		var got []string
		for _, it := range of.window {
			got = append(got, it.Content())
		}
		equalSlices(t, of.name, got, []string{"note", "cut", "cut"})
	}
	if len(report.Included) != len(items) {
		t.Errorf("%d entries, want one for each of %d candidates", len(report.Included), len(items))
	}
}

// TestSharedEntries reads reports of two entries: the second has no item of its own if
// it is the same form of the same group.
func TestSharedEntries(t *testing.T) {
	entry := func(fields string, form int) string {
		return fmt.Sprintf(`{"item":{"content":%s},"score":1,"reason":{"reason":"Scored"},"candidate":0,"form":%d}`, fields, form)
	}
	const first, second = `"all","tokens":5,"group":"g","originalTokens":50`, `"all","tokens":0,"group":"g","originalTokens":50`
	for _, tt := range []struct {
		first, second string
		shared        bool
		why           string
	}{
		{entry(first, 1), entry(second, 1), true, "as a run writes it"},
		{entry(first, 1), entry(strings.Replace(second, "0", "1", 1), 1), false, "it has tokens of its own"},
		{entry(first, 1), entry(strings.Replace(second, "all", "own", 1), 1), false, "another text"},
		{entry(first, 1), entry(strings.Replace(second, `"g"`, `"h"`, 1), 1), false, "another group"},
		{entry(first, 1), entry(strings.Replace(second, ":50", ":51", 1), 1), false, "another size in full"},
		{entry(first, 0), entry(second, 1), false, "the first is not a smaller form"},
		{entry(first, 1), entry(second, 0), false, "nor is the second"},
		{entry(strings.ReplaceAll(first, `,"group":"g"`, ""), 1), entry(strings.ReplaceAll(second, `,"group":"g"`, ""), 1), false, "there is no group"},
	} {
		r, err := readReport(t, `{"events":[],"included":[`+tt.first+","+tt.second+`],"excluded":[],"total_candidates":2,"total_tokens_considered":5}`)
		if err != nil || r.Included[0].Shared || r.Included[1].Shared != tt.shared {
			t.Errorf("shared: %t, want %t, %v: %s", r.Included[1].Shared, tt.shared, err, tt.why)
		}
	}
}

// TestKeptStandIns: what slicers see of units are items of their own.
func TestKeptStandIns(t *testing.T) {
	var kept []*cupel.ContextItem
	config := greedy(t).Config()
	config.Slicer = strategy.SlicerFunc(func(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (strategy.Selection, error) {
		for _, it := range items {
			kept = append(kept, it.Item)
		}
		return strategy.Selection{}, nil
	})
	p, err := pipeline.New(config)
	if err != nil {
		t.Fatal(err)
	}
	short := cupel.WithVariants(cupel.Variant{Content: "short", Tokens: 2, Worth: 0.5})
	items := []*cupel.ContextItem{
		item(t, "a", 4, hint(0.9), cupel.WithGroup("g")), item(t, "b", 4, hint(0.9), cupel.WithGroup("g")),
		item(t, "old", 3, hint(0.5), cupel.WithVersionOf("k")), item(t, "new", 9, hint(0.5), cupel.WithVersionOf("k"), short),
	}
	if _, err := p.Run(t.Context(), items, budgetOf(t, 20, 20)); err != nil || len(kept) != 2 {
		t.Fatalf("the slicer saw %v, %v", kept, err)
	}
	group, lone := kept[0], kept[1]
	if len(group.Members()) != 2 || group.Tokens() != 8 || lone.Members() != nil || lone.VersionOf() != "k" || len(lone.Variants()) != 1 {
		t.Errorf("got a group of %v and a lone item of %q with %v", group.Members(), lone.VersionOf(), lone.Variants())
	}
	copied, err := group.With(cupel.WithPinned())
	if err != nil || copied.Members() != nil || copied.Group() != "g" {
		t.Errorf("a copy stands for %v, %v", copied.Members(), err)
	}
	// As a candidate, what was kept is the item that it was made from.
	window, err := greedy(t).Run(t.Context(), []*cupel.ContextItem{lone}, budgetOf(t, 5, 5))
	if err != nil || len(window) != 1 || window[0].Content() != "short" {
		t.Errorf("got %v, %v, want its variant", window, err)
	}
}

func TestWindowOfNoReport(t *testing.T) {
	var none *cupel.SelectionReport
	if none.Window() != nil || new(cupel.SelectionReport).Window() != nil {
		t.Error("a report of nothing has a window")
	}
	var empty *pipeline.Pipeline
	if window, report, err := empty.RunReport(t.Context(), nil, cupel.ContextBudget{}); window != nil || report == nil || err == nil {
		t.Errorf("got %v, %v, %v, want an empty report and an error", window, report, err)
	}
}

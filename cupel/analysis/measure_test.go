package analysis_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
)

func reportOf(items ...*cupel.ContextItem) *cupel.SelectionReport {
	r := new(cupel.SelectionReport)
	for _, it := range items {
		reason := cupel.IncludeScored
		if it.Pinned() {
			reason = cupel.IncludePinned
		}
		r.Included = append(r.Included, cupel.IncludedItem{Item: it, Reason: reason})
	}
	return r
}

func TestMeasures(t *testing.T) {
	kind := cupel.WithKind
	dated := cupel.WithTimestamp(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	type measures struct{ utilization, diversity, coverage float64 }
	for _, tt := range []struct {
		report *cupel.SelectionReport
		budget cupel.ContextBudget
		want   measures
		why    string
	}{
		{nil, budget(10, 10), measures{}, "nothing is included"},
		{reportOf(), budget(10, 10), measures{}, "0 / 10, no kinds, and a share of nothing is 0 (R43)"},
		{reportOf(item("a", 30)), budget(120, 40), measures{0.25, 1, 0}, "30 / 120, not 30 / 40"},
		{reportOf(item("a", 0)), budget(0, 0), measures{0, 1, 0}, "0 when the ceiling is 0 (R43)"},
		{reportOf(item("a", 10, cupel.WithPinned(), dated)), budget(40, 40), measures{0.25, 1, 1}, "pinned items are in the window"},
		{reportOf(item("a", math.MaxInt), item("b", math.MaxInt)), budget(math.MaxInt, 0), measures{1, 1, 0}, "sums are clamped and never wrap (R5)"},
		{
			reportOf(item("a", 0, kind("tool")), item("b", 0, kind("TOOL"), dated), item("c", 0, kind("Document")), item("d", 0, kind("\u212a")), item("e", 0, kind("k"))),
			budget(1, 1), measures{0, 4, 0.2}, "ASCII case does not count, the Kelvin sign does (R2)",
		},
	} {
		got := measures{analysis.BudgetUtilization(tt.report, tt.budget), float64(analysis.KindDiversity(tt.report)), analysis.TimestampCoverage(tt.report)}
		if got != tt.want {
			t.Errorf("got %+v, want %+v: %s", got, tt.want, tt.why)
		}
	}
}

func TestQuotaUtilization(t *testing.T) {
	type row = analysis.KindQuotaUtilization
	kind := cupel.WithKind
	quota := must(slicer.NewQuota(slicer.Greedy{}, slicer.Between("tool", 20, 40), slicer.Require("Absent", 33.3)))
	counts := must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{
		{Kind: "tool", RequireCount: 1, CapCount: 3}, {Kind: "memory", CapCount: 2},
	}))
	countKnapsack := must(slicer.NewCountConstrainedKnapsack(must(slicer.NewKnapsack()), []slicer.CountQuotaEntry{{Kind: "doc", RequireCount: 2, CapCount: 2}}))
	report := reportOf(
		item("a", 10, kind("Tool")), item("b", 15, kind("TOOL")), item("c", 30, kind("tool"), cupel.WithPinned()),
		item("d", 7, kind("Memory")), item("e", 5, kind("doc")))
	huge := reportOf(item("a", math.MaxInt, kind("tool")), item("b", math.MaxInt, kind("tool")))
	for _, tt := range []struct {
		report *cupel.SelectionReport
		budget cupel.ContextBudget
		slicer strategy.Slicer
		want   []row
		why    string
	}{
		{report, budget(99, 99), slicer.Greedy{}, nil, "a greedy slicer demands nothing"},
		{nil, budget(99, 99), quota, nil, "nothing to compare"},
		{
			report, budget(200, 140, cupel.WithReservedSlots(map[cupel.ContextKind]int{"x": 10}), cupel.WithEstimationSafetyMargin(50)), quota,
			[]row{{"tool", analysis.QuotaTokens, 25, 10, 20}, {"Absent", analysis.QuotaTokens, 0, 16, 50}}, "(140 - 30 - 10) / 2 = 50: shares of what the slicer had",
		},
		{
			report, budget(200, 131), custom{must(slicer.NewQuota(counts, slicer.Cap("doc", 10)))},
			[]row{{"doc", analysis.QuotaTokens, 5, 0, 10}, {"tool", analysis.QuotaItems, 2, 1, 3}, {cupel.KindMemory, analysis.QuotaItems, 1, 0, 2}},
			"outer entries come first; the pinned one never met the slicer; kinds are spelled as the entries spell them (R2)",
		},
		{report, budget(200, 131), embedding{must(slicer.NewQuota(slicer.Greedy{}, slicer.Cap("doc", 10)))}, []row{{"doc", analysis.QuotaTokens, 5, 0, 10}}, "embedding hides the type and not the entries"},
		{report, budget(99, 99), new(slicer.Quota), nil, "it has no entries, and does not panic"},
		{huge, budget(math.MaxInt, 10), quota, []row{{"tool", analysis.QuotaTokens, math.MaxInt, 2, 4}, {"Absent", analysis.QuotaTokens, 0, 3, 10}}, "sums are clamped and never wrap (R5)"},
	} {
		if got := analysis.QuotaUtilization(tt.report, tt.budget, tt.slicer); !slices.Equal(got, tt.want) {
			t.Errorf("got %+v, want %+v: %s", got, tt.want, tt.why)
		}
	}
	text := must(json.Marshal(analysis.QuotaUtilization(report, budget(99, 99), countKnapsack)))
	if want := `[{"kind":"doc","unit":"items","used":1,"required":2,"cap":2}]`; string(text) != want {
		t.Errorf("got %s; want %s", text, want)
	}
}

// TestQuotasCountUnits has a group of two kinds and a lone item.
func TestQuotasCountUnits(t *testing.T) {
	call, result := cupel.WithGroup("call"), cupel.WithKind(cupel.KindToolOutput)
	items := []*cupel.ContextItem{
		scored("call", 10, 0.9, call), scored("result", 50, 0.1, call, result, cupel.WithVariants(short("short", 4, 0.5))),
		scored("lone", 5, 0.8, result), scored("message", 3, 0.7),
		item("pin", 2, cupel.WithPinned(), cupel.WithGroup("p")), item("pinned through its group", 3, result, cupel.WithGroup("p")),
	}
	counts := must(slicer.NewCountQuota(slicer.Greedy{}, []slicer.CountQuotaEntry{{Kind: cupel.KindToolOutput, CapCount: 3}, {Kind: cupel.KindMessage, CapCount: 3}}))
	quota := must(slicer.NewQuota(slicer.Greedy{}, slicer.Cap(cupel.KindToolOutput, 100), slicer.Cap(cupel.KindMessage, 100)))
	for _, tt := range []struct {
		tokens int
		used   []int // of the counts, then of the quotas
		why    string
	}{
		{90, []int{2, 1, 65, 3}, "the group is one item of the kind of its result, with the tokens of the call"},
		{40, []int{2, 1, 19, 3}, "in short, it is still a result"},
	} {
		report := must(newPipeline(counts).DryRun(t.Context(), items, budget(tt.tokens, tt.tokens)))
		var used []int
		for _, s := range []strategy.Slicer{counts, quota} {
			for _, row := range analysis.QuotaUtilization(report, budget(tt.tokens, tt.tokens), s) {
				used = append(used, row.Used)
			}
		}
		if !slices.Equal(used, tt.used) {
			t.Errorf("within %d tokens: used %v, want %v: %s", tt.tokens, used, tt.used, tt.why)
		}
	}
}

func TestIncludedUnits(t *testing.T) {
	tool := cupel.WithKind(cupel.KindToolOutput)
	a, b := cupel.WithGroup("a"), cupel.WithGroup("b")
	for _, tt := range []struct {
		items []*cupel.ContextItem
		want  string
		why   string
	}{
		{nil, "", "there is nothing"},
		{[]*cupel.ContextItem{item("1", 3, a), item("2", 5, a, tool)}, "2 ToolOutput", "a group may be all; 5 tokens are more than 3"},
		{[]*cupel.ContextItem{item("1", 1), item("2", 5, a), item("3", 5, a, tool)}, "1 Message, 2 Message", "a group may be last; the first of equal kinds counts"},
		{[]*cupel.ContextItem{item("1", 5, a), item("2", 3, a, tool), item("3", 3, a, tool), item("4", 0), item("5", 1, b)}, "3 ToolOutput, 1 Message, 1 Message", "the tokens of a kind count together; a group of one is a unit"},
		{[]*cupel.ContextItem{item("1", 0, a), item("2", 0, b), item("3", 0, b, tool), item("4", 0), item("5", 0)}, "1 Message, 2 Message, 1 Message, 1 Message", "neighbours without a group are units of their own; the first kind counts if none has tokens"},
	} {
		var texts []string
		for _, unit := range analysis.IncludedUnits(reportOf(tt.items...)) {
			texts = append(texts, fmt.Sprint(len(unit), " ", unit.Kind()))
		}
		if got := strings.Join(texts, ", "); got != tt.want {
			t.Errorf("got %s, want %s: %s", got, tt.want, tt.why)
		}
	}
	if units := analysis.IncludedUnits(nil); units != nil || analysis.IncludedUnit(nil).Kind() != "" {
		t.Errorf("no report has units %v", units)
	}
}

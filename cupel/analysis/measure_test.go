package analysis_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/slicer"
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
	tests := []struct {
		name        string
		report      *cupel.SelectionReport
		budget      cupel.ContextBudget
		utilization float64
		diversity   int
		coverage    float64
		why         string
	}{
		{name: "no report", budget: budget(10, 10), why: "nothing is included"},
		{name: "nothing included", report: reportOf(), budget: budget(10, 10), why: "0 / 10, no kinds, and a share of nothing is 0 (R43)"},
		{name: "of the ceiling", report: reportOf(item("a", 30)), budget: budget(120, 40), utilization: 0.25, diversity: 1, why: "30 / 120, not 30 / 40"},
		{name: "no ceiling", report: reportOf(item("a", 0)), budget: budget(0, 0), diversity: 1, why: "0 when the ceiling is 0 (R43)"},
		{name: "above the ceiling", report: reportOf(item("a", 30), item("b", 30)), budget: budget(40, 40), utilization: 1.5, diversity: 1, why: "an overflow shows"},
		{name: "pinned items count", report: reportOf(item("a", 10, cupel.WithPinned(), dated)), budget: budget(40, 40), utilization: 0.25, diversity: 1, coverage: 1, why: "they are in the window"},
		{
			name: "more than int can count", report: reportOf(item("a", math.MaxInt), item("b", math.MaxInt)), budget: budget(math.MaxInt, 0), utilization: 1, diversity: 1,
			why: "sums are clamped and never wrap (R5)",
		},
		{
			name: "kinds", report: reportOf(item("a", 0, kind("tool")), item("b", 0, kind("TOOL"), dated), item("c", 0, kind("Document")), item("d", 0, kind("\u212a")), item("e", 0, kind("k"))),
			budget: budget(1, 1), diversity: 4, coverage: 0.2, why: "ASCII case does not count, the Kelvin sign does (R2)",
		},
		{name: "half of them dated", report: reportOf(item("a", 0, dated), item("b", 0)), budget: budget(1, 1), diversity: 1, coverage: 0.5, why: "one of two"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := analysis.BudgetUtilization(tt.report, tt.budget); got != tt.utilization {
				t.Errorf("utilization %v, want %v: %s", got, tt.utilization, tt.why)
			}
			if got := analysis.KindDiversity(tt.report); got != tt.diversity {
				t.Errorf("diversity %v, want %v: %s", got, tt.diversity, tt.why)
			}
			if got := analysis.TimestampCoverage(tt.report); got != tt.coverage {
				t.Errorf("coverage %v, want %v: %s", got, tt.coverage, tt.why)
			}
		})
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
	tests := []struct {
		name   string
		report *cupel.SelectionReport
		budget cupel.ContextBudget
		slicer cupel.Slicer
		want   []row
		why    string
	}{
		{name: "no quotas", report: report, budget: budget(99, 99), slicer: slicer.Greedy{}, why: "a greedy slicer demands nothing"},
		{name: "no report", budget: budget(99, 99), slicer: quota, why: "nothing to compare"},
		{name: "no slicer", report: report, budget: budget(99, 99), why: "nothing is demanded"},
		{
			name: "percentages", report: report, budget: budget(200, 131), slicer: quota,
			want: []row{{"tool", analysis.QuotaTokens, 25, 20, 40}, {"Absent", analysis.QuotaTokens, 0, 33, 101}},
			why:  "30 tokens are pinned, and of 131 - 30 = 101 the shares are floor(20.2), floor(40.4) and floor(33.633)",
		},
		{
			name: "percentages of what the slicer had", report: report, slicer: quota,
			budget: budget(200, 140, cupel.WithReservedSlots(map[cupel.ContextKind]int{"x": 10}), cupel.WithEstimationSafetyMargin(50)),
			want:   []row{{"tool", analysis.QuotaTokens, 25, 10, 20}, {"Absent", analysis.QuotaTokens, 0, 16, 50}},
			why:    "(140 - 30 - 10) / 2 = 50",
		},
		{
			name: "counts", report: report, budget: budget(99, 99), slicer: counts,
			want: []row{{"tool", analysis.QuotaItems, 2, 1, 3}, {cupel.KindMemory, analysis.QuotaItems, 1, 0, 2}},
			why:  "the pinned one never met the slicer; kinds are spelled as the entries spell them (R2)",
		},
		{
			name: "counts around a knapsack", report: report, budget: budget(99, 99), slicer: countKnapsack,
			want: []row{{"doc", analysis.QuotaItems, 1, 2, 2}}, why: "one of two: a shortfall shows",
		},
		{
			name: "nested", report: report, budget: budget(200, 131), slicer: custom{must(slicer.NewQuota(counts, slicer.Cap("doc", 10)))},
			want: []row{{"doc", analysis.QuotaTokens, 5, 0, 10}, {"tool", analysis.QuotaItems, 2, 1, 3}, {cupel.KindMemory, analysis.QuotaItems, 1, 0, 2}},
			why:  "outer entries come first",
		},
		{
			name: "embedded", report: report, budget: budget(200, 131), slicer: embedding{must(slicer.NewQuota(slicer.Greedy{}, slicer.Cap("doc", 10)))},
			want: []row{{"doc", analysis.QuotaTokens, 5, 0, 10}}, why: "embedding hides the type and not the entries",
		},
		{name: "an empty quota", report: report, budget: budget(99, 99), slicer: new(slicer.Quota), why: "it has no entries, and does not panic"},
		{
			name: "more than int can count", report: huge, budget: budget(math.MaxInt, 10), slicer: quota,
			want: []row{{"tool", analysis.QuotaTokens, math.MaxInt, 2, 4}, {"Absent", analysis.QuotaTokens, 0, 3, 10}}, why: "sums are clamped and never wrap (R5)",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := analysis.QuotaUtilization(tt.report, tt.budget, tt.slicer)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %+v, want %+v: %s", got, tt.want, tt.why)
			}
		})
	}
	text, err := json.Marshal(analysis.QuotaUtilization(report, budget(99, 99), countKnapsack))
	if want := `[{"kind":"doc","unit":"items","used":1,"required":2,"cap":2}]`; err != nil || string(text) != want {
		t.Errorf("got %s, %v; want %s", text, err, want)
	}
}

// TestQuotasAreKept compares rows with what a Quota really does: no kind is
// above its cap, and none of those that had enough candidates below what is
// required, up to the size of one item.
func TestQuotasAreKept(t *testing.T) {
	var items []*cupel.ContextItem
	for i := range 60 {
		items = append(items, scored(string(rune('A'+i)), 1, float64(i%7)/7, cupel.WithKind([]cupel.ContextKind{"tool", "doc", "msg"}[i%3])))
	}
	items = append(items, item("pinned", 5, cupel.WithPinned(), cupel.WithKind("tool")))
	s := must(slicer.NewQuota(slicer.Greedy{}, slicer.Between("tool", 10, 20), slicer.Require("doc", 45)))
	b := budget(45, 45)
	report, err := pipeline(s).DryRun(t.Context(), items, b)
	if err != nil {
		t.Fatal(err)
	}
	rows := analysis.QuotaUtilization(report, b, s)
	if len(rows) != 2 || rows[0].Cap != 8 || rows[1].Required != 18 {
		t.Fatalf("got %+v, want a cap of 20 %% and a requirement of 45 %% of 40", rows)
	}
	for _, r := range rows {
		if r.Used < r.Required || r.Used > r.Cap {
			t.Errorf("got %+v: what is used is not between the bounds", r)
		}
	}
}

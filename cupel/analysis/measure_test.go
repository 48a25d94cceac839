package analysis_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
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
	short := analysis.IncludedUnit{{Item: item("whole", 5)}, {Item: item("short", 3, tool, cupel.WithOriginalTokens(10)), Form: 1}, {Item: item("cut", 4, cupel.WithOriginalTokens(20))}}
	if got := short.Kind(); got != cupel.KindToolOutput {
		t.Errorf("the kind is %s, want that of 10 tokens in full: only forms of this run count in full", got)
	}
	if units := analysis.IncludedUnits(nil); units != nil || analysis.IncludedUnit(nil).Kind() != "" {
		t.Errorf("no report has units %v", units)
	}
}

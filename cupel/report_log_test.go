package cupel

import (
	"bytes"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"
)

// logLine logs v with slog's JSON handler and returns the line without time.
func logLine(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	logger.Info("selected", "report", v)
	return strings.TrimSpace(b.String())
}

func TestLogValue(t *testing.T) {
	secret := func(tokens int) *ContextItem {
		it, err := NewContextItem("SECRET", tokens, WithKind("SECRET"), WithSource("SECRET"), WithTags("SECRET"),
			WithMetadata(map[string]any{"SECRET": "SECRET"}), WithTimestamp(time.Unix(0, 0)))
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	excluded := func(code ExclusionCode) ExcludedItem {
		return ExcludedItem{Item: secret(1), Reason: NewExclusionReason(code, ReasonData{DeduplicatedAgainst: "SECRET", DisplacedBy: "SECRET", Kind: "SECRET", DisplacedByKind: "SECRET", FilterName: "SECRET"})}
	}
	full := &SelectionReport{
		Events: []TraceEvent{
			{Stage: "Zeta", DurationMS: 1},
			{Stage: StagePlace, DurationMS: 0.25},
			{Stage: StageScore, ItemCount: 1, Message: "SECRET"},
			{Stage: StageScore, DurationMS: 12.5, ItemCount: 4},
			{Stage: "Alpha", DurationMS: 2},
			{Stage: StageClassify, DurationMS: 0.5},
			{Stage: StageScore, ItemCount: 1}, // another implementation may record it late
		},
		Included: []IncludedItem{{Item: secret(10)}, {Item: secret(32)}},
		Excluded: []ExcludedItem{
			excluded("Zeta"), excluded(ExcludeCountCapExceeded), excluded(ExcludeNegativeTokens), excluded(ExcludeBudgetExceeded), excluded("Alpha"),
			excluded(ExcludeDeduplicated), excluded(ExcludeBudgetExceeded), excluded(ExcludePinnedOverride), excluded(ExcludeFiltered),
		},
		TotalCandidates:            11,
		TotalTokensConsidered:      51,
		CountRequirementShortfalls: []CountRequirementShortfall{{Kind: "SECRET", RequiredCount: 2, SatisfiedCount: 1}},
		Overflow:                   &OverflowEvent{TokensOverBudget: 7, OverflowingItems: []*ContextItem{secret(10)}},
	}
	tests := []struct {
		name   string
		report *SelectionReport
		want   string
		why    string
	}{
		{"everything", full,
			`{"level":"INFO","msg":"selected","report":{"total_candidates":11,"total_tokens_considered":51,"included":2,"included_tokens":42,"excluded":9,` +
				`"excluded_by_reason":{"BudgetExceeded":2,"Deduplicated":1,"NegativeTokens":1,"PinnedOverride":1,"Filtered":1,"CountCapExceeded":1,"Alpha":1,"Zeta":1},` +
				`"duration_ms":{"Classify":0.5,"Score":12.5,"Place":0.25,"Alpha":2,"Zeta":1},` +
				`"count_requirement_shortfalls":1,"tokens_over_budget":7}}`,
			"a fixed order, unknown names last and sorted, and nothing of any item"},
		{"empty", &SelectionReport{},
			`{"level":"INFO","msg":"selected","report":{"total_candidates":0,"total_tokens_considered":0,"included":0,"included_tokens":0,"excluded":0}}`,
			"handlers leave empty groups out"},
		{"not finite", &SelectionReport{Events: []TraceEvent{{Stage: StageScore, DurationMS: math.NaN()}, {Stage: StageSlice, DurationMS: math.Inf(1)}}},
			`{"level":"INFO","msg":"selected","report":{"total_candidates":0,"total_tokens_considered":0,"included":0,"included_tokens":0,"excluded":0,` +
				`"duration_ms":{"Score":"NaN","Slice":"+Inf"}}}`,
			"slog's JSON has no number for these; reports that were read may hold them"},
		{"huge tokens", &SelectionReport{Included: []IncludedItem{{Item: secret(math.MaxInt)}, {Item: secret(math.MaxInt)}, {}}},
			`{"level":"INFO","msg":"selected","report":{"total_candidates":0,"total_tokens_considered":0,"included":3,"included_tokens":` + largest + `,"excluded":0}}`,
			"sums are clamped (R5), and an entry without an item counts 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := logLine(t, tt.report)
			if byValue := logLine(t, *tt.report); byValue != got {
				t.Errorf("by value it logs\n%s\nby pointer\n%s", byValue, got)
			}
			if got != tt.want {
				t.Errorf("logged\n%s\nwant\n%s\n%s", got, tt.want, tt.why)
			}
			if strings.Contains(got, "SECRET") {
				t.Errorf("the log shows what is in an item: %s", got)
			}
		})
	}
}

// TestLogsHaveNoContents logs what observers and slicers hold: by default slog
// writes the items in it as JSON.
func TestLogsHaveNoContents(t *testing.T) {
	it, err := NewContextItem("SECRET", 5)
	if err != nil {
		t.Fatal(err)
	}
	budget, err := NewContextBudget(10, 8)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		value any
		want  string
	}{
		{OverflowEvent{TokensOverBudget: 2, OverflowingItems: []*ContextItem{it, it}, Budget: budget}, `{"tokens_over_budget":2,"items":2,"target_tokens":8}`},
		{ScoredItem{it, math.NaN()}, `{"score":"NaN","item":{"kind":"Message","source":"Chat","tokens":5}}`},
		{ScoredItem{}, `{"score":0}`},
		{StreamResult{
			Window: []*ContextItem{it}, Included: []IncludedItem{{Item: it}}, Excluded: map[ExclusionCode]int{ExcludeBudgetExceeded: 3, "Own": 1},
			TotalCandidates: 5, TotalTokensConsidered: 25, SourceEnded: true,
		}, `{"total_candidates":5,"total_tokens_considered":25,"included":1,"included_tokens":5,"excluded_by_reason":{"BudgetExceeded":3,"Own":1},"source_ended":true}`},
	} {
		if got, want := logLine(t, tt.value), `{"level":"INFO","msg":"selected","report":`+tt.want+`}`; got != want {
			t.Errorf("logged\n%s\nwant\n%s", got, want)
		}
	}
}

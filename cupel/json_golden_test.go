package cupel

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// compact is text without the white space that makes it readable here.
func compact(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return b.String()
}

// goldens are the examples of the Diagnostics chapters, and the fields that
// those leave out.
var goldens = []struct {
	name   string
	target func() any // what the text is read into
	text   string
	want   string // what is written of it; "" when that is the text itself
	why    string
}{
	{"message null", func() any { return new(TraceEvent) },
		`{"message": null, "item_count": 0, "duration_ms": "NaN", "stage": "Place"}`,
		`{"stage": "Place", "duration_ms": "NaN", "item_count": 0}`,
		"null is absent, and the order of reading does not matter"},
	{"empty message", func() any { return new(TraceEvent) },
		`{"stage": "Score", "duration_ms": 1, "item_count": 2, "message": "", "x": 1}`, "", "it was said, with nothing"},
	{"unknown reason", func() any { return new(ExclusionReason) },
		`{"rank": 3, "tokens": 12345678901234567890, "reason": "RankTooLow", "kind": null}`,
		`{"reason": "RankTooLow", "rank": 3, "tokens": 12345678901234567890, "kind": null}`,
		"nothing of an unknown reason is lost, though other reasons have fields of that name"},
	{"report with null", func() any { return new(SelectionReport) },
		`{"events": [], "included": [], "excluded": [], "total_candidates": 0, "total_tokens_considered": 0,
		  "count_requirement_shortfalls": null, "overflow_event": null}`,
		`{"events": [], "included": [], "excluded": [], "total_candidates": 0, "total_tokens_considered": 0}`,
		"null is absent (R38)"},
	{"smallest item", func() any { return new(ContextItem) },
		`{"content": "a", "tokens": 0}`, `{"content": "a", "tokens": 0, "kind": "Message", "source": "Chat"}`,
		"kind and source are always written, with their defaults"},
	{"item with empties", func() any { return new(ContextItem) },
		`{"content": "a", "tokens": 1, "tags": [], "metadata": {}, "pinned": false, "futureRelevanceHint": "NaN"}`,
		`{"content": "a", "tokens": 1, "kind": "Message", "source": "Chat", "futureRelevanceHint": "NaN"}`,
		"empty and false are not written; a hint may be any float64"},
	{"canonical names", func() any { return new(ContextItem) },
		`{"content": "a", "tokens": 1, "kind": "TOOLoutput", "source": "rag"}`,
		`{"content": "a", "tokens": 1, "kind": "ToolOutput", "source": "Rag"}`, "as NewContextItem does (R2)"},
	{"offset", func() any { return new(ContextItem) },
		`{"content": "a", "tokens": 1, "timestamp": "2025-01-31t23:30:00.5-05:45"}`,
		`{"content": "a", "tokens": 1, "kind": "Message", "source": "Chat", "timestamp": "2025-02-01T05:15:00.5Z"}`,
		"23:30 at five and three quarter hours behind UTC is 05:15 of the next day; RFC 3339 allows a small t"},
	{"integers as other tools write them", func() any { return new(ContextItem) },
		`{"content": "a", "tokens": 128.0, "priority": 1e3, "originalTokens": 1.28e2}`,
		`{"content": "a", "tokens": 128, "kind": "Message", "source": "Chat", "priority": 1000, "originalTokens": 128}`,
		"JSON Schema counts them as integers"},
	{"unknown fields everywhere", func() any { return new(SelectionReport) },
		`{"events": [{"stage": "Sort", "duration_ms": 0.5, "item_count": 3, "thread": 7, "nested": {"a": [null, 1.0]}}],
		  "included": [{"item": {"content": "a", "tokens": 9, "kind": "K", "source": "S", "group": "g", "variants": [{"content": "v", "tokens": 2, "worth": 0.5, "v": 1}],
		    "groupVariants": [{"tokens": 3, "worth": 0.25, "Content": 2}], "Tokens": 2, "lang": "en"}, "score": "Infinity", "reason": {"reason": "Boosted", "by": 2}, "rank": 1}],
		  "excluded": [{"item": {"content": "a", "tokens": 1, "kind": "K", "source": "S"}, "score": 0, "reason": {"reason": "NegativeTokens", "tokens": -3, "x": []}, "form": 2}],
		  "total_candidates": 2, "total_tokens_considered": -7,
		  "count_requirement_shortfalls": [{"kind": "Memory", "required_count": 1, "satisfied_count": 0, "slicer": "s"}],
		  "overflow_event": {"tokens_over_budget": 1, "overflowing_items": [], "budget": {"maxTokens": 0, "targetTokens": 0, "model": "x"}, "z": 1},
		  "trace_id": "00-ab", "aardvark": {"b": 1, "a": 2}}`, "",
		"in each object, after the known ones and in their order"},
	{"margin minus zero", func() any { return new(ContextBudget) },
		`{"maxTokens": 2, "targetTokens": 1, "estimationSafetyMarginPercent": -0}`, "", "floats keep every bit"},
}

func TestGoldenJSON(t *testing.T) {
	for _, tt := range goldens {
		t.Run(tt.name, func(t *testing.T) {
			v := tt.target()
			if err := json.Unmarshal([]byte(tt.text), v); err != nil {
				t.Fatalf("%v: %s", err, tt.why)
			}
			want := tt.want
			if want == "" {
				want = tt.text
			}
			var got bytes.Buffer
			enc := json.NewEncoder(&got)
			enc.SetEscapeHTML(false) // the rows are written without
			if err := enc.Encode(v); err != nil {
				t.Fatalf("%v: %s", err, tt.why)
			}
			if got, want := compact(t, got.String()), compact(t, want); got != want {
				t.Errorf("wrote\n%s\nwant\n%s\n%s", got, want, tt.why)
			}
		})
	}
}

func TestNullLeavesTargetsAlone(t *testing.T) {
	b := ContextBudget{maxTokens: 5}
	if err := json.Unmarshal([]byte(" null "), &b); err != nil || b.maxTokens != 5 {
		t.Errorf("null changed a budget to %+v, %v; it is read as absent", b, err)
	}
	var wrapper struct {
		Item   *ContextItem
		Report SelectionReport
	}
	if err := json.Unmarshal([]byte(`{"Item": null, "Report": null}`), &wrapper); err != nil || wrapper.Item != nil {
		t.Errorf("null read as %+v, %v", wrapper, err)
	}
}

// Data may go on to a reason with another code; what was an unknown field must
// then not be written in addition to a known one of the same name.
func TestChangedCodeShadowsUnknownFields(t *testing.T) {
	var r ExclusionReason
	if err := json.Unmarshal([]byte(`{"reason": "Future", "tokens": 12, "more": 1}`), &r); err != nil {
		t.Fatal(err)
	}
	d := r.Data()
	d.Tokens = -4
	r = NewExclusionReason(ExcludeNegativeTokens, d)
	text, err := json.Marshal(r)
	if want := `{"reason":"NegativeTokens","tokens":-4,"more":1}`; err != nil || string(text) != want {
		t.Errorf("wrote %s, %v; want %s", text, err, want)
	}
}

// Which field of the struct is which name of the wire: what reading and writing
// agree upon can still be wrong.
func TestNamesOnTheWire(t *testing.T) {
	item, err := NewContextItem("i", 7, WithKind("k"), WithSource("s"), WithPriority(-2), WithTags("a", ""), WithMetadata(map[string]any{"n": json.Number("1.10"), "b": nil}),
		WithTimestamp(time.Unix(0, -1)), WithFutureRelevanceHint(math.Inf(-1)), WithPinned(), WithOriginalTokens(9), WithGroup("g"), WithVersionOf("v"),
		WithVariants(Variant{Content: "short", Tokens: 2, Worth: 0.5}), WithGroupVariants(Variant{Content: "all", Tokens: 3, Worth: 0.25}))
	if err != nil {
		t.Fatal(err)
	}
	const itemText = `{"content": "i", "tokens": 7, "kind": "k", "source": "s", "priority": -2, "tags": ["a", ""], "metadata": {"b": null, "n": 1.10},
		"timestamp": "1969-12-31T23:59:59.999999999Z", "futureRelevanceHint": "-Infinity", "pinned": true, "originalTokens": 9, "group": "g", "versionOf": "v",
		"variants": [{"content": "short", "tokens": 2, "worth": 0.5}], "groupVariants": [{"content": "all", "tokens": 3, "worth": 0.25}]}`
	budget, err := NewContextBudget(20, 10, WithOutputReserve(8), WithReservedSlots(map[ContextKind]int{"memory": 7, "A": 6}), WithEstimationSafetyMargin(2.5))
	if err != nil {
		t.Fatal(err)
	}
	report := SelectionReport{
		Events:                     []TraceEvent{{Stage: StageDeduplicate, DurationMS: 2.5, ItemCount: 3, Message: "m"}},
		Included:                   []IncludedItem{{Item: item, Score: 0.25, Reason: IncludeZeroToken, Candidate: 4, Form: 2, Stale: true, Units: true}},
		TotalCandidates:            10,
		TotalTokensConsidered:      11,
		CountRequirementShortfalls: []CountRequirementShortfall{{Kind: "s", RequiredCount: 12, SatisfiedCount: 13}},
		Overflow:                   &OverflowEvent{TokensOverBudget: 14, OverflowingItems: []*ContextItem{item}, Budget: budget},
	}
	var excluded []string
	for _, reason := range []struct {
		code ExclusionCode
		data ReasonData
		text string
		said string
	}{
		{ExcludeBudgetExceeded, ReasonData{ItemTokens: 1, AvailableTokens: 2, GroupTokens: 3}, `{"reason": "BudgetExceeded", "item_tokens": 1, "available_tokens": 2, "group_tokens": 3}`, "BudgetExceeded: 1 tokens requested, 2 available (group_tokens=3)"},
		{ExcludeScoredTooLow, ReasonData{Score: 1.5, Threshold: 2.5}, `{"reason": "ScoredTooLow", "score": 1.5, "threshold": 2.5}`, "ScoredTooLow: score 1.5 below 2.5"},
		{ExcludeDeduplicated, ReasonData{DeduplicatedAgainst: "d"}, `{"reason": "Deduplicated", "deduplicated_against": "d"}`, "Deduplicated: the same content is in as another item"},
		{ExcludeQuotaCapExceeded, ReasonData{Kind: "k", Cap: 3, Actual: 4}, `{"reason": "QuotaCapExceeded", "kind": "k", "cap": 3, "actual": 4}`, "QuotaCapExceeded: k has 4, cap 3"},
		{ExcludeQuotaRequireDisplaced, ReasonData{DisplacedByKind: "dk"}, `{"reason": "QuotaRequireDisplaced", "displaced_by_kind": "dk"}`, "QuotaRequireDisplaced: displaced by dk"},
		{ExcludeNegativeTokens, ReasonData{Tokens: -5}, `{"reason": "NegativeTokens", "tokens": -5}`, "NegativeTokens: -5 tokens"},
		{ExcludePinnedOverride, ReasonData{DisplacedBy: "p"}, `{"reason": "PinnedOverride", "displaced_by": "p"}`, "PinnedOverride: pinned items took its place"},
		{ExcludeFiltered, ReasonData{FilterName: "f"}, `{"reason": "Filtered", "filter_name": "f"}`, "Filtered: f"},
		{ExcludeCountCapExceeded, ReasonData{Kind: "k", Cap: 6, Count: 7}, `{"reason": "CountCapExceeded", "kind": "k", "cap": 6, "count": 7}`, "CountCapExceeded: k has 7 items, cap 6"},
		{ExcludeCountRequireCandidatesExhausted, ReasonData{Kind: "k", Required: 8, Available: 9}, `{"reason": "CountRequireCandidatesExhausted", "kind": "k", "required": 8, "available": 9}`, "CountRequireCandidatesExhausted: k requires 8, available 9"},
		{ExcludeSuperseded, ReasonData{SupersededBy: "s"}, `{"reason": "Superseded", "superseded_by": "s"}`, "Superseded: a newer version is among the candidates"},
		{ExcludeNearDuplicate, ReasonData{Of: "o", Similarity: 0.875}, `{"reason": "NearDuplicate", "of": "o", "similarity": 0.875}`, "NearDuplicate: 0.875 of it is in a newer item"},
		{"Future", ReasonData{FilterName: "f"}, `{"reason": "Future", "filter_name": "f"}`, "Future: filter_name=f"},
	} {
		r := NewExclusionReason(reason.code, reason.data)
		if r.String() != reason.said {
			t.Errorf("%s reads %q, want %q", reason.code, r, reason.said)
		}
		report.Excluded = append(report.Excluded, ExcludedItem{Item: item, Score: 0.5, Reason: r, Candidate: -1})
		excluded = append(excluded, `{"item": `+itemText+`, "score": 0.5, "reason": `+reason.text+`}`)
	}
	text := `{
		"events": [{"stage": "Deduplicate", "duration_ms": 2.5, "item_count": 3, "message": "m"}],
		"included": [{"item": ` + itemText + `, "score": 0.25, "reason": {"reason": "ZeroToken"}, "candidate": 4, "form": 2, "stale": true}],
		"excluded": [` + strings.Join(excluded, ",") + `], "total_candidates": 10, "total_tokens_considered": 11,
		"count_requirement_shortfalls": [{"kind": "s", "required_count": 12, "satisfied_count": 13}],
		"overflow_event": {"tokens_over_budget": 14, "overflowing_items": [` + itemText + `],
			"budget": {"maxTokens": 20, "targetTokens": 10, "outputReserve": 8, "reservedSlots": {"A": 6, "Memory": 7}, "estimationSafetyMarginPercent": 2.5}}
	}`
	got, err := json.Marshal(report)
	if want := compact(t, text); err != nil || string(got) != want {
		t.Errorf("wrote\n%s, %v\nwant\n%s", got, err, want)
	}
	var back SelectionReport
	if err := json.Unmarshal([]byte(text), &back); err != nil || !reflect.DeepEqual(back, report) {
		t.Errorf("read\n%+v, %v\nwant\n%+v", back, err, report)
	}
}

package cupel

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
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
	{"stage event", func() any { return new(TraceEvent) },
		`{"stage": "Score", "duration_ms": 12.4, "item_count": 47}`, "",
		"the chapter's example; the message is absent"},
	{"item event", func() any { return new(TraceEvent) },
		`{"stage": "Slice", "duration_ms": 0.0, "item_count": 1, "message": "BudgetExceeded: 2048 tokens requested, 512 available"}`,
		`{"stage": "Slice", "duration_ms": 0, "item_count": 1, "message": "BudgetExceeded: 2048 tokens requested, 512 available"}`,
		"the chapter's example; 0.0 and 0 are one number"},
	{"event of another implementation", func() any { return new(TraceEvent) },
		`{"stage": "Sort", "duration_ms": 0.5, "item_count": 3, "thread": 7, "nested": {"a": [null, 1.0]}}`, "",
		"unknown stages and fields are kept"},
	{"message null", func() any { return new(TraceEvent) },
		`{"message": null, "item_count": 0, "duration_ms": "NaN", "stage": "Place"}`,
		`{"stage": "Place", "duration_ms": "NaN", "item_count": 0}`,
		"null is absent, and the order of reading does not matter"},
	{"overflow event", func() any { return new(OverflowEvent) },
		`{"tokens_over_budget": 384,
		  "overflowing_items": [
			{"content": "...", "tokens": 512, "kind": "Message"},
			{"content": "...", "tokens": 1024, "kind": "ToolOutput"}],
		  "budget": {"maxTokens": 4096, "targetTokens": 3072}}`,
		`{"tokens_over_budget": 384,
		  "overflowing_items": [
			{"content": "...", "tokens": 512, "kind": "Message", "source": "Chat"},
			{"content": "...", "tokens": 1024, "kind": "ToolOutput", "source": "Chat"}],
		  "budget": {"maxTokens": 4096, "targetTokens": 3072}}`,
		"the chapter's example; the source is always written"},
	{"BudgetExceeded", func() any { return new(ExclusionReason) },
		`{"reason": "BudgetExceeded", "item_tokens": 2048, "available_tokens": 512}`, "", "the chapter's example"},
	{"Deduplicated", func() any { return new(ExclusionReason) },
		`{"reason": "Deduplicated", "deduplicated_against": "tool_output_abc123"}`, "", "the chapter's example"},
	{"NegativeTokens", func() any { return new(ExclusionReason) },
		`{"reason": "NegativeTokens", "tokens": -1}`, "", "the chapter's example"},
	{"ScoredTooLow", func() any { return new(ExclusionReason) },
		`{"reason": "ScoredTooLow", "score": 0.12, "threshold": 0.25}`, "", "the chapter's example"},
	{"QuotaCapExceeded", func() any { return new(ExclusionReason) },
		`{"reason": "QuotaCapExceeded", "kind": "ToolOutput", "cap": 3, "actual": 4}`, "", "the chapter's example"},
	{"QuotaRequireDisplaced", func() any { return new(ExclusionReason) },
		`{"reason": "QuotaRequireDisplaced", "displaced_by_kind": "SystemPrompt"}`, "", "the chapter's example"},
	{"Filtered", func() any { return new(ExclusionReason) },
		`{"reason": "Filtered", "filter_name": "max_age_filter"}`, "", "the chapter's example"},
	{"PinnedOverride", func() any { return new(ExclusionReason) },
		`{"reason": "PinnedOverride", "displaced_by": "System prompt"}`, "", "the chapter's table"},
	{"CountCapExceeded", func() any { return new(ExclusionReason) },
		`{"reason": "CountCapExceeded", "kind": "Memory", "cap": 2, "count": 2}`, "", "R31"},
	{"CountRequireCandidatesExhausted", func() any { return new(ExclusionReason) },
		`{"reason": "CountRequireCandidatesExhausted", "kind": "Memory", "required": 2, "available": 1}`, "", "R31"},
	{"NearDuplicate", func() any { return new(ExclusionReason) },
		`{"reason": "NearDuplicate", "of": "func New() *Index", "similarity": 0.875}`, "", "docs/units.md"},
	{"Superseded", func() any { return new(ExclusionReason) },
		`{"reason": "Superseded", "superseded_by": "func New() *Index"}`, "", "docs/units.md"},
	{"unknown reason", func() any { return new(ExclusionReason) },
		`{"rank": 3, "tokens": 12345678901234567890, "reason": "RankTooLow", "kind": null}`,
		`{"reason": "RankTooLow", "rank": 3, "tokens": 12345678901234567890, "kind": null}`,
		"nothing of an unknown reason is lost, though other reasons have fields of that name"},
	{"field of another reason", func() any { return new(ExclusionReason) },
		`{"reason": "NegativeTokens", "tokens": -1, "threshold": 1.50}`, "",
		"a field that the reason does not have is an unknown one"},
	{"kind of a reason", func() any { return new(ExclusionReason) },
		`{"reason": "CountCapExceeded", "kind": "toolOUTPUT", "cap": 2, "count": 2}`,
		`{"reason": "CountCapExceeded", "kind": "ToolOutput", "cap": 2, "count": 2}`,
		"well-known kinds are spelled canonically (R2)"},
	{"included item", func() any { return new(IncludedItem) },
		`{"item": {"content": "User's latest message", "tokens": 64, "kind": "Message"}, "score": 0.95, "reason": {"reason": "Scored"}}`,
		`{"item": {"content": "User's latest message", "tokens": 64, "kind": "Message", "source": "Chat"}, "score": 0.95, "reason": {"reason": "Scored"}}`,
		"the chapter's example"},
	{"included item of another implementation", func() any { return new(IncludedItem) },
		`{"item": {"content": "a", "tokens": 1, "kind": "K", "source": "S", "lang": "en"}, "score": "Infinity", "reason": {"reason": "Boosted", "by": 2}, "rank": 1}`, "",
		"unknown fields are kept at every level: item, reason and entry"},
	{"excluded item, BudgetExceeded", func() any { return new(ExcludedItem) },
		`{"item": {"content": "Large tool output", "tokens": 4096, "kind": "ToolOutput"}, "score": 0.60,
		  "reason": {"reason": "BudgetExceeded", "item_tokens": 4096, "available_tokens": 1024}}`,
		`{"item": {"content": "Large tool output", "tokens": 4096, "kind": "ToolOutput", "source": "Chat"}, "score": 0.6,
		  "reason": {"reason": "BudgetExceeded", "item_tokens": 4096, "available_tokens": 1024}}`,
		"the chapter's example"},
	{"excluded item, Deduplicated", func() any { return new(ExcludedItem) },
		`{"item": {"content": "Duplicate content", "tokens": 256, "kind": "Message"}, "score": 0.40,
		  "reason": {"reason": "Deduplicated", "deduplicated_against": "Original message"}}`,
		`{"item": {"content": "Duplicate content", "tokens": 256, "kind": "Message", "source": "Chat"}, "score": 0.4,
		  "reason": {"reason": "Deduplicated", "deduplicated_against": "Original message"}}`,
		"the chapter's example"},
	{"excluded item with more", func() any { return new(ExcludedItem) },
		`{"item": {"content": "a", "tokens": 1, "kind": "Message", "source": "Chat"}, "score": "-Infinity", "reason": {"reason": "NegativeTokens", "tokens": -3, "x": []}, "y": {}}`, "",
		"unknown fields are kept at every level"},
	{"shortfall", func() any { return new(CountRequirementShortfall) },
		`{"kind": "Memory", "required_count": 3, "satisfied_count": 1, "slicer": "CountQuotaSlice"}`, "", "R37, and an unknown field"},
	{"report", func() any { return new(SelectionReport) }, `{
		"events": [
		  { "stage": "Classify", "duration_ms": 0.3, "item_count": 5 },
		  { "stage": "Score", "duration_ms": 8.2, "item_count": 3 },
		  { "stage": "Deduplicate", "duration_ms": 0.1, "item_count": 3 },
		  { "stage": "Slice", "duration_ms": 1.4, "item_count": 3 },
		  { "stage": "Place", "duration_ms": 0.2, "item_count": 2 }
		],
		"included": [
		  { "item": { "content": "Recent conversation turn", "tokens": 256, "kind": "Message" },
			"score": 0.92, "reason": { "reason": "Scored" } },
		  { "item": { "content": "System prompt", "tokens": 128, "kind": "SystemPrompt" },
			"score": 0.0, "reason": { "reason": "Pinned" } }
		],
		"excluded": [
		  { "item": { "content": "Old tool output", "tokens": 2048, "kind": "ToolOutput" },
			"score": 0.45, "reason": { "reason": "BudgetExceeded", "item_tokens": 2048, "available_tokens": 512 } },
		  { "item": { "content": "Duplicate message", "tokens": 256, "kind": "Message" },
			"score": 0.30, "reason": { "reason": "Deduplicated", "deduplicated_against": "Recent conversation turn" } }
		],
		"total_candidates": 5,
		"total_tokens_considered": 4736
	  }`, `{
		"events": [
		  { "stage": "Classify", "duration_ms": 0.3, "item_count": 5 },
		  { "stage": "Score", "duration_ms": 8.2, "item_count": 3 },
		  { "stage": "Deduplicate", "duration_ms": 0.1, "item_count": 3 },
		  { "stage": "Slice", "duration_ms": 1.4, "item_count": 3 },
		  { "stage": "Place", "duration_ms": 0.2, "item_count": 2 }
		],
		"included": [
		  { "item": { "content": "Recent conversation turn", "tokens": 256, "kind": "Message", "source": "Chat" },
			"score": 0.92, "reason": { "reason": "Scored" } },
		  { "item": { "content": "System prompt", "tokens": 128, "kind": "SystemPrompt", "source": "Chat" },
			"score": 0, "reason": { "reason": "Pinned" } }
		],
		"excluded": [
		  { "item": { "content": "Old tool output", "tokens": 2048, "kind": "ToolOutput", "source": "Chat" },
			"score": 0.45, "reason": { "reason": "BudgetExceeded", "item_tokens": 2048, "available_tokens": 512 } },
		  { "item": { "content": "Duplicate message", "tokens": 256, "kind": "Message", "source": "Chat" },
			"score": 0.3, "reason": { "reason": "Deduplicated", "deduplicated_against": "Recent conversation turn" } }
		],
		"total_candidates": 5,
		"total_tokens_considered": 4736
	  }`, "the chapter's complete example"},
	{"report with everything", func() any { return new(SelectionReport) },
		`{"events": [], "included": [], "excluded": [], "total_candidates": 0, "total_tokens_considered": -7,
		  "count_requirement_shortfalls": [{"kind": "Memory", "required_count": 1, "satisfied_count": 0}],
		  "overflow_event": {"tokens_over_budget": 1, "overflowing_items": [], "budget": {"maxTokens": 0, "targetTokens": 0, "model": "x"}, "z": 1},
		  "trace_id": "00-ab", "aardvark": {"b": 1, "a": 2}}`, "",
		"shortfalls (R37), overflow (R36), unknown fields behind them in their order"},
	{"report with null", func() any { return new(SelectionReport) },
		`{"events": [], "included": [], "excluded": [], "total_candidates": 0, "total_tokens_considered": 0,
		  "count_requirement_shortfalls": null, "overflow_event": null}`,
		`{"events": [], "included": [], "excluded": [], "total_candidates": 0, "total_tokens_considered": 0}`,
		"null is absent (R38)"},
	{"smallest item", func() any { return new(ContextItem) },
		`{"content": "a", "tokens": 0}`, `{"content": "a", "tokens": 0, "kind": "Message", "source": "Chat"}`,
		"kind and source are always written, with their defaults"},
	{"largest item", func() any { return new(ContextItem) },
		`{"content": "a<b> & \"c\"\n", "tokens": -1, "kind": "Recipe", "source": "Web", "priority": 0, "tags": ["x", "", "x"],
		  "metadata": {"a": null, "b": [1.50, true, {}], "cupel:trust": "0.5"}, "timestamp": "2025-01-31T12:00:00.000000001Z",
		  "futureRelevanceHint": 0, "pinned": true, "originalTokens": 0, "embedding": [0.10, 0.20]}`, "",
		"every field; 0 is not absent, a null inside metadata is a value, digits are kept"},
	{"item with nulls", func() any { return new(ContextItem) },
		`{"content": "a", "tokens": 1, "kind": null, "source": null, "priority": null, "tags": null, "metadata": null,
		  "timestamp": null, "futureRelevanceHint": null, "pinned": null, "originalTokens": null}`,
		`{"content": "a", "tokens": 1, "kind": "Message", "source": "Chat"}`, "null is absent (R38)"},
	{"item with empties", func() any { return new(ContextItem) },
		`{"content": "a", "tokens": 1, "tags": [], "metadata": {}, "pinned": false, "futureRelevanceHint": "NaN"}`,
		`{"content": "a", "tokens": 1, "kind": "Message", "source": "Chat", "futureRelevanceHint": "NaN"}`,
		"empty and false are not written; a hint may be any float64"},
	{"names of other case", func() any { return new(ContextItem) },
		`{"content": "a", "tokens": 1, "kind": "Message", "source": "Chat", "Tokens": 2, "PRIORITY": "high"}`, "",
		"names are compared exactly: these are unknown fields"},
	{"canonical names", func() any { return new(ContextItem) },
		`{"content": "a", "tokens": 1, "kind": "TOOLoutput", "source": "rag"}`,
		`{"content": "a", "tokens": 1, "kind": "ToolOutput", "source": "Rag"}`, "as NewContextItem does (R2)"},
	{"offset", func() any { return new(ContextItem) },
		`{"content": "a", "tokens": 1, "timestamp": "2025-01-31t23:30:00.5-05:45"}`,
		`{"content": "a", "tokens": 1, "kind": "Message", "source": "Chat", "timestamp": "2025-02-01T05:15:00.5Z"}`,
		"23:30 at five and three quarter hours behind UTC is 05:15 of the next day; RFC 3339 allows a small t"},
	{"escapes", func() any { return new(ContextItem) },
		`{"\u0063ontent": "\ud83d\ude00\/", "tokens": 1}`, `{"content": "😀/", "tokens": 1, "kind": "Message", "source": "Chat"}`,
		"names and values may be escaped"},
	{"integers as other tools write them", func() any { return new(ContextItem) },
		`{"content": "a", "tokens": 128.0, "priority": 1e3, "originalTokens": 1.28e2}`,
		`{"content": "a", "tokens": 128, "kind": "Message", "source": "Chat", "priority": 1000, "originalTokens": 128}`,
		"JSON Schema counts them as integers"},
	{"counts as other tools write them", func() any { return new(SelectionReport) },
		`{"events": [], "included": [], "excluded": [], "total_candidates": 2e0, "total_tokens_considered": -0.0}`,
		`{"events": [], "included": [], "excluded": [], "total_candidates": 2, "total_tokens_considered": 0}`, "in reports too"},
	{"smallest budget", func() any { return new(ContextBudget) }, `{"maxTokens": 0, "targetTokens": 0}`, "", "two fields are required"},
	{"largest budget", func() any { return new(ContextBudget) },
		`{"maxTokens": ` + largest + `, "targetTokens": 10, "outputReserve": 5, "reservedSlots": {"Document": 0, "recipe": 7},
		  "estimationSafetyMarginPercent": 12.5, "currency": "EUR"}`, "", "every field, and an unknown one"},
	{"budget in any order", func() any { return new(ContextBudget) },
		`{"reservedSlots": {"b": 1, "DOCUMENT": 2, "A": 3}, "estimationSafetyMarginPercent": 0, "outputReserve": 0, "targetTokens": 1, "maxTokens": 2}`,
		`{"maxTokens": 2, "targetTokens": 1, "reservedSlots": {"A": 3, "b": 1, "Document": 2}}`,
		"slots come in the order of their kinds without case; zeros are absent"},
	{"margin minus zero", func() any { return new(ContextBudget) },
		`{"maxTokens": 2, "targetTokens": 1, "estimationSafetyMarginPercent": -0}`, "", "floats keep every bit"},
	{"budget with nulls", func() any { return new(ContextBudget) },
		`{"maxTokens": 2, "targetTokens": 1, "outputReserve": null, "reservedSlots": null, "estimationSafetyMarginPercent": null}`,
		`{"maxTokens": 2, "targetTokens": 1}`, "null is absent (R38)"},
}

func TestGoldenJSON(t *testing.T) {
	names := make(map[string]bool)
	for _, tt := range goldens {
		t.Run(tt.name, func(t *testing.T) {
			if names[tt.name] || tt.why == "" {
				t.Fatal("a row needs a name of its own and a reason")
			}
			names[tt.name] = true
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

func TestReadItemFields(t *testing.T) {
	var it ContextItem
	err := json.Unmarshal([]byte(`{"content": "c", "tokens": 3, "kind": "memory", "source": "TOOL", "priority": -2, "tags": ["a", "b"],
		"metadata": {"n": 1.10}, "timestamp": "1969-12-31T23:59:59.999999999Z", "futureRelevanceHint": "-Infinity", "pinned": true, "originalTokens": 9}`), &it)
	if err != nil {
		t.Fatal(err)
	}
	if it.Content() != "c" || it.Tokens() != 3 || it.Kind() != KindMemory || it.Source() != SourceTool || !it.Pinned() {
		t.Errorf("read %+v", it)
	}
	if n, ok := it.Priority(); n != -2 || !ok {
		t.Errorf("priority %d, %v", n, ok)
	}
	if n, ok := it.OriginalTokens(); n != 9 || !ok {
		t.Errorf("original tokens %d, %v", n, ok)
	}
	if tags := it.Tags(); len(tags) != 2 || tags[0] != "a" || tags[1] != "b" {
		t.Errorf("tags %q", tags)
	}
	if v, ok := it.MetadataValue("n"); v != json.Number("1.10") || !ok {
		t.Errorf("metadata %#v, %v; a number keeps its digits as json.Number", v, ok)
	}
	if ts, ok := it.Timestamp(); !ts.Equal(time.Unix(0, -1)) || ts.Location() != time.UTC || !ok {
		t.Errorf("timestamp %v, %v; want a nanosecond before 1970 in UTC", ts, ok)
	}
	if hint, ok := it.FutureRelevanceHint(); !math.IsInf(hint, -1) || !ok {
		t.Errorf("hint %v, %v", hint, ok)
	}
}

func TestReadBudgetFields(t *testing.T) {
	var b ContextBudget
	err := json.Unmarshal([]byte(`{"maxTokens": 100, "targetTokens": 90, "outputReserve": 8, "reservedSlots": {"memory": 7, "Recipe": 6}, "estimationSafetyMarginPercent": 2.5}`), &b)
	if err != nil {
		t.Fatal(err)
	}
	if b.MaxTokens() != 100 || b.TargetTokens() != 90 || b.OutputReserve() != 8 || b.EstimationSafetyMarginPercent() != 2.5 {
		t.Errorf("read %+v", b)
	}
	if slots := b.ReservedSlots(); len(slots) != 2 || slots[KindMemory] != 7 || slots["Recipe"] != 6 {
		t.Errorf("reserved slots %v", slots)
	}
	// A budget is a value: it can be replaced.
	if err := json.Unmarshal([]byte(`{"maxTokens": 1, "targetTokens": 1}`), &b); err != nil || b.MaxTokens() != 1 || b.ReservedSlots() != nil {
		t.Errorf("read %+v, %v in place of another budget", b, err)
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

// The HTML escapes of encoding/json are the caller's choice, not the item's.
func TestHTMLEscapesAreTheCallersChoice(t *testing.T) {
	it, err := NewContextItem("<&>", 1)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := it.MarshalJSON()
	if want := `{"content":"<&>","tokens":1,"kind":"Message","source":"Chat"}`; err != nil || string(plain) != want {
		t.Errorf("MarshalJSON = %s, %v; want %s", plain, err, want)
	}
	escaped, err := json.Marshal(*it)
	if want := `{"content":"\u003c\u0026\u003e","tokens":1,"kind":"Message","source":"Chat"}`; err != nil || string(escaped) != want {
		t.Errorf("json.Marshal = %s, %v; want %s", escaped, err, want)
	}
	if text, err := json.Marshal((*ContextItem)(nil)); err != nil || string(text) != "null" {
		t.Errorf("a nil item is %s, %v; encoding/json writes null", text, err)
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
	item, err := NewContextItem("i", 1)
	if err != nil {
		t.Fatal(err)
	}
	const itemText = `{"content": "i", "tokens": 1, "kind": "Message", "source": "Chat"}`
	budget, err := NewContextBudget(20, 10)
	if err != nil {
		t.Fatal(err)
	}
	excluded := func(r ExclusionReason) ExcludedItem { return ExcludedItem{Item: item, Score: 0.5, Reason: r} }
	entry := func(reason string) string {
		return `{"item": ` + itemText + `, "score": 0.5, "reason": ` + reason + `}`
	}
	report := SelectionReport{
		Events:   []TraceEvent{{Stage: StageDeduplicate, DurationMS: 2.5, ItemCount: 3, Message: "m"}},
		Included: []IncludedItem{{Item: item, Score: 0.25, Reason: IncludeZeroToken}},
		Excluded: []ExcludedItem{
			excluded(NewExclusionReason(ExcludeBudgetExceeded, ReasonData{ItemTokens: 1, AvailableTokens: 2})),
			excluded(NewExclusionReason(ExcludeScoredTooLow, ReasonData{Score: 1.5, Threshold: 2.5})),
			excluded(NewExclusionReason(ExcludeDeduplicated, ReasonData{DeduplicatedAgainst: "d"})),
			excluded(NewExclusionReason(ExcludeQuotaCapExceeded, ReasonData{Kind: "k", Cap: 3, Actual: 4})),
			excluded(NewExclusionReason(ExcludeQuotaRequireDisplaced, ReasonData{DisplacedByKind: "dk"})),
			excluded(NewExclusionReason(ExcludeNegativeTokens, ReasonData{Tokens: -5})),
			excluded(NewExclusionReason(ExcludePinnedOverride, ReasonData{DisplacedBy: "p"})),
			excluded(NewExclusionReason(ExcludeFiltered, ReasonData{FilterName: "f"})),
			excluded(NewExclusionReason(ExcludeCountCapExceeded, ReasonData{Kind: "k", Cap: 6, Count: 7})),
			excluded(NewExclusionReason(ExcludeCountRequireCandidatesExhausted, ReasonData{Kind: "k", Required: 8, Available: 9})),
		},
		TotalCandidates:            10,
		TotalTokensConsidered:      11,
		CountRequirementShortfalls: []CountRequirementShortfall{{Kind: "s", RequiredCount: 12, SatisfiedCount: 13}},
		Overflow:                   &OverflowEvent{TokensOverBudget: 14, OverflowingItems: []*ContextItem{item}, Budget: budget},
	}
	text := `{
		"events": [{"stage": "Deduplicate", "duration_ms": 2.5, "item_count": 3, "message": "m"}],
		"included": [{"item": ` + itemText + `, "score": 0.25, "reason": {"reason": "ZeroToken"}}],
		"excluded": [` +
		entry(`{"reason": "BudgetExceeded", "item_tokens": 1, "available_tokens": 2}`) + "," +
		entry(`{"reason": "ScoredTooLow", "score": 1.5, "threshold": 2.5}`) + "," +
		entry(`{"reason": "Deduplicated", "deduplicated_against": "d"}`) + "," +
		entry(`{"reason": "QuotaCapExceeded", "kind": "k", "cap": 3, "actual": 4}`) + "," +
		entry(`{"reason": "QuotaRequireDisplaced", "displaced_by_kind": "dk"}`) + "," +
		entry(`{"reason": "NegativeTokens", "tokens": -5}`) + "," +
		entry(`{"reason": "PinnedOverride", "displaced_by": "p"}`) + "," +
		entry(`{"reason": "Filtered", "filter_name": "f"}`) + "," +
		entry(`{"reason": "CountCapExceeded", "kind": "k", "cap": 6, "count": 7}`) + "," +
		entry(`{"reason": "CountRequireCandidatesExhausted", "kind": "k", "required": 8, "available": 9}`) + `],
		"total_candidates": 10,
		"total_tokens_considered": 11,
		"count_requirement_shortfalls": [{"kind": "s", "required_count": 12, "satisfied_count": 13}],
		"overflow_event": {"tokens_over_budget": 14, "overflowing_items": [` + itemText + `], "budget": {"maxTokens": 20, "targetTokens": 10}}
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

package cupel_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/wollax/cupel-go/cupel"
)

const secret = "the launch code is 0000-1111-2222 and its end stays hidden"

// TestContentsDoNotLeak: no way of printing or logging shows a content, but for
// its beginning under %+v.
func TestContentsDoNotLeak(t *testing.T) {
	one := item(t, secret, 12, cupel.WithKind(cupel.KindMemory), cupel.WithSource(cupel.SourceTool), cupel.WithPinned(), cupel.WithTags(secret), cupel.WithMetadata(map[string]any{"k": secret}))
	in := cupel.IncludedItem{Item: one, Score: 0.5, Reason: cupel.IncludeScored}
	out := cupel.ExcludedItem{Item: one, Score: 0.5, Reason: cupel.NewExclusionReason(cupel.ExcludeDeduplicated, cupel.ReasonData{DeduplicatedAgainst: secret, Survivor: one})}
	report := &cupel.SelectionReport{Included: []cupel.IncludedItem{in}, Excluded: []cupel.ExcludedItem{out}, TotalCandidates: 2, Overflow: &cupel.OverflowEvent{OverflowingItems: []*cupel.ContextItem{one}}}
	values := map[string]any{
		"item": one, "item by value": *one, "items": []*cupel.ContextItem{one}, "included": in, "excluded": out, "excluded pointer": &out,
		"report": report, "report by value": *report, "scored": cupel.ScoredItem{Item: one, Score: 1}, "overflow": report.Overflow, "reason": out.Reason,
		"variant": cupel.Variant{Content: secret, Tokens: 3, Worth: 0.5}, "variant pointer": &cupel.Variant{Content: secret}, "data": out.Reason.Data(),
		"entries": report.Excluded, "in a struct": struct{ Item *cupel.ContextItem }{one},
	}
	for field := range out.Reason.Fields() {
		values["field "+field.Name] = field
	}
	for name, v := range values {
		for _, format := range []string{"%v", "%s", "%q", "%d", "%x", "%#v", "%10v"} {
			if text := fmt.Sprintf(format, v); strings.Contains(text, "launch") || strings.Contains(text, "6c61756e6368") {
				t.Errorf("%s under %s shows the content: %s", name, format, text)
			}
		}
		if text := fmt.Sprintf("%+v", v); strings.Contains(text, "hidden") {
			t.Errorf("%s under %%+v shows more than the beginning: %s", name, text)
		}
		var line bytes.Buffer
		slog.New(slog.NewTextHandler(&line, nil)).Info("selected", "value", v)
		nested := name == "items" || name == "in a struct"
		if strings.Contains(line.String(), "hidden") || !nested && strings.Contains(line.String(), "launch") {
			t.Errorf("%s is logged as %s", name, &line)
		}
		if nested || name == "entries" {
			continue // slog's JSON handler writes these as JSON, as the docs say
		}
		line.Reset()
		slog.New(slog.NewJSONHandler(&line, nil)).Info("selected", "value", v)
		if strings.Contains(line.String(), "launch") || !json.Valid(line.Bytes()) {
			t.Errorf("%s is logged as %s", name, &line)
		}
	}
}

// JSON has no number for a score that is not finite.
func TestLoggedScores(t *testing.T) {
	for score, want := range map[float64]string{0.5: "0.5", math.Inf(1): `"+Inf"`, math.Inf(-1): `"-Inf"`, math.NaN(): `"NaN"`} {
		var line bytes.Buffer
		slog.New(slog.NewJSONHandler(&line, nil)).Info("scored", "value", cupel.ScoredItem{Score: score})
		if !strings.Contains(line.String(), `"value":{"score":`+want+`}`) {
			t.Errorf("%v is logged as %s", score, &line)
		}
	}
}

func TestTexts(t *testing.T) {
	one := item(t, "a\nb\x1b[31m"+strings.Repeat("é", 60), 12, cupel.WithKind(cupel.KindMemory), cupel.WithSource(cupel.SourceTool))
	pinned := item(t, "short", 1, cupel.WithPinned())
	out := cupel.ExcludedItem{Item: one, Score: 0.25, Reason: cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: 12, AvailableTokens: 3})}
	tests := []struct{ got, want, why string }{
		{one.String(), "Memory from Tool, 12 tokens", "kind, source and size"},
		{fmt.Sprint(pinned), "Message from Chat, 1 token, pinned", "pinned is worth a word"},
		{fmt.Sprintf("%+v", one), `Memory from Tool, 12 tokens: "a\nb\x1b[31m` + strings.Repeat("é", 32) + `"…`, "40 characters, escaped"},
		{fmt.Sprintf("%+v", pinned), `Message from Chat, 1 token, pinned: "short"`, "all of it, where that is less"},
		{fmt.Sprint((*cupel.ContextItem)(nil)), "<nil>", "fmt says so itself"},
		{out.String(), "0.250  Memory from Tool, 12 tokens: BudgetExceeded: 12 tokens requested, 3 available", "a line of a list"},
		{out.Reason.Explain(), "BudgetExceeded: 12 tokens requested, 3 available", "as String, where that is clear"},
		{cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: 3, AvailableTokens: 3}).Explain(),
			"BudgetExceeded: 3 tokens requested, 3 available, but the slicer did not choose it", "the share of its kind may be used up"},
		{cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: 3, AvailableTokens: 3, GroupTokens: 4}).Explain(),
			"BudgetExceeded: 3 tokens requested, 3 available (group_tokens=4)", "the group does not fit"},
		{cupel.ExcludedItem{Item: one, Reason: cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: 5, AvailableTokens: -2})}.String(),
			"0.000  Memory from Tool, 12 tokens: BudgetExceeded: 5 tokens requested, but the slicer had already exceeded its budget by 2 tokens", "lists explain"},
		{cupel.NewExclusionReason(cupel.ExcludeFiltered, cupel.ReasonData{FilterName: "spam", AvailableTokens: -1}).Explain(), "Filtered: spam (available_tokens=-1)", "other codes mean other things"},
		{cupel.ExcludedItem{}.String(), "0.000  no item: ", "no panic"},
		{fmt.Sprint(cupel.Variant{Content: "short", Tokens: 3, Worth: 0.5}), "3 tokens, worth 0.5", "size and worth"},
		{fmt.Sprintf("%+v", &cupel.Variant{Content: "short", Tokens: 1, Worth: 0.5}), `1 token, worth 0.5: "short"`, "the beginning too"},
		{fmt.Sprint(cupel.ReasonData{ItemTokens: 2, DisplacedBy: "a content", FilterName: "spam"}), "item_tokens=2, filter_name=spam", "what is not zero and no content"},
		{fmt.Sprint(cupel.ReasonField{Name: "cap", Value: 3}), "cap=3", "name and value"},
		{fmt.Sprint(cupel.ReasonField{Name: "displaced_by", Value: "a content", Content: true}), "displaced_by", "the name alone"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("got  %s\nwant %s: %s", tt.got, tt.want, tt.why)
		}
	}
}

func TestReportText(t *testing.T) {
	report := cupel.SelectionReport{
		Included:                   []cupel.IncludedItem{{Item: item(t, "a", 5, cupel.WithPinned()), Score: 1, Reason: cupel.IncludePinned}, {Item: item(t, "b", 7), Score: 0.5, Reason: cupel.IncludeScored}},
		TotalCandidates:            24,
		CountRequirementShortfalls: []cupel.CountRequirementShortfall{{Kind: "Memory", RequiredCount: 3, SatisfiedCount: 1}},
		Overflow:                   &cupel.OverflowEvent{TokensOverBudget: 1},
	}
	for range 22 {
		report.Excluded = append(report.Excluded, cupel.ExcludedItem{Item: item(t, "c", 3), Score: 0.1, Reason: cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: 3})})
	}
	line := "  0.100  Message from Chat, 3 tokens: BudgetExceeded: 3 tokens requested, 0 available\n"
	want := `24 candidates: 2 included (12 tokens), 22 excluded (66 tokens)
  included Pinned: 1 item, 5 tokens
  included Scored: 1 item, 7 tokens
  excluded BudgetExceeded: 22 items, 66 tokens
the selection exceeds the target by 1 token
CountRequirementShortfall: Memory has 1 of 3 required items
excluded, highest score first:
` + strings.Repeat(line, 20) + "  and 2 more\n"
	if got := report.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := (cupel.SelectionReport{}).String(); got != "0 candidates: 0 included (0 tokens), 0 excluded (0 tokens)\n" {
		t.Errorf("an empty report reads %q", got)
	}
}

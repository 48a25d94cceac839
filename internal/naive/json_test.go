package naive_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
)

// Plain structs of the shape of a report, which encoding/json reads and writes
// by itself: what the codec is measured against.

type plainReport struct {
	Events     []plainEvent    `json:"events"`
	Included   []plainIncluded `json:"included"`
	Excluded   []plainExcluded `json:"excluded"`
	Candidates int             `json:"total_candidates"`
	Tokens     int             `json:"total_tokens_considered"`
}

type plainEvent struct {
	Stage      string  `json:"stage"`
	DurationMS float64 `json:"duration_ms"`
	ItemCount  int     `json:"item_count"`
	Message    string  `json:"message,omitempty"`
}

type plainIncluded struct {
	Item   *plainItem `json:"item"`
	Score  float64    `json:"score"`
	Reason struct {
		Reason string `json:"reason"`
	} `json:"reason"`
}

type plainExcluded struct {
	Item   *plainItem  `json:"item"`
	Score  float64     `json:"score"`
	Reason plainReason `json:"reason"`
}

type plainReason struct {
	Reason          string `json:"reason"`
	ItemTokens      int    `json:"item_tokens"`
	AvailableTokens int    `json:"available_tokens"`
}

type plainItem struct {
	Content        string         `json:"content"`
	Tokens         int            `json:"tokens"`
	Kind           string         `json:"kind"`
	Source         string         `json:"source"`
	Priority       *int           `json:"priority,omitempty"`
	Tags           []string       `json:"tags,omitempty"`
	Metadata       map[string]any `json:"metadata,omitempty"`
	Timestamp      *time.Time     `json:"timestamp,omitempty"`
	Hint           *float64       `json:"futureRelevanceHint,omitempty"`
	Pinned         bool           `json:"pinned,omitempty"`
	OriginalTokens *int           `json:"originalTokens,omitempty"`
}

// wireReport is a report of n items as an application has them: contents of a few
// hundred bytes, some of them with escapes and letters beyond ASCII, tags, a
// little metadata and a timestamp each, and an event for each.
func wireReport(n int) cupel.SelectionReport {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	kinds := []cupel.ContextKind{cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, cupel.KindMemory, "ticket"}
	words := []string{"the ", "report ", "of ", "a ", "selection ", "\n", "\"quoted\" ", "and ", "naïve ", "tokens ", "budget ", "line ", "tail "}
	start := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	report := cupel.SelectionReport{TotalCandidates: n}
	for i := range n {
		var content []byte
		for length := 100 + r.IntN(600); len(content) < length; {
			content = append(content, words[r.IntN(len(words))]...)
		}
		tokens := len(content) / 4
		it := must(cupel.NewContextItem(string(content), tokens, cupel.WithKind(kinds[r.IntN(len(kinds))]), cupel.WithPriority(r.IntN(10)),
			cupel.WithTags("alpha", fmt.Sprintf("tag-%d", r.IntN(50))), cupel.WithTimestamp(start.Add(time.Duration(i)*time.Second)),
			cupel.WithMetadata(map[string]any{"path": fmt.Sprintf("src/file%d.go", i), cupel.MetadataTrust: json.Number("0.5")})))
		report.TotalTokensConsidered += tokens
		report.Events = append(report.Events, cupel.TraceEvent{Stage: cupel.StageSlice, DurationMS: r.Float64(), ItemCount: 1, Message: fmt.Sprintf("item %d of %d tokens", i, tokens)})
		if i%2 == 0 {
			report.Included = append(report.Included, cupel.IncludedItem{Item: it, Score: r.Float64(), Reason: cupel.IncludeScored})
		} else {
			report.Excluded = append(report.Excluded, cupel.ExcludedItem{Item: it, Score: r.Float64(),
				Reason: cupel.NewExclusionReason(cupel.ExcludeBudgetExceeded, cupel.ReasonData{ItemTokens: tokens, AvailableTokens: 12})})
		}
	}
	return report
}

// ready is a value whose JSON is there already: what is left is what
// encoding/json does with the text of any Marshaler or Unmarshaler.
type ready []byte

func (text ready) MarshalJSON() ([]byte, error) { return text, nil }

func (text *ready) UnmarshalJSON(data []byte) error {
	*text = data
	return nil
}

// wireSides are what writes and what reads a report of n items.
func wireSides(n int) (write, read []side) {
	report := wireReport(n)
	text := must(report.MarshalJSON())
	var plain plainReport
	must(0, json.Unmarshal(text, &plain))
	write = []side{
		{"plain", func() { must(json.Marshal(&plain)) }},
		{"method", func() { must(report.MarshalJSON()) }},
		{"engine", func() { must(json.Marshal(&report)) }},
		{"ready", func() { must(json.Marshal(ready(text))) }},
	}
	read = []side{
		{"plain", func() { must(0, json.Unmarshal(text, new(plainReport))) }},
		{"method", func() { must(0, new(cupel.SelectionReport).UnmarshalJSON(text)) }},
		{"engine", func() { must(0, json.Unmarshal(text, new(cupel.SelectionReport))) }},
		{"ready", func() { must(0, json.Unmarshal(text, new(ready))) }},
	}
	return write, read
}

// TestPlainReport: the plain structs lose nothing of the report, so that both
// sides have the same work.
func TestPlainReport(t *testing.T) {
	text := must(wireReport(200).MarshalJSON())
	var plain plainReport
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	var report cupel.SelectionReport
	if err := json.Unmarshal(must(json.Marshal(plain)), &report); err != nil {
		t.Fatal(err)
	}
	if back := must(report.MarshalJSON()); string(back) != string(text) {
		t.Errorf("plain structs give\n%.1000s\nwant\n%.1000s", back, text)
	}
}

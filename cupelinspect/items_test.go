package cupelinspect_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelinspect"
)

func TestItem(t *testing.T) {
	noon := time.Date(2025, 3, 4, 12, 0, 0, 5, time.FixedZone("", 3600))
	it := newItem(t, "text", 7, cupel.WithKind("Wiki"), cupel.WithSource("rag"), cupel.WithTags("a", "b"), cupel.WithPinned(), cupel.WithPriority(-2),
		cupel.WithTimestamp(noon), cupel.WithFutureRelevanceHint(0.25), cupel.WithMetadata(map[string]any{"n": 1, "s": "x"}))
	bare := newItem(t, "bare", 0, cupel.WithFutureRelevanceHint(math.NaN()))
	p, _ := shown(t, inspect(t, newPipeline(t, nil), []*cupel.ContextItem{it, bare}, newBudget(t, 10, 10)))
	priority, hint := -2, 0.25
	equal(t, "items", p.Items, []item{
		{Content: "text", Tokens: 7, Kind: "Wiki", Source: string(it.Source()), Tags: []string{"a", "b"}, Pinned: true, Priority: &priority,
			Timestamp: "2025-03-04T11:00:00.000000005Z", Hint: &hint, Metadata: map[string]any{"n": 1, "s": "x"}},
		{Content: "bare", Kind: "Message", Source: "Chat"},
	})
}

func TestContentLimit(t *testing.T) {
	tests := []struct {
		name    string
		content string
		opts    []cupelinspect.Option
		want    string
		cut     int
		why     string
	}{
		{"short", "abc", nil, "abc", 0, "nothing is cut"},
		{"exact", "abc", []cupelinspect.Option{cupelinspect.WithContentLimit(3)}, "abc", 0, "it just fits"},
		{"cut", "abcd", []cupelinspect.Option{cupelinspect.WithContentLimit(3)}, "abc", 1, "one byte is left out"},
		{"character", "aé€", []cupelinspect.Option{cupelinspect.WithContentLimit(4)}, "aé", 3, "the euro sign has three bytes"},
		{"inside the first", "€", []cupelinspect.Option{cupelinspect.WithContentLimit(2)}, "", 3, "there is no room for it"},
		{"nothing", "abc", []cupelinspect.Option{cupelinspect.WithContentLimit(0)}, "", 3, "a page without contents"},
		{"not UTF-8", strings.Repeat("\x80", 10), []cupelinspect.Option{cupelinspect.WithContentLimit(8)}, "\uFFFD", 6, "no character begins there: up to four bytes go"},
		{"default", strings.Repeat("x", 70_000), nil, strings.Repeat("x", 65_536), 4_464, "64 KiB"},
		{"more", strings.Repeat("x", 70_000), []cupelinspect.Option{cupelinspect.WithContentLimit(1 << 20)}, strings.Repeat("x", 70_000), 0, "the caller's choice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, _ := shown(t, inspect(t, newPipeline(t, nil), []*cupel.ContextItem{newItem(t, tt.content, 1)}, newBudget(t, 10, 10), tt.opts...))
			if p.Items[0].Content != tt.want || p.Items[0].Cut != tt.cut {
				t.Errorf("%s: got %.50q and %d bytes cut; want %.50q and %d", tt.why, p.Items[0].Content, p.Items[0].Cut, tt.want, tt.cut)
			}
		})
	}
	short := inspect(t, newPipeline(t, nil), []*cupel.ContextItem{newItem(t, "abcdef", 1)}, newBudget(t, 10, 10), cupelinspect.WithContentLimit(2))
	long := inspect(t, newPipeline(t, nil), []*cupel.ContextItem{newItem(t, "abcdefg", 1)}, newBudget(t, 10, 10), cupelinspect.WithContentLimit(5))
	for _, pair := range [][]*cupelinspect.Selection{{short, long}, {long, short}} {
		if p := read(t, write(t, "", pair...)); p.Items[0].Content != "abcde" || p.Items[1].Content != "abcde" {
			t.Errorf("of two limits the longer one counts, but got %+v", p.Items)
		}
	}
}

// TestNothingOfContents checks that a page without contents has nothing of them
// anywhere.
func TestNothingOfContents(t *testing.T) {
	metadata := map[string]any{"text": "secret", "list": []any{"secret"}, "object": map[string]any{"x": "secret"}, "stringer": json.RawMessage(`"secret"`), "number": 42}
	items := []*cupel.ContextItem{
		newItem(t, "secret", 5, cupel.WithPinned(), cupel.WithMetadata(metadata)),
		newItem(t, "secret one", 2),
		newItem(t, "secret one", 2),
		newItem(t, "secret two", -1),
		newItem(t, "secret three", 6),
		newItem(t, "secret four", 600),
	}
	for _, tokens := range []int{3, 10} {
		b := newBudget(t, tokens, tokens)
		s := inspect(t, newPipeline(t, nil), items, b, cupelinspect.WithContentLimit(0))
		page, _, _ := strings.Cut(write(t, "", s), "</script>")
		if strings.Contains(page, "secret") || !strings.Contains(page, "42") {
			t.Errorf("with %d tokens the page is %s; want no secret, and the number", tokens, page)
		}
	}
}

// TestCutItemsOfTwoReports checks that items that differ only in what is cut
// stay different.
func TestCutItemsOfTwoReports(t *testing.T) {
	report := func(contents ...string) *cupelinspect.Selection {
		r := &cupel.SelectionReport{}
		for _, content := range contents {
			r.Included = append(r.Included, cupel.IncludedItem{Item: newItem(t, content, 1), Reason: cupel.IncludeScored})
		}
		return fromReport(t, r, newBudget(t, 9, 9), cupelinspect.WithContentLimit(1))
	}
	p := read(t, write(t, "", report("aa", "ab"), report("ab", "ac")))
	equal(t, "the candidates of the first report", p.Selections[0].Candidates, []int{0, 1})
	equal(t, "the candidates of the second, one in both", p.Selections[1].Candidates, []int{1, 2})
}

// hidden has a marshaler that panics.
type hidden struct{}

func (hidden) MarshalJSON() ([]byte, error) { panic("not for you") }

func TestMetadata(t *testing.T) {
	ring := map[string]any{}
	ring["ring"] = ring
	nested := func(deep int) json.RawMessage {
		return json.RawMessage(strings.Repeat(`[{"]\"[":`, deep) + "1" + strings.Repeat("}]", deep))
	}
	tests := []struct {
		name  string
		value any
		want  any
		why   string
	}{
		{"nil", nil, nil, "JSON knows it"},
		{"bool", true, true, "JSON knows it"},
		{"int", 12, 12, "JSON knows it"},
		{"number", json.Number("1.50"), 1.5, "JSON knows it"},
		{"time", time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC), "2025-01-02T03:04:05Z", "it says how"},
		{"map", map[string]any{"b": []int{1}, "a": "x"}, map[string]any{"a": "x", "b": []any{1}}, "JSON knows it"},
		{"bytes", []byte("hi"), "aGk=", "as encoding/json has it"},
		{"NaN", math.NaN(), "float64", "JSON has none"},
		{"channel", make(chan int), "chan int", "it has no text"},
		{"function", func() {}, "func()", "it has no text"},
		{"ring", ring, "map[string]interface {}", "it never ends"},
		{"panics", hidden{}, "cupelinspect_test.hidden", "a value of another package"},
		{"bad number", json.Number("1x"), "json.Number", "it is none"},
		{"bad JSON", json.RawMessage("{"), "json.RawMessage", "it is none"},
		{"not UTF-8", json.RawMessage("\"\xff\""), "\"\uFFFD\"", "a page is UTF-8"},
		{"text", strings.Repeat("x", 301), strings.Repeat("x", 300) + "… (1 more bytes)", "as long as a content"},
		{"long list", strings.Split(strings.Repeat("x", 100), ""), `["x","x"`, "as long as a content, and text then"},
		{"many digits", uint64(12345678901234567891), "12345678901234567891", "text, since scripts keep fifteen"},
		{"many digits inside", map[string]any{"id": int64(-9007199254740993)}, `{"id":-9007199254740993}`, "text, since scripts keep fifteen"},
		{"digits of a text", []string{"1234567890123456"}, []any{"1234567890123456"}, "they are no number"},
		{"two numbers", []int{12345678, 12345678}, []any{12345678.0, 12345678.0}, "each has few digits"},
		{"just nested", nested(25), nil, "50 levels"},
		{"nested", nested(26), `[{"]\"[":[{"]\"[":`, "text, since readers call themselves"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			it := newItem(t, "a", 1, cupel.WithMetadata(map[string]any{"key": tt.value}))
			p, _ := shown(t, inspect(t, newPipeline(t, nil), []*cupel.ContextItem{it}, newBudget(t, 10, 10), cupelinspect.WithContentLimit(300)))
			got := p.Items[0].Metadata["key"]
			switch tt.name {
			case "long list", "nested":
				if text, _ := got.(string); !strings.HasPrefix(text, tt.want.(string)) {
					t.Errorf("%s: got %v; want text that begins with %v", tt.why, got, tt.want)
				}
			case "just nested":
				if _, ok := got.([]any); !ok {
					t.Errorf("%s: got %v; want a list", tt.why, got)
				}
			default:
				equal(t, tt.why, got, tt.want)
			}
		})
	}
}

// TestManyLabels checks that tags and keys have their bounds.
func TestManyLabels(t *testing.T) {
	var tags []string
	metadata := map[string]any{}
	for i := range 1000 {
		tags = append(tags, fmt.Sprint(i, strings.Repeat("t", 1000)))
		metadata[fmt.Sprintf("%04d", i)] = i
	}
	long := strings.Repeat("k", 1000)
	it := newItem(t, "a", 1, cupel.WithTags(tags...), cupel.WithMetadata(metadata), cupel.WithKind(cupel.ContextKind(long)), cupel.WithSource(cupel.ContextSource(long)))
	p, _ := shown(t, inspect(t, newPipeline(t, nil), []*cupel.ContextItem{it}, newBudget(t, 10, 10)))
	got := p.Items[0]
	cut := strings.Repeat("k", 200) + "…"
	if len(got.Tags) != 101 || got.Tags[99] != "99"+strings.Repeat("t", 198)+"…" || got.Tags[100] != "… 900 more" || got.Kind != cut || got.Source != cut {
		t.Errorf("%d tags, the last are %q and %q; kind %q, source %q", len(got.Tags), got.Tags[len(got.Tags)-2], got.Tags[len(got.Tags)-1], got.Kind, got.Source)
	}
	if len(got.Metadata) != 101 || got.Metadata["0099"] != 99.0 || got.Metadata["…"] != "900 more" {
		t.Errorf("%d metadata values: %v", len(got.Metadata), got.Metadata)
	}
}

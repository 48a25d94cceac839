package cupelinspect_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelinspect"
)

func TestItem(t *testing.T) {
	noon := time.Date(2025, 3, 4, 12, 0, 0, 5, time.FixedZone("", 3600))
	it := newItem(t, "text", 7, cupel.WithKind("Wiki"), cupel.WithSource("rag"), cupel.WithTags("a", "b"), cupel.WithPinned(), cupel.WithPriority(-2),
		cupel.WithTimestamp(noon), cupel.WithFutureRelevanceHint(0.25), cupel.WithMetadata(map[string]any{"n": 1, "s": "x"}))
	bare := newItem(t, "bare", 0, cupel.WithFutureRelevanceHint(math.NaN()))
	p, _ := shown(t, inspect(t, newPipeline(t, nil), []*cupel.ContextItem{it, bare, newItem(t, "bare", 0), newItem(t, "bare", 0, cupel.WithFutureRelevanceHint(math.Inf(-1)))}, newBudget(t, 10, 10)))
	priority, hint, hintless := -2, 0.25, item{Content: "bare", Kind: "Message", Source: "Chat"}
	equal(t, "items", p.Items, []item{
		{Content: "text", Tokens: 7, Kind: "Wiki", Source: string(it.Source()), Tags: []string{"a", "b"}, Pinned: true, Priority: &priority,
			Timestamp: "2025-03-04T11:00:00.000000005Z", Hint: &hint, Metadata: map[string]string{"n": "1", "s": "x"}},
		hintless, hintless, hintless,
	})
}

func TestContentLimit(t *testing.T) {
	content := strings.Repeat("x", 70_000)
	p, _ := shown(t, inspect(t, newPipeline(t, nil), []*cupel.ContextItem{newItem(t, content, 1)}, newBudget(t, 10, 10)))
	assert.Equal(t, []int{65_536, 4_464}, []int{len(p.Items[0].Content), p.Items[0].Cut})
	// 200 times 64 KiB are above 8 MiB.
	noSweep := cupelinspect.WithSweep(0, 0, 0)
	short := inspect(t, newPipeline(t, nil), slices.Repeat([]*cupel.ContextItem{newItem(t, content, 1)}, 200), newBudget(t, 10, 10), noSweep)
	long := inspect(t, newPipeline(t, nil), []*cupel.ContextItem{newItem(t, "y"+content, 1)}, newBudget(t, 10, 10), noSweep)
	for _, pair := range [][]*cupelinspect.Selection{{short, long}, {long, short}} {
		items := read(t, write(t, "", pair...)).Items
		assert.Equal(t, []int{65_536, 65_536}, []int{len(items[0].Content), len(items[1].Content)}, "of two limits the longer one counts")
	}
}

// TestNoRoom checks what a page has of its contents if nothing else makes it short enough.
func TestNoRoom(t *testing.T) {
	s := inspect(t, newPipeline(t, nil), []*cupel.ContextItem{hinted(t, "in", 5, 1), hinted(t, "out", 5, 0.5)}, newBudget(t, 5, 5))
	var page strings.Builder
	require.NoError(t, cupelinspect.WriteWithin(0, &page, "", []*cupelinspect.Selection{s}))
	items := read(t, page.String()).Items
	equal(t, "contents", []string{items[0].Content, items[1].Content}, []string{"in", ""})
}

// TestCutItemsOfTwoReports checks that items that differ only in what is cut
// stay different.
func TestCutItemsOfTwoReports(t *testing.T) {
	report := func(contents ...string) *cupelinspect.Selection {
		r := &cupel.SelectionReport{}
		for _, content := range contents {
			r.Included = append(r.Included, cupel.IncludedItem{Item: newItem(t, strings.Repeat("x", 65_536)+content, 1), Reason: cupel.IncludeScored})
		}
		return fromReport(t, r, newBudget(t, 9, 9))
	}
	p := read(t, write(t, "", report("a", "b"), report("b", "c")))
	equal(t, "the candidates of the first report", p.Selections[0].Candidates, []int{0, 1})
	equal(t, "the candidates of the second, one in both", p.Selections[1].Candidates, []int{1, 2})
}

// hidden has a marshaler that panics.
type hidden struct{}

func (hidden) MarshalJSON() ([]byte, error) { panic("not for you") }

func TestMetadata(t *testing.T) {
	ring := map[string]any{}
	ring["ring"] = ring
	tests := []struct {
		name  string
		value any
		want  string
		why   string
	}{
		{"nil", nil, "null", "JSON knows it"},
		{"number", json.Number("1.50"), "1.50", "JSON knows it"},
		{"time", time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC), `"2025-01-02T03:04:05Z"`, "it says how"},
		{"map", map[string]any{"b": []int{1}, "a": "x"}, `{"a":"x","b":[1]}`, "JSON knows it"},
		{"NaN", math.NaN(), "float64", "JSON has none"},
		{"channel", make(chan int), "chan int", "it has no text"},
		{"ring", ring, "map[string]interface {}", "it never ends"},
		{"panics", hidden{}, "cupelinspect_test.hidden", "a value of another package"},
		{"bad number", json.Number("1x"), "json.Number", "it is none"},
		{"not UTF-8", json.RawMessage("\"\xff\""), "\"\uFFFD\"", "a page is UTF-8"},
		{"text", strings.Repeat("x", 65_537), strings.Repeat("x", 65_536) + "… (1 more bytes)", "as long as a content"},
		{"long list", strings.Split(strings.Repeat("x", 20_000), ""), `["x","x"`, "as long as a content, and text then"},
		{"many digits", uint64(12345678901234567891), "12345678901234567891", "all of them"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			it := newItem(t, "a", 1, cupel.WithMetadata(map[string]any{"key": tt.value}))
			p, _ := shown(t, inspect(t, newPipeline(t, nil), []*cupel.ContextItem{it}, newBudget(t, 10, 10)))
			got := p.Items[0].Metadata["key"]
			if tt.name == "long list" && len(got) > 60_000 {
				got = got[:len(tt.want)]
			}
			equal(t, tt.why, got, tt.want)
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
	require.Len(t, got.Tags, 101)
	equal(t, "labels", append(got.Tags[99:], got.Kind, got.Source), []string{"99" + strings.Repeat("t", 198) + "…", "… 900 more", cut, cut})
	require.Len(t, got.Metadata, 101)
	equal(t, "metadata", []string{got.Metadata["0099"], got.Metadata["…"]}, []string{"99", "900 more"})
}

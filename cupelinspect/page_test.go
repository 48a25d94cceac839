package cupelinspect_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelinspect"
)

// between returns the text between two markers that occur once on a page.
func between(t testing.TB, html, start, end string) string {
	t.Helper()
	_, rest, _ := strings.Cut(html, start)
	require.Equal(t, 1, strings.Count(html, start), start)
	text, _, found := strings.Cut(rest, end)
	require.True(t, found, end)
	return text
}

// policyOf returns the directives of the policy that a page has to have.
func policyOf(t testing.TB, html string) []string {
	t.Helper()
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return []string{
		"default-src 'none'",
		"script-src " + hash(between(t, html, "<script>", "</script>")),
		"style-src " + hash(between(t, html, "<style>", "</style>")),
		"img-src data:",
		"base-uri 'none'",
		"form-action 'none'",
		"require-trusted-types-for 'script'",
		"trusted-types 'none'",
	}
}

func TestPage(t *testing.T) {
	html := write(t, "T", inspect(t, newPipeline(t, nil), everyReason(t), newBudget(t, 100, 80)))
	policy := between(t, html, `<meta http-equiv="Content-Security-Policy" content="`, `">`)
	equal(t, "policy", strings.Split(policy, "; "), policyOf(t, html))
	before, _, _ := strings.Cut(html, "<meta http-equiv")
	assert.NotRegexp(t, "<(script|style|link)", before, "the policy comes before what it should hold")
	equal(t, "title", between(t, html, "<title>", "</title>"), "T")
	for _, marker := range []string{"<!--csp-->", "<!--style-->", "<!--script-->", "<!--data-->", "<!--title-->"} {
		assert.NotContains(t, html, marker)
	}
	// Text of these elements ends where HTML says, not where CSS or JavaScript
	// do; and HTML reads other line ends than these as other texts.
	for _, element := range []string{"script", "style"} {
		text := between(t, html, "<"+element+">", "</"+element+">")
		assert.Greater(t, len(text), 100, element)
		assert.NotRegexp(t, "<!--|<script|\r|\x00", text, "what HTML reads as its own")
	}
	assert.Equal(t, 2, strings.Count(html, "</script"), "the data and the script")
	// Attributes that the policy would not let through.
	start, end := strings.Index(html, "<body"), strings.Index(html, dataStart)
	for _, attribute := range []string{" style=", " onclick=", " onload=", " src=", "<iframe", "<object", "<form"} {
		assert.NotContains(t, html[start:end], attribute)
	}
}

func TestWriteHTMLErrors(t *testing.T) {
	s := inspect(t, newPipeline(t, nil), everyReason(t), newBudget(t, 100, 80))
	tests := []struct {
		name       string
		selections []*cupelinspect.Selection
		want       string
		why        string
	}{
		{"none", nil, "selections must be from 1 to 200", "there is nothing to show"},
		{"too many", slices.Repeat([]*cupelinspect.Selection{s}, cupelinspect.MaxSelections+1), "selections must be from 1 to 200", "the list of a page is for reading"},
		{"nil", []*cupelinspect.Selection{s, nil}, "selections[1] must come from Inspect or FromReport", "the caller has lost an error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var html strings.Builder
			err := cupelinspect.WriteHTML(&html, "", tt.selections...)
			assert.ErrorIs(t, err, cupel.ErrInvalidConfig, tt.why)
			assert.ErrorContains(t, err, tt.want, tt.why)
			assert.Zero(t, html.Len(), tt.why)
		})
	}
	html := write(t, "", s)
	for _, room := range []int{0, 10, strings.Index(html, dataStart), strings.Index(html, dataStart) + 50, len(html) - 1} {
		assert.ErrorIs(t, cupelinspect.WriteHTML(&full{room}, "", s), errFull, room)
	}
	assert.NoError(t, cupelinspect.WriteHTML(&full{len(html)}, "", s), "with just enough room")
}

var errFull = errors.New("full")

// full is a writer that takes so many bytes.
type full struct{ room int }

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.room {
		return f.room, errFull
	}
	f.room -= len(p)
	return len(p), nil
}

// TestTitle checks that a title is text.
func TestTitle(t *testing.T) {
	s := inspect(t, newPipeline(t, nil), nil, newBudget(t, 1, 1))
	tests := []struct {
		name, title, html, data, why string
	}{
		{"none", "", "Context window", "Context window", "a page has a title"},
		{"markup", `</title><script>"'&`, "&lt;/title&gt;&lt;script&gt;&#34;&#39;&amp;", `</title><script>"'&`, "it ends no element"},
		{"marker", "<!--data-->", "&lt;!--data--&gt;", "<!--data-->", "it is not looked at again"},
		{"controls", "a\x00b\nc\u202Ed\u2069e", "a\uFFFDb\uFFFDc\uFFFDd\uFFFDe", "a\x00b\nc\u202Ed\u2069e", "the tab of a browser shows it as it is"},
		{"invalid", "a\xffb", "a\uFFFDb", "a\uFFFDb", "a page is UTF-8"},
		{"long", strings.Repeat("é", 3000), strings.Repeat("é", 1024) + "…", strings.Repeat("é", 1024) + "…", "a title is a line"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			html := write(t, tt.title, s)
			equal(t, tt.why, between(t, html, "<title>", "</title>"), tt.html)
			equal(t, tt.why, read(t, html).Title, tt.data)
		})
	}
}

// hostile are contents that a careless page would run, end at or break on.
var hostile = []string{
	"</script><script>alert(1)</script>",
	"</SCRIPT\n><img src=x onerror=alert(1)>",
	"<!--<script>",
	"-->",
	"]]>",
	"<!--data-->",
	"<!--script--><!--style--><!--csp-->",
	"{{constructor.constructor('alert(1)')()}} ${alert(1)} <%= 1 %>",
	"a\u2028b\u2029c",
	"a\x00b\x1bc\x7fd\r\ne\re",
	"\u202Eevil\u2066\u2069\u200F\uFEFF",
	"\xff\xfe\xc3(\xed\xa0\x80",
	"&lt;&amp;&#x3c;",
	`\u003c/script\u003e`,
	`"'` + "`\\",
}

// TestHugeContent checks that a page stays small: 64 KiB, some of them twice, in 6
// bytes each.
func TestHugeContent(t *testing.T) {
	long := strings.Repeat("<", 1<<18)
	require.Less(t, len(checkHostile(t, long, long)), 3<<20)
}

// FuzzContent checks that no text gets out of the data.
func FuzzContent(f *testing.F) {
	for i, text := range hostile {
		f.Add(text, hostile[(i+1)%len(hostile)])
		f.Add(text, text)
	}
	f.Add("no code", "")
	f.Fuzz(func(t *testing.T, content, other string) {
		if content == "" || slices.Contains([]string{"Scored", "Pinned", "ZeroToken"}, other) {
			t.Skip("items have a content, and a slicer that leaves items out says so")
		}
		checkHostile(t, content, other)
	})
}

// checkHostile makes a page of an item that has a text in all its fields, and
// checks that all of that comes back and the page is otherwise the same.
func checkHostile(t *testing.T, content, other string) string {
	t.Helper()
	opts := []cupel.ItemOption{cupel.WithTags(other), cupel.WithMetadata(map[string]any{other: other, "list": []any{other, map[string]any{content: 1}}, "raw": jsonMarshaler(content)})}
	if !cupel.ContextKind(other).IsBlank() {
		opts = append(opts, cupel.WithKind(cupel.ContextKind(other)))
	}
	if !cupel.ContextSource(other).IsBlank() {
		opts = append(opts, cupel.WithSource(cupel.ContextSource(other)))
	}
	items := []*cupel.ContextItem{newItem(t, content, 3, opts...), newItem(t, content, 3), newItem(t, content+"2", 3)}
	b := newBudget(t, 4, 4)
	s := inspect(t, newPipeline(t, func(c *pipeline.Config) { c.Slicer = dropper(other) }), items, b, cupelinspect.WithName(other))
	html := write(t, other, s)
	p := read(t, html)

	for _, tt := range []struct {
		what, got, text string
		limit           int // in bytes; what is not UTF-8 may take three for one
	}{
		{"content", p.Items[0].Content, content, 64 << 10},
		{"tag", p.Items[0].Tags[0], other, 200},
		{"kind", p.Items[0].Kind, string(items[0].Kind()), 200},
		{"source", p.Items[0].Source, string(items[0].Source()), 200},
		{"name", p.Selections[0].Name, other, 2 << 10},
		{"title", p.Title, cmp.Or(other, "Context window"), 2 << 10},
		{"code", p.Selections[0].codes()[0], cmp.Or(other, "Undecided"), 200}, // no code is the slicer's mistake
	} {
		if len(tt.text) <= tt.limit && tt.got != strings.ToValidUTF8(tt.text, "\uFFFD") || len(tt.got) > 3*tt.limit+len("…") {
			t.Errorf("the %s is %.100q, %d bytes; want %.100q, cut after %d", tt.what, tt.got, len(tt.got), tt.text, tt.limit)
		}
	}

	// Without its data a page is that of any other selection, and its title is
	// no markup.
	without := func(html, start, end string) string {
		from := strings.Index(html, start) + len(start)
		return html[:from] + html[from+strings.Index(html[from:], end):]
	}
	frame := func(html string) string {
		return without(without(html, dataStart, "</script>"), "<noscript>", "</noscript>")
	}
	empty := inspect(t, newPipeline(t, nil), nil, b)
	assert.Equal(t, frame(write(t, other, empty)), frame(html), "the text does not change the page around its data and its summary")
	tame := []*cupel.ContextItem{newItem(t, "a", 3), newItem(t, "a", 3), newItem(t, "b", 3)}
	harmless := write(t, "T", inspect(t, newPipeline(t, func(c *pipeline.Config) { c.Slicer = dropper("Code") }), tame, b))
	assert.Equal(t, strings.Count(without(harmless, dataStart, "</script>"), "<"), strings.Count(without(html, dataStart, "</script>"), "<"), "tags outside the data")
	return html
}

// jsonMarshaler marshals to the given text, if that is JSON.
type jsonMarshaler string

func (m jsonMarshaler) MarshalJSON() ([]byte, error) { return []byte(m), nil }

// dropper is a slicer that drops everything for a reason of its own.
type dropper string

func (d dropper) Slice(_ context.Context, items []cupel.ScoredItem, _ cupel.SliceBudget) (strategy.Selection, error) {
	sel := strategy.Selection{}
	for i := range items {
		sel.Drops = append(sel.Drops, strategy.Drop{Index: i, Reason: cupel.ExclusionReason{Code: cupel.ExclusionCode(d)}})
	}
	return sel, nil
}

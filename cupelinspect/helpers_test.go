package cupelinspect_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelinspect"
)

// The wire format as the page's script reads it, written down a second time.
type (
	page struct {
		Title      string      `json:"title"`
		Items      []item      `json:"items"`
		Selections []selection `json:"selections"`
	}
	item struct {
		Content   string            `json:"content"`
		Cut       int               `json:"cut"`
		Tokens    int               `json:"tokens"`
		Kind      string            `json:"kind"`
		Source    string            `json:"source"`
		Tags      []string          `json:"tags"`
		Pinned    bool              `json:"pinned"`
		Priority  *int              `json:"priority"`
		Timestamp string            `json:"timestamp"`
		Hint      *float64          `json:"hint"`
		Metadata  map[string]string `json:"metadata"`
		Group     string            `json:"group"`
		VersionOf string            `json:"versionOf"`
	}
	form struct {
		Edits  []any `json:"edits"`
		Tokens int   `json:"tokens"`
	}
	selection struct {
		Name        string      `json:"name"`
		Scorer      string      `json:"scorer"`
		Slicer      string      `json:"slicer"`
		Placer      string      `json:"placer"`
		Deduplicate bool        `json:"deduplicate"`
		Overflow    string      `json:"overflow"`
		Budget      budget      `json:"budget"`
		Error       string      `json:"error"`
		Candidates  []int       `json:"candidates"`
		Scores      []*float64  `json:"scores"`
		Parts       []part      `json:"parts"`
		Window      []int       `json:"window"`
		Codes       []string    `json:"codes"`
		Meanings    []string    `json:"meanings"`
		Code        []int       `json:"code"`
		Why         []string    `json:"why"`
		Survivor    map[int]int `json:"survivor"`
		Stages      []stage     `json:"stages"`
		Total       int64       `json:"total"`
		Shortfalls  []string    `json:"shortfalls"`
		Overflowed  string      `json:"overflowed"`
		Session     string      `json:"session"`
		Sweep       *sweep      `json:"sweep"`

		Rivals  map[int][]int  `json:"rivals"`
		Request string         `json:"request"`
		Form    map[int]int    `json:"form"`
		Forms   map[int][]form `json:"forms"`
		Stale   []int          `json:"stale"`
		Pinned  *int           `json:"pinned"`
		Origin  []int          `json:"origin"`
		Full    map[int]int    `json:"full"`
	}
	budget struct {
		Max           int            `json:"max"`
		Target        int            `json:"target"`
		OutputReserve int            `json:"outputReserve"`
		ReservedSlots map[string]int `json:"reservedSlots"`
		Margin        float64        `json:"margin"`
		Effective     int            `json:"effective"`
	}
	part struct {
		Name   string     `json:"name"`
		Weight float64    `json:"weight"`
		Scores []*float64 `json:"scores"`
	}
	stage struct {
		Name     string `json:"name"`
		Start    int64  `json:"start"`
		Duration int64  `json:"duration"`
		In       int    `json:"in"`
		Out      int    `json:"out"`
	}
	sweep struct {
		Stops []stop `json:"stops"`
	}
	stop struct {
		Budget    int    `json:"budget"`
		Target    int    `json:"target"`
		Effective int    `json:"effective"`
		Tokens    int    `json:"tokens"`
		Window    []int  `json:"window"`
		Codes     []int  `json:"codes"`
		Error     string `json:"error"`

		Form   map[int]int `json:"form"`
		Pinned *int        `json:"pinned"`
	}
)

// codes returns the codes by candidate, as their names.
func (s *selection) codes() []string {
	names := make([]string, len(s.Code))
	for i, code := range s.Code {
		names[i] = s.Codes[code]
	}
	return names
}

// codesAt returns the codes at a stop of the sweep: what differs from the stop
// before, from the first on.
func (s *selection) codesAt(stop int) []string {
	names := make([]string, len(s.Code))
	for _, at := range s.Sweep.Stops[:stop+1] {
		for i := 0; i < len(at.Codes); i += 2 {
			names[at.Codes[i]] = s.Codes[at.Codes[i+1]]
		}
	}
	return names
}

const dataStart = `<script type="text/plain" id="data">`

// write returns the page of some selections.
func write(t testing.TB, title string, selections ...*cupelinspect.Selection) string {
	t.Helper()
	var html strings.Builder
	require.NoError(t, cupelinspect.WriteHTML(&html, title, selections...))
	return html.String()
}

// read returns the data of a page, which it checks as a browser and the page's
// script would.
func read(t testing.TB, html string) page {
	t.Helper()
	require.True(t, utf8.ValidString(html), "the page is UTF-8")
	_, data, _ := strings.Cut(html, dataStart)
	require.Equal(t, 1, strings.Count(html, dataStart), "data elements")
	data, _, found := strings.Cut(data, "</script>")
	require.True(t, found, "the data element has an end")
	decoder := json.NewDecoder(strings.NewReader(unpack(t, data)))
	decoder.DisallowUnknownFields()
	var p page
	require.NoError(t, decoder.Decode(&p))
	for i := range p.Selections {
		checkSelection(t, &p, &p.Selections[i])
	}
	return p
}

// unpack returns the JSON of a data element.
func unpack(t testing.TB, data string) string {
	t.Helper()
	compressed, err := base64.StdEncoding.DecodeString(data)
	require.NoError(t, err)
	text, err := gzip.NewReader(bytes.NewReader(compressed))
	require.NoError(t, err)
	plain, err := io.ReadAll(text)
	require.NoError(t, err)
	return string(plain)
}

// sent applies the edits of a form to a content, as the page's script does.
func (f form) sent(t testing.TB, content string) string {
	t.Helper()
	require.NotNil(t, f.Edits, "a form has a list of edits")
	from := utf16.Encode([]rune(content))
	var text strings.Builder
	for _, edit := range f.Edits {
		switch edit := edit.(type) {
		case string:
			text.WriteString(edit)
		case float64:
			n := int(edit)
			if abs := max(n, -n); abs > len(from) || n == 0 {
				t.Fatalf("an edit of %d units, and %d are left", n, len(from))
			}
			if n > 0 {
				text.WriteString(string(utf16.Decode(from[:n])))
			}
			from = from[max(n, -n):]
		}
	}
	return text.String()
}

// checkSelection checks what holds for the data of every selection.
func checkSelection(t testing.TB, p *page, s *selection) {
	t.Helper()
	n := len(s.Candidates)
	require.Equal(t, []int{n, n, n}, []int{len(s.Scores), len(s.Code), len(s.Why)}, "scores, codes and reasons")
	for _, at := range s.Candidates {
		if at < 0 || at >= len(p.Items) {
			t.Fatalf("candidate %d of %d items", at, len(p.Items))
		}
	}
	for i, why := range s.Why {
		if name := s.Codes[s.Code[i]]; name != "(other)" && !strings.HasPrefix(why, strings.TrimSuffix(name, "…")) {
			t.Errorf("why candidate %d is %q: %q", i, name, why)
		}
	}
	for _, part := range s.Parts {
		require.Len(t, part.Scores, n, part.Name)
	}
	checkWindow(t, s, s.Window, s.codes())
	if s.Sweep == nil {
		return
	}
	for i, stop := range s.Sweep.Stops {
		if i > 0 && stop.Budget <= s.Sweep.Stops[i-1].Budget {
			t.Errorf("stop %d has the budget %d after %d", i, stop.Budget, s.Sweep.Stops[i-1].Budget)
		}
		if codes := s.codesAt(i); len(codes) != n {
			t.Errorf("stop %d has %d codes for %d candidates", i, len(codes), n)
		} else {
			checkWindow(t, s, stop.Window, codes)
		}
		tokens := 0
		for _, at := range stop.Window {
			shape := form{Tokens: p.Items[s.Candidates[at]].Tokens}
			if n := stop.Form[at]; n > 0 {
				shape = s.Forms[at][n-1]
			}
			tokens += shape.Tokens
		}
		assert.Equal(t, tokens, stop.Tokens, "stop %d", i)
	}
}

// checkWindow checks that exactly the candidates of a window have codes of
// items that are in.
func checkWindow(t testing.TB, s *selection, window []int, codes []string) {
	t.Helper()
	in := map[int]bool{}
	for _, at := range window {
		if at < 0 || at >= len(s.Candidates) || in[at] {
			t.Fatalf("the window %v has %d, which is no candidate, or twice", window, at)
		}
		in[at] = true
	}
	for i, code := range codes {
		if isIn := code == "Scored" || code == "Pinned" || code == "ZeroToken"; isIn != in[i] {
			t.Errorf("candidate %d is %s and in the window: %v", i, code, in[i])
		}
	}
}

func value(score *float64) any {
	if score == nil {
		return nil
	}
	return *score
}

func values(scores []*float64) []any {
	all := make([]any, len(scores))
	for i, score := range scores {
		all[i] = value(score)
	}
	return all
}

func newItem(t testing.TB, content string, tokens int, opts ...cupel.ItemOption) *cupel.ContextItem {
	t.Helper()
	item, err := cupel.NewContextItem(content, tokens, opts...)
	require.NoError(t, err)
	return item
}

func hinted(t testing.TB, content string, tokens int, hint float64) *cupel.ContextItem {
	t.Helper()
	return newItem(t, content, tokens, cupel.WithFutureRelevanceHint(hint))
}

func newBudget(t testing.TB, maxTokens, target int, opts ...cupel.BudgetOption) cupel.ContextBudget {
	t.Helper()
	b, err := cupel.NewContextBudget(maxTokens, target, opts...)
	require.NoError(t, err)
	return b
}

// newPipeline returns a pipeline with simple strategies, which change replaces.
// Without timestamps its window has pinned items first and then the others by
// score.
func newPipeline(t testing.TB, change func(*pipeline.Config)) *pipeline.Pipeline {
	t.Helper()
	config := pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}, Clock: steps()}
	if change != nil {
		change(&config)
	}
	p, err := pipeline.New(config)
	require.NoError(t, err)
	return p
}

// steps returns a clock that goes on by a second whenever somebody looks.
func steps() func() time.Time {
	now := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

func inspect(t testing.TB, p *pipeline.Pipeline, items []*cupel.ContextItem, b cupel.ContextBudget, opts ...cupelinspect.Option) *cupelinspect.Selection {
	t.Helper()
	s, err := cupelinspect.Inspect(t.Context(), p, items, b, opts...)
	require.NoError(t, err)
	return s
}

// shown returns the data of the page of one selection.
func shown(t testing.TB, s *cupelinspect.Selection) (page, selection) {
	t.Helper()
	p := read(t, write(t, "", s))
	return p, p.Selections[0]
}

func equal[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	g, err := json.Marshal(got)
	require.NoError(t, err)
	w, err := json.Marshal(want)
	require.NoError(t, err)
	assert.Equal(t, string(w), string(g), what)
}

package cupelinspect_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

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
		Content   string         `json:"content"`
		Cut       int            `json:"cut"`
		Tokens    int            `json:"tokens"`
		Kind      string         `json:"kind"`
		Source    string         `json:"source"`
		Tags      []string       `json:"tags"`
		Pinned    bool           `json:"pinned"`
		Priority  *int           `json:"priority"`
		Timestamp string         `json:"timestamp"`
		Hint      *float64       `json:"hint"`
		Metadata  map[string]any `json:"metadata"`
		Group     string         `json:"group"`
		VersionOf string         `json:"versionOf"`
	}
	form struct {
		Content string `json:"content"`
		Cut     int    `json:"cut"`
		Tokens  int    `json:"tokens"`
		Unmade  bool   `json:"unmade"`
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
		Left        packed      `json:"left"`
		Survivor    map[int]int `json:"survivor"`
		Stages      []stage     `json:"stages"`
		Total       int64       `json:"total"`
		Shortfalls  []string    `json:"shortfalls"`
		Overflowed  string      `json:"overflowed"`
		Session     string      `json:"session"`
		Sweep       *sweep      `json:"sweep"`

		Form   map[int]int          `json:"form"`
		Forms  map[int]map[int]form `json:"forms"`
		Stale  []int                `json:"stale"`
		Pinned *int                 `json:"pinned"`
		Origin []int                `json:"origin"`
		Full   map[int]int          `json:"full"`
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
		Window    packed `json:"window"`
		Codes     packed `json:"codes"`
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

// packed is a list of numbers to the base 36, the lowest digit first. The last digit
// is 0 to z, and the others are of another alphabet.
type packed []int

func (p *packed) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	*p = packed{}
	n, unit := 0, 1
	for _, r := range text {
		if i := strings.IndexRune("ABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%()*+,-", r); i >= 0 {
			n, unit = n+unit*i, 36*unit
			continue
		}
		i := strings.IndexRune("0123456789abcdefghijklmnopqrstuvwxyz", r)
		if i < 0 {
			return fmt.Errorf("%q is no digit", r)
		}
		*p = append(*p, n+unit*i)
		n, unit = 0, 1
	}
	return nil
}

const dataStart = `<script type="application/json" id="data">`

// write returns the page of some selections.
func write(t testing.TB, title string, selections ...*cupelinspect.Selection) string {
	t.Helper()
	var html strings.Builder
	if err := cupelinspect.WriteHTML(&html, title, selections...); err != nil {
		t.Fatal(err)
	}
	return html.String()
}

// read returns the data of a page, which it checks as a browser and the page's
// script would.
func read(t testing.TB, html string) page {
	t.Helper()
	if !utf8.ValidString(html) {
		t.Fatal("the page is not UTF-8")
	}
	_, data, found := strings.Cut(html, dataStart)
	if !found || strings.Count(html, dataStart) != 1 {
		t.Fatalf("the page has %d data elements; want 1", strings.Count(html, dataStart))
	}
	data, _, found = strings.Cut(data, "</script>")
	if !found {
		t.Fatal("the data element has no end")
	}
	if i := strings.IndexAny(data, "<>&\u2028\u2029\x00\r"); i >= 0 {
		t.Fatalf("the data has the character %q, which HTML or scripts may read as their own", data[i])
	}
	decoder := json.NewDecoder(strings.NewReader(data))
	decoder.DisallowUnknownFields()
	var p page
	if err := decoder.Decode(&p); err != nil {
		t.Fatal(err)
	}
	for i := range p.Items {
		p.Items[i].Kind = cmp.Or(p.Items[i].Kind, "Message")
		p.Items[i].Source = cmp.Or(p.Items[i].Source, "Chat")
	}
	for i := range p.Selections {
		fill(&p, &p.Selections[i])
		checkSelection(t, &p, &p.Selections[i])
	}
	return p
}

// fill adds what the page's script adds: the list of candidates if it is in
// order, and the usual sentences.
func fill(p *page, s *selection) {
	if s.Candidates == nil {
		s.Candidates = []int{}
		for i := range s.Code {
			s.Candidates = append(s.Candidates, i)
		}
	}
	for i := 0; i < len(s.Left); i += 2 {
		at := s.Left[i]
		s.Why[at] = fmt.Sprintf("BudgetExceeded: %d tokens requested, %d available", p.Items[s.Candidates[at]].Tokens, s.Left[i+1])
	}
	for at, why := range s.Why {
		if why != "" || s.Scores[at] == nil {
			continue
		}
		tokens := p.Items[s.Candidates[at]].Tokens
		if form, ok := s.Forms[at][s.Form[at]]; ok {
			tokens = form.Tokens
		}
		s.Why[at] = fmt.Sprintf("%s: score %v, %d tokens", s.Codes[s.Code[at]], *s.Scores[at], tokens)
	}
}

// checkSelection checks what holds for the data of every selection.
func checkSelection(t testing.TB, p *page, s *selection) {
	t.Helper()
	n := len(s.Candidates)
	for name, length := range map[string]int{"scores": len(s.Scores), "code": len(s.Code), "why": len(s.Why)} {
		if length != n {
			t.Errorf("%d %s for %d candidates", length, name, n)
		}
	}
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
		if len(part.Scores) != n {
			t.Errorf("part %s has %d scores for %d candidates", part.Name, len(part.Scores), n)
		}
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
			shape, ok := s.Forms[at][stop.Form[at]]
			if !ok {
				shape.Tokens = p.Items[s.Candidates[at]].Tokens
			}
			tokens += shape.Tokens
		}
		if tokens != stop.Tokens {
			t.Errorf("stop %d says %d tokens; its window has %d", i, stop.Tokens, tokens)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	return item
}

func hinted(t testing.TB, content string, tokens int, hint float64) *cupel.ContextItem {
	t.Helper()
	return newItem(t, content, tokens, cupel.WithFutureRelevanceHint(hint))
}

func newBudget(t testing.TB, maxTokens, target int, opts ...cupel.BudgetOption) cupel.ContextBudget {
	t.Helper()
	b, err := cupel.NewContextBudget(maxTokens, target, opts...)
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	w, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(g, w) {
		t.Errorf("%s is\n%s\nwant\n%s", what, g, w)
	}
}

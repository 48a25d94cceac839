package inspector

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelinspect"
)

// rows are the rows that the table shows, in order, by their positions among
// the candidates of a page with one selection.
func (b *tab) rows() []int {
	b.t.Helper()
	return value[[]int](b, `return [...document.querySelectorAll('#grid tbody tr[data-row]')].map((tr) => Number(tr.dataset.row))`)
}

// count is what the page says of how many rows pass the filters.
func (b *tab) count() string {
	b.t.Helper()
	return b.text(".filters .summary")
}

// choose picks an option whose text begins in a certain way.
func (b *tab) choose(selector, text string) {
	b.t.Helper()
	b.do(`
		const select = document.querySelector(a);
		const option = [...select.options].find((o) => o.textContent.startsWith(b));
		if (!option) throw new Error('no option ' + b + ' in ' + [...select.options].map((o) => o.textContent));
		select.value = option.value;
		select.dispatchEvent(new Event('change', { bubbles: true }))`, selector, text)
	b.frame()
}

func (b *tab) typeFilter(text string) {
	b.t.Helper()
	b.focus("#filter-text")
	b.keys(text)
}

func TestFilter(t *testing.T) {
	s := plain(t)
	report := s.report(t)
	in := func(i int) bool { return slices.Contains(numbers(report.Included...), i) }
	code := func(i int) cupel.ExclusionCode {
		for _, entry := range report.Excluded {
			if entry.Item == s.items[i] {
				return entry.Reason.Code
			}
		}
		return ""
	}
	for _, c := range []struct {
		name, why string
		filter    func(b *tab)
		holds     func(i int, item *cupel.ContextItem) bool
	}{
		{"nothing", "all candidates are there at first", func(*tab) {}, func(int, *cupel.ContextItem) bool { return true }},
		{"content", "text is looked for in contents, beyond the first line", func(b *tab) { b.typeFilter("meeting") }, func(_ int, item *cupel.ContextItem) bool {
			return strings.Contains(item.Content(), "meeting")
		}},
		{"case", "capitals are no different", func(b *tab) { b.typeFilter("ROOF PLAN") }, func(_ int, item *cupel.ContextItem) bool {
			return strings.Contains(item.Content(), "roof plan")
		}},
		{"source", "text is looked for in sources", func(b *tab) { b.typeFilter("wiki") }, func(_ int, item *cupel.ContextItem) bool { return item.Source() == "Wiki" }},
		{"tag", "and in tags", func(b *tab) { b.typeFilter("plan") }, func(_ int, item *cupel.ContextItem) bool {
			return slices.Contains(item.Tags(), "plan") || strings.Contains(item.Content(), "plan")
		}},
		{"kind", "one kind alone", func(b *tab) { b.choose("#filter-kind", "Memory") }, func(_ int, item *cupel.ContextItem) bool { return item.Kind() == cupel.KindMemory }},
		{"kind in the legend", "the legend is a filter, too", func(b *tab) { b.click(`.legend [data-kind="3"]`) }, func(_ int, item *cupel.ContextItem) bool { return item.Kind() == cupel.KindToolOutput }},
		{"reason", "one reason alone", func(b *tab) { b.choose("#filter-state", "NegativeTokens") }, func(i int, _ *cupel.ContextItem) bool { return code(i) == cupel.ExcludeNegativeTokens }},
		{"all three", "filters narrow each other", func(b *tab) {
			b.choose("#filter-state", "Left out")
			b.choose("#filter-kind", "Document")
			b.typeFilter("item 0000")
		}, func(i int, item *cupel.ContextItem) bool {
			return i < 10 && !in(i) && item.Kind() == cupel.KindDocument
		}},
		{"a pattern", "text is text, not a pattern", func(b *tab) { b.typeFilter(".*") }, func(int, *cupel.ContextItem) bool { return false }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, c.why, s.selection)
			c.filter(b)
			want := s.indexes(c.holds)
			got := b.rows()
			slices.Sort(got)
			assert.Equal(t, want, got)
			tokens := 0
			for _, i := range want {
				tokens += s.items[i].Tokens()
			}
			says := fmt.Sprintf("%d of 40 candidates, %s tokens", len(want), strings.ReplaceAll(grouped(tokens), "-", "−"))
			if len(want) == 40 {
				says = fmt.Sprintf("40 candidates, %s tokens", grouped(tokens))
			}
			assert.Equal(t, says, strings.ReplaceAll(b.count()+"s", "ss", "s"))
			assert.Equal(t, len(want) == 0, value[bool](b, `return document.querySelector('#grid .no-rows') !== null`))
			assert.Equal(t, "polite", value[string](b, `return document.querySelector('.filters .summary').getAttribute('aria-live')`))
		})
	}
}

func TestSort(t *testing.T) {
	s := plain(t)
	report := s.report(t)
	scores, place, reason := make([]float64, 40), make([]int, 40), make([]string, 40)
	for i, entry := range report.Included {
		n := numbers(entry)[0]
		scores[n], place[n], reason[n] = entry.Score, i+1, string(entry.Reason)
	}
	for _, entry := range report.Excluded {
		n := numbers(cupel.IncludedItem{Item: entry.Item})[0]
		scores[n], reason[n] = entry.Score, string(entry.Reason.Code)
		if entry.Reason.Code == cupel.ExcludeNegativeTokens {
			scores[n] = math.NaN() // left out before it was scored
		}
	}
	// The pinned item takes no part in scoring, and a part has no score for it.
	age := make([]float64, 40)
	var scored []*cupel.ContextItem
	for i, item := range s.items {
		age[i] = math.NaN()
		if !item.Pinned() && item.Tokens() >= 0 {
			scored = append(scored, item)
		}
	}
	recency := make([]float64, len(scored))
	require.NoError(t, strategy.CallScorer(t.Context(), scorer.Recency{}, scored, recency))
	for i, item := range scored {
		age[numbers(cupel.IncludedItem{Item: item})[0]] = recency[i]
	}
	// What has no value comes last, the best score first; equal ones are in the
	// order of their scores, and then of the candidates.
	down := func(a, b float64) int {
		if math.IsNaN(a) || math.IsNaN(b) {
			return cmp.Compare(map[bool]int{true: 1}[math.IsNaN(a)], map[bool]int{true: 1}[math.IsNaN(b)])
		}
		return cmp.Compare(b, a)
	}
	ties := func(a, b int) int { return cmp.Or(down(scores[a], scores[b]), cmp.Compare(a, b)) }
	missing := func(v []float64, a, b int) int {
		return cmp.Compare(map[bool]int{true: 1}[math.IsNaN(v[a])], map[bool]int{true: 1}[math.IsNaN(v[b])])
	}
	byPlace := func(a, b int) int {
		if (place[a] == 0) != (place[b] == 0) {
			return cmp.Compare(place[b], place[a])
		}
		return cmp.Compare(place[a], place[b])
	}
	for _, c := range []struct {
		name, why, column string
		presses           int
		sort              string // what the heading says
		compare           func(a, b int) int
	}{
		{"as it opens", "the window in prompt order, then the best of the others", "place-0", 0, "ascending", byPlace},
		{"position, down", "the others stay last", "place-0", 1, "descending", func(a, b int) int {
			if place[a] != 0 && place[b] != 0 {
				return cmp.Compare(place[b], place[a])
			}
			return byPlace(a, b)
		}},
		{"rank", "the best score first", "rank-0", 1, "ascending", func(a, b int) int { return down(scores[a], scores[b]) }},
		{"tokens", "the largest first", "tokens", 1, "descending", func(a, b int) int {
			return cmp.Compare(s.items[b].Tokens(), s.items[a].Tokens())
		}},
		{"tokens, up", "a second press turns the order, negative counts first", "tokens", 2, "ascending", func(a, b int) int {
			return cmp.Compare(s.items[a].Tokens(), s.items[b].Tokens())
		}},
		{"score", "as numbers", "score-0", 1, "descending", func(a, b int) int { return down(scores[a], scores[b]) }},
		{"score, up", "what has no score stays last", "score-0", 2, "ascending", func(a, b int) int {
			return cmp.Or(missing(scores, a, b), down(scores[b], scores[a]))
		}},
		{"a part of the score", "every part is a column", "part-0-0", 1, "descending", func(a, b int) int { return down(age[a], age[b]) }},
		{"kind", "by name", "kind", 1, "ascending", func(a, b int) int { return cmp.Compare(s.items[a].Kind(), s.items[b].Kind()) }},
		{"source", "by name, from Z to A", "source", 2, "descending", func(a, b int) int { return cmp.Compare(s.items[b].Source(), s.items[a].Source()) }},
		{"reason", "by name", "reason-0", 1, "ascending", func(a, b int) int { return cmp.Compare(reason[a], reason[b]) }},
		{"first line", "by text", "line", 1, "ascending", cmp.Compare[int]}, // contents begin with their numbers
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, c.why, s.selection)
			for range c.presses {
				b.click(`#grid th[data-column="` + c.column + `"] button`)
			}
			want := s.indexes(func(int, *cupel.ContextItem) bool { return true })
			slices.SortStableFunc(want, func(a, b int) int { return cmp.Or(c.compare(a, b), ties(a, b)) })
			assert.Equal(t, want, b.rows())
			said := value[[]string](b, `return [...document.querySelectorAll('#grid th[aria-sort]')].map((th) => th.dataset.column + ' ' + th.getAttribute('aria-sort'))`)
			assert.Equal(t, []string{c.column + " " + c.sort}, said)
		})
	}
}

// TestSortedAndFiltered sorts, filters and goes to another budget: each keeps
// what the others did.
func TestSortedAndFiltered(t *testing.T) {
	s := plain(t)
	b := open(t, "all at once", s.selection)
	b.click(`#grid th[data-column="tokens"] button`)
	b.choose("#filter-state", "In the window")
	b.goTo(1000)
	want := numbers(s.at(t, 1000).Included...)
	slices.Sort(want)
	got := b.rows()
	assert.True(t, slices.IsSortedFunc(got, func(a, b int) int { return cmp.Compare(s.items[b].Tokens(), s.items[a].Tokens()) }), "no longer sorted: %v", got)
	slices.Sort(got)
	assert.Equal(t, want, got)
}

// TestAFilterThatNothingPasses stays chosen while the slider goes where nothing
// passes it, and what it shows comes back.
func TestAFilterThatNothingPasses(t *testing.T) {
	s := plain(t)
	b := open(t, "there and back", s.selection)
	for _, c := range []struct {
		name, why string
		budget    int // where the filter is chosen
		empty     int // where nothing passes it
	}{
		{"BudgetExceeded", "a reason that no candidate has at a large budget", 600, 20_000},
		{"Came with this budget", "nothing came with the budget of the run", 1200, 600},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := inspect(t, usual(), s.items, 600, cupelinspect.WithSweep(200, 20_000, 100))
			b.show(write(t, c.why, s.selection))
			b.goTo(c.budget)
			b.choose("#filter-state", c.name)
			was := b.rows()
			b.goTo(c.empty)
			assert.Empty(t, b.rows())
			assert.NotEmpty(t, was)
			assert.Equal(t, c.name+" (0)", value[string](b, `return document.querySelector('#filter-state').selectedOptions[0].textContent`))
			b.goTo(c.budget)
			assert.Equal(t, was, b.rows())
		})
	}
}

func TestDetails(t *testing.T) {
	items := []*cupel.ContextItem{
		must(cupel.NewContextItem("item 00000: first\nsecond line", 12, cupel.WithKind("Code"), cupel.WithSource("Wiki"), cupel.WithPriority(3), cupel.WithTimestamp(noon),
			cupel.WithFutureRelevanceHint(0.125), cupel.WithTags("roof", "plan"), cupel.WithMetadata(map[string]any{"speaker": "Ada", "turn": 7}))),
		must(cupel.NewContextItem("item 00001: twice", 10)),
		must(cupel.NewContextItem("item 00001: twice", 10)),
		must(cupel.NewContextItem("item 00003: large", 5000)),
		must(cupel.NewContextItem(strings.Repeat("long ", 3000), 20, cupel.WithTimestamp(noon))),
	}
	s := inspect(t, usual(), items, 600)
	for _, c := range []struct {
		name, why string
		row       int
		want      []string
	}{
		{"everything of an item", "nothing that an item has is kept from the reader", 0,
			[]string{"Code", "12 tokens", "Wiki", "Priority", "3", "2025-06-01T12:00:00Z", "0.125", "roof", "plan", "speaker", "Ada", "turn", "7", "item 00000: first\nsecond line", "Recency", "0.75"}},
		{"a copy", "it links to the one that was kept", 2, []string{"Deduplicated", "Show the copy that was kept", "Left out"}},
		{"no room", "the sentence has the numbers", 3, []string{"BudgetExceeded: 5000 tokens requested", "Left out"}},
		{"long", "a long content is cut for display", 4, []string{"Show all 15,000 characters"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, c.why, s.selection)
			b.click(fmt.Sprintf(`#grid tr[data-row="%d"]`, c.row))
			text := value[string](b, `const dialog = document.querySelector('#details'); return dialog.open ? dialog.innerText : 'closed'`)
			for _, want := range c.want {
				assert.Contains(t, text, want)
			}
			if c.row == 2 {
				b.click("#details .verdict button")
				assert.NotContains(t, b.text("#details"), "Deduplicated")
			}
			if c.row == 4 {
				b.click("#details .more")
				assert.Equal(t, items[4].Content(), b.text("#details pre"))
			}
		})
	}
}

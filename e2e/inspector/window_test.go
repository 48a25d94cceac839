package inspector

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupelinspect"
)

// block is a bar of the plot, in pixels.
type block struct {
	X, Y, W, H float64
	Kind       string // as the legend names the color
}

// drawn reads the rectangles that an SVG draws: the paths of each kind.
func (b *tab) drawn(selector string) []block {
	b.t.Helper()
	blocks := value[[]block](b, `
		const names = new Map([...document.querySelectorAll('.overview .legend button')].map((line) =>
			[[...line.querySelector('.chip').classList].find((name) => /^k\d/.test(name)), line.querySelector('.legend-name').textContent]));
		const list = [];
		for (const path of document.querySelectorAll(a + ' path.block')) {
			const kind = names.get([...path.classList].find((name) => /^k\d/.test(name)));
			for (const [, x, y, w, down] of path.getAttribute('d').matchAll(/M([\d.]+) ([\d.]+)h([\d.]+)([vV][\d.]+)/g)) {
				const h = down[0] === 'v' ? Number(down.slice(1)) : Number(down.slice(1)) - Number(y);
				list.push({ X: Number(x), Y: Number(y), W: Number(w), H: h, Kind: kind });
			}
		}
		return list`, selector)
	slices.SortFunc(blocks, func(a, b block) int {
		return int(math.Copysign(1, a.X-b.X))
	})
	return blocks
}

// TestScoresAgainstPositions: the bars are the scores, in the order of the prompt.
func TestScoresAgainstPositions(t *testing.T) {
	config := usual()
	config.Scorer, config.Placer = scorer.Recency{}, placer.UShaped{}
	s := inspect(t, config, candidates(40)[1:], 900) // no pinned item, whose score is 1 wherever it stands
	b := open(t, "one sees a U", s.selection)
	window := s.report(t).Included
	bars := b.drawn(".plot")
	require.Len(t, bars, len(window))
	require.GreaterOrEqual(t, len(bars), 9)
	best := slices.MaxFunc(window, func(a, b cupel.IncludedItem) int { return int(math.Copysign(1, a.Score-b.Score)) }).Score
	tallest := slices.MaxFunc(bars, func(a, b block) int { return int(math.Copysign(1, a.H-b.H)) }).H
	for i, bar := range bars {
		assert.InDelta(t, tallest*window[i].Score/best, bar.H, 0.1, "bar %d", i)
		assert.Equal(t, string(window[i].Item.Kind()), bar.Kind, "bar %d", i)
	}
}

// goTo sets the slider's budget through its field, which goes to the nearest.
func (b *tab) goTo(budget int) {
	b.t.Helper()
	b.do(`const field = document.querySelector('.budget-field'); field.focus(); field.select()`)
	b.keys(fmt.Sprint(budget), kb.Enter)
}

// listed is what the list of messages says of a prompt that is no conversation: what is
// sent, in the order of the prompt, by the numbers that contents begin with.
func (b *tab) listed() []int {
	b.t.Helper()
	return value[[]int](b, `return [...document.querySelectorAll('#messages .message:not(.is-out)')].map((line) => Number(/item (\d+)/.exec(line.textContent)[1]))`)
}

// window is the same of a side, by the positions in the table.
func (b *tab) window(side int) []int {
	b.t.Helper()
	return value[[]int](b, `
		const window = [];
		const column = [...document.querySelectorAll('#grid th')].findIndex((th) => th.dataset.column === 'place-' + a);
		for (const tr of document.querySelectorAll('#grid tbody tr[data-row]')) {
			const place = Number(tr.cells[column].textContent.replace(/[^\d]/g, ''));
			if (place > 0) window[place - 1] = Number(tr.dataset.row);
		}
		return window`, side)
}

func TestSlider(t *testing.T) {
	s := plain(t)
	const first, last, step, actual = 200, 1200, 50, 600
	for _, c := range []struct {
		name, why string
		press     func(b *tab)
		budget    int
	}{
		{"nothing", "the page begins with the run itself", func(*tab) {}, actual},
		{"arrow left, thrice", "three stops down", func(b *tab) { b.focus("#slider-0"); b.keys(kb.ArrowLeft, kb.ArrowLeft, kb.ArrowLeft) }, actual - 3*step},
		{"home", "the smallest budget", func(b *tab) { b.focus("#slider-0"); b.keys(kb.Home) }, first},
		{"typed between two stops", "the nearest that was computed is shown, and said", func(b *tab) { b.goTo(861) }, 850},
		{"typed beyond the end", "the nearest is the last", func(b *tab) { b.goTo(99_999) }, last},
		{"arrow up in the field", "one stop, not one token", func(b *tab) { b.focus(".budget-field"); b.keys(kb.ArrowUp) }, actual + step},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, c.why, s.selection)
			c.press(b)
			report := s.at(t, c.budget)
			want := numbers(report.Included...)
			require.Equal(t, c.budget, value[int](b, `return Number(document.querySelector('.budget-field').value)`))
			assert.Equal(t, want, b.listed())
			assert.Equal(t, want, b.window(0))
			tokens := 0
			for _, entry := range report.Included {
				tokens += entry.Item.Tokens()
			}
			window := fmt.Sprintf("%d item%s, %s tokens", len(want), map[bool]string{true: "", false: "s"}[len(want) == 1], grouped(tokens))
			assert.Contains(t, b.text(".budget .summary"), window)
			assert.Regexp(t, "^"+grouped(c.budget)+" tokens: "+window, value[string](b, `return document.querySelector('#slider-0').getAttribute('aria-valuetext')`))
			s.checkChanges(t, b, report)
			s.checkReasons(t, b, report)
		})
	}
}

// checkChanges compares what came and went with the reports of both budgets.
func (s *subject) checkChanges(t *testing.T, b *tab, report *cupel.SelectionReport) {
	t.Helper()
	was, is := numbers(s.report(t).Included...), numbers(report.Included...)
	came := slices.DeleteFunc(slices.Clone(is), func(i int) bool { return slices.Contains(was, i) })
	went := slices.DeleteFunc(slices.Clone(was), func(i int) bool { return slices.Contains(is, i) })
	if len(came)+len(went) == 0 {
		assert.True(t, value[bool](b, `return document.querySelector('#changes').hidden || document.querySelectorAll('#changes li').length === 0`), "nothing came or went, and the page says something did")
		return
	}
	for sign, want := range map[string][]int{"+": came, "−": went} {
		slices.Sort(want)
		got := value[[]int](b, `return [...document.querySelectorAll('#grid tbody tr[data-row]')].filter((tr) => tr.querySelector('.sign')?.textContent === a).map((tr) => Number(tr.dataset.row)).sort((x, y) => x - y)`, sign)
		assert.Equal(t, want, got, sign)
	}
	assert.Regexp(t, fmt.Sprintf("\\b%d came, %d went$", len(came), len(went)), b.text(".budget .summary"))
	heads := value[[]string](b, `return [...document.querySelectorAll('#changes h4')].map((h) => h.textContent)`)
	require.Len(t, heads, 2)
	assert.Regexp(t, fmt.Sprintf("^Came: %d item", len(came)), heads[0])
	assert.Regexp(t, fmt.Sprintf("^Went: %d item", len(went)), heads[1])
}

// checkReasons compares the reason of every candidate in the table.
func (s *subject) checkReasons(t *testing.T, b *tab, report *cupel.SelectionReport) {
	t.Helper()
	want := make([]string, len(s.items))
	for _, entry := range report.Included {
		want[numbers(entry)[0]] = string(entry.Reason)
	}
	for _, entry := range report.Excluded {
		want[numbers(cupel.IncludedItem{Item: entry.Item})[0]] = string(entry.Reason.Code)
	}
	got := value[[]string](b, `
		const column = [...document.querySelectorAll('#grid th')].findIndex((th) => th.dataset.column === 'reason-0');
		const list = [];
		for (const tr of document.querySelectorAll('#grid tbody tr[data-row]')) list[Number(tr.dataset.row)] = tr.cells[column].textContent;
		return list`)
	assert.Equal(t, want, got)
}

// grouped writes a number as the page does.
func grouped(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func TestNothingToShow(t *testing.T) {
	for _, c := range []struct {
		name, why string
		subject   func(t *testing.T) *cupelinspect.Selection
		want      []string
	}{
		{"no candidates", "an empty page says so everywhere", func(t *testing.T) *cupelinspect.Selection {
			t.Helper()
			return inspect(t, usual(), nil, 100).selection
		}, []string{"There were no candidates.", "0 → 0 tokens", "the window is empty"}},
		{"pinned items too large", "a run that failed is shown with its error", func(t *testing.T) *cupelinspect.Selection {
			t.Helper()
			return inspect(t, usual(), []*cupel.ContextItem{must(cupel.NewContextItem("item 00000", 500, cupel.WithPinned()))}, 100).selection
		}, []string{"The run failed."}},
		{"a report from elsewhere", "no parts, no sweep, no configuration", func(t *testing.T) *cupelinspect.Selection {
			t.Helper()
			s := plain(t)
			return must(cupelinspect.FromReport(s.report(t), s.budget))
		}, []string{"The times of this run are unknown.", "40 candidates"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, c.why, c.subject(t))
			text := value[string](b, `return document.body.innerText`)
			for _, want := range c.want {
				assert.Contains(t, text, want)
			}
		})
	}
}

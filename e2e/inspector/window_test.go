package inspector

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupel/strategy"
	"github.com/wollax/cupel-go/cupelinspect"
)

// block is a rectangle of the map or a bar of the plot, in pixels.
type block struct {
	X, Y, W, H float64
	Kind       string // as the legend names the colour
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
		if a.Y != b.Y && selector != "" && strings.Contains(selector, "map") {
			return int(math.Copysign(1, a.Y-b.Y))
		}
		return int(math.Copysign(1, a.X-b.X))
	})
	return blocks
}

// scale is what the map says of itself: tokens a row, and a row in pixels.
func (b *tab) scale(side int) (perRow, left, width float64) {
	b.t.Helper()
	note := b.text(fmt.Sprintf(".stack:nth-of-type(%d) .note", side+1))
	_, rest, found := strings.Cut(note, "A row is ")
	number, _, _ := strings.Cut(rest, " ")
	if _, err := fmt.Sscanf(strings.ReplaceAll(number, ",", ""), "%g", &perRow); !found || err != nil {
		b.t.Fatalf("the map has no scale: %q", note)
	}
	left = 58 // the numbers of the rows
	width = value[float64](b, `return Number(document.querySelector('#map-'+a+' svg').getAttribute('width'))`, side) - left
	return perRow, left, width
}

// wantBlocks cuts a window into rows by hand.
func wantBlocks(window []cupel.IncludedItem, perRow, left, width float64) []block {
	var want []block
	at := 0.0
	for _, entry := range window {
		end := at + float64(entry.Item.Tokens())
		for at < end {
			row := math.Floor(at / perRow)
			to := min(end, (row+1)*perRow)
			want = append(want, block{X: left + (at-row*perRow)*width/perRow, Y: row * 26, W: (to - at) * width / perRow, H: 22, Kind: string(entry.Item.Kind())})
			at = to
		}
	}
	return want
}

func TestTheWindowIsDrawnToScale(t *testing.T) {
	shop := []cupel.ContextKind{"Bread", "Milk", "Salt", "Tea", "Rice", "Oil", "Fish", "Eggs", "Nuts", "Beans", "Corn"}
	many := make([]*cupel.ContextItem, 0, 33)
	for i := range 33 {
		many = append(many, must(cupel.NewContextItem(fmt.Sprintf("item %05d", i), 10+i, cupel.WithKind(shop[i%len(shop)]))))
	}
	everything := pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}}
	for _, c := range []struct {
		name, why string
		subject   func(t *testing.T) *subject
		budget    int // to go to with the slider; 0 is the actual one
	}{
		{name: "the run", why: "widths are shares of the tokens, rows break anywhere", subject: plain},
		{name: "another budget", why: "the slider redraws the map on the same scale", subject: plain, budget: 1200},
		{name: "a small budget", why: "less than one row still has the scale of the run", subject: plain, budget: 200},
		{name: "more kinds than colours", why: "hatched kinds are drawn twice and must not count twice", subject: func(t *testing.T) *subject {
			t.Helper()
			return inspect(t, everything, many, 2000)
		}},
		{name: "one large and one small", why: "a block a thousand times another keeps its share", subject: func(t *testing.T) *subject {
			t.Helper()
			return inspect(t, everything, []*cupel.ContextItem{
				must(cupel.NewContextItem("item 00000", 20_000)), must(cupel.NewContextItem("item 00001", 20, cupel.WithKind("Code"))),
			}, 40_000)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.subject(t)
			b := open(t, c.why, s.selection)
			perRow, left, width := b.scale(0)
			report := s.report(t)
			if c.budget != 0 {
				b.goTo(c.budget)
				report = s.at(t, c.budget)
				if again, _, _ := b.scale(0); again != perRow {
					t.Errorf("a row was %v tokens and is %v", perRow, again)
				}
			}
			got, want := b.drawn("#map-0"), wantBlocks(report.Included, perRow, left, width)
			if len(got) != len(want) || len(got) == 0 {
				t.Fatalf("%d blocks, want %d", len(got), len(want))
			}
			for i := range got {
				g, w := got[i], want[i]
				// A pixel is the gap to the next block.
				if math.Abs(g.X-w.X) > 0.02 || math.Abs(g.Y-w.Y) > 0.02 || w.W-g.W > 1.02 || g.W-w.W > 0.02 || g.Kind != w.Kind {
					t.Errorf("block %d: %+v, want %+v", i, g, w)
				}
			}
		})
	}
}

func TestScoresAgainstPositions(t *testing.T) {
	for _, c := range []struct {
		name, why string
		placer    strategy.Placer
		isU       bool
	}{
		{"UShaped", "the best stand at the edges, and one sees a U", placer.UShaped{}, true},
		{"Chronological", "with scores by age alone the bars rise", placer.Chronological{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := usual()
			config.Placer = c.placer
			config.Scorer = scorer.Recency{}
			s := inspect(t, config, candidates(40)[1:], 900) // no pinned item, whose score is 1 wherever it stands
			b := open(t, c.why, s.selection)
			window := s.report(t).Included
			bars := b.drawn(".plot")
			if len(bars) != len(window) || len(bars) < 9 {
				t.Fatalf("%d bars for %d items", len(bars), len(window))
			}
			best := slices.MaxFunc(window, func(a, b cupel.IncludedItem) int { return int(math.Copysign(1, a.Score-b.Score)) }).Score
			tallest := slices.MaxFunc(bars, func(a, b block) int { return int(math.Copysign(1, a.H-b.H)) }).H
			for i, bar := range bars {
				if want := tallest * window[i].Score / best; math.Abs(bar.H-want) > 0.1 || bar.Kind != string(window[i].Item.Kind()) {
					t.Errorf("bar %d is %v high of kind %s, want %v of kind %s", i, bar.H, bar.Kind, want, window[i].Item.Kind())
				}
			}
			if c.isU {
				middle := len(bars) / 2
				for i := 1; i < len(bars); i++ {
					if i < middle && bars[i].H > bars[i-1].H+0.1 || i > middle+1 && bars[i].H < bars[i-1].H-0.1 {
						t.Errorf("no U: bar %d is %v high after %v", i, bars[i].H, bars[i-1].H)
					}
				}
			}
			if edges, middle := (bars[0].H+bars[len(bars)-1].H)/2, bars[len(bars)/2].H; c.isU != (edges > 1.5*middle) {
				t.Errorf("edges %v, middle %v", edges, middle)
			}
		})
	}
}

// goTo sets the slider's budget through its field, which goes to the nearest.
func (b *tab) goTo(budget int) {
	b.t.Helper()
	b.do(`const field = document.querySelector('.budget-field'); field.focus(); field.select()`)
	b.keys(fmt.Sprint(budget), kb.Enter)
}

// window is what the page shows as the text of the prompt, by the numbers that
// contents begin with.
func (b *tab) window(side int) []int {
	b.t.Helper()
	return value[[]int](b, `return [...document.querySelectorAll('.texts')[a].querySelectorAll('pre')].map((pre) => Number(/item (\d+)/.exec(pre.textContent)[1]))`, side)
}

// tableWindow is the same by the positions in the table.
func (b *tab) tableWindow() []int {
	b.t.Helper()
	return value[[]int](b, `
		const window = [];
		for (const tr of document.querySelectorAll('#grid tbody tr[data-row]')) {
			const place = Number(tr.cells[0].textContent.replace(/[^\d]/g, ''));
			if (place > 0) window[place - 1] = Number(tr.dataset.row);
		}
		return window`)
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
		{"arrow right", "one stop up", func(b *tab) { b.focus("#slider-0"); b.keys(kb.ArrowRight) }, actual + step},
		{"arrow left, thrice", "three stops down", func(b *tab) { b.focus("#slider-0"); b.keys(kb.ArrowLeft, kb.ArrowLeft, kb.ArrowLeft) }, actual - 3*step},
		{"home", "the smallest budget", func(b *tab) { b.focus("#slider-0"); b.keys(kb.Home) }, first},
		{"end", "the largest budget", func(b *tab) { b.focus("#slider-0"); b.keys(kb.End) }, last},
		{"typed", "the field takes a budget", func(b *tab) { b.goTo(850) }, 850},
		{"typed between two stops", "the nearest that was computed is shown, and said", func(b *tab) { b.goTo(861) }, 850},
		{"typed beyond the end", "the nearest is the last", func(b *tab) { b.goTo(99_999) }, last},
		{"arrow up in the field", "one stop, not one token", func(b *tab) { b.focus(".budget-field"); b.keys(kb.ArrowUp) }, actual + step},
		{"there and back", "the button leads back to the run", func(b *tab) {
			b.focus("#slider-0")
			b.keys(kb.Home)
			b.click(".budget-side button")
		}, actual},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, c.why, s.selection)
			c.press(b)
			report := s.at(t, c.budget)
			want := numbers(report.Included...)
			if got := value[int](b, `return Number(document.querySelector('.budget-field').value)`); got != c.budget {
				t.Fatalf("the field says %d, want %d", got, c.budget)
			}
			if got := b.window(0); !slices.Equal(got, want) {
				t.Errorf("the text shows %v, want %v", got, want)
			}
			if got := b.tableWindow(); !slices.Equal(got, want) {
				t.Errorf("the table shows %v, want %v", got, want)
			}
			perRow, left, width := b.scale(0)
			if got, blocks := b.drawn("#map-0"), wantBlocks(report.Included, perRow, left, width); len(got) != len(blocks) {
				t.Errorf("the map has %d blocks, want %d", len(got), len(blocks))
			}
			tokens := 0
			for _, entry := range report.Included {
				tokens += entry.Item.Tokens()
			}
			window := fmt.Sprintf("%d item%s, %s tokens", len(want), map[bool]string{true: "", false: "s"}[len(want) == 1], grouped(tokens))
			if got := b.text(".budget .summary"); !strings.Contains(got, window) {
				t.Errorf("the summary says %q, want %q", got, window)
			}
			if got := value[string](b, `return document.querySelector('#slider-0').getAttribute('aria-valuetext')`); !strings.HasPrefix(got, grouped(c.budget)+" tokens: "+window) {
				t.Errorf("a screen reader hears %q", got)
			}
			s.checkChanges(t, b, report)
			s.checkReasons(t, b, report)
		})
	}
}

// TestTwinsChangePlaces: of two items that look alike in the text, the one that
// stands there now is opened, and what stays the same is not drawn again.
func TestTwinsChangePlaces(t *testing.T) {
	item := func(content string, at int, options ...cupel.ItemOption) *cupel.ContextItem {
		return must(cupel.NewContextItem(content, 10, append(options, cupel.WithTimestamp(noon.Add(time.Duration(at)*time.Hour)))...))
	}
	config := usual()
	config.Scorer, config.Placer, config.KeepDuplicates = scorer.Priority{}, placer.Chronological{}, true
	items := []*cupel.ContextItem{
		item("item 00000", 0, cupel.WithPinned()),
		item("twin", 2, cupel.WithSource("later")), // the first of equal scores is taken, and stands last
		item("twin", 1, cupel.WithSource("earlier")),
	}
	b := open(t, "twins", inspect(t, config, items, 30, cupelinspect.WithSweep(30, 60, 2)).selection)
	for _, c := range []struct {
		budget int
		source string
	}{{30, "later"}, {60, "earlier"}} {
		b.do(`document.querySelector('.texts li').mark = true`)
		b.goTo(c.budget)
		if !value[bool](b, `return document.querySelector('.texts li').mark === true`) {
			t.Errorf("at %d tokens the pinned item was drawn again", c.budget)
		}
		b.click(".texts li:nth-child(2) .line")
		if got := b.text("#details"); !strings.Contains(got, c.source) {
			t.Errorf("at %d tokens the text opens %q, want the item from %s", c.budget, got, c.source)
		}
		b.do(`document.querySelector('#details').close()`)
		b.frame() // the event of the closing comes later
	}
}

// checkChanges compares what came and went with the reports of both budgets.
func (s *subject) checkChanges(t *testing.T, b *tab, report *cupel.SelectionReport) {
	t.Helper()
	was, is := numbers(s.report(t).Included...), numbers(report.Included...)
	came := slices.DeleteFunc(slices.Clone(is), func(i int) bool { return slices.Contains(was, i) })
	went := slices.DeleteFunc(slices.Clone(was), func(i int) bool { return slices.Contains(is, i) })
	if len(came)+len(went) == 0 {
		if !value[bool](b, `return document.querySelector('#changes').hidden || document.querySelectorAll('#changes li').length === 0`) {
			t.Error("nothing came or went, and the page says something did")
		}
		return
	}
	for sign, want := range map[string][]int{"+": came, "−": went} {
		slices.Sort(want)
		got := value[[]int](b, `return [...document.querySelectorAll('#grid tbody tr[data-row]')].filter((tr) => tr.querySelector('.sign')?.textContent === a).map((tr) => Number(tr.dataset.row)).sort((x, y) => x - y)`, sign)
		if !slices.Equal(got, want) {
			t.Errorf("marked with %s: %v, want %v", sign, got, want)
		}
	}
	if got := b.text(".budget .summary"); !strings.HasSuffix(got, fmt.Sprintf("%d came, %d went", len(came), len(went))) {
		t.Errorf("the summary says %q; %d came and %d went", got, len(came), len(went))
	}
	heads := value[[]string](b, `return [...document.querySelectorAll('#changes h4')].map((h) => h.textContent)`)
	if len(heads) != 2 || !strings.HasPrefix(heads[0], fmt.Sprintf("Came: %d item", len(came))) || !strings.HasPrefix(heads[1], fmt.Sprintf("Went: %d item", len(went))) {
		t.Errorf("the lists are headed %q; %d came and %d went", heads, len(came), len(went))
	}
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
	if !slices.Equal(got, want) {
		t.Errorf("reasons %v, want %v", got, want)
	}
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
		}, []string{"There were no candidates.", "The window is empty.", "No other budgets were computed."}},
		{"pinned items too large", "a run that failed is shown with its error", func(t *testing.T) *cupelinspect.Selection {
			t.Helper()
			return inspect(t, usual(), []*cupel.ContextItem{must(cupel.NewContextItem("item 00000", 500, cupel.WithPinned()))}, 100).selection
		}, []string{"The run failed."}},
		{"a report from elsewhere", "no parts, no sweep, no configuration", func(t *testing.T) *cupelinspect.Selection {
			t.Helper()
			s := plain(t)
			return must(cupelinspect.FromReport(s.report(t), s.budget))
		}, []string{"No other budgets were computed.", "40 candidates"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, c.why, c.subject(t))
			text := value[string](b, `return document.body.innerText`)
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("the page does not say %q:\n%s", want, text)
				}
			}
		})
	}
}

package inspector

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelinspect"
)

// scored is a report of items with these scores, which no scorer of cupel's has
// to give.
func scored(t *testing.T, scores ...float64) *cupelinspect.Selection {
	t.Helper()
	report := &cupel.SelectionReport{}
	for i, score := range scores {
		report.Included = append(report.Included, cupel.IncludedItem{Item: must(cupel.NewContextItem(fmt.Sprintf("item %05d", i), 10)), Score: score, Reason: cupel.IncludeScored})
	}
	return must(cupelinspect.FromReport(report, must(cupel.NewContextBudget(600, 600))))
}

// TestExtremeScores checks that the plot is drawn for any scores. The tab fails
// the test if a path contains an invalid number.
func TestExtremeScores(t *testing.T) {
	b := newTab(t)
	for _, c := range []struct {
		name, why string
		scores    []float64
		heights   []float64 // shares of the plot's
		axis      []string
	}{
		{"largest and least", "their difference is infinite", []float64{math.MaxFloat64, -math.MaxFloat64, 0}, []float64{0.5, 0.5, 0}, []string{"−1.8e+308", "0.000", "1.8e+308"}},
		{"none", "infinite scores and those that are no number are none, which the page says in place of the plot", []float64{math.Inf(1), math.NaN(), math.Inf(-1)}, nil, nil},
		{"large", "the labels have room", []float64{1234.5, 0}, []float64{1, 0}, []string{"0.000", "617", "1,235"}},
		{"alike", "all bars are the same", []float64{0.5, 0.5}, []float64{1, 1}, []string{"0.000", "0.250", "0.500"}},
		{"zero", "bars without height, and an axis all the same", []float64{0, 0}, []float64{0, 0}, []string{"0.000", "0.500", "1.000"}},
		{"negative", "bars hang from zero", []float64{-3, -1.5}, []float64{1, 0.5}, []string{"−3.000", "−1.500", "0.000"}},
		{"tiny", "the least number that there is", []float64{math.SmallestNonzeroFloat64, 0}, []float64{1, 0}, []string{"0.000", "0.000", "4.9e−324"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.show(write(t, c.why, scored(t, c.scores...)))
			heights := value[[]float64](b, `
				return [...document.querySelector('.plot .block')?.getAttribute('d').matchAll(/M[\d.]+ ([\d.]+)h[\d.]+V([\d.]+)/g) ?? []].map(([, from, to]) => Math.abs(from - to) / 122)`)
			require.Len(t, heights, len(c.heights))
			for i, h := range heights {
				assert.InDelta(t, c.heights[i], h, 0.01, "%v", heights)
			}
			assert.Equal(t, fmt.Sprint(c.axis), fmt.Sprint(value[[]string](b, `return [...document.querySelectorAll('.plot .axis')].slice(0, 3).map((text) => text.textContent)`)))
			assert.Equal(t, c.heights == nil, strings.Contains(b.text("main"), "This selection has no scores."))
		})
	}
}

// TestExtremeSelections moves through the budgets of unusual pages. The legend
// must always add up to the budget, the table must have every candidate, every
// number must be valid, and the page must not scroll sideways.
func TestExtremeSelections(t *testing.T) {
	some := func(n int, tokens func(i int) int, options ...cupel.ItemOption) []*cupel.ContextItem {
		items := make([]*cupel.ContextItem, n)
		for i := range items {
			items[i] = must(cupel.NewContextItem(fmt.Sprintf("item %05d", i), tokens(i), append([]cupel.ItemOption{cupel.WithTimestamp(noon)}, options...)...))
		}
		return items
	}
	each := func(tokens int) func(int) int { return func(int) int { return tokens } }
	throwing, proceeding := usual(), usual()
	throwing.Overflow, proceeding.Overflow = pipeline.OverflowThrow, pipeline.OverflowProceed
	b := newTab(t)
	for _, c := range []struct {
		name, why string
		config    pipeline.Config
		items     []*cupel.ContextItem
		budget    cupel.ContextBudget
	}{
		{"one candidate", "no slope, no second row", usual(), some(1, each(10)), must(cupel.NewContextBudget(100, 100))},
		{"no candidate", "nothing anywhere", usual(), nil, must(cupel.NewContextBudget(100, 100))},
		{"all pinned", "nothing is scored", usual(), some(5, each(10), cupel.WithPinned()), must(cupel.NewContextBudget(100, 100))},
		{"pinned beyond the budget", "the run fails, and budgets of the sweep do not", usual(), some(5, each(30), cupel.WithPinned()), must(cupel.NewContextBudget(100, 90))},
		{"pinned beyond the target, proceeding", "the window is larger than its target", proceeding, some(5, each(19), cupel.WithPinned()), must(cupel.NewContextBudget(100, 50))},
		{"pinned beyond the target, throwing", "and that may be an error", throwing, some(5, each(19), cupel.WithPinned()), must(cupel.NewContextBudget(100, 50))},
		{"negative tokens", "nothing has a score", usual(), some(5, each(-7)), must(cupel.NewContextBudget(100, 100))},
		{"all signs", "some are in", usual(), some(9, func(i int) int { return i - 4 }), must(cupel.NewContextBudget(5, 5))},
		{"one giant", "the others are tiny in comparison", usual(), some(5, func(i int) int { return 1 + i/4*999_999 }), must(cupel.NewContextBudget(1_000_010, 1_000_010))},
		{"more tokens than JavaScript counts", "numbers lose their last digits, and say so", usual(), some(3, each(math.MaxInt/4)), must(cupel.NewContextBudget(math.MaxInt, math.MaxInt))},
	} {
		t.Run(c.name, func(t *testing.T) {
			selection := must(cupelinspect.Inspect(t.Context(), must(pipeline.New(c.config)), c.items, c.budget, cupelinspect.WithName(c.name)))
			b.show(write(t, c.why, selection))
			b.do(`for (const row of document.querySelectorAll('#grid tr[data-row="0"]')) row.click()`)
			assert.Equal(t, len(c.items) > 0, value[bool](b, `const open = document.querySelector('#details').open; document.querySelector('#details').close(); return open`), "the details of the first candidate do not open")
			type state struct {
				Budget, Sum, Used, Rows float64
				Text                    string
				Wide                    bool
			}
			for _, width := range []int64{1440, 420} {
				b.resize(width, 900)
				states := value[[]state](b, `
					const number = (text) => Number(text.replaceAll(',', '').replace('≈ ', '').replace('−', '-'));
					// Without other budgets there is no slider.
					const slider = document.querySelector('#slider-0') ?? Object.assign(document.createElement('input'), { max: 0, value: 0 });
					const states = [];
					const last = Number(slider.max);
					const stops = new Set([Number(slider.value), ...Array.from({ length: 5 }, (_, i) => Math.round(i * last / 4))]);
					for (const at of stops) {
						slider.value = at;
						slider.dispatchEvent(new Event('input', { bubbles: true }));
						const figures = [...document.querySelectorAll('.figures strong')].map((node) => number(node.textContent));
						states.push({
							Budget: figures[2], Used: figures[0], Rows: document.querySelectorAll('#grid tr[data-row]').length,
							Sum: [...document.querySelectorAll('.legend li > *')].reduce((sum, line) => sum + number(line.querySelector('.number').textContent), 0),
							Text: (/.{0,60}(NaN|undefined|Infinity|\[object|null).{0,20}/.exec(document.querySelector('main').textContent + document.querySelector('main').innerHTML) ?? [''])[0],
							Wide: document.documentElement.scrollWidth > innerWidth,
						});
					}
					return states`)
				for _, s := range states {
					want := max(s.Budget, s.Used+float64(min(c.budget.OutputReserve(), int(s.Budget))))
					assert.InDelta(t, want, s.Sum, 1e-5*want, "%d pixels wide", width)
					assert.InDelta(t, float64(len(c.items)), s.Rows, 0, "%d pixels wide", width)
					assert.Empty(t, s.Text, "%d pixels wide", width)
					assert.False(t, s.Wide, "%d pixels wide", width)
				}
			}
		})
	}
}

// TestManyKinds: bar and legend name the largest kinds, and nothing is missing
// from the sum. Names may be of any length.
func TestManyKinds(t *testing.T) {
	items := make([]*cupel.ContextItem, 300)
	for i := range items {
		kind := cupel.ContextKind(fmt.Sprintf("kind %d %s", i, strings.Repeat("x", 10_000)))
		items[i] = must(cupel.NewContextItem(fmt.Sprintf("item %05d", i), 1+i, cupel.WithKind(kind), cupel.WithTimestamp(noon)))
	}
	s := inspect(t, usual(), items, 20_000)
	b := open(t, strings.Repeat("a long title ", 200), s.selection)
	for _, width := range []int64{1440, 420} {
		b.resize(width, 900)
		type line struct {
			Name   string
			Tokens int
		}
		lines := value[[]line](b, `return [...document.querySelectorAll('.legend li > *')].map((line) => ({ Name: line.querySelector('.legend-name').textContent, Tokens: Number(line.querySelector('.number').textContent.replaceAll(',', '')) }))`)
		sum, others := 0, 0
		for _, l := range lines {
			sum += l.Tokens
			if l.Name == "284 more kinds" {
				others = l.Tokens
			}
		}
		assert.Equal(t, 20_000, sum)
		assert.NotZero(t, others)
		assert.LessOrEqual(t, len(lines), 20)
		in := value[int](b, `return [...document.querySelectorAll('.legend button')].filter((line) => line.textContent.includes('1/1')).length`)
		assert.Equal(t, 16, in)
		widths := value[[]float64](b, `return [...document.querySelectorAll('.bar .others, .bar')].map((node) => node.getBoundingClientRect().width)`)
		require.Len(t, widths, 2)
		assert.InDelta(t, widths[0]*float64(others)/20_000, widths[1], 1)
		assert.False(t, value[bool](b, `return document.documentElement.scrollWidth > innerWidth`), "at %d pixels the page scrolls sideways", width)
	}
}

// TestHeldBack: what the slicer may not spend is called by its reasons.
func TestHeldBack(t *testing.T) {
	s := plain(t)
	b := newTab(t)
	for _, c := range []struct {
		name, why string
		budget    cupel.ContextBudget
		want      string
		tokens    int
	}{
		{"margin", "a tenth of what pinned items leave, and 28 tokens are pinned", must(cupel.NewContextBudget(1028, 1028, cupel.WithEstimationSafetyMargin(10))), "Held back: margin", 100},
		{"slots", "reserved for one kind", must(cupel.NewContextBudget(1000, 1000, cupel.WithReservedSlots(map[cupel.ContextKind]int{"Memory": 150}))), "Held back: slots", 150},
		{"all", "together", must(cupel.NewContextBudget(1000, 928, cupel.WithEstimationSafetyMargin(10), cupel.WithReservedSlots(map[cupel.ContextKind]int{"Memory": 100}))), "Held back: target, margin, slots", 72 + 80 + 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, 28, s.items[0].Tokens())
			b.show(write(t, c.why, must(cupelinspect.Inspect(t.Context(), s.pipeline, s.items, c.budget))))
			lines := value[map[string]string](b, `return Object.fromEntries([...document.querySelectorAll('.legend li > div')].map((line) => [line.querySelector('.legend-name').textContent, line.querySelector('.number').textContent]))`)
			assert.Equal(t, grouped(c.tokens), lines[c.want], c.want)
		})
	}
}

// TestAWideSweep: a budget a hundred times the actual one is shown, and one of nothing.
func TestAWideSweep(t *testing.T) {
	s := inspect(t, usual(), candidates(400), 600, cupelinspect.WithSweep(0, 100_000, 201))
	b := open(t, "far", s.selection)
	b.focus("#slider-0")
	b.keys(kb.End)
	assert.Equal(t, numbers(s.at(t, 100_000).Included...), b.listed())
	b.goTo(0) // a number, though JavaScript takes it for none
	assert.Equal(t, "0", value[string](b, `return document.querySelector('.budget-field').value`))
}

// TestExtremeMetadata: metadata of any name, depth and length is shown whole.
func TestExtremeMetadata(t *testing.T) {
	deep := any("bottom")
	for range 9000 {
		deep = []any{deep}
	}
	long := strings.Repeat("word ", 10_000)
	item := must(cupel.NewContextItem("item 00000", 10, cupel.WithMetadata(map[string]any{
		"long": long, "deep": deep,
		"__proto__": "own", "constructor": "own",
	})))
	b := open(t, "metadata", inspect(t, usual(), []*cupel.ContextItem{item}, 600).selection)
	b.click(`#grid tr[data-row="0"]`)
	facts := func() map[string]string {
		return value[map[string]string](b, `return Object.fromEntries([...document.querySelectorAll('#details .metadata dt')].map((dt) => [dt.textContent + '=', dt.nextElementSibling.querySelector('bdi').textContent]))`)
	}
	got := facts()
	for key, want := range map[string]string{"__proto__": "own", "constructor": "own"} {
		assert.Equal(t, want, got[key+"="], key)
	}
	assert.LessOrEqual(t, len(got["long="]), 2100)
	b.do(`for (const more of document.querySelectorAll('#details .metadata .more')) more.click()`)
	got = facts()
	assert.Equal(t, long, got["long="])
	assert.Equal(t, strings.Repeat("[", 9000)+`"bottom"`+strings.Repeat("]", 9000), got["deep="])
}

// TestFirstLines: a first line is found however far it is.
func TestFirstLines(t *testing.T) {
	for _, c := range []struct{ name, why, content, want string }{
		{"after white space", "five thousand blanks are no line", strings.Repeat(" \n", 2500) + "late\nlater", "late"},
		{"white space", "nothing is there", strings.Repeat(" \n", 2500), "white space"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, c.why, inspect(t, usual(), []*cupel.ContextItem{must(cupel.NewContextItem(c.content, 10))}, 600).selection)
			assert.Equal(t, c.want, b.text(`#grid tr[data-row="0"] .line-text`))
		})
	}
}

// TestCopy: what is copied is the content, not what stands on the page for it.
func TestCopy(t *testing.T) {
	content := "pass\u200Bword \u202Eevil\u202C\r\n" + strings.Repeat("line\n", 2000) + "end\x1b"
	item := must(cupel.NewContextItem(content, 10))
	b := open(t, "copied", inspect(t, usual(), []*cupel.ContextItem{item}, 600).selection)
	b.click(`#grid tr[data-row="0"]`)
	b.do(`
		const put = DataTransfer.prototype.setData;
		DataTransfer.prototype.setData = function (type, text) { window.copied = [type, text]; put.call(this, type, text); }`)
	b.click("#details .copy button")
	assert.Equal(t, []string{"text/plain", content}, value[[]string](b, `return window.copied ?? []`))
	assert.Contains(t, b.text("#details .copy [role=status]"), "Copied")
}

// TestComingBack: who comes back to the page finds fields that say what it shows.
// Browsers fill fields that they remember without telling the page.
func TestComingBack(t *testing.T) {
	b := open(t, "back", plain(t).selection)
	fields := `return JSON.stringify([...document.querySelectorAll('input, select')].map((field) => field.type === 'radio' || field.type === 'checkbox' ? field.checked : field.value))`
	fresh := value[string](b, fields)
	b.typeFilter("roof")
	b.choose("#filter-kind", "Document")
	b.choose("#filter-state", "Left out")
	b.goTo(1200)
	b.do(`document.querySelector('#show-parts').click(); document.querySelector('#theme [value=dark]').click(); localStorage.clear()`)
	require.NotEqual(t, fresh, value[string](b, fields))
	b.show("about:blank")
	for _, how := range []action{chromedp.NavigateBack(), chromedp.Reload()} {
		b.run(how)
		b.frame()
		b.frame() // fields are filled after the page has been loaded
		b.advanced()
		assert.Equal(t, fresh, value[string](b, fields))
	}
}

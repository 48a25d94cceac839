package inspector

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelinspect"
)

// TestTheBudgetIsDrawnToScale: target and free room are those of the budget that the
// slider is at.
func TestTheBudgetIsDrawnToScale(t *testing.T) {
	const budget = 1000
	s := plain(t)
	b := open(t, "to scale", s.selection)
	b.goTo(budget)
	report := s.at(t, budget)
	byKind, all, window := map[string]int{}, map[string]int{}, 0
	for _, entry := range report.Included {
		byKind[string(entry.Item.Kind())] += entry.Item.Tokens()
		window += entry.Item.Tokens()
	}
	for _, item := range s.items {
		all[string(item.Kind())]++
	}
	target, reserve := budget*3/4, s.budget.OutputReserve()
	want := map[string]int{"Free": target - window, "Beyond the target": budget - reserve - target, "For the answer": reserve}
	for kind := range all {
		want[kind] = byKind[kind]
	}
	lines := value[map[string]string](b, `return Object.fromEntries([...document.querySelectorAll('.legend li > *')].map((line) => [line.querySelector('.legend-name').textContent, line.querySelector('.number').textContent]))`)
	for name, tokens := range want {
		assert.Equal(t, grouped(tokens), lines[name], name)
	}
	assert.Len(t, lines, len(want))
	// The pieces of the bar are in the order of the legend, without those of no tokens.
	type piece struct {
		Width float64
		Class string
	}
	pieces := value[[]piece](b, `return [...document.querySelectorAll('.bar .piece')].map((p) => ({ Width: p.getBoundingClientRect().width, Class: p.className }))`)
	width := value[float64](b, `return document.querySelector('.bar').getBoundingClientRect().width`)
	names := value[[]string](b, `return [...document.querySelectorAll('.legend .legend-name')].map((n) => n.textContent)`)
	names = slices.DeleteFunc(names, func(name string) bool { return want[name] == 0 })
	require.Len(t, pieces, len(names))
	for i, p := range pieces {
		assert.InDelta(t, width*float64(want[names[i]])/float64(budget), p.Width, 1, names[i])
	}
}

func TestABudgetThatFails(t *testing.T) {
	s := inspect(t, usual(), candidates(40), 600, cupelinspect.WithSweep(80, 680, 7))
	small, err := s.budget.Resize(80, 60)
	require.NoError(t, err)
	_, err = s.pipeline.DryRun(t.Context(), s.items, small)
	require.Error(t, err, "this budget was meant to fail")
	b := open(t, "a slider may go where a run fails", s.selection)
	b.goTo(80)
	assert.Regexp(t, `^At this budget the run fails\. cupel: `, value[string](b, `return document.querySelector('.headline .banner').innerText`))
	assert.Contains(t, b.text(".budget .summary"), "the run fails")
	b.click(".budget-side button")
	assert.Empty(t, value[string](b, `return document.querySelector('.headline .banner').innerText`))
}

func TestStagesAreDrawnToScale(t *testing.T) {
	s := inspect(t, usual(), candidates(400), 4000)
	b := open(t, "where the time went", s.selection)
	type stage struct {
		Name            string
		Start, Duration float64
		In, Out         int
	}
	data := value[struct {
		Stages []stage
		Total  float64
	}](b, `
		const bytes = Uint8Array.from(atob(document.getElementById('data').textContent), (letter) => letter.charCodeAt(0));
		const page = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json();
		return page.selections[0]`)
	stages := data.Stages
	type row struct {
		Name        string
		In, Out     string
		Left, Width float64
	}
	rows := value[[]row](b, `
		return [...document.querySelectorAll('.stages tbody tr:not(.total)')].map((tr) => {
			const line = tr.querySelector('.timeline').getBoundingClientRect();
			const bar = tr.querySelector('.time-bar').getBoundingClientRect();
			return { Name: tr.cells[0].textContent, In: tr.cells[1].textContent, Out: tr.cells[2].textContent, Left: (bar.left - line.left) / line.width, Width: bar.width / line.width };
		})`)
	require.Len(t, rows, len(stages))
	require.GreaterOrEqual(t, len(rows), 4)
	whole := data.Total
	for i, r := range rows {
		w := stages[i]
		assert.Equal(t, []string{w.Name, grouped(w.In), grouped(w.Out)}, []string{r.Name, r.In, r.Out}, "row %d", i)
		// A pixel and a half is the least that one sees.
		assert.InDelta(t, w.Start/whole, r.Left, 0.01, r.Name)
		assert.InDelta(t, w.Duration/whole, r.Width, 0.015, r.Name)
	}
}

// TestReasons: the reasons are summed up, and each leads to its candidates.
func TestReasons(t *testing.T) {
	s := plain(t)
	report := s.report(t)
	want := map[string][2]int{}
	add := func(reason string, item *cupel.ContextItem) {
		n := want[reason]
		want[reason] = [2]int{n[0] + 1, n[1] + item.Tokens()}
	}
	for _, entry := range report.Included {
		add(string(entry.Reason), entry.Item)
	}
	for _, entry := range report.Excluded {
		add(string(entry.Reason.Code), entry.Item)
	}
	b := open(t, "why", s.selection)
	rows := value[[][]string](b, `return [...document.querySelector('#reasons-0 + table tbody').rows].map((tr) => [...tr.cells].map((td) => td.textContent))`)
	assert.Len(t, rows, len(want))
	for _, row := range rows {
		n := want[row[0]]
		assert.Equal(t, []string{grouped(n[0]), grouped(n[1])}, []string{row[2], strings.ReplaceAll(row[3], "−", "-")}, row[0])
	}
	b.click("#reasons-0 + table button")
	assert.Len(t, b.rows(), want[rows[0][0]][0], rows[0][0])
}

func TestPrint(t *testing.T) {
	s := plain(t)
	b := open(t, "on paper", s.selection)
	b.do(`document.querySelector('#theme [value=dark]').click(); localStorage.clear()`)
	b.click("#messages .message")
	b.print()
	ink := value[string](b, `return getComputedStyle(document.querySelector('.fate pre')).color`)
	assert.GreaterOrEqual(t, contrast(colour(t, ink), rgb{1, 1, 1}), 4.5, ink) // paper is white in every scheme
	for _, selector := range []string{".budget", ".filters", ".foot", "#theme"} {
		assert.False(t, value[bool](b, `return document.querySelector(a).checkVisibility()`, selector), "%s is of no use on paper", selector)
	}
	assert.False(t, value[bool](b, `const box = document.querySelector('.fate pre'); return box.scrollHeight > box.clientHeight + 1`), "the text is cut on paper")
}

// TestPrintedRows: paper has a few pages of rows, and says how many more there are.
func TestPrintedRows(t *testing.T) {
	b := open(t, "on paper", inspect(t, usual(), candidates(500), 600).selection)
	b.do(`const box = document.querySelector('.scroller'); box.scrollTop = 5000`)
	b.frame()
	top := value[float64](b, `return document.querySelector('.scroller').scrollTop`)
	b.do(`dispatchEvent(new Event('beforeprint'))`)
	rows := b.rows()
	assert.Len(t, rows, 400)
	assert.Equal(t, "and 100 more candidates", b.text("#grid tbody tr:nth-last-child(2)"))
	b.do(`dispatchEvent(new Event('afterprint'))`)
	b.frame()
	assert.InDelta(t, top, value[float64](b, `return document.querySelector('.scroller').scrollTop`), 0)
	assert.LessOrEqual(t, len(b.rows()), 100)
}

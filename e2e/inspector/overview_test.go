package inspector

import (
	"math"
	"slices"
	"strings"
	"testing"

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
		if lines[name] != grouped(tokens) {
			t.Errorf("%s: %q, want %d tokens", name, lines[name], tokens)
		}
	}
	if len(lines) != len(want) {
		t.Errorf("the legend has %v, want %v", lines, want)
	}
	// The pieces of the bar are in the order of the legend, without those of no tokens.
	type piece struct {
		Width float64
		Class string
	}
	pieces := value[[]piece](b, `return [...document.querySelectorAll('.bar .piece')].map((p) => ({ Width: p.getBoundingClientRect().width, Class: p.className }))`)
	width := value[float64](b, `return document.querySelector('.bar').getBoundingClientRect().width`)
	names := value[[]string](b, `return [...document.querySelectorAll('.legend .legend-name')].map((n) => n.textContent)`)
	names = slices.DeleteFunc(names, func(name string) bool { return want[name] == 0 })
	if len(pieces) != len(names) {
		t.Fatalf("%d pieces for %q", len(pieces), names)
	}
	for i, p := range pieces {
		if share := width * float64(want[names[i]]) / float64(budget); math.Abs(p.Width-share) > 1 {
			t.Errorf("%s is %.1f pixels wide, want %.1f", names[i], p.Width, share)
		}
	}
}

func TestABudgetThatFails(t *testing.T) {
	s := inspect(t, usual(), candidates(40), 600, cupelinspect.WithSweep(80, 680, 7))
	small, err := s.budget.Resize(80, 60)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.pipeline.DryRun(t.Context(), s.items, small); err == nil {
		t.Fatal("this budget was meant to fail")
	}
	b := open(t, "a slider may go where a run fails", s.selection)
	b.goTo(80)
	if got := value[string](b, `return document.querySelector('.headline .banner').innerText`); !strings.HasPrefix(got, "At this budget the run fails. cupel: ") {
		t.Errorf("the page says %q", got)
	}
	if got := b.text(".budget .summary"); !strings.Contains(got, "the run fails") {
		t.Errorf("the summary says %q", got)
	}
	b.click(".budget-side button")
	if got := value[string](b, `return document.querySelector('.headline .banner').innerText`); got != "" {
		t.Errorf("back at the run the page says %q", got)
	}
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
	if len(rows) != len(stages) || len(rows) < 4 {
		t.Fatalf("%d rows for %d stages", len(rows), len(stages))
	}
	whole := data.Total
	for i, r := range rows {
		w := stages[i]
		if r.Name != w.Name || r.In != grouped(w.In) || r.Out != grouped(w.Out) {
			t.Errorf("row %d is %+v, want %+v", i, r, w)
		}
		// A pixel and a half is the least that one sees.
		if math.Abs(r.Left-w.Start/whole) > 0.01 || math.Abs(r.Width-w.Duration/whole) > 0.015 {
			t.Errorf("%s begins at %.3f of the run and takes %.3f of it, want %.3f and %.3f", r.Name, r.Left, r.Width, w.Start/whole, w.Duration/whole)
		}
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
	if len(rows) != len(want) {
		t.Errorf("%d reasons, want %v", len(rows), want)
	}
	for _, row := range rows {
		n := want[row[0]]
		if row[2] != grouped(n[0]) || strings.ReplaceAll(row[3], "−", "-") != grouped(n[1]) {
			t.Errorf("%q, want %v", row, n)
		}
	}
	b.click("#reasons-0 + table button")
	if got := len(b.rows()); got != want[rows[0][0]][0] {
		t.Errorf("%s leads to %d rows, want %v", rows[0][0], got, want[rows[0][0]])
	}
}

func TestPrint(t *testing.T) {
	s := plain(t)
	b := open(t, "on paper", s.selection)
	b.do(`document.querySelector('#theme [value=dark]').click(); localStorage.clear()`)
	b.click("#messages .message")
	b.print()
	ink := value[string](b, `return getComputedStyle(document.querySelector('.fate pre')).color`)
	if ratio := contrast(colour(t, ink), rgb{1, 1, 1}); ratio < 4.5 { // paper is white in every scheme
		t.Errorf("%s on paper is %.2f to 1", ink, ratio)
	}
	for _, selector := range []string{".budget", ".filters", ".foot", "#theme"} {
		if value[bool](b, `return document.querySelector(a).checkVisibility()`, selector) {
			t.Errorf("%s is of no use on paper", selector)
		}
	}
	if value[bool](b, `const box = document.querySelector('.fate pre'); return box.scrollHeight > box.clientHeight + 1`) {
		t.Error("the text is cut on paper")
	}
}

// TestPrintedRows: paper has a few pages of rows, and says how many more there are.
func TestPrintedRows(t *testing.T) {
	b := open(t, "on paper", inspect(t, usual(), candidates(500), 600).selection)
	b.do(`const box = document.querySelector('.scroller'); box.scrollTop = 5000`)
	b.frame()
	top := value[float64](b, `return document.querySelector('.scroller').scrollTop`)
	b.do(`dispatchEvent(new Event('beforeprint'))`)
	rows := b.rows()
	if got := b.text("#grid tbody tr:nth-last-child(2)"); len(rows) != 400 || got != "and 100 more candidates" {
		t.Errorf("%d rows are printed, and then %q", len(rows), got)
	}
	b.do(`dispatchEvent(new Event('afterprint'))`)
	b.frame()
	if got := value[float64](b, `return document.querySelector('.scroller').scrollTop`); got != top || len(b.rows()) > 100 {
		t.Errorf("afterwards the table is at %v and was at %v, with %d rows", got, top, len(b.rows()))
	}
}

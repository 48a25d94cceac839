package inspector

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp/kb"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelinspect"
)

const many = 10_000

// large is made once: a page of 10,000 candidates, and one of two selections of
// them, which is the second path.
var large = sync.OnceValue(func() func(t *testing.T) (*subject, [2]string) {
	var once sync.Once
	var s *subject
	var paths [2]string
	return func(t *testing.T) (*subject, [2]string) {
		t.Helper()
		once.Do(func() {
			items := candidates(many)
			tokens := 0
			for _, item := range items {
				tokens += max(0, item.Tokens())
			}
			s = inspect(t, usual(), items, tokens/4, cupelinspect.WithName("large"))
			other := usual()
			other.Scorer = composite(1, 3)
			selections := []*cupelinspect.Selection{s.selection, inspect(t, other, items, tokens/4, cupelinspect.WithName("other")).selection}
			for i := range paths {
				file, err := os.CreateTemp(browser.dir, "large-*.html")
				if err == nil {
					err = cmp.Or(cupelinspect.WriteHTML(file, "10,000 candidates", selections[:i+1]...), file.Close())
					paths[i] = file.Name()
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		})
		return s, paths
	}
})

// openLarge shows as many selections of 10,000 candidates.
func openLarge(t *testing.T, selections int) (*subject, *tab) {
	t.Helper()
	b := newTab(t)
	s, paths := large()(t)
	b.show(paths[selections-1])
	return s, b
}

// TestTenThousandCandidates: the page stays small, and right.
func TestTenThousandCandidates(t *testing.T) {
	s, b := openLarge(t, 1)
	for _, step := range []struct {
		why string
		do  func()
	}{
		{"as it opens", func() {}},
		{"sorted", func() { b.click(`#grid th[data-column="tokens"] button`) }},
		{"at the end of the table", func() { b.focus("#grid"); b.keys(kb.End) }},
		{"filtered", func() { b.typeFilter("meeting") }},
		{"everything in the window", func() { b.focus("#slider-0"); b.keys(kb.End) }},
	} {
		step.do()
		if got := value[int](b, `return document.querySelectorAll('*').length`); got > 6000 {
			t.Errorf("%s the document has %d elements", step.why, got)
		}
		if got := len(b.rows()); got < 20 || got > 100 {
			t.Errorf("%s the table has %d rows", step.why, got)
		}
	}
	b.click("#filter-clear")
	b.focus("#grid")
	b.keys(kb.Home)
	largest := s.indexes(func(i int, _ *cupel.ContextItem) bool { return true })
	slices.SortStableFunc(largest, func(x, y int) int { return cmp.Compare(s.items[y].Tokens(), s.items[x].Tokens()) })
	if got := b.rows()[0]; s.items[got].Tokens() != s.items[largest[0]].Tokens() {
		t.Errorf("the first row is item %d with %d tokens, want %d", got, s.items[got].Tokens(), s.items[largest[0]].Tokens())
	}
	if got := b.count(); !strings.HasPrefix(got, "10,000 candidates") {
		t.Errorf("it says %q", got)
	}
}

// TestScrolling checks that the rows at any scroll position are present and in
// order.
func TestScrolling(t *testing.T) {
	_, b := openLarge(t, 1)
	b.click(`#grid th[data-column="line"] button`) // contents begin with their numbers
	for _, share := range []float64{0.001, 0.3333, 0.5, 0.99, 1, 0} {
		b.do(`const box = document.querySelector('.scroller'); box.scrollTop = a * (box.scrollHeight - box.clientHeight)`, share)
		b.frame()
		b.frame()
		seen := value[[]int](b, `
			const box = document.querySelector('.scroller').getBoundingClientRect();
			const head = document.querySelector('#grid thead').getBoundingClientRect().height;
			return [...document.querySelectorAll('#grid tbody tr[data-row]')].filter((tr) => { const r = tr.getBoundingClientRect(); return r.bottom > box.top + head && r.top < box.bottom }).map((tr) => Number(tr.dataset.row))`)
		if len(seen) < 15 {
			t.Fatalf("at %v of the table %d rows are in view", share, len(seen))
		}
		for i, row := range seen {
			if row != seen[0]+i {
				t.Fatalf("at %v of the table the rows are %v", share, seen)
			}
		}
		if middle := seen[len(seen)/2]; float64(middle) < share*many-40 || float64(middle) > share*many+40 {
			t.Errorf("at %v of the table row %d is in view", share, middle)
		}
	}
}

// TestTimes holds the page of 10,000 candidates to its times. The machine may be
// busy with other things, which only ever adds: the least of the rounds counts.
func TestTimes(t *testing.T) {
	if os.Getenv("CUPEL_E2E_TIMES") == "" && os.Getenv("CUPEL_E2E_JAEGER") == "" {
		t.Skip("NOT TESTED: times are asserted where CUPEL_E2E_TIMES is set")
	}
	for i, name := range []string{"one selection", "two selections"} {
		t.Run(name, func(t *testing.T) { holdTimes(t, i+1) })
	}
}

func holdTimes(t *testing.T, selections int) {
	t.Helper()
	_, b := openLarge(t, selections)
	const rounds = 7
	t.Run("first paint", func(t *testing.T) {
		least := 1e9
		for range rounds {
			b.run(command(network.ClearBrowserCache, cdp.Empty{}))
			b.show(strings.TrimPrefix(b.url, "file://"))
			painted := value[float64](b, `
				for (;;) {
					const paint = performance.getEntriesByName('first-contentful-paint')[0];
					// The heading may be painted before the script has run.
					if (paint && document.querySelector('#grid tbody tr')) return Math.max(paint.startTime, performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd);
					await new Promise(requestAnimationFrame);
				}`)
			least = min(least, painted)
		}
		t.Logf("painted after %.0f ms", least)
		if least > 2000 {
			t.Errorf("painted after %.0f ms, want 2,000 at most", least)
		}
	})
	// From the event to the frame that shows what it did.
	measured := func(script string) float64 {
		return value[float64](b, `
			const from = performance.now();
			`+script+`
			return await new Promise((done) => requestAnimationFrame(() => {
				const channel = new MessageChannel();
				channel.port1.onmessage = () => done(performance.now() - from); // after the frame was drawn
				channel.port2.postMessage(null);
			}))`)
	}
	for _, c := range []struct{ name, why, once, each string }{
		{"filter", "a letter is typed", ``, `
			const field = document.querySelector('#filter-text');
			field.value = field.value === 'roof' ? 'wall' : 'roof';
			field.dispatchEvent(new Event('input', { bubbles: true }));`},
		{"filter for nothing", "every content is read to its end", ``, `
			const field = document.querySelector('#filter-text');
			field.value = field.value + 'x';
			field.dispatchEvent(new Event('input', { bubbles: true }));`},
		{"sort by numbers", "a heading is pressed", ``, `document.querySelector('th[data-column="tokens"] button').click();`},
		{"sort by text", "texts compare slower", ``, `document.querySelector('th[data-column="line"] button').click();`},
		{"slider", "everything is redrawn", `document.querySelector('th[data-column="place-0"] button').click()`, `
			const slider = document.querySelector('#slider-0');
			slider.value = Number(slider.value) >= Number(slider.max) - 1 ? 0 : Number(slider.value) + 1;
			slider.dispatchEvent(new Event('input', { bubbles: true }));`},
		{"slider at its end", "the largest window", `
			const slider = document.querySelector('#slider-0');
			slider.value = Number(slider.max) - 3;
			slider.dispatchEvent(new Event('input', { bubbles: true }))`, `
			const slider = document.querySelector('#slider-0');
			slider.value = Number(slider.value) === Number(slider.max) ? Number(slider.max) - 1 : slider.max;
			slider.dispatchEvent(new Event('input', { bubbles: true }));`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.do(`document.querySelector('#filter-clear').click(); ` + c.once)
			b.frame()
			var times []float64
			for range rounds {
				times = append(times, measured(c.each))
				b.frame()
			}
			slices.Sort(times)
			t.Logf("%s: least %.0f ms, median %.0f ms", c.why, times[0], times[rounds/2])
			if times[0] > 100 {
				t.Errorf("%s: %s ms, want 100 at most", c.why, fmt.Sprintf("%.0f", times[0]))
			}
		})
	}
}

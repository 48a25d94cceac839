package inspector

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

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
		if got := value[int](b, `return document.querySelectorAll('*').length`); got > 6500 {
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

package inspector

import (
	"cmp"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
				require.NoError(t, err)
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
		assert.LessOrEqual(t, value[int](b, `return document.querySelectorAll('*').length`), 6500, step.why)
		got := len(b.rows())
		assert.GreaterOrEqual(t, got, 20, step.why)
		assert.LessOrEqual(t, got, 100, step.why)
	}
	b.click("#filter-clear")
	b.focus("#grid")
	b.keys(kb.Home)
	largest := s.indexes(func(i int, _ *cupel.ContextItem) bool { return true })
	slices.SortStableFunc(largest, func(x, y int) int { return cmp.Compare(s.items[y].Tokens(), s.items[x].Tokens()) })
	got := b.rows()[0]
	assert.Equal(t, s.items[largest[0]].Tokens(), s.items[got].Tokens(), "item %d", got)
	assert.Regexp(t, "^10,000 candidates", b.count())
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
		require.GreaterOrEqual(t, len(seen), 15, "at %v of the table", share)
		for i, row := range seen {
			require.Equal(t, seen[0]+i, row, "at %v of the table", share)
		}
		middle := seen[len(seen)/2]
		assert.InDelta(t, share*many, float64(middle), 40, "at %v of the table", share)
	}
}

package inspector

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupelinspect"
)

// pair is two selections of the same items: by age, and by size of priority.
func pair(t *testing.T) (a, b *subject) {
	t.Helper()
	items := candidates(40)
	other := usual()
	other.Scorer = scorer.Priority{}
	sweep := cupelinspect.WithSweep(200, 1200, 21)
	return inspect(t, usual(), items, 600, cupelinspect.WithName("mostly age"), sweep), inspect(t, other, items, 600, cupelinspect.WithName("priority"), sweep)
}

func TestTwoSelections(t *testing.T) {
	a, z := pair(t)
	inA, inB := numbers(a.report(t).Included...), numbers(z.report(t).Included...)
	in := slices.Contains[[]int]
	for _, c := range []struct {
		name, why, filter string
		holds             func(i int) bool
		mark              string // class of all these rows
	}{
		{"all", "every candidate is one row", "All candidates", func(int) bool { return true }, ""},
		{"differ", "what only one of them included", "Differ", func(i int) bool { return in(inA, i) != in(inB, i) }, "in"},
		{"only A", "and which of them", "Only in A", func(i int) bool { return in(inA, i) && !in(inB, i) }, "only-0"},
		{"only B", "and which of them", "Only in B", func(i int) bool { return in(inB, i) && !in(inA, i) }, "only-1"},
		{"both", "what both took", "In both", func(i int) bool { return in(inA, i) && in(inB, i) }, "in"},
		{"neither", "what neither took", "In neither", func(i int) bool { return !in(inA, i) && !in(inB, i) }, "out"},
		{"the window of B", "each side filters on its own", "B: In the window", func(i int) bool { return in(inB, i) }, "in"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, c.why, a.selection, z.selection)
			b.choose("#filter-state", c.filter)
			want := a.indexes(func(i int, _ *cupel.ContextItem) bool { return c.holds(i) })
			got := b.rows()
			slices.Sort(got)
			assert.Equal(t, want, got)
			assert.NotEmpty(t, want)
			if c.mark != "" {
				assert.Equal(t, len(want), value[int](b, `return document.querySelectorAll('#grid tbody tr.' + a).length`, c.mark), c.mark)
			}
		})
	}
}

func TestTwoSelectionsStandSideBySide(t *testing.T) {
	a, z := pair(t)
	b := open(t, "side by side", a.selection, z.selection)
	type box struct{ Left, Right, Top, Width float64 }
	boxes := func(selector string) []box {
		return value[[]box](b, `return [...document.querySelectorAll(a)].map((node) => { const r = node.getBoundingClientRect(); return { Left: r.left, Right: r.right, Top: r.top, Width: r.width } })`, selector)
	}
	for _, selector := range []string{".headline", ".overview", ".plot", ".budget-side"} {
		got := boxes(selector)
		require.Len(t, got, 2, selector)
		assert.LessOrEqual(t, got[0].Right, got[1].Left, selector)
		assert.InDelta(t, got[0].Width, got[1].Width, 1, selector)
		assert.InDelta(t, got[0].Top, got[1].Top, 60, selector)
	}
	for side, s := range []*subject{a, z} {
		assert.Equal(t, numbers(s.report(t).Included...), b.window(side), "side %d", side)
	}
	b.resize(420, 900)
	got := boxes(".plot")
	require.Less(t, got[0].Top, got[1].Top)
	assert.LessOrEqual(t, got[1].Left, 60.0)
	assert.False(t, value[bool](b, `return document.documentElement.scrollWidth > innerWidth`), "the page scrolls sideways")
}

func TestTwoSliders(t *testing.T) {
	a, z := pair(t)
	for _, c := range []struct {
		name, why string
		press     func(b *tab)
		atA, atB  int
	}{
		{"together", "both look at the same budget", func(b *tab) { b.focus("#slider-0"); b.keys(kb.ArrowRight, kb.ArrowRight) }, 700, 700},
		{"together, from B", "from either side", func(b *tab) { b.focus("#slider-1"); b.keys(kb.End) }, 1200, 1200},
		{"apart", "unless the reader wants them apart", func(b *tab) {
			b.click("#together")
			b.focus("#slider-0")
			b.keys(kb.ArrowLeft)
			b.focus("#slider-1")
			b.keys(kb.ArrowRight)
		}, 550, 650},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, c.why, a.selection, z.selection)
			c.press(b)
			fields := value[[]string](b, `return [...document.querySelectorAll('.budget-field')].map((field) => field.value)`)
			assert.Equal(t, []string{fmt.Sprint(c.atA), fmt.Sprint(c.atB)}, fields)
			assert.Equal(t, numbers(a.at(t, c.atA).Included...), b.window(0))
			assert.Equal(t, numbers(z.at(t, c.atB).Included...), b.window(1))
		})
	}
}

// TestScoresOfParts: two selections have many columns, so that the parts of
// their scores are shown on request.
func TestScoresOfParts(t *testing.T) {
	a, z := pair(t)
	b := open(t, "columns on demand", a.selection, z.selection)
	columns := func() (heads, cells int) {
		return value[int](b, `return [...document.querySelectorAll('#grid th')].filter((th) => th.checkVisibility()).length`),
			value[int](b, `return [...document.querySelector('#grid tr[data-row]').cells].filter((td) => td.checkVisibility()).length`)
	}
	heads, cells := columns()
	b.click("#show-parts")
	moreHeads, moreCells := columns()
	assert.Equal(t, cells, heads)
	assert.Equal(t, moreCells, moreHeads)
	assert.Equal(t, heads+2, moreHeads, "A has two parts, B is no composite")
}

// TestColumnsHaveRoom checks that the first lines take all the space that the
// other columns leave.
func TestColumnsHaveRoom(t *testing.T) {
	a, z := pair(t)
	for _, c := range []struct {
		name, why  string
		selections []*cupelinspect.Selection
		width      int64
	}{
		{"one", "all columns", []*cupelinspect.Selection{a.selection}, 1440},
		{"two", "without the scores of parts", []*cupelinspect.Selection{a.selection, z.selection}, 1440},
		{"narrow", "without the minor columns", []*cupelinspect.Selection{a.selection, z.selection}, 420},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, c.why, c.selections...)
			b.resize(c.width, 900)
			for _, filter := range []string{"", "no such thing"} {
				b.typeFilter(filter)
				room := value[[]float64](b, `const last = document.querySelector('#grid th:last-child').getBoundingClientRect(); return [last.width, document.querySelector('#grid').getBoundingClientRect().right - last.right]`)
				require.GreaterOrEqual(t, room[0], 250.0, filter)
				assert.LessOrEqual(t, room[1], 1.0, filter)
			}
			b.click("#filter-clear")
		})
	}
}

// TestTokensOfTwoTokenizers: the counts of both are shown, each in its place.
func TestTokensOfTwoTokenizers(t *testing.T) {
	selection := func(tokens int) *cupelinspect.Selection {
		items := []*cupel.ContextItem{must(cupel.NewContextItem("item 00000", tokens)), must(cupel.NewContextItem("item 00001", 10))}
		return inspect(t, usual(), items, 600).selection
	}
	b := open(t, "two tokenizers", selection(12), selection(15))
	cell := func(column string) string {
		return value[string](b, `const at = [...document.querySelectorAll('#grid th')].findIndex((th) => th.dataset.column === a); return document.querySelector('#grid tr[data-row="0"]').cells[at].textContent`, column)
	}
	assert.Equal(t, "12", cell("tokens-0"))
	assert.Equal(t, "15", cell("tokens-1"))
	b.click(`#grid tr[data-row="0"]`)
	assert.Contains(t, value[string](b, `return document.querySelector('#details').innerText.replaceAll(/\s+/g, ' ')`), "Tokens in A 12 Tokens in B 15")
}

// TestTwoSelectionsOfOtherCandidates: a row stands for a candidate of either.
func TestTwoSelectionsOfOtherCandidates(t *testing.T) {
	items := candidates(40)
	a, z := inspect(t, usual(), items[:25], 600), inspect(t, usual(), items[15:], 600)
	b := open(t, "ten in common", a.selection, z.selection)
	inA, inB := numbers(a.report(t).Included...), numbers(z.report(t).Included...)
	line := func() []int {
		return value[[]int](b, `return [...document.querySelectorAll('#grid tr[data-row] .line-text')].map((node) => Number(/item (\d+)/.exec(node.textContent)[1])).sort((x, y) => x - y)`)
	}
	var both, swings, outOfB []int
	for i := range items {
		if slices.Contains(inA, i) && slices.Contains(inB, i) {
			both = append(both, i)
		} else if slices.Contains(inA, i) || slices.Contains(inB, i) {
			swings = append(swings, i)
		}
		if i >= 15 && !slices.Contains(inB, i) {
			outOfB = append(outOfB, i)
		}
	}
	all := make([]int, len(items))
	for i := range all {
		all[i] = i
	}
	for _, c := range []struct {
		name, why string
		want      []int
	}{
		{"All candidates", "those in common are one row", all},
		{"In both", "what both took", both},
		{"Differ", "a side without the candidate did not include it", swings},
		{"B: Left out", "a side without the candidate did not leave it out either", outOfB},
	} {
		b.choose("#filter-state", c.name)
		assert.Equal(t, c.want, line(), "%s, since %s", c.name, c.why)
	}
	b.click("#filter-clear")
	b.typeFilter("item 00039")
	b.click("#grid tr[data-row]")
	assert.Contains(t, b.text("#details .verdict"), "Not among the candidates.")
}

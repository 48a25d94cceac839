package inspector

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// focused describes the focused element and whether its focus is visible.
type focused struct {
	Name    string // a selector of sorts
	Visible bool
}

// where is what has the focus. It is seen by an outline of two pixels at least,
// by the outline of what stands for a control that is drawn by a sibling, by the
// row of the table or by the block of the map that the keyboard is at.
func (b *tab) where() focused {
	b.t.Helper()
	return value[focused](b, `
		const at = document.activeElement;
		const name = at === document.body ? 'body' : at.id || at.dataset.column || (at.closest('th')?.dataset.column ? 'th ' + at.closest('th').dataset.column : '')
			|| (at.dataset.kind ? 'legend' : '') || (at.matches('input[type=radio]') ? at.value : '') || at.className || at.textContent.slice(0, 20) || at.tagName;
		const seen = (node) => {
			const style = node && getComputedStyle(node);
			return Boolean(style) && style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 && !style.outlineColor.endsWith(', 0)');
		};
		const inside = at.querySelector?.('tr.active td, .strip-here');
		const mark = inside && (inside.tagName === 'TD' ? getComputedStyle(inside).boxShadow !== 'none' : getComputedStyle(inside).stroke !== 'none');
		return { Name: String(name), Visible: seen(at) || seen(at.nextElementSibling) || Boolean(mark) }`)
}

func TestTheKeyboardReachesEverything(t *testing.T) {
	s := plain(t)
	b := open(t, "no mouse", s.selection)
	var seen []string
	for range 200 {
		b.keys(kb.Tab)
		at := b.where()
		if at.Name == "body" {
			break
		}
		seen = append(seen, at.Name)
		assert.True(t, at.Visible, "the focus of %q is not visible", at.Name)
	}
	// In this order, with others between them.
	rest := seen
	for _, want := range []string{"skip", "auto", "slider-0", "budget-field", "strip-0", "fact", "message", "advanced-title", "legend", "filter-text", "filter-kind", "filter-state", "filter-clear", "grid", "th place-0", "th line", "link"} {
		i := slices.Index(rest, want)
		require.GreaterOrEqual(t, i, 0, "the tab key does not come to %q after what was before; it comes to %q", want, seen)
		rest = rest[i+1:]
	}
}

func TestKeys(t *testing.T) {
	s := plain(t)
	open := func(t *testing.T, why string) *tab { t.Helper(); return open(t, why, s.selection) }
	active := func(b *tab) int {
		return value[int](b, `const tr = document.getElementById(document.querySelector('#grid').getAttribute('aria-activedescendant')); return tr.classList.contains('active') ? Number(tr.dataset.at) : -1`)
	}
	details := func(b *tab) string {
		return value[string](b, `const d = document.querySelector('#details'); return d.open ? d.querySelector('.drawer-head span').textContent : 'closed'`)
	}
	for _, c := range []struct {
		name, why string
		test      func(t *testing.T, b *tab)
	}{
		{"slash", "goes to the search from anywhere", func(t *testing.T, b *tab) {
			t.Helper()
			b.focus("#slider-0")
			b.keys("/")
			assert.Equal(t, "fact", b.where().Name)
			b.keys("/")
			assert.Equal(t, "/", value[string](b, `return document.querySelector('#fact').value`), "a slash in the search itself is text")
		}},
		{"arrows in the table", "move the row, and it stays in view", func(t *testing.T, b *tab) {
			t.Helper()
			b.focus("#grid")
			b.keys(kb.ArrowDown, kb.ArrowDown, kb.ArrowDown, kb.ArrowUp)
			assert.Equal(t, 2, active(b))
			b.keys(kb.End)
			assert.Equal(t, 39, active(b))
			inView := value[bool](b, `
				const row = document.querySelector('#grid tr.active').getBoundingClientRect();
				const box = document.querySelector('.scroller').getBoundingClientRect();
				return row.top >= box.top && row.bottom <= box.bottom + 1`)
			assert.True(t, inView, "the active row is out of view")
			b.keys(kb.Home, kb.PageDown)
			got := active(b)
			assert.GreaterOrEqual(t, got, 10)
			assert.LessOrEqual(t, got, 30)
		}},
		{"enter and escape", "open and close the details, and the focus comes back", func(t *testing.T, b *tab) {
			t.Helper()
			b.focus("#grid")
			b.keys(kb.ArrowDown, kb.Enter)
			assert.Equal(t, "2 of 40", details(b))
			assert.True(t, value[bool](b, `return document.querySelector('#details').contains(document.activeElement)`), "the focus is not in the details")
			b.keys(kb.Escape)
			assert.Equal(t, "closed", details(b))
			assert.Equal(t, "grid", b.where().Name)
		}},
		{"arrows in the details", "go on to the next row", func(t *testing.T, b *tab) {
			t.Helper()
			b.focus("#grid")
			b.keys(kb.Enter, kb.ArrowRight, kb.ArrowRight, kb.ArrowRight, kb.ArrowLeft)
			assert.Equal(t, "3 of 40", details(b))
			b.keys(kb.Escape)
			assert.Equal(t, 2, active(b))
		}},
		{"the last of the details", "its button has no focus to keep, and the arrows still lead back", func(t *testing.T, b *tab) {
			t.Helper()
			b.focus("#grid")
			b.keys(kb.End, kb.ArrowUp, kb.Enter)
			b.focus(`#details [data-step="1"]`)
			b.keys(kb.Enter)
			assert.Equal(t, "40 of 40", details(b))
			b.keys(kb.ArrowLeft, kb.ArrowLeft)
			assert.Equal(t, "38 of 40", details(b))
		}},
		{"enter in the filter", "sends no form anywhere, which the policy would refuse", func(t *testing.T, b *tab) {
			t.Helper()
			b.typeFilter("roof")
			b.keys(kb.Enter)
			assert.Equal(t, "filter-text", b.where().Name)
		}},
		{"sorting and filtering", "the row that the keyboard is at stays the same", func(t *testing.T, b *tab) {
			t.Helper()
			item := func() int {
				return value[int](b, `return Number(document.querySelector('#grid tr.active').dataset.row)`)
			}
			b.focus("#grid")
			b.keys(kb.ArrowDown, kb.ArrowDown)
			was := item()
			b.do(`document.querySelector('th[data-column="line"] button').click()`)
			assert.Equal(t, was, item())
			b.typeFilter(fmt.Sprintf("%05d", was))
			assert.Equal(t, was, item())
			assert.Zero(t, active(b))
			b.focus("#slider-0")
			b.keys(kb.Home)
			assert.Equal(t, was, item())
		}},
		{"the strip", "arrows go from item to item, enter opens it", func(t *testing.T, b *tab) {
			t.Helper()
			window := numbers(s.report(t).Included...)
			b.focus("#strip-0")
			b.keys(kb.Home, kb.ArrowRight, kb.ArrowRight)
			label := value[string](b, `return document.getElementById(document.querySelector('#strip-0').getAttribute('aria-activedescendant')).getAttribute('aria-label')`)
			assert.Contains(t, label, fmt.Sprintf("item %05d:", window[2]))
			b.keys(kb.Enter)
			assert.Equal(t, s.items[window[2]].Content(), b.text("#messages pre"))
			assert.Equal(t, window[2], value[int](b, `return Number(document.activeElement.closest('.step').dataset.row)`))
			b.focus("#strip-0")
			b.keys(kb.End)
			assert.Equal(t, grouped(len(s.items)), value[string](b, `return document.querySelector('#strip-0 [role=option]').getAttribute('aria-posinset')`))
		}},
		{"headings", "sort by the keyboard", func(t *testing.T, b *tab) {
			t.Helper()
			b.focus(`th[data-column="tokens"] button`)
			b.keys(kb.Enter)
			assert.Equal(t, "descending", value[string](b, `return document.querySelector('th[data-column="tokens"]').getAttribute('aria-sort')`))
			assert.Equal(t, "th tokens", b.where().Name)
		}},
		{"escape in the filter", "shows all again", func(t *testing.T, b *tab) {
			t.Helper()
			b.typeFilter("roof")
			b.keys(kb.Escape)
			assert.Len(t, b.rows(), 40)
		}},
		{"back to the run", "the button is disabled then, and the focus goes to the slider", func(t *testing.T, b *tab) {
			t.Helper()
			b.focus("#slider-0")
			b.keys(kb.End)
			b.focus(".budget-side button")
			b.keys(kb.Enter)
			b.keys(kb.ArrowRight)
			assert.Equal(t, "slider-0", b.where().Name)
			assert.Equal(t, "650", value[string](b, `return document.querySelector('.budget-field').value`))
		}},
		{"a legend", "the focus stays on a kind that filters", func(t *testing.T, b *tab) {
			t.Helper()
			b.focus(`[data-kind="2"]`)
			b.keys(kb.Enter)
			assert.Equal(t, "legend", b.where().Name)
			assert.Equal(t, "true", value[string](b, `return document.querySelector('[data-kind="2"]').getAttribute('aria-pressed')`))
		}},
		{"colours", "the choice is made with the arrows", func(t *testing.T, b *tab) {
			t.Helper()
			b.focus("#theme input")
			b.keys(kb.ArrowRight, kb.ArrowRight)
			assert.Equal(t, "dark", value[string](b, `return getComputedStyle(document.documentElement).colorScheme`))
			b.do(`localStorage.clear()`)
		}},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t, c.why)) })
	}
}

// TestPressesOutsideTheDetails checks that a press outside the details closes
// them, and that selecting text past their edge does not.
func TestPressesOutsideTheDetails(t *testing.T) {
	b := open(t, "the mouse", plain(t).selection)
	b.click(`#grid tr[data-row="0"]`)
	at := value[[]float64](b, `const r = document.querySelector('#details pre').getBoundingClientRect(); return [r.left + 20, r.top + 10]`)
	mouse := func(kind input.DispatchMouseEventType, x, y float64) {
		b.run(command(input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1}))
	}
	isOpen := func() bool { return value[bool](b, `return document.querySelector('#details').open`) }
	mouse(input.DispatchMouseEventTypeMousePressed, at[0], at[1])
	mouse(input.DispatchMouseEventTypeMouseMoved, 100, at[1])
	mouse(input.DispatchMouseEventTypeMouseReleased, 100, at[1])
	b.frame()
	assert.True(t, isOpen(), "selecting text closes the details")
	mouse(input.DispatchMouseEventTypeMousePressed, 100, at[1])
	mouse(input.DispatchMouseEventTypeMouseReleased, 100, at[1])
	b.frame()
	assert.False(t, isOpen(), "a press outside the details leaves them open")
}

func TestTheKeyboardLeavesNothingBehind(t *testing.T) {
	s := plain(t)
	b := open(t, "backwards", s.selection)
	b.focus("#filter-text")
	b.shiftTab()
	at := b.where()
	assert.NotEqual(t, "body", at.Name)
	assert.NotEqual(t, "filter-text", at.Name)
}

// TestScreenReaders checks the output of screen readers: the table names its
// columns and gives the number of all rows, although few exist; there are few
// live regions, and each step of the slider is announced once.
func TestScreenReaders(t *testing.T) {
	b := open(t, "read aloud", plain(t).selection)
	b.focus("#strip-0")
	b.frame()
	var tree []*accessibility.Node
	b.run(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		result, err := cdp.Call(ctx, target, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		if err == nil {
			tree = result.Nodes
		}
		return err
	}))
	text := func(v *accessibility.Value) (s string) {
		if v != nil {
			_ = json.Unmarshal(v.Value, &s) // numbers are no text
		}
		return s
	}
	names := map[string][]string{}
	for _, node := range tree {
		if !node.Ignored {
			role := text(node.Role)
			names[role] = append(names[role], text(node.Name))
		}
	}
	for role, want := range map[string][]string{
		"slider": {"Budget"}, "spinbutton": {"Budget in tokens"}, "searchbox": {"Where did it go?", "Filter"}, "combobox": {"Kind", "Show"}, "radio": {"Auto", "Light", "Dark"},
		"checkbox": {"Scores of parts"}, "grid": {"Candidates"}, "table": {"Reasons", "Stages"}, "search": {"Where a value went", "Filter the candidates"},
		"listbox": {"The whole list, drawn to scale"},
	} {
		assert.Equal(t, want, names[role], role)
	}
	heads := []string{"Position in the prompt", "Rank by score", "Kind", "Source", "Tokens", "Score", "Recency, weight 0.75", "Priority, weight 0.25", "Reason", "First line"}
	got := names["columnheader"]
	require.GreaterOrEqual(t, len(got), len(heads))
	assert.Equal(t, heads, got[:len(heads)])
	got = names["option"]
	assert.True(t, slices.ContainsFunc(got, func(name string) bool { return strings.Contains(name, "item 00000") }), "the strip's item is not among %q", got)
	assert.NotContains(t, names["button"], "")
	assert.Len(t, names["status"], 3, "those of the search, the filter and the copy")
	b.typeFilter("item 0000")
	rows := value[[]string](b, `return [document.querySelector('#grid').getAttribute('aria-rowcount'), ...[...document.querySelectorAll('#grid [aria-rowindex]')].map((tr) => tr.getAttribute('aria-rowindex'))]`)
	assert.Equal(t, []string{"11", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"}, rows)
	// Each step of the slider must leave alone what has not changed.
	spoken := value[int](b, `
		let changes = 0;
		const observer = new MutationObserver((list) => { changes += list.length; });
		for (const node of document.querySelectorAll('output, [role=status], [role=alert], [aria-live]')) observer.observe(node, { childList: true, characterData: true, subtree: true });
		const slider = document.querySelector('#slider-0');
		for (let i = 10; i < 20; i++) {
			slider.value = i;
			slider.dispatchEvent(new Event('input', { bubbles: true }));
		}
		await new Promise((done) => setTimeout(done));
		return changes`)
	assert.Zero(t, spoken, "steps of the slider interrupt")
}

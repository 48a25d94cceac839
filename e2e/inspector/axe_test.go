package inspector

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupelinspect"
)

// TestAccessibility has axe-core look at the page, in both themes and at two
// widths, by the rules of WCAG A and AA and the practices that it calls best.
func TestAccessibility(t *testing.T) {
	chromium(t)
	axe, err := os.ReadFile(filepath.Join("..", "..", "tools", "page", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		require.Empty(t, os.Getenv("CI"), "axe-core is missing: npm --prefix tools/page ci installs it")
		t.Skip("NOT TESTED: npm --prefix tools/page ci installs axe-core")
	}
	list, words := rainbow(t), talk(t)
	ofSession, _ := turns(t)
	smaller := inspect(t, words.pipeline.Config(), words.items, 900)
	b := newTab(t)
	inspected := func(name, rules string) {
		t.Helper()
		assert.Empty(t, value[[]string](b, `
			await Promise.all(document.getAnimations().map((a) => a.finished));
			const { violations } = await axe.run(document, { resultTypes: ['violations'], runOnly: a.split(' ') });
			return violations.flatMap((rule) => rule.nodes.map((node) => rule.id + ': ' + node.html.slice(0, 160) + ' ' + node.failureSummary.slice(0, 200)))`, rules), name)
	}
	for _, c := range []struct {
		name       string
		selections []*cupelinspect.Selection
	}{
		{"a list", []*cupelinspect.Selection{list.selection}},
		{"a conversation", []*cupelinspect.Selection{words.selection}},
		{"a recorded conversation", []*cupelinspect.Selection{bakery(t).selection}},
		{"turns", ofSession},
		{"two selections", []*cupelinspect.Selection{smaller.selection, words.selection}},
	} {
		b.resize(1280, 900)
		b.prefer("prefers-color-scheme", "light")
		b.show(write(t, c.name, c.selections...))
		if c.name != "turns" { // reports have no other budgets
			b.goTo(900)
		}
		b.unfold()
		b.do(`const field = document.querySelector('#fact'); field.value = 'o'; field.dispatchEvent(new Event('input', { bubbles: true }))`)
		b.run(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			_, err := chromedp.Run(ctx, chromedp.Evaluate[any](string(axe)+"; 0"))
			return err
		}))
		inspected(c.name, "wcag2a wcag2aa wcag21a wcag21aa wcag22aa best-practice")
		b.prefer("prefers-color-scheme", "dark")
		inspected(c.name+", dark", "color-contrast")
		b.resize(400, 900)
		inspected(c.name+", dark and narrow", "wcag2a wcag2aa wcag21a wcag21aa wcag22aa best-practice")
		b.do(`document.querySelector('#grid tr[data-row]').click()`)
		inspected(c.name+", details", "aria-dialog-name aria-required-children button-name color-contrast target-size")
	}
}

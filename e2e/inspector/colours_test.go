package inspector

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
)

// rgb is a color, each part from 0 to 1, linear.
type rgb [3]float64

// colour reads what getComputedStyle says, without transparency.
func colour(t *testing.T, text string) rgb {
	t.Helper()
	var c [3]int
	_, err := fmt.Sscanf(text, "rgb(%d, %d, %d)", &c[0], &c[1], &c[2])
	require.NoError(t, err, text)
	var linear rgb
	for i, v := range c {
		s := float64(v) / 255
		if s <= 0.04045 {
			linear[i] = s / 12.92
		} else {
			linear[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	return linear
}

func (c rgb) luminance() float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }

// contrast is the ratio of the Web Content Accessibility Guidelines.
func contrast(a, b rgb) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// vision is how people see linear colors, after Machado and others 2009.
var vision = map[string][9]float64{
	"all colours": {1, 0, 0, 0, 1, 0, 0, 0, 1},
	"no red":      {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
	"no green":    {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
	"no blue":     {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
}

func (c rgb) seen(m [9]float64) rgb {
	var out rgb
	for i := range out {
		out[i] = min(1, max(0, m[3*i]*c[0]+m[3*i+1]*c[1]+m[3*i+2]*c[2]))
	}
	return out
}

// distance is that of two colors in OKLab.
func distance(a, b rgb) float64 {
	lab := func(c rgb) [3]float64 {
		l := math.Cbrt(0.4122214708*c[0] + 0.5363325363*c[1] + 0.0514459929*c[2])
		m := math.Cbrt(0.2119034982*c[0] + 0.6806995451*c[1] + 0.1073969566*c[2])
		s := math.Cbrt(0.0883024619*c[0] + 0.2817188376*c[1] + 0.6299787005*c[2])
		return [3]float64{0.2104542553*l + 0.7936177850*m - 0.0040720468*s, 1.9779984951*l - 2.4285922050*m + 0.4505937099*s, 0.0259040371*l + 0.7827717662*m - 0.8086757660*s}
	}
	x, y := lab(a), lab(b)
	return math.Sqrt((x[0]-y[0])*(x[0]-y[0]) + (x[1]-y[1])*(x[1]-y[1]) + (x[2]-y[2])*(x[2]-y[2]))
}

// rainbow is a selection with more kinds than there are colors.
func rainbow(t *testing.T) *subject {
	t.Helper()
	kinds := []cupel.ContextKind{cupel.KindSystemPrompt, cupel.KindMessage, cupel.KindDocument, cupel.KindToolOutput, cupel.KindMemory, "Code", "Issue", "Log", "Wiki", "Mail"}
	items := make([]*cupel.ContextItem, 3*len(kinds))
	for i := range items {
		items[i] = must(cupel.NewContextItem(fmt.Sprintf("item %05d\u202E: a %s", i, kinds[i%len(kinds)]), 20+i, cupel.WithKind(kinds[i%len(kinds)]), cupel.WithTags("tag"), cupel.WithMetadata(map[string]any{"k": "v"})))
	}
	return inspect(t, pipeline.Config{Scorer: scorer.Frequency{}, Slicer: slicer.Greedy{}, Placer: placer.UShaped{}}, items, 1000)
}

// schemes are the ways to light and dark.
var schemes = []struct {
	name, why string
	choose    func(b *tab)
	dark      bool
}{
	{"the system is light", "the page follows it", func(b *tab) { b.prefer("prefers-color-scheme", "light") }, false},
	{"the system is dark", "the page follows it", func(b *tab) { b.prefer("prefers-color-scheme", "dark") }, true},
	{"dark against the system", "the reader knows better", func(b *tab) {
		b.prefer("prefers-color-scheme", "light")
		b.do(`document.querySelector('#theme [value=dark]').click(); localStorage.clear()`)
		b.frame()
	}, true},
}

// TestColours leaves the contrast of texts to TestAccessibility.
func TestColours(t *testing.T) {
	chromium(t) // skips all of it, the comparison below included
	s := rainbow(t)
	paper := map[bool]string{}
	for _, c := range schemes {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, c.why, s.selection)
			c.choose(b)
			paper[c.dark] = value[string](b, `return getComputedStyle(document.body).backgroundColor`)
			assert.Equal(t, c.dark, colour(t, paper[c.dark]).luminance() < 0.1, paper[c.dark])
			b.goTo(1)
			checkKinds(t, b)
		})
	}
	assert.NotEqual(t, paper[true], paper[false])
}

// checkKinds: people who do not see all colors tell the kinds apart, and
// everybody sees the blocks on the card. Kinds beyond the eighth are hatched.
func checkKinds(t *testing.T, b *tab) {
	t.Helper()
	card := colour(t, value[string](b, `return getComputedStyle(document.querySelector('.card')).backgroundColor`))
	names := value[[]string](b, `return [...document.querySelectorAll('.legend .chip')].slice(0, 8).map((chip) => getComputedStyle(chip).backgroundColor)`)
	for i, x := range names {
		assert.GreaterOrEqual(t, contrast(colour(t, x), card), 3.0, "colour %d", i)
		for j, y := range names[:i] {
			for who, m := range vision {
				assert.GreaterOrEqual(t, distance(colour(t, x).seen(m), colour(t, y).seen(m)), 0.07, "who sees %s takes colour %d for %d", who, i, j)
			}
		}
	}
	letters := value[[]string](b, `return [...document.querySelectorAll('.legend button .chip')].map((chip) => chip.textContent)`)
	for i, letter := range letters {
		assert.NotContains(t, strings.Join(letters[:i], ""), letter)
		assert.NotEmpty(t, letter)
	}
	assert.Equal(t, len(letters)-8, value[int](b, `return [...document.querySelectorAll('.legend button .chip')].filter((chip) => getComputedStyle(chip).backgroundImage !== 'none').length`))
}

// TestForcedColours: where the system takes away backgrounds and shadows, what
// they say is said otherwise.
func TestForcedColours(t *testing.T) {
	b := open(t, "high contrast", plain(t).selection)
	b.prefer("forced-colors", "active")
	b.focus("#grid")
	b.do(`document.querySelector('[data-kind="1"]').click()`)
	b.frame()
	for _, c := range []struct{ name, why, script string }{
		{"active row", "the keyboard is somewhere", `const s = getComputedStyle(document.querySelector('#grid tr.active')); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2`},
		{"stages", "bars are their background", `return background('.time-bar') !== background('.card')`},
		{"blocks", "the kinds keep their colours", `return background('.bar .piece') !== background('.card') && background('.chip') !== background('.card')`},
		{"pressed", "one kind alone is shown", `return background('[data-kind="1"]') !== background('[data-kind="2"]')`},
		{"chosen colours", "one of three", `return background('#theme :checked + span') !== background('#theme input:not(:checked) + span')`},
		{"track", "the slider slides on something", `const sheet = [...document.styleSheets[0].cssRules].find((rule) => rule.conditionText === '(forced-colors: active)'); return [...sheet.cssRules].some((rule) => rule.selectorText?.includes('slider-runnable-track') && rule.style.background) && getComputedStyle(document.querySelector('#slider-0')).forcedColorAdjust === 'none'`},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.True(t, value[bool](b, `const background = (selector) => getComputedStyle(document.querySelector(selector)).backgroundColor; `+c.script), c.why)
		})
	}
}

func TestReducedMotion(t *testing.T) {
	s := plain(t)
	for _, c := range []struct {
		prefers, why string
		moves        bool
	}{
		{"no-preference", "the details arrive", true},
		{"reduce", "nothing moves", false},
	} {
		t.Run(c.prefers, func(t *testing.T) {
			b := open(t, c.why, s.selection)
			b.prefer("prefers-reduced-motion", c.prefers)
			b.click(`#grid tr[data-row="3"]`)
			moving := value[[]string](b, `
				return [...document.querySelectorAll('*')].filter((node) => {
					const style = getComputedStyle(node);
					return style.animationName !== 'none' || style.transitionDuration.split(', ').some((d) => d !== '0s') || style.scrollBehavior === 'smooth';
				}).map((node) => node.className || node.tagName)`)
			assert.Equal(t, c.moves, len(moving) > 0)
		})
	}
}

package inspector

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupelinspect"
)

// structure counts the elements of a document that content could add.
const structure = `
	const count = {};
	for (const node of document.querySelectorAll('script, style, link, meta, base, title, img, iframe, object, embed, form, svg, a, video, audio, template, math')) {
		const name = node.tagName.toLowerCase();
		if (name === 'svg') continue; // the page's own drawings
		count[name] = (count[name] ?? 0) + 1;
	}
	count.handlers = [...document.querySelectorAll('*')].filter((node) => [...node.attributes].some((a) => a.name.startsWith('on') || a.name === 'style' && node.closest('[id=data]'))).length;
	return count`

func TestHostileContentIsInert(t *testing.T) {
	// A server that must not get any request.
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()

	clean := value[map[string]int](open(t, "clean", hostile(t, "harmless").selection), structure)
	for _, c := range []struct{ name, why, content string }{
		{"script", "markup is text", `<script>window.owned = true; alert(1)</script>`},
		{"end of the data", "the element that holds the data cannot be ended", `</script><script>window.owned = true</script>`},
		{"comment and script", "the two that together change how a script ends", `<!--<script>window.owned = true`},
		{"end of the style", "nor can the style", `</style></title></textarea></pre><img src=x onerror="window.owned = true">`},
		{"handlers", "attributes are text", `<svg onload="window.owned = true"><b onmouseover=alert(1) autofocus tabindex=1 onfocus=window.owned=true>x</b>`},
		{"image", "nothing is loaded", `<img src="` + server.URL + `/a.png"><link rel=stylesheet href="` + server.URL + `/b.css">url(` + server.URL + `/c)`},
		{"frame and base", "nor anything else", `<base href="` + server.URL + `/"><iframe src="` + server.URL + `"></iframe><meta http-equiv=refresh content="0;url=` + server.URL + `">`},
		{"template", "other people's templates are text", `{{constructor.constructor('window.owned = true')()}} ${window.owned = true} <%= owned %> #{owned} [[owned]]`},
		{"address", "an address is no link", "javascript:window.owned=true"},
		{"quotes", "quotes end nothing", `"'` + "`" + `\"\u003c/script\u003e onclick=alert(1) "`},
		{"prototype", "names of JavaScript's own are names", `__proto__`},
		{"clobbering", "identifiers in content take nothing's place", `<form id=data><input name=textContent><img name=page id=grid>`},
		{"line separators", "U+2028 and U+2029 end no line of a script", "a\u2028window.owned=true\u2029b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := hostile(t, c.content)
			b := open(t, c.why+c.content, s.selection)
			b.click(`#grid tr[data-row="0"]`)
			want := strings.NewReplacer("\u2028", "⟪U+2028⟫", "\u2029", "⟪U+2029⟫").Replace(c.content)
			assert.Equal(t, want, b.text("#details pre"))
			b.keys("\u001b")
			b.typeFilter("a")
			b.do(`for (const node of document.querySelectorAll('button, td, .strip-box, .plot')) {
				for (const type of ['mouseover', 'pointermove', 'focus']) node.dispatchEvent(new MouseEvent(type, { bubbles: true }));
			}`)
			assert.False(t, value[bool](b, `return 'owned' in window`), "the content ran")
			assert.Equal(t, fmt.Sprint(clean), fmt.Sprint(value[map[string]int](b, structure)))
			title := value[string](b, `return document.title`)
			assert.True(t, strings.HasPrefix(title, c.why), title)
		})
	}
	assert.Zero(t, asked.Load())
}

// hostile returns an item with a text in every field that takes one.
func hostile(t *testing.T, text string) *subject {
	t.Helper()
	items := []*cupel.ContextItem{
		must(cupel.NewContextItem(text, 10, cupel.WithKind(cupel.ContextKind(text)), cupel.WithSource(cupel.ContextSource(text)), cupel.WithTags(text), cupel.WithTimestamp(noon),
			cupel.WithMetadata(map[string]any{text: text, "list": []any{text, map[string]any{text: text}}}))),
		must(cupel.NewContextItem("item 00001", 10, cupel.WithTimestamp(noon))),
	}
	return inspect(t, usual(), items, 600, cupelinspect.WithName(text))
}

func TestInvisibleCharactersAreShown(t *testing.T) {
	for _, c := range []struct{ name, why, content, want string }{
		{"bidi override", "an override turns no text around", "user\u202Etxt.exe", "user⟪U+202E⟫txt.exe"},
		{"bidi isolates", "nor do isolates and marks", "\u2066a\u2069\u200F\u200E\u061C", "⟪U+2066⟫a⟪U+2069⟫⟪U+200F⟫⟪U+200E⟫⟪U+061C⟫"},
		{"zero width", "what has no width is seen", "pass\u200Bword\uFEFF", "pass⟪U+200B⟫word⟪U+FEFF⟫"},
		{"controls", "escape sequences are seen", "\x1b[31mred\x07\x7f", "⟪U+001B⟫[31mred⟪U+0007⟫⟪U+007F⟫"},
		{"tags", "letters that only models read are seen", "hi\U000E0049\U000E0067", "hi⟪U+E0049⟫⟪U+E0067⟫"},
		{"soft hyphen", "it is no hyphen", "ab\u00ADcd", "ab⟪U+00AD⟫cd"},
		{"many", "a thousand of them are one badge", "x" + strings.Repeat("\u200B", 1000) + "y", "x⟪U+200B ×1,000⟫y"},
		{"joined emoji", "a family stays together", "👨\u200D👩\u200D👧 ❤\uFE0F", "👨\u200D👩\u200D👧 ❤\uFE0F"},
		{"Persian", "a joiner among letters is spelling", "می\u200Cخواهم", "می\u200Cخواهم"},
		{"joiner in ASCII", "and among ASCII it is not", "ad\u200Dmin", "ad⟪U+200D⟫min"},
		{"line ends", "those of Windows are line ends", "a\r\nb\tc", "a\r\nb\tc"},
		{"lone return", "a return alone is not", "a\rb", "a⟪U+000D⟫b"},
		{"not UTF-8", "what is no character is replaced", "a\xff\xfeb", "a\uFFFDb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			item := must(cupel.NewContextItem(c.content, 10, cupel.WithTimestamp(noon)))
			b := open(t, c.why, inspect(t, usual(), []*cupel.ContextItem{item}, 100).selection)
			b.click("#messages .message")
			assert.Equal(t, c.want, b.text("#messages pre"))
			isolated := value[[]string](b, `return [...document.querySelectorAll('#messages pre, .line-text bdi, .unseen-character')].map((node) => getComputedStyle(node).unicodeBidi)`)
			for _, how := range isolated {
				assert.Equal(t, "isolate", how)
			}
		})
	}
}

func TestLongContentsAreCutForDisplay(t *testing.T) {
	for _, c := range []struct{ name, why, content string }{
		{"a line of a megabyte", "a browser takes seconds to break it", strings.Repeat("A", 1<<20)},
		{"a word of combining marks", "they are drawn above each other", "Z" + strings.Repeat("\u0336", 1<<19)},
		{"a megabyte of controls", "badges are elements", strings.Repeat("\u202E\u202D", 1<<18)},
		{"half a million lines", "lines have their cost, too", strings.Repeat("\n.", 1<<19)},
	} {
		t.Run(c.name, func(t *testing.T) {
			item := must(cupel.NewContextItem(c.content, 10, cupel.WithTimestamp(noon)))
			b := open(t, c.why, inspect(t, usual(), []*cupel.ContextItem{item}, 100).selection)
			b.click("#messages .message")
			assert.LessOrEqual(t, value[int](b, `return document.body.innerText.length`), 60_000)
			assert.LessOrEqual(t, value[int](b, `return document.querySelectorAll('*').length`), 6000)
			assert.False(t, value[bool](b, `return document.documentElement.scrollWidth > innerWidth`), "the page scrolls sideways")
			assert.Contains(t, b.text("#messages"), "Show all")
		})
	}
}

// TestNothingIsAskedFor checks that a served page requests nothing but itself,
// not even an icon. The tab fails the test if it does.
func TestNothingIsAskedFor(t *testing.T) {
	s := plain(t)
	var paths atomic.Pointer[[]string]
	paths.Store(&[]string{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list := append(slices.Clone(*paths.Load()), r.URL.Path)
		paths.Store(&list)
		assert.NoError(t, cupelinspect.WriteHTML(w, "served", s.selection))
	}))
	defer server.Close()
	b := newTab(t)
	b.show(server.URL + "/")
	b.goTo(1200)
	b.click(`#grid tr[data-row="3"]`)
	b.keys("\u001b")
	assert.Len(t, b.rows(), 40)
	assert.Equal(t, []string{"/"}, *paths.Load())
}

func TestContentSecurityPolicy(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	for _, c := range []struct{ name, why, attempt string }{
		{"inline script", "only the page's own script runs", `const s = document.createElement('script'); s.textContent = 'window.owned = true'; document.body.append(s)`},
		{"script of others", "nor one from elsewhere", `const s = document.createElement('script'); s.src = a; document.body.append(s); await new Promise((r) => { s.onload = s.onerror = r })`},
		{"event handler", "attributes hold no script", `document.body.setAttribute('onclick', 'window.owned = true'); document.body.click(); document.body.removeAttribute('onclick')`},
		{"address of a script", "nor do addresses", `const l = document.createElement('a'); l.href = 'javascript:window.owned=true'; document.body.append(l); l.click()`},
		{"fetch", "no request is made", `await fetch(a).then(() => { window.owned = true }, () => {})`},
		{"image", "not even for a picture", `const i = document.createElement('img'); i.src = a; document.body.append(i); await new Promise((r) => { i.onload = i.onerror = r })`},
		{"frame", "nor for a frame", `const f = document.createElement('iframe'); f.src = a; document.body.append(f); await new Promise((r) => { f.onload = f.onerror = r; setTimeout(r, 300) })`},
		{"inline style", "style attributes are refused, too", `const d = document.createElement('div'); d.setAttribute('style', 'width: 7px'); document.body.append(d); if (d.style.width === '7px') window.owned = true`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t, c.why, plain(t).selection)
			b.do(`try { `+c.attempt+` } catch (refused) { /* the console says so, too */ } await new Promise((done) => setTimeout(done, 50))`, server.URL+"/x")
			assert.False(t, value[bool](b, `return 'owned' in window`), "it worked")
			troubles := b.takeTroubles()
			assert.Regexp(t, "Content Security Policy|This document requires 'Trusted", troubles)
			b.mu.Lock()
			b.requests = nil // what the policy stops is announced first
			b.mu.Unlock()
		})
	}
	assert.Zero(t, asked.Load())
	t.Run("another script", func(t *testing.T) {
		path := write(t, "a script that was changed in passing", plain(t).selection)
		html, err := os.ReadFile(path)
		require.NoError(t, err)
		changed := bytes.Replace(html, []byte("<script>"), []byte("<script> "), 1)
		require.NotEqual(t, string(changed), string(html))
		require.NoError(t, os.WriteFile(path, changed, 0o600))
		b := newTab(t)
		b.show(path)
		assert.Empty(t, b.rows())
		assert.NotEmpty(t, b.takeTroubles(), "the change was not detected")
	})
}

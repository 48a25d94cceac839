package inspector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupelinspect"
)

// browser is the one Chromium of all tests.
var browser struct {
	once   sync.Once
	ctx    context.Context // of the first tab, which stays empty
	cancel []context.CancelFunc
	dir    string
	err    error
	idle   []*tab // used by tests that have ended
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, cancel := range slices.Backward(browser.cancel) {
		cancel()
	}
	if browser.dir != "" {
		_ = os.RemoveAll(browser.dir) // a folder of the system's for such things
	}
	os.Exit(code)
}

// chromium returns the browser's path, or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("CUPEL_E2E_CHROMIUM"); path == "none" {
		t.Skip("CUPEL_E2E_CHROMIUM asks for no browser")
	} else if path != "" {
		_, err := exec.LookPath(path)
		require.NoError(t, err, "CUPEL_E2E_CHROMIUM names no program")
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("NOT TESTED: no Chromium was found; install one (on Debian: apt-get install chromium) or name it in CUPEL_E2E_CHROMIUM")
	return ""
}

func startBrowser(t *testing.T) context.Context {
	t.Helper()
	path := chromium(t)
	browser.once.Do(func() {
		browser.dir, browser.err = os.MkdirTemp("", "inspector") //nolint:usetesting // it outlives the test that starts it
		if browser.err != nil {
			return
		}
		options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
			chromedp.ExecPath(path), chromedp.UserDataDir(browser.dir), chromedp.NoSandbox, chromedp.DisableGPU,
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
			chromedp.WSURLReadTimeout(time.Minute), chromedp.WindowSize(1440, 900))
		allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...) //nolint:usetesting // see above
		browser.cancel = append(browser.cancel, cancel)
		browser.ctx, cancel = chromedp.NewContext(allocator)
		browser.cancel = append(browser.cancel, cancel)
		browser.err = chromedp.Do(browser.ctx)
	})
	require.NoError(t, browser.err, "the browser does not start")
	return browser.ctx
}

// tab is a tab of the browser and what happened in it.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string // of the page

	cancel context.CancelFunc // closes it

	shown map[string]bool // what URLs the tab was told to go to

	dialogs chan struct{} // to be closed

	mu       sync.Mutex
	requests []string // URLs asked for
	troubles []string // errors on the console, exceptions, dialogs
}

// newTab gives a tab to a test: one that no test uses, since to open one takes
// longer than most tests, or an empty one. What a page may never do fails the test when it
// ends: errors on the console, exceptions, dialogs, and requests but for itself.
func newTab(t *testing.T) *tab {
	t.Helper()
	parent := startBrowser(t)
	var b *tab
	if n := len(browser.idle); n > 0 {
		b, browser.idle = browser.idle[n-1], browser.idle[:n-1]
		b.t = t
	} else {
		b = openTab(parent, t)
	}
	t.Cleanup(b.leave)
	b.run(chromedp.EmulateViewport(1440, 900), command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme"}, {Name: "prefers-reduced-motion"}, {Name: "forced-colors"},
	}}))
	return b
}

func openTab(parent context.Context, t *testing.T) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(parent)
	b := &tab{t: t, ctx: ctx, cancel: cancel, dialogs: make(chan struct{}, 100), shown: make(map[string]bool)}
	require.NoError(t, chromedp.Listen(ctx, b.note))
	go b.closeDialogs()
	b.run(command(network.Enable, network.EnableParams{}), command(log.Enable, cdp.Empty{}), command(runtime.Enable, cdp.Empty{}),
		command(page.Enable, page.EnableParams{}),
		// One tab of many has the focus; each is to behave as if it had.
		command(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))
	return b
}

// leave says what a page did that it may not do, and gives the tab to the next
// test unless there was anything.
func (b *tab) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	assert.Empty(b.t, b.troubles)
	for _, url := range b.requests {
		assert.True(b.t, b.shown[url], "the page asked for %s", url)
	}
	if b.t.Failed() {
		b.cancel()
		return
	}
	b.requests = nil
	clear(b.shown)
	browser.idle = append(browser.idle, b)
}

// action is a step in a tab.
type action = chromedp.Action[chromedp.Void]

// command is a command of the protocol as an action.
func command[P any](c cdp.Command[P, cdp.Empty], params P) action {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// closeDialogs closes what a page may open, which would otherwise wait for ever.
func (b *tab) closeDialogs() {
	for {
		select {
		case <-b.ctx.Done():
			return
		case <-b.dialogs:
			_ = chromedp.Do(b.ctx, command(page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})) // or it is closed
		}
	}
}

func (b *tab) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *network.EventWebSocketCreated:
		b.requests = append(b.requests, e.URL)
	case *runtime.EventConsoleAPICalled:
		b.troubles = append(b.troubles, fmt.Sprintf("console.%s: %s", e.Type, e.Args[0].Value))
	case *runtime.EventExceptionThrown:
		b.troubles = append(b.troubles, "exception: "+e.ExceptionDetails.Text+" "+e.ExceptionDetails.Exception.Description)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.troubles = append(b.troubles, fmt.Sprintf("%s: %s", e.Entry.Source, e.Entry.Text))
		}
	case *page.EventJavascriptDialogOpening:
		b.troubles = append(b.troubles, "dialog: "+e.Message)
		select {
		case b.dialogs <- struct{}{}:
		default: // a page with a hundred of them may wait
		}
	}
}

// takeTroubles returns what there was so far and forgets it: the test expects it.
func (b *tab) takeTroubles() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.troubles
	b.troubles = nil
	return taken
}

func (b *tab) run(actions ...action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	require.NoError(b.t, chromedp.Do(ctx, actions...))
}

// open shows a page from a file, as a user does.
func open(t *testing.T, title string, selections ...*cupelinspect.Selection) *tab {
	t.Helper()
	b := newTab(t)
	b.show(write(t, title, selections...))
	return b
}

// advanced opens or closes what the page does not draw at first.
func (b *tab) advanced() {
	b.t.Helper()
	b.do(`document.querySelector('#advanced-title')?.click()`)
	b.frame()
	b.frame()
}

// show goes to a URL or a file, and opens all parts of its page.
func (b *tab) show(address string) {
	b.t.Helper()
	if filepath.IsAbs(address) {
		address = "file://" + address
	}
	b.url, b.shown[address] = address, true
	b.run(chromedp.Navigate(address))
	b.frame()
	// Drawings wait for the width of their boxes, which comes some frames later on
	// a busy machine. A drawing may have nothing to show.
	b.do(`for (let frame = 0; frame < 120 && (!document.querySelector('#page')?.childElementCount || [...document.querySelectorAll('.strip svg, .plot svg')].some((s) => !s.childElementCount)); frame++)
		await new Promise(requestAnimationFrame)`)
	b.advanced()
}

func write(t *testing.T, title string, selections ...*cupelinspect.Selection) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, errors.Join(cupelinspect.WriteHTML(file, title, selections...), file.Close()))
	return path
}

// value runs a script in a tab and returns what it gives, through JSON. The
// script is the body of a function, to which arguments are a, b and so on.
func value[T any](b *tab, script string, arguments ...any) T {
	b.t.Helper()
	var names, values []string
	for i, argument := range arguments {
		text, err := json.Marshal(argument)
		require.NoError(b.t, err)
		names, values = append(names, string(rune('a'+i))), append(values, string(text))
	}
	call := fmt.Sprintf("(async (%s) => { const r = await (async () => { %s })(); return JSON.stringify(r === undefined ? null : r); })(%s)",
		strings.Join(names, ","), script, strings.Join(values, ","))
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](call, chromedp.EvalAwaitPromise))
	require.NoError(b.t, err, script)
	var v T
	require.NoError(b.t, json.Unmarshal([]byte(text), &v), "%s from:\n%s", text, script)
	return v
}

// do runs a script that gives nothing.
func (b *tab) do(script string, arguments ...any) {
	b.t.Helper()
	value[any](b, script, arguments...)
}

// text is the text of the one element that a selector finds.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return value[string](b, `return document.querySelector(a).textContent`, selector)
}

// keys presses keys one after the other, as a keyboard does: the character of a
// key that a page handles itself is not typed anywhere, which chromedp.KeyEvent
// would do.
func (b *tab) keys(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		for _, r := range key {
			down := *kb.Encode(r)[0]
			up := down
			for _, event := range kb.Encode(r) {
				if event.Type == kb.KeyChar {
					down.Text, down.UnmodifiedText = event.Text, event.UnmodifiedText
				}
			}
			up.Type = kb.KeyUp
			b.run(command(input.DispatchKeyEvent, down), command(input.DispatchKeyEvent, up))
		}
	}
	b.frame()
}

// shiftTab presses tab with shift.
func (b *tab) shiftTab() {
	b.t.Helper()
	b.run(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift)))
}

// frame waits until what was asked for so far has been drawn.
func (b *tab) frame() {
	b.t.Helper()
	b.do(`await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`)
}

// focus gives the focus to the element that a selector finds.
func (b *tab) focus(selector string) {
	b.t.Helper()
	b.do(`document.querySelector(a).focus()`, selector)
}

// click presses the element that a selector finds with the mouse.
func (b *tab) click(selector string) {
	b.t.Helper()
	b.run(chromedp.Click(chromedp.CSS(selector)))
	b.frame()
}

// prefer sets what a reader prefers, such as dark for prefers-color-scheme.
func (b *tab) prefer(feature, value string) {
	b.t.Helper()
	b.run(command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: feature, Value: value}}}))
	b.frame()
}

// print shows the page as it is printed.
func (b *tab) print() {
	b.t.Helper()
	b.run(command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}))
	b.frame()
}

// resize makes the tab another size.
func (b *tab) resize(width, height int64) {
	b.t.Helper()
	b.run(chromedp.EmulateViewport(width, height))
	b.frame()
}

package inspector

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelinspect"
)

// calibrate does some of what a page does, and always the same: it sorts, joins
// numbers to a path, and lays out a table.
const calibrate = `
	const keys = Array.from({ length: 20000 }, (_, i) => (i * 7919) % 20011);
	const order = keys.map((_, i) => i).sort((i, j) => keys[i] - keys[j]);
	const path = order.map((i) => 'M' + (i / 7).toFixed(2) + ' 0h1').join('');
	const table = document.createElement('table');
	for (let r = 0; r < 60; r++) {
		const row = table.insertRow();
		for (let c = 0; c < 12; c++) row.insertCell().append(path.slice(100 * r + c, 100 * r + c + 10));
	}
	document.body.append(table);
	table.getBoundingClientRect();
	table.remove();`

// afterwards waits until the frame was drawn that shows what a script did.
const afterwards = `
	await new Promise((done) => requestAnimationFrame(() => {
		const channel = new MessageChannel();
		channel.port1.onmessage = done;
		channel.port2.postMessage(null);
	}));`

// cost is what something takes in milliseconds.
type cost struct {
	cpu  float64 // of the page's main thread
	wall float64 // from the event to the end of the frame
}

func (c *cost) keep(other cost) {
	c.cpu, c.wall = min(c.cpu, other.cpu), min(c.wall, other.wall)
}

// cpu returns the processor time that the page's main thread has used so far.
func (b *tab) cpu() float64 {
	b.t.Helper()
	var total float64
	b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		result, err := cdp.Call(ctx, t, performance.GetMetrics, cdp.Empty{})
		if err != nil {
			return err
		}
		for _, m := range result.Metrics {
			if m.Name == "TaskDuration" {
				total = 1000 * m.Value
			}
		}
		return nil
	}))
	return total
}

// measure runs a script that returns a time, and adds the processor time of all
// that happened until then.
func (b *tab) measure(script string) cost {
	b.t.Helper()
	before := b.cpu()
	wall := value[float64](b, script)
	return cost{b.cpu() - before, wall}
}

func timed(script string) string {
	return `const from = performance.now(); ` + script + afterwards + `return performance.now() - from`
}

// TestTimes holds the page of 10,000 candidates to its times, as multiples of a
// calibration that takes turns with them. Both are processor time of the page's
// main thread, which other work on the machine hardly changes, and the least of
// the rounds counts: a slow step has 21 of them. The limits are about 1.6 times
// what was measured: a page that is twice as slow fails. Only make bench-guard runs
// it. Milliseconds on the clock are logged, and held to what the page promises on an
// idle machine where CUPEL_E2E_TIMES is set.
func TestTimes(t *testing.T) {
	if os.Getenv("CUPEL_BENCH_GUARD") == "" {
		t.Skip("make bench-guard runs this: it measures time")
	}
	for i, name := range []string{"one selection", "two selections", "a conversation"} {
		t.Run(name, func(t *testing.T) { holdTimes(t, i) })
	}
}

// ofConversation is the page of 10,000 messages.
const ofConversation = 2

func holdTimes(t *testing.T, other int) {
	t.Helper()
	var b *tab
	if other == ofConversation {
		s := inspect(t, pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}}, messages(many / 2)[:many], 200_000, cupelinspect.WithName("talk"))
		b = open(t, "10,000 messages", s.selection)
	} else {
		_, b = openLarge(t, other+1)
	}
	b.run(command(performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}))
	t.Cleanup(func() { b.run(command(performance.Disable, cdp.Empty{})) })
	// hold measures a step and the calibration in turns; a step begins with
	// ready, which is not measured.
	hold := func(t *testing.T, why string, most, milliseconds float64, ready func(), step func() cost) {
		t.Helper()
		var ratio float64
		least, unit := cost{1e9, 1e9}, cost{1e9, 1e9}
		for round := 0; round < 3 || round < 21 && ratio > most; round++ { // a machine may be busy for a second
			ready()
			b.frame()
			least.keep(step())
			b.frame()
			unit.keep(b.measure(timed(calibrate)))
			ratio = least.cpu / unit.cpu
		}
		t.Logf("%s: %.2f times the calibration, at most %.2f (%.0f ms and %.0f ms of processor time); %.0f ms on the clock", why, ratio, most, least.cpu, unit.cpu, least.wall)
		if os.Getenv("CUPEL_E2E_TIMES") != "" {
			assert.LessOrEqual(t, least.wall, milliseconds, why)
		}
		assert.LessOrEqual(t, ratio, most, why)
	}
	t.Run("first paint", func(t *testing.T) {
		hold(t, "the page opens", [...]float64{18, 24, 17}[other], 1000, func() {
			b.run(command(network.ClearBrowserCache, cdp.Empty{}))
		}, func() cost {
			b.show(strings.TrimPrefix(b.url, "file://"))
			painted := value[float64](b, `
				for (;;) {
					const paint = performance.getEntriesByName('first-contentful-paint')[0];
					// The heading may be painted before the script has run.
					if (paint && document.querySelector('#messages .message')) return Math.max(paint.startTime, performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd);
					await new Promise(requestAnimationFrame);
				}`)
			return cost{b.cpu(), painted} // each page begins at 0
		})
	})
	for _, c := range []struct {
		name, why, once, each string
		most                  [3]float64 // with one selection, with two, and of a conversation
	}{
		{"filter", "a letter is typed", ``, `
			const field = document.querySelector('#filter-text');
			field.value = field.value === 'roof' ? 'wall' : 'roof';
			field.dispatchEvent(new Event('input', { bubbles: true }));`, [...]float64{2.5, 2.8, 1}},
		{"filter for nothing", "every content is read to its end", ``, `
			const field = document.querySelector('#filter-text');
			field.value = field.value + 'x';
			field.dispatchEvent(new Event('input', { bubbles: true }));`, [...]float64{0.5, 0.6, 1}},
		{"sort by numbers", "a heading is pressed", ``, `document.querySelector('th[data-column="tokens"] button').click();`, [...]float64{2.6, 3, 2.8}},
		{"sort by text", "texts compare slower", ``, `document.querySelector('th[data-column="line"] button').click();`, [...]float64{2.8, 3.1, 2.8}},
		{"search", "every content is read to its end", ``, `
			const field = document.querySelector('#fact');
			field.value = field.value === 'rains' ? 'leaks' : 'rains';
			field.dispatchEvent(new Event('input', { bubbles: true }));`, [...]float64{2.4, 2.9, 1.2}},
		{"slider", "the page as it opens is redrawn", `
			const field = document.querySelector('#fact');
			field.value = '';
			field.dispatchEvent(new Event('input', { bubbles: true }));
			document.querySelector('#advanced-title').click()`, `
			const slider = document.querySelector('#slider-0');
			slider.value = Number(slider.value) >= Number(slider.max) - 1 ? 0 : Number(slider.value) + 1;
			slider.dispatchEvent(new Event('input', { bubbles: true }));`, [...]float64{2.8, 3.6, 1.2}},
		{"slider at its end", "the largest window", `
			const slider = document.querySelector('#slider-0');
			slider.value = Number(slider.max) - 3;
			slider.dispatchEvent(new Event('input', { bubbles: true }))`, `
			const slider = document.querySelector('#slider-0');
			slider.value = Number(slider.value) === Number(slider.max) ? Number(slider.max) - 1 : slider.max;
			slider.dispatchEvent(new Event('input', { bubbles: true }));`, [...]float64{1.2, 3.9, 1.2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.do(`document.querySelector('#filter-clear')?.click(); ` + c.once)
			hold(t, c.why, c.most[other], 50, func() {}, func() cost { return b.measure(timed(c.each)) })
		})
	}
}

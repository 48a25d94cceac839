package inspector

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupelchat"
	"github.com/wollax/cupel-go/cupelchat/agent"
	"github.com/wollax/cupel-go/cupelinspect"
)

// recorded is a conversation of the repository's, and what the preset agent sends of it.
type recorded struct {
	given     []byte
	items     []*cupel.ContextItem
	body      []byte
	report    *cupel.SelectionReport
	selection *cupelinspect.Selection
}

// record chooses from messages, which are given as JSON, within a budget.
func record(t *testing.T, messages []byte, tokens int, options ...cupelinspect.Option) recorded {
	t.Helper()
	chromium(t) // without one nothing is shown, so nothing is prepared
	conversation := must(cupelchat.Read(messages, cupelchat.OpenAI, cupel.HeuristicCounter{}))
	preset, budget := agent.New(nil).Remember(), must(cupel.NewContextBudget(tokens, tokens))
	items := conversation.Items()
	choose := func(budget cupel.ContextBudget, pinned int) (*cupel.SelectionReport, error) {
		window, err := conversation.Select(t.Context(), pinning{preset, pinned}, budget)
		if err != nil {
			return nil, err
		}
		return window.Report, nil
	}
	window := must(conversation.Select(t.Context(), preset, budget))
	r := recorded{given: messages, items: items, body: must(window.Body()), report: window.Report}
	options = append(options, cupelinspect.WithCandidates(items, choose), cupelinspect.WithRequest(r.body))
	r.selection = must(cupelinspect.FromReport(r.report, budget, options...))
	return r
}

// pinning pins an item, unless its position is negative.
type pinning struct {
	cupelchat.Chooser
	at int
}

func (p pinning) RunReport(ctx context.Context, items []*cupel.ContextItem, budget cupel.ContextBudget, options ...pipeline.RunOption) ([]*cupel.ContextItem, *cupel.SelectionReport, error) {
	if p.at >= 0 {
		items = slices.Clone(items)
		items[p.at] = must(items[p.at].With(cupel.WithPinned()))
	}
	return p.Chooser.RunReport(ctx, items, budget, options...)
}

// bakery is a conversation in two fifths of its tokens.
func bakery(t *testing.T) recorded {
	t.Helper()
	lines := must(os.ReadFile(filepath.Join("..", "..", "cupelsession", "replay", "testdata", "agents.jsonl")))
	line, _, _ := bytes.Cut(lines, []byte("\n"))
	return record(t, line, 440, cupelinspect.WithName("agent, 440 tokens"))
}

// unfold opens the texts of all messages.
func (b *tab) unfold() {
	b.t.Helper()
	b.do(`
		for (const fold of document.querySelectorAll('.same[aria-expanded="false"]:not(#advanced-title)')) fold.click();
		for (const line of document.querySelectorAll('.message[aria-expanded="false"]')) line.click();
		for (const more of document.querySelectorAll('.more, .more-lost')) more.click();`)
	b.frame()
}

// TestHighlights: what the page shows as kept of each message is the text that
// was sent of it, and with what is struck it is the whole content, at the budget of the
// run and at others. The numbers of the headline, the strip and the list add up.
func TestHighlights(t *testing.T) {
	r := bakery(t)
	b := open(t, "the order of a bakery", r.selection)
	b.unfold()
	type shown struct {
		State, Sent, Full, Size string
		Candidate               int
	}
	list := value[[]shown](b, `return [...document.querySelectorAll('#messages .step')].map((step) => {
		const pieces = [...step.querySelector('pre').childNodes];
		const text = (names) => pieces.filter((piece) => names.some((name) => piece.classList?.contains(name))).map((piece) => piece.textContent).join('');
		const state = step.querySelector('.state-mark').textContent;
		const whole = step.querySelector('pre').textContent;
		return {
			State: state, Candidate: Number(step.querySelector('.message-number').textContent) - 1, Size: step.querySelector('.size').textContent,
			Sent: state === '◐' ? text(['kept', 'added']) : state === '●' ? whole : '', Full: state === '◐' ? text(['kept', 'lost']) : whole,
		};
	})`)
	slices.SortFunc(list, func(x, y shown) int { return x.Candidate - y.Candidate })
	require.Len(t, list, len(r.items))
	states := map[string]int{}
	sent := map[string]string{} // by group
	for _, line := range list {
		states[line.State]++
		item := r.items[line.Candidate]
		assert.Equal(t, item.Content(), line.Full, "message %d", line.Candidate+1)
		at := slices.IndexFunc(r.report.Included, func(e cupel.IncludedItem) bool { return e.Candidate == line.Candidate })
		if at < 0 {
			assert.Equal(t, "○", line.State, "message %d", line.Candidate+1)
			continue
		}
		e := r.report.Included[at]
		whole := e.Item.Content() == item.Content()
		assert.Equal(t, line.State == "●", whole, "message %d is %s", line.Candidate+1, line.State)
		sent[item.Group()] += line.Sent
		if last := line.Candidate == len(list)-1 || r.items[line.Candidate+1].Group() != item.Group(); last || item.Group() == "" {
			assert.True(t, strings.HasSuffix(sent[item.Group()], e.Item.Content()), "message %d shows %q as sent", line.Candidate+1, sent[item.Group()])
			sent[item.Group()] = ""
		}
	}
	want := fmt.Sprintf("^%d messages: %s;", len(list), stated(states["●"], states["◐"], states["○"]))
	assert.Regexp(t, want, b.text(".headline .counts"))
	assert.NotZero(t, states["◐"])
	assert.NotZero(t, states["○"])
	assert.Equal(t, fmt.Sprint(len(list)), value[string](b, `return document.querySelector('#strip-0 [role=option]').getAttribute('aria-setsize')`))
}

// TestWhereAValueWent: the search says of each place of a value what became of it there,
// and which budget keeps it; a press leads to the message.
func TestWhereAValueWent(t *testing.T) {
	r := bakery(t)
	b := open(t, "search", r.selection)
	search := func(text string) string {
		b.do(`const field = document.querySelector('#fact'); field.value = a; field.dispatchEvent(new Event('input', { bubbles: true }))`, text)
		b.frame()
		return value[string](b, `return document.querySelector('.search').innerText.replaceAll(/\s+/g, ' ')`)
	}
	for _, value := range []string{"kunde_4711", "4711", "Jonas Weiß"} {
		messages := 0
		for _, item := range r.items {
			if strings.Contains(item.Content(), value) {
				messages++
			}
		}
		kept := 0
		for _, e := range r.report.Included {
			if strings.Contains(e.Item.Content(), value) && !e.Shared {
				kept++
			}
		}
		said := search(strings.ToUpper(value))
		noun := map[bool]string{true: "message", false: "messages"}[messages == 1]
		assert.Contains(t, said, fmt.Sprintf("In %d %s;", messages, noun), value)
		assert.Equal(t, kept == 0, strings.Contains(said, "it was not sent"), "of %q, which was sent with %d messages, the page says %q", value, kept, said)
	}
	out := r.report.Excluded[0].Candidate
	lost := r.items[out].Content()
	said := search(lost[:min(len(lost), 60)])
	assert.Contains(t, said, "out: it did not fit the budget")
	assert.Contains(t, said, "Keep it with ")
	b.click(".hits .fate-of button")
	said = value[string](b, `return document.querySelector('.search').innerText`)
	assert.Contains(t, said, "sent")
	assert.NotContains(t, said, "Keep it with")
	b.click(".hits .hit")
	assert.Equal(t, out+1, value[int](b, `return Number(document.activeElement.querySelector('.message-number').textContent)`))
	assert.Contains(t, search("nowhere*at_all"), "does not occur in this file")
}

// TestTheCauseOfALoss: the page names the messages that lose something if one that is not
// whole stays, as a choice with that one pinned does, and leads to them.
func TestTheCauseOfALoss(t *testing.T) {
	r := bakery(t)
	b := open(t, "causes", r.selection)
	b.unfold()
	causes := value[map[int]string](b, `return Object.fromEntries([...document.querySelectorAll('#messages .step:not(:has(.state-mark.in))')].map((step) =>
		[Number(step.querySelector('.message-number').textContent) - 1, step.querySelector('.fate > p').textContent]))`)
	named := 0
	for at, said := range causes {
		conversation := must(cupelchat.Read(r.given, cupelchat.OpenAI, cupel.HeuristicCounter{}))
		window, err := conversation.Select(t.Context(), pinning{agent.New(nil), at}, must(cupel.NewContextBudget(440, 440)))
		if err != nil {
			assert.Contains(t, said, "cannot stay whole at this budget", "message %d", at+1)
			continue
		}
		for _, before := range r.report.Included {
			group := before.Item.Group()
			after := slices.IndexFunc(window.Report.Included, func(e cupel.IncludedItem) bool { return e.Candidate == before.Candidate })
			loses := after < 0 || window.Report.Included[after].Item.Tokens() < before.Item.Tokens()
			if before.Candidate == at || group != "" && group == r.items[at].Group() || before.Item.Tokens() == 0 || !loses {
				continue
			}
			named++
			assert.Regexp(t, fmt.Sprintf(`%d \(%d token| more: pinned`, before.Candidate+1, before.Item.Tokens()), said, "message %d", at+1)
		}
	}
	assert.NotZero(t, named, "nothing makes room for anything")
}

// TestCopyRequest: the button copies the body that was sent.
func TestCopyRequest(t *testing.T) {
	r := bakery(t)
	b := open(t, "copy", r.selection)
	b.do(`DataTransfer.prototype.setData = function (type, text) { window.copied = text; }`)
	b.click(".headline .copy button")
	assert.Equal(t, string(r.body), value[string](b, `return window.copied ?? ''`))
}

// TestWithoutScripts: the summary that is written into the page is there.
func TestWithoutScripts(t *testing.T) {
	r := bakery(t)
	b := newTab(t)
	path := write(t, "no scripts", r.selection)
	b.url, b.shown["file://"+path] = "file://"+path, true
	off := func(off bool) {
		b.run(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: off}))
	}
	off(true)
	b.run(chromedp.Navigate("file://" + path))
	off(false)
	text := value[string](b, `return document.querySelector('noscript').innerText`)
	assert.Contains(t, text, "tokens of a budget of 440")
	assert.Contains(t, text, "no scripts")
	assert.GreaterOrEqual(t, strings.Count(text, "\n"), len(r.items))
}

// long returns the messages of a long conversation, as the body of a request.
func long(t *testing.T, n int) []byte {
	t.Helper()
	messages := []map[string]any{{"role": "system", "content": "You repair programs."}, {"role": "user", "content": "The build fails: find out why."}}
	for i := 0; len(messages) < n; i++ {
		id := fmt.Sprint("call_", i)
		messages = append(messages,
			map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "read", "arguments": fmt.Sprintf(`{"path": "src/file_%d.go"}`, i)}}}},
			map[string]any{"role": "tool", "tool_call_id": id, "content": strings.Repeat(fmt.Sprintf("line of file %d with an error at %d\n", i, i*37), 1+i%17)})
	}
	return must(json.Marshal(map[string]any{"messages": messages[:n]}))
}

// TestOneClick: of a thousand messages, each that is kept has a line, whose press shows
// its text.
func TestOneClick(t *testing.T) {
	r := record(t, long(t, 1028), 8000, cupelinspect.WithSweep(0, 0, 0))
	b := open(t, "a thousand", r.selection)
	lines := value[[]int](b, `return [...document.querySelectorAll('#messages > .story > .step, #messages > .story > .exchange .step')].map((step) => Number(step.querySelector('.message-number').textContent.replace(',', '')) - 1)`)
	for _, e := range r.report.Included {
		assert.Contains(t, lines, e.Candidate, "message %d", e.Candidate+1)
	}
	require.GreaterOrEqual(t, len(r.report.Included), 50)
	require.GreaterOrEqual(t, len(r.report.Excluded), 500)
	oldest := r.report.Included[3].Candidate
	b.do(`[...document.querySelectorAll('.step')].find((step) => Number(step.querySelector('.message-number').textContent.replace(',', '')) === a).querySelector('.message').click()`, oldest+1)
	assert.NotEmpty(t, b.text("#messages .opened:last-of-type pre"))
}

// TestNothingSideways: two selections of a conversation need no scrolling sideways, with
// their texts open.
func TestNothingSideways(t *testing.T) {
	a := record(t, long(t, 60), 2000, cupelinspect.WithSweep(500, 4000, 5))
	z := record(t, long(t, 60), 3500, cupelinspect.WithSweep(500, 4000, 5))
	b := open(t, "two policies", a.selection, z.selection)
	b.unfold()
	for _, width := range []int64{1440, 1024, 390} {
		b.resize(width, 900)
		assert.Empty(t, value[[]string](b, `
			const boxes = [document.documentElement, ...document.querySelectorAll('pre, #messages, .strip-box, .search' + (innerWidth > 1400 ? ', .scroller' : ''))];
			return boxes.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.tagName + '.' + box.className)`), "at %d pixels", width)
	}
}

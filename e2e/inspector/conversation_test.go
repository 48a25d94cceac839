package inspector

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/pipeline"
	"github.com/wollax/cupel-go/cupel/placer"
	"github.com/wollax/cupel-go/cupel/scorer"
	"github.com/wollax/cupel-go/cupel/slicer"
	"github.com/wollax/cupel-go/cupelinspect"
	"github.com/wollax/cupel-go/cupelsession"
)

// messages gives the items of a conversation roles and titles, as package
// cupelchat does.
func messages(turns int) []*cupel.ContextItem {
	items := conversation(turns)
	for i, item := range items {
		metadata := map[string]any{"role": "assistant", "title": fmt.Sprintf("read(build_%d.go)", i), "tool": "read"}
		switch {
		case i == 0:
			metadata = map[string]any{"role": "user", "title": "Find out why the build fails."}
		case item.Kind() == cupel.KindToolOutput:
			metadata["role"], metadata["title"] = "tool", fmt.Sprintf("read(build_%d.go): %d B", i, len(item.Content()))
		case item.Kind() == cupel.KindDocument:
			metadata = map[string]any{"role": "user", "title": fmt.Sprintf("note %d", i)}
		}
		items[i] = must(item.With(cupel.WithMetadata(metadata)))
	}
	return items
}

func talk(t *testing.T) *subject {
	t.Helper()
	config := usual()
	config.Scorer, config.Placer = scorer.Reflexive{}, placer.Chronological{}
	return inspect(t, config, messages(12), 1400, cupelinspect.WithName("talk"), cupelinspect.WithSweep(300, 3000, 28))
}

// line is what the page shows of a message.
type line struct {
	State    string // ● whole, ◐ cut, ○ out
	Speaker  string
	Title    string
	Exchange bool
}

func (b *tab) story(selector string) []line {
	b.t.Helper()
	return value[[]line](b, `
		for (const fold of document.querySelectorAll(a + ' .same[aria-expanded="false"]')) fold.click();
		return [...document.querySelectorAll(a + ' .message')].map((press) => {
			const title = press.querySelector('.message-title').textContent;
			return {
				State: [...press.querySelectorAll('.state-mark')].map((mark) => mark.textContent).join(''),
				Speaker: press.querySelector('.speaker').textContent, Title: title,
				Exchange: press.closest('.exchange') !== null,
			};
		})`, selector)
}

// TestConversation compares the conversation on the page with the reports at
// several budgets: every message is there, in its own order.
func TestConversation(t *testing.T) {
	s := talk(t)
	b := open(t, "a conversation", s.selection)
	for _, budget := range []int{1400, 900, 400, 3000} {
		b.goTo(budget)
		report := s.at(t, budget)
		states := make([]string, len(s.items))
		out, outlines := 0, 0
		for _, e := range report.Included {
			states[e.Candidate] = "●"
			if e.Form > 0 {
				states[e.Candidate] = "◐"
				outlines++
			}
		}
		var want []line
		for i, item := range s.items {
			title, _ := item.MetadataText("title")
			role, _ := item.MetadataText("role")
			speaker := map[string]string{"user": "User", "assistant": "Call", "tool": "Result"}[role]
			if states[i] == "" {
				states[i] = "○"
				out++
			}
			want = append(want, line{State: states[i], Speaker: speaker, Title: title, Exchange: item.Group() != ""})
		}
		assert.Equal(t, newestFirst(s.items, want), b.story(".conversation"), "at %d", budget)
		all, tokens := 0, 0
		for _, item := range s.items {
			all += item.Tokens()
		}
		for _, e := range report.Included {
			tokens += e.Item.Tokens()
		}
		assert.Equal(t, fmt.Sprintf("%s → %s tokens (%.0f%%), with a budget of %s", grouped(all), grouped(tokens), 100*float64(tokens)/float64(all), grouped(budget)), b.text(".headline .lead"), "at %d", budget)
		assert.Regexp(t, "^$| out, ", value[string](b, `return [...document.querySelectorAll('.fold .same')].map((fold) => fold.textContent).join()`), "at %d what is folded", budget)
		whole := len(report.Included) - outlines
		assert.Regexp(t, fmt.Sprintf("^%d messages: %s; the task ", len(s.items), stated(whole, outlines, out)), b.text(".headline .counts"), "at %d", budget)
	}
	b.goTo(400)
	out := `.step:has(.state-mark.out)`
	b.click(out + " .message")
	why := b.text(out + " .fate")
	assert.Contains(t, why, "Out: it did not fit the budget")
	assert.Contains(t, why, "Whole from ")
}

// stated returns how many messages are whole, cut and out, as the page says it.
func stated(whole, cut, out int) string {
	all := []string{fmt.Sprintf("%d whole", whole), fmt.Sprintf("%d cut", cut), fmt.Sprintf("%d out", out)}
	return strings.Join(slices.DeleteFunc(all, func(state string) bool { return strings.HasPrefix(state, "0 ") }), ", ")
}

// newestFirst reverses the steps of a conversation: exchanges keep their order.
func newestFirst[T any](items []*cupel.ContextItem, list []T) (reversed []T) {
	for end := len(list); end > 0; {
		begin := end - 1
		for begin > 0 && items[begin].Group() != "" && items[begin-1].Group() == items[begin].Group() {
			begin--
		}
		reversed = append(reversed, list[begin:end]...)
		end = begin
	}
	return reversed
}

// TestNoConversation: other lists are no conversation.
func TestNoConversation(t *testing.T) {
	b := open(t, "no roles", plain(t).selection)
	text := value[string](b, `return document.body.innerText`)
	assert.NotContains(t, text, "The conversation", "the page speaks of a conversation")
	assert.NotContains(t, text, "messages:", "the page speaks of a conversation")
}

// TestDifferencesComeFirst: what differs is listed above all else, and what is
// equal is one line until a reader opens it.
func TestDifferencesComeFirst(t *testing.T) {
	s := talk(t)
	small := inspect(t, s.pipeline.Config(), s.items, 900)
	b := open(t, "two budgets", small.selection, s.selection)
	states := func(report *cupel.SelectionReport) []string {
		list := make([]string, len(s.items))
		for i := range list {
			list[i] = "○"
		}
		for _, e := range report.Included {
			list[e.Candidate] = "●"
			if e.Form > 0 {
				list[e.Candidate] = fmt.Sprint("◐", e.Form)
			}
		}
		return list
	}
	one, two := states(small.report(t)), states(s.report(t))
	indexes := s.indexes(func(int, *cupel.ContextItem) bool { return true })
	var want []string
	for i := range s.items {
		// An exchange is shown whole if any of it differs.
		if differs := func(j int) bool {
			return one[j] != two[j] && (j == i || s.items[i].Group() != "" && s.items[j].Group() == s.items[i].Group())
		}; slices.ContainsFunc(indexes, differs) {
			title, _ := s.items[i].MetadataText("title")
			want = append(want, title)
		}
	}
	slices.Sort(want)
	titles := func() []string {
		list := value[[]string](b, `return [...document.querySelectorAll('.comparison .message-title')].map((title) => title.textContent)`)
		slices.Sort(list)
		return list
	}
	assert.Equal(t, want, titles())
	assert.NotEmpty(t, want)
	b.do(`for (const press of document.querySelectorAll('.comparison .same')) press.click()`)
	b.frame()
	assert.Len(t, titles(), len(s.items))
}

// TestTurnsSideBySide: a line joins what the later turn kept, and ends with the
// reason and the price of the break. What a session says of each turn is there, too.
func TestTurnsSideBySide(t *testing.T) {
	selections, turns := turns(t)
	for i, want := range []string{"No break: what is above is new.", "Break (forced): what was sent before no longer fits"} {
		b := open(t, want, selections[i], selections[i+1])
		got := b.text(".break-line")
		kept := 0
		for at, item := range turns[i].Window {
			if at >= len(turns[i+1].Window) || turns[i+1].Window[at] != item {
				break
			}
			kept++
		}
		assert.NotZero(t, kept)
		assert.Regexp(t, fmt.Sprintf("^Kept from the turn before: %d item", kept), got)
		assert.Contains(t, got, want)
		assert.Contains(t, got, "tokens of plain input")
		said := value[[]string](b, `return [...document.querySelectorAll('.policy div')].filter((div) => div.querySelector('dt').textContent === 'Session').map((div) => div.querySelector('dd').textContent)`)
		assert.Equal(t, []string{turns[i].String(), turns[i+1].String()}, said)
	}
}

// TestFailedConversation: where nothing was chosen, nothing is out either.
func TestFailedConversation(t *testing.T) {
	items := messages(3)
	for i := range items {
		items[i] = must(items[i].With(cupel.WithPinned()))
	}
	b := open(t, "pins do not fit", inspect(t, usual(), items, 40).selection)
	assert.Equal(t, fmt.Sprintf("%d messages: %d out.", len(items), len(items)), b.text(".headline .counts"))
}

// TestOutlineOfAnExchange: an outline of a call and its result has the tokens of both,
// which the page gives once.
func TestOutlineOfAnExchange(t *testing.T) {
	message := func(role, text string, tokens int, options ...cupel.ItemOption) *cupel.ContextItem {
		return must(cupel.NewContextItem(text, tokens, append(options, cupel.WithMetadata(map[string]any{"role": role, "title": text, "tool": "read"}))...))
	}
	items := []*cupel.ContextItem{
		message("user", "task", 10, cupel.WithPinned()),
		message("assistant", "call", 30, cupel.WithGroup("1"), cupel.WithVariants(cupel.Variant{Content: "outline", Tokens: 14, Worth: 0.5})),
		message("tool", "result", 300, cupel.WithGroup("1"), cupel.WithVariants(cupel.Variant{Content: "outline", Tokens: 0, Worth: 0.5})),
	}
	config := usual()
	config.Placer = placer.Chronological{}
	b := open(t, "an exchange", inspect(t, config, items, 40).selection, inspect(t, config, items, 1000).selection)
	got := value[[]string](b, `return [...document.querySelectorAll('.comparison .exchange .size')].map((size) => size.textContent)`)
	assert.Equal(t, []string{"14 of 330", "30", "", "300"}, got)
}

// turns are those of a session that breaks at the third.
func turns(t *testing.T) (selections []*cupelinspect.Selection, list []*cupelsession.Turn) {
	t.Helper()
	pipeline := must(pipeline.New(pipeline.Config{Scorer: scorer.Reflexive{}, Slicer: slicer.Greedy{}, Placer: placer.Chronological{}}))
	session := must(cupelsession.New(pipeline, cupelsession.Config{}))
	items, budget := messages(12), must(cupel.NewContextBudget(1000, 800))
	for _, n := range []int{5, 8, len(items), len(items)} {
		turn := must(session.Next(t.Context(), items[:n], budget))
		selections, list = append(selections, must(cupelinspect.FromReport(turn.Report(), budget))), append(list, turn)
		require.NoError(t, turn.Commit(cupelsession.Usage{}))
	}
	return selections, list
}

// TestTurns: of more than two turns, the page lists what each kept, why it broke and
// the price. It begins with the last break, and compares any two.
func TestTurns(t *testing.T) {
	selections, list := turns(t)
	b := open(t, "four turns", selections...)
	got := value[[]string](b, `return [...document.querySelectorAll('.turn')].map((turn) => turn.querySelector('.turn-name').textContent + ': ' + turn.querySelector('.turn-note').textContent)`)
	var want []string
	for i, turn := range list {
		kept, tokens := 0, 0
		for i > 0 && kept < min(len(turn.Window), len(list[i-1].Window)) && turn.Window[kept] == list[i-1].Window[kept] {
			tokens += turn.Window[kept].Tokens()
			kept++
		}
		note := fmt.Sprintf("Keeps %d item", kept)
		if kept != 1 {
			note += "s"
		}
		note += fmt.Sprintf(", %d tokens.", tokens)
		switch {
		case i == 0:
			note = "The first."
		case kept == len(turn.Window):
			note = "Keeps all."
		case turn.Break != nil:
			note += " Break: what was sent before no longer fits, or lacks a part that must be in."
		}
		_, cost, _ := strings.Cut(turn.String(), "cost ")
		cost, _, _ = strings.Cut(cost, ",")
		want = append(want, fmt.Sprintf("Turn %d: %s Costs as much as %s.", i+1, note, cost))
	}
	assert.Equal(t, want, got)
	assert.NotNil(t, list[2].Break)
	chosen := func(why string, want ...int) {
		t.Helper()
		got := value[[]int](b, `return [0, 1].map((side) => [...document.querySelectorAll('input[name="turn-' + side + '"]')].findIndex((input) => input.checked))`)
		assert.Equal(t, want, got, why)
		for side, at := range want {
			want := fmt.Sprintf("^%d messages: ", list[at].Report().TotalCandidates)
			assert.Regexp(t, want, value[string](b, `return document.querySelectorAll('.headline .counts')[a].textContent`, side), why)
		}
	}
	chosen("as the page opens: the last break", 1, 2)
	b.click(`.turn:nth-child(1) input[name="turn-0"]`)
	chosen("another A", 0, 2)
	assert.Regexp(t, `^Kept from turn 1: 3 items, 80 tokens\. The turns between are above\.`, b.text(".break-line"))
	b.keys(kb.ArrowDown, kb.ArrowDown) // in the list of radio buttons
	chosen("the same as B: they trade places", 2, 1)
	assert.Equal(t, "The turns", b.text("#turns-title"))
	assert.True(t, value[bool](b, `return document.activeElement.name === 'turn-0' && document.activeElement.checked`), "the focus is lost")
	b.click(`.turn:nth-child(4) input[name="turn-1"]`)
	chosen("another B", 2, 3)
}

package cupelsession_test

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupel/analysis"
	"github.com/wollax/cupel-go/cupel/turn"
	"github.com/wollax/cupel-go/cupelinspect"
	"github.com/wollax/cupel-go/cupelsession"
)

// checkReport holds a turn's report against the turn, against analysis, JSON and
// the page.
func checkReport(t *testing.T, current *cupelsession.Turn, items []*cupel.ContextItem) *cupel.SelectionReport {
	t.Helper()
	r := current.Report()
	if again := current.Report(); again != r {
		t.Error("the report is made twice")
	}
	window := r.Window()
	require.True(t, slices.Equal(window, current.Window), "the report's window is %v, the turn's %v", contents(window), contents(current.Window))
	tokens := 0
	for _, it := range items {
		tokens += it.Tokens()
	}
	require.Equal(t, len(items), r.TotalCandidates)
	require.Equal(t, tokens, r.TotalTokensConsidered)
	ledger := analysis.NewLedger(r, items)
	for i := range ledger.Entries {
		if e := &ledger.Entries[i]; (e.Included != nil) == (e.Excluded != nil) || e.Code == "" {
			t.Errorf("candidate %d, %q: included %v, excluded %v, for the reason %q", i, items[i].Content(), e.Included, e.Excluded, e.Code)
		}
	}
	data, err := json.Marshal(r)
	require.NoError(t, err)
	var read cupel.SelectionReport
	require.NoError(t, json.Unmarshal(data, &read))
	again, err := json.Marshal(&read)
	require.NoError(t, err)
	assert.Equal(t, string(data), string(again), "JSON reads as another report")
	d := analysis.DiffReports(r, &read)
	require.Zero(t, len(d.Came)+len(d.Went)+len(d.Moved)+len(d.Reasons)+len(d.Forms), "JSON reads as another report: %+v", d)
	assert.Equal(t, contents(window), contents(read.Window()), "the window read from JSON")
	selection, err := cupelinspect.FromReport(&read, budget(t, 1000))
	require.NoError(t, err)
	require.NoError(t, cupelinspect.WriteHTML(io.Discard, "turn", selection))
	return r
}

func contents(items []*cupel.ContextItem) string {
	var list []string
	for _, it := range items {
		list = append(list, fmt.Sprintf("%s:%d", it.Content(), it.Tokens()))
	}
	return strings.Join(list, " ")
}

// why says of each candidate why it is in or out.
func why(r *cupel.SelectionReport) string {
	var list []string
	for _, e := range r.Included {
		list = append(list, fmt.Sprintf("%d/%d %s", e.Candidate, e.Form, e.Reason))
	}
	for _, e := range r.Excluded {
		list = append(list, fmt.Sprintf("%d %s", e.Candidate, e.Reason.Code))
	}
	return strings.Join(list, ", ")
}

// A first turn that does not fit is no break of what was sent before.
func TestFirstChoice(t *testing.T) {
	current := next(t, session(t, newest(t), cupelsession.Config{}), numbered(t, 9), 50)
	const want = "turn 1: first choice, 0 tokens kept, 6 items left out; "
	if got := current.String(); !strings.HasPrefix(got, want) || current.Break != nil {
		t.Errorf("got %q, break %v; want a beginning of %q", got, current.Break, want)
	}
}

func TestReport(t *testing.T) {
	items := numbered(t, 10)
	items[2] = item(t, "negative", -1)
	s := session(t, newest(t), cupelsession.Config{})
	summary := ready(t, items[1], items[3], items[4])
	var before *cupel.SelectionReport
	for _, step := range []struct {
		items int
		why   string
		diff  string
		event string
		what  string
	}{
		{5, "0/0 Pinned, 1/0 Scored, 3/0 Scored, 4/0 Scored, 2 NegativeTokens", "", "turn 1: 0 tokens kept; cost 40, or 40 to send everything, in tokens of plain input", "no choice"},
		{6, "0/0 Pinned, 1/0 Scored, 3/0 Scored, 4/0 Scored, 5/0 Scored, 2 NegativeTokens", "came f", "turn 2: 40 tokens kept; cost 50, or 50 to send everything, in tokens of plain input", "appended"},
		{7, "0/0 Pinned, -1/0 Scored, 5/0 Scored, 6/0 Scored, 4 BudgetExceeded, 3 BudgetExceeded, 1 BudgetExceeded, 2 NegativeTokens", "came (summary), came g, went b, went d, went e",
			"turn 3: break (forced) at item 1, 10 tokens kept, 3 items left out; cost 35, or 60 to send everything, in tokens of plain input", "a break, with a summary that is no candidate"},
		{8, "0/0 Pinned, -1/0 Scored, 5/0 Scored, 6/0 Scored, 7/0 Scored, 4 BudgetExceeded, 3 BudgetExceeded, 1 BudgetExceeded, 2 NegativeTokens", "came h",
			"turn 4: 35 tokens kept; cost 45, or 70 to send everything, in tokens of plain input", "the reasons of the last choice stay"},
	} {
		if step.items == 7 {
			amend(t, s, summary)
		}
		current := next(t, s, items[:step.items], 50)
		r := checkReport(t, current, items[:step.items])
		assert.Equal(t, step.why, why(r), "%d items: %s", step.items, step.what)
		e := r.Events[len(r.Events)-1]
		assert.Equal(t, turn.Stage, e.Stage, step.what)
		assert.Equal(t, step.event, e.Message, step.what)
		assert.Equal(t, step.event, current.String(), step.what)
		assert.Equal(t, len(current.Window), e.ItemCount, step.what)
		if before != nil {
			d := analysis.DiffReports(before, r)
			var diff []string
			for _, c := range d.Came {
				diff = append(diff, "came "+c.Content)
			}
			for _, c := range d.Went {
				diff = append(diff, "went "+c.Content)
			}
			assert.Equal(t, step.diff, strings.Join(diff, ", "), step.what)
			assert.Zero(t, len(d.Moved)+len(d.Reasons)+len(d.Forms), "%d items: %+v", step.items, d)
		}
		before = r
		commit(t, current)
	}
}

// TestReportOfForms: a note for a group has an entry for each member, an outline
// the number of its form, in the turn of the choice and in those after it.
func TestReportOfForms(t *testing.T) {
	note := cupel.WithGroupVariants(cupel.Variant{Content: "called with words", Tokens: 18, Worth: 0.3}, cupel.Variant{Content: "called", Tokens: 2, Worth: 0.2})
	at := func(n int) cupel.ItemOption { return cupel.WithTimestamp(time.Unix(int64(n), 0)) }
	items := []*cupel.ContextItem{
		item(t, "system", 5, cupel.WithPinned()),
		item(t, "call", 20, cupel.WithGroup("g"), note, at(1)),
		item(t, "result", 20, cupel.WithGroup("g"), note, at(1)),
		item(t, "long", 20, cupel.WithVariants(cupel.Variant{Content: "short", Tokens: 12, Worth: 0.5}, cupel.Variant{Content: "tiny", Tokens: 2, Worth: 0.1}), at(2)),
		item(t, "new", 25, at(3)),
		item(t, "newer", 2, at(4)),
	}
	s := session(t, newest(t), cupelsession.Config{LowWater: 0.5})
	commit(t, next(t, s, items[:4], 75))
	current := next(t, s, items[:5], 75)
	r := checkReport(t, current, items[:5])
	assert.Equal(t, "0/0 Pinned, 1/2 Scored, 2/2 Scored, 3/2 Scored, 4/0 Scored", why(r), contents(current.Window))
	commit(t, current)
	current = next(t, s, items, 75)
	assert.Equal(t, "0/0 Pinned, 1/2 Scored, 2/2 Scored, 3/2 Scored, 4/0 Scored, 5/0 Scored", why(checkReport(t, current, items)), contents(current.Window))
	if d := analysis.DiffReports(r, current.Report()); len(d.Came) != 1 || len(d.Went)+len(d.Moved)+len(d.Reasons)+len(d.Forms) > 0 {
		t.Errorf("between the turns: %+v, want one item that came", d)
	}
}

// TestReportOfTail: the tail has its own reasons, and a quotation is in the window and
// in the trace.
func TestReportOfTail(t *testing.T) {
	d := &diary{}
	items := numbered(t, 6)
	s := session(t, newest(t), cupelsession.Config{Trace: d, Tail: func(it *cupel.ContextItem) bool { return it.Kind() == cupel.KindDocument }})
	commit(t, next(t, s, items[:5], 50))
	commit(t, next(t, s, items, 50))
	all := append(items[:6:6], item(t, "question", 2, cupel.WithKind(cupel.KindDocument), cupel.WithPinned()),
		item(t, "large", 40, cupel.WithKind(cupel.KindDocument)), item(t, "large", 40, cupel.WithKind(cupel.KindDocument)))
	d.take()
	current := next(t, s, all, 50)
	assert.Contains(t, d.take(), "quoted 1, ")
	const want = "0/0 Pinned, 4/0 Scored, 5/0 Scored, 3/1 Scored, 6/0 Pinned, 2 BudgetExceeded, 1 BudgetExceeded, 7 BudgetExceeded, 8 BudgetExceeded"
	assert.Equal(t, want, why(checkReport(t, current, all)), contents(current.Window))
}
